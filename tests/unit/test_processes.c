/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes beside each other and within the machine, and the units that they belong to. */
#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/estimate.h"
#include "core/pprof.h"
#include "core/processes.h"
#include "core/report.h"
#include "core/unit.h"
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
		f.p->scopes[i].cpu_ns = cpu_ns[i];
		f.p->scopes[i].threads_seen = i ? 1 : 0;
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
	ck_assert_int_eq(qz_profile__estimate(f.p), 0);
	return f.p;
}

static const uint32_t all[] = {0, 1, 2, 3};

START_TEST(processes_add_up_to_the_machine)
{
	struct qz_profile *p = machine();
	struct qz_processes t;
	uint64_t norm = 0;

	ck_assert_int_eq(qz_processes__make(&t, p, all, 4, QZ_BY_PROCESS, QZ_ORDER_NORM), 0);
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
	qz_processes__free(&t);
	qz_profile__free(p);
}
END_TEST

START_TEST(groups_are_sums)
{
	struct qz_profile *p = machine();
	struct qz_processes t;

	ck_assert_int_eq(qz_processes__make(&t, p, all, 4, QZ_BY_UNIT, QZ_ORDER_NAME), 0);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_str_eq(t.rows[0].name, "a.service");
	ck_assert_uint_eq(t.rows[0].processes, 2);
	ck_assert_uint_eq(t.rows[0].cpu_ns, 110);
	ck_assert_uint_eq(t.rows[0].norm_ns, 70);
	ck_assert_uint_eq(t.rows[0].busy_ns, 80);
	ck_assert_str_eq(t.rows[1].name, "b.service");
	qz_processes__free(&t);
	ck_assert_int_eq(qz_processes__make(&t, p, all, 4, QZ_BY_COMM, QZ_ORDER_CPU), 0);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_str_eq(t.rows[1].name, "two");
	ck_assert_uint_eq(t.rows[1].processes, 2);
	ck_assert_uint_eq(t.rows[1].cpu_ns, 60);
	qz_processes__free(&t);
	ck_assert_int_eq(qz_processes__make(&t, p, all + 2, 1, QZ_BY_PROCESS, QZ_ORDER_NORM), 0);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_uint_eq(t.rows[0].norm_ns, 20);
	qz_processes__free(&t);
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

		qz_unit__of_cgroup(cases[i][0], unit);
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

		qz_unit__cgroup_of(cases[i][0], cgroup, sizeof(cgroup));
		ck_assert_str_eq(cgroup, cases[i][1]);
	}
}
END_TEST

Suite *suite_processes(void)
{
	Suite *suite = suite_create("processes");
	TCase *tc = tcase_create("processes");

	tcase_add_test(tc, processes_add_up_to_the_machine);
	tcase_add_test(tc, groups_are_sums);
	tcase_add_test(tc, the_machine_covers_all_threads);
	tcase_add_test(tc, a_file_keeps_the_machine);
	tcase_add_test(tc, a_thread_of_another_scope_is_refused_elsewhere);
	tcase_add_test(tc, units);
	tcase_add_test(tc, control_groups);
	suite_add_tcase(suite, tc);
	return suite;
}
