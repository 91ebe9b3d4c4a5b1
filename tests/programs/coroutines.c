/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * coroutines [SECONDS]: main switches in turn to two coroutines, twenty times: one of makecontext, which calls made_work, and one
 * whose stack the program has made by itself, which calls own_work. Each of the two, and main_work, computes SECONDS in all.
 */
#include <ucontext.h>

#include "tests/programs/truth.h"

#define TURNS 20

int main(int argc, char **argv);

static double share;
static ucontext_t main_context, made_context;
static char made_stack[65536], own_stack[65536] __attribute__((aligned(16)));
static void *main_sp, *own_sp;

/* Keeps what a callee must, and returns on the other stack. Who returns from there at the end comes to own_end. */
void switch_stacks(void **from, void *to);
void own_end(void);
__asm__(".text\n"
	".balign 16\n"
	".globl switch_stacks\n"
	".type switch_stacks, @function\n"
	"switch_stacks: push %rbp\n"
	"push %rbx\n"
	"push %r12\n"
	"push %r13\n"
	"push %r14\n"
	"push %r15\n"
	"mov %rsp, (%rdi)\n"
	"mov %rsi, %rsp\n"
	"pop %r15\n"
	"pop %r14\n"
	"pop %r13\n"
	"pop %r12\n"
	"pop %rbx\n"
	"pop %rbp\n"
	"ret\n"
	".size switch_stacks, . - switch_stacks\n"
	".balign 16\n"
	".globl own_end\n"
	".type own_end, @function\n"
	"own_end: ud2\n"
	".size own_end, . - own_end\n");

PROCEDURE static void made_work(void)
{
	compute_seconds(share);
}

PROCEDURE static void own_work(void)
{
	compute_seconds(share);
}

PROCEDURE static void main_work(void)
{
	compute_seconds(share);
}

PROCEDURE static void made_entry(void)
{
	for (;;) {
		made_work();
		swapcontext(&made_context, &main_context);
	}
}

PROCEDURE static void own_entry(void)
{
	for (;;) {
		own_work();
		switch_stacks(&own_sp, main_sp);
	}
}

/* Registers, then where it begins, and where it would return to, with what was in that memory before. */
static void make_own_stack(void)
{
	void **top = (void **)(own_stack + sizeof(own_stack)) - 8;

	for (int i = 0; i < 8; i++)
		top[i] = (void *)main;
	top[-1] = (void *)own_end;
	top[-2] = (void *)own_entry;
	for (int i = 3; i <= 8; i++)
		top[-i] = NULL;
	own_sp = top - 8;
}

int main(int argc, char **argv)
{
	share = seconds_argument(argc, argv, 1, 1) / TURNS;
	getcontext(&made_context);
	made_context.uc_stack.ss_sp = made_stack;
	made_context.uc_stack.ss_size = sizeof(made_stack);
	makecontext(&made_context, made_entry, 0);
	make_own_stack();
	for (int i = 0; i < TURNS; i++) {
		swapcontext(&main_context, &made_context);
		switch_stacks(&main_sp, own_sp);
		main_work();
	}
	return 0;
}
