/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/model/fields.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

static int add_one(struct qz_profile *p, uint32_t scope, uint32_t thread, uint32_t node,
		   uint32_t level, uint32_t busy)
{
	return qz_profile__add_samples(p, &(struct qz_sample) {.scope = scope,
							       .thread = thread,
							       .node = node,
							       .level = level,
							       .busy = busy,
							       .object = QZ_NONE,
							       .count = 1});
}

static uint32_t location_at(struct qz_profile *p, uint64_t address, const char *name)
{
	const struct qz_procedure procedure = {
		.name = (char *)name, .module = "[jit]", .file = "", .kind = QZ_PROCEDURE};
	int64_t index = qz_profile__intern_procedure(p, &procedure);
	struct qz_line line = {.procedure = (uint32_t)index};

	ck_assert_int_ge(index, 0);
	index = qz_profile__intern_location(
		p, &(struct qz_location) {
			   .address = address, .mapping = QZ_NONE, .nlines = 1, .lines = &line});
	ck_assert_int_ge(index, 0);
	return (uint32_t)index;
}

/* Names that come later: no two locations are equal then, and each is found by what it is now. */
START_TEST(locations_get_other_names)
{
	struct qz_profile *p = qz_profile__new();
	uint32_t first = location_at(p, 0x10, "[unknown]"),
		 second = location_at(p, 0x11, "[unknown]"), known = location_at(p, 0x10, "f");

	ck_assert_int_eq(qz_profile__rename_location(p, second, known), 0);
	ck_assert_int_eq(qz_profile__rename_location(p, first, known), 0);
	ck_assert_uint_eq(p->locations[second].address, 0x11);
	ck_assert_uint_eq(p->locations[first].address, 0x12);
	ck_assert_uint_eq(p->locations[first].lines[0].procedure,
			  p->locations[known].lines[0].procedure);
	ck_assert_uint_eq(location_at(p, 0x10, "f"), known);
	ck_assert_uint_eq(location_at(p, 0x11, "f"), second);
	ck_assert_uint_eq(location_at(p, 0x12, "f"), first);
	ck_assert_uint_eq(location_at(p, 0x10, "[unknown]"), p->nlocations - 1);
	qz_profile__free(p);
}
END_TEST

START_TEST(equal_entities_get_one_index)
{
	struct qz_profile *p = qz_profile__new();
	struct qz_procedure a = {.name = "f", .module = "m", .file = "", .line = 1}, b = a;
	struct qz_mapping map = {.path = "m", .build_id = "ab", .start = 1, .limit = 2},
			  other = map;
	struct qz_line lines[] = {{.procedure = 0, .line = 3}, {.procedure = 0, .line = 4}};
	struct qz_location loc = {.address = 5, .mapping = QZ_NONE, .nlines = 2, .lines = lines};

	b.line = 2;
	ck_assert_int_eq(qz_profile__intern_procedure(p, &a), 0);
	ck_assert_int_eq(qz_profile__intern_procedure(p, &b), 0);
	b.file = "f.c";
	ck_assert_int_eq(qz_profile__intern_procedure(p, &b), 1);
	b.module = "n";
	ck_assert_int_eq(qz_profile__intern_procedure(p, &b), 2);
	b.kind = QZ_TRUNCATED;
	ck_assert_int_eq(qz_profile__intern_procedure(p, &b), 3);

	other.limit = 9;
	ck_assert_int_eq(qz_profile__intern_mapping(p, &map), 0);
	ck_assert_int_eq(qz_profile__intern_mapping(p, &other), 0);
	other.offset = 9;
	ck_assert_int_eq(qz_profile__intern_mapping(p, &other), 1);

	ck_assert_int_eq(qz_profile__intern_location(p, &loc), 0);
	ck_assert_int_eq(qz_profile__intern_location(p, &loc), 0);
	lines[1].line = 9;
	ck_assert_int_eq(qz_profile__intern_location(p, &loc), 1);
	loc.nlines = 1;
	ck_assert_int_eq(qz_profile__intern_location(p, &loc), 2);
	loc.mapping = 1;
	ck_assert_int_eq(qz_profile__intern_location(p, &loc), 3);
	qz_profile__free(p);
}
END_TEST

