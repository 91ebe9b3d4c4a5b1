/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call frame information made byte by byte: in every encoding, in any order, and false.
 */
#include <check.h>
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/cfi/cfi.h"
#include "symbolizer/cfi/eh_frame.h"
#include "tests/unit/symbolizer/cfi_bytes.h"
#include "tests/unit/symbolizer/cfi_image.h"
#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

#define MEMORY_MAX_KB (96 << 10)
#define CODE	      CFI_IMAGE_CODE

/* ---- tables ---- */

/* Whether the table keeps to its contract; nothing else may be asked of one made of nonsense. */
static void check_order(const struct cfi_table *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct qz_unwind_row *row = &t->rows[i];

		if ((i > 0 && t->rows[i - 1].pc >= row->pc) ||
		    QZ_UNWIND_CFA(row->kind) >= QZ_CFA_KINDS ||
		    QZ_UNWIND_RBP(row->kind) > QZ_RBP_RBP)
			ck_abort_msg("row %u: pc %x kind %x", i, row->pc, row->kind);
	}
}

static int build_of(int fd, struct cfi_table *t)
{
	struct elf_file *f = elf_file__open(fd);
	int err;

	ck_assert_ptr_nonnull(f);
	err = cfi__build(f, t);
	check_order(t);
	elf_file__close(f);
	return err;
}

static int build(const struct cfi_bytes *b, struct cfi_table *t)
{
	return build_of(cfi_image__make(".eh_frame", b->at, b->n), t);
}

struct row {
	uint32_t pc; /* from CODE */
	uint8_t kind;
	int16_t cfa;
};

/* Builds, compares, and frees everything. */
static void expect_rows(struct cfi_bytes *b, const struct row *rows, uint32_t n)
{
	struct cfi_table t;

	ck_assert_int_eq(build(b, &t), 0);
	ck_assert_uint_eq(t.base, 0);
	for (uint32_t i = 0; i < n && i < t.n; i++) {
		ck_assert_uint_eq(t.rows[i].pc, CODE + rows[i].pc);
		ck_assert_uint_eq(t.rows[i].kind, rows[i].kind);
		ck_assert_int_eq(t.rows[i].cfa, rows[i].cfa);
	}
	ck_assert_uint_eq(t.n, n);
	cfi__free(&t);
	free(b->at);
}

static void expect_error(struct cfi_bytes *b, int err)
{
	struct cfi_table t;

	ck_assert_int_eq(build(b, &t), err);
	cfi__free(&t);
	free(b->at);
}

#define EXPECT_ROWS(b, ...)                                                                        \
	expect_rows(b, (const struct row[]) {__VA_ARGS__},                                         \
		    sizeof((const struct row[]) {__VA_ARGS__}) / sizeof(struct row))

/* ---- what is read ---- */

static const struct encoding {
	uint8_t encoding;
	size_t size; /* 0: LEB128 */
	uint64_t base;
} encodings[] = {
	{DW_EH_PE_absptr, 8, 0},
	{DW_EH_PE_udata4, 4, 0},
	{DW_EH_PE_sdata4, 4, 0},
	{DW_EH_PE_udata8, 8, 0},
	{DW_EH_PE_sdata8, 8, 0},
	{DW_EH_PE_uleb128, 0, 0},
	{DW_EH_PE_sleb128, 0, 0},
	{DW_EH_PE_pcrel | DW_EH_PE_sdata4, 4, CFI_IMAGE_FRAMES},
	{DW_EH_PE_pcrel | DW_EH_PE_sdata8, 8, CFI_IMAGE_FRAMES},
	{DW_EH_PE_pcrel | DW_EH_PE_absptr, 8, CFI_IMAGE_FRAMES},
	{DW_EH_PE_datarel | DW_EH_PE_udata4, 4, CFI_IMAGE_GOT},
	{DW_EH_PE_datarel | DW_EH_PE_sdata4, 4, CFI_IMAGE_GOT},
};

static void put_encoded(struct cfi_bytes *b, size_t size, uint64_t value)
{
	if (size) {
		cfi_put(b, value, size);
		return;
	}
	for (int shift = 0; shift < 28; shift += 7)
		cfi_put(b, (value >> shift & 0x7f) | (shift < 21 ? 0x80 : 0), 1);
}

