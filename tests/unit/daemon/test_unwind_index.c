/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The index of unwind tables: the unwinder finds by it the row that holds, and looks at few others.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/unwind/unwind_index.h"
#include "daemon/unwind/unwinder.h"
#include "tests/unit/suites.h"

#define ROWS  4000 /* each with a frame of its own size: they fit into a row's cfa */
#define BIAS  0x400000ull
#define STACK 0x7fff00000000ull

/* Dense code, and now and then a gap of several blocks. */
static uint32_t make_rows(struct qz_unwind_row *rows, uint32_t n)
{
	uint32_t pc = 7000;

	for (uint32_t i = 0; i < n; i++) {
		rows[i] = (struct qz_unwind_row) {
			.pc = pc,
			.cfa = (int16_t)(i + 1),
			.kind = QZ_UNWIND_KIND(QZ_CFA_RSP, QZ_RBP_SAME),
		};
		pc += random() % 100 == 0 ? 1 + (uint32_t)random() % 5000
					  : 1 + (uint32_t)random() % 80;
	}
	return pc;
}

/* The frame size of the row that was followed. Nothing can be read, a return address neither. */
static bool note_size(void *arg, uint64_t address, void *to, size_t size)
{
	(void)to;
	if (size == sizeof(uint64_t))
		*(uint64_t *)arg = (address + 8 - STACK) / 8;
	return false;
}

/* The number of the row that is found for a pc, plus 1; 0: none. */
static uint64_t find(const struct qz_unwind_row *rows, uint32_t n, struct qz_unwind_region region,
		     uint32_t pc, uint8_t *touched)
{
	uint64_t found = 0;
	const struct unwinder w = {
		.regions = &region,
		.nregions = 1,
		.rows = rows,
		.nrows = n,
		.touched = touched,
		.read = note_size,
		.arg = &found,
	};
	const struct unwinder_start start = {.ip = BIAS + pc, .sp = STACK};
	struct unwinder_stack stack;

	unwinder__walk(&w, &start, &stack);
	return found;
}

/* How many were read; none are marked after it. */
static uint32_t count_touched(uint8_t *touched, uint32_t n)
{
	uint32_t count = 0;

	for (uint8_t *at = touched; (at = memchr(at, 1, touched + n - at)); count++)
		*at = 0;
	return count;
}

START_TEST(leads_to_the_row_that_holds)
{
	struct qz_unwind_row *all = calloc(ROWS, sizeof(*all)), *rows;
	static uint8_t touched[2 * ROWS];
	struct qz_unwind_region r = {.start = BIAS, .end = BIAS + (1 << 30), .bias = BIAS};
	uint32_t end, n, row = 0;

	ck_assert_ptr_nonnull(all);
	end = make_rows(all, ROWS);
	r.block = QZ_UNWIND_BLOCK(all[0].pc);
	r.blocks = unwind_index__add(&all, ROWS, 0);
	ck_assert_uint_gt(r.blocks, 100);
	r.first = r.blocks;
	r.count = ROWS;
	rows = all + r.first;
	for (uint32_t pc = 0; pc < end + 3000; pc++) {
		while (row < ROWS && rows[row].pc <= pc)
			row++;
		ck_assert_uint_eq(find(all, r.blocks + ROWS, r, pc, touched), row);
		n = count_touched(touched, 2 * ROWS);
		/* the block, half of what is left of at most 1,024 rows each time, and the row */
		if (pc >= rows[0].pc && pc < rows[ROWS - 1].pc)
			ck_assert_uint_le(n, 1 + 11 + 1);
	}
	free(all);
}
END_TEST

/* A table that begins in one piece of the rows and ends in a later one. */
START_TEST(goes_on_in_the_next_piece)
{
	const uint32_t first = QZ_UNWIND_PIECE - 100, n = QZ_UNWIND_PIECE + 200;
	struct qz_unwind_row *all = calloc(first + n, sizeof(*all)), *rows = all + first;
	struct qz_unwind_region r = {
		.start = BIAS, .end = BIAS + (1 << 30), .bias = BIAS, .first = first, .count = n};

	ck_assert_ptr_nonnull(all);
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct qz_unwind_row) {
			.pc = 1000 + 16 * i,
			.cfa = (int16_t)(1 + i % ROWS),
			.kind = QZ_UNWIND_KIND(QZ_CFA_RSP, QZ_RBP_SAME),
		};
	for (uint32_t i = 0; i < n; i = i < 300 || i >= n - 300 ? i + 1 : i + 997) {
		ck_assert_uint_eq(find(all, first + n, r, rows[i].pc, NULL), 1 + i % ROWS);
		ck_assert_uint_eq(find(all, first + n, r, rows[i].pc + 15, NULL), 1 + i % ROWS);
	}
	free(all);
}
END_TEST

