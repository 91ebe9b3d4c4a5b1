/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of real files: what nm(1) and the fixture's source say, the symbolizer must say too.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#include "daemon/privsep/opener.h"
#include "daemon/target/debug_files.h"
#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

static void resolve(struct symbolizer *s, int module, uint64_t address, struct symbolizer_answer *a)
{
	ck_assert_int_eq(symbolizer__resolve(s, module, &address, 1, a), 0);
}

static const char *last_name(const struct symbolizer_answer *a)
{
	ck_assert(a->found);
	ck_assert_uint_ge(a->nframes, 1);
	return a->frames[a->nframes - 1].name;
}

/* Whether nm gives a procedure at that address that name. */
static bool is_alias(const struct util_symbol *all, size_t n, uint64_t vaddr, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].vaddr == vaddr && strcmp(all[i].name, name) == 0)
			return true;
	return false;
}

/* Every procedure that nm lists is found at its start under one of its names. */
static void check_against_nm(const char *path, bool dynamic)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int module = util__add(s, path, NULL);
	struct symbolizer_answer *answers;
	struct util_symbol *all;
	uint64_t *addresses;
	size_t n;

	all = util__nm(path, dynamic, &n);
	ck_assert_uint_gt(n, 0);
	addresses = calloc(n, sizeof(*addresses));
	answers = calloc(n, sizeof(*answers));
	for (size_t i = 0; i < n; i++)
		addresses[i] = all[i].offset;
	ck_assert_int_eq(symbolizer__resolve(s, module, addresses, n, answers), 0);
	for (size_t i = 0; i < n; i++) {
		ck_assert_msg(is_alias(all, n, all[i].vaddr, last_name(&answers[i])),
			      "%s is called %s", all[i].name, last_name(&answers[i]));
		ck_assert_uint_eq(answers[i].start, all[i].offset);
		ck_assert(!answers[i].unnamed);
	}
	free(addresses);
	free(answers);
	free(all);
	symbolizer__free(s);
}

static const char *const variants[] = {"O0", "O2", "static", "nopie", "relr"};

START_TEST(names_every_procedure)
{
	check_against_nm(util__fixture(variants[_i]), false);
}
END_TEST

START_TEST(names_every_export_of_libc)
{
	check_against_nm(LIBC, true);
}
END_TEST

START_TEST(covers_procedures_to_their_last_byte)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int module = util__add(s, util__fixture("O2"), NULL);
	const struct util_symbol *leaf, *sized;
	struct symbolizer_answer a;
	struct util_symbol *all;
	size_t n;

	all = util__nm(util__fixture("O2"), false, &n);
	leaf = util__find(all, n, "local_leaf");
	resolve(s, module, leaf->offset + leaf->size - 1, &a);
	ck_assert_str_eq(last_name(&a), "local_leaf");
	resolve(s, module, util__find(all, n, "__fixture_write")->offset + 1, &a);
	ck_assert_str_eq(last_name(&a), "fixture_write");
	sized = util__find(all, n, "sized_entry");
	resolve(s, module, sized->offset, &a);
	ck_assert_str_eq(last_name(&a), "sized_entry");
	for (int back = 1; back <= 3; back++) {
		resolve(s, module, sized->offset - back, &a);
		ck_assert_str_eq(last_name(&a), "unsized_entry");
		ck_assert_uint_eq(a.start, sized->offset - 3);
	}
	resolve(s, module, sized->offset + 2, &a);
	ck_assert(!a.found || strcmp(last_name(&a), "sized_entry") != 0);
	free(all);
	symbolizer__free(s);
}
END_TEST

/* The start-up code hands its address on. */
START_TEST(finds_main_of_a_stripped_program)
{
	static const char *const fixtures[] = {"stripped", "static"};
	struct symbolizer *s = util__symbolizer(false, false);

	for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
		const char *path = util__fixture(fixtures[i]);
		int module = util__add(s, path, NULL);
		struct symbolizer_answer a;
		struct util_symbol *all;
		size_t n;

		all = util__nm(i ? path : util__fixture("O2"), false, &n);
		resolve(s, module, util__find(all, n, "main")->offset, &a);
		ck_assert_str_eq(last_name(&a), "main");
		ck_assert(!a.unnamed);
		free(all);
	}
	symbolizer__free(s);
}
END_TEST