START_TEST(numbers_out_of_range_are_refused)
{
	struct fixture f = fixture__new();
	static const uint64_t level_ns[] = {0, 1};
	struct qz_procedure proc = {
		.name = "", .module = "", .file = "", .kind = QZ_PROCEDURE_KINDS};
	struct qz_line lines[QZ_MAX_INLINED + 1] = {{0}};
	struct qz_location loc = {.mapping = QZ_NONE, .nlines = 1, .lines = lines};
	struct qz_scope scope = {.nlevels = QZ_MAX_LEVELS + 1};

	ck_assert_int_eq(qz_profile__intern_procedure(f.p, &proc), -EINVAL);
	ck_assert_int_eq(qz_profile__intern_location(f.p, &loc), -EINVAL);
	proc.kind = QZ_PROCEDURE;
	ck_assert_int_eq(qz_profile__intern_procedure(f.p, &proc), 0);
	loc.mapping = 0;
	ck_assert_int_eq(qz_profile__intern_location(f.p, &loc), -EINVAL);
	loc.mapping = QZ_NONE;
	loc.nlines = 0;
	ck_assert_int_eq(qz_profile__intern_location(f.p, &loc), -EINVAL);
	loc.nlines = QZ_MAX_INLINED + 1;
	ck_assert_int_eq(qz_profile__intern_location(f.p, &loc), -E2BIG);
	ck_assert_int_eq(qz_profile__marker(f.p, QZ_PROCEDURE), -EINVAL);
	ck_assert_int_eq(qz_profile__marker(f.p, QZ_PROCEDURE_KINDS), -EINVAL);
	ck_assert_int_eq(qz_profile__intern_node(f.p, 0, 0), -EINVAL);
	ck_assert_int_eq(qz_profile__intern_node(f.p, 1, 0), -EINVAL);
	ck_assert_int_eq(qz_profile__add_scope(f.p, &scope), -E2BIG);
	scope.nlevels = 0;
	ck_assert_int_eq(qz_profile__add_scope(f.p, &scope), -EINVAL);
	ck_assert_int_eq(qz_profile__add_thread(f.p, &(struct qz_thread) {0}), -EINVAL);

	fixture__scope(&f, level_ns, 2);
	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	ck_assert_int_eq(add_one(f.p, 0, 0, 0, 1, 1), 0);
	ck_assert_int_eq(add_one(f.p, 2, 0, 0, 1, 1), -EINVAL);
	ck_assert_int_eq(add_one(f.p, 1, 0, 0, 1, 1), -EINVAL);
	ck_assert_int_eq(add_one(f.p, 0, 1, 0, 1, 1), -EINVAL);
	ck_assert_int_eq(add_one(f.p, 0, 0, 1, 1, 1), -EINVAL);
	ck_assert_int_eq(add_one(f.p, 0, 0, 0, 0, 0), -EINVAL);
	ck_assert_int_eq(add_one(f.p, 0, 0, 0, 2, 2), -EINVAL);
	ck_assert_int_eq(add_one(f.p, 0, 0, 0, 1, 2), -EINVAL);
	ck_assert_uint_eq(f.p->nsamples, 1);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(stacks_are_bounded)
{
	struct fixture f = fixture__new();
	uint32_t first = fixture__stack(&f, "f"), loc = f.p->nodes[first].location;
	int64_t node = 0;

	for (uint32_t depth = 1; depth <= QZ_MAX_DEPTH; depth++) {
		node = qz_profile__intern_node(f.p, (uint32_t)node, loc);
		ck_assert_int_ge(node, 0);
		ck_assert_uint_eq(f.p->nodes[node].depth, depth);
	}
	ck_assert_int_eq(qz_profile__intern_node(f.p, (uint32_t)node, loc), -E2BIG);
	qz_profile__free(f.p);
}
END_TEST

/* Tables and arrays grow many times, and everything is still found. */
START_TEST(many_entities_are_found_again)
{
	struct fixture f = fixture__new();
	char name[32];

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 10000; i++) {
			snprintf(name, sizeof(name), "p%u", i);
			ck_assert_uint_eq(fixture__stack(&f, name), i + 1);
		}
	}
	ck_assert_int_eq(f.err, 0);
	ck_assert_uint_eq(f.p->nprocedures, 10000);
	ck_assert_uint_eq(f.p->nlocations, 10000);
	ck_assert_uint_eq(f.p->nnodes, 10001);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(samples_are_grouped)
{
	struct fixture f = fixture__new();
	static const uint64_t level_ns[] = {0, 1, 1};

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "main f", 1, 2);
	fixture__samples(&f, 0, 0, "main f", 2, 1);
	fixture__samples(&f, 0, 0, "main f", 1, 3);
	fixture__samples(&f, 0, QZ_NONE, "main f", 1, 7);
	ck_assert_int_eq(f.err, 0);
	ck_assert_uint_eq(f.p->nsamples, 3);
	ck_assert_uint_eq(f.p->samples[0].count, 5);
	ck_assert_uint_eq(f.p->samples[1].count, 1);
	ck_assert_uint_eq(f.p->samples[2].count, 7);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(unattributed_groups_go_and_the_others_are_still_found)
{
	struct fixture f = fixture__new();
	static const uint64_t level_ns[] = {0, 1};

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, QZ_NONE, "[unattributed]", 1, 0);
	fixture__samples(&f, 0, 0, "a", 1, 1);
	fixture__samples(&f, 0, 0, "b", 1, 1);
	qz_profile__drop_unattributed(f.p);
	ck_assert_uint_eq(f.p->nsamples, 2);
	fixture__samples(&f, 0, 0, "b", 1, 1);
	fixture__samples(&f, 0, 0, "a", 1, 2);
	fixture__samples(&f, 0, 0, "c", 1, 9);
	ck_assert_int_eq(f.err, 0);
	ck_assert_uint_eq(f.p->nsamples, 3);
	ck_assert_uint_eq(f.p->samples[0].count, 3);
	ck_assert_uint_eq(f.p->samples[1].count, 2);
	ck_assert_uint_eq(f.p->samples[2].count, 9);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(the_ledger_closes)
{
	struct qz_profile *p = qz_profile__new();
	struct qz_ledger *l = &p->ledger;
	char cause[32];

	l->expected = 100;
	l->accepted = 90;
	l->filtered = 8;
	ck_assert_int_eq(qz_ledger__add_loss(l, "full", 1), 0);
	ck_assert_int_eq(qz_ledger__add_loss(l, "busy", 0), 0);
	ck_assert_int_eq(qz_ledger__add_loss(l, "full", 2), 0);
	ck_assert_int_eq(qz_ledger__add_event(l, "full", 50), 0);
	ck_assert_uint_eq(l->nlosses, 2);
	ck_assert_uint_eq(l->losses[0].count, 3);
	ck_assert_uint_eq(l->nevents, 1);
	ck_assert_uint_eq(qz_ledger__lost(l), 3);
	qz_ledger__close(l);
	ck_assert_int_eq(l->unaccounted, -1);
	for (int i = 2; i < QZ_MAX_CAUSES; i++) {
		snprintf(cause, sizeof(cause), "cause_%d", i);
		ck_assert_int_eq(qz_ledger__add_loss(l, cause, 1), 0);
	}
	ck_assert_int_eq(qz_ledger__add_loss(l, "one_more", 1), -E2BIG);
	qz_profile__free(p);
}
END_TEST

