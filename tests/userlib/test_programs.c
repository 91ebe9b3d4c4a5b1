/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs built with libquartz: C++, and -finstrument-functions with exact counts of calls. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/unit/suites.h"
#include "tests/userlib/fixture.h"
#include "tests/userlib/programs.h"

static void await_ready(struct program *p)
{
	char line[64];

	ck_assert_ptr_nonnull(fgets(line, sizeof(line), p->out));
	ck_assert_str_eq(line, "ready\n");
}

/* No other thread has a slot any more, and each that had one has left it as it was found. */
static void check_others_are_gone(const struct fake_set *set, pid_t main_thread)
{
	for (uint32_t i = 0; i < QZ_SEGMENT_SLOTS; i++) {
		const struct qz_slot *slot = &set->slots[0][i];

		if (slot->tid == (__u32)main_thread)
			continue;
		ck_assert_uint_eq(slot->tid, 0);
		ck_assert_uint_eq(slot->depth, 0);
	}
}

START_TEST(cxx_leaves_scopes_by_exceptions)
{
	struct program p = program__start("scopes");
	struct fake_set *set;
	char text[256];
	int status;

	await_ready(&p);
	set = fake__set(fake, p.pid);
	ck_assert_ptr_nonnull(set);
	fake__stack(set, fake__slot(set, p.pid), text, sizeof(text));
	ck_assert_str_eq(text, "main/outer");
	check_others_are_gone(set, p.pid);
	status = program__end(&p);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	fake__stack(set, fake__slot(set, p.pid), text, sizeof(text));
	ck_assert_str_eq(text, "main/outer");
}
END_TEST

START_TEST(cxx_runs_without_quartzd)
{
	struct program p;

	fake__end(fake, false);
	p = program__start("scopes");
	await_ready(&p);
	ck_assert_int_eq(WEXITSTATUS(program__end(&p)), 7);
	ck_assert_uint_eq(fake->count, 1);
}
END_TEST

/* ---- calls ---- */

#define THREADS 4
#define CALLS	1000ul
#define DEEP	500ul
#define NAMES	1000

static uint32_t id_at(const struct fake_set *set, unsigned long address)
{
	uint32_t place = qz_symbol_place(address);

	for (int i = 0; i < QZ_SYMBOL_PROBES; i++, place = (place + 1) % QZ_SYMBOLS)
		if (set->tables->symbols[place].address == address)
			return place + 1;
	return 0;
}

static uint64_t calls(const struct fake_set *set, uint32_t caller, uint32_t callee)
{
	const struct qz_tables *t = set->tables;
	uint64_t pair = QZ_CALL_PAIR(caller, callee), sum = 0;

	for (uint32_t i = 0; i < QZ_CALLS; i++)
		if (t->calls[i].pair == pair)
			sum += t->calls[i].count;
	for (uint32_t s = 0; s < t->header.slots_used && s < QZ_SLOTS; s++)
		for (uint32_t i = 0; i < QZ_THREAD_CALLS; i++)
			if (t->thread_calls[s][i].pair == pair)
				sum += t->thread_calls[s][i].count;
	return sum;
}

struct calls_run {
	struct program program;
	struct fake_set *set;
	char name[NAMES][32];
	uint32_t id[NAMES];
	int count;
};

static uint32_t id_of(const struct calls_run *r, const char *name)
{
	for (int i = 0; i < r->count; i++)
		if (!strcmp(r->name[i], name))
			return r->id[i];
	ck_abort_msg("no procedure %s", name);
	return 0;
}

/* The program's own list of its procedures comes first; then it has made all its calls. */
static void run_calls(struct calls_run *r, const char *program)
{
	unsigned long address[NAMES];
	char line[128];

	r->program = program__start(program);
	for (;;) {
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), r->program.out));
		if (!strcmp(line, "ready\n"))
			break;
		ck_assert_int_lt(r->count, NAMES);
		ck_assert_int_eq(sscanf(line, "%31s %lx", r->name[r->count], &address[r->count]),
				 2);
		r->count++;
	}
	r->set = fake__set(fake, r->program.pid);
	ck_assert_ptr_nonnull(r->set);
	for (int i = 0; i < r->count; i++)
		r->id[i] = id_at(r->set, address[i]);
}

