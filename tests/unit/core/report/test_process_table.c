/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes beside each other and within the machine, and the units that they belong to. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/estimate/estimate.h"
#include "core/format/pprof.h"
#include "core/format/profile.pb-c.h"
#include "core/report/process_table.h"
#include "core/report/report.h"
#include "core/util/systemd_unit.h"
#include "tests/unit/bytes.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

static void set_scope(struct qz_profile *p, uint32_t i, enum qz_scope_kind kind, const char *comm,
		      const char *cgroup)
{
	p->scopes[i].kind = kind;
	qz_profile__set_string(&p->scopes[i].comm, comm);
	qz_profile__set_string(&p->scopes[i].cgroup, cgroup);
}

/*
 * A machine of two processors for 100 ns: 60 with both busy, 30 with one. The first process has two
 * threads and runs on both for 30 ns; the other two have one each.
 */
static struct qz_profile *machine(void)
{
	static const uint64_t levels[][3] = {{10, 30, 60}, {40, 30, 30}, {60, 40, 0}, {80, 20, 0}};
	static const uint64_t cpu_ns[] = {0, 90, 40, 20};
	struct fixture f = fixture__new();

	for (uint32_t i = 0; i < 4; i++) {
		fixture__scope(&f, levels[i], 3);
		f.p->scopes[i].pid = (int32_t)i;
		f.p->scopes[i].cpu_ns = cpu_ns[i];
		f.p->scopes[i].counters.threads_seen = i ? 1 : 0;
	}
	for (uint32_t i = 1; i < 4; i++)
		fixture__thread(&f, i, (int32_t)i);
	set_scope(f.p, 0, QZ_SCOPE_MACHINE, "machine", "");
	set_scope(f.p, 1, QZ_SCOPE_PROCESS, "one", "/system.slice/a.service");
	set_scope(f.p, 2, QZ_SCOPE_PROCESS, "two", "/system.slice/b.service/child");
	set_scope(f.p, 3, QZ_SCOPE_PROCESS, "two", "/system.slice/a.service");
	fixture__samples(&f, 1, 0, "main f", 1, 3);
	fixture__samples(&f, 1, 0, "main g", 2, 6);
	fixture__samples(&f, 2, 1, "main g", 1, 4);
	fixture__samples(&f, 3, 2, "main h", 1, 2);
	/* the same as the machine has them */
	fixture__samples(&f, 0, 0, "main f", 1, 3);
	fixture__samples(&f, 0, 0, "main g", 2, 6);
	fixture__samples(&f, 0, 1, "main g", 2, 4);
	fixture__samples(&f, 0, 2, "main h", 2, 2);
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	return f.p;
}

static const uint32_t all[] = {0, 1, 2, 3};

/* Processes that ended within a second are so many as threads were seen, and one row among processes. */
START_TEST(a_group_counts_as_its_processes)
{
	struct qz_profile *p = machine();
	struct qz_process_table t;

	p->scopes[3].pid = 0;
	p->scopes[3].start_ns = 1;
	p->scopes[3].counters.threads_seen = 1234;
	ck_assert_int_eq(qz_process_table__make(&t, p, all, 4, QZ_BY_PROCESS, QZ_ORDER_NORM), 0);
	ck_assert_uint_eq(t.n, 3);
	ck_assert_str_eq(t.rows[2].name, "two (short-lived)");
	ck_assert_uint_eq(t.rows[2].processes, 1234);
	qz_process_table__free(&t);
	ck_assert_int_eq(qz_process_table__make(&t, p, all, 4, QZ_BY_COMM, QZ_ORDER_NORM), 0);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_str_eq(t.rows[1].name, "two");
	ck_assert_uint_eq(t.rows[1].processes, 1235);
	qz_process_table__free(&t);
	qz_profile__free(p);
}
END_TEST

