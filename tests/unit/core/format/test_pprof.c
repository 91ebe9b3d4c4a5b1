/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/estimate/estimate.h"
#include "core/model/executable.h"
#include "core/format/pprof.h"
#include "core/format/snapshot_meta.h"
#include "core/format/profile.pb-c.h"
#include "tests/unit/bytes.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 20

static struct qz_profile *read_back(const struct qz_profile *p)
{
	struct bytes gz = bytes__of_profile(p);
	int fd = bytes__file(gz.data, gz.size);
	const char *why = NULL;
	struct qz_profile *q = qz_pprof__read(fd, &why);

	ck_assert_msg(q != NULL, "%s", why);
	close(fd);
	free(gz.data);
	return q;
}

START_TEST(everything_comes_back)
{
	struct qz_profile *p = fixture__everything(), *q = read_back(p);

	fixture__assert_equal(p, q);
	qz_profile__free(p);
	qz_profile__free(q);
}
END_TEST

START_TEST(random_profiles_come_back)
{
	struct qz_profile *p = fixture__random((unsigned int)_i), *q = read_back(p);

	fixture__assert_equal(p, q);
	qz_profile__free(p);
	qz_profile__free(q);
}
END_TEST

START_TEST(an_empty_profile_comes_back)
{
	struct qz_profile *p = qz_profile__new(), *q = read_back(p);

	fixture__assert_equal(p, q);
	qz_profile__free(p);
	qz_profile__free(q);
}
END_TEST

START_TEST(a_profile_that_was_read_can_grow)
{
	struct qz_profile *p = fixture__everything();
	struct fixture f = {.p = read_back(p)};
	uint32_t nsamples = f.p->nsamples, nprocedures = f.p->nprocedures;

	fixture__samples(&f, 1, 1, "main run", 1, 2);
	ck_assert_int_eq(f.err, 0);
	ck_assert_uint_eq(f.p->nsamples, nsamples);
	ck_assert_uint_eq(f.p->nprocedures, nprocedures);
	qz_profile__free(p);
	qz_profile__free(f.p);
}
END_TEST

