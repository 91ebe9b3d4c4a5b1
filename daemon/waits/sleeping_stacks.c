// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/waits/sleeping_stacks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/attribution/spawn_stacks.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/procfs.h"

#define STACK_SIZE QZ_STACK_COPY /* from the stack pointer on: what the unwinder reads */

struct sleeping_stacks {
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

struct sleeping_stacks *sleeping_stacks__read(const struct image *image, pid_t tid,
					      const struct qz_user_registers *regs)
{
	int dir = procfs__open(image->pid, image->start_boottime);
	struct sleeping_stacks *s, *less;

	if (dir < 0)
		return NULL;
	s = malloc(sizeof(*s) + STACK_SIZE);
	if (s) {
		s->regs = *regs;
		s->size = read_stack(dir, regs->sp, s->stack);
		if (!s->size || !sleeps_there(dir, tid, regs)) {
			free(s);
			s = NULL;
		}
	}
	close(dir);
	less = s ? realloc(s, sizeof(*s) + s->size) : NULL;
	return less ? less : s;
}

void sleeping_stacks__free(struct sleeping_stacks *s)
{
	free(s);
}

enum qz_unwind_end sleeping_stacks__walk(const struct sleeping_stacks *s,
					 struct spawn_stacks *spawn, const struct image *image,
					 uint64_t frames[QZ_USER_FRAMES], uint32_t *n)
{
	const struct stack_copy copy = {s->regs, s->stack, s->size};
	struct unwinder_stack stack;

	spawn_stacks__walk(spawn, image, &copy, &stack);
	*n = stack.depth > stack.nframes ? QZ_INNER_FRAMES : stack.nframes;
	memcpy(frames, stack.frames, *n * sizeof(*frames));
	return *n < stack.depth ? QZ_UNWIND_TOO_DEEP : stack.end;
}
