/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that lie. Each is refused or read as far as it makes sense, in little memory, and the
 * symbolizer goes on with the next one.
 */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

#define MEMORY_MAX_KB (64 << 10)

/* A fixture in memory, to be damaged. */
struct image {
	uint8_t *bytes;
	size_t size;
	Elf64_Ehdr *eh;
	Elf64_Shdr *sections;
};

static void read_image(struct image *image, const char *fixture)
{
	int fd = open(util__fixture(fixture), O_RDONLY | O_CLOEXEC);
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	image->size = (size_t)st.st_size;
	image->bytes = malloc(image->size);
	ck_assert_int_eq(read(fd, image->bytes, image->size), st.st_size);
	close(fd);
	image->eh = (Elf64_Ehdr *)image->bytes;
	image->sections = (Elf64_Shdr *)(image->bytes + image->eh->e_shoff);
}

static Elf64_Shdr *section_of_type(const struct image *image, uint32_t type)
{
	for (int i = 0; i < image->eh->e_shnum; i++)
		if (image->sections[i].sh_type == type)
			return &image->sections[i];
	ck_abort_msg("the fixture has no section of type %u", type);
	return NULL;
}

static int load(struct symbolizer *s, int fd)
{
	int module = symbolizer__add_module(s, SYMBOLIZER_ELF, fd, -1, "/tmp/hostile");
	const char *build_id;
	int err = symbolizer__build_id(s, module, &build_id);

	if (!err) {
		struct symbolizer_answer answers[64];
		uint64_t addresses[64];

		for (size_t i = 0; i < 64; i++)
			addresses[i] = 0x1000 + i * 16;
		err = symbolizer__resolve(s, module, addresses, 64, answers);
	}
	symbolizer__remove_module(s, module);
	return err;
}

/* The one child is still there, small, and names other files. */
static void check_survived(struct symbolizer *s)
{
	ck_assert_int_eq(load(s, open(util__fixture("O2"), O_RDONLY | O_CLOEXEC)), 0);
	ck_assert_uint_eq(symbolizer__counters(s)->started, 1);
	ck_assert_int_lt(util__child_peak_kb(), MEMORY_MAX_KB);
	symbolizer__free(s);
}

/* Up to the end of what is loaded into memory: what is behind is sections alone. */
static size_t loaded_size(const struct image *image)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(image->bytes + image->eh->e_phoff);
	size_t end = 0;

	for (int i = 0; i < image->eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_offset + ph[i].p_filesz > end)
			end = ph[i].p_offset + ph[i].p_filesz;
	return end;
}

START_TEST(refuses_files_that_are_cut)
{
	struct symbolizer *s = util__symbolizer(true, true);
	struct image image;

	read_image(&image, "O2");
	for (size_t size = 0; size < image.size; size += image.size / 211)
		ck_assert_int_eq(load(s, util__memfd(image.bytes, size)),
				 size < loaded_size(&image) ? -ENOEXEC : 0);
	ck_assert_int_eq(load(s, util__memfd(image.bytes, loaded_size(&image) - 1)), -ENOEXEC);
	ck_assert_int_eq(load(s, util__memfd(image.bytes, image.size - 1)), 0);
	ck_assert_int_eq(load(s, util__memfd(image.bytes, image.size)), 0);
	free(image.bytes);
	check_survived(s);
}
END_TEST

/* Each claims more than can be. */
static void claim_sparse(struct image *image)
{
	section_of_type(image, SHT_SYMTAB)->sh_size = 960UL << 20;
}

static void claim_symbols(struct image *image)
{
	section_of_type(image, SHT_SYMTAB)->sh_size = (1UL << 32) * sizeof(Elf64_Sym);
}

static void claim_most_symbols(struct image *image)
{
	section_of_type(image, SHT_SYMTAB)->sh_size = UINT64_MAX;
}

static void claim_offset(struct image *image)
{
	section_of_type(image, SHT_DYNSYM)->sh_offset = UINT64_MAX - 8;
}

static void claim_overlap(struct image *image)
{
	for (int i = 1; i < image->eh->e_shnum; i++) {
		image->sections[i].sh_offset = 0;
		image->sections[i].sh_size = image->size;
	}
}

static void claim_section_table(struct image *image)
{
	image->eh->e_shoff = UINT64_MAX - 64;
}

static void claim_sections(struct image *image)
{
	image->eh->e_shnum = 0;
	image->sections[0].sh_size = UINT32_MAX;
}

static void claim_segments(struct image *image)
{
	image->eh->e_phnum = PN_XNUM;
	image->sections[0].sh_info = UINT32_MAX;
}

static void claim_other_machine(struct image *image)
{
	image->eh->e_machine = EM_386;
}

static void claim_class(struct image *image)
{
	image->eh->e_ident[EI_CLASS] = ELFCLASS32;
}

static void (*const claims[])(struct image *) = {
	claim_segments,
	claim_other_machine,
	claim_class,
};

START_TEST(refuses_impossible_claims)
{
	struct symbolizer *s = util__symbolizer(true, true);
	struct image image;
	int fd;

	read_image(&image, "O2");
	claims[_i](&image);
	fd = util__memfd(image.bytes, image.size);
	ck_assert_int_eq(load(s, fd), claims[_i] == claim_class ? -ENOTSUP : -ENOEXEC);
	free(image.bytes);
	check_survived(s);
}
END_TEST

static void claim_entry_size(struct image *image)
{
	image->eh->e_shentsize = 40;
}

static void (*const section_claims[])(struct image *) = {
	claim_sparse,  claim_symbols,	    claim_most_symbols, claim_offset,
	claim_overlap, claim_section_table, claim_sections,	claim_entry_size,
};

