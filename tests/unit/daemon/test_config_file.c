/* SPDX-License-Identifier: GPL-2.0-only */
/* The file of settings that is installed has each setting there is, as a comment, with the value that it has without it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/session/options.h"
#include "tests/unit/suites.h"

/* A file of the tree, to be freed. */
static char *contents(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	ck_assert_msg(file, "cannot open %s", path);
	ck_assert_int_gt(getdelim(&text, &size, 0, file), 0);
	fclose(file);
	return text;
}

static bool is_setting(const char *line)
{
	return line[0] == '#' && islower(line[1]) && strstr(line, " = ");
}

/* Into a file with `extra` below it what stands in comments; gives how often `name` does. */
static int uncomment(const char *path, const char *name)
{
	char *text = contents(TEST_TREE "/service/quartzd.conf"), *next = text, *line;
	FILE *out = fopen(path, "w");
	int n = 0;

	ck_assert_ptr_nonnull(out);
	while ((line = strsep(&next, "\n"))) {
		size_t length = strcspn(line + !!*line, " ");

		if (!is_setting(line))
			continue;
		fprintf(out, "%s\n", line + 1);
		n += length == strlen(name) && !strncmp(line + 1, name, length);
	}
	ck_assert_int_eq(fclose(out), 0);
	free(text);
	return n;
}

static void parse(struct options *options, const char *file)
{
	char option[64], error[512] = "";
	char *argv[] = {(char *)"quartzd", (char *)"--system", option, NULL};

	snprintf(option, sizeof(option), "--config=%s", file);
	ck_assert_msg(!options__parse(options, 3, argv, error, sizeof(error)), "%s", error);
}

static void same_value(const struct options *given, const struct options *without,
		       const struct qz_option *o)
{
	const void *a = (const char *)given + o->field, *b = (const char *)without + o->field;

	switch (o->kind) {
	case QZ_OPTION_FLAG:
		ck_assert_msg(*(const bool *)a == *(const bool *)b, "%s", o->name);
		break;
	case QZ_OPTION_STRING:
		ck_assert_str_eq(*(const char *const *)a, *(const char *const *)b);
		break;
	case QZ_OPTION_DURATION:
		ck_assert_msg(*(const uint64_t *)a == *(const uint64_t *)b, "%s", o->name);
		break;
	case QZ_OPTION_INTEGER:
	case QZ_OPTION_PERCENT: /* these that are nought or less stand for others, told below */
		ck_assert_msg(*(const int64_t *)b <= 0 ||
				      *(const int64_t *)a == *(const int64_t *)b,
			      "%s", o->name);
		break;
	default:
		ck_assert_str_eq(o->name, "spin-symbols");
	}
}

START_TEST(the_file_has_all_defaults)
{
	char path[] = "/tmp/quartz-settings-XXXXXX", entry[64];
	char *page = contents(TEST_TREE "/man/quartzd.conf.5.scd");
	struct options given, without;

	ck_assert_int_ge(mkstemp(path), 0);
	parse(&without, path);
	for (const char *const *name = config_file_names; *name; name++) {
		ck_assert_msg(uncomment(path, *name) == 1, "%s: not once", *name);
		snprintf(entry, sizeof(entry), "*%s*", *name);
		ck_assert_msg(strstr(page, entry), "%s: not in the man page", *name);
	}
	parse(&given, path);
	for (const char *const *name = config_file_names; *name; name++)
		for (const struct qz_option *o = options_table; o->name; o++)
			if (!strcmp(o->name, *name))
				same_value(&given, &without, o);
	ck_assert_uint_eq(options__rate(&given), options__rate(&without));
	ck_assert_uint_eq(options__processes(&given), options__processes(&without));
	ck_assert_uint_eq(options__max_overhead(&given), options__max_overhead(&without));
	ck_assert_uint_eq(options__page_rate(&given), options__page_rate(&without));
	options__free(&given);
	options__free(&without);
	unlink(path);
	free(page);
}
END_TEST

Suite *suite_config_file(void)
{
	Suite *suite = suite_create("config_file");
	TCase *defaults = tcase_create("defaults");

	tcase_add_test(defaults, the_file_has_all_defaults);
	suite_add_tcase(suite, defaults);
	return suite;
}
