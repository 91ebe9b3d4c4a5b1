/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether code waits, by its shape: a piece of code for each rule, and those that are nearly like
 * it. The code is assembled here and never run.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <elf.h>

#include "symbolizer/spin/spin.h"
#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

/* NAME: code; the address that is judged stands between the two texts. */
#define CODE(name, before, after)                                                                  \
	extern const uint8_t code_##name[], at_##name[], end_##name[];                             \
	__asm__(".pushsection .rodata\n"                                                           \
		"code_" #name ":\n" before "\nat_" #name ":\n" after "\nend_" #name ":\n"          \
		".popsection\n");

/* ---- waits ---- */

CODE(pause, "1: pause", "cmpl $0, (%rdi); je 1b; ret")
CODE(behind_pause, "ret; xor %eax, %eax; pause", "ret")
CODE(tpause, "1: .byte 0x66, 0x0f, 0xae, 0xf1", "cmpl $0, (%rdi); je 1b; ret")
CODE(test_and_pause, "", "1: mov (%rdi), %eax; test %eax, %eax; jne 2f; pause; jmp 1b; 2: ret")
CODE(pause_with_work, "1:", "mov (%rdi), %rdi; mov %rax, (%rsi); pause; loop 1b; ret")
CODE(pause_and_exchange, "1: pause; 2: mov $1, %eax",
     "xchg %eax, (%rdi); test %eax, %eax; jne 1b; ret")
/* pthread_spin_lock of glibc */
CODE(after_pause, "2: lock decl (%rdi); jne 1f; xor %eax, %eax; ret; 1: pause; cmpl $0, (%rdi)",
     "jg 2b; jmp 1b")
CODE(before_pause, "2:",
     "lock decl (%rdi); jne 1f; xor %eax, %eax; ret; 1: pause; cmpl $0, (%rdi); jg 2b; jmp 1b")
CODE(entered_after_pause,
     "2: lock decl (%rdi); jne 3f; xor %eax, %eax; ret; 1: pause; cmpl $0, (%rdi); 3:",
     "jg 2b; jmp 1b")
CODE(pause_far_behind, "1:",
     "cmpl $0, (%rdi); jne 2f; .rept 100; nopw 0x200(%rax, %rax); .endr; pause; jmp 1b; 2: ret")
CODE(yield, "1: mov $24, %eax", "syscall; cmpl $0, (%rdi); je 1b; ret")
CODE(behind_yield, "mov $24, %eax; syscall", "ret")
CODE(call_yield, "1: call yield_stub", "cmpl $0, (%rbx); je 1b; ret; yield_stub: ret")
CODE(call_pause, "1: call 2f", "cmpl $0, (%rbx); je 1b; ret; 2: push %rbp; pause; pop %rbp; ret")
CODE(flag, "1:", "mov (%rdi), %eax; test %eax, %eax; je 1b; ret")
CODE(flag_in_memory, "1:", "cmpl $0, 0x1234(%rip); je 1b; ret")
CODE(flag_by_table,
     "1:", "mov 8(%rdi), %rax; mov (%rax, %rsi, 8), %rdx; test %rdx, %rdx; je 1b; ret")
CODE(two_flags, "1: mov (%rdi), %eax; test %eax, %eax; je 1b",
     "mov (%rsi), %eax; test %eax, %eax; je 1b; ret")
CODE(queue, "1: mov 64(%rdi), %ecx", "cmp %ecx, (%rdi); je 1b; ret")
CODE(spilled, "1: mov (%rdi), %eax; mov %eax, -12(%rbp); mov %eax, 8(%rsp)",
     "mov -12(%rbp), %edx; test %edx, %edx; je 1b; ret")
CODE(own_frame, "1:", "mov -8(%rbp), %eax; test %eax, %eax; jne 1b; ret")
CODE(fence, "1: lock orq $0, (%rsp)", "cmpl $0, (%rdi); je 1b; ret")
CODE(clock, "1: rdtsc; shl $32, %rdx; or %rdx, %rax", "cmp %rcx, %rax; jb 1b; ret")
CODE(delay, "2: mov $100, %eax; 1:", "dec %eax; jne 1b; cmpl $0, (%rdi); je 2b; ret")
CODE(byte_result, "1: mov (%rdi), %al",
     "test %al, %al; sete %cl; movzbl %cl, %ecx; test %ecx, %ecx; jne 1b; ret")
CODE(getter, "1: call 2f", "test %eax, %eax; je 1b; ret; 2: mov (%rdi), %eax; ret")
CODE(plain_getter, "1: call 2f",
     "test %eax, %eax; je 1b; ret;"
     "2: push %rbp; mov %rsp, %rbp; mov %rdi, -8(%rbp); mov -8(%rbp), %rax; mov (%rax), %eax; pop "
     "%rbp; ret")
CODE(getter_of_getter, "1: call 2f",
     "test %eax, %eax; je 1b; ret; 2: call 3f; ret; 3: mov (%rdi), %eax; ret")
CODE(test_and_set, "1: mov $1, %eax", "xchg %eax, (%rdi); test %eax, %eax; jne 1b; ret")
CODE(set_bit, "1:", "lock btsl $0, (%rdi); jc 1b; ret")
CODE(compare_and_swap, "1: xor %eax, %eax; mov $1, %ecx", "lock cmpxchg %ecx, (%rdi); jne 1b; ret")
CODE(swap_in_frame,
     "1: mov -4(%rbp), %eax; mov -8(%rbp), %ecx; lock cmpxchg %ecx, (%rdi); je 2f; mov %eax, "
     "-4(%rbp)",
     "movl $1, -4(%rbp); jmp 1b; 2: ret")
