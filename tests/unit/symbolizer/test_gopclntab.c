/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables from the function table of Go programs, in each of its versions, and from what is
 * left of one after damage.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/cfi/cfi.h"
#include "symbolizer/cfi/gopclntab.h"
#include "tests/unit/symbolizer/cfi_image.h"
#include "tests/unit/suites.h"

#define CODE_AT	   2048 /* offset in the section */
#define STEP	   256	/* between functions */
#define TABLE_SIZE (CODE_AT + 11 * STEP)
#define SP_WRITE   2

static const struct {
	const char *name;
	uint8_t flag;
	uint8_t deltas[8]; /* ends with 0; empty: none are known */
} functions[] = {
	{"main.plain", 0, {2, 4, 48, 10, 47, 2}},	 /* 0 for 4, 24 for 10, 0 for 2 */
	{"runtime.mcall", SP_WRITE, {2, 40}},		 /* 0 for 40 */
	{"runtime.systemstack", SP_WRITE, {2, 100}},	 /* the same for 100 */
	{"main.uneven", 0, {2, 4, 6, 10}},		 /* 0, then 3 */
	{"runtime.sigreturn", 0, {2, 12}},		 /* 0 for 12 */
	{"runtime.nanotime1", SP_WRITE, {2, 4, 48, 90}}, /* 0, then 24 */
	{"main.moving", SP_WRITE, {2, 60}},		 /* no frame */
	{"main.unknown", 0, {0}},
	{"runtime.goexit", 0, {2, 20}},
	{"runtime.printcreatedby", 0, {2, 20}},
};

#define N (sizeof(functions) / sizeof(functions[0]))

static const struct expected {
	uint32_t at; /* from the first function */
	uint8_t kind;
	int16_t cfa;
	int8_t rbp; /* of QZ_CFA_GOROUTINE */
} rows[] = {
	{0, QZ_CFA_RSP, 1},
	{4, QZ_CFA_RSP, 4},
	{14, QZ_CFA_RSP, 1},
	{16, QZ_CFA_NONE, 0},
	{STEP, QZ_CFA_END, 0},
	{2 * STEP, QZ_CFA_GO, -1},
	{3 * STEP, QZ_CFA_RSP, 1},
	{3 * STEP + 4, QZ_CFA_UNSUPPORTED, QZ_UNSUPPORTED_OFFSET},
	{3 * STEP + 14, QZ_CFA_NONE, 0},
	{4 * STEP - 1, QZ_CFA_SIGNAL, 0},
	{5 * STEP, QZ_CFA_RSP, 1},
	{5 * STEP + 4, QZ_UNWIND_KIND(QZ_CFA_FRAME, QZ_RBP_CFA), 2},
	{5 * STEP + 94, QZ_CFA_NONE, 0},
	{6 * STEP, QZ_CFA_UNSUPPORTED, QZ_UNSUPPORTED_REGISTER},
	{6 * STEP + 60, QZ_CFA_NONE, 0},
	{8 * STEP, QZ_CFA_GOROUTINE, -1, 0x128 / 8},
	{9 * STEP, QZ_CFA_RSP, 1},
	{9 * STEP + 20, QZ_CFA_NONE, 0},
};

#define NROWS (sizeof(rows) / sizeof(rows[0]))

/* runtime.systemstack of Go 1.19 on its way back. */
static const uint8_t switch_back[] = {
	0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x58, 0x30, 0x48,
	0x8b, 0x83, 0xc0, 0x00, 0x00, 0x00, 0x64, 0x48, 0x89, 0x04, 0x25, 0xf8, 0xff, 0xff,
	0xff, 0x48, 0x8b, 0x60, 0x38, 0x48, 0xc7, 0x40, 0x38, 0x00, 0x00, 0x00, 0x00, 0xc3,
};

/* runtime.printcreatedby of Go 1.19: the load of g.gopc, and the question whether g.goid is 1. */
static const uint8_t created_by[] = {
	0x48, 0x89, 0x44, 0x24, 0x48, 0x48, 0x8b, 0x88, 0x28, 0x01, 0x00, 0x00, 0x48, 0x8b,
	0x54, 0x24, 0x48, 0x48, 0x83, 0xba, 0x98, 0x00, 0x00, 0x00, 0x01, 0x74, 0x0a, 0xc3,
};