START_TEST(reads_addresses_in_every_encoding)
{
	const struct encoding *e = &encodings[_i];
	struct cfi_bytes b = cfi_new_bytes();
	uint64_t start = CODE;

	cfi_put_cie(&b, e->encoding);
	cfi_begin_entry(&b);
	cfi_put(&b, b.n - b.cie_at, 4);
	if (e->base)
		start -= e->base;
	if (e->base == CFI_IMAGE_FRAMES)
		start -= b.n;
	put_encoded(&b, e->size, start);
	put_encoded(&b, e->size, 0x20);
	cfi_put(&b, 0, 1);
	cfi_end_entry(&b);
	EXPECT_ROWS(&b, {0, QZ_CFA_RSP, 1}, {0x20, QZ_CFA_NONE, 0});
}
END_TEST

/* Two bytes reach only what is near. */
START_TEST(reads_addresses_of_two_bytes)
{
	uint64_t start = CFI_IMAGE_FRAMES + 0x1000;
	struct cfi_bytes b = cfi_new_bytes();

	cfi_put_cie(&b, DW_EH_PE_pcrel | (_i ? DW_EH_PE_sdata2 : DW_EH_PE_udata2));
	cfi_begin_entry(&b);
	cfi_put(&b, b.n - b.cie_at, 4);
	cfi_put(&b, start - CFI_IMAGE_FRAMES - b.n, 2);
	cfi_put(&b, 0x20, 2);
	cfi_put(&b, 0, 1);
	cfi_end_entry(&b);
	EXPECT_ROWS(&b, {0, QZ_CFA_NONE, 0}, {(uint32_t)(start - CODE), QZ_CFA_RSP, 1},
		    {(uint32_t)(start - CODE + 0x20), QZ_CFA_NONE, 0});
}
END_TEST

static const uint8_t unreadable[] = {
	DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4,
	DW_EH_PE_textrel | DW_EH_PE_sdata4,
	DW_EH_PE_funcrel | DW_EH_PE_sdata4,
	DW_EH_PE_aligned,
	DW_EH_PE_omit,
	0x07,
};

START_TEST(leaves_out_what_it_cannot_read)
{
	struct cfi_bytes b = cfi_new_bytes();
	struct cfi_table t;

	cfi_put_cie(&b, unreadable[_i]);
	cfi_put_fde(&b, CODE, 0x20, 1);
	ck_assert_int_eq(build(&b, &t), -ENODATA);
	ck_assert_uint_eq(t.stats.left_out, 1);
	cfi__free(&t);
	free(b.at);
}
END_TEST

/* A length of 64 bits; version 3, which has the return address as LEB128. */
START_TEST(reads_the_long_form)
{
	struct cfi_bytes b = cfi_new_bytes();
	size_t length_at;

	cfi_put(&b, 0xffffffff, 4);
	length_at = b.n;
	cfi_put(&b, 0, 8);
	cfi_put(&b, 0, 4);
	cfi_put(&b, 0x78010003, 4);
	cfi_put(&b, 0x0090, 2);
	cfi_put_rules(&b);
	b.at[length_at] = (uint8_t)(b.n - length_at - 8);
	cfi_begin_entry(&b);
	cfi_put(&b, b.n, 4);
	cfi_put(&b, CODE, 8);
	cfi_put(&b, 0x20, 8);
	cfi_end_entry(&b);
	EXPECT_ROWS(&b, {0, QZ_CFA_RSP, 1}, {0x20, QZ_CFA_NONE, 0});
}
END_TEST

/* A CIE of version 4 in .debug_frame, in 32 and in 64 bits. */
START_TEST(reads_debug_frames)
{
	struct cfi_bytes b = cfi_new_bytes();
	size_t wide = _i ? 8 : 4, at;
	struct cfi_table t;

	for (int entry = 0; entry < 2; entry++) {
		if (wide == 8)
			cfi_put(&b, 0xffffffff, 4);
		at = b.n;
		cfi_put(&b, 0, wide);
		if (entry == 0) {
			cfi_put(&b, UINT64_MAX, wide);
			cfi_put(&b, 0x080004, 4); /* version, augmentation, sizes of addresses */
			cfi_put(&b, 0x107801, 3);
			cfi_put_rules(&b);
		} else {
			cfi_put(&b, 0, wide);
			cfi_put(&b, CODE, 8);
			cfi_put(&b, 0x20, 8);
		}
		b.at[at] = (uint8_t)(b.n - at - wide);
	}
	ck_assert_int_eq(build_of(cfi_image__make(".debug_frame", b.at, b.n), &t), 0);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_uint_eq(t.rows[0].pc, CODE);
	ck_assert_uint_eq(t.rows[0].kind, QZ_CFA_RSP);
	ck_assert_uint_eq(t.rows[1].pc, CODE + 0x20);
	cfi__free(&t);
	free(b.at);
}
END_TEST