START_TEST(is_left_out_where_it_would_be_larger_than_the_table)
{
	static const struct qz_unwind_row dense[] = {{.pc = 5000}, {.pc = 6000}, {.pc = 7000}};
	static const struct qz_unwind_row sparse[] = {
		{.pc = 5000}, {.pc = 6000}, {.pc = UINT32_MAX}}; /* of 4 million blocks */
	struct qz_unwind_row *rows = malloc(sizeof(dense));
	const struct qz_unwind_block *index;

	ck_assert_ptr_nonnull(rows);
	memcpy(rows, sparse, sizeof(sparse));
	ck_assert_uint_eq(unwind_index__add(&rows, 3, 0), 0);
	ck_assert_mem_eq(rows, sparse, sizeof(sparse));
	ck_assert_uint_eq(unwind_index__add(&rows, 0, 0), 0);
	ck_assert_mem_eq(rows, sparse, sizeof(sparse));
	memcpy(rows, dense, sizeof(dense));
	ck_assert_uint_eq(unwind_index__add(&rows, 3, 0), 3);
	ck_assert_mem_eq(rows + 3, dense, sizeof(dense));
	index = (const struct qz_unwind_block *)rows;
	ck_assert_uint_eq(index[0].before, 0);
	ck_assert_uint_eq(index[0].count, 1);
	ck_assert_uint_eq(index[2].before, 2);
	ck_assert_uint_eq(index[2].count, 1);
	free(rows);
}
END_TEST

#define WINDOW 8 /* blocks */

/* Rows of one gap of several blocks between described code, which goes on behind the last row. */
static uint32_t make_gap(struct qz_unwind_row *rows)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < 40; i++, n++)
		rows[n] = (struct qz_unwind_row) {
			.pc = 3000 + i * 100, .cfa = (int16_t)n, .kind = QZ_CFA_RSP};
	rows[n++] = (struct qz_unwind_row) {.pc = 7010, .kind = QZ_CFA_NONE};
	for (uint32_t i = 0; i < 40; i++, n++)
		rows[n] = (struct qz_unwind_row) {
			.pc = 12000 + i * 100, .cfa = (int16_t)n, .kind = QZ_CFA_RSP};
	return n;
}

static const struct qz_unwind_row *row_at(const struct qz_unwind_row *rows, uint32_t n, uint32_t pc)
{
	const struct qz_unwind_row *row = NULL;

	for (uint32_t i = 0; i < n && rows[i].pc <= pc; i++)
		row = &rows[i];
	return row;
}

/* What was analyzed takes the place of the gap, as far as it is in the window; the rest is as it was. */
START_TEST(leads_to_rows_elsewhere)
{
	static const struct qz_unwind_row added[] = {
		{.pc = 7100, .cfa = 101, .kind = QZ_CFA_RSP},
		{.pc = 8000, .cfa = 102, .kind = QZ_CFA_RSP},
		{.pc = 30000, .cfa = 103, .kind = QZ_CFA_RSP},
	};
	struct qz_unwind_row *all = calloc(128, sizeof(*all)), before[128], window[128], out[128];
	struct qz_unwind_region r = {.start = BIAS, .end = BIAS + (1 << 30), .bias = BIAS};
	uint32_t n = make_gap(all), nwindow = 0, from, to, count, first;
	static uint8_t touched[512];

	memcpy(before, all, sizeof(before));
	r.block = QZ_UNWIND_BLOCK(all[0].pc);
	r.blocks = unwind_index__add(&all, n, 20000);
	ck_assert_uint_eq(r.blocks, QZ_UNWIND_BLOCK(19999) - r.block + 1);
	r.first = r.blocks;
	r.count = n;

	/* the window begins in the second block, and the one before it holds there */
	first = r.block + 1;
	from = QZ_UNWIND_BLOCK_PC(first);
	to = QZ_UNWIND_BLOCK_PC(first + WINDOW);
	for (uint32_t i = 0; i < n; i++)
		if (before[i].pc >= from && before[i].pc < to)
			window[++nwindow] = before[i];
	window[0] = *row_at(before, n, from);
	nwindow++;
	ck_assert(!unwind_index__gap(window, nwindow, 5000, &from, &to));
	ck_assert(unwind_index__gap(window, nwindow, 9000, &from, &to));
	ck_assert_uint_eq(from, 7010);
	ck_assert_uint_eq(to, QZ_UNWIND_BLOCK_PC(first + WINDOW));
	ck_assert_uint_lt(to, 12000);
	count = unwind_index__splice(out, window, nwindow, added, 3, from, to);
	ck_assert_uint_eq(count, nwindow + 2); /* one in vain, two added, the gap's is gone */
	ck_assert(!unwind_index__gap(out, count, 9000, &from, &to));
	ck_assert(!unwind_index__gap(out, count, 7050, &from, &to));

	all = realloc(all, (r.blocks + n + count) * sizeof(*all));
	memcpy(all + r.blocks + n, out, count * sizeof(*out));
	unwind_index__lead((struct qz_unwind_block *)all + 1, WINDOW, first, out + 1, count - 1,
			   n + 1);
	for (uint32_t pc = 2000; pc < 21000; pc++) {
		const struct qz_unwind_row *row = row_at(before, n, pc);
		uint32_t frame = row ? (uint32_t)row->cfa : 0;

		if (pc >= 7100 && pc < to)
			frame = pc < 8000 ? 101 : 102;
		ck_assert_msg(find(all, r.blocks + n + count, r, pc, touched) == frame, "at %u",
			      pc);
	}
	free(all);
}
END_TEST

Suite *suite_unwind_index(void)
{
	Suite *suite = suite_create("unwind_index");
	TCase *tcase = tcase_create("index");

	tcase_add_test(tcase, leads_to_the_row_that_holds);
	tcase_add_test(tcase, goes_on_in_the_next_piece);
	tcase_add_test(tcase, leads_to_rows_elsewhere);
	tcase_add_test(tcase, is_left_out_where_it_would_be_larger_than_the_table);
	suite_add_tcase(suite, tcase);
	return suite;
}
