/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of variables and of their members, of real files built in several ways.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

/* What nm(1) prints of a fixture, with demangled names; kept, since tests ask for one variable after the other. */
static char *symbols_of(const char *fixture)
{
	static char text[1 << 17], of[64];
	char command[4200];
	size_t n;
	FILE *nm;

	if (!strcmp(of, fixture))
		return text;
	snprintf(of, sizeof(of), "%s", fixture);
	snprintf(command, sizeof(command), "nm -C -S %s", util__fixture(fixture));
	nm = popen(command, "r");
	ck_assert_ptr_nonnull(nm);
	n = fread(text, 1, sizeof(text) - 1, nm);
	ck_assert_uint_lt(n, sizeof(text) - 1);
	text[n] = '\0';
	ck_assert_int_eq(pclose(nm), 0);
	return text;
}

/* The address of a variable. */
static uint64_t address_of(const char *fixture, const char *variable)
{
	uint64_t address, size, found = 0;
	char name[256], type;

	for (const char *line = symbols_of(fixture); *line; line += strcspn(line, "\n") + 1)
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %255s", &address, &size, &type,
			   name) == 4 &&
		    strcmp(name, variable) == 0)
			found = address;
	ck_assert_msg(found, "nm does not know %s", variable);
	return found;
}

/* Adds a fixture, and gives the address and file offset of its main. */
static int add(struct symbolizer *s, const char *fixture, const char *debug,
	       struct util_symbol *code)
{
	char path[4096];
	struct util_symbol *all;
	size_t n;

	all = util__nm(util__fixture(strstr(fixture, "cc") ? fixture : "variables_c"), false, &n);
	*code = *util__find(all, n, "main");
	free(all);
	if (!strcmp(fixture, "variables_clang") || !strcmp(fixture, "variables_nopie")) {
		all = util__nm(util__fixture(fixture), false, &n);
		*code = *util__find(all, n, "main");
		free(all);
	}
	snprintf(path, sizeof(path), "%s", util__fixture(fixture));
	return util__add(s, path, debug ? util__fixture(debug) : NULL);
}

static const struct {
	const char *variable;
	uint64_t offset;
	uint32_t beyond;
	const char *described, *plain; /* names with DWARF and without */
} members[] = {
	{"plain_lock", 0, 0, "plain_lock", "plain_lock"},
	{"local_semaphore", 0, 0, "local_semaphore", "local_semaphore"},
	{"locks", 17 * 48 + 8, 0, "locks[17].m", "locks+0x338"},
	{"locks", 0, 0, "locks[0].count", "locks"},
	{"locks", 31 * 48 + 3, 0, "locks[31].count+0x3", "locks+0x5d3"},
	{"pool", 24, 0, "pool.unnamed_before", "pool+0x18"},
	{"pool", 32, 0, "pool.queue_lock", "pool+0x20"},
	{"pool", 72 + 8, 0, "pool.padded.inner.m", "pool+0x50"},
	{"pool", 72 + 100, 0, "pool.padded.padding[100]", "pool+0xac"},
	{"pool", 328 + 0x28, 0x28, "pool.ready", "pool+0x148"},
	{"pool", 388, 0, "pool.word", "pool+0x184"},
	{"pool", 392 + 9 * 48 + 8, 0, "pool.table[2][1].m", "pool+0x340"},
	{"conditions", 48 + 0x2c, 0x2c, "conditions[1]", "conditions+0x30"},
	{"numbers", 12, 0, "numbers[3]", "numbers+0xc"},
};

static void check_name(struct symbolizer *s, int module, const struct util_symbol *code,
		       uint64_t address, uint32_t beyond, const char *expected)
{
	struct symbolizer_variable v;

	ck_assert_int_eq(symbolizer__variable(s, module, code->offset,
					      (int64_t)(address - code->vaddr), beyond, &v),
			 0);
	ck_assert_str_eq(v.name, expected);
}

