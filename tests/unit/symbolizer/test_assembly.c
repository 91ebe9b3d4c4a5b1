/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows that are derived from code without call frame information. The code is never executed. */
#include <check.h>
#include <stdlib.h>

#include "symbolizer/cfi/assembly.h"
#include "symbolizer/cfi/stack_effect.h"
#include "tests/unit/suites.h"

__asm__(".pushsection .rodata\n"
	".balign 64\n"
	"assembly_code:\n"
	/* as x86inc.asm writes it: registers pushed, room taken, a loop, all given back */
	"a_entry: push %rbx\n"
	"push %rbp\n"
	"sub $40, %rsp\n"
	"a_room: vpaddw %ymm0, %ymm1, %ymm2\n"
	"1: dec %ebp\n"
	"jnz 1b\n"
	"a_loop_done: add $40, %rsp\n"
	"pop %rbp\n"
	"a_popped: pop %rbx\n"
	"a_return: ret\n"
	".balign 16, 0x90\n"
	/* the stack realigned, where it was kept on the stack behind a push */
	"b_entry: push %rbx\n"
	"mov %rsp, %r11\n"
	"and $-64, %rsp\n"
	"b_register: sub $128, %rsp\n"
	"mov %r11, 96(%rsp)\n"
	"b_slot: vpdpbusd %zmm0, %zmm1, %zmm2\n"
	"mov 96(%rsp), %rsp\n"
	"b_back: pop %rbx\n"
	"ret\n"
	".balign 16, 0xcc\n"
	/* the same by a register that is kept, with rbp saved, as OpenBLAS has it */
	"m_entry: sub $96, %rsp\n"
	"mov %rbx, (%rsp)\n"
	"mov %rbp, 8(%rsp)\n"
	"m_room: mov %rsp, %rbx\n"
	"m_kept: sub $28800, %rsp\n"
	"m_large: and $-4096, %rsp\n"
	"m_register: mov %rax, 24(%rsp)\n"
	"mov %rbx, %rsp\n"
	"m_back: mov (%rsp), %rbx\n"
	"mov 8(%rsp), %rbp\n"
	"add $96, %rsp\n"
	"m_return: ret\n"
	".balign 16, 0x90\n"
	/* a frame pointer */
	"c_entry: push %rbp\n"
	"mov %rsp, %rbp\n"
	"and $-32, %rsp\n"
	"c_frame: nop\n"
	"leave\n"
	"c_left: ret\n"
	".balign 16, 0x90\n"
	/* a jump by a table, what it leads to right behind it, and aligned */
	"d_entry: push %rbx\n"
	"push %rbp\n"
	"jmp *%rax\n"
	"d_behind: inc %eax\n"
	"pop %rbp\n"
	"pop %rbx\n"
	"ret\n"
	".balign 32, 0x90\n"
	"d_aligned: inc %eax\n"
	"pop %rbp\n"
	"d_aligned_popped: pop %rbx\n"
	"ret\n"
	".balign 16, 0x90\n"
	/* what cannot be told, and what is none */
	"e_entry: mov (%rdi), %rsp\n"
	"e_lost: ret\n"
	".balign 16, 0x90\n"
	"f_entry: push %rbx\n"
	"f_pushed: nop\n"
	".byte 0x06\n"
	".balign 16, 0x90\n"
	"g_entry: ret\n"
	".balign 16, 0x90\n"
	/* a thread begins in a child of clone; nothing is between this one and the next */
	"h_entry: syscall\n"
	"test %eax, %eax\n"
	"jne 1f\n"
	"xor %ebp, %ebp\n"
	"h_first: pop %rdi\n"
	"call *%r9\n"
	"hlt\n"
	"1: ret\n"
	/* the same register cleared by one that returns */
	"i_entry: xor %ebp, %ebp\n"
	"i_cleared: nop\n"
	"ret\n"
	".balign 16, 0x90\n"
	/* a call that does not return ends a procedure, behind which the next one is aligned */
	"j_entry: sub $24, %rsp\n"
	"j_room: call g_entry\n"
	".balign 16, 0x90\n"
	"k_entry: push %rbx\n"
	"k_pushed: call g_entry\n"
	"jmp k_pushed\n"
	".balign 16, 0x90\n"
	/* a loop that is aligned behind a call, in a frame by rbp */
	"l_entry: push %rbp\n"
	"mov %rsp, %rbp\n"
	"sub $32, %rsp\n"
	"call g_entry\n"
	".balign 16, 0x90\n"
	"l_loop: dec %eax\n"
	"jnz l_loop\n"
	"l_done: leave\n"
	"ret\n"
	"assembly_code_end:\n"
	".popsection\n");

extern const uint8_t assembly_code[], assembly_code_end[];

