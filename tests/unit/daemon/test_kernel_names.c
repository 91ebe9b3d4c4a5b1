/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of kernel code: what the kernel says of an address is read, and nothing else is taken for a name. */
#include <check.h>
#include <string.h>

#include "daemon/kernel/kernel_names.h"
#include "tests/unit/suites.h"

#define ADDRESS 0xffffffff81000123ull

static const struct said {
	const char *text, *name; /* NULL: no name */
	uint64_t start, end;
} said[] = {
	{"schedule+0x23/0xa0", "schedule", 0xffffffff81000100ull, 0xffffffff810001a0ull},
	{"schedule+0x0/0xa0", "schedule", ADDRESS, ADDRESS + 0xa0},
	{"ext4_iget+0x123/0x1000 [ext4]", "ext4_iget", 0xffffffff81000000ull,
	 0xffffffff81001000ull},
	{"bpf_prog_6deef7357e7b4530_x+0x3/0x20 [bpf]", "bpf_prog_6deef7357e7b4530_x",
	 0xffffffff81000120ull, 0xffffffff81000140ull},
	{"a+b+0x3/0x20", "a+b", 0xffffffff81000120ull, 0xffffffff81000140ull},
	{"schedule.isra.0+0x3/0x0", "schedule.isra.0", 0xffffffff81000120ull,
	 0xffffffff81000120ull},
	{"0xffffffff81000123", NULL, 0, 0}, /* the kernel has none */
	{"", NULL, 0, 0},
	{"+0x3/0x20", NULL, 0, 0},
	{"schedule", NULL, 0, 0},
	{"schedule+0x23", NULL, 0, 0}, /* cut */
	{"schedule+0x23/0x", NULL, 0, 0},
	{"schedule+0x/0xa0", NULL, 0, 0},
	{"schedule+23/a0", NULL, 0, 0},
	{"schedule+0x23/0xa0!", NULL, 0, 0},
	{"schedule+0xffffffff81000124/0xa0", NULL, 0,
	 0}, /* it would begin before the first address */
	{"schedule+0x23/0xffffffff00000000", NULL, 0, 0}, /* and end behind the last one */
};

START_TEST(what_the_kernel_says_is_read)
{
	const struct said *s = &said[_i];
	struct kernel_code code = {0};
	char text[128];

	strcpy(text, s->text);
	ck_assert_msg(kernel_names__read(text, ADDRESS, &code) == !!s->name, "%s", s->text);
	if (!s->name)
		return;
	ck_assert_str_eq(code.name, s->name);
	ck_assert_uint_eq(code.start, s->start);
	ck_assert_uint_eq(code.end, s->end);
}
END_TEST

Suite *suite_kernel_names(void)
{
	Suite *suite = suite_create("kernel_names");
	TCase *c = tcase_create("read");

	tcase_add_loop_test(c, what_the_kernel_says_is_read, 0,
			    (int)(sizeof(said) / sizeof(said[0])));
	suite_add_tcase(suite, c);
	return suite;
}