/* Names are up to others: one may even be the text in which Quartz keeps its own. */
START_TEST(a_name_equal_to_the_meta_text_does_no_harm)
{
	struct fixture f = fixture__new();
	struct qz_procedure proc = {.module = "", .file = ""};
	struct qz_profile *q;

	ck_assert_int_eq(qz_profile__add_scope(f.p, &(struct qz_scope) {.nlevels = 1}), 0);
	proc.name = "f";
	ck_assert_int_eq(qz_profile__intern_procedure(f.p, &proc), 0);
	proc.name = "g";
	ck_assert_int_eq(qz_profile__intern_procedure(f.p, &proc), 1);
	proc.name = qz_snapshot_meta__write(f.p);
	ck_assert_int_eq(qz_profile__set_string(&f.p->procedures[0].name, proc.name), 0);
	q = read_back(f.p);
	fixture__assert_equal(f.p, q);
	free(proc.name);
	qz_profile__free(q);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(equal_profiles_give_equal_files)
{
	struct qz_profile *p = fixture__everything(), *q = fixture__everything();
	struct bytes a = bytes__of_profile(p), b = bytes__of_profile(q);

	ck_assert_uint_eq(a.size, b.size);
	ck_assert_mem_eq(a.data, b.data, a.size);
	free(a.data);
	free(b.data);
	qz_profile__free(p);
	qz_profile__free(q);
}
END_TEST

/* ---- what others read ---- */

static const char *text(const Pprof__Profile *m, int64_t number)
{
	ck_assert_int_ge(number, 0);
	ck_assert_uint_lt((uint64_t)number, m->n_string_table);
	return m->string_table[number];
}

static const Pprof__Label *label(const Pprof__Profile *m, const Pprof__Sample *s, const char *key)
{
	for (size_t i = 0; i < s->n_label; i++)
		if (!strcmp(text(m, s->label[i]->key), key))
			return s->label[i];
	return NULL;
}

static Pprof__Profile *unpack(const struct qz_profile *p)
{
	struct bytes gz = bytes__of_profile(p), raw = bytes__expand(&gz);
	Pprof__Profile *m = pprof__profile__unpack(NULL, raw.size, raw.data);

	ck_assert_ptr_nonnull(m);
	free(gz.data);
	free(raw.data);
	return m;
}

START_TEST(others_find_the_run)
{
	struct qz_profile *p = fixture__everything();
	Pprof__Profile *m = unpack(p);

	ck_assert_str_eq(text(m, 0), "");
	ck_assert_uint_eq(m->n_sample_type, 9);
	ck_assert_str_eq(text(m, m->sample_type[0]->type), "samples");
	ck_assert_str_eq(text(m, m->sample_type[0]->unit), "count");
	ck_assert_str_eq(text(m, m->sample_type[1]->type), "cpu");
	ck_assert_str_eq(text(m, m->sample_type[1]->unit), "nanoseconds");
	ck_assert_str_eq(text(m, m->sample_type[2]->type), "norm_cpu");
	ck_assert_str_eq(text(m, m->sample_type[2]->unit), "nanoseconds");
	ck_assert_str_eq(text(m, m->sample_type[3]->type), "spin");
	ck_assert_str_eq(text(m, m->sample_type[4]->type), "waits");
	ck_assert_str_eq(text(m, m->sample_type[4]->unit), "count");
	ck_assert_str_eq(text(m, m->sample_type[5]->type), "blocked");
	ck_assert_str_eq(text(m, m->sample_type[6]->type), "ready");
	ck_assert_str_eq(text(m, m->sample_type[6]->unit), "nanoseconds");
	ck_assert_str_eq(text(m, m->sample_type[7]->type), "wakes");
	ck_assert_str_eq(text(m, m->sample_type[8]->type), "woken");
	ck_assert_str_eq(text(m, m->default_sample_type), "norm_cpu");
	ck_assert_str_eq(text(m, m->period_type->type), "cpu");
	ck_assert_str_eq(text(m, m->period_type->unit), "nanoseconds");
	ck_assert_int_eq(m->period, 1000000000 / 999);
	ck_assert_int_eq(m->time_nanos, 1700000000123456789);
	ck_assert_int_eq(m->duration_nanos, 12000);
	pprof__profile__free_unpacked(m, NULL);
	qz_profile__free(p);
}
END_TEST

START_TEST(others_find_the_code)
{
	struct qz_profile *p = fixture__everything();
	Pprof__Profile *m = unpack(p);

	for (size_t i = 0; i < m->n_mapping; i++)
		ck_assert_uint_eq(m->mapping[i]->id, i + 1);
	/* the executable comes first, though the library was met before it */
	ck_assert_uint_eq(m->n_mapping, 2);
	ck_assert_str_eq(text(m, m->mapping[0]->filename), "/usr/bin/app");
	ck_assert_str_eq(p->mappings[1].path, "/usr/bin/app");
	ck_assert_str_eq(text(m, m->mapping[1]->build_id), "00ff17");
	ck_assert(m->mapping[0]->has_functions);
	for (size_t i = 0; i < m->n_function; i++) {
		ck_assert_uint_eq(m->function[i]->id, i + 1);
		ck_assert_int_eq(m->function[i]->system_name, m->function[i]->name);
	}
	ck_assert_str_eq(text(m, m->function[0]->name), "std::sort<int>(int*)");
	ck_assert_str_eq(text(m, m->function[0]->filename), "sort.c");
	ck_assert_int_eq(m->function[0]->start_line, 42);
	/* a procedure with lines of another file is a function of that file, too */
	ck_assert_uint_eq(m->n_function, p->nprocedures + p->nparts);
	ck_assert_str_eq(text(m, m->function[p->nprocedures]->name), "std::sort<int>(int*)");
	ck_assert_int_ge(m->function[p->nprocedures]->filename, 0);
	for (size_t i = 0; i < m->n_location; i++) {
		const Pprof__Location *loc = m->location[i];

		ck_assert_uint_eq(loc->id, i + 1);
		if (loc->mapping_id == 0)
			continue;
		ck_assert_uint_le(loc->mapping_id, m->n_mapping);
		ck_assert_uint_ge(loc->address, m->mapping[loc->mapping_id - 1]->memory_start);
		ck_assert_uint_lt(loc->address, m->mapping[loc->mapping_id - 1]->memory_limit);
	}
	pprof__profile__free_unpacked(m, NULL);
	qz_profile__free(p);
}
END_TEST

START_TEST(others_find_the_samples)
{
	struct qz_profile *p = fixture__everything();
	Pprof__Profile *m = unpack(p);
	const Pprof__Sample *s = m->sample[0];
	const Pprof__Location *leaf = m->location[s->location_id[0] - 1];
	const Pprof__Location *outermost = m->location[s->location_id[3] - 1];

	ck_assert_uint_eq(s->n_location_id, 4);
	ck_assert_uint_eq(leaf->n_line, 2);
	ck_assert_str_eq(text(m, m->function[leaf->line[0]->function_id - 1]->name), "leaf");
	ck_assert_str_eq(text(m, m->function[leaf->line[1]->function_id - 1]->name), "work");
	ck_assert_str_eq(text(m, m->function[outermost->line[0]->function_id - 1]->name), "main");
	ck_assert_uint_eq(s->n_value, 9);
	ck_assert_int_eq(s->value[0], 10);
	ck_assert_int_eq(s->value[1], 2000);
	ck_assert_int_eq(s->value[2], 2000);
	ck_assert_str_eq(text(m, label(m, s, "thread")->str), "worker \x1b[1m 101");
	ck_assert_int_eq(label(m, s, "tid")->num, 101);
	ck_assert_int_eq(label(m, s, "scope")->num, 0);
	ck_assert_int_eq(label(m, s, "thread_index")->num, 0);
	ck_assert_int_eq(label(m, s, "level")->num, 1);
	ck_assert_str_eq(text(m, label(m, s, "comm")->str), "worker \x1b[1m");
	ck_assert_str_eq(text(m, label(m, s, "pid")->str), "100");
	ck_assert_ptr_null(label(m, s, "unit"));
	ck_assert_uint_eq(m->n_sample, p->nsamples + p->nwaits + p->nwakings);
	ck_assert_ptr_null(label(m, m->sample[2], "thread"));
	pprof__profile__free_unpacked(m, NULL);
	qz_profile__free(p);
}
END_TEST

static void add_mapping(struct qz_profile *p, const char *path, uint32_t procedure)
{
	struct qz_mapping map = {.path = (char *)path, .build_id = "", .limit = 4096};
	struct qz_line line = {.procedure = procedure};
	struct qz_location loc = {.address = 16, .nlines = 1, .lines = &line};

	loc.mapping = (uint32_t)qz_profile__intern_mapping(p, &map);
	ck_assert_int_ge(qz_profile__intern_location(p, &loc), 0);
}

/* A sample of a stack of such mappings, the outermost first. */
static void add_stack(struct qz_profile *p, const uint32_t *locations, size_t n, uint64_t count)
{
	struct qz_sample s = {.thread = QZ_NONE, .object = QZ_NONE, .level = 1, .busy = 1};

	for (size_t i = 0; i < n; i++)
		s.node = (uint32_t)qz_profile__intern_node(p, s.node, locations[i]);
	s.count = count;
	ck_assert_int_eq(qz_profile__add_samples(p, &s), 0);
}

/* The program is where stacks begin, whatever was met first, and wherever most of the time went. */
START_TEST(the_executable_is_told_from_libraries)
{
	static const char *const paths[] = {"/lib/ld-linux-x86-64.so.2",
					    "/usr/lib/libz.so.1.2.13",
					    "[vdso]",
					    "/bin/sh",
					    "/bin/app.sort",
					    "/opt/plugin.so"};
	static const uint64_t level_ns[] = {0, 100};
	struct fixture f = fixture__new();
	uint32_t first;

	fixture__scope(&f, level_ns, 2);
	ck_assert_int_eq(qz_profile__intern_procedure(f.p, &(struct qz_procedure) {.name = "f",
										   .module = "",
										   .file = ""}),
			 0);
	ck_assert_int_eq(qz_profile__executable(f.p, &first), 0);
	ck_assert_uint_eq(first, QZ_NONE);
	for (size_t i = 0; i < 6; i++)
		add_mapping(f.p, paths[i], 0);
	add_stack(f.p, (uint32_t[]) {0, 1}, 2, 90);
	add_stack(f.p, (uint32_t[]) {2}, 1, 90);
	ck_assert_int_eq(qz_profile__executable(f.p, &first), 0);
	ck_assert_uint_eq(first, QZ_NONE);
	add_stack(f.p, (uint32_t[]) {3, 4}, 2, 8);
	add_stack(f.p, (uint32_t[]) {1, 4, 3, 5}, 4, 6);
	add_stack(f.p, (uint32_t[]) {4, 5}, 2, 3);
	ck_assert_int_eq(qz_profile__executable(f.p, &first), 0);
	ck_assert_uint_eq(first, 4);
	qz_profile__free(f.p);
}
END_TEST

static const Pprof__Sample *of_kind(const Pprof__Profile *m, const char *kind)
{
	for (size_t i = 0; i < m->n_sample; i++) {
		const Pprof__Label *found = label(m, m->sample[i], "kind");

		if (found && !strcmp(text(m, found->str), kind))
			return m->sample[i];
	}
	ck_abort_msg("no %s", kind);
	return NULL;
}

START_TEST(others_find_the_waits)
{
	struct qz_profile *p = fixture__everything();
	Pprof__Profile *m = unpack(p);
	const Pprof__Sample *wait = of_kind(m, "wait"), *waking = of_kind(m, "waking");

	ck_assert_int_eq(wait->value[2], 0);
	ck_assert_int_eq(wait->value[4], 4);
	ck_assert_int_eq(wait->value[5], 300);
	ck_assert_int_eq(wait->value[6], 50);
	ck_assert_str_eq(text(m, label(m, wait, "cause")->str), "futex");
	ck_assert_int_eq(label(m, wait, "nominal")->num, 2);
	ck_assert_int_eq(label(m, wait, "tid")->num, 101);
	ck_assert_int_eq(label(m, wait, "object_index")->num, 0);
	ck_assert_ptr_nonnull(strstr(text(m, label(m, wait, "object")->str), "mutex queue"));
	ck_assert_int_eq(waking->value[5], 0);
	ck_assert_int_eq(waking->value[7], 8);
	ck_assert_int_eq(waking->value[8], 0);
	pprof__profile__free_unpacked(m, NULL);
	qz_profile__free(p);
}
END_TEST

START_TEST(others_find_the_spinning)
{
	struct qz_profile *p = fixture__everything();
	Pprof__Profile *m = unpack(p);
	int64_t spin_ns = 0, wanted = 0;

	for (size_t i = 0; i < m->n_sample; i++) {
		const Pprof__Sample *s = m->sample[i];

		spin_ns += s->value[3];
		ck_assert_int_eq(s->value[3], label(m, s, "spinning") ? s->value[1] : 0);
	}
	for (uint32_t i = 0; i < p->nsamples; i++)
		wanted += p->samples[i].spinning ? (int64_t)p->samples[i].cpu_ns : 0;
	ck_assert_int_gt(wanted, 0);
	ck_assert_int_eq(spin_ns, wanted);
	pprof__profile__free_unpacked(m, NULL);
	qz_profile__free(p);
}
END_TEST

/* Renames a member of the meta text. */
static void hide(Pprof__Profile *m, const char *member)
{
	char *at = strstr(m->string_table[m->n_string_table - 1], member);

	ck_assert_ptr_nonnull(at);
	at[0] = '_';
}

/* A snapshot as earlier versions wrote it: of samples, processor and normalized time alone. */
START_TEST(first_snapshots_are_read)
{
	static const uint64_t level_ns[] = {5, 100, 300};
	struct fixture f = fixture__new();
	struct qz_profile *q;
	const char *why = NULL;
	struct bytes raw;
	Pprof__Profile *m;
	size_t types;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "main run", 1, 7);
	fixture__samples(&f, 0, 0, "main", 2, 9);
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	m = unpack(f.p);
	types = m->n_sample_type;
	m->n_sample_type = 3;
	for (size_t i = 0; i < m->n_sample; i++)
		m->sample[i]->n_value = 3;
	hide(m, "objects");
	hide(m, "causes");
	raw.size = pprof__profile__get_packed_size(m);
	raw.data = malloc(raw.size);
	pprof__profile__pack(m, raw.data);
	q = qz_pprof__parse(raw.data, raw.size, &why);
	ck_assert_msg(q != NULL, "%s", why);
	fixture__assert_equal(f.p, q);
	free(raw.data);
	m->n_sample_type = types; /* for them to be freed */
	pprof__profile__free_unpacked(m, NULL);
	qz_profile__free(f.p);
	qz_profile__free(q);
}
END_TEST