START_TEST(sorts_and_fills_the_gaps)
{
	struct cfi_bytes b = cfi_new_bytes();

	cfi_put_cie(&b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	cfi_put_fde(&b, CODE + 0x100, 0x10, 2);
	cfi_put(&b, 0, 4); /* the end of an object file */
	cfi_put_fde(&b, CODE + 0x20, 0x10, 3);
	cfi_put(&b, 0, 4);
	cfi_put_fde(&b, CODE + 0x30, 0x10, 3); /* goes on as the one before */
	cfi_put_fde(&b, CODE, 0x20, 4);
	EXPECT_ROWS(&b, {0, QZ_CFA_RSP, 4}, {0x20, QZ_CFA_RSP, 3}, {0x40, QZ_CFA_NONE, 0},
		    {0x100, QZ_CFA_RSP, 2}, {0x110, QZ_CFA_NONE, 0});
}
END_TEST

START_TEST(lets_the_later_start_win)
{
	struct cfi_bytes b = cfi_new_bytes();

	cfi_put_cie(&b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	cfi_put_fde(&b, CODE, 0x100, 1);
	cfi_put_fde(&b, CODE + 0x40, 0x10,
		    2); /* inside of the first, which does not go on behind */
	cfi_put_fde(&b, CODE + 0x80, 0x40, 3);
	cfi_put_fde(&b, CODE + 0xa0, 0x40, 4);
	cfi_put_fde(&b, CODE + 0xa0, 0x40, 5);
	EXPECT_ROWS(&b, {0, QZ_CFA_RSP, 1}, {0x40, QZ_CFA_RSP, 2}, {0x50, QZ_CFA_NONE, 0},
		    {0x80, QZ_CFA_RSP, 3}, {0xa0, QZ_CFA_RSP, 5}, {0xe0, QZ_CFA_NONE, 0});
}
END_TEST

START_TEST(leaves_out_what_is_no_code)
{
	struct cfi_bytes b = cfi_new_bytes();
	struct cfi_table t;

	cfi_put_cie(&b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	cfi_put_fde(&b, CODE - 1, 0x10, 1);
	cfi_put_fde(&b, CODE, 0, 1);
	cfi_put_fde(&b, 0, 0x10, 1);
	cfi_put_cie(&b, DW_EH_PE_absptr);
	cfi_begin_entry(&b);
	cfi_put(&b, b.n - b.cie_at, 4);
	cfi_put(&b, CODE + CFI_IMAGE_CODE_SIZE - 8, 8);
	cfi_put(&b, 9, 8);
	cfi_put(&b, 0, 1);
	cfi_end_entry(&b);
	cfi_begin_entry(&b);
	cfi_put(&b, b.n - b.cie_at, 4);
	cfi_put(&b, CODE, 8);
	cfi_put(&b, UINT64_MAX, 8);
	cfi_put(&b, 0, 1);
	cfi_end_entry(&b);
	ck_assert_int_eq(build(&b, &t), -ENODATA);
	ck_assert_uint_eq(t.stats.left_out, 5);
	cfi__free(&t);
	free(b.at);
}
END_TEST

/* ---- lies ---- */

static void claim_own_cie(struct cfi_bytes *b)
{
	cfi_put_cie(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	b->cie_at = b->n;
	cfi_put_fde(b, CODE, 0x20, 1);
}

static void claim_cie_outside(struct cfi_bytes *b)
{
	cfi_put_cie(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	b->cie_at -= 0x1000;
	cfi_put_fde(b, CODE, 0x20, 1);
}

static void claim_endless_augmentation(struct cfi_bytes *b)
{
	cfi_begin_entry(b);
	cfi_put(b, 0, 4);
	cfi_put(b, 1, 1);
	for (int i = 0; i < 100000; i++)
		cfi_put(b, i ? 'S' : 'z', 1);
	cfi_end_entry(b);
	cfi_put_fde(b, CODE, 0x20, 1);
}

static void claim_long_data(struct cfi_bytes *b)
{
	cfi_begin_cie(b, 1, "zR");
	cfi_put(b, 0x7f, 1);
	cfi_put(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1);
	cfi_end_entry(b);
	cfi_put_fde(b, CODE, 0x20, 1);
}

static void claim_length(struct cfi_bytes *b)
{
	cfi_put_cie(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	cfi_put_fde(b, CODE, 0x20, 1);
	b->at[b->length_at]++;
}

static void claim_most_length(struct cfi_bytes *b)
{
	cfi_put(b, 0xffffffff, 4);
	cfi_put(b, UINT64_MAX, 8);
	cfi_put(b, 0, 4);
}

static void claim_wide_number(struct cfi_bytes *b)
{
	cfi_begin_entry(b);
	cfi_put(b, 0, 4);
	cfi_put(b, 0x7a01, 2);
	for (int i = 0; i < 5000; i++)
		cfi_put(b, 0xff, 1);
	cfi_end_entry(b);
	cfi_put_fde(b, CODE, 0x20, 1);
}

static void claim_other_version(struct cfi_bytes *b)
{
	cfi_begin_cie(b, 2, "");
	cfi_put_rules(b);
	cfi_end_entry(b);
	cfi_put_fde(b, CODE, 0x20, 1);
}

static void claim_other_register(struct cfi_bytes *b)
{
	cfi_put_cie(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	b->at[b->n - 8] = 17;
	cfi_put_fde(b, CODE, 0x20, 1);
}

static void (*const lies[])(struct cfi_bytes *) = {
	claim_own_cie,	   claim_cie_outside,	claim_endless_augmentation,
	claim_long_data,   claim_length,	claim_most_length,
	claim_wide_number, claim_other_version, claim_other_register,
};

START_TEST(finds_nothing_in_lies)
{
	struct cfi_bytes b = cfi_new_bytes();

	lies[_i](&b);
	expect_error(&b, -ENODATA);
}
END_TEST

/* ---- floods ---- */

START_TEST(refuses_floods)
{
	struct cfi_bytes b = cfi_new_bytes();

	cfi_floods[_i].put(&b);
	expect_error(&b, -E2BIG);
}
END_TEST

/* More addresses than there are: what goes beyond the entry is cut off. */
START_TEST(stays_inside_of_the_entry)
{
	struct cfi_bytes b = cfi_new_bytes();

	cfi_put_cie(&b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	cfi_begin_fde(&b, CODE, 0x20);
	for (int i = 0; i < 1000; i++) {
		cfi_put(&b, DW_CFA_advance_loc4, 1);
		cfi_put(&b, i ? 0xffffffff : 8, 4);
		cfi_put(&b, DW_CFA_def_cfa_offset, 1);
		cfi_put(&b, 16, 1);
	}
	cfi_end_entry(&b);
	EXPECT_ROWS(&b, {0, QZ_CFA_RSP, 1}, {8, QZ_CFA_RSP, 2}, {0x20, QZ_CFA_NONE, 0});
}
END_TEST

/* ---- damage ---- */

/* The .eh_frame of the fixture of all forms. */
static void read_fixture(struct cfi_bytes *b)
{
	struct elf_file *f = elf_file__open(open(util__fixture("cfi"), O_RDONLY | O_CLOEXEC));
	struct eh_frame_section s;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(eh_frame__find(f, FRAME_EH, &s), 0);
	memcpy(b->at, s.bytes, s.size);
	b->n = s.size;
	elf_file__close(f);
}

/* Rows stand in order, and each says something that can be. Gives how many there are. */
static uint32_t build_damaged(const struct cfi_bytes *b)
{
	struct cfi_table t;
	int err = build(b, &t);
	uint32_t n = t.n;

	ck_assert_msg(err == 0 || err == -ENODATA || err == -E2BIG, "%d", err);
	ck_assert_int_eq(err == 0, n > 0);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert(i == 0 || t.rows[i - 1].pc < t.rows[i].pc);
		ck_assert_uint_lt(QZ_UNWIND_CFA(t.rows[i].kind), QZ_CFA_KINDS);
		ck_assert_uint_le(QZ_UNWIND_RBP(t.rows[i].kind), QZ_RBP_RBP);
	}
	cfi__free(&t);
	return n;
}

/* What stands before the cut is read; the rows that it had go one after the other. */
START_TEST(reads_up_to_every_cut)
{
	struct cfi_bytes b = cfi_new_bytes();
	uint32_t whole, n = 0, least = UINT32_MAX;
	size_t size;

	read_fixture(&b);
	whole = build_damaged(&b);
	for (size = b.n; b.n > 0; b.n--) {
		n = build_damaged(&b);
		ck_assert_uint_le(n, whole);
		least = n && n < least ? n : least;
	}
	ck_assert_uint_gt(size, 500);
	ck_assert_uint_eq(n, 0);
	ck_assert_uint_lt(least, whole / 4);
	free(b.at);
}
END_TEST

START_TEST(reads_what_random_damage_leaves)
{
	struct cfi_bytes b = cfi_new_bytes(), whole = cfi_new_bytes();
	uint32_t read = 0, refused = 0;
	struct cfi_table t;

	srandom(7);
	read_fixture(&whole);
	ck_assert_int_eq(build(&whole, &t), 0);
	ck_assert_uint_eq(t.stats.left_out, 0);
	cfi__free(&t);
	b.n = whole.n;
	for (int turn = 0; turn < 5000; turn++) {
		memcpy(b.at, whole.at, whole.n);
		for (int i = 0; i < 1 + turn % 8; i++)
			b.at[(size_t)random() % b.n] = (uint8_t)random();
		if (build_damaged(&b))
			read++;
		else
			refused++;
	}
	ck_assert_uint_gt(read, 0);
	ck_assert_uint_gt(refused, 0);
	free(whole.at);
	free(b.at);
}
END_TEST

/* The child takes all of them, one after the other, in little memory. */
START_TEST(floods_do_not_fill_the_child)
{
	struct symbolizer *s = util__symbolizer(false, false);
	struct symbolizer_table table;
	struct qz_unwind_row *rows;
	uint32_t n;
	int module;

	for (size_t i = 0; i < CFI_FLOODS; i++) {
		struct cfi_bytes b = cfi_new_bytes();
		int fd;

		cfi_floods[i].put(&b);
		fd = cfi_image__make(".eh_frame", b.at, b.n);
		module = symbolizer__add_module(s, SYMBOLIZER_ELF, fd, -1, "/tmp/hostile");
		free(b.at);
		ck_assert_int_eq(symbolizer__unwind_table(s, module, &rows, &n, &table), -E2BIG);
		symbolizer__remove_module(s, module);
	}
	module = util__add(s, util__fixture("cfi"), NULL);
	ck_assert_int_eq(symbolizer__unwind_table(s, module, &rows, &n, &table), 0);
	free(rows);
	ck_assert_uint_eq(symbolizer__counters(s)->started, 1);
	ck_assert_int_lt(util__child_peak_kb(), MEMORY_MAX_KB);
	symbolizer__free(s);
}
END_TEST

Suite *suite_hostile_cfi(void)
{
	Suite *suite = suite_create("hostile_cfi");
	TCase *tcase = tcase_create("bytes");

	tcase_add_loop_test(tcase, reads_addresses_in_every_encoding, 0,
			    sizeof(encodings) / sizeof(encodings[0]));
	tcase_add_loop_test(tcase, reads_addresses_of_two_bytes, 0, 2);
	tcase_add_loop_test(tcase, leaves_out_what_it_cannot_read, 0, sizeof(unreadable));
	tcase_add_test(tcase, reads_the_long_form);
	tcase_add_loop_test(tcase, reads_debug_frames, 0, 2);
	tcase_add_test(tcase, sorts_and_fills_the_gaps);
	tcase_add_test(tcase, lets_the_later_start_win);
	tcase_add_test(tcase, leaves_out_what_is_no_code);
	tcase_add_loop_test(tcase, finds_nothing_in_lies, 0, sizeof(lies) / sizeof(lies[0]));
	tcase_add_loop_test(tcase, refuses_floods, 0, CFI_FLOODS);
	tcase_add_test(tcase, stays_inside_of_the_entry);
	tcase_add_test(tcase, reads_up_to_every_cut);
	tcase_add_test(tcase, reads_what_random_damage_leaves);
	tcase_add_test(tcase, floods_do_not_fill_the_child);
	suite_add_tcase(suite, tcase);
	return suite;
}