static void put(uint8_t *table, size_t at, uint64_t value, size_t size)
{
	memcpy(table + at, &value, size);
}

/* A table whose parts come one after the other: header, names, deltas, index, records, code. */
struct parts {
	size_t header, entry, record, names, deltas, index;
	size_t name_in, deltas_in, flag_in; /* a record */
};

static struct parts parts_of(uint32_t magic)
{
	struct parts p = {.names = 128, .deltas = 512, .index = 768, .record = 48};

	if (magic == 0xfffffffaU) {
		p.header = 24;
		p.entry = 8;
		p.name_in = 8;
		p.deltas_in = 20;
		p.flag_in = 41;
		return p;
	}
	p.header = 32;
	p.entry = p.name_in = 4;
	p.deltas_in = 16;
	p.flag_in = magic == 0xfffffff0U ? 37 : 41;
	return p;
}

/* text: address of the first function. */
static void fill(uint8_t *table, uint32_t magic, uint64_t text)
{
	struct parts p = parts_of(magic);
	size_t records = p.index + (N + 1) * 2 * p.entry, name = 1, delta = 1;
	uint64_t base = p.entry == 8 ? text : 0;

	memset(table, 0, TABLE_SIZE);
	put(table, 0, magic, 4);
	put(table, 4, 0x08010000, 4);
	put(table, 8, N, 8);
	if (p.entry == 4)
		put(table, 24, text, 8);
	put(table, p.header, p.names, 8);
	put(table, p.header + 24, p.deltas, 8);
	put(table, p.header + 32, p.index, 8);
	for (size_t i = 0; i < N; i++) {
		size_t record = records + i * p.record, entry = p.index + i * 2 * p.entry;
		size_t used = strlen((const char *)functions[i].deltas);

		put(table, entry, base + i * STEP, p.entry);
		put(table, entry + p.entry, record - p.index, p.entry);
		put(table, record + p.name_in, name, 4);
		put(table, record + p.deltas_in, used ? delta : 0, 4);
		put(table, record + p.flag_in, functions[i].flag, 1);
		strcpy((char *)table + p.names + name, functions[i].name);
		name += strlen(functions[i].name) + 1;
		memcpy(table + p.deltas + delta, functions[i].deltas, used);
		delta += used + 1;
	}
	put(table, p.index + N * 2 * p.entry, base + N * STEP, p.entry);
	memcpy(table + CODE_AT + 2 * STEP, switch_back, sizeof(switch_back));
	memcpy(table + CODE_AT + 9 * STEP, created_by, sizeof(created_by));
}

static struct elf_file *open_image(const uint8_t *table, size_t size)
{
	struct elf_file *f = elf_file__open(cfi_image__make(".gopclntab", table, size));

	ck_assert_ptr_nonnull(f);
	return f;
}

/* The address at which the section's bytes are also mapped as code. */
static uint64_t code_address(void)
{
	uint8_t table[TABLE_SIZE] = {0};
	struct elf_file *f = open_image(table, sizeof(table));
	Elf_Scn *section = elf_file__section_by_name(f, ".gopclntab");
	Elf64_Shdr *sh = section ? elf64_getshdr(section) : NULL;
	uint64_t at = sh ? CFI_IMAGE_CODE + sh->sh_offset + CODE_AT : 0;

	elf_file__close(f);
	ck_assert_uint_ne(at, 0);
	return at;
}

static const uint32_t versions[] = {0xfffffffaU, 0xfffffff0U, 0xfffffff1U};

START_TEST(describes_functions_of_each_version)
{
	uint64_t text = code_address();
	uint8_t table[TABLE_SIZE];
	struct elf_file *f;
	struct cfi_table t;

	fill(table, versions[_i], text);
	f = open_image(table, sizeof(table));
	ck_assert_int_eq(cfi__build(f, &t), 0);
	ck_assert_uint_eq(t.n, 1 + NROWS);
	ck_assert_uint_eq(t.rows[0].kind, QZ_CFA_NONE); /* of the code before the first function */
	for (size_t i = 0; i < NROWS; i++) {
		const struct qz_unwind_row *row = &t.rows[1 + i];

		ck_assert_msg(row->pc == text - t.base + rows[i].at && row->kind == rows[i].kind &&
				      row->cfa == rows[i].cfa &&
				      (!rows[i].rbp || row->rbp == rows[i].rbp),
			      "row %zu: pc %lx kind %x cfa %d", i, row->pc - (text - t.base),
			      row->kind, row->cfa);
	}
	ck_assert_uint_eq(t.stats.entries, N);
	cfi__free(&t);
	elf_file__close(f);
}
END_TEST