START_TEST(gives_stripped_procedures_stable_names)
{
	static const char *const names[] = {"local_leaf", "global_leaf", "inline_host",
					    "spawn_worker"};
	struct symbolizer *s = util__symbolizer(false, false);
	int module = util__add(s, util__fixture("stripped"), NULL);
	struct util_symbol *all;
	size_t n;

	all = util__nm(util__fixture("O2"), false, &n);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct util_symbol *symbol = util__find(all, n, names[i]);
		char expected[64];

		snprintf(expected, sizeof(expected), "stripped+0x%lx", symbol->vaddr);
		for (uint64_t at = 0; at < symbol->size; at++) {
			struct symbolizer_answer a;

			resolve(s, module, symbol->offset + at, &a);
			ck_assert_str_eq(last_name(&a), expected);
			ck_assert(a.unnamed);
			ck_assert_uint_eq(a.start, symbol->offset);
		}
	}
	free(all);
	symbolizer__free(s);
}
END_TEST

START_TEST(knows_where_processes_begin)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int full = util__add(s, util__fixture("O2"), NULL);
	int stripped = util__add(s, util__fixture("stripped"), NULL);
	struct symbolizer_answer a;
	struct util_symbol *all;
	size_t n;

	all = util__nm(util__fixture("O2"), false, &n);
	for (int i = 0; i < 2; i++) {
		int module = i ? stripped : full;

		resolve(s, module, util__find(all, n, "_start")->offset + 4, &a);
		ck_assert_str_eq(last_name(&a), "_start");
		ck_assert(a.outermost);
		ck_assert(!a.unnamed);
		resolve(s, module, util__find(all, n, "main")->offset, &a);
		ck_assert(!a.outermost);
	}
	free(all);
	symbolizer__free(s);
}
END_TEST

/* start_thread of a stripped libc, by the address that a thread really returns to. */
static void *return_address(void *arg)
{
	*(uintptr_t *)arg = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
	return NULL;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (!strstr(info->dlpi_name, "/libc.so.6"))
		return 0;
	*(uintptr_t *)arg = info->dlpi_addr;
	return 1;
}

START_TEST(finds_start_thread_in_stripped_libc)
{
	struct symbolizer *s = util__symbolizer(false, false);
	uintptr_t base = 0, address = 0;
	struct symbolizer_answer a;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, return_address, &address), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(dl_iterate_phdr(find_libc, &base), 1);
	/* libc's code has its file offset as address; under ASan its runtime is in between. */
	if (address - base < (4UL << 20)) {
		resolve(s, util__add(s, LIBC, NULL), address - base, &a);
		ck_assert_str_eq(last_name(&a), "start_thread");
		ck_assert(a.outermost);
	}
	symbolizer__free(s);
}
END_TEST

START_TEST(uses_debug_file_of_same_build_only)
{
	struct symbolizer *s = util__symbolizer(true, false);
	char debug[4096], other[4096];
	struct symbolizer_answer a;
	struct util_symbol *all;
	const struct util_symbol *leaf;
	const char *build_id;
	int module;
	size_t n;

	all = util__nm(util__fixture("O2"), false, &n);
	leaf = util__find(all, n, "local_leaf");
	snprintf(debug, sizeof(debug), "%s", util__fixture("debug"));
	snprintf(other, sizeof(other), "%s", util__fixture("O0"));
	module = util__add(s, util__fixture("stripped"), debug);
	resolve(s, module, leaf->offset, &a);
	ck_assert_str_eq(last_name(&a), "local_leaf");
	ck_assert_ptr_nonnull(strstr(a.frames[0].file, "symbolizer_fixture.c"));
	ck_assert_uint_gt(a.frames[0].decl_line, 0);
	ck_assert_int_eq(symbolizer__build_id(s, module, &build_id), 0);
	ck_assert_uint_eq(strlen(build_id), 40);
	ck_assert_uint_eq(strspn(build_id, "0123456789abcdef"), 40);

	module = util__add(s, util__fixture("stripped"), other);
	resolve(s, module, leaf->offset, &a);
	ck_assert(a.unnamed);
	free(all);
	symbolizer__free(s);
}
END_TEST

/* The line of the fixture's source that has this comment. */
static uint32_t line_of(const char *comment)
{
	FILE *source = fopen(TEST_SOURCE, "re");
	uint32_t line = 0;
	char text[256];

	ck_assert_ptr_nonnull(source);
	while (fgets(text, sizeof(text), source)) {
		line++;
		if (strstr(text, comment))
			break;
	}
	fclose(source);
	return line;
}