CODE(bounded, "1: mov (%rdi), %eax", "test %eax, %eax; jne 2f; dec %ecx; jne 1b; 2: ret")
CODE(bounded_upwards, "1: cmpl $0, (%rdi); jne 2f", "add $1, %ecx; cmp $1000, %ecx; jne 1b; 2: ret")
CODE(bounded_by_lea, "1: cmpl $0, (%rdi); jne 2f",
     "lea 1(%rcx), %rcx; cmp %rdx, %rcx; jne 1b; 2: ret")
CODE(bounded_in_frame, "1: cmpl $0, (%rdi); jne 2f",
     "addl $1, -4(%rbp); cmpl $99, -4(%rbp); jle 1b; 2: ret")
CODE(bounded_by_copy, "xor %eax, %eax; 1: mov (%rdi), %ecx; test %ecx, %ecx; jne 2f",
     "lea 1(%rax), %ecx; cmp $999999, %eax; mov %ecx, %eax; jb 1b; 2: ret")
CODE(bounded_by_frame,
     "movl $0, -4(%rbp); 1: cmpl $1000, -4(%rbp); jge 2f; mov (%rdi), %eax;"
     "mov %eax, -8(%rbp); cmpl $0, -8(%rbp); jne 2f",
     "mov -4(%rbp), %eax; add $1, %eax; mov %eax, -4(%rbp); jmp 1b; 2: ret")
CODE(bounded_downwards, "mov $5000, %esi; 1: cmpl $0, 8(%rdi); jne 2f",
     "sub $1, %esi; jne 1b; 2: ret")
CODE(bounded_by_argument, "mov %edx, %esi; 1: cmpl $0, 8(%rdi); jne 2f",
     "sub $1, %esi; jne 1b; 2: ret")
CODE(bounded_anew, "mov $1, %eax; 3: 1: cmpl $0, (%rdi); jne 2f; add $2, %eax",
     "cmp $9999, %eax; jne 1b; cmpl $0, (%rsi); jne 2f; mov $1, %eax; jmp 3b; 2: ret")
CODE(resumed, "xor %eax, %eax; 3: 1: cmpl $0, (%rdi); jne 2f; add $1, %eax",
     "cmp $9999, %eax; jne 1b; cmpl $0, (%rsi); jne 2f; mov %rsi, (%rdx); jmp 3b; 2: ret")
CODE(growing_delay, "mov $1, %ecx; 1: mov %ecx, %eax; 2:",
     "dec %eax; jne 2b; cmpl $0, (%rdi); jne 3f; cmp $64, %ecx; jge 1b; add %ecx, %ecx; jmp 1b; 3: "
     "ret")
CODE(growing_delay_by_choice, "mov $1, %ecx; mov $64, %r8d; 1: xor %eax, %eax; 2:",
     "inc %eax; cmp %ecx, %eax; jne 2b; cmpl $0, (%rdi); jne 3f; lea (%rcx, %rcx), %ecx;"
     "cmp %r8d, %ecx; cmovg %r8d, %ecx; jmp 1b; 3: ret")
CODE(growing_delay_entered_inside, "mov $1, %edx; jmp 2f; 1:",
     "add $1, %eax; cmp %eax, %edx; jne 1b; 4: mov %edx, %eax; lea (%rdx, %rdx), %ecx; cmp $1024, "
     "%edx;"
     "cmovl %ecx, %eax; mov %eax, %edx; 2: mov (%rdi), %eax; test %eax, %eax; jne 3f; test %edx, "
     "%edx;"
     "jg 1b; jmp 4b; 3: ret")
CODE(search_entered_inside, "jmp 2f; 1:",
     "add $8, %rax; 2: mov (%rax), %ecx; test %ecx, %ecx; jne 3f; cmpl $0, (%rdi); je 1b; 3: ret")
CODE(delay_in_one_head, "1: add $1, %eax",
     "cmp $100, %eax; jne 1b; cmpl $0, (%rdi); mov $0, %eax; je 1b; ret")
CODE(inner_of_lock, "2: mov $1, %eax; xchg %eax, (%rdi); test %eax, %eax; je 3f; 1:",
     "cmpl $0, (%rdi); jne 1b; jmp 2b; 3: ret")
CODE(limited, "3: mov $1000, %eax; jmp 2f; 1: sub $1, %eax; je 4f; 2:",
     "mov (%rbp), %rdx; test %rdx, %rdx; je 1b; 4: mov (%rbp), %rax; test %rax, %rax; jne 5f;"
     "mov %r15, %rdi; call *%rbx; jmp 3b; 5: ret")
CODE(entered_inside, "3: mov 8(%rsi), %rdx; xor %eax, %eax; jmp 2f; 1: pause",
     "add $1, %rax; cmp %rdx, %rax; je 4f; 2: mov (%rbp), %ecx; cmp %ecx, %ebx; je 1b; jmp 5f;"
     "4: mov $202, %eax; mov %rbp, %rdi; syscall; 5: mov 4(%rbp), %eax; test $1, %al; jne 3b; ret")
CODE(entered_at_load,
     "3: mov 8(%rsi), %rdx; xor %eax, %eax; jmp 2f; 1: pause; add $1, %rax; cmp %rdx, %rax; je 4f; "
     "2:",
     "mov (%rbp), %ecx; cmp %ecx, %ebx; je 1b; jmp 5f;"
     "4: mov $202, %eax; mov %rbp, %rdi; syscall; 5: mov 4(%rbp), %eax; test $1, %al; jne 3b; ret")
