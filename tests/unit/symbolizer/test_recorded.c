/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unwinder of bpf/ on stacks of real programs, recorded where it agreed with libdw's frame by
 * frame, or libdw cannot (RECORD=DIR tests/unwind/run), and on what is left of them after damage.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/unwind/recording.h"

#define PROGRAMS_MIN 20
#define STOPS_MIN    250

/* Calls for each recording, and gives their number. */
static int for_each(void (*visit)(const char *name, const struct recording *r))
{
	struct dirent **entries;
	int n = scandir(TEST_RECORDED, &entries, NULL, alphasort), visited = 0;

	ck_assert_int_gt(n, 0);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		struct recording r;
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", TEST_RECORDED, name);
		if (name[0] != '.') {
			ck_assert_msg(recording__read(&r, path) == 0, "%s", path);
			visit(name, &r);
			recording__free(&r);
			visited++;
		}
		free(entries[i]);
	}
	free(entries);
	return visited;
}

static void walk(const struct recording *r, struct recording_stop *stop,
		 struct unwinder_stack *stack)
{
	const struct unwinder w = {
		.regions = r->regions,
		.nregions = r->nregions,
		.rows = r->rows,
		.nrows = r->nrows,
		.read = recording__read_memory,
		.arg = stop,
	};

	unwinder__walk(&w, &stop->start, stack);
}

static uint32_t stops;

static void check_frames(const char *name, const struct recording *r)
{
	for (uint32_t i = 0; i < r->nstops; i++, stops++) {
		const struct unwinder_stack *expected = &r->stops[i].stack;
		struct unwinder_stack stack;

		walk(r, &r->stops[i], &stack);
		ck_assert_msg(stack.end == expected->end && stack.depth == expected->depth &&
				      stack.nframes == expected->nframes &&
				      stack.guessed == expected->guessed,
			      "%s %u: end %u depth %u, and not %u, %u", name, i, stack.end,
			      stack.depth, expected->end, expected->depth);
		ck_assert_msg(memcmp(stack.frames, expected->frames,
				     stack.nframes * sizeof(uint64_t)) == 0,
			      "%s %u: other frames", name, i);
	}
}

START_TEST(finds_the_recorded_frames)
{
	ck_assert_int_ge(for_each(check_frames), PROGRAMS_MIN);
	ck_assert_uint_ge(stops, STOPS_MIN);
}
END_TEST

/* The walk comes to an end, and has the frames up to the one that the memory is missing for. */
static void check_without(const struct recording *r, struct recording_stop *stop, uint32_t block)
{
	const struct recording_block missing = stop->blocks[block];
	struct unwinder_stack stack;

	stop->blocks[block].address = 0;
	walk(r, stop, &stack);
	stop->blocks[block] = missing;
	if (stack.end >= QZ_UNWIND_ENDS || stack.depth == 0 || stack.frames[0] != stop->start.ip)
		ck_abort_msg("end %u depth %u", stack.end, stack.depth);
	if (stack.guessed == 0 && stack.depth > stop->stack.depth)
		ck_abort_msg("%u frames of %u", stack.depth, stop->stack.depth);
}

static void remove_blocks(const char *name, const struct recording *r)
{
	for (uint32_t i = 0; i < r->nstops; i++)
		for (uint32_t k = 0; k < r->stops[i].nblocks; k++)
			check_without(r, &r->stops[i], k);
}

START_TEST(comes_to_an_end_without_memory)
{
	ck_assert_int_ge(for_each(remove_blocks), PROGRAMS_MIN);
}
END_TEST

/* Rows of nonsense, one at a time. */
static void damage_rows(const char *name, const struct recording *r)
{
	for (int turn = 0; turn < 500 && r->nrows; turn++) {
		struct qz_unwind_row *row = &r->rows[(uint32_t)random() % r->nrows], saved = *row;
		struct unwinder_stack stack;

		row->kind = (uint8_t)random();
		row->cfa = (int16_t)random();
		row->rbp = (int8_t)random();
		walk(r, &r->stops[(uint32_t)random() % r->nstops], &stack);
		*row = saved;
		if (stack.end >= QZ_UNWIND_ENDS || stack.nframes > QZ_USER_FRAMES)
			ck_abort_msg("%s: end %u frames %u", name, stack.end, stack.nframes);
	}
}

START_TEST(comes_to_an_end_with_wrong_rows)
{
	srandom(11);
	ck_assert_int_ge(for_each(damage_rows), PROGRAMS_MIN);
}
END_TEST

Suite *suite_recorded(void)
{
	Suite *suite = suite_create("recorded");
	TCase *tcase = tcase_create("stops");

	tcase_add_test(tcase, finds_the_recorded_frames);
	tcase_add_test(tcase, comes_to_an_end_without_memory);
	tcase_add_test(tcase, comes_to_an_end_with_wrong_rows);
	suite_add_tcase(suite, tcase);
	return suite;
}