/* ---- failures of the system ---- */

START_TEST(a_full_disk_is_reported)
{
	struct qz_profile *p = fixture__everything();
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(qz_pprof__write(p, fd), -ENOSPC);
	ck_assert_int_eq(qz_pprof__write(p, -1), -EBADF);
	close(fd);
	qz_profile__free(p);
}
END_TEST

START_TEST(a_directory_is_no_file)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *why = NULL;

	ck_assert_ptr_null(qz_pprof__read(fd, &why));
	ck_assert_int_eq(errno, EISDIR);
	ck_assert_str_eq(why, "cannot be read");
	close(fd);
}
END_TEST

START_TEST(writing_reports_lack_of_memory)
{
	struct qz_profile *p = fixture__everything();
	int err = -ENOMEM;

	for (unsigned int n = 1; err; n++) {
		int fd = bytes__file("", 0);

		failing__arm(n);
		err = qz_pprof__write(p, fd);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
		close(fd);
	}
	qz_profile__free(p);
}
END_TEST

START_TEST(writing_reports_a_full_disk)
{
	struct qz_profile *p = fixture__everything();
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(qz_pprof__write(p, fd), -ENOSPC);
	ck_assert_int_eq(close(fd), 0);
	qz_profile__free(p);
}
END_TEST

/* The parser of jansson 2.14 itself does not survive a lack of memory, so it gets enough. */
START_TEST(reading_reports_lack_of_memory)
{
	struct qz_profile *p = fixture__everything(), *q = NULL;
	struct bytes gz = bytes__of_profile(p);
	int fd = bytes__file(gz.data, gz.size);

	failing__include_jansson(false);
	for (unsigned int n = 1; !q; n++) {
		const char *why = NULL;
		bool failed;

		ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
		failing__arm(n);
		q = qz_pprof__read(fd, &why);
		failed = failing__disarm();
		ck_assert_int_eq(failed, !q);
		if (failed) {
			ck_assert_int_eq(errno, ENOMEM);
			ck_assert_str_eq(why, "memory is short");
		}
	}
	failing__include_jansson(true);
	fixture__assert_equal(p, q);
	close(fd);
	free(gz.data);
	qz_profile__free(p);
	qz_profile__free(q);
}
END_TEST