CODE(in_getter, "", "mov (%rdi), %eax; test %eax, %eax; sete %al; ret")
CODE(in_relax, "nop", "push %rbp; pause; pop %rbp; ret")

CODE(worker_head, "",
     "1: mov (%rdi), %eax; test %eax, %eax; jne 2f; pause; jmp 1b;"
     "2: mov %eax, (%rsi); jmp 1b")

CODE(state_machine, "1:", "cmpl $4, (%rbx); ja 1b; mov (%rbx), %eax; jmp *(%rdx, %rax, 8)")

/* ---- no waits, or not by their shape ---- */

CODE(update_anew, "1: mov (%rdi), %eax; lea 3(%rax), %ecx",
     "lock cmpxchg %ecx, (%rdi); jne 1b; ret")
CODE(count_atomically, "1:", "lock decl (%rdi); js 1b; ret")
CODE(reader, "2: mov 8(%rdi), %edx; xor %ecx, %ecx; 1: mov (%rsi, %rcx, 8), %rax",
     "inc %ecx; cmp $64, %ecx; jne 1b; cmp %edx, 8(%rdi); jne 2b; ret")

CODE(random_until_flag, "1: mov %rax, %rcx; shl $13, %rcx; xor %rcx, %rax",
     "cmpl $0, (%rdi); je 1b; ret")
CODE(product_until_flag, "1: imul $69069, %eax; add $1, %eax", "cmpl $0, (%rdi); je 1b; ret")
/* the product begins again in each turn, and no code in sight reads it */
CODE(product_between_looks, "3: mov $7, %eax; mov $20000, %edx; 1: imul %rsi, %rax",
     "add %rcx, %rax; dec %edx; jne 1b; cmpl $0, (%rdi); jne 2f; dec %r8d; jne 3b; 2: ret")
CODE(bits_until_flag, "1: test $1, %al; setne %cl; movzbl %cl, %ecx; add %ecx, %edx; shl $1, %eax",
     "cmpl $0, (%rdi); je 1b; ret")
CODE(copied_pointer, "1: mov %rax, %rcx; add $8, %rax",
     "cmpl $0, (%rcx); jne 2f; cmpl $0, (%rdi); je 1b; 2: ret")
CODE(copied_from_memory, "1: mov (%rdi), %ecx; mov %ecx, %eax",
     "cmp %eax, %edx; mov %eax, %edx; jne 1b; ret")
CODE(limited_walk, "3: mov $1000, %eax; jmp 2f; 1: add $8, %rbp; sub $1, %eax; je 4f; 2:",
     "mov (%rbp), %rdx; test %rdx, %rdx; je 1b; 4: mov (%rbp), %rax; test %rax, %rax; jne 5f;"
     "mov %r15, %rdi; call *%rbx; jmp 3b; 5: ret")
CODE(straight, "mov (%rdi), %eax", "test %eax, %eax; je 1f; inc %eax; 1: ret")
CODE(not_pause, "mov %rsi, %rbx; nop", "mov %rbx, (%rdi); ret")
CODE(strlen, "1:", "inc %rdi; cmpb $0, (%rdi); jne 1b; ret")
CODE(memchr, "1:", "cmp %al, (%rdi); je 2f; add $1, %rdi; dec %rcx; jne 1b; 2: ret")
CODE(list, "1:", "mov (%rax), %rax; test %rax, %rax; jne 1b; ret")
CODE(list_search, "1: mov 8(%rax), %rax; test %rax, %rax; je 2f",
     "cmp %rdx, (%rax); jne 1b; 2: ret")
CODE(checksum, "1:", "add (%rdi), %eax; add $4, %rdi; cmp %rsi, %rdi; jne 1b; ret")
CODE(sum_in_place, "1: mov (%rdi), %edx", "add %edx, %eax; test %edx, %edx; jne 1b; ret")
CODE(memcpy, "1:", "mov (%rsi), %al; mov %al, (%rdi); inc %rsi; inc %rdi; dec %rcx; jne 1b; ret")
CODE(strings, "1:", "repe cmpsb; jne 1b; ret")
CODE(fill, "1:", "mov %rax, (%rdi); cmpl $0, (%rsi); je 1b; ret")
CODE(below_pointer, "1: add $8, %rbp", "mov %rax, -8(%rbp); cmpl $0, (%rsi); je 1b; ret")
CODE(add_atomically, "1:", "lock incl (%rdi); dec %ecx; jne 1b; ret")
CODE(update, "mov (%rdi), %eax; 1: lea 3(%rax), %ecx", "lock cmpxchg %ecx, (%rdi); jne 1b; ret")
CODE(push_to_stack, "mov (%rdi), %rax; 1: mov %rax, 8(%rsi)",
     "lock cmpxchg %rsi, (%rdi); jne 1b; ret")
CODE(opaque_call, "1:", "call 2f; cmpl $0, (%rbx); je 1b; ret; 2: mov %rax, (%rdi); ret")
CODE(calls_loop,
     "1:", "call 2f; test %eax, %eax; je 1b; ret; 2: mov (%rdi), %eax; 3: dec %eax; jne 3b; ret")
