/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On whose behalf a thread runs: the stack of its creator at the moment of creation, unwound from
 * the copy that BPF took (Quartz 1990, 3.3: "When a thread is created, we copy the profile stack
 * from the creating thread to the new thread").
 */
#ifndef QUARTZ_DAEMON_CREATION_H
#define QUARTZ_DAEMON_CREATION_H

#include <stdint.h>

#include "daemon/images.h"
#include "daemon/places.h"
#include "daemon/symbolizer.h"

#define CREATION_MAX_CHAIN 256 /* frames of one stack */

struct creation;

struct creation *creation__new(struct symbolizer *symbolizer, struct images *images,
			       struct places *places, struct qz_profile *profile);
void creation__free(struct creation *c);

/*
 * The node below which the child's stacks belong, given that of its creator. A creator's stack that
 * cannot be had is shown as truncated. Gives `parent` itself or a marker below it when all fails.
 */
uint32_t creation__node(struct creation *c, uint32_t parent, const struct qz_creation_event *event);

/*
 * The node of those threads of an image whose creation was not seen: below its outermost procedure
 * (main), which started them in a way that can no longer be told. main is found on the leader's
 * stack, which is read from the process while it lives; without it they hang below the root.
 */
uint32_t creation__unseen(struct creation *c, const struct qz_process_event *event);

/*
 * Any copy of a stack, from the stack pointer on: the instruction pointer, then return addresses. Gives
 * their number, 0 when nothing can be had.
 */
size_t creation__unwind(struct creation *c, const struct image *image,
			const struct qz_user_registers *regs, const void *stack, size_t size,
			uint64_t addresses[CREATION_MAX_CHAIN], bool *complete);

#endif
