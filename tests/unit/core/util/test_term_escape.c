/* SPDX-License-Identifier: GPL-2.0-only */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/term_escape.h"
#include "tests/unit/suites.h"

static const struct {
	const char *raw, *escaped;
} table[] = {
	{"", ""},
	{"main", "main"},
	{"std::vector<int>::at(unsigned long)", "std::vector<int>::at(unsigned long)"},
	{"\x1b[31m", "\\x1b[31m"},
	{"a\nb\tc\r", "a\\x0ab\\x09c\\x0d"},
	{"\x01\x1f\x7f", "\\x01\\x1f\\x7f"},
	{"\xc2\x9b"
	 "1m",
	 "\\xc2\\x9b1m"},			    /* C1: control sequence introducer */
	{"\xc2\x80\xc2\xa0", "\\xc2\\x80\xc2\xa0"}, /* first C1, first after C1 */
	{"\xe2\x80\xae"
	 "cod",
	 "\\xe2\\x80\\xae"
	 "cod"},							/* right-to-left override */
	{"\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9"}, /* isolates */
	{"\xd8\x9c", "\\xd8\\x9c"},					/* Arabic letter mark */
	{"\xe2\x80\xa8", "\\xe2\\x80\\xa8"},				/* line separator */
	{"\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80"},
	{"\xff\xfe", "\\xff\\xfe"},
	{"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* surrogate */
	{"\xc0\xaf", "\\xc0\\xaf"},	     /* overlong slash */
	{"\xe2\x82", "\\xe2\\x82"},	     /* cut */
};

START_TEST(each_byte_is_printable)
{
	char out[128];

	ck_assert_uint_eq(qz_term_escape(out, sizeof(out), table[_i].raw),
			  strlen(table[_i].escaped));
	ck_assert_str_eq(out, table[_i].escaped);
}
END_TEST

/* Whatever the size, what is written is the longest sequence of whole pieces that fits. */
START_TEST(short_buffers_hold_whole_pieces)
{
	static const char raw[] = "a\x1b\xe2\x82\xac\xe2\x80\xae"
				  "b";
	static const size_t pieces[] = {0, 1, 5, 8, 20, 21}; /* where a piece ends */
	const size_t whole = 21;
	char full[64], out[64];

	ck_assert_uint_eq(qz_term_escape(full, sizeof(full), raw), whole);
	for (size_t size = 1; size <= whole + 1; size++) {
		size_t fits = 0;

		for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
			if (pieces[i] < size)
				fits = pieces[i];
		memset(out, '#', sizeof(out));
		ck_assert_uint_eq(qz_term_escape(out, size, raw), whole);
		ck_assert_uint_eq(strlen(out), fits);
		ck_assert_mem_eq(out, full, fits);
		ck_assert_int_eq(out[size], '#');
	}
}
END_TEST

START_TEST(size_0_only_measures)
{
	char out = '#';

	ck_assert_uint_eq(qz_term_escape(&out, 0, "x\x1b"), 5);
	ck_assert_uint_eq(qz_term_escape(NULL, 0, "x\x1b"), 5);
	ck_assert_int_eq(out, '#');
}
END_TEST

/* Every reader of JSON gets back what was written, and no byte of it can do anything to a terminal. */
START_TEST(json_means_what_it_meant)
{
	json_t *value = json_string(table[_i].raw), *read;
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

	if (!value) /* not a text that JSON can hold */
		return;
	ck_assert_ptr_nonnull(text);
	text = qz_term_escape__json(text);
	for (const char *c = text; *c; c++)
		ck_assert((unsigned char)*c >= 0x20 && *c != 0x7f);
	ck_assert_ptr_null(strstr(text, "\xc2\x9b"));
	ck_assert_ptr_null(strstr(text, "\xc2\x80"));
	ck_assert_ptr_null(strstr(text, "\xe2\x80"));
	ck_assert_ptr_null(strstr(text, "\xe2\x81"));
	ck_assert_ptr_null(strstr(text, "\xd8\x9c"));
	read = json_loads(text, JSON_DECODE_ANY, NULL);
	ck_assert_str_eq(json_string_value(read), table[_i].raw);
	json_decref(read);
	json_decref(value);
	free(text);
}
END_TEST

START_TEST(json_is_escaped_as_json_is)
{
	char *text = qz_term_escape__json(strdup("\"a\xc2\x9b\xe2\x80\xae\x7f\xc3\xa9\""));

	ck_assert_str_eq(text, "\"a\\u009b\\u202e\\u007f\xc3\xa9\"");
	free(text);
	text = qz_term_escape__json(strdup("{\n \"\xc3\xa9\": 1\n}\n"));
	ck_assert_str_eq(text, "{\n \"\xc3\xa9\": 1\n}\n");
	free(text);
}
END_TEST

Suite *suite_term_escape(void)
{
	Suite *s = suite_create("term_escape");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, each_byte_is_printable, 0, sizeof(table) / sizeof(*table));
	tcase_add_test(tc, short_buffers_hold_whole_pieces);
	tcase_add_test(tc, size_0_only_measures);
	tcase_add_loop_test(tc, json_means_what_it_meant, 0, sizeof(table) / sizeof(*table));
	tcase_add_test(tc, json_is_escaped_as_json_is);
	suite_add_tcase(s, tc);
	return s;
}