START_TEST(unfolds_inlined_procedures)
{
	static const char *const names[] = {"inlined_inner", "inlined_outer", "inline_host"};
	struct symbolizer *s = util__symbolizer(false, true);
	int module = util__add(s, util__fixture("O2"), NULL);
	const struct util_symbol *host;
	struct symbolizer_answer a = {0};
	struct util_symbol *all;
	bool seen = false;
	size_t n;

	all = util__nm(util__fixture("O2"), false, &n);
	host = util__find(all, n, "inline_host");
	for (uint64_t at = 0; at < host->size && !seen; at++) {
		resolve(s, module, host->offset + at, &a);
		ck_assert_str_eq(last_name(&a), "inline_host");
		seen = a.nframes == 3;
	}
	ck_assert(seen);
	for (size_t i = 0; i < 3; i++) {
		char comment[64];

		snprintf(comment, sizeof(comment), "line of %s", names[i]);
		ck_assert_str_eq(a.frames[i].name, names[i]);
		ck_assert_ptr_nonnull(strstr(a.frames[i].file, "symbolizer_fixture.c"));
		ck_assert_uint_eq(a.frames[i].line, line_of(comment));
		ck_assert_uint_lt(a.frames[i].decl_line, a.frames[i].line);
	}
	free(all);
	symbolizer__free(s);
}
END_TEST

/* Whether all inlined procedures of a place have their names. */
static bool has_inlined(struct symbolizer *s, int module, const struct util_symbol *host)
{
	struct symbolizer_answer a = {0};

	for (uint64_t at = 0; at < host->size; at++) {
		resolve(s, module, host->offset + at, &a);
		if (a.nframes == 3)
			return !strcmp(a.frames[0].name, "inlined_inner") &&
			       !strcmp(a.frames[1].name, "inlined_outer") &&
			       strstr(a.frames[0].file, "symbolizer_fixture.c") &&
			       a.frames[0].line == line_of("line of inlined_inner");
	}
	return false;
}

static int with_shared(struct symbolizer *s, const char *fixture, const char *debug,
		       const char *entries)
{
	char path[4096];
	const char *name = NULL;
	int module;

	snprintf(path, sizeof(path), "%s", util__fixture(fixture));
	module = util__add(s, path, debug ? util__fixture(debug) : NULL);

	ck_assert_int_eq(symbolizer__shared(s, module, &name), 0);
	ck_assert_ptr_nonnull(strstr(name, "shared_entries"));
	symbolizer__share(s, module, open(util__fixture(entries), O_RDONLY | O_CLOEXEC));
	return module;
}

/* What dwz -m has put into a file for several: of the same build only. */
START_TEST(follows_entries_that_files_share)
{
	struct symbolizer *s = util__symbolizer(false, true);
	const struct util_symbol *host;
	struct util_symbol *all;
	const char *name;
	size_t n;

	all = util__nm(util__fixture("O2"), false, &n);
	host = util__find(all, n, "inline_host");
	ck_assert(!has_inlined(s, util__add(s, util__fixture("shared"), NULL), host));
	ck_assert(!has_inlined(s, with_shared(s, "shared", NULL, "shared_other_entries"), host));
	ck_assert(has_inlined(s, with_shared(s, "shared", NULL, "shared_entries"), host));
	/* as packages have it: in their debug files */
	ck_assert(has_inlined(s, with_shared(s, "shared_stripped", "shared", "shared_entries"),
			      host));
	ck_assert_int_eq(symbolizer__shared(s, util__add(s, util__fixture("O2"), NULL), &name), 0);
	ck_assert_str_eq(name, "");
	free(all);
	symbolizer__free(s);
}
END_TEST

/* ---- files of split units ---- */

/* What was written to standard error between the two. */
static int said, stderr_before;

static void begin_saying(void)
{
	stderr_before = dup(STDERR_FILENO);
	said = util__memfd("", 0);
	dup2(said, STDERR_FILENO);
}

static void end_saying(char *text, size_t size)
{
	ssize_t n = pread(said, text, size - 1, 0);

	dup2(stderr_before, STDERR_FILENO);
	close(stderr_before);
	close(said);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
}

static const char *const splits[] = {"split", "split4", "split_clang", "split4_clang"};