static void check_members(const char *fixture, const char *layout, const char *debug, bool lines,
			  bool described)
{
	struct symbolizer *s = util__symbolizer(lines, false);
	struct util_symbol code;
	int module = add(s, fixture, debug, &code);

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		check_name(s, module, &code,
			   address_of(layout, members[i].variable) + members[i].offset,
			   members[i].beyond, described ? members[i].described : members[i].plain);
	symbolizer__free(s);
}

static const char *const compilers[] = {"variables_c", "variables_clang", "variables_nopie"};

START_TEST(names_members)
{
	check_members(compilers[_i], compilers[_i], NULL, false, true);
	check_members(compilers[_i], compilers[_i], NULL, true, true);
}
END_TEST

START_TEST(names_members_by_a_debug_file)
{
	check_members("variables_stripped", "variables_c", "variables_debug", false, true);
	check_members("variables_stripped", "variables_c", "variables_debug", true, true);
}
END_TEST

START_TEST(names_symbols_without_dwarf)
{
	check_members("variables_nodebug", "variables_c", NULL, false, false);
}
END_TEST

START_TEST(names_members_of_classes)
{
	static const char fixture[] = "variables_cc";
	struct symbolizer *s = util__symbolizer(false, false);
	struct util_symbol code;
	int module = add(s, fixture, NULL, &code);
	uint64_t jobs = address_of(fixture, "app::jobs");

	check_name(s, module, &code, address_of(fixture, "app::queue::shared"), 0,
		   "app::queue::shared");
	check_name(s, module, &code, jobs + 8, 0, "app::jobs.guard");
	check_name(s, module, &code, jobs + 48 + 0x28, 0x28, "app::jobs.filled");
	check_name(s, module, &code, jobs + 96 + 2 * 40, 0, "app::jobs.stripes[2]");
	symbolizer__free(s);
}
END_TEST

START_TEST(names_variables_of_procedures)
{
	static const char *const symbols[] = {"lock.0", "first_lock.lock"};
	static const char *const names[] = {"lock", "first_lock.lock"};
	struct symbolizer *s = util__symbolizer(false, false);
	struct util_symbol code;
	int module = add(s, compilers[_i], NULL, &code);

	check_name(s, module, &code, address_of(compilers[_i], symbols[_i]), 0, names[_i]);
	symbolizer__free(s);
}
END_TEST

/* The addresses of both variables of that name. */
static void find_namesakes(const char *fixture, uint64_t found[2])
{
	char command[4200];
	FILE *nm;

	snprintf(command, sizeof(command), "nm %s | sed -n 's/ b namesake$//p'",
		 util__fixture(fixture));
	nm = popen(command, "r");
	ck_assert_ptr_nonnull(nm);
	ck_assert_int_eq(fscanf(nm, "%" SCNx64 " %" SCNx64, &found[0], &found[1]), 2);
	ck_assert_int_eq(pclose(nm), 0);
}

static void read_name(struct symbolizer *s, int module, const struct util_symbol *code,
		      uint64_t address, char name[64])
{
	struct symbolizer_variable v;

	ck_assert_int_eq(symbolizer__variable(s, module, code->offset,
					      (int64_t)(address - code->vaddr), 0, &v),
			 0);
	snprintf(name, 64, "%s", v.name);
}

START_TEST(tells_namesakes_apart)
{
	static const char *const fixtures[] = {"variables_c", "variables_nodebug"};
	struct symbolizer *s = util__symbolizer(false, false);
	struct util_symbol code;
	int module = add(s, fixtures[_i], NULL, &code);
	char names[2][64], expected[64];
	uint64_t found[2];

	find_namesakes(fixtures[_i], found);
	for (int i = 0; i < 2; i++) {
		read_name(s, module, &code, found[i], names[i]);
		snprintf(expected, sizeof(expected), "namesake (0x%" PRIx64 ")", found[i]);
		if (_i == 1)
			ck_assert_str_eq(names[i], expected);
	}
	if (_i == 0) {
		bool first = !strcmp(names[0], "namesake (variables_fixture.c)");

		ck_assert_str_eq(names[first ? 0 : 1], "namesake (variables_fixture.c)");
		ck_assert_str_eq(names[first ? 1 : 0], "namesake (variables_namesake.c)");
	}
	symbolizer__free(s);
}
END_TEST

