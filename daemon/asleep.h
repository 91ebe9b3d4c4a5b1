/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of threads that sleep already when they are found: BPF tells their registers, and their
 * memory is read from here while they are known to sleep there still.
 */
#ifndef QUARTZ_DAEMON_ASLEEP_H
#define QUARTZ_DAEMON_ASLEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/images.h"
#include "quartz/records.h"

struct creation;
struct asleep;

/* What is read at once, and kept until it is unwound, is bounded by so many of them. */
#define ASLEEP_MAX 512

/* NULL when the thread is awake, or gone, or its memory cannot be read. */
struct asleep *asleep__read(const struct image *image, pid_t tid,
			    const struct qz_user_registers *regs);
void asleep__free(struct asleep *a);

/*
 * Its frames, innermost first, of which there is always one. Gives how many there are; *complete
 * tells whether the outermost one is among them.
 */
uint32_t asleep__unwind(const struct asleep *a, struct creation *creation,
			const struct image *image, uint64_t frames[QZ_USER_FRAMES], bool *complete);

#endif