/* Asks for all of inline_host in a fixture with .dwo files; what was said about them, and whether the names are there. */
static bool completes(const char *fixture, char *text, size_t size)
{
	struct symbolizer *s = util__symbolizer(false, true);
	int module = util__add(s, util__fixture(fixture), NULL);
	int of = open(util__fixture(fixture), O_RDONLY | O_CLOEXEC);
	const struct util_symbol *host;
	struct util_symbol *all;
	uint64_t addresses[256];
	bool whole = true, named;
	size_t n;

	all = util__nm(util__fixture(fixture), false, &n);
	host = util__find(all, n, "inline_host");
	ck_assert_uint_le(host->size, 256);
	for (uint64_t i = 0; i < host->size; i++)
		addresses[i] = host->offset + i;
	ck_assert(symbolizer__is_split(s, module));
	begin_saying();
	for (int i = 0; i < 2; i++) /* said once */
		whole &= debug_files__complete(s, module, of, addresses, host->size, "a program",
					       whole);
	end_saying(text, size);
	ck_assert_int_eq(whole, !text[0]);
	named = has_inlined(s, module, host);
	close(of);
	free(all);
	symbolizer__free(s);
	return named;
}

START_TEST(reads_procedures_in_files_of_their_own)
{
	char text[2048];

	ck_assert(completes(splits[_i], text, sizeof(text)));
	ck_assert_str_eq(text, "");
}
END_TEST

/* The name is in the program, and its maker can let it be any file's. */
START_TEST(says_which_file_of_procedures_is_not_read)
{
	static const struct {
		const char *fixture, *said;
	} cases[] = {
		{"split_gone", "split_gone.dwo: No such file or directory; keep"},
		{"split_other", "split_other.dwo: it is of another build; keep"},
		{"split_link", "split_link.dwo: it is not the program's owner's; keep"},
		{"split_names", "split_names.dwo: it is not the program's owner's; keep"},
		{"split_broken", "split_broken.dwo: it cannot be read; keep"},
		{"split_called", "split_called.dw_: that is no path of a .dwo file; keep"},
	};
	char text[2048];

	ck_assert(!completes(cases[_i].fixture, text, sizeof(text)));
	ck_assert_msg(strstr(text, cases[_i].said), "said: %s", text);
	ck_assert_ptr_eq(strstr(strstr(text, "a program: ") + 1, "a program: "), NULL);
}
END_TEST

START_TEST(a_file_of_another_user_is_no_companion)
{
	struct opener_request r = {.what = OPENER_COMPANION};
	const char *path = r.path;
	int of = open(util__fixture("split"), O_RDONLY | O_CLOEXEC), fd;

	if (geteuid()) {
		close(of);
		return;
	}
	snprintf(r.path, sizeof(r.path), "%s", util__fixture("split_gone.other.dwo"));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchown(fd, 65534, 65534), 0);
	ck_assert_int_eq(opener__file(of, r), -EPERM);
	ck_assert_int_eq(fchown(fd, 0, 0), 0);
	close(fd);
	fd = opener__file(of, r);
	ck_assert_int_ge(fd, 0);
	close(fd);
	unlink(path);
	memset(r.path, 'x', sizeof(r.path));
	ck_assert_int_eq(opener__file(of, r), -EINVAL);
	close(of);
}
END_TEST

/* Debug files by the name that the program has, with a build-id or only the checksum; and not such that have changed since. */
START_TEST(finds_debug_files_by_the_name_in_the_program)
{
	static const struct {
		const char *fixture;
		bool named;
	} cases[] = {{"linked", true}, {"linked_unnumbered", true}, {"linked_changed", false}};
	const struct util_symbol *leaf;
	struct symbolizer_answer a;
	struct symbolizer *s = util__symbolizer(true, false);
	struct util_symbol *all;
	int module;
	size_t n;

	all = util__nm(util__fixture(_i ? "linked_unnumbered.debug" : "O2"), false, &n);
	leaf = util__find(all, n, "local_leaf");
	module = debug_files__add(s, open(util__fixture(cases[_i].fixture), O_RDONLY | O_CLOEXEC),
				  "any name");
	resolve(s, module, leaf->vaddr, &a);
	ck_assert_int_eq(a.unnamed, !cases[_i].named);
	if (cases[_i].named) {
		ck_assert_str_eq(last_name(&a), "local_leaf");
		ck_assert_uint_gt(a.frames[0].decl_line, 0);
	}
	free(all);
	symbolizer__free(s);
}
END_TEST

