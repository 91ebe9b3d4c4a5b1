/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/affinity.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"

#define MOST_ROUNDS 10 /* threads that start threads while they are looked at */

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
	struct affinity_of_thread thread = {.pid = pid, .tid = tid};
	struct affinity *a = context;

	if (sched_getaffinity(tid, sizeof(thread.set), &thread.set))
		return -errno;
	if (qz_array__reserve((void **)&a->threads, a->n, sizeof(*a->threads)))
		return -ENOMEM;
	a->threads[a->n++] = thread;
	return 0;
}

int affinity__keep(struct affinity *a, const struct qz_integers *pids, pid_t *pid)
{
	*a = (struct affinity) {0};
	return each(pids, keep, a, pid);
}

struct confining {
	const cpu_set_t *set;
	uint32_t changed;
};

static int confine(void *context, pid_t pid, pid_t tid)
{
	struct confining *c = context;
	cpu_set_t now;

	(void)pid;
	if (sched_getaffinity(tid, sizeof(now), &now))
		return -errno;
	if (CPU_EQUAL(&now, c->set))
		return 0;
	c->changed++;
	return sched_setaffinity(tid, sizeof(*c->set), c->set) ? -errno : 0;
}

int affinity__confine(const struct qz_integers *pids, const cpu_set_t *set, pid_t *pid)
{
	int err = 0;

	/* what a thread that was not changed yet has started meanwhile */
	for (int i = 0; !err && i < MOST_ROUNDS; i++) {
		struct confining c = {.set = set};

		err = each(pids, confine, &c, pid);
		if (!c.changed)
			break;
	}
	return err;
}

static int give_back(void *context, pid_t pid, pid_t tid)
{
	const struct affinity_of_thread *of = NULL;
	const struct affinity *a = context;

	for (uint32_t i = 0; i < a->n; i++) {
		const struct affinity_of_thread *t = &a->threads[i];

		if (t->pid == pid && (t->tid == tid || !of))
			of = t;
		if (t->tid == tid)
			break;
	}
	if (of)
		sched_setaffinity(tid, sizeof(of->set), &of->set);
	return 0;
}

void affinity__restore(const struct affinity *a, const struct qz_integers *pids)
{
	/* also those that were started by threads that had not been changed back */
	for (size_t i = 0; i < pids->n; i++)
		for (int round = 0; round < 2; round++)
			each_thread((pid_t)pids->items[i], give_back, (void *)a);
}

void affinity__free(struct affinity *a)
{
	free(a->threads);
	*a = (struct affinity) {0};
}
