/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/report_json.h"
#include "core/report/ranking.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* The documents of scope 0 of the profile that has everything. */
static char *dump(const struct qz_profile *p, uint32_t max_rows)
{
	struct qz_report *r = qz_report__new(p, 0);
	char *text = qz_report_json__report((const struct qz_report *const[]) {r}, 1,
					    &(struct qz_json_rows) {.kinds = QZ_RANK_PROCEDURES,
								    .max = max_rows});

	qz_report__free(r);
	return text;
}

static json_int_t integer(const json_t *object, const char *key)
{
	ck_assert(json_is_integer(json_object_get(object, key)));
	return json_integer_value(json_object_get(object, key));
}

static const char *string(const json_t *object, const char *key)
{
	ck_assert(json_is_string(json_object_get(object, key)));
	return json_string_value(json_object_get(object, key));
}

static void assert_figure(const json_t *object, const struct qz_figure *f)
{
	ck_assert_int_eq(integer(object, "norm_ns"), (int64_t)f->norm_ns);
	ck_assert_int_eq(integer(object, "cpu_ns"), (int64_t)f->cpu_ns);
	ck_assert_int_eq(integer(object, "samples"), (int64_t)f->samples);
	ck_assert_int_eq(integer(object, "ci_ns"), (int64_t)f->ci_ns);
}

static void assert_row(const json_t *object, const struct qz_report *r, const struct qz_row *row)
{
	const struct qz_procedure *proc = &r->profile->procedures[row->procedure];
	const json_t *total = json_object_get(object, "total");
	const json_t *levels = json_object_get(total, "level_cpu_ns");

	ck_assert_str_eq(string(object, "kind"), "procedure");
	ck_assert_str_eq(string(object, "name"), proc->name);
	ck_assert_str_eq(string(object, "module"), proc->module);
	ck_assert_str_eq(string(object, "file"), proc->file);
	ck_assert_int_eq(integer(object, "line"), proc->line);
	assert_figure(json_object_get(object, "self"), &row->self);
	assert_figure(total, &row->total);
	ck_assert_uint_eq(json_array_size(levels), r->nlevels);
	for (uint32_t n = 0; n < r->nlevels; n++)
		ck_assert_int_eq(json_integer_value(json_array_get(levels, n)),
				 (int64_t)row->total.level_cpu_ns[n]);
}

