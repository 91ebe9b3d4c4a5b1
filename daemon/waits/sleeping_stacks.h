/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of threads that sleep already when they are found: BPF reports their registers; this reads their memory while they
 * still sleep there.
 */
#ifndef QUARTZ_DAEMON_SLEEPING_STACKS_H
#define QUARTZ_DAEMON_SLEEPING_STACKS_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/target/address_spaces.h"
#include "quartz/records.h"
#include "quartz/unwind.h"

struct spawn_stacks;
struct sleeping_stacks;

/* What is read at once, and kept until it is walked, is bounded by so many of them. */
#define ASLEEP_MAX 512

/* NULL when the thread is awake, or gone, or its memory cannot be read. */
struct sleeping_stacks *sleeping_stacks__read(const struct image *image, pid_t tid,
					      const struct qz_user_registers *regs);
void sleeping_stacks__free(struct sleeping_stacks *s);

/* Its frames, innermost first, of which there is always one, and how they end. */
enum qz_unwind_end sleeping_stacks__walk(const struct sleeping_stacks *s,
					 struct spawn_stacks *spawn, const struct image *image,
					 uint64_t frames[QZ_USER_FRAMES], uint32_t *n);

#endif