/* Its sections are not needed to run it: its segments show its code. */
START_TEST(reads_without_sections_that_cannot_be)
{
	struct symbolizer *s = util__symbolizer(true, true);
	struct symbolizer_table layout;
	struct qz_unwind_row *rows;
	struct image image;
	uint32_t n = 0;
	int fd, module;

	read_image(&image, "O2");
	section_claims[_i](&image);
	fd = util__memfd(image.bytes, image.size);
	if (section_claims[_i] == claim_sparse)
		ck_assert_int_eq(ftruncate(fd, 1L << 30), 0);
	module = symbolizer__add_module(s, SYMBOLIZER_ELF, dup(fd), -1, "/tmp/hostile");
	ck_assert_int_eq(symbolizer__unwind_table(s, module, &rows, &n, &layout), 0);
	ck_assert_uint_gt(n, 10);
	free(rows);
	symbolizer__remove_module(s, module);
	ck_assert_int_eq(load(s, fd), 0);
	free(image.bytes);
	check_survived(s);
}
END_TEST

static void break_names(struct image *image)
{
	const Elf64_Shdr *sh = section_of_type(image, SHT_SYMTAB);
	Elf64_Sym *symbols = (Elf64_Sym *)(image->bytes + sh->sh_offset);

	for (size_t i = 0; i < sh->sh_size / sizeof(*symbols); i++)
		symbols[i].st_name = UINT32_MAX - (uint32_t)i;
}

static void break_strings(struct image *image)
{
	const Elf64_Shdr *sh = section_of_type(image, SHT_SYMTAB);
	const Elf64_Shdr *strings = &image->sections[sh->sh_link];

	memset(image->bytes + strings->sh_offset, 'x', strings->sh_size);
}

static void break_sizes(struct image *image)
{
	const Elf64_Shdr *sh = section_of_type(image, SHT_SYMTAB);
	Elf64_Sym *symbols = (Elf64_Sym *)(image->bytes + sh->sh_offset);

	for (size_t i = 0; i < sh->sh_size / sizeof(*symbols); i++)
		symbols[i].st_size = UINT64_MAX - i;
}

static void break_links(struct image *image)
{
	for (int i = 1; i < image->eh->e_shnum; i++)
		image->sections[i].sh_link = 60000;
}

static void break_entry_size(struct image *image)
{
	section_of_type(image, SHT_SYMTAB)->sh_entsize = 0;
	section_of_type(image, SHT_DYNSYM)->sh_entsize = 1;
}

static void (*const breaks[])(struct image *) = {
	break_names, break_strings, break_sizes, break_links, break_entry_size,
};

START_TEST(reads_past_broken_symbol_tables)
{
	struct symbolizer *s = util__symbolizer(true, true);
	struct image image;

	read_image(&image, "O2");
	breaks[_i](&image);
	ck_assert_int_eq(load(s, util__memfd(image.bytes, image.size)), 0);
	free(image.bytes);
	check_survived(s);
}
END_TEST

/* Anything may come of it but an error of the client. */
START_TEST(survives_random_damage)
{
	struct symbolizer *s = util__symbolizer(true, true);
	struct image image, damaged;
	int read = 0, refused = 0;

	srandom(3);
	read_image(&image, "O2");
	damaged.bytes = malloc(image.size);
	for (int turn = 0; turn < 300; turn++) {
		int err;

		memcpy(damaged.bytes, image.bytes, image.size);
		for (int i = 0; i < 20; i++)
			damaged.bytes[(size_t)random() % image.size] = (uint8_t)random();
		err = load(s, util__memfd(damaged.bytes, image.size));
		ck_assert(err == 0 || err == -ENOEXEC || err == -ETIME || err == -EAGAIN);
		read += err == 0;
		refused += err == -ENOEXEC;
	}
	ck_assert_int_gt(read, 0);
	ck_assert_int_gt(refused, 0);
	ck_assert_int_eq(load(s, util__memfd(image.bytes, image.size)), 0);
	free(damaged.bytes);
	free(image.bytes);
	symbolizer__free(s);
}
END_TEST

START_TEST(refuses_what_is_no_file)
{
	struct symbolizer *s = util__symbolizer(false, false);

	ck_assert_int_eq(load(s, open("/dev/zero", O_RDONLY | O_CLOEXEC)), -ENOEXEC);
	ck_assert_int_eq(load(s, open("/tmp", O_RDONLY | O_CLOEXEC)), -ENOEXEC);
	ck_assert_int_eq(load(s, util__memfd("", 0)), -ENOEXEC);
	ck_assert_uint_eq(symbolizer__counters(s)->modules_refused, 3);
	check_survived(s);
}
END_TEST

Suite *suite_hostile_elf(void)
{
	Suite *suite = suite_create("hostile_elf");
	TCase *tcase = tcase_create("files");

	tcase_add_test(tcase, refuses_files_that_are_cut);
	tcase_add_loop_test(tcase, refuses_impossible_claims, 0,
			    sizeof(claims) / sizeof(claims[0]));
	tcase_add_loop_test(tcase, reads_without_sections_that_cannot_be, 0,
			    sizeof(section_claims) / sizeof(section_claims[0]));
	tcase_add_loop_test(tcase, reads_past_broken_symbol_tables, 0,
			    sizeof(breaks) / sizeof(breaks[0]));
	tcase_add_test(tcase, survives_random_damage);
	tcase_add_test(tcase, refuses_what_is_no_file);
	suite_add_tcase(suite, tcase);
	return suite;
}