CODE(indirect_call, "1:", "call *%rbx; test %eax, %eax; je 1b; ret")
CODE(other_syscall, "1: xor %eax, %eax", "syscall; cmpl $0, (%rdi); je 1b; ret")
CODE(forever, "", "1: jmp 1b")
CODE(count_only, "1:", "dec %ecx; jne 1b; ret")
CODE(count_to_memory, "1: inc %ecx", "cmp (%rdi), %ecx; jne 1b; ret")
CODE(random, "1:", "rdrand %rax; jnc 1b; ret")
CODE(vectors, "1:", "movdqu (%rdi), %xmm0; ptest %xmm0, %xmm0; je 1b; ret")
CODE(bignum, "1: mov (%rsi), %rax; adc (%rdi), %rax",
     "lea 8(%rsi), %rsi; lea 8(%rdi), %rdi; dec %rcx; jne 1b; ret")
CODE(bisection, "1: lea (%rax, %rdx), %rcx; shr %rcx",
     "cmp %rsi, (%rdi, %rcx, 8); cmovb %rcx, %rax; cmovae %rcx, %rdx; cmp %rax, %rdx; ja 1b; ret")
CODE(worker, "1: mov (%rdi), %eax; test %eax, %eax; jne 2f; pause; jmp 1b; 2:",
     "mov %eax, (%rsi); add %eax, (%rdx); jmp 1b")
CODE(maybe_relaxing_call, "1:",
     "call 2f; mov %rax, (%rbx); jmp 1b; 2: mov (%rdi), %eax; test %eax, %eax; je 3f; pause; 3: "
     "ret")
CODE(outer_of_pause, "1: inc %rdi; 2: cmpl $0, (%rdi); jne 3f; pause; jmp 2b; 3:",
     "mov %eax, (%rsi); cmp %rdi, %rdx; jne 1b; ret")
CODE(second_try, "1: mov (%rdi), %rax; 2:",
     "cmp %rsi, (%rax); mov (%rax), %rax; jne 2b; cmp $1, %r8d; je 3f; mov $1, %r8d; jmp 1b; 3: "
     "ret")
CODE(own_thread, "1:", "cmpl $0, %fs:16; je 1b; ret")
CODE(upper_half, "1: mov (%rdi), %al", "shl $8, %eax; test $0xff0000, %eax; je 1b; ret")
CODE(too_long, "1:",
     "cmpl $0, (%rdi); jne 2f; .rept 130; nopw 0x200(%rax, %rax); .endr; pause; jmp 1b; 2: ret")
CODE(data, "", ".byte 0x06, 0x06, 0x06")
CODE(cut, "1: cmpl $0, (%rdi)", ".byte 0x0f")

#define CONFIRM	  1
#define BY_CALLER 2

static const struct piece {
	const char *name;
	const uint8_t *start, *at, *end;
	enum qz_spin_class class;
	unsigned int flags;
} pieces[] = {
#define P(name, class, flags)                                                                      \
	{                                                                                          \
#name, code_##name, at_##name, end_##name, QZ_SPIN_##class, flags                  \
	}
	P(pause, PAUSE, 0),
	P(behind_pause, PAUSE, 0),
	P(tpause, PAUSE, 0),
	P(test_and_pause, PAUSE, 0),
	P(pause_with_work, PAUSE, CONFIRM),
	P(after_pause, PAUSE, 0),
	P(before_pause, PAUSE, CONFIRM),
	P(entered_after_pause, PAUSE, CONFIRM),
	P(pause_and_exchange, PAUSE, CONFIRM),
	P(pause_far_behind, PAUSE, 0),
	P(yield, PAUSE, 0),
	P(behind_yield, PAUSE, 0),
	P(call_yield, PAUSE, 0),
	P(call_pause, PAUSE, 0),
	P(flag, PURE, 0),
	P(flag_in_memory, PURE, 0),
	P(flag_by_table, PURE, 0),
	P(two_flags, PURE, 0),
	P(queue, PURE, 0),
	P(spilled, PURE, 0),
	P(own_frame, PURE, 0),
	P(fence, PURE, 0),
	P(clock, PURE, 0),
	P(delay, PURE, 0),
	P(byte_result, PURE, 0),
	P(getter, PURE, 0),
	P(plain_getter, PURE, 0),
	P(getter_of_getter, PURE, 0),
	P(test_and_set, ATOMIC, CONFIRM),
	P(set_bit, ATOMIC, CONFIRM),
	P(compare_and_swap, ATOMIC, CONFIRM),
	P(swap_in_frame, ATOMIC, CONFIRM),
	P(bounded, COUNTED, CONFIRM),
	P(bounded_upwards, COUNTED, CONFIRM),
	P(bounded_by_lea, COUNTED, CONFIRM),
	P(bounded_in_frame, COUNTED, CONFIRM),
	P(bounded_by_copy, COUNTED, CONFIRM),
	P(bounded_by_frame, COUNTED, CONFIRM),
	P(bounded_downwards, COUNTED, CONFIRM),
	P(bounded_by_argument, COUNTED, CONFIRM),
	P(bounded_anew, COUNTED, CONFIRM),
	P(resumed, COUNTED, CONFIRM),
	P(growing_delay, PURE, CONFIRM),
	P(growing_delay_by_choice, COUNTED, CONFIRM),
	P(growing_delay_entered_inside, COUNTED, CONFIRM),
	P(delay_in_one_head, COUNTED, CONFIRM),
	P(inner_of_lock, PURE, CONFIRM),
	P(limited, COUNTED, CONFIRM),
	P(entered_inside, PAUSE, 0),
	P(entered_at_load, PAUSE, CONFIRM),
	P(in_getter, NONE, BY_CALLER),
	P(in_relax, PAUSE, 0),
	P(state_machine, PURE, CONFIRM),
	P(worker_head, PAUSE, CONFIRM),
	P(update_anew, NONE, 0),
	P(count_atomically, NONE, 0),
	P(reader, NONE, 0),
	P(random_until_flag, NONE, 0),
	P(product_until_flag, NONE, 0),
	P(product_between_looks, NONE, 0),
	P(bits_until_flag, NONE, 0),
	P(copied_pointer, NONE, 0),
	P(copied_from_memory, NONE, 0),
	P(search_entered_inside, NONE, 0),
	P(limited_walk, NONE, 0),
	P(straight, NONE, BY_CALLER),
	P(not_pause, NONE, 0),
	P(strlen, NONE, 0),
	P(memchr, NONE, 0),
	P(list, NONE, 0),
	P(list_search, NONE, 0),
	P(checksum, NONE, 0),
	P(sum_in_place, NONE, 0),
	P(memcpy, NONE, 0),
	P(strings, NONE, 0),
	P(fill, NONE, 0),
	P(below_pointer, NONE, 0),
	P(add_atomically, NONE, 0),
	P(update, NONE, 0),
	P(push_to_stack, NONE, 0),
	P(opaque_call, NONE, 0),
	P(calls_loop, NONE, 0),
	P(indirect_call, NONE, 0),
	P(other_syscall, NONE, 0),
	P(forever, NONE, 0),
	P(count_only, NONE, 0),
	P(count_to_memory, NONE, 0),
	P(random, NONE, 0),
	P(vectors, NONE, 0),
	P(bignum, NONE, 0),
	P(bisection, NONE, 0),
	P(worker, NONE, 0),
	P(maybe_relaxing_call, NONE, 0),
	P(outer_of_pause, NONE, 0),
	P(second_try, NONE, 0),
	P(own_thread, NONE, 0),
	P(upper_half, NONE, 0),
	P(too_long, NONE, 0),
	P(data, NONE, 0),
	P(cut, NONE, 0),
};