/* Without inlines, the line is that of the call in the procedure that is shown. */
START_TEST(gives_lines_of_the_procedure_itself)
{
	struct symbolizer *s = util__symbolizer(true, false);
	int module = util__add(s, util__fixture("O2"), NULL);
	const struct util_symbol *host;
	struct symbolizer_answer a;
	struct util_symbol *all;
	uint32_t hits = 0;
	size_t n;

	all = util__nm(util__fixture("O2"), false, &n);
	host = util__find(all, n, "inline_host");
	for (uint64_t at = 0; at < host->size; at++) {
		resolve(s, module, host->offset + at, &a);
		ck_assert_uint_eq(a.nframes, 1);
		hits += a.frames[0].line == line_of("line of inline_host");
		ck_assert_uint_ge(a.frames[0].line, a.frames[0].decl_line);
	}
	ck_assert_uint_gt(hits, 0);
	free(all);
	symbolizer__free(s);
}
END_TEST

/* Whether some address of a procedure has that line of a file whose name ends so. */
static bool has_line(const char *fixture, const char *procedure, uint32_t line, const char *file)
{
	struct symbolizer *s = util__symbolizer(true, false);
	int module = util__add(s, util__fixture(fixture), NULL);
	const struct util_symbol *symbol;
	struct util_symbol *all;
	bool found = false;
	size_t n;

	all = util__nm(util__fixture(fixture), false, &n);
	symbol = util__find(all, n, procedure);
	for (uint64_t at = 0; at < symbol->size; at++) {
		const struct symbolizer_frame *frame;
		struct symbolizer_answer a;
		const char *end;

		resolve(s, module, symbol->offset + at, &a);
		frame = &a.frames[0];
		ck_assert_ptr_nonnull(strstr(frame->file, "symbolizer_fixture.c"));
		end = strstr(frame->line_file, file);
		found |= frame->line == line && end && !end[strlen(file)];
	}
	free(all);
	symbolizer__free(s);
	return found;
}

static const char *const compiled[] = {"O0", "O2", "clang"};

/* The file of the procedure is not that of each of its lines. */
START_TEST(gives_the_file_of_each_line)
{
	const char *fixture = compiled[_i];

	ck_assert(has_line(fixture, "include_host", line_of("line of include_host"),
			   "fixtures/symbolizer_fixture.c"));
	ck_assert(has_line(fixture, "include_host", 2, "fixtures/included_body.inc"));
	ck_assert(has_line(fixture, "include_host", 7, "/nowhere/grammar.y"));
}
END_TEST

START_TEST(names_stubs_after_their_target)
{
	struct symbolizer *s = util__symbolizer(false, false);
	const char *path = util__fixture("O2");
	int module = util__add(s, path, NULL);
	bool seen = false;

	/* The stubs of a program this small lie in the first pages of its code. */
	for (uint64_t at = 0x1000; at < 0x1200 && !seen; at += 4) {
		struct symbolizer_answer a;

		resolve(s, module, at, &a);
		seen = a.found && strcmp(last_name(&a), "pthread_create@plt") == 0;
	}
	ck_assert(seen);
	symbolizer__free(s);
}
END_TEST

START_TEST(names_the_vdso)
{
	const ElfW(Ehdr) *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct symbolizer *s = util__symbolizer(false, false);
	struct symbolizer_answer a;
	bool seen = false;
	size_t size;
	int module;

	ck_assert_ptr_nonnull(image);
	size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	module = symbolizer__add_module(s, SYMBOLIZER_ELF, util__memfd(image, size), -1, "[vdso]");
	for (uint64_t at = 0; at < size && !seen; at += 16) {
		resolve(s, module, at, &a);
		seen = a.found && strstr(last_name(&a), "gettime");
	}
	ck_assert(seen);
	symbolizer__free(s);
}
END_TEST

START_TEST(answers_many_addresses)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int module = util__add(s, LIBC, NULL);
	size_t n = 50000, found = 0;
	struct symbolizer_answer *answers = calloc(n, sizeof(*answers));
	uint64_t *addresses = calloc(n, sizeof(*addresses));

	for (size_t i = 0; i < n; i++)
		addresses[i] = i * 37;
	ck_assert_int_eq(symbolizer__resolve(s, module, addresses, n, answers), 0);
	for (size_t i = 0; i < n; i++) {
		if (!answers[i].found)
			continue;
		found++;
		ck_assert_uint_le(answers[i].start, addresses[i]);
		ck_assert_uint_gt(strlen(last_name(&answers[i])), 0);
	}
	ck_assert_uint_gt(found, n / 2);
	ck_assert_uint_eq(symbolizer__counters(s)->started, 1);
	free(answers);
	free(addresses);
	symbolizer__free(s);
}
END_TEST

