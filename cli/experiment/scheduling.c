/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/scheduling.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/util/vec.h"

#define MOST_ROUNDS 10 /* threads that start threads while the list is read */

/* Calls `act` for each thread that a process has now; of its errors those of threads that have ended are none. */
static int each_thread(pid_t pid, int (*act)(void *context, pid_t pid, pid_t tid), void *context)
{
	struct dirent *entry;
	char path[64];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			err = act(context, pid, tid);
		if (err == -ESRCH)
			err = 0;
	}
	closedir(dir);
	return err;
}

static int each(const struct qz_integers *pids, int (*act)(void *context, pid_t pid, pid_t tid),
		void *context, pid_t *pid)
{
	int err = 0;

	for (size_t i = 0; !err && i < pids->n; i++) {
		*pid = (pid_t)pids->items[i];
		err = each_thread(*pid, act, context);
	}
	return err;
}

static int keep(void *context, pid_t pid, pid_t tid)
{
	struct scheduling_of_thread thread = {.pid = pid, .tid = tid};
	struct scheduling *s = context;

	errno = 0;
	thread.nice = getpriority(PRIO_PROCESS, (id_t)tid);
	if (errno)
		return -errno;
	thread.policy = sched_getscheduler(tid);
	if (thread.policy < 0 || sched_getaffinity(tid, sizeof(thread.set), &thread.set))
		return -errno;
	if (qz_array__reserve((void **)&s->threads, s->n, sizeof(*s->threads)))
		return -ENOMEM;
	s->threads[s->n++] = thread;
	return 0;
}

int scheduling__keep(struct scheduling *s, const struct qz_integers *pids, pid_t *pid)
{
	*s = (struct scheduling) {0};
	return each(pids, keep, s, pid);
}

/* ---- changing ---- */

struct changing {
	const struct change *change;
	cpu_set_t set;
	uint32_t changed;
};

static int set_affinity(struct changing *c, pid_t tid)
{
	cpu_set_t now;

	if (sched_getaffinity(tid, sizeof(now), &now))
		return -errno;
	if (CPU_EQUAL(&now, &c->set))
		return 0;
	c->changed++;
	return sched_setaffinity(tid, sizeof(c->set), &c->set) ? -errno : 0;
}

static int set_nice(struct changing *c, pid_t tid)
{
	errno = 0;
	if (getpriority(PRIO_PROCESS, (id_t)tid) == c->change->value || errno)
		return -errno;
	c->changed++;
	return setpriority(PRIO_PROCESS, (id_t)tid, (int)c->change->value) ? -errno : 0;
}

static int set_policy(struct changing *c, pid_t tid)
{
	const struct sched_param param = {0};
	int policy = sched_getscheduler(tid);

	if (policy != SCHED_OTHER)
		return policy < 0 ? -errno : 0;
	c->changed++;
	return sched_setscheduler(tid, SCHED_BATCH, &param) ? -errno : 0;
}

static int change(void *context, pid_t pid, pid_t tid)
{
	struct changing *c = context;

	(void)pid;
	return c->change->way == QZ_REMEDY_AFFINITY ? set_affinity(c, tid)
	       : c->change->way == QZ_REMEDY_NICE   ? set_nice(c, tid)
						    : set_policy(c, tid);
}

int scheduling__change(const struct qz_integers *pids, const struct change *to,
		       const struct processors *on, pid_t *pid)
{
	struct changing c = {.change = to};
	char option[32];
	int err = 0;

	if (to->way == QZ_REMEDY_AFFINITY)
		processors__choose(on, (uint32_t)to->value, 0, &c.set, option);
	/* what a thread that was not changed yet has started meanwhile */
	for (int i = 0; !err && i < MOST_ROUNDS; i++) {
		c.changed = 0;
		err = each(pids, change, &c, pid);
		if (!c.changed)
			break;
	}
	return err;
}

/* ---- giving back ---- */

static const struct scheduling_of_thread *find(const struct scheduling *s, pid_t pid, pid_t tid)
{
	const struct scheduling_of_thread *of = NULL;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct scheduling_of_thread *t = &s->threads[i];

		if (t->pid == pid && (t->tid == tid || !of))
			of = t;
		if (t->tid == tid)
			break;
	}
	return of ? of : &s->threads[0];
}

/* Only what differs: a policy with a priority is never changed here. */
static int give_back(void *context, pid_t pid, pid_t tid)
{
	const struct scheduling_of_thread *of = find(context, pid, tid);
	const struct sched_param param = {0};

	sched_setaffinity(tid, sizeof(of->set), &of->set);
	if (sched_getscheduler(tid) == SCHED_BATCH && of->policy == SCHED_OTHER)
		sched_setscheduler(tid, SCHED_OTHER, &param);
	if (getpriority(PRIO_PROCESS, (id_t)tid) != of->nice)
		setpriority(PRIO_PROCESS, (id_t)tid, of->nice);
	return 0;
}

void scheduling__restore(const struct scheduling *s, const struct qz_integers *pids)
{
	/* also those that were started by threads that had not been changed back */
	for (size_t i = 0; s->n && i < pids->n; i++)
		for (int round = 0; round < 2; round++)
			each_thread((pid_t)pids->items[i], give_back, (void *)s);
}

void scheduling__free(struct scheduling *s)
{
	free(s->threads);
	*s = (struct scheduling) {0};
}