/* ---- code in memory ---- */

#define BASE 0x400000

struct memory {
	const uint8_t *start, *end;
};

static bool range(void *context, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct memory *m = context;

	*start = BASE;
	*end = BASE + (uint64_t)(m->end - m->start);
	return address >= *start && address < *end;
}

static size_t read_code(void *context, uint64_t address, uint8_t *to, size_t size)
{
	const struct memory *m = context;
	uint64_t start, end;

	if (!range(context, address, &start, &end))
		return 0;
	if (size > end - address)
		size = end - address;
	memcpy(to, m->start + (address - BASE), size);
	return size;
}

extern const uint8_t yield_stub[];

static bool yields(void *context, uint64_t address)
{
	const struct memory *m = context;

	return m->start + (address - BASE) == yield_stub;
}

static struct spin *spin;

static void judge(const struct memory *m, size_t at, bool procedure, struct spin_code *v)
{
	struct code_source source = {(void *)(uintptr_t)m, range, read_code, yields};

	spin__classify(spin, &source, BASE + at, procedure ? BASE : 0,
		       procedure ? BASE + (uint64_t)(m->end - m->start) : 0, v);
}

static void setup(void)
{
	spin = spin__new(EM_X86_64);
	ck_assert_ptr_nonnull(spin);
}

static void teardown(void)
{
	spin__free(spin);
}

START_TEST(code_is_judged_by_its_shape)
{
	const struct piece *p = &pieces[_i];
	const struct memory m = {p->start, p->end};
	struct spin_code v;

	judge(&m, (size_t)(p->at - p->start), true, &v);
	ck_assert_msg(v.class == p->class, "%s: class %d", p->name, v.class);
	ck_assert_msg(!!(v.flags & QZ_SPIN_CONFIRM) == !!(p->flags & CONFIRM), "%s: confirm %d",
		      p->name, !!(v.flags & QZ_SPIN_CONFIRM));
	ck_assert_msg(!!(v.flags & QZ_SPIN_BY_CALLER) == !!(p->flags & BY_CALLER),
		      "%s: by caller %d", p->name, !!(v.flags & QZ_SPIN_BY_CALLER));
	ck_assert_msg(!v.class || (v.start <= BASE + (uint64_t)(p->at - p->start) &&
				   v.end > BASE + (uint64_t)(p->at - p->start)),
		      "%s: range", p->name);
}
END_TEST

/* ---- memory ---- */

#define R  QZ_OPERAND_READ
#define W  QZ_OPERAND_WRITTEN
#define A  QZ_OPERAND_ATOMIC
#define NO QZ_OPERAND_NONE

/* The instruction before, where it waits for memory, else the one at the address. */
CODE(behind_atomic, "1: lock addq $1, 8(%rdi)", "sub $1, %edx; jne 1b; ret")
CODE(behind_store, "1: mov %rax, (%rdi, %rcx, 8)", "sub $1, %edx; jne 1b; ret")
CODE(behind_exchange, "xchg %rax, (%rbx)", "ret")
CODE(behind_compare, "cmp %rax, 16(%r12)", "ret")
CODE(behind_vector, "movdqu %xmm0, 32(%rsi)", "ret")
CODE(at_load, "1: sub $1, %edx", "mov (%r9), %rax; jne 1b; ret")
CODE(followed, "mov (%rdi), %rdi", "mov (%rsi), %rax; ret")
CODE(at_chase, "1: sub $1, %edx", "mov 8(%rdi), %rdi; jne 1b; ret")
CODE(before_loop, "mov %rax, (%rdi)", "1: sub $1, %edx; jne 1b; ret")
CODE(behind_call, "mov (%rdi), %rax; call 1f", "1: ret")
CODE(behind_jump, "mov (%rdi), %rax; jmp 1f", "1: nop; ret")
CODE(own_memory, "mov %fs:8(%rdi), %rax", "ret")
CODE(address_alone, "lea 8(%rdi), %rax", "ret")
CODE(two_places, "movsq", "ret")
CODE(narrow_address, "mov (%edi), %eax", "ret")
CODE(behind_global, "mov %rax, 0x1234(%rip)", "ret")