START_TEST(processes_add_up_to_the_machine)
{
	struct qz_profile *p = machine();
	struct qz_process_table t;
	uint64_t norm = 0;

	ck_assert_int_eq(qz_process_table__make(&t, p, all, 4, QZ_BY_PROCESS, QZ_ORDER_NORM), 0);
	ck_assert_uint_eq(t.n, 3);
	for (uint32_t i = 0; i < t.n; i++)
		norm += t.rows[i].norm_ns;
	ck_assert_uint_eq(t.busy_ns, 90);
	ck_assert_uint_eq(t.unattributed_ns, 0);
	ck_assert_uint_eq(norm, 90);
	/* 30 alone, and half of the 60 */
	ck_assert_uint_eq(t.rows[0].scope, 1);
	ck_assert_uint_eq(t.rows[0].norm_ns, 60);
	ck_assert_uint_eq(t.rows[0].busy_ns, 60);
	ck_assert_uint_eq(t.rows[0].serial_ns, 30);
	ck_assert_double_eq(qz_process_row__parallelism(&t.rows[0]), 1.5);
	ck_assert_double_eq(qz_process_row__serial(&t.rows[0]), 0.5);
	ck_assert_uint_eq(t.rows[0].top_procedure, fixture__procedure(p, "f"));
	ck_assert_uint_eq(t.rows[1].norm_ns, 20);
	ck_assert_uint_eq(t.rows[1].busy_ns, 40);
	ck_assert_double_eq(qz_process_row__parallelism(&t.rows[1]), 1);
	ck_assert_uint_eq(t.rows[2].norm_ns, 10);
	qz_process_table__free(&t);
	qz_profile__free(p);
}
END_TEST

/* Without any sample what is exact stays, to the nanosecond. */
START_TEST(exact_figures_need_no_samples)
{
	struct qz_profile *p = machine();
	struct qz_process_table t;

	for (uint32_t i = 0; i < p->nsamples; i++)
		p->samples[i].count = 0;
	for (uint32_t i = 0; i < p->nscopes; i++)
		p->scopes[i].samples = 0;
	qz_profile__drop_empty_samples(p);
	ck_assert_int_eq(qz_estimate__profile(p), 0);
	ck_assert_int_eq(qz_process_table__make(&t, p, all, 4, QZ_BY_PROCESS, QZ_ORDER_AUTO), 0);
	ck_assert_uint_eq(t.n, 3);
	ck_assert_int_eq(t.order, QZ_ORDER_CPU);
	ck_assert_uint_eq(t.busy_ns, 90);
	ck_assert_uint_eq(t.unattributed_ns, 90);
	ck_assert_uint_eq(t.rows[0].scope, 1);
	ck_assert_uint_eq(t.rows[0].cpu_ns, 90);
	ck_assert_uint_eq(t.rows[0].busy_ns, 60);
	ck_assert_uint_eq(t.rows[0].serial_ns, 30);
	ck_assert_double_eq(qz_process_row__parallelism(&t.rows[0]), 1.5);
	ck_assert_uint_eq(t.rows[1].cpu_ns, 40);
	ck_assert_uint_eq(t.rows[2].cpu_ns, 20);
	for (uint32_t i = 0; i < t.n; i++) {
		ck_assert_uint_eq(t.rows[i].norm_ns, 0);
		ck_assert(qz_process_table__is_rough(&t, &t.rows[i]));
		ck_assert_uint_eq(t.rows[i].ci_ns, 90); /* nothing is known of it */
	}
	qz_process_table__free(&t);
	qz_profile__free(p);
}
END_TEST

static void set_samples(struct qz_profile *p, uint64_t one, uint64_t two, uint64_t three)
{
	p->scopes[0].samples = one + two + three;
	p->scopes[1].samples = one;
	p->scopes[2].samples = two;
	p->scopes[3].samples = three;
}

/* Of 150 ns of processor time the processes have 90, 40 and 20. */
START_TEST(the_order_is_exact_where_samples_are_few)
{
	struct qz_profile *p = machine();
	struct qz_process_table t;

	set_samples(p, QZ_FEW_SAMPLES, QZ_FEW_SAMPLES - 1, QZ_FEW_SAMPLES - 1);
	ck_assert_int_eq(qz_process_table__make(&t, p, all, 4, QZ_BY_PROCESS, QZ_ORDER_AUTO), 0);
	ck_assert_int_eq(t.order, QZ_ORDER_NORM);
	ck_assert(!qz_process_table__is_rough(&t, &t.rows[0]));
	ck_assert(qz_process_table__is_rough(&t, &t.rows[1]));
	ck_assert_uint_gt(t.rows[1].ci_ns, 0);
	qz_process_table__free(&t);
	set_samples(p, QZ_FEW_SAMPLES - 1, QZ_FEW_SAMPLES, QZ_FEW_SAMPLES);
	ck_assert_int_eq(qz_process_table__make(&t, p, all, 4, QZ_BY_PROCESS, QZ_ORDER_AUTO), 0);
	ck_assert_int_eq(t.order, QZ_ORDER_CPU);
	qz_process_table__free(&t);
	ck_assert_int_eq(qz_process_table__make(&t, p, all, 4, QZ_BY_PROCESS, QZ_ORDER_NORM), 0);
	ck_assert_int_eq(t.order, QZ_ORDER_NORM); /* as it was asked for */
	qz_process_table__free(&t);
	/* without a machine normalized times are levels, and exact */
	p->scopes[0].kind = QZ_SCOPE_JOB;
	ck_assert_int_eq(qz_process_table__make(&t, p, all + 1, 3, QZ_BY_PROCESS, QZ_ORDER_AUTO),
			 0);
	ck_assert_int_eq(t.order, QZ_ORDER_NORM);
	ck_assert(!qz_process_table__is_rough(&t, &t.rows[0]));
	ck_assert_uint_eq(t.rows[0].ci_ns, 0);
	qz_process_table__free(&t);
	qz_profile__free(p);
}
END_TEST