/* One whose way back is not the known one is taken for the begin of a stack. */
START_TEST(switch_of_another_form_ends_the_stack)
{
	uint64_t text = code_address();
	uint8_t table[TABLE_SIZE];
	struct gopclntab_functions go;
	struct gopclntab_function fn;
	struct elf_file *f;

	fill(table, versions[1], text);
	table[CODE_AT + 2 * STEP + 12] ^= 8; /* g->m is elsewhere */
	f = open_image(table, sizeof(table));
	ck_assert_int_eq(gopclntab__find(f, &go), 0);
	ck_assert(gopclntab__function(&go, 2, &fn));
	ck_assert_int_eq(fn.kind, GO_OUTERMOST);
	elf_file__close(f);
}
END_TEST

/* Of code that loads something else, or asks something else, it is not known who has started a goroutine. */
START_TEST(creators_of_another_form_are_left_out)
{
	static const size_t changed[] = {5, 8, 23,
					 24}; /* the load, its offset (not one of words), goid, 1 */
	uint64_t text = code_address();
	uint8_t table[TABLE_SIZE];
	struct gopclntab_functions go;
	struct gopclntab_function fn;
	struct elf_file *f;

	for (size_t i = 0; i <= sizeof(changed) / sizeof(changed[0]); i++) {
		bool whole = i == sizeof(changed) / sizeof(changed[0]);

		fill(table, versions[1], text);
		if (!whole)
			table[CODE_AT + 9 * STEP + changed[i]] ^= 0x81;
		f = open_image(table, sizeof(table));
		ck_assert_int_eq(gopclntab__find(f, &go), 0);
		ck_assert(gopclntab__function(&go, 9, &fn));
		ck_assert_uint_eq(fn.creator, whole ? 0x128 : 0);
		elf_file__close(f);
	}
}
END_TEST

/* Gives how many rows there are. */
static uint32_t build_damaged(const uint8_t *table, size_t size)
{
	struct elf_file *f = open_image(table, size);
	struct cfi_table t;
	uint32_t n;

	cfi__build(f, &t);
	for (uint32_t i = 0; i < t.n; i++) {
		ck_assert(i == 0 || t.rows[i - 1].pc < t.rows[i].pc);
		ck_assert(QZ_UNWIND_CFA(t.rows[i].kind) < QZ_CFA_KINDS);
	}
	n = t.n;
	cfi__free(&t);
	elf_file__close(f);
	return n;
}

START_TEST(reads_what_damage_leaves)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	uint64_t text = code_address();
	uint8_t table[TABLE_SIZE];
	uint32_t whole, read = 0, refused = 0;

	fill(table, versions[_i], text);
	whole = build_damaged(table, sizeof(table));
	ck_assert_uint_ge(whole, N);
	for (size_t size = 1; size < CODE_AT; size += 7)
		ck_assert_uint_lt(build_damaged(table, size), whole);
	for (size_t at = 0; at < CODE_AT; at++) {
		uint8_t was = table[at];

		for (size_t k = 0; k < sizeof(values); k++) {
			table[at] = values[k];
			if (build_damaged(table, sizeof(table)))
				read++;
			else
				refused++;
		}
		table[at] = was;
	}
	ck_assert_uint_gt(read, 0);
	ck_assert_uint_gt(refused, 0);
}
END_TEST

Suite *suite_gopclntab(void)
{
	Suite *s = suite_create("gopclntab");
	TCase *c = tcase_create("functions");

	tcase_add_loop_test(c, describes_functions_of_each_version, 0, 3);
	tcase_add_test(c, switch_of_another_form_ends_the_stack);
	tcase_add_test(c, creators_of_another_form_are_left_out);
	tcase_add_loop_test(c, reads_what_damage_leaves, 0, 3);
	suite_add_tcase(s, c);
	return s;
}