static const struct {
	const char *name;
	const uint8_t *start, *at, *end;
	uint8_t flags, base, index, scale, size;
	int64_t distance;
} accesses[] = {
#define M(name, ...)                                                                               \
	{                                                                                          \
#name, code_##name, at_##name, end_##name, __VA_ARGS__                             \
	}
	M(behind_atomic, R | W | A, 7, NO, 1, 8, 8),
	M(behind_store, W, 7, 1, 8, 8, 0),
	M(behind_exchange, R | W | A, 3, NO, 1, 8, 0),
	M(behind_compare, R, 12, NO, 1, 8, 16),
	M(behind_vector, W, 6, NO, 1, 16, 32),
	M(at_load, R, 9, NO, 1, 8, 0),
	M(followed, R, 6, NO, 1, 8, 0),
	M(at_chase, R, 7, NO, 1, 8, 8),
	M(before_loop, 0, 0, 0, 0, 0, 0),
	M(behind_call, 0, 0, 0, 0, 0, 0),
	M(behind_jump, 0, 0, 0, 0, 0, 0),
	M(own_memory, 0, 0, 0, 0, 0, 0),
	M(address_alone, 0, 0, 0, 0, 0, 0),
	M(two_places, 0, 0, 0, 0, 0, 0),
	M(narrow_address, 0, 0, 0, 0, 0, 0),
};

START_TEST(what_is_waited_for_is_told)
{
	const struct memory m = {accesses[_i].start, accesses[_i].end};
	const struct qz_operand *o;
	struct spin_code v;

	judge(&m, (size_t)(accesses[_i].at - m.start), true, &v);
	o = &v.operand;
	ck_assert_msg(o->size == accesses[_i].size, "%s: size %d", accesses[_i].name, o->size);
	if (!o->size)
		return;
	ck_assert_msg(o->flags == accesses[_i].flags, "%s: flags %d", accesses[_i].name, o->flags);
	ck_assert_msg(o->base == accesses[_i].base && o->index == accesses[_i].index &&
			      (o->index == NO || o->scale == accesses[_i].scale),
		      "%s: %d %d %d", accesses[_i].name, o->base, o->index, o->scale);
	ck_assert_int_eq((int64_t)o->at, accesses[_i].distance);
}
END_TEST

START_TEST(addresses_are_computed)
{
	const struct memory m = {code_behind_global, end_behind_global};
	uint64_t registers[16] = {0};
	struct qz_operand o = {.at = -8ull, .base = 3, .index = 15, .scale = 4, .size = 8};
	struct spin_code v;

	registers[3] = 0x10000;
	registers[15] = 3;
	ck_assert_uint_eq(qz_operand__address(&o, registers, 0x5555), 0x10000 + 12 - 8);
	judge(&m, (size_t)(at_behind_global - m.start), true, &v);
	ck_assert_uint_eq(v.operand.flags, W | QZ_OPERAND_CODE);
	ck_assert_uint_eq(qz_operand__address(&v.operand, registers, 0x100000),
			  0x100000 + BASE + (uint64_t)(at_behind_global - m.start) + 0x1234);
}
END_TEST

#undef R
#undef W
#undef A
#undef NO

/* Without a procedure, and with other code before and behind, loops are found all the same. */
START_TEST(symbols_are_not_needed)
{
	static uint8_t bytes[8192];
	const struct piece *p = &pieces[_i];
	const struct memory m = {bytes, bytes + sizeof(bytes)};
	size_t size = (size_t)(p->end - p->start);
	struct spin_code v;

	if (p->class == QZ_SPIN_NONE || p->at == at_in_relax || p->at == at_call_yield)
		return;
	memset(bytes, 0xcc, sizeof(bytes));
	memcpy(bytes + 4000, p->start, size);
	judge(&m, 4000 + (size_t)(p->at - p->start), false, &v);
	ck_assert_msg(v.class == p->class, "%s: class %d", p->name, v.class);
}
END_TEST

START_TEST(what_a_loop_writes_is_told)
{
	const struct memory flag = {code_flag, end_flag},
			    lock = {code_test_and_set, end_test_and_set};
	const struct memory getter = {code_getter, end_getter};
	struct spin_code v;

	judge(&flag, 0, true, &v);
	ck_assert_uint_eq(v.written, 1);
	ck_assert_uint_eq(v.start, BASE);
	judge(&lock, (size_t)(at_test_and_set - code_test_and_set), true, &v);
	ck_assert_uint_eq(v.written, 1);
	judge(&getter, (size_t)(at_getter - code_getter), true, &v);
	ck_assert_uint_eq(v.written, 1 | 1 << 4 | 1 << 5);
}
END_TEST

