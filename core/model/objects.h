/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of synchronization objects, and questions about them. No function keeps its arguments. */
#ifndef QUARTZ_CORE_OBJECTS_H
#define QUARTZ_CORE_OBJECTS_H

#include "core/model/profile.h"

/* "mutex", "condition", …; "futex" for a word of unknown use. Static. */
const char *qz_objects__kind_name(uint32_t kind);

/*
 * Kind and name: "mutex queue_lock"; only the name if it contains the kind: "mutex in hash_insert", "end of thread 17",
 * "the interpreter lock". The caller frees it; NULL with ENOMEM.
 */
char *qz_objects__label(const struct qz_object *o);

/*
 * Whether its waits end by a timeout: it has many waits, and hardly any was ended by a thread. Threads that wait for it sleep.
 */
bool qz_objects__is_clock(const struct qz_object *o);

/*
 * Its wake-ups for nothing (struct qz_object). 0 if the known stacks of wake-ups wake one thread at a time: then they came
 * one after the other in a short time, each for a small step.
 */
uint64_t qz_objects__in_vain(const struct qz_profile *p, uint32_t object);

#endif
