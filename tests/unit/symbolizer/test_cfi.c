/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables: of procedures described in every way there is, and of real files beside what libdw
 * says of the same addresses.
 */
#include <check.h>
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <elfutils/libdw.h>
#include <sys/auxv.h>
#include <sys/user.h>

#include "symbolizer/cfi/cfi.h"
#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

/* Rows of a file that are compared; of larger tables every so many. */
#define COMPARED_MAX 30000

static struct elf_file *open_elf(const char *path)
{
	struct elf_file *f = elf_file__open(open(path, O_RDONLY | O_CLOEXEC));

	ck_assert_msg(f, "%s cannot be read", path);
	return f;
}

/* ---- every form ---- */

struct expected {
	const char *name;
	uint32_t offset;
	uint8_t kind;
	int16_t cfa;
	int8_t rbp;
};

#define RSP	    QZ_CFA_RSP
#define RBP	    QZ_CFA_RBP
#define SAVED(kind) QZ_UNWIND_KIND(kind, QZ_RBP_CFA)
#define NOT	    QZ_CFA_UNSUPPORTED

/* Words of struct pt_regs. */
#define RBX 5
#define R10 7

/* The rows of each procedure of cfi_fixture.S; one behind its end is QZ_CFA_NONE. */
static const struct expected forms[] = {
	{"plain", 0, RSP, 1, 0},
	{"plain", 1, SAVED(RSP), 2, -2},
	{"plain", 2, SAVED(RBP), 2, -2},
	{"plain", 3, RSP, 1, 0},
	{"plain", 4, SAVED(RBP), 2, -2},
	{"plain", 6, SAVED(RBP), 514, -2},
	{"wide", 0, RSP, 1, 0},
	{"wide", 100, RSP, 3, 0},
	{"wide", 500, RSP, 4, 0},
	{"same", 0, RSP, 1, 0},
	{"factored", 0, RSP, 1, 0},
	{"factored", 1, SAVED(RSP), 2, -2},
	{"factored", 2, SAVED(RSP), 3, -3},
	{"factored", 3, RSP, 3, 0},
	{"factored", 4, SAVED(RSP), 3, 4},
	{"realigned_by_hand", 0, RSP, 1, 0},
	{"realigned_by_hand", 1, SAVED(QZ_CFA_RSP_DEREF), 19, -2},
	{"realigned_by_hand", 2, NOT, QZ_UNSUPPORTED_EXPRESSION, 0},
	{"realigned_by_hand", 3, SAVED(RSP), 1, -2},
	{"realigned_by_compiler", 0, RSP, 1, 0},
	{"realigned_by_compiler", 1, QZ_CFA_REGISTER, QZ_UNWIND_REGISTER(R10, 0), 0},
	{"realigned_by_compiler", 2, QZ_UNWIND_KIND(QZ_CFA_REGISTER, QZ_RBP_RBP),
	 QZ_UNWIND_REGISTER(R10, 0), 0},
	{"realigned_by_compiler", 3, QZ_UNWIND_KIND(QZ_CFA_RBP_DEREF, QZ_RBP_RBP), -1, 0},
	{"linkage", 0, RSP, 1, 0},
	{"linkage", 1, QZ_CFA_PLT, 11, 0},
	{"linkage", 2, QZ_CFA_PLT, 9, 0},
	{"linkage", 3, NOT, QZ_UNSUPPORTED_EXPRESSION, 0},
	{"signal_frame", 0, RSP, 1, 0},
	{"signal_frame", 1, QZ_CFA_SIGNAL, 0, 0},
	{"signal_frame", 2, NOT, QZ_UNSUPPORTED_EXPRESSION, 0},
	{"signal_in_name_only", 0, RSP, 1, 0},
	{"signal_in_name_only", 2, RSP, 2, 0},
	{"outermost", 0, RSP, 1, 0},
	{"outermost", 1, QZ_CFA_END, 0, 0},
	{"return_in_register", 0, RSP, 1, 0},
	{"return_in_register", 1, RSP, 0, 0},
	{"return_in_register", 2, RSP, 1, 0},
	{"return_in_register", 3, NOT, QZ_UNSUPPORTED_RETURN, 0},
	{"return_elsewhere", 0, RSP, 1, 0},
	{"return_elsewhere", 1, NOT, QZ_UNSUPPORTED_RETURN, 0},
	{"return_elsewhere", 4, RSP, 1, 0},
	{"rbp_elsewhere", 0, RSP, 1, 0},
	{"rbp_elsewhere", 1, NOT, QZ_UNSUPPORTED_RBP, 0},
	{"rbp_elsewhere", 3, SAVED(RSP), 1, -128},
	{"rbp_elsewhere", 4, NOT, QZ_UNSUPPORTED_RBP, 0},
	{"rbp_elsewhere", 6, RSP, 1, 0},
	{"far_away", 0, RSP, 1, 0},
	{"far_away", 1, RSP, INT16_MAX, 0},
	{"far_away", 2, NOT, QZ_UNSUPPORTED_OFFSET, 0},
	{"far_away", 4, QZ_CFA_REGISTER, QZ_UNWIND_REGISTER(RBX, 2), 0},
	{"far_away", 5, NOT, QZ_UNSUPPORTED_REGISTER, 0},
	{"far_away", 7, NOT, QZ_UNSUPPORTED_EXPRESSION, 0},
	{"far_away", 8, RBP, 2, 0},
	{"register_after_expression", 0, RSP, 1, 0},
	{"register_after_expression", 1, QZ_CFA_RBP_DEREF, -1, 0},
	{"register_after_expression", 3, RBP, 3, 0},
	{"register_after_expression", 4, RSP, 1, 0},
	{"broken_restore", 0, RSP, 1, 0},
	{"broken_restore", 2, NOT, QZ_UNSUPPORTED_BROKEN, 0},
	{"broken_remember", 0, RSP, 1, 0},
	{"broken_remember", 1, NOT, QZ_UNSUPPORTED_BROKEN, 0},
	{"broken_instruction", 0, RSP, 1, 0},
	{"broken_instruction", 1, RSP, 2, 0},
	{"broken_instruction", 2, NOT, QZ_UNSUPPORTED_BROKEN, 0},
};