static const struct {
	const uint8_t *start, *at, *end;
	bool known;
	uint8_t base;
	uint64_t place;
} watches[] = {
#define W(name, ...)                                                                               \
	{                                                                                          \
		code_##name, at_##name, end_##name, __VA_ARGS__                                    \
	}
	W(flag, true, 7, 0),
	W(spilled, true, 7, 0),
	W(call_pause, true, 3, 0),
	W(test_and_set, true, 7, 0),
	W(inner_of_lock, true, 7, 0),
	W(limited, true, 5, 0),
	W(entered_inside, true, 5, 0),
	W(flag_in_memory, true, QZ_SPIN_FIXED, BASE + 7 + 0x1234), /* behind the instruction */
	W(two_flags, false),
	W(queue, false),
	W(flag_by_table, false),
	W(pause_with_work, false), /* it changes the register */
	W(getter, false),
	W(own_frame, false),
	W(clock, false),
	W(list, false),
#undef W
};

START_TEST(what_a_loop_watches_is_told)
{
	const struct memory m = {watches[_i].start, watches[_i].end};
	struct spin_code v;

	judge(&m, (size_t)(watches[_i].at - watches[_i].start), true, &v);
	ck_assert_int_eq(!!(v.flags & QZ_SPIN_WATCHES), watches[_i].known);
	if (!watches[_i].known)
		return;
	ck_assert_uint_eq(v.base, watches[_i].base);
	ck_assert_uint_eq(v.at, watches[_i].place);
}
END_TEST

static const struct {
	const uint8_t *start, *at, *end;
	unsigned int counter;
	int first, many;
} counters[] = {
#define C(name, ...)                                                                               \
	{                                                                                          \
		code_##name, at_##name, end_##name, __VA_ARGS__                                    \
	}
	C(bounded_by_copy, 0, 0, QZ_SPIN_MANY_TURNS),
	C(bounded_downwards, 6, 5000, -QZ_SPIN_MANY_TURNS),
	C(bounded_anew, 0, 1, 2 * QZ_SPIN_MANY_TURNS),
	C(limited, 0, 1000, -QZ_SPIN_MANY_TURNS),
	C(entered_at_load, 0, 0, QZ_SPIN_MANY_PAUSES),
	/* What it begins with is not known. */
	C(bounded, 0, 0, 0),
	C(bounded_by_argument, 0, 0, 0),
	C(bounded_in_frame, 0, 0, 0),
	C(bounded_by_frame, 0, 0, 0),
	C(resumed, 0, 0, 0),
	C(delay_in_one_head, 0, 0, 0),
	C(flag, 0, 0, 0),
	C(memchr, 0, 0, 0),
#undef C
};

START_TEST(what_counts_turns_is_told)
{
	const struct memory m = {counters[_i].start, counters[_i].end};
	struct spin_code v;

	judge(&m, (size_t)(counters[_i].at - counters[_i].start), true, &v);
	ck_assert_int_eq(v.many, counters[_i].many);
	if (!counters[_i].many)
		return;
	ck_assert_uint_eq(v.counter, counters[_i].counter);
	ck_assert_int_eq(v.first, counters[_i].first);
}
END_TEST

START_TEST(turns_are_told_by_the_counter)
{
	ck_assert(!qz_spin__has_turned(0, 0, 0));
	ck_assert(!qz_spin__has_turned(1000, 0, 0));
	ck_assert(!qz_spin__has_turned(255, 0, 256));
	ck_assert(qz_spin__has_turned(256, 0, 256));
	ck_assert(!qz_spin__has_turned(4745, 5000, -256));
	ck_assert(qz_spin__has_turned(4744, 5000, -256));
	ck_assert(!qz_spin__has_turned(5256, 5000, -256));
	ck_assert(qz_spin__has_turned(0xffffff00, 0, -256));
	/* of the upper half nothing is known */
	ck_assert(qz_spin__has_turned(0xabcd00000100, 0, 256));
}
END_TEST

/* Any bytes, judged at any address: the work is bounded, and so is what comes out. */
START_TEST(hostile_bytes_cost_no_more)
{
	static uint8_t bytes[4096];
	const struct memory m = {bytes, bytes + sizeof(bytes)};

	srandom((unsigned int)_i);
	for (size_t i = 0; i < sizeof(bytes); i++)
		switch (_i % 4) {
		case 0: /* anything */
			bytes[i] = (uint8_t)random();
			break;
		case 1: /* branches everywhere */
			bytes[i] = (uint8_t)(random() % 3 ? 0x70 + random() % 16 : random());
			break;
		case 2: /* calls, jumps and returns */
			bytes[i] = (uint8_t)("\xe8\xe9\xeb\xc3\x00\xff\x75\x0f"[random() % 8]);
			break;
		default: /* many loops in each other */
			bytes[i] = (uint8_t)(i % 4 == 0	  ? 0x75
					     : i % 4 == 1 ? 0xfe - random() % 120
					     : i % 4 == 2 ? 0x8b
							  : 0x07);
			break;
		}
	for (size_t at = 0; at < sizeof(bytes); at += 1 + (size_t)(random() % 64)) {
		uint64_t before = spin__decoded(spin);
		struct spin_code v;

		judge(&m, at, random() % 2, &v);
		ck_assert_uint_le(spin__decoded(spin) - before, SPIN_MAX_DECODED);
		ck_assert_uint_lt(v.class, QZ_SPIN_CLASSES);
		ck_assert_uint_le(v.start, v.end);
		ck_assert(v.operand.base <= QZ_OPERAND_NONE && v.operand.index <= QZ_OPERAND_NONE &&
			  v.operand.flags < QZ_OPERAND_FLAGS && v.operand.scale <= 8);
	}
}
END_TEST

