/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs see of libquartz: its header, by itself, and its symbols, no others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suites.h"

#define MAX_SYMBOLS 64

/* ---- symbols ---- */

struct symbols {
	char name[MAX_SYMBOLS][64];
	int count;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The first word of each line that the command prints. */
static void list(const char *command, struct symbols *s)
{
	FILE *f = popen(command, "r");

	ck_assert_ptr_nonnull(f);
	while (s->count < MAX_SYMBOLS && fscanf(f, "%63s%*[^\n]", s->name[s->count]) == 1)
		s->count++;
	ck_assert_int_eq(pclose(f), 0);
	ck_assert_int_lt(s->count, MAX_SYMBOLS);
	qsort(s->name, s->count, sizeof(s->name[0]), by_name);
}

static void check_exports(const char *library, const char *map)
{
	struct symbols there = {.count = 0}, told = {.count = 0};
	char command[1024];

	snprintf(command, sizeof(command),
		 "nm -D -P --defined-only --without-symbol-versions %s/%s | grep -v ' A '",
		 TEST_BUILD, library);
	list(command, &there);
	snprintf(command, sizeof(command), "sed -n 's/^\t\\([a-z_]*\\);$/\\1/p' %s/userlib/%s",
		 TEST_SOURCE, map);
	list(command, &told);
	ck_assert_int_gt(told.count, 0);
	ck_assert_int_eq(there.count, told.count);
	for (int i = 0; i < told.count; i++)
		ck_assert_str_eq(there.name[i], told.name[i]);
}

START_TEST(libraries_export_what_their_maps_say)
{
	check_exports("libquartz.so", "libquartz.map");
}
END_TEST

START_TEST(only_the_c_library_is_needed)
{
	struct symbols needed = {.count = 0};

	list("readelf -d " TEST_BUILD "/libquartz.so | sed -n 's/.*NEEDED.*\\[\\(.*\\)\\]/\\1/p'",
	     &needed);
	for (int i = 0; i < needed.count; i++)
		ck_assert(!strcmp(needed.name[i], "libc.so.6") ||
			  !strncmp(needed.name[i], "ld-linux", 8));
}
END_TEST

/* ---- header ---- */

static const char *const compilers[] = {
	"cc -x c -std=c11 -Wpedantic",
	"cc -x c -std=gnu17",
	"clang -x c -std=c11 -Wpedantic",
	"c++ -x c++ -std=c++11 -Wpedantic",
	"c++ -x c++ -std=c++20",
	"clang -x c -std=gnu11 -DQUARTZ_DISABLE",
	"cc -x c -std=c11 -DQUARTZ_DISABLE",
	"c++ -x c++ -std=c++11 -DQUARTZ_DISABLE",
};

#define SOURCE                                                                                     \
	"printf '#include \"userlib/quartz.h\"\\n#include \"userlib/quartz.h\"\\n"                 \
	"int used(void);\\nint used(void) { QUARTZ_SCOPE(\"x\"); return 0; }\\n' |"

START_TEST(the_header_stands_by_itself)
{
	char command[1024];

	snprintf(command, sizeof(command), SOURCE "%s -I%s -Wall -Wextra -Werror -fsyntax-only -",
		 compilers[_i], TEST_SOURCE);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

/* Where the compiler instruments all that is in the program, `used` alone is. */
START_TEST(the_header_has_no_procedures)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "[ $(" SOURCE "%s -I%s -finstrument-functions -S -o - - |"
		 "grep -c 'call.*__cyg_profile_func_enter') = 1 ]",
		 compilers[_i], TEST_SOURCE);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

Suite *suite_library_interface(void)
{
	Suite *s = suite_create("library_interface");
	TCase *c = tcase_create("library_interface");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, libraries_export_what_their_maps_say);
	tcase_add_test(c, only_the_c_library_is_needed);
	tcase_add_loop_test(c, the_header_stands_by_itself, 0,
			    sizeof(compilers) / sizeof(compilers[0]));
	tcase_add_loop_test(c, the_header_has_no_procedures, 0,
			    sizeof(compilers) / sizeof(compilers[0]));
	suite_add_tcase(s, c);
	return s;
}