START_TEST(reads_perf_maps)
{
	static const char map[] = "1000 100 first\n2000 10 Lazy: a b @ c.js:1\n1080 100 second\n";
	struct symbolizer *s = util__symbolizer(true, true);
	int fd = util__memfd(map, sizeof(map) - 1);
	int module = symbolizer__add_module(s, SYMBOLIZER_PERF_MAP, fd, -1, "/tmp/perf-1.map");
	static const uint64_t addresses[] = {0x1000, 0x107f, 0x1080, 0x117f, 0x1180, 0x200f};
	static const char *const names[] = {"first",  "first", "second",
					    "second", NULL,    "Lazy: a b @ c.js:1"};
	struct symbolizer_answer answers[6];

	ck_assert_int_eq(symbolizer__resolve(s, module, addresses, 6, answers), 0);
	for (int i = 0; i < 6; i++) {
		ck_assert_int_eq(answers[i].found, names[i] != NULL);
		if (names[i])
			ck_assert_str_eq(last_name(&answers[i]), names[i]);
	}
	ck_assert_uint_eq(answers[3].start, 0x1080);
	symbolizer__free(s);
}
END_TEST

/* What /proc/PID/status says behind "FIELD:\t", in a static buffer. */
static const char *status(pid_t pid, const char *field)
{
	static char line[256];
	size_t length = strlen(field);
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, field, length) == 0 && line[length] == ':')
			break;
	ck_assert_msg(!feof(file), "no %s in %s", field, path);
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line + length + 2;
}

START_TEST(child_has_no_privileges)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int module = util__add(s, LIBC, NULL);
	const char *build_id;
	unsigned int ids[4];
	pid_t pid;

	ck_assert_int_eq(symbolizer__build_id(s, module, &build_id), 0);
	pid = util__child();
	ck_assert_str_eq(status(pid, "CapEff"), "0000000000000000");
	ck_assert_str_eq(status(pid, "CapPrm"), "0000000000000000");
	ck_assert_str_eq(status(pid, "NoNewPrivs"), "1");
	ck_assert_str_eq(status(pid, "Seccomp"), "2");
	if (geteuid() == 0) {
		char path[64], target[64];

		ck_assert_str_eq(status(pid, "CapBnd"), "0000000000000000");
		ck_assert_int_eq(strspn(status(pid, "Groups"), " "), strlen(status(pid, "Groups")));
		ck_assert_int_eq(sscanf(status(pid, "Uid"), "%u %u %u %u", &ids[0], &ids[1],
					&ids[2], &ids[3]),
				 4);
		for (int i = 0; i < 4; i++)
			ck_assert_uint_ne(ids[i], 0);
		for (int fd = 1; fd < 64; fd++) {
			snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
			ck_assert_int_eq(readlink(path, target, sizeof(target)), -1);
		}
	}
	symbolizer__free(s);
}
END_TEST

/* It has ended when this returns. */
static void kill_child(void)
{
	pid_t pid = util__child();
	siginfo_t info;

	kill(pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
}

START_TEST(kills_a_child_that_hangs)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int hung = util__add(s, util__fixture("O2"), NULL);
	int other = util__add(s, LIBC, NULL);
	struct symbolizer_answer a;
	uint64_t address = 0x1000;
	const char *build_id;

	ck_assert_int_eq(symbolizer__build_id(s, hung, &build_id), 0);
	ck_assert_int_eq(symbolizer__build_id(s, other, &build_id), 0);
	kill(util__child(), SIGSTOP);
	ck_assert_int_eq(symbolizer__resolve(s, hung, &address, 1, &a), -EAGAIN);
	ck_assert_int_eq(symbolizer__resolve(s, hung, &address, 1, &a), -EAGAIN); /* at once */
	ck_assert_int_eq(symbolizer__resolve(s, other, &address, 1, &a), 0);
	ck_assert_uint_eq(symbolizer__counters(s)->started, 2);
	ck_assert_uint_eq(symbolizer__counters(s)->killed, 1);
	ck_assert_uint_eq(symbolizer__counters(s)->crashed, 0);
	ck_assert_uint_eq(symbolizer__counters(s)->modules_refused, 0);
	ck_assert_uint_eq(symbolizer__waiting(s), 1);
	symbolizer__free(s);
}
END_TEST