/* What is remembered of code is not taken for what stands there now, nor for what stands elsewhere. */
START_TEST(changed_code_is_read_again)
{
	static uint8_t bytes[256];
	const struct memory m = {bytes, bytes + sizeof(bytes)};
	struct spin *kept = spin;
	uint64_t decoded = 0, anew = 0;

	srandom((unsigned int)_i);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)random();
	for (int i = 0; i < 200; i++) {
		size_t at = (size_t)random() % sizeof(bytes);
		struct spin_code now, first;

		bytes[(size_t)random() % sizeof(bytes)] ^= (uint8_t)(1 << random() % 8);
		judge(&m, at, true, &now);
		setup();
		judge(&m, at, true, &first);
		anew += spin__decoded(spin);
		teardown();
		spin = kept;
		ck_assert_mem_eq(&now, &first, sizeof(now));
	}
	decoded = spin__decoded(spin);
	ck_assert_msg(decoded < anew / 2, "%" PRIu64 " of %" PRIu64 " decoded", decoded, anew);
}
END_TEST

START_TEST(other_machines_are_not_judged)
{
	ck_assert_ptr_null(spin__new(EM_AARCH64));
}
END_TEST

/* ---- the whole way, through the process without privileges ---- */

START_TEST(the_child_judges_files)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int module = util__add(s, LIBC, NULL);
	size_t n, found = 0;
	struct util_symbol *symbols = util__nm(LIBC, true, &n);
	const struct util_symbol *lock = util__find(symbols, n, "pthread_spin_lock");
	uint64_t addresses[1000];
	struct spin_record verdicts[1000];

	ck_assert_ptr_nonnull(lock);
	for (size_t i = 0; i < 1000; i++)
		addresses[i] = lock->offset + i % lock->size;
	ck_assert_int_eq(symbolizer__classify(s, module, addresses, 1000, verdicts), 0);
	for (size_t i = 0; i < 1000; i++) {
		const struct spin_record *v = &verdicts[i];

		ck_assert_msg(strstr(symbolizer__procedure(s, v), "pthread_spin_lock"), "%s",
			      symbolizer__procedure(s, v));
		ck_assert_uint_eq(v->procedure_start, lock->offset);
		ck_assert_uint_ge(v->procedure_end, lock->offset + lock->size);
		ck_assert_int_eq(v->code.class, verdicts[i % lock->size].code.class);
		if (v->code.class != QZ_SPIN_PAUSE)
			continue;
		ck_assert(v->code.start >= v->procedure_start && v->code.end <= v->procedure_end);
		found++;
	}
	ck_assert_uint_gt(found, 0);
	free(symbols);
	symbolizer__free(s);
}
END_TEST

/* No code, no file of code, and not even a procedure: no verdict, and no harm. */
START_TEST(the_child_judges_nothing_else)
{
	static const char map[] = "1000 100 spin\n";
	struct symbolizer *s = util__symbolizer(false, false);
	int module = util__add(s, LIBC, NULL), names;
	uint64_t addresses[] = {0, 64, UINT64_MAX, 0x1080};
	struct spin_record v[4];

	names = symbolizer__add_module(s, SYMBOLIZER_PERF_MAP, util__memfd(map, sizeof(map) - 1),
				       -1, "perf-1.map");
	ck_assert_int_eq(symbolizer__classify(s, module, addresses, 3, v), 0);
	for (int i = 0; i < 3; i++)
		ck_assert(v[i].code.class == QZ_SPIN_NONE && !v[i].code.flags &&
			  !*symbolizer__procedure(s, &v[i]));
	ck_assert_int_eq(symbolizer__classify(s, names, addresses, 4, v), 0);
	ck_assert(v[3].code.class == QZ_SPIN_NONE && !v[3].code.flags);
	ck_assert_str_eq(symbolizer__procedure(s, &v[3]), "spin");
	ck_assert_uint_eq(v[3].procedure_start, 0x1000);
	ck_assert_uint_eq(v[3].procedure_end, 0x1100);
	ck_assert_int_eq(symbolizer__classify(s, 77, addresses, 1, v), -EINVAL);
	ck_assert_int_eq(symbolizer__classify(s, module, addresses, 0, v), 0);
	symbolizer__free(s);
}
END_TEST

Suite *suite_spin(void)
{
	Suite *s = suite_create("spin");
	TCase *c = tcase_create("shape");
	int n = sizeof(pieces) / sizeof(*pieces);

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, code_is_judged_by_its_shape, 0, n);
	tcase_add_loop_test(c, symbols_are_not_needed, 0, n);
	tcase_add_loop_test(c, what_is_waited_for_is_told, 0, sizeof(accesses) / sizeof(*accesses));
	tcase_add_test(c, addresses_are_computed);
	tcase_add_test(c, what_a_loop_writes_is_told);
	tcase_add_loop_test(c, what_a_loop_watches_is_told, 0, sizeof(watches) / sizeof(*watches));
	tcase_add_loop_test(c, what_counts_turns_is_told, 0, sizeof(counters) / sizeof(*counters));
	tcase_add_test(c, turns_are_told_by_the_counter);
	tcase_add_loop_test(c, hostile_bytes_cost_no_more, 0, 40);
	tcase_add_loop_test(c, changed_code_is_read_again, 0, 10);
	tcase_add_test(c, other_machines_are_not_judged);
	suite_add_tcase(s, c);
	c = tcase_create("child");
	tcase_add_test(c, the_child_judges_files);
	tcase_add_test(c, the_child_judges_nothing_else);
	suite_add_tcase(s, c);
	return s;
}