START_TEST(rates_are_those_of_the_samples)
{
	struct qz_profile *p = machine();

	p->rate_hz = 99;
	ck_assert_double_eq(qz_profile__rate(p), 99);
	ck_assert_double_eq(qz_profile__least_rate(p), 99);
	p->samples[1].halvings = 5;
	ck_assert_double_eq(qz_profile__rate(p), 99);
	ck_assert_double_eq(qz_profile__least_rate(p), 99 / 32.0);
	p->halvings = 6;
	ck_assert_double_eq(qz_profile__rate(p), 99 / 64.0);
	ck_assert_double_eq(qz_profile__least_rate(p), 99 / 64.0);
	qz_profile__free(p);
}
END_TEST

START_TEST(groups_are_sums)
{
	struct qz_profile *p = machine();
	struct qz_process_table t;

	ck_assert_int_eq(qz_process_table__make(&t, p, all, 4, QZ_BY_UNIT, QZ_ORDER_NAME), 0);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_str_eq(t.rows[0].name, "a.service");
	ck_assert_uint_eq(t.rows[0].processes, 2);
	ck_assert_uint_eq(t.rows[0].cpu_ns, 110);
	ck_assert_uint_eq(t.rows[0].norm_ns, 70);
	ck_assert_uint_eq(t.rows[0].busy_ns, 80);
	ck_assert_str_eq(t.rows[1].name, "b.service");
	qz_process_table__free(&t);
	ck_assert_int_eq(qz_process_table__make(&t, p, all, 4, QZ_BY_COMM, QZ_ORDER_CPU), 0);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_str_eq(t.rows[1].name, "two");
	ck_assert_uint_eq(t.rows[1].processes, 2);
	ck_assert_uint_eq(t.rows[1].cpu_ns, 60);
	qz_process_table__free(&t);
	ck_assert_int_eq(qz_process_table__make(&t, p, all + 2, 1, QZ_BY_PROCESS, QZ_ORDER_NORM),
			 0);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_uint_eq(t.rows[0].norm_ns, 20);
	qz_process_table__free(&t);
	qz_profile__free(p);
}
END_TEST

