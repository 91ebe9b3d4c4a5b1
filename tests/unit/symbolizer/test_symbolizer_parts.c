/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the symbolizer that need no process: table, names, perf maps.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/util/name.h"
#include "symbolizer/names/perf_map.h"
#include "symbolizer/util/address_table.h"
#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

#define SPAN 64

/* What the table promises, said in the simplest way. */
static const struct procedure *look_up_slowly(const struct procedure *all, size_t n,
					      uint64_t address)
{
	const struct procedure *found = NULL;

	for (size_t i = 0; i < n; i++)
		if (address >= all[i].start && address < all[i].end &&
		    (!found || all[i].rank <= found->rank))
			found = &all[i];
	return found;
}

START_TEST(table_agrees_with_its_definition)
{
	srandom(2);
	for (int turn = 0; turn < 2000; turn++) {
		size_t n = (size_t)random() % 12;
		struct address_table *t = address_table__new();
		struct procedure all[12];

		for (size_t i = 0; i < n; i++) {
			uint64_t start = (uint64_t)random() % SPAN;

			all[i] = (struct procedure) {
				.start = start,
				.end = start + (uint64_t)random() % (SPAN - start + 1),
				.rank = (uint16_t)(random() % 3),
				.flags = (uint16_t)i,
			};
			ck_assert_int_eq(address_table__add(t, &all[i]), 0);
		}
		ck_assert_int_eq(address_table__build(t), 0);
		for (uint64_t at = 0; at <= SPAN; at++) {
			const struct procedure *expected = look_up_slowly(all, n, at);
			const struct procedure *found = address_table__find(t, at);

			ck_assert_int_eq(found != NULL, expected != NULL);
			if (expected)
				ck_assert_uint_eq(found->flags, expected->flags);
		}
		address_table__free(t);
	}
}
END_TEST

