/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of kernel code: what is in the table is found, wherever a read of it ends. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/kernel/kallsyms.h"
#include "tests/unit/suites.h"

#define TEXT	  0xffffffff81000000ull
#define MODULES	  0xffffffffc0000000ull
#define FUNCTIONS 3000 /* 120 KiB of lines */
#define SIZE	  0x40

static struct kallsyms *read_text(const char *text, int result)
{
	struct kallsyms *k = kallsyms__new();
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);

	ck_assert(k && fd >= 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(kallsyms__read_file(k, fd), result);
	close(fd);
	return k;
}

static void assert_at(struct kallsyms *k, uint64_t address, const char *name, uint64_t start)
{
	const char *found;
	uint64_t at = 0;

	found = kallsyms__find(k, address, &at);
	ck_assert_msg(found && !strcmp(found, name), "%s at %#lx, not %s", found ? found : "none",
		      address, name);
	ck_assert_uint_eq(at, start);
}

START_TEST(every_line_is_found)
{
	static char text[64 * (FUNCTIONS + 2)];
	struct kallsyms *k;
	size_t n = 0;

	for (uint64_t i = 0; i < FUNCTIONS; i++)
		n += (size_t)sprintf(text + n, "%016llx %c function_%lu_%.*s\n", TEXT + i * SIZE,
				     "tTwW"[i % 4], i, (int)(i % 17), "0123456789abcdef");
	k = read_text(text, 0);
	for (uint64_t i = 0; i < FUNCTIONS; i++) {
		char name[64];

		sprintf(name, "function_%lu_%.*s", i, (int)(i % 17), "0123456789abcdef");
		assert_at(k, TEXT + i * SIZE + i % SIZE, name, TEXT + i * SIZE);
	}
	kallsyms__free(k);
}
END_TEST

START_TEST(modules_are_in_any_order)
{
	struct kallsyms *k = read_text("0000000000000000 A fixed_percpu_data\n"
				       "ffffffff81000000 T first\n"
				       "ffffffff81000040 D variable\n"
				       "ffffffff81000080 t second\n"
				       "ffffffffc0000100 t of_module_b\t[b]\n"
				       "ffffffffc0000000 t of_module_a\t[a]\n"
				       "ffffffff80000000 t below_the_text\t[c]\n",
				       0);
	uint64_t start;

	assert_at(k, TEXT + 0x41, "first", TEXT);
	assert_at(k, TEXT + 0x80, "second", TEXT + 0x80);
	assert_at(k, MODULES + 1, "of_module_a", MODULES);
	assert_at(k, MODULES + 0x1ff, "of_module_b", MODULES + 0x100);
	assert_at(k, 0xffffffff80000010ull, "below_the_text", 0xffffffff80000000ull);
	ck_assert_ptr_null(kallsyms__find(k, 0x1000, &start));
	kallsyms__free(k);
}
END_TEST

static void collect(void *context, const char *name, uint64_t start, uint64_t end)
{
	ck_assert_uint_eq(start, TEXT + 0x80);
	ck_assert_uint_eq(end, TEXT + 0xc0);
	strcat(context, name);
	strcat(context, " ");
}

START_TEST(the_first_name_of_several_is_the_name)
{
	struct kallsyms *k = read_text("ffffffff81000000 T before\n"
				       "ffffffff81000080 t one\n"
				       "ffffffff81000080 t two\n"
				       "ffffffff81000080 W three\n"
				       "ffffffff810000c0 t after\n",
				       0);
	char names[64] = "";

	assert_at(k, TEXT + 0xbf, "one", TEXT + 0x80);
	kallsyms__names(k, TEXT + 0x90, collect, names);
	ck_assert_str_eq(names, "one two three ");
	kallsyms__free(k);
}
END_TEST

START_TEST(hidden_addresses_are_told)
{
	struct kallsyms *k = read_text("0000000000000000 T first\n"
				       "0000000000000000 t second\n",
				       -EPERM);

	kallsyms__free(k);
}
END_TEST

Suite *suite_kallsyms(void)
{
	Suite *suite = suite_create("kallsyms");
	TCase *c = tcase_create("read");

	tcase_add_test(c, every_line_is_found);
	tcase_add_test(c, modules_are_in_any_order);
	tcase_add_test(c, the_first_name_of_several_is_the_name);
	tcase_add_test(c, hidden_addresses_are_told);
	suite_add_tcase(suite, c);
	return suite;
}
