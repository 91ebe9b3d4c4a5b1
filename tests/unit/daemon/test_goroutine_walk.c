/* SPDX-License-Identifier: GPL-2.0-only */
/* Who has started a goroutine, behind the end of its stack: from memory that a program has made, honest or not. */
#include <check.h>
#include <string.h>

#include "daemon/unwind/unwinder.h"
#include "tests/unit/suites.h"

#define CODE	0x400000ull
#define TP	0x10000ull /* the words of memory below begin here */
#define WORDS	512
#define WORD(i) (TP + 8ull * (i))

/* Offsets in words. */
enum { THREAD_G = 1, G = 16, M = 96, ANCESTORS = 128, INFO = 132, PCS = 200, GOPC = 37 };

struct memory {
	uint64_t words[WORDS];
	uint32_t reads;
};

static bool read_memory(void *arg, uint64_t address, void *to, size_t size)
{
	struct memory *m = arg;

	m->reads++;
	if (address < TP || address % 8 || address - TP + size > sizeof(m->words))
		return false;
	memcpy(to, (const char *)m->words + (address - TP), size);
	return true;
}

/* A goroutine whose leaf is runtime.goexit itself. */
static struct unwinder_stack walk(struct memory *m)
{
	const struct qz_unwind_region region = {
		.start = CODE, .end = CODE + 0x1000, .bias = CODE, .count = 1};
	const struct qz_unwind_row row = {.kind = QZ_CFA_GOROUTINE, .cfa = THREAD_G, .rbp = GOPC};
	const struct unwinder w = {.regions = &region,
				   .nregions = 1,
				   .rows = &row,
				   .nrows = 1,
				   .read = read_memory,
				   .arg = m};
	const struct unwinder_start start = {.ip = CODE + 1, .sp = TP, .thread_pointer = TP};
	struct unwinder_stack stack;

	m->reads = 0;
	unwinder__walk(&w, &start, &stack);
	ck_assert_uint_eq(stack.end, QZ_UNWIND_OUTERMOST);
	ck_assert_uint_eq(stack.frames[0], CODE + 1);
	return stack;
}

static void make(struct memory *m)
{
	*m = (struct memory) {.reads = 0};
	m->words[THREAD_G] = WORD(G);
	m->words[G + QZ_GO_G_M / 8] = WORD(M);
	m->words[M + QZ_GO_M_CURG / 8] = WORD(G);
	m->words[G + GOPC] = 0x1001;
}

/* The i-th of them; its stack is newproc, what started the one before, a caller, goexit. */
static void add_ancestor(struct memory *m, uint32_t i, uint64_t started, uint64_t caller,
			 uint64_t creator)
{
	const uint64_t pcs[] = {0x7777, started, caller, 0x2222};
	uint64_t *info = &m->words[INFO + i * QZ_GO_ANCESTOR / 8];

	memcpy(&m->words[PCS + 8 * i], pcs, sizeof(pcs));
	info[0] = WORD(PCS + 8 * i);
	info[1] = info[2] = 4;
	info[4] = creator;
	m->words[G + GOPC + 1] = WORD(ANCESTORS);
	m->words[ANCESTORS] = WORD(INFO);
	m->words[ANCESTORS + 1] = i + 1;
}

static void expect(struct memory *m, const uint64_t *frames, uint32_t n)
{
	struct unwinder_stack stack = walk(m);

	ck_assert_uint_eq(stack.nframes, n + 1);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(stack.frames[i + 1], frames[i]);
}

START_TEST(the_creator_follows)
{
	static const uint64_t one[] = {0x1001};
	struct memory m;

	make(&m);
	expect(&m, one, 1);
	m.words[G + GOPC] = 0;
	expect(&m, one, 0);
	m.words[G + GOPC] = 0x1001;
	m.words[M + QZ_GO_M_CURG / 8] = 0; /* the thread's own stack */
	expect(&m, one, 0);
	m.words[M + QZ_GO_M_CURG / 8] = ~7ull;
	expect(&m, one, 0);
	m.words[THREAD_G] = 12345;
	expect(&m, one, 0);
}
END_TEST

START_TEST(ancestors_follow)
{
	static const uint64_t all[] = {0x1001, 0x3001, 0x2222, 0x1002, 0x3002, 0x2222};
	struct memory m;

	make(&m);
	add_ancestor(&m, 0, 0x1001, 0x3001, 0x1002);
	add_ancestor(&m, 1, 0x1002, 0x3002, 0);
	expect(&m, all, 6);
	m.words[PCS + 1] =
		0x1000; /* the stack is of something else: who has started it is known all the same */
	expect(&m, (const uint64_t[]) {0x1001, 0x1002, 0x3002, 0x2222}, 4);
	m.words[ANCESTORS + 1] = 1;
	expect(&m, (const uint64_t[]) {0x1001, 0x1002}, 2);
}
END_TEST

/* Endless lists, circles, and addresses of nothing: what is kept is bounded, and so is what is read. */
START_TEST(lies_are_bounded)
{
	struct unwinder_stack stack;
	struct memory m;

	make(&m);
	for (uint32_t i = PCS; i < WORDS; i++)
		m.words[i] = 0x1001;
	add_ancestor(&m, 0, 0x1001, 0x1001, 0x1001);
	m.words[INFO + 1] = ~0ull;
	m.words[ANCESTORS + 1] = ~0ull;
	for (uint32_t i = 1; i < 12; i++)
		memcpy(&m.words[INFO + i * 5], &m.words[INFO], QZ_GO_ANCESTOR);
	stack = walk(&m);
	ck_assert_uint_le(stack.depth, 1 + QZ_GO_ANCESTORS * (QZ_GO_ANCESTOR_PCS + 1) + 32);
	ck_assert_uint_le(m.reads, 8 + QZ_GO_ANCESTORS * (QZ_GO_ANCESTOR_PCS + 1) + 32);
	m.words[INFO] = ~0ull;
	ck_assert_uint_eq(walk(&m).nframes, 2);
	m.words[ANCESTORS] = 1;
	ck_assert_uint_eq(walk(&m).nframes, 2);
	m.words[G + GOPC + 1] = 1;
	ck_assert_uint_eq(walk(&m).nframes, 2);
}
END_TEST

Suite *suite_goroutine_walk(void)
{
	Suite *suite = suite_create("goroutine_walk");
	TCase *tcase = tcase_create("walk");

	tcase_add_test(tcase, the_creator_follows);
	tcase_add_test(tcase, ancestors_follow);
	tcase_add_test(tcase, lies_are_bounded);
	suite_add_tcase(suite, tcase);
	return suite;
}