static const struct {
	const char *symbol, *name;
} names[] = {
	{"main", "main"},
	{"write@@GLIBC_2.2.5", "write"},
	{"memcpy@GLIBC_2.2.5", "memcpy"},
	{"@odd", "@odd"},
	{"_start", "_start"},
	{"_Z3foov", "foo()"},
	{"_ZN3Foo3barERKSs", "Foo::bar(std::string const&)"},
	{"_ZN9wikipedia7article6formatEv", "wikipedia::article::format()"},
	{"_ZNSt6vectorIiSaIiEE9push_backERKi",
	 "std::vector<int, std::allocator<int> >::push_back(int const&)"},
	{"_ZN1AC1Ev.cold", "A::A() [clone .cold]"},
	{"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const"},
	{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
	{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h9"
	 "30b740aa94f1d3aE",
	 "<Test + 'static as foo::Bar<Test>>::bar"},
	{"_RNvC6_123foo3bar", "123foo::bar"},
	{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
	{"_Zbroken", "_Zbroken"},
	{"_D1d__T1STiZQf9hotMethodMFmZv", "d.S!(int).S.hotMethod(ulong)"},
	{"_D3std5stdio__T7writelnTAyaZQnFNfQjZv",
	 "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])"},
	{"_Dbroken", "_Dbroken"},
	{"__heat_MOD_step", "heat::step"},
	{"__heat_MOD_step.constprop.0", "heat::step.constprop.0"},
	{"__HEAT_MOD_step", "__HEAT_MOD_step"},
	{"_MOD_", "_MOD_"},
	{"crypto_aes__init", "crypto_aes__init"},
	{"", ""},
};

START_TEST(demangles)
{
	struct name name;

	name__demangle(&name, names[_i].symbol);
	ck_assert_str_eq(name.text, names[_i].name);
	ck_assert_uint_eq(name.length, strlen(names[_i].name));
}
END_TEST

static const struct {
	const char *symbol, *name;
} ada_names[] = {
	{"ada_hot__inner_work.0", "ada_hot.inner_work"},
	{"_ada_ada_hot", "ada_hot"},
	{"containers___elabb", "containers'Elab_Body"},
	{"main", "main"},
	{"memcpy@@GLIBC_2.14", "memcpy"},
	{"_Z3foov", "foo()"},
	{"Not_Ada__Here", "Not_Ada__Here"},
};

START_TEST(demangles_ada)
{
	struct name name;

	name__demangle_ada(&name, ada_names[_i].symbol);
	ck_assert_str_eq(name.text, ada_names[_i].name);
	ck_assert_uint_eq(name.length, strlen(ada_names[_i].name));
}
END_TEST

/* Each reference of a symbol of D can double the name. */
START_TEST(leaves_symbols_of_d_that_explode)
{
	char symbol[128] = "_D1a";
	struct name name;

	for (int i = 0; i < 17; i++)
		strcat(symbol, "Qb");
	strcat(symbol, "FZv");
	name__demangle(&name, symbol);
	ck_assert_str_eq(name.text, symbol);
}
END_TEST

/* f<A, B<A, A>, B<B<A, A>, B<A, A> >, ...>: each argument is twice the one before. */
START_TEST(cuts_names_that_explode)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char start[] = "void f<A, B<A, A>, B<B<A, A>, B<A, A> >, ";
	char symbol[256] = "_Z1fI1A";
	struct name name;

	for (int i = 0; i < 16; i++)
		snprintf(symbol + strlen(symbol), 16, "1BIS%c_S%c_E", digits[2 * i], digits[2 * i]);
	strcat(symbol, "Evv");
	name__demangle(&name, symbol);
	ck_assert_uint_eq(name.length, NAME_MAX_LENGTH);
	ck_assert_uint_eq(strlen(name.text), NAME_MAX_LENGTH);
	ck_assert_int_eq(strncmp(name.text, start, strlen(start)), 0);
}
END_TEST

START_TEST(cuts_long_symbols)
{
	char *symbol = malloc(100001);
	struct name name;

	memset(symbol, 'x', 100000);
	symbol[100000] = '\0';
	name__demangle(&name, symbol);
	ck_assert_uint_eq(name.length, NAME_MAX_LENGTH);
	name__append(&name, "@plt", 4);
	ck_assert_uint_eq(strlen(name.text), NAME_MAX_LENGTH);
	free(symbol);
}
END_TEST

/* Texts of a perf map, and what is at address 0x1000 then. */
static const struct {
	const char *text, *name;
	int result;
} maps[] = {
	{"1000 10 name\n", "name", 0},
	{"0x1000 0x10 name with spaces\n", "name with spaces", 0},
	{"1000 10 old\n1000 10 new\n", "new", 0},
	{"1000 10 old\nff0 30 around\n", "around", 0},
	{"1000 10 whole\n2000 10 cut", "whole", 0},
	{"garbage\n\n1000 10 name\nzz 10 x\n1000 zz x\n1000 10\n1000\n 1000 10 x\n", "name", 0},
	{"ffffffffffffffff 10 wraps\n1000 10 name\n", "name", 0},
	{"00000000000001000 10 too-many-digits\n1000 10 name\n", "name", 0},
	{"1000 0 empty\n1000 10 name\n", "name", 0},
	{"2000 10 elsewhere\n", NULL, 0},
	{"1000 10 unfinished", NULL, -ENOEXEC},
	/* the tiers of one function */
	{"1000 10 JS:*work /srv/app.js:2:13\n", "JS:work /srv/app.js:2:13", 0},
	{"1000 10 JS:~work /srv/app.js:2:13\n", "JS:work /srv/app.js:2:13", 0},
	{"1000 10 JS:work /srv/app.js:2:13\n", "JS:work /srv/app.js:2:13", 0},
	{"1000 10 JS:*\n", "JS:", 0},
	{"1000 10 JS:\n", "JS:", 0},
	{"1000 10 *JS:work\n", "*JS:work", 0},
	{"", NULL, -ENOEXEC},
};

START_TEST(parses_perf_maps)
{
	int fd = util__memfd(maps[_i].text, strlen(maps[_i].text));
	const struct procedure *p;
	struct perf_map map;

	ck_assert_int_eq(perf_map__read(&map, fd), maps[_i].result);
	if (maps[_i].result == 0) {
		p = address_table__find(map.table, 0x1000);
		ck_assert_int_eq(p != NULL, maps[_i].name != NULL);
		if (p)
			ck_assert_str_eq(p->name, maps[_i].name);
	}
	perf_map__free(&map);
	close(fd);
}
END_TEST

Suite *suite_symbolizer_parts(void)
{
	Suite *suite = suite_create("symbolizer_parts");
	TCase *tcase = tcase_create("parts");

	tcase_add_test(tcase, table_agrees_with_its_definition);
	tcase_add_loop_test(tcase, demangles, 0, sizeof(names) / sizeof(names[0]));
	tcase_add_loop_test(tcase, demangles_ada, 0, sizeof(ada_names) / sizeof(ada_names[0]));
	tcase_add_test(tcase, leaves_symbols_of_d_that_explode);
	tcase_add_test(tcase, cuts_names_that_explode);
	tcase_add_test(tcase, cuts_long_symbols);
	tcase_add_loop_test(tcase, parses_perf_maps, 0, sizeof(maps) / sizeof(maps[0]));
	suite_add_tcase(suite, tcase);
	return suite;
}
