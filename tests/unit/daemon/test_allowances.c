/* SPDX-License-Identifier: GPL-2.0-only */
/* Quotas and cpusets of control groups, from directories like those of both versions. */
#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/model/profile_index.h"
#include "core/util/cpu_list.h"
#include "daemon/collect/allowances.h"
#include "daemon/util/cpu_limit.h"
#include "tests/unit/suites.h"

static char root[] = "/tmp/quartz-allowances.XXXXXX";

static void make_root(void)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
}

/* Writes a file of a group, whose directories are made. */
static void put(const char *group, const char *name, const char *text)
{
	char path[500];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s/%s", root, group, name);
	for (char *c = path + strlen(root) + 1; (c = strchr(c, '/')); c++) {
		*c = '\0';
		mkdir(path, 0700);
		*c = '/';
	}
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static const struct {
	const char *text, *controller, *path;
	bool unified;
} memberships[] = {
	{"0::/a.slice/b\n", "cpu", "/a.slice/b", true},
	{"2:cpuacct:/x\n1:cpu:/y\n0::/z\n", "cpu", "/y", false},
	{"0::/z\n1:cpu:/y\n", "cpu", "/y", false},
	{"4:cpu,cpuacct:/y:with:colons\n3:cpuset:/\n", "cpu", "/y:with:colons", false},
	{"4:cpuacct,cpu:/y\n3:cpuset:/s\n0::/\n", "cpuset", "/s", false},
	{"3:cpuset:/s\n0::/u\n", "cpu", "/u", true},
	{"3:cpuset:/s\n", "cpu", NULL, false},
	{"0::/../outside\n", "cpu", NULL, true},
	{"0::/..x\n", "cpu", "/..x", true},
	{"0::relative\n", "cpu", NULL, true},
	{"nonsense\n::\n:\n", "cpu", NULL, false},
	{"", "cpu", NULL, false},
};

START_TEST(the_group_of_a_controller_is_found)
{
	struct cpu_limit_group g;
	bool found = cpu_limit__group(memberships[_i].text, memberships[_i].controller, &g);

	ck_assert_int_eq(found, memberships[_i].path != NULL);
	if (!found)
		return;
	ck_assert_str_eq(g.path, memberships[_i].path);
	ck_assert_int_eq(g.unified, memberships[_i].unified);
}
END_TEST

START_TEST(groups_lead_to_the_root)
{
	struct cpu_limit_group g = {.path = "/a/b"};

	ck_assert(cpu_limit__up(&g));
	ck_assert_str_eq(g.path, "/a");
	ck_assert(cpu_limit__up(&g));
	ck_assert_str_eq(g.path, "/");
	ck_assert(!cpu_limit__up(&g));
}
END_TEST

START_TEST(quotas_of_both_versions_are_read)
{
	struct cpu_limit_group g = {.unified = _i, .path = "/app"};
	struct cpu_limit_quota q;

	ck_assert(!cpu_limit__quota(root, &g, &q));
	if (_i) {
		put("/app", "cpu.max", "50000 100000\n");
		put("/app", "cpu.stat",
		    "usage_usec 5\nnr_periods 9\nnr_throttled 7\nthrottled_usec 8000\n");
	} else {
		put("/cpu/app", "cpu.cfs_quota_us", "50000\n");
		put("/cpu/app", "cpu.cfs_period_us", "100000\n");
		put("/cpu/app", "cpu.stat",
		    "nr_periods 9\nnr_throttled 7\nthrottled_time 8000000\n");
	}
	ck_assert(cpu_limit__quota(root, &g, &q));
	ck_assert_uint_eq(q.quota_us, 50000);
	ck_assert_uint_eq(q.period_us, 100000);
	ck_assert_uint_eq(q.periods, 9);
	ck_assert_uint_eq(q.throttled, 7);
	ck_assert_uint_eq(q.throttled_ns, 8000000);
	if (_i)
		put("/app", "cpu.max", "max 100000\n");
	else
		put("/cpu/app", "cpu.cfs_quota_us", "-1\n");
	ck_assert(cpu_limit__quota(root, &g, &q));
	ck_assert_uint_eq(q.quota_us, 0);
}
END_TEST

/* A job, and an image of this process. */
struct world {
	struct qz_profile *p;
	struct allowances *a;
	struct image image;
};

static struct world make_world(uint32_t processors)
{
	struct qz_scope job = {.kind = QZ_SCOPE_JOB, .nlevels = 1};
	struct world w = {.p = qz_profile__new(), .image = {.pid = getpid()}};

	w.p->processors = processors;
	w.a = allowances__new(w.p, root);
	ck_assert_int_eq(qz_profile__add_scope(w.p, &job), 0);
	allowances__add_scope(w.a, 0);
	return w;
}

static void end_world(struct world *w)
{
	allowances__free(w->a);
	qz_profile__free(w->p);
}

static void put_quota(const char *group, const char *max, uint64_t periods, uint64_t throttled_ms)
{
	char text[200];

	put(group, "cpu.max", max);
	snprintf(text, sizeof(text), "nr_periods %lu\nnr_throttled %lu\nthrottled_usec %lu\n",
		 periods, periods, 1000 * throttled_ms);
	put(group, "cpu.stat", text);
}

/* The inner group has the smaller quota, and the outer one throttles; what was before does not count. */
START_TEST(the_quota_that_throttles_is_told)
{
	struct world w = make_world(2);
	struct qz_scope *s = w.p->scopes;

	put_quota("/pod", "20000 100000\n", 1000, 5000);
	put_quota("/pod/app", "10000 100000\n", 100, 700);
	allowances__begin(w.a, 0, &w.image, "0::/pod/app\n");
	allowances__refresh(w.a);
	ck_assert_uint_eq(s->throttled_ns, 0);
	ck_assert_uint_eq(s->quota_us, 10000);
	ck_assert_str_eq(s->quota_cgroup, "/pod/app");
	put_quota("/pod", "20000 100000\n", 1010, 5900);
	allowances__look(w.a);
	put_quota("/pod", "20000 100000\n", 1011, 6000);
	put_quota("/pod/app", "10000 100000\n", 102, 800);
	allowances__refresh(w.a);
	ck_assert_uint_eq(s->throttled_ns, 1100000000);
	ck_assert_uint_eq(s->quota_periods, 13);
	ck_assert_uint_eq(s->quota_us, 20000);
	ck_assert_uint_eq(s->quota_period_us, 100000);
	ck_assert_str_eq(s->quota_cgroup, "/pod");
	/* a container that is removed keeps what it had */
	remove_root();
	make_root();
	allowances__refresh(w.a);
	ck_assert_uint_eq(s->throttled_ns, 1100000000);
	end_world(&w);
}
END_TEST

/* A command enters the group with a quota; what its group before had is kept, a helper outside changes nothing. */
START_TEST(a_command_may_move)
{
	struct world w = make_world(2);
	struct qz_scope *s = w.p->scopes;

	put("/a", "cpu.max", "max 100000\n");
	put_quota("/b", "50000 100000\n", 0, 0);
	put_quota("/c", "60000 100000\n", 0, 0);
	allowances__begin(w.a, 0, &w.image, "0::/a\n");
	allowances__refresh(w.a);
	ck_assert_uint_eq(s->quota_us, 0);
	allowances__begin(w.a, 0, &w.image, "0::/b\n");
	put_quota("/b", "50000 100000\n", 1, 10);
	allowances__begin(w.a, 0, &w.image, "0::/a\n");
	allowances__refresh(w.a);
	ck_assert_uint_eq(s->quota_us, 50000);
	ck_assert_uint_eq(s->throttled_ns, 10000000);
	allowances__begin(w.a, 0, &w.image, "0::/c\n");
	put_quota("/b", "50000 100000\n", 2, 20);
	put_quota("/c", "60000 100000\n", 1, 5);
	allowances__refresh(w.a);
	ck_assert_str_eq(s->quota_cgroup, "/c");
	ck_assert_uint_eq(s->throttled_ns, 15000000);
	end_world(&w);
}
END_TEST

START_TEST(forked_processes_have_their_parents)
{
	struct qz_scope process = {.kind = QZ_SCOPE_PROCESS, .nlevels = 1};
	struct world w = make_world(2);
	struct image child = {.pid = 1};

	ck_assert_int_eq(qz_profile__add_scope(w.p, &process), 1);
	allowances__add_scope(w.a, 1);
	put_quota("/b", "50000 100000\n", 0, 0);
	put("/b", "cpuset.cpus.effective", "1\n");
	allowances__begin(w.a, 0, &w.image, "0::/b\n");
	ck_assert_str_eq(w.p->scopes[0].cpuset, "1");
	w.image.cpus = 1;
	allowances__fork(w.a, 1, &child, &w.image, 0);
	put_quota("/b", "50000 100000\n", 1, 10);
	allowances__refresh(w.a);
	ck_assert_uint_eq(child.cpus, 1);
	ck_assert_uint_eq(w.p->scopes[1].throttled_ns, 10000000);
	ck_assert_uint_eq(w.p->scopes[1].quota_us, 50000);
	ck_assert_str_eq(w.p->scopes[1].cpuset, "1");
	/* another process takes its place in the profile */
	qz_scope__vacate(w.p, 1);
	allowances__add_scope(w.a, 1);
	put_quota("/b", "50000 100000\n", 2, 20);
	allowances__refresh(w.a);
	ck_assert_uint_eq(w.p->scopes[1].throttled_ns, 0);
	end_world(&w);
}
END_TEST

/* One processor of the machine's 8192 is less than all. */
START_TEST(threads_tell_their_processors)
{
	struct world w = make_world(QZ_CPUS);
	struct qz_thread row = {.tid = getpid(), .pid = getpid()}, ended = {.tid = -1, .pid = 1};
	cpu_set_t before, one;
	char cpu[20];
	int first = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	while (!CPU_ISSET(first, &before))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	snprintf(cpu, sizeof(cpu), "%d", first);
	ck_assert_int_eq(qz_profile__add_thread(w.p, &row), 0);
	ck_assert_int_eq(qz_profile__add_thread(w.p, &ended), 1);
	allowances__begin(w.a, 0, &w.image, "");
	ck_assert_uint_ne(w.image.cpus, 0);
	/* one that was never seen alive has its process', and so has one that cannot be asked any more */
	allowances__thread(w.a, 1, &w.image, _i);
	ck_assert_str_eq(w.p->threads[1].cpus, cpu);
	allowances__thread(w.a, 0, NULL, true);
	ck_assert_str_eq(w.p->threads[0].cpus, cpu);
	w.p->processors = 1;
	allowances__thread(w.a, 0, &w.image, true);
	ck_assert_str_eq(w.p->threads[0].cpus, "");
	ck_assert_uint_eq(w.image.cpus, 0);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
	end_world(&w);
}
END_TEST

Suite *suite_allowances(void)
{
	Suite *s = suite_create("allowances");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, make_root, remove_root);
	tcase_add_loop_test(tc, the_group_of_a_controller_is_found, 0,
			    sizeof(memberships) / sizeof(memberships[0]));
	tcase_add_test(tc, groups_lead_to_the_root);
	tcase_add_loop_test(tc, quotas_of_both_versions_are_read, 0, 2);
	tcase_add_test(tc, the_quota_that_throttles_is_told);
	tcase_add_test(tc, a_command_may_move);
	tcase_add_test(tc, forked_processes_have_their_parents);
	tcase_add_loop_test(tc, threads_tell_their_processors, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
