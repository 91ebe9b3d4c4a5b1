// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/asleep.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/creation.h"
#include "daemon/opener.h"
#include "daemon/proc.h"

#define STACK_SIZE QZ_STACK_COPY /* from the stack pointer on: what the unwinder looks at */

struct asleep {
	struct qz_user_registers regs;
	size_t size;
	uint8_t stack[];
};

/* The stack from sp upwards as far as it is mapped. */
static size_t read_stack(int dir, uint64_t sp, uint8_t *to)
{
	ssize_t n = opener__memory(dir, sp, to, STACK_SIZE);

	return n > 0 ? n : 0;
}

/* Whether the thread is in the kernel, and came there from where it was found. */
static bool sleeps_there(int dir, pid_t tid, const struct qz_user_registers *regs)
{
	char line[256], *ip, *sp;

	if (opener__text(dir, OPENER_SYSCALL, tid, line, sizeof(line)) <= 0)
		return false;
	ip = strrchr(line, ' '); /* the last two words; "running" has none */
	if (!ip)
		return false;
	*ip++ = '\0';
	sp = strrchr(line, ' ');
	return sp && strtoull(sp + 1, NULL, 16) == regs->sp && strtoull(ip, NULL, 16) == regs->ip;
}

struct asleep *asleep__read(const struct image *image, pid_t tid,
			    const struct qz_user_registers *regs)
{
	int dir = proc__open(image->pid, image->start_boottime);
	struct asleep *a, *less;

	if (dir < 0)
		return NULL;
	a = malloc(sizeof(*a) + STACK_SIZE);
	if (a) {
		a->regs = *regs;
		a->size = read_stack(dir, regs->sp, a->stack);
		if (!a->size || !sleeps_there(dir, tid, regs)) {
			free(a);
			a = NULL;
		}
	}
	close(dir);
	less = a ? realloc(a, sizeof(*a) + a->size) : NULL;
	return less ? less : a;
}

void asleep__free(struct asleep *a)
{
	free(a);
}

uint32_t asleep__unwind(const struct asleep *a, struct creation *creation,
			const struct image *image, uint64_t frames[QZ_USER_FRAMES], bool *complete)
{
	uint64_t all[CREATION_MAX_CHAIN];
	size_t n = creation__unwind(creation, image, &a->regs, a->stack, a->size, all, complete);

	if (n > QZ_USER_FRAMES) {
		n = QZ_USER_FRAMES;
		*complete = false;
	}
	memcpy(frames, all, n * sizeof(*all));
	if (n)
		return n;
	*complete = false;
	frames[0] = a->regs.ip;
	return 1;
}
