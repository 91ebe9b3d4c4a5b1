/* SPDX-License-Identifier: GPL-2.0-only */
/* Synchronization objects as they are called and asked for. No function keeps what it is given. */
#ifndef QUARTZ_CORE_OBJECTS_H
#define QUARTZ_CORE_OBJECTS_H

#include "core/model/profile.h"

/* "mutex", "condition", …; "futex" for a word of unknown use. Static. */
const char *qz_objects__kind_name(uint32_t kind);

/*
 * Kind and name, as "mutex queue_lock"; the name alone where it says the kind already, as "mutex in
 * hash_insert", "end of thread 17" or "the interpreter lock". For the caller to free; NULL with ENOMEM.
 */
char *qz_objects__label(const struct qz_object *o);

/*
 * Whether waits for it end by themselves, after a time: it has many, and hardly any that somebody ended. Who waits there
 * sleeps.
 */
bool qz_objects__is_clock(const struct qz_object *o);

/*
 * Its wake-ups for nothing (struct qz_object), if those that are known by their stacks were for several threads at a time: else they
 * came one after the other in a short time, each for something that was small. Then 0.
 */
uint64_t qz_objects__in_vain(const struct qz_profile *p, uint32_t object);

#endif
