/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables as quartzd gets them from the symbolizer.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/cfi/cfi.h"
#include "tests/unit/symbolizer/cfi_image.h"
#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

#define REGIONS_MAX 256

START_TEST(is_the_table_that_was_built)
{
	struct elf_file *f = elf_file__open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
	struct symbolizer *s = util__symbolizer(false, false);
	struct symbolizer_table table;
	struct qz_unwind_row *rows;
	struct cfi_table built;
	uint32_t n;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(cfi__build(f, &built), 0);
	ck_assert_int_eq(symbolizer__unwind_table(s, util__add(s, "/proc/self/exe", NULL), &rows,
						  &n, &table),
			 0);
	for (uint32_t i = 0; i < n; i++)
		ck_assert(!(rows[i].kind & QZ_UNWIND_DERIVED));
	ck_assert_uint_eq(n, built.n);
	ck_assert_uint_gt(n * sizeof(*rows), PROTOCOL_MAX_MESSAGE);
	ck_assert_mem_eq(rows, built.rows, n * sizeof(*rows));
	ck_assert_mem_eq(&table.stats, &built.stats, sizeof(table.stats));
	ck_assert_uint_eq(table.base, built.base);
	ck_assert_uint_eq(table.nsegments, built.nsegments);
	free(rows);
	cfi__free(&built);
	elf_file__close(f);
	symbolizer__free(s);
}
END_TEST

/* Of code that nothing describes, and of no other: all that is between procedures and large enough for one. */
START_TEST(has_rows_of_what_is_asked_for)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int module = util__add(s, "/proc/self/exe", NULL);
	uint32_t n, nderived, gaps = 0, found = 0;
	struct qz_unwind_row *rows, *derived;
	struct symbolizer_table table;

	ck_assert_int_eq(symbolizer__unwind_table(s, module, &rows, &n, &table), 0);
	for (uint32_t i = 0; i + 1 < n; i++) {
		uint64_t from = table.base + rows[i].pc, to = table.base + rows[i + 1].pc;

		if (rows[i].kind != QZ_CFA_NONE || to - from < 16)
			continue;
		gaps++;
		if (symbolizer__derive(s, module, from, to, &derived, &nderived))
			continue;
		ck_assert_uint_ge(table.base + derived[0].pc, from);
		ck_assert_uint_le(table.base + derived[nderived - 1].pc, to);
		for (uint32_t k = 0; k + 1 < nderived; k++)
			found += QZ_UNWIND_CFA(derived[k].kind) == QZ_CFA_RSP;
		free(derived);
	}
	ck_assert_uint_gt(gaps, 0);
	ck_assert_uint_gt(found, 0);
	ck_assert_int_eq(symbolizer__derive(s, module, 0x1000, 0x1000, &derived, &nderived),
			 -EINVAL);
	ck_assert_int_eq(symbolizer__derive(s, module, 1UL << 40, 1UL << 41, &derived, &nderived),
			 -ENODATA);
	ck_assert_uint_eq(symbolizer__counters(s)->modules_refused, 0);
	free(rows);
	symbolizer__free(s);
}
END_TEST

struct search {
	uint64_t address, bias;
	bool found;
};

static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X &&
		    search->address < info->dlpi_addr + ph->p_vaddr + ph->p_memsz &&
		    search->address >= (info->dlpi_addr + ph->p_vaddr) / 4096 * 4096) {
			search->bias = info->dlpi_addr;
			search->found = true;
		}
	}
	return 0;
}

/* Every mapping of code that this process has, beside where the dynamic linker says that it is. */
START_TEST(knows_where_mappings_belong)
{
	struct symbolizer *s = util__symbolizer(false, false);
	struct stack_copies_region regions[REGIONS_MAX];
	size_t n = util__regions(s, getpid(), regions, REGIONS_MAX);

	ck_assert_uint_gt(n, 3);
	for (size_t i = 0; i < n; i++) {
		struct search search = {.address = regions[i].start};
		struct symbolizer_table table;
		struct qz_unwind_row *rows;
		uint64_t vaddr;
		uint32_t nrows;

		dl_iterate_phdr(find_object, &search);
		ck_assert(search.found);
		ck_assert_int_eq(
			symbolizer__unwind_table(s, regions[i].module, &rows, &nrows, &table), 0);
		free(rows);
		ck_assert(symbolizer_table__vaddr(&table, regions[i].offset, &vaddr));
		ck_assert_uint_eq(regions[i].start - vaddr, search.bias);
		ck_assert(!symbolizer_table__vaddr(&table, 1UL << 40, &vaddr));
	}
	symbolizer__free(s);
}
END_TEST

/* Nothing to unwind by is no reason not to name. */
START_TEST(is_apart_from_names)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int module = symbolizer__add_module(s, SYMBOLIZER_ELF, cfi_image__make(".eh_frame", "", 0),
					    -1, "/tmp/image");
	struct symbolizer_table table;
	struct qz_unwind_row *rows;
	const char *build_id;
	uint32_t n;

	ck_assert_int_eq(symbolizer__unwind_table(s, module, &rows, &n, &table), -ENODATA);
	ck_assert_int_eq(symbolizer__build_id(s, module, &build_id), 0);
	ck_assert_int_eq(symbolizer__unwind_table(s, module, &rows, &n, &table), -ENODATA);
	ck_assert_uint_eq(symbolizer__counters(s)->modules_refused, 0);
	symbolizer__free(s);
}
END_TEST

START_TEST(refuses_what_is_no_elf)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int module = symbolizer__add_module(s, SYMBOLIZER_ELF, util__memfd("no", 2), -1, "/tmp/no");
	struct symbolizer_table table;
	struct qz_unwind_row *rows;
	uint32_t n;

	for (int turn = 0; turn < 2; turn++)
		ck_assert_int_eq(symbolizer__unwind_table(s, module, &rows, &n, &table), -ENOEXEC);
	ck_assert_uint_eq(symbolizer__counters(s)->modules_refused, 1);
	ck_assert_int_eq(symbolizer__unwind_table(s, module + 1, &rows, &n, &table), -EINVAL);
	module = util__add(s, LIBC, NULL);
	symbolizer__remove_module(s, module);
	ck_assert_int_eq(symbolizer__unwind_table(s, module, &rows, &n, &table), -ENOENT);
	symbolizer__free(s);
}
END_TEST

Suite *suite_unwind_table(void)
{
	Suite *suite = suite_create("unwind_table");
	TCase *tcase = tcase_create("client");

	tcase_add_test(tcase, is_the_table_that_was_built);
	tcase_add_test(tcase, has_rows_of_what_is_asked_for);
	tcase_add_test(tcase, knows_where_mappings_belong);
	tcase_add_test(tcase, is_apart_from_names);
	tcase_add_test(tcase, refuses_what_is_no_elf);
	suite_add_tcase(suite, tcase);
	return suite;
}