#define RSP	    (QZ_CFA_RSP | QZ_UNWIND_DERIVED)
#define RBP	    (QZ_CFA_RBP | QZ_UNWIND_DERIVED)
#define SLOT	    (QZ_CFA_RSP_SLOT | QZ_UNWIND_DERIVED)
#define REGISTER    (QZ_CFA_REGISTER | QZ_UNWIND_DERIVED)
#define OUTERMOST   (QZ_CFA_END | QZ_UNWIND_DERIVED)
#define NOTHING	    (QZ_CFA_NONE | QZ_UNWIND_DERIVED)
#define SAVED(kind) (kind | QZ_RBP_CFA << 4)
#define R11	    6 /* words of struct pt_regs */
#define RBX	    5
#define PLACES(X)                                                                                  \
	X(a_entry, RSP, 1, 0)                                                                      \
	X(a_room, SAVED(RSP), 8, -3)                                                               \
	X(a_loop_done, SAVED(RSP), 8, -3)                                                          \
	X(a_popped, RSP, 2, 0)                                                                     \
	X(a_return, RSP, 1, 0)                                                                     \
	X(b_entry, RSP, 1, 0)                                                                      \
	X(b_register, REGISTER, QZ_UNWIND_REGISTER(R11, 2), 0)                                     \
	X(b_slot, SLOT, QZ_UNWIND_SLOT(12, 2), 0)                                                  \
	X(b_back, RSP, 2, 0)                                                                       \
	X(m_room, SAVED(RSP), 13, -12)                                                             \
	X(m_large, SAVED(RSP), 13 + 3600, -12)                                                     \
	X(m_register, SAVED(REGISTER), QZ_UNWIND_REGISTER(RBX, 13), -12)                           \
	X(m_back, SAVED(RSP), 13, -12)                                                             \
	X(m_return, RSP, 1, 0)                                                                     \
	X(c_entry, RSP, 1, 0)                                                                      \
	X(c_frame, SAVED(RBP), 2, -2)                                                              \
	X(c_left, RSP, 1, 0)                                                                       \
	X(d_entry, RSP, 1, 0)                                                                      \
	X(d_behind, SAVED(RSP), 3, -3)                                                             \
	X(d_aligned, SAVED(RSP), 3, -3)                                                            \
	X(d_aligned_popped, RSP, 2, 0)                                                             \
	X(e_lost, NOTHING, 0, 0)                                                                   \
	X(f_pushed, NOTHING, 0, 0)                                                                 \
	X(g_entry, RSP, 1, 0)                                                                      \
	X(h_entry, RSP, 1, 0)                                                                      \
	X(h_first, OUTERMOST, 0, 0)                                                                \
	X(i_entry, RSP, 1, 0)                                                                      \
	X(i_cleared, RSP, 1, 0)                                                                    \
	X(j_entry, RSP, 1, 0)                                                                      \
	X(j_room, RSP, 4, 0)                                                                       \
	X(k_entry, RSP, 1, 0)                                                                      \
	X(k_pushed, RSP, 2, 0)                                                                     \
	X(l_loop, SAVED(RSP), 6, -2)                                                               \
	X(l_done, SAVED(RSP), 6, -2)

#define DECLARE(label, kind, cfa, rbp) extern const uint8_t label[];
PLACES(DECLARE)

static const struct {
	const char *name;
	const uint8_t *at;
	uint8_t kind;
	int16_t cfa;
	int8_t rbp;
} places[] = {
#define PLACE(label, kind, cfa, rbp) {#label, label, kind, cfa, rbp},
	PLACES(PLACE)};

#define BASE 0x1000

static void derive(struct cfi_table *t, uint32_t budget)
{
	struct cfi_rows rows = {.table = t};

	*t = (struct cfi_table) {0};
	ck_assert_int_eq(assembly__derive(&rows, assembly_code,
					  (size_t)(assembly_code_end - assembly_code), BASE,
					  &budget),
			 0);
}

START_TEST(frames_are_told_by_the_code)
{
	const struct qz_unwind_row *row = NULL;
	struct cfi_table t;
	uint32_t pc = BASE + (uint32_t)(places[_i].at - assembly_code);

	derive(&t, UINT32_MAX);
	for (uint32_t i = 0; i < t.n && t.rows[i].pc <= pc; i++)
		row = &t.rows[i];
	ck_assert_ptr_nonnull(row);
	ck_assert_msg(row->kind == places[_i].kind && row->cfa == places[_i].cfa &&
			      row->rbp == places[_i].rbp,
		      "%s: kind %#x cfa %d rbp %d", places[_i].name, row->kind, row->cfa, row->rbp);
	cfi__free(&t);
}
END_TEST

/* Beyond a return and a trap that branches lead across, and no further. */
START_TEST(procedures_end_where_their_code_does)
{
	const uint8_t *const ends[][2] = {
		{a_entry, a_return + 1},
		{h_entry, i_entry},
		{i_entry, i_cleared + 2},
		{g_entry, g_entry + 1},
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		ck_assert_uint_eq(assembly__extent(ends[i][0],
						   (size_t)(assembly_code_end - ends[i][0])),
				  (size_t)(ends[i][1] - ends[i][0]));
	ck_assert_uint_eq(assembly__extent(f_pushed, 2), 2);
}
END_TEST

/* Whatever the bytes are, and however few instructions may be read. */
START_TEST(work_is_bounded)
{
	struct cfi_table t;

	for (uint32_t budget = 0; budget < 100; budget++) {
		derive(&t, budget);
		for (uint32_t i = 1; i < t.n; i++)
			ck_assert_uint_gt(t.rows[i].pc, t.rows[i - 1].pc);
		cfi__free(&t);
	}
}
END_TEST

START_TEST(any_bytes_have_a_length_within_them)
{
	uint8_t bytes[15];
	struct stack_instruction in;

	srand(_i + 1);
	for (int n = 0; n < 100000; n++) {
		size_t size = (size_t)rand() % (sizeof(bytes) + 1);

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)rand();
		if (!stack_effect__read(bytes, size, &in))
			continue;
		ck_assert_uint_gt(in.length, 0);
		ck_assert_uint_le(in.length, size);
	}
}
END_TEST

Suite *suite_assembly(void)
{
	Suite *s = suite_create("assembly");
	TCase *tc = tcase_create("assembly");

	tcase_add_loop_test(tc, frames_are_told_by_the_code, 0,
			    (int)(sizeof(places) / sizeof(*places)));
	tcase_add_test(tc, procedures_end_where_their_code_does);
	tcase_add_test(tc, work_is_bounded);
	tcase_add_loop_test(tc, any_bytes_have_a_length_within_them, 0, 4);
	suite_add_tcase(s, tc);
	return s;
}