START_TEST(building_reports_lack_of_memory)
{
	struct qz_profile *whole = fixture__everything(), *p = NULL;

	for (unsigned int n = 1; !p; n++) {
		bool failed;

		failing__arm(n);
		p = fixture__everything();
		failed = failing__disarm();
		ck_assert_int_eq(failed, !p);
		if (failed)
			ck_assert_int_eq(errno, ENOMEM);
	}
	fixture__assert_equal(whole, p);
	qz_profile__free(whole);
	qz_profile__free(p);
}
END_TEST

/* ---- tables of fields ---- */

static const struct qz_field *const tables[] = {
	qz_run_fields,	  qz_cost_fields,   qz_ledger_fields, qz_instants_fields, qz_loss_fields,
	qz_scope_fields,  qz_thread_fields, qz_sample_fields, qz_wait_fields,	  qz_waking_fields,
	qz_object_fields, qz_call_fields,   qz_round_fields,
};

/* What adds up is read and written as 64 bits; of what is rare it must be known what 0 is. */
START_TEST(tables_ask_for_what_can_be_done)
{
	for (const struct qz_field *f = tables[_i]; f->name; f++) {
		bool wide = f->type == QZ_FIELD_U64;
		bool simple = wide || f->type == QZ_FIELD_BOOL || f->type == QZ_FIELD_TEXT ||
			      f->type == QZ_FIELD_LOSSES;

		ck_assert_msg(wide || !(f->uses & (QZ_SUMS | QZ_OF_ALL)), "%s", f->name);
		ck_assert_msg(simple || !(f->uses & QZ_RARE), "%s", f->name);
		ck_assert_msg(f->uses & QZ_LATER || !(f->uses & QZ_RARE), "%s", f->name);
		for (const struct qz_field *g = tables[_i]; g < f; g++)
			ck_assert_str_ne(f->name, g->name);
	}
}
END_TEST