/* Of the heap behind the program, of its code, of a stripped file: no name, and where it lies. */
START_TEST(knows_what_is_not_a_variable)
{
	struct symbolizer *s = util__symbolizer(false, false);
	struct symbolizer_variable v;
	struct util_symbol code;
	int module = add(s, "variables_stripped", NULL, &code);
	uint64_t last = address_of("variables_c", "local_semaphore") + 0x20, found[2];

	find_namesakes("variables_c", found);
	for (int i = 0; i < 2; i++)
		if (found[i] + sizeof(pthread_mutex_t) > last)
			last = found[i] + sizeof(pthread_mutex_t);
	check_name(s, module, &code, address_of("variables_c", "pool"), 0, "");
	symbolizer__free(s);
	s = util__symbolizer(false, false);
	module = add(s, "variables_c", NULL, &code);
	check_name(s, module, &code, code.vaddr, 0, "");
	check_name(s, module, &code, last + 0x100000, 0, "");
	ck_assert_int_eq(symbolizer__variable(s, module, code.offset, 0, 0, &v), 0);
	ck_assert_int_eq(v.low, -(int64_t)code.vaddr);
	ck_assert_int_eq(v.high, (int64_t)(last - code.vaddr));
	ck_assert_int_eq(symbolizer__variable(s, module, UINT64_MAX, 0, 0, &v), -ENODATA);
	check_name(s, module, &code, address_of("variables_c", "plain_lock"), 0, "plain_lock");
	symbolizer__free(s);
}
END_TEST

/* The child may be killed over a file; it must not come back with anything but names and errors. */
START_TEST(survives_damaged_dwarf)
{
	struct symbolizer *s = util__symbolizer(_i, false);
	struct util_symbol code;
	uint8_t *bytes, *damaged;
	uint64_t pool = address_of("variables_c", "pool");
	FILE *file = fopen(util__fixture("variables_c"), "re");
	long size;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	bytes = malloc((size_t)size);
	damaged = malloc((size_t)size);
	rewind(file);
	ck_assert_int_eq(fread(bytes, 1, (size_t)size, file), size);
	fclose(file);
	add(s, "variables_c", NULL, &code);
	srandom(5);
	for (int turn = 0; turn < 200; turn++) {
		struct symbolizer_variable v;
		int module, err;

		memcpy(damaged, bytes, (size_t)size);
		for (int i = 0; i < 200; i++) /* behind all that is loaded: DWARF and symbols */
			damaged[0x3040 + (size_t)random() % (size_t)(size - 0x3040)] =
				(uint8_t)random();
		module = symbolizer__add_module(s, SYMBOLIZER_ELF,
						util__memfd(damaged, (size_t)size), -1, "damaged");
		for (uint64_t at = 0; at < 968; at += 60) {
			err = symbolizer__variable(s, module, code.offset,
						   (int64_t)(pool + at - code.vaddr), 0, &v);
			ck_assert(err == 0 || err == -ENODATA || err == -ENOEXEC || err == -ETIME);
		}
		symbolizer__remove_module(s, module);
	}
	free(bytes);
	free(damaged);
	symbolizer__free(s);
}
END_TEST

Suite *suite_data_symbols(void)
{
	Suite *suite = suite_create("data_symbols");
	TCase *tcase = tcase_create("names");

	tcase_add_loop_test(tcase, names_members, 0, 3);
	tcase_add_test(tcase, names_members_by_a_debug_file);
	tcase_add_test(tcase, names_symbols_without_dwarf);
	tcase_add_test(tcase, names_members_of_classes);
	tcase_add_loop_test(tcase, names_variables_of_procedures, 0, 2);
	tcase_add_loop_test(tcase, tells_namesakes_apart, 0, 2);
	tcase_add_test(tcase, knows_what_is_not_a_variable);
	tcase_add_loop_test(tcase, survives_damaged_dwarf, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}