#define ck_calls(r, caller, callee, expected)                                                      \
	ck_assert_uint_eq(calls((r)->set, id_of(r, caller), id_of(r, callee)), (expected)*THREADS)

/* The stack has room for 127: odd and even call each other 500 times; from the 127th on, the caller
 * is not known. */
static void check_deep(const struct calls_run *r)
{
	uint32_t odd = id_of(r, "odd"), even = id_of(r, "even");
	uint64_t known = calls(r->set, odd, even) + calls(r->set, even, odd);
	uint64_t unknown = calls(r->set, 0, even) + calls(r->set, 0, odd);

	ck_assert_uint_eq(known, 127 * CALLS * THREADS);
	ck_assert_uint_eq(known + unknown, (DEEP + 1) * CALLS * THREADS);
}

static void check_inlined(const struct calls_run *r)
{
	ck_calls(r, "has_inlined", "inlined", 2 * CALLS);
	ck_calls(r, "has_inlined", "leaf", CALLS);
	ck_calls(r, "inlined", "leaf", 2 * CALLS);
}

static void check_calls(const char *program)
{
	struct calls_run *r = calloc(1, sizeof(*r));
	char text[256];

	run_calls(r, program);
	ck_calls(r, "recursive", "recursive", 9 * CALLS);
	ck_calls(r, "recursive", "leaf", 10 * CALLS);
	check_deep(r);
	ck_calls(r, "come_back", "jump", CALLS);
	ck_calls(r, "jump", "jump", 3 * CALLS);
	ck_calls(r, "come_back", "leaf", CALLS);
	ck_calls(r, "with_array", "leaf", CALLS);
	check_inlined(r);
	for (int i = 0; i < r->count; i++)
		if (!strncmp(r->name[i], "many_", 5))
			ck_calls(r, "call_many", r->name[i], CALLS);
	ck_assert_uint_eq(r->set->tables->header.calls_refused, 0);
	ck_assert_uint_eq(r->set->tables->header.flags, QZ_PAGE_INSTRUMENTED);
	ck_assert_uint_gt(r->set->tables->header.cost_hook_ps, 0);
	ck_assert_uint_eq(fake__slot(r->set, r->program.pid)->depth, 1);
	ck_assert_uint_eq(fake__slot(r->set, r->program.pid)->stack[1], id_of(r, "last"));
	check_others_are_gone(r->set, r->program.pid);
	ck_assert_int_eq(program__end(&r->program), 0);
	fake__stack(r->set, fake__slot(r->set, r->program.pid), text, sizeof(text));
	ck_assert_str_eq(text, "");
	free(r);
}

START_TEST(hooks_count_every_call)
{
	check_calls("calls");
}
END_TEST

START_TEST(hooks_of_clang_do_too)
{
	check_calls("calls-clang");
}
END_TEST

START_TEST(hooks_of_unoptimized_code_do_too)
{
	check_calls("calls-O0");
}
END_TEST

Suite *suite_library_programs(void)
{
	Suite *s = suite_create("library_programs");
	TCase *c = tcase_create("library_programs");

	tcase_add_checked_fixture(c, fixture__listen, fixture__end);
	tcase_add_test(c, cxx_leaves_scopes_by_exceptions);
	tcase_add_test(c, cxx_runs_without_quartzd);
	tcase_add_test(c, hooks_count_every_call);
	tcase_add_test(c, hooks_of_unoptimized_code_do_too);
	tcase_add_test(c, hooks_of_clang_do_too);
	suite_add_tcase(s, c);
	return s;
}