Suite *suite_pprof(void)
{
	Suite *s = suite_create("pprof");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, everything_comes_back);
	tcase_add_loop_test(tc, random_profiles_come_back, 0, RANDOM_PROFILES);
	tcase_add_test(tc, an_empty_profile_comes_back);
	tcase_add_test(tc, a_profile_that_was_read_can_grow);
	tcase_add_test(tc, a_name_equal_to_the_meta_text_does_no_harm);
	tcase_add_test(tc, equal_profiles_give_equal_files);
	tcase_add_test(tc, others_find_the_run);
	tcase_add_test(tc, others_find_the_code);
	tcase_add_test(tc, others_find_the_samples);
	tcase_add_test(tc, the_executable_is_told_from_libraries);
	tcase_add_test(tc, others_find_the_waits);
	tcase_add_test(tc, others_find_the_spinning);
	tcase_add_test(tc, first_snapshots_are_read);
	tcase_add_test(tc, a_full_disk_is_reported);
	tcase_add_test(tc, a_directory_is_no_file);
	tcase_add_test(tc, writing_reports_a_full_disk);
	tcase_add_test(tc, writing_reports_lack_of_memory);
	tcase_add_test(tc, reading_reports_lack_of_memory);
	suite_add_tcase(s, tc);
	return s;
}