START_TEST(the_machine_covers_all_threads)
{
	struct qz_profile *p = machine();
	struct qz_report *r = qz_report__new(p, 0), *own = qz_report__new(p, 1);
	uint64_t norm = 0;

	ck_assert_ptr_nonnull(r);
	ck_assert_ptr_nonnull(own);
	ck_assert_uint_eq(r->nthreads, 3);
	ck_assert_uint_eq(own->nthreads, 1);
	for (uint32_t i = 0; i < r->nthreads; i++)
		norm += r->threads[i].figure.norm_ns;
	ck_assert_uint_eq(norm, 90);
	ck_assert_uint_eq(r->busy_ns, 90);
	ck_assert_uint_eq(own->busy_ns, 60);
	qz_report__free(own);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(a_file_keeps_the_machine)
{
	struct qz_profile *p = machine(), *q;
	int fd = memfd_create("machine", MFD_CLOEXEC);
	const char *why = NULL;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(qz_pprof__write(p, fd), 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	q = qz_pprof__read(fd, &why);
	ck_assert_msg(q != NULL, "%s", why);
	fixture__assert_equal(p, q);
	ck_assert_uint_eq(q->scopes[0].kind, QZ_SCOPE_MACHINE);
	ck_assert_str_eq(q->scopes[2].cgroup, "/system.slice/b.service/child");
	qz_profile__free(q);
	qz_profile__free(p);
	close(fd);
}
END_TEST

static const char *text(const Pprof__Profile *m, int64_t number)
{
	return m->string_table[number];
}

/* Whether a sample has a label, which is a string, of this kind. */
static bool says(const Pprof__Profile *m, const Pprof__Sample *s, const char *key,
		 const char *value)
{
	for (size_t i = 0; i < s->n_label; i++)
		if (!strcmp(text(m, s->label[i]->key), key))
			return !strcmp(text(m, s->label[i]->str), value);
	return false;
}

/*
 * Other readers show the default type, and its total as so much of the elapsed time. The processes'
 * own normalized times, 60 + 40 + 20, are more than the 100 ns that there were.
 */
START_TEST(others_see_what_adds_up)
{
	struct qz_profile *p = machine();
	struct bytes gz = bytes__of_profile(p), raw = bytes__expand(&gz);
	Pprof__Profile *m = pprof__profile__unpack(NULL, raw.size, raw.data);
	int64_t total = 0, own = 0, of_one = 0, of_unit = 0;
	size_t type = 0;

	while (m->sample_type[type]->type != m->default_sample_type)
		ck_assert_uint_lt(++type, m->n_sample_type);
	for (size_t i = 0; i < m->n_sample; i++) {
		const Pprof__Sample *s = m->sample[i];

		total += s->value[type];
		own += s->value[2];
		if (says(m, s, "comm", "one") && says(m, s, "thread", "app 1"))
			of_one += s->value[type];
		if (says(m, s, "unit", "a.service"))
			of_unit += s->value[type];
		ck_assert(says(m, s, "pid", "100"));
	}
	ck_assert_str_eq(text(m, m->default_sample_type), "machine_norm_cpu");
	ck_assert_int_eq(total, 90);
	ck_assert_int_eq(own, 120);
	ck_assert_int_eq(of_one, 60);
	ck_assert_int_eq(of_unit, 70);
	pprof__profile__free_unpacked(m, NULL);
	free(raw.data);
	free(gz.data);
	qz_profile__free(p);
}
END_TEST

START_TEST(a_thread_of_another_scope_is_refused_elsewhere)
{
	struct qz_profile *p = machine();
	struct qz_sample s = {.scope = 1, .thread = 1, .level = 1, .busy = 1, .object = QZ_NONE};

	ck_assert_int_lt(qz_profile__intern_sample(p, &s), 0);
	s.scope = 0;
	ck_assert_int_ge(qz_profile__intern_sample(p, &s), 0);
	qz_profile__free(p);
}
END_TEST

START_TEST(units)
{
	static const char *const cases[][2] = {
		{"/system.slice/redis.service", "redis.service"},
		{"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service"},
		{"/user.slice/user-0.slice/session-1.scope", "session-1.scope"},
		{"/user.slice/user-0.slice/user@0.service/app.slice/x.service/y", "x.service"},
		{"/system.slice/docker-0f.scope/init", "docker-0f.scope"},
		{"/user.slice", "user.slice"},
		{"/", ""},
		{"", ""},
		{"/.service", ""},
		{"/lxc/box", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char unit[QZ_UNIT_LENGTH];

		qz_systemd_unit__of_cgroup(cases[i][0], unit);
		ck_assert_str_eq(unit, cases[i][1]);
	}
}
END_TEST

START_TEST(control_groups)
{
	static const char *const cases[][2] = {
		{"0::/system.slice/a.service\n", "/system.slice/a.service"},
		{"9:name=systemd:/a\n4:memory:/b\n0::/\n", "/a"},
		{"9:name=systemd:/\n4:memory:/b\n0::/\n", "/b"},
		{"4:memory:/\n0::/\n", "/"},
		{"4:cpu,cpuacct:/x:y\n", "/x:y"},
		{"0::/no newline", "/no newline"},
		{"nonsense\n", ""},
		{"0:\n:\n", ""},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char cgroup[64];

		qz_systemd_unit__cgroup_of(cases[i][0], cgroup, sizeof(cgroup));
		ck_assert_str_eq(cgroup, cases[i][1]);
	}
}
END_TEST

Suite *suite_process_table(void)
{
	Suite *suite = suite_create("process_table");
	TCase *tc = tcase_create("processes");

	tcase_add_test(tc, processes_add_up_to_the_machine);
	tcase_add_test(tc, a_group_counts_as_its_processes);
	tcase_add_test(tc, exact_figures_need_no_samples);
	tcase_add_test(tc, the_order_is_exact_where_samples_are_few);
	tcase_add_test(tc, rates_are_those_of_the_samples);
	tcase_add_test(tc, groups_are_sums);
	tcase_add_test(tc, the_machine_covers_all_threads);
	tcase_add_test(tc, a_file_keeps_the_machine);
	tcase_add_test(tc, others_see_what_adds_up);
	tcase_add_test(tc, a_thread_of_another_scope_is_refused_elsewhere);
	tcase_add_test(tc, units);
	tcase_add_test(tc, control_groups);
	suite_add_tcase(suite, tc);
	return suite;
}