#define NFORMS (sizeof(forms) / sizeof(forms[0]))

/* What the next row of the table must be: that of forms[i], or the one behind a procedure. */
static void expect_row(const struct qz_unwind_row *row, const struct expected *e, uint64_t pc)
{
	ck_assert_msg(row->pc == pc && row->kind == e->kind && row->cfa == e->cfa &&
			      row->rbp == e->rbp,
		      "%s+%u: pc %x kind %x cfa %d rbp %d", e->name, e->offset, row->pc, row->kind,
		      row->cfa, row->rbp);
}

static const char *const form_files[] = {"cfi", "cfi_debug", "cfi_compressed"};

START_TEST(describes_every_form)
{
	const char *path = util__fixture(form_files[_i]);
	struct elf_file *f = open_elf(path);
	struct util_symbol *symbols;
	struct cfi_table t;
	size_t nsymbols;
	uint32_t row = 0;

	symbols = util__nm(path, true, &nsymbols);
	ck_assert_int_eq(cfi__build(f, &t), 0);
	for (size_t i = 0; i < NFORMS; i++) {
		const struct expected *e = &forms[i];
		const struct util_symbol *s = util__find(symbols, nsymbols, e->name);
		const struct expected none = {e->name, (uint32_t)s->size, QZ_CFA_NONE, 0, 0};

		ck_assert_uint_lt(row, t.n);
		expect_row(&t.rows[row++], e, s->vaddr + e->offset - t.base);
		if (i + 1 == NFORMS || strcmp(e->name, forms[i + 1].name) != 0) {
			ck_assert_uint_lt(row, t.n);
			expect_row(&t.rows[row++], &none, s->vaddr + s->size - t.base);
		}
	}
	ck_assert_uint_eq(row, t.n);
	ck_assert_uint_eq(t.stats.entries, 18);
	ck_assert_uint_eq(t.stats.left_out, 0);
	for (uint32_t why = 0; why < QZ_UNSUPPORTED_REASONS; why++) {
		uint32_t n = 0;

		for (size_t i = 0; i < NFORMS; i++)
			n += forms[i].kind == NOT && forms[i].cfa == (int16_t)why;
		ck_assert_uint_eq(t.stats.unsupported[why], n);
	}
	cfi__free(&t);
	free(symbols);
	elf_file__close(f);
}
END_TEST

/* ---- beside libdw ---- */

/* A rule of libdw: where a value is. */
struct where {
	enum { SAME, UNDEFINED, AT_CFA, AT_REGISTER, IN_REGISTER, ELSEWHERE } form;
	int64_t reg, offset;
};

static struct where find_register(Dwarf_Frame *frame, int number)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, number, memory, &ops, &n))
		ck_abort_msg("no rule of register %d", number);
	if (n == 0)
		return (struct where) {ops == memory ? UNDEFINED : SAME, 0, 0};
	if (n == 1 && ops[0].atom == DW_OP_regx)
		return (struct where) {IN_REGISTER, (int64_t)ops[0].number, 0};
	if (ops[0].atom != DW_OP_call_frame_cfa)
		return (struct where) {ELSEWHERE, 0, 0};
	if (n == 1)
		return (struct where) {AT_CFA, 0, 0};
	if (n == 2 && ops[1].atom == DW_OP_plus_uconst)
		return (struct where) {AT_CFA, 0, (int64_t)ops[1].number};
	if (n == 2 && ops[1].atom >= DW_OP_breg0 && ops[1].atom <= DW_OP_breg31)
		return (struct where) {AT_REGISTER, ops[1].atom - DW_OP_breg0,
				       (int64_t)ops[1].number};
	return (struct where) {ELSEWHERE, 0, 0};
}

