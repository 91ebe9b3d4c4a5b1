/* SPDX-License-Identifier: GPL-2.0-only */
/* The document of the page: it is JSON, its tables are whole, it adds up to the report; and the page around it. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/estimate/estimate.h"
#include "core/html/html.h"
#include "core/html/html_file.h"
#include "core/html/html_nodes.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

static const struct qz_html_names no_names;

static json_t *document_of(const struct qz_report *const *reports, uint32_t n)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_error_t error;
	json_t *document;

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(qz_html__write(out, reports, n, &no_names), 0);
	ck_assert_int_eq(fclose(out), 0);
	document = json_loads(text, 0, &error);
	ck_assert_msg(document != NULL, "%s at %d", error.text, error.position);
	free(text);
	return document;
}

/* All columns of a table are as long. Gives how long. */
static size_t length_of(const json_t *table)
{
	size_t n = SIZE_MAX;
	const char *name;
	json_t *column;

	json_object_foreach((json_t *)table, name, column)
	{
		ck_assert_msg(json_is_array(column), "%s", name);
		ck_assert_msg(n == SIZE_MAX || json_array_size(column) == n, "%s", name);
		n = json_array_size(column);
	}
	ck_assert_uint_ne(n, SIZE_MAX);
	return n;
}

static json_int_t at(const json_t *table, const char *column, size_t i)
{
	return json_integer_value(json_array_get(json_object_get(table, column), i));
}

static uint64_t sum(const json_t *scope, const char *table, const char *column)
{
	const json_t *rows = json_object_get(scope, table);
	uint64_t all = 0;

	for (size_t i = 0; i < length_of(rows); i++)
		all += (uint64_t)at(rows, column, i);
	return all;
}

/* What a node calls follows it: the parent of each is the node before, or above that. */
static size_t check_nodes(const json_t *nodes)
{
	size_t n = length_of(nodes), *parents = calloc(n, sizeof(*parents));

	ck_assert_ptr_nonnull(parents);
	ck_assert_int_eq(at(nodes, "back", 0), 0);
	for (size_t i = 1; i < n; i++) {
		size_t above = i - 1;

		ck_assert_int_ge(at(nodes, "back", i), 1);
		parents[i] = i - (size_t)at(nodes, "back", i);
		while (above && above != parents[i])
			above = parents[above];
		ck_assert_uint_eq(above, parents[i]);
	}
	free(parents);
	return n;
}

/* Rows are in the order of their nodes, and all of their indices are of something. */
static void check_rows(const json_t *document, const json_t *scope, const char *name)
{
	const json_t *rows = json_object_get(scope, name);
	size_t nodes = length_of(json_object_get(document, "nodes")), n = length_of(rows);
	json_int_t threads = (json_int_t)length_of(json_object_get(scope, "threads")), node = 0;
	json_int_t objects = (json_int_t)json_array_size(json_object_get(scope, "objects"));

	for (size_t i = 0; i < n; i++) {
		ck_assert_int_ge(at(rows, "node_step", i), 0);
		node += at(rows, "node_step", i);
		ck_assert_int_lt(node, (json_int_t)nodes);
		ck_assert(at(rows, "thread", i) >= -1 && at(rows, "thread", i) < threads);
		ck_assert(at(rows, "object", i) >= -1 && at(rows, "object", i) < objects);
	}
}