START_TEST(replaces_a_child_that_ended)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int module = util__add(s, util__fixture("O2"), NULL);
	int other = util__add(s, LIBC, NULL);
	struct symbolizer_answer a;
	uint64_t address = 0x1000;
	const char *build_id;

	ck_assert_int_eq(symbolizer__build_id(s, module, &build_id), 0);
	kill_child();
	ck_assert_int_eq(symbolizer__resolve(s, module, &address, 1, &a), 0);
	ck_assert_int_eq(symbolizer__resolve(s, other, &address, 1, &a), 0);
	ck_assert_uint_eq(symbolizer__counters(s)->crashed, 1);
	ck_assert_uint_eq(symbolizer__counters(s)->started, 2);
	ck_assert_uint_eq(symbolizer__waiting(s), 0);
	symbolizer__free(s);
}
END_TEST

/* While it is asked: the file may be to blame, or not. */
START_TEST(tries_again_what_a_child_ended_over)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int module = util__add(s, util__fixture("O2"), NULL);
	int other = util__add(s, LIBC, NULL);
	struct symbolizer_answer a;
	uint64_t address = 0x1000;
	const char *build_id;
	pid_t child, killer;
	int err;

	ck_assert_int_eq(symbolizer__build_id(s, module, &build_id), 0);
	child = util__child();
	kill(child, SIGSTOP);
	killer = fork();
	if (!killer) {
		usleep(20000);
		kill(child, SIGKILL);
		_exit(0);
	}
	ck_assert_int_eq(symbolizer__resolve(s, module, &address, 1, &a), -EAGAIN);
	waitpid(killer, NULL, 0);
	ck_assert_uint_eq(symbolizer__waiting(s), 1);
	ck_assert(!symbolizer__may_ask(s, module));
	ck_assert_int_eq(symbolizer__resolve(s, other, &address, 1, &a), 0);
	while ((err = symbolizer__resolve(s, module, &address, 1, &a)) == -EAGAIN)
		usleep(10000);
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(symbolizer__waiting(s), 0);
	ck_assert_uint_eq(symbolizer__counters(s)->crashed, 1);
	ck_assert_uint_eq(symbolizer__counters(s)->modules_refused, 0);
	symbolizer__free(s);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) /* the child's memory is not limited then */
/* Six files of 100 MB, of which the child can hold four. */
START_TEST(replaces_a_child_whose_memory_is_full)
{
	static const char line[] = "1000 10 name\n";
	struct symbolizer *s = util__symbolizer(false, false);
	struct symbolizer_answer a;
	int modules[6];

	for (int i = 0; i < 6; i++) {
		int fd = util__memfd(line, sizeof(line) - 1);

		ck_assert_int_eq(ftruncate(fd, 100 << 20), 0);
		modules[i] = symbolizer__add_module(s, SYMBOLIZER_PERF_MAP, fd, -1, "map");
		resolve(s, modules[i], 0x1000, &a);
		ck_assert_str_eq(last_name(&a), "name");
	}
	ck_assert_uint_eq(symbolizer__counters(s)->started, 2);
	resolve(s, modules[0], 0x1000, &a);
	ck_assert_str_eq(last_name(&a), "name");
	ck_assert_uint_eq(symbolizer__counters(s)->killed, 0);
	ck_assert_uint_eq(symbolizer__counters(s)->crashed, 0);
	ck_assert_uint_eq(symbolizer__counters(s)->modules_refused, 0);
	symbolizer__free(s);
}
END_TEST
#endif

START_TEST(reports_that_no_child_can_be_started)
{
	struct symbolizer_options options = {.program = "/nonexistent/quartz-symbolizer"};
	struct symbolizer *s = symbolizer__new(&options);
	int module = util__add(s, LIBC, NULL);
	const char *build_id;

	ck_assert_int_eq(symbolizer__build_id(s, module, &build_id), -EIO);
	ck_assert_int_eq(symbolizer__build_id(s, module, &build_id), -EIO);
	symbolizer__free(s);
	options.program = "/bin/true"; /* starts, and says nothing */
	s = symbolizer__new(&options);
	module = util__add(s, LIBC, NULL);
	ck_assert_int_eq(symbolizer__build_id(s, module, &build_id), -EIO);
	symbolizer__free(s);
}
END_TEST