START_TEST(the_document_says_what_the_report_says)
{
	struct qz_profile *p = fixture__everything();
	struct qz_report *r = qz_report__new(p, 0);
	char *text = dump(p, UINT32_MAX);
	json_t *document = json_loads(text, 0, NULL);
	const json_t *scope = json_array_get(json_object_get(document, "scopes"), 0);
	const json_t *rows = json_object_get(scope, "rows");

	ck_assert_str_eq(string(document, "schema"), "quartz.report/v1");
	ck_assert_int_eq(integer(document, "window_ns"), 12000);
	ck_assert_int_eq(integer(document, "processors"), 3);
	ck_assert_int_eq(integer(json_object_get(document, "ledger"), "unaccounted"), -1);
	ck_assert_str_eq(string(scope, "kind"), "job");
	ck_assert_int_eq(integer(scope, "pid"), 100);
	ck_assert_str_eq(string(scope, "comm"),
			 "app\xef\xbf\xbd"); /* it ended in half a character */
	ck_assert_int_eq(integer(scope, "elapsed_ns"), 9100);
	ck_assert_int_eq(integer(scope, "cpu_ns"), 20001);
	ck_assert_int_eq(integer(scope, "samples"), 60);
	ck_assert_int_eq(integer(scope, "serial_ns"), 2000);
	ck_assert_int_eq(integer(scope, "idle_ns"), 100);
	ck_assert_int_eq(integer(scope, "unattributed_ns"), (int64_t)r->unattributed_ns);
	ck_assert_int_eq(integer(json_object_get(scope, "lost"), "map_full"), 3);
	ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(scope, "level_ns"), 3)),
			 4000);
	ck_assert_uint_eq(json_array_size(rows), r->nrows);
	for (uint32_t i = 0; i < r->nrows; i++)
		assert_row(json_array_get(rows, i), r, &r->rows[i]);
	json_decref(document);
	free(text);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(threads_carry_their_states)
{
	struct qz_profile *p = fixture__everything();
	struct qz_report *r = qz_report__new(p, 0);
	char *text = dump(p, UINT32_MAX);
	json_t *document = json_loads(text, 0, NULL);
	const json_t *scope = json_array_get(json_object_get(document, "scopes"), 0);
	const json_t *threads = json_object_get(scope, "threads");
	const json_t *thread = json_array_get(threads, 0);

	ck_assert_uint_eq(json_array_size(threads), 1);
	ck_assert_int_eq(integer(thread, "tid"), 101);
	ck_assert_str_eq(string(thread, "comm"), "worker \x1b[1m");
	ck_assert_int_eq(integer(thread, "norm_ns"), (int64_t)r->threads[0].figure.norm_ns);
	ck_assert_int_eq(integer(thread, "cpu_ns"), 9000);
	ck_assert_int_eq(integer(thread, "running_ns"), 8000);
	ck_assert_int_eq(integer(thread, "ready_ns"), 500);
	ck_assert_int_eq(integer(thread, "blocked_ns"), 400);
	ck_assert_int_eq(integer(thread, "unknown_ns"), 200);
	json_decref(document);
	free(text);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(rows_can_be_limited)
{
	struct qz_profile *p = fixture__everything();
	char *text = dump(p, 1);
	json_t *document = json_loads(text, 0, NULL);
	const json_t *scope = json_array_get(json_object_get(document, "scopes"), 0);

	ck_assert_uint_eq(json_array_size(json_object_get(scope, "rows")), 1);
	ck_assert_int_eq(integer(scope, "rows_total"), 5);
	json_decref(document);
	free(text);
	qz_profile__free(p);
}
END_TEST

START_TEST(objects_are_ranked_with_procedures)
{
	struct qz_profile *p = fixture__everything();
	struct qz_report *r = qz_report__new(p, 1);
	char *text = qz_report_json__report((const struct qz_report *const[]) {r}, 1,
					    &(struct qz_json_rows) {.kinds = QZ_RANK_PROCEDURES |
									     QZ_RANK_OBJECTS,
								    .max = UINT32_MAX});
	json_t *document = json_loads(text, 0, NULL), *row;
	const json_t *scope = json_array_get(json_object_get(document, "scopes"), 0);
	const json_t *rows = json_object_get(scope, "rows");
	int64_t before = INT64_MAX;
	size_t i, objects = 0;

	ck_assert_uint_eq(json_array_size(rows), r->nrows + 1);
	json_array_foreach(rows, i, row)
	{
		bool object = !strcmp(string(row, "kind"), "object");
		int64_t norm = integer(object ? row : json_object_get(row, "total"), "norm_ns");

		objects += object;
		ck_assert_int_le(norm, before);
		before = norm;
		if (!object)
			continue;
		ck_assert_str_eq(string(row, "object_kind"), "pipe");
		ck_assert_str_eq(string(row, "name"), "pipe:[17]");
		ck_assert_int_eq(integer(row, "blocked_ns"), 1);
		ck_assert_int_gt(norm, 0);
	}
	ck_assert_uint_eq(objects, 1);
	ck_assert_int_eq(integer(scope, "blocked_ns"), 1);
	ck_assert_int_eq(integer(json_object_get(json_object_get(scope, "causes"), "futex"),
				 "blocked_ns"),
			 1);
	json_decref(document);
	free(text);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(documents_report_lack_of_memory)
{
	struct qz_profile *p = fixture__everything();
	struct qz_report *r = qz_report__new(p, 0);
	char *text = NULL;

	for (unsigned int n = 1; !text; n++) {
		bool failed;

		failing__arm(n);
		text = qz_report_json__report((const struct qz_report *const[]) {r}, 1,
					      &(struct qz_json_rows) {.kinds = ~0u,
								      .max = UINT32_MAX});
		failed = failing__disarm();
		ck_assert_int_eq(failed, !text);
		if (failed)
			ck_assert_int_eq(errno, ENOMEM);
	}
	ck_assert_int_eq(text[strlen(text) - 1], '\n');
	free(text);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

Suite *suite_json(void)
{
	Suite *s = suite_create("json");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, the_document_says_what_the_report_says);
	tcase_add_test(tc, threads_carry_their_states);
	tcase_add_test(tc, rows_can_be_limited);
	tcase_add_test(tc, objects_are_ranked_with_procedures);
	tcase_add_test(tc, documents_report_lack_of_memory);
	suite_add_tcase(s, tc);
	return s;
}