static bool atoms_are(const Dwarf_Op *ops, size_t n, const uint8_t *atoms, size_t natoms)
{
	if (n != natoms)
		return false;
	for (size_t i = 0; i < n; i++)
		if (ops[i].atom != atoms[i] && atoms[i])
			return false;
	return true;
}

/* Where struct pt_regs has a register, by its DWARF number. */
#define WORD(name) (offsetof(struct user_regs_struct, name) / sizeof(uint64_t))
static const uint8_t word_of[] = {WORD(rax), WORD(rdx), WORD(rcx), WORD(rbx), WORD(rsi), WORD(rdi),
				  WORD(rbp), WORD(rsp), WORD(r8),  WORD(r9),  WORD(r10), WORD(r11),
				  WORD(r12), WORD(r13), WORD(r14), WORD(r15)};

/* The kind and offset of the CFA; a form of offset that a row cannot hold stays unsupported. */
static enum qz_cfa_kind find_cfa(Dwarf_Frame *frame, int64_t *offset)
{
	static const uint8_t plt[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
				      DW_OP_ge,	   DW_OP_lit3,	 DW_OP_shl,   DW_OP_plus};
	static const uint8_t by_hand[] = {DW_OP_breg7, DW_OP_deref, DW_OP_plus_uconst};
	static const uint8_t by_compiler[] = {DW_OP_breg6, DW_OP_deref};
	static const uint8_t by_kernel[] = {DW_OP_breg7, DW_OP_deref};
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n))
		ck_abort_msg("no rule of the CFA");
	*offset = (int64_t)ops[0].number;
	if (atoms_are(ops, n, plt, sizeof(plt))) {
		*offset = 8 * (ops[4].atom - DW_OP_lit0);
		return QZ_CFA_PLT;
	}
	if (atoms_are(ops, n, by_hand, sizeof(by_hand)) && ops[2].number == 8)
		return QZ_CFA_RSP_DEREF;
	if (atoms_are(ops, n, by_compiler, sizeof(by_compiler)))
		return QZ_CFA_RBP_DEREF;
	if (atoms_are(ops, n, by_kernel, sizeof(by_kernel)) && *offset == 160)
		return QZ_CFA_SIGNAL;
	*offset = (int64_t)ops[0].number2;
	if (n != 1 || ops[0].atom != DW_OP_bregx || *offset % 8 ||
	    *offset / 8 != (int16_t)(*offset / 8))
		return QZ_CFA_UNSUPPORTED;
	if (ops[0].number == 6 || ops[0].number == 7)
		return ops[0].number == 7 ? QZ_CFA_RSP : QZ_CFA_RBP;
	if (ops[0].number > 15 || *offset < 0 || *offset / 8 > QZ_UNWIND_REGISTER_ADDED_MAX)
		return QZ_CFA_UNSUPPORTED;
	*offset = 8 * QZ_UNWIND_REGISTER(word_of[ops[0].number], *offset / 8);
	return QZ_CFA_REGISTER;
}

/* What the row must be by what libdw says; of unsupported ones only that. */
static struct qz_unwind_row expected_row(Dwarf_Frame *frame)
{
	struct qz_unwind_row row = {.kind = QZ_CFA_UNSUPPORTED};
	struct where rip = find_register(frame, 16), rbp = find_register(frame, 6);
	enum qz_rbp_kind rbp_kind = QZ_RBP_SAME;
	enum qz_cfa_kind cfa;
	int64_t offset;

	if (rip.form == UNDEFINED)
		return (struct qz_unwind_row) {.kind = QZ_CFA_END};
	cfa = find_cfa(frame, &offset);
	if (cfa == QZ_CFA_SIGNAL && rip.form == AT_REGISTER && rip.offset == 168)
		return (struct qz_unwind_row) {.kind = QZ_CFA_SIGNAL};
	if (cfa == QZ_CFA_SIGNAL || cfa == QZ_CFA_UNSUPPORTED)
		return row;
	/* vfork: the register is a copy. */
	if (!(rip.form == AT_CFA && rip.offset == -8) &&
	    !(rip.form == IN_REGISTER && cfa == QZ_CFA_RSP && (offset == 0 || offset == 8)))
		return row;
	if (rbp.form == AT_CFA)
		rbp_kind = QZ_RBP_CFA;
	else if (rbp.form == AT_REGISTER && rbp.reg == 6)
		rbp_kind = QZ_RBP_RBP;
	else if (rbp.form != SAME && rbp.form != UNDEFINED)
		return row;
	if (rbp.offset % 8 || rbp.offset / 8 != (int8_t)(rbp.offset / 8))
		return row;
	row.kind = QZ_UNWIND_KIND(cfa, rbp_kind);
	row.cfa = (int16_t)(offset / 8);
	row.rbp = (int8_t)(rbp.offset / 8);
	return row;
}