START_TEST(forgets_removed_modules)
{
	struct symbolizer *s = util__symbolizer(false, false);
	int first = util__add(s, util__fixture("O2"), NULL);
	int second = util__add(s, LIBC, NULL);
	const char *build_id;

	ck_assert_int_eq(symbolizer__build_id(s, first, &build_id), 0);
	symbolizer__remove_module(s, first);
	ck_assert_int_eq(symbolizer__build_id(s, first, &build_id), -ENOENT);
	ck_assert_int_eq(symbolizer__build_id(s, second, &build_id), 0);
	ck_assert_int_eq(symbolizer__build_id(s, 99, &build_id), -EINVAL);
	ck_assert_uint_eq(symbolizer__counters(s)->started, 1);
	ck_assert_uint_eq(symbolizer__counters(s)->modules_refused, 0);
	symbolizer__free(s);
}
END_TEST

/* What it has, it does not read again. */
START_TEST(forgets_what_is_not_asked_for)
{
	static const char before[] = "1000 10 before\n", after[] = "1000 10 after\n";
	struct symbolizer *s = util__symbolizer(false, false);
	int modules[2], fds[2];
	struct symbolizer_answer a;

	for (int i = 0; i < 2; i++) {
		fds[i] = util__memfd(before, sizeof(before) - 1);
		modules[i] = symbolizer__add_module(s, SYMBOLIZER_PERF_MAP, fds[i], -1, "map");
		resolve(s, modules[i], 0x1000, &a);
		ck_assert_int_eq(pwrite(fds[i], after, sizeof(after) - 1, 0), sizeof(after) - 1);
	}
	for (int i = 0; i < 1000; i++) {
		symbolizer__rest(s);
		resolve(s, modules[0], 0x1000, &a);
		ck_assert_str_eq(last_name(&a), "before");
	}
	resolve(s, modules[1], 0x1000, &a);
	ck_assert_str_eq(last_name(&a), "after");
	ck_assert_uint_eq(symbolizer__counters(s)->started, 1);
	symbolizer__free(s);
}
END_TEST

Suite *suite_symbolizer(void)
{
	Suite *suite = suite_create("symbolizer");
	TCase *names = tcase_create("names"), *child = tcase_create("child");

	tcase_add_loop_test(names, names_every_procedure, 0, 5);
	tcase_add_test(names, names_every_export_of_libc);
	tcase_add_test(names, covers_procedures_to_their_last_byte);
	tcase_add_test(names, finds_main_of_a_stripped_program);
	tcase_add_test(names, gives_stripped_procedures_stable_names);
	tcase_add_test(names, knows_where_processes_begin);
	tcase_add_test(names, finds_start_thread_in_stripped_libc);
	tcase_add_test(names, uses_debug_file_of_same_build_only);
	tcase_add_test(names, follows_entries_that_files_share);
	tcase_add_loop_test(names, reads_procedures_in_files_of_their_own, 0, 4);
	tcase_add_loop_test(names, says_which_file_of_procedures_is_not_read, 0, 6);
	tcase_add_test(names, a_file_of_another_user_is_no_companion);
	tcase_add_loop_test(names, finds_debug_files_by_the_name_in_the_program, 0, 3);
	tcase_add_test(names, unfolds_inlined_procedures);
	tcase_add_test(names, gives_lines_of_the_procedure_itself);
	tcase_add_loop_test(names, gives_the_file_of_each_line, 0, 3);
	tcase_add_test(names, names_stubs_after_their_target);
	tcase_add_test(names, names_the_vdso);
	tcase_add_test(names, answers_many_addresses);
	tcase_add_test(names, reads_perf_maps);
	suite_add_tcase(suite, names);
	tcase_add_test(child, child_has_no_privileges);
	tcase_add_test(child, kills_a_child_that_hangs);
	tcase_add_test(child, replaces_a_child_that_ended);
	tcase_add_test(child, tries_again_what_a_child_ended_over);
#if !defined(__SANITIZE_ADDRESS__)
	tcase_add_test(child, replaces_a_child_whose_memory_is_full);
#endif
	tcase_add_test(child, reports_that_no_child_can_be_started);
	tcase_add_test(child, forgets_removed_modules);
	tcase_add_test(child, forgets_what_is_not_asked_for);
	suite_add_tcase(suite, child);
	return suite;
}