START_TEST(document_adds_up_to_the_report)
{
	struct qz_profile *p = _i ? fixture__random((unsigned int)_i) : fixture__everything();

	for (uint32_t k = 0; k < p->nscopes; k++) {
		struct qz_report *r = qz_report__new(p, k);
		json_t *document = document_of((const struct qz_report *const[]) {r}, 1);
		json_t *scope = json_array_get(json_object_get(document, "scopes"), 0);

		check_nodes(json_object_get(document, "nodes"));
		length_of(json_object_get(document, "procedures"));
		check_rows(document, scope, "samples");
		check_rows(document, scope, "waits");
		check_rows(document, scope, "wakes");
		ck_assert_uint_eq(length_of(json_object_get(scope, "procedures")), r->nrows);
		ck_assert_uint_eq(length_of(json_object_get(scope, "threads")), r->nthreads);
		ck_assert_uint_eq(sum(scope, "samples", "norm_ns"), r->busy_ns);
		ck_assert_uint_eq(sum(scope, "waits", "blocked_ns"), r->waits.blocked_ns);
		ck_assert_uint_eq(sum(scope, "waits", "ready_ns"), r->waits.ready_ns);
		ck_assert_uint_eq(sum(scope, "waits", "waits"), r->waits.count);
		json_decref(document);
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

/* Two places of one procedure are one node; one place of two procedures, one of them inlined, is two. */
START_TEST(nodes_are_procedures)
{
	static const uint64_t level_ns[] = {0, 1000, 0};
	struct fixture f = fixture__new();
	bool *wanted;
	struct qz_html_nodes t;
	uint32_t leaf, other;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 11);
	leaf = fixture__stack(&f, "main outer+inner");
	other = fixture__stack(&f, "main outer");
	fixture__stack(&f, "main unwanted");
	ck_assert_int_eq(f.err, 0);
	wanted = calloc(f.p->nnodes, sizeof(*wanted));
	ck_assert_ptr_nonnull(wanted);
	wanted[leaf] = wanted[other] = true;
	ck_assert_int_eq(qz_html_nodes__build(&t, f.p, wanted), 0);
	ck_assert_uint_eq(t.n, 4);
	ck_assert_uint_eq(t.nodes[t.of[leaf]].procedure, fixture__procedure(f.p, "inner"));
	ck_assert_uint_eq(t.nodes[t.of[leaf]].parent, t.of[other]);
	ck_assert_uint_eq(t.nodes[t.of[other]].procedure, fixture__procedure(f.p, "outer"));
	ck_assert_uint_eq(t.of[fixture__stack(&f, "main unwanted")], QZ_NONE);
	qz_html_nodes__free(&t);
	free(wanted);
	qz_profile__free(f.p);
}
END_TEST

/* Every failure is told as one of memory, and leaves nothing behind. */
START_TEST(memory_may_be_short)
{
	struct qz_profile *p = fixture__everything();
	struct qz_report *r = qz_report__new(p, 0);
	FILE *out = fopen("/dev/null", "we");
	unsigned int n = 0;
	int err;

	ck_assert(r && out);
	do {
		failing__arm(++n);
		err = qz_html__write(out, (const struct qz_report *const[]) {r}, 1, &no_names);
		ck_assert_int_eq(err, failing__disarm() ? -ENOMEM : 0);
	} while (err);
	ck_assert_uint_gt(n, 50);
	fclose(out);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* ---- the page around it ---- */

static char *page_of(const char *document, size_t size)
{
	char *page;
	size_t n;
	FILE *out = open_memstream(&page, &n);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(qz_html_file__write(out, document, size), 0);
	ck_assert_int_eq(fclose(out), 0);
	return page;
}

static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found = strchr(digits, c);

	return found ? (int)(found - digits) : -1;
}

/* Of the text up to the next tag. Gives how many bytes. */
static size_t decode(const char *text, unsigned char *bytes)
{
	static const int shifts[] = {0, -1, 4, 2}; /* by how many of four digits were read */
	uint32_t word = 0;
	size_t n = 0, digits = 0;

	for (; *text != '<'; text++) {
		if (*text == '\n' || *text == '=')
			continue;
		ck_assert_int_ge(digit(*text), 0);
		word = word << 6 | (uint32_t)digit(*text);
		if (shifts[++digits % 4] >= 0)
			bytes[n++] = (unsigned char)(word >> shifts[digits % 4]);
	}
	return n;
}

/* Bytes are unpacked as they were, of each length modulo 3. */
START_TEST(page_has_the_document)
{
	char document[64 + 1], unpacked[128];
	unsigned char packed[512];
	char *page;
	const char *data;
	z_stream stream = {
		.next_in = packed, .next_out = (Bytef *)unpacked, .avail_out = sizeof(unpacked)};

	for (int i = 0; i < 64; i++)
		document[i] = (char)(i * 37 + _i);
	page = page_of(document, 60 + (size_t)_i % 4);
	ck_assert_int_eq(strncmp(page, QZ_HTML_MARK, strlen(QZ_HTML_MARK)), 0);
	ck_assert_ptr_null(strstr(page, "connect-src"));
	data = strstr(page, "<script id=\"data\"");
	ck_assert_ptr_nonnull(data);
	stream.avail_in = (uInt)decode(strchr(data, '>') + 1, packed);
	ck_assert_int_eq(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(stream.total_out, 60 + (size_t)_i % 4);
	ck_assert_mem_eq(unpacked, document, stream.total_out);
	inflateEnd(&stream);
	free(page);
}
END_TEST

START_TEST(page_without_a_document_may_ask_its_server)
{
	char *page = page_of(NULL, 0);

	ck_assert_ptr_nonnull(strstr(page, "connect-src 'self'; "));
	ck_assert_ptr_nonnull(strstr(page, "type=\"text/plain\"></script>"));
	ck_assert_ptr_null(strstr(page, "@connect@"));
	free(page);
}
END_TEST

Suite *suite_html(void)
{
	Suite *s = suite_create("html");
	TCase *tc = tcase_create("html");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, document_adds_up_to_the_report, 0, 20);
	tcase_add_test(tc, nodes_are_procedures);
	tcase_add_test(tc, memory_may_be_short);
	tcase_add_loop_test(tc, page_has_the_document, 0, 12);
	tcase_add_test(tc, page_without_a_document_may_ask_its_server);
	suite_add_tcase(s, tc);
	return s;
}