static void compare_at(Dwarf_CFI *cfi, uint64_t entry, uint64_t vaddr,
		       const struct qz_unwind_row *row)
{
	struct qz_unwind_row expected = {.kind = QZ_CFA_NONE};
	Dwarf_Frame *frame;

	if (dwarf_cfi_addrframe(cfi, vaddr, &frame) == 0) {
		expected = expected_row(frame);
		free(frame);
	} else if (entry && vaddr - entry < 64) {
		expected.kind = QZ_CFA_END;
	} else if (row->kind & QZ_UNWIND_DERIVED || row->kind == QZ_CFA_UNSUPPORTED) {
		return; /* what assembly tells by itself, libdw does not know */
	}
	if (row->kind != expected.kind || (expected.kind != QZ_CFA_UNSUPPORTED &&
					   (row->cfa != expected.cfa || row->rbp != expected.rbp)))
		ck_abort_msg("at %lx: kind %x cfa %d rbp %d, and not kind %x cfa %d rbp %d", vaddr,
			     row->kind, row->cfa, row->rbp, expected.kind, expected.cfa,
			     expected.rbp);
}

/*
 * Each row where it begins and where it ends; so no row of libdw's is missing, nor moved. An entry
 * point that libdw has nothing about is outermost.
 */
static void compare(const struct elf_file *f, const struct cfi_table *t)
{
	uint32_t step = 1 + t->n / COMPARED_MAX;
	Dwarf_CFI *cfi = dwarf_getcfi_elf(f->elf);
	uint64_t entry = f->entry;
	Dwarf_Frame *frame;

	ck_assert_ptr_nonnull(cfi);
	if (dwarf_cfi_addrframe(cfi, entry, &frame) == 0) {
		entry = 0;
		free(frame);
	}
	for (uint32_t i = 0; i + 1 < t->n; i += step) {
		uint64_t end = t->base + t->rows[i + 1].pc;

		compare_at(cfi, entry, t->base + t->rows[i].pc, &t->rows[i]);
		compare_at(cfi, entry, end - 1, &t->rows[i]);
	}
	ck_assert_uint_eq(t->rows[t->n - 1].kind, QZ_CFA_NONE);
	dwarf_cfi_end(cfi);
}

static void check_file(struct elf_file *f)
{
	struct cfi_table t;

	ck_assert_int_eq(cfi__build(f, &t), 0);
	ck_assert_uint_gt(t.n, 0);
	ck_assert_uint_eq(t.stats.left_out, 0);
	ck_assert_uint_eq(t.stats.unsupported[QZ_UNSUPPORTED_BROKEN], 0);
	compare(f, &t);
	cfi__free(&t);
	elf_file__close(f);
}

static const char *const fixtures[] = {"O0", "O2", "static", "nopie", "static-pie", "clang"};

START_TEST(agrees_with_libdw_on_our_programs)
{
	check_file(open_elf(util__fixture(fixtures[_i])));
}
END_TEST

/* This program itself has the first ones loaded; the others may not be installed. */
static const char *const libraries[] = {
	LIBC,
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libdw.so.1",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libgnutls.so.30",
	"/usr/bin/python3",
	"/usr/bin/perl",
	"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
};

#define NEEDED 4

START_TEST(agrees_with_libdw_on_libraries)
{
	if (_i < NEEDED || access(libraries[_i], R_OK) == 0)
		check_file(open_elf(libraries[_i]));
}
END_TEST

START_TEST(agrees_with_libdw_on_the_vdso)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	ck_assert_ptr_nonnull(eh);
	check_file(elf_file__open(
		util__memfd(eh, eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize)));
}
END_TEST

Suite *suite_cfi(void)
{
	Suite *suite = suite_create("cfi");
	TCase *tcase = tcase_create("rows");

	tcase_add_loop_test(tcase, describes_every_form, 0,
			    sizeof(form_files) / sizeof(form_files[0]));
	tcase_add_loop_test(tcase, agrees_with_libdw_on_our_programs, 0,
			    sizeof(fixtures) / sizeof(fixtures[0]));
	tcase_add_loop_test(tcase, agrees_with_libdw_on_libraries, 0,
			    sizeof(libraries) / sizeof(libraries[0]));
	tcase_add_test(tcase, agrees_with_libdw_on_the_vdso);
	suite_add_tcase(suite, tcase);
	return suite;
}