/* Who only waits has no samples; who ran for long has lost them. */
START_TEST(time_without_samples_is_measured)
{
	static const struct {
		uint64_t level_ns[2];
		uint32_t rate_hz;
		uint64_t samples;
		bool measured;
	} cases[] = {
		{{2000000000, 0}, 999, 0, true},
		{{2000000000, 2000000}, 999, 0, true},
		{{0, 0}, 999, 0, false},
		{{2000000000, 500000000}, 999, 0, false},
		{{2000000000, 500000000}, 999, 1, true},
		{{2000000000, 500000000}, 0, 0, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f = fixture__new();
		uint32_t scope = fixture__scope(&f, cases[i].level_ns, 2);

		ck_assert_int_eq(f.err, 0);
		f.p->rate_hz = cases[i].rate_hz;
		f.p->scopes[scope].samples = cases[i].samples;
		ck_assert_msg(qz_scope__is_measured(f.p, scope) == cases[i].measured, "case %zu",
			      i);
		qz_profile__free(f.p);
	}
}
END_TEST

Suite *suite_profile(void)
{
	Suite *s = suite_create("profile");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, time_without_samples_is_measured);
	tcase_add_test(tc, locations_get_other_names);
	tcase_add_test(tc, equal_entities_get_one_index);
	tcase_add_test(tc, numbers_out_of_range_are_refused);
	tcase_add_test(tc, stacks_are_bounded);
	tcase_add_test(tc, many_entities_are_found_again);
	tcase_add_test(tc, samples_are_grouped);
	tcase_add_test(tc, unattributed_groups_go_and_the_others_are_still_found);
	tcase_add_test(tc, the_ledger_closes);
	tcase_add_test(tc, building_reports_lack_of_memory);
	tcase_add_loop_test(tc, tables_ask_for_what_can_be_done, 0,
			    sizeof(tables) / sizeof(*tables));
	suite_add_tcase(s, tc);
	return s;
}
