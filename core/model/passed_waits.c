// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/passed_waits.h"
#include "core/util/apportion.h"

/* Of one thread: its times of one kind that were passed, to be split among those that were charged. */
struct times {
	struct qz_split blocked, ready;
};

/* Causes that are treated apart: a thread starts once, which is looked at. */
struct causes {
	uint32_t passed, start;
};

static uint32_t find_cause(const struct qz_profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->ncauses; i++)
		if (!strcmp(p->causes[i], name))
			return i;
	return QZ_NONE;
}

static struct times *times_of(struct times *threads, const struct qz_wait *w,
			      const struct causes *causes)
{
	return w->thread == QZ_NONE || w->cause == causes->start ? NULL : &threads[w->thread];
}

static void sum_up(const struct qz_profile *p, const struct causes *causes, struct times *threads)
{
	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		struct times *t = times_of(threads, w, causes);

		if (t && w->cause == causes->passed) {
			t->blocked.amount += w->blocked_ns;
			t->ready.amount += w->ready_ns;
		} else if (t) {
			t->blocked.total += w->blocked_ns;
			t->ready.total += w->ready_ns;
		}
	}
}

static void add(uint64_t *ns, struct qz_split *from)
{
	if (from->total)
		*ns += qz_split__next(from, *ns);
}

static void take(struct qz_wait *w, const struct times *t)
{
	if (t->blocked.total)
		w->blocked_ns = 0;
	if (t->ready.total)
		w->ready_ns = 0;
	if (!w->blocked_ns && !w->ready_ns)
		w->count = 0;
}

int qz_passed_waits__spread(struct qz_profile *p)
{
	const struct causes causes = {find_cause(p, QZ_CAUSE_PASSED), find_cause(p, "start")};
	struct times *threads;

	if (causes.passed == QZ_NONE)
		return 0;
	threads = calloc(p->nthreads + 1, sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	sum_up(p, &causes, threads);
	for (uint32_t i = 0; i < p->nwaits; i++) {
		struct qz_wait *w = &p->waits[i];
		struct times *t = times_of(threads, w, &causes);

		if (t && w->cause == causes.passed) {
			take(w, t);
		} else if (t) {
			add(&w->blocked_ns, &t->blocked);
			add(&w->ready_ns, &t->ready);
		}
	}
	free(threads);
	qz_waits__drop_empty(p);
	return 0;
}
