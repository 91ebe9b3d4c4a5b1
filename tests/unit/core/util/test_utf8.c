/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "core/util/utf8.h"
#include "tests/unit/failing.h"
#include "tests/unit/suites.h"

START_TEST(decode_knows_all_lengths)
{
	static const struct {
		const char *s;
		uint32_t code;
	} valid[] = {
		{"\x7f", 0x7f},
		{"\xc2\x80", 0x80},
		{"\xdf\xbf", 0x7ff},
		{"\xe0\xa0\x80", 0x800},
		{"\xed\x9f\xbf", 0xd7ff},
		{"\xee\x80\x80", 0xe000},
		{"\xef\xbf\xbf", 0xffff},
		{"\xf0\x90\x80\x80", 0x10000},
		{"\xf4\x8f\xbf\xbf", 0x10ffff},
	};
	uint32_t code;

	for (size_t i = 0; i < sizeof(valid) / sizeof(*valid); i++) {
		ck_assert_uint_eq(qz_utf8__decode(valid[i].s, &code), strlen(valid[i].s));
		ck_assert_uint_eq(code, valid[i].code);
	}
}
END_TEST

START_TEST(decode_refuses_what_is_not_a_character)
{
	static const char *const invalid[] = {
		"\x80",		    /* a continuation alone */
		"\xc3",		    /* cut after 1 of 2 */
		"\xe2\x82",	    /* cut after 2 of 3 */
		"\xf0\x9f\x98",	    /* cut after 3 of 4 */
		"\xc1\xbf",	    /* overlong */
		"\xe0\x9f\xbf",	    /* overlong */
		"\xf0\x8f\xbf\xbf", /* overlong */
		"\xed\xa0\x80",	    /* surrogate */
		"\xed\xbf\xbf",	    /* surrogate */
		"\xf4\x90\x80\x80", /* beyond U+10FFFF */
		"\xf8\x88\x80\x80", /* five bytes */
		"\xff",
	};
	uint32_t code;

	for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++)
		ck_assert_uint_eq(qz_utf8__decode(invalid[i], &code), 0);
}
END_TEST

START_TEST(replace_keeps_characters)
{
	char *s = qz_utf8__replace("na\xc3\xafve\xff \xe2\x82");

	ck_assert_str_eq(s, "na\xc3\xafve\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd");
	free(s);
}
END_TEST

static void assert_restored(const char *original)
{
	char *s = qz_utf8__store(original);
	uint32_t code;

	ck_assert_int_eq(qz_utf8__stays(original), !strcmp(s, original));
	for (const char *c = s; *c; c += qz_utf8__decode(c, &code))
		ck_assert_uint_ne(qz_utf8__decode(c, &code), 0);
	qz_utf8__restore(s);
	ck_assert_str_eq(s, original);
	free(s);
}

START_TEST(store_and_restore_any_bytes)
{
	unsigned int seed = 1;
	char text[32];

	assert_restored("");
	assert_restored("plain \xe2\x82\xac");
	assert_restored("\xf4\x8f\xbf\xbf"); /* reads like a stored 0xff */
	assert_restored("\xf4\x8f\xbd\x80"); /* U+10FF40, which is none */
	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i + 1 < sizeof(text); i++)
			text[i] = (char)(1 + rand_r(&seed) % 255);
		text[sizeof(text) - 1] = '\0';
		assert_restored(text);
	}
}
END_TEST

START_TEST(copies_report_lack_of_memory)
{
	failing__arm(1);
	ck_assert_ptr_null(qz_utf8__store("x"));
	failing__arm(1);
	ck_assert_ptr_null(qz_utf8__replace("x"));
	ck_assert(failing__disarm());
}
END_TEST

Suite *suite_utf8(void)
{
	Suite *s = suite_create("utf8");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, decode_knows_all_lengths);
	tcase_add_test(tc, decode_refuses_what_is_not_a_character);
	tcase_add_test(tc, replace_keeps_characters);
	tcase_add_test(tc, store_and_restore_any_bytes);
	tcase_add_test(tc, copies_report_lack_of_memory);
	suite_add_tcase(s, tc);
	return s;
}
