/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/idle_threads.h"

#include <errno.h>
#include <stdlib.h>

#include "core/model/wait_causes.h"
#include "core/report/wait_report.h"

#define RAN_PERCENT    1
#define PLACE_PERCENT  95
#define WAITS_A_SECOND 100

#define SECOND 1000000000ull

/* Whether threads wait there for work, or for the end of others. */
static bool is_rest(const struct qz_profile *p, const struct qz_wait *w)
{
	unsigned int kind = qz_wait_cause__kind(p->causes[w->cause]);

	if (kind & (QZ_WAIT_IS_ANY | QZ_WAIT_IS_SLEEP | QZ_WAIT_IS_CHILD))
		return true;
	if (kind != QZ_WAIT_IS_FUTEX || w->object == QZ_NONE)
		return false;
	switch (p->objects[w->object].kind) {
	case QZ_OBJECT_OTHER:
	case QZ_OBJECT_CONDITION:
	case QZ_OBJECT_SEMAPHORE:
	case QZ_OBJECT_JOIN:
		return true;
	default:
		return false;
	}
}

/* 100 * a >= percent * b without overflow. */
static bool at_least(uint64_t a, unsigned int percent, uint64_t b)
{
	return (double)a * 100 >= (double)b * percent;
}

/* Whether a thread that was blocked here for so long, so often, was so for its life. */
static bool is_idle(const struct qz_thread *t, uint64_t blocked_ns, uint64_t count)
{
	return !t->merged && blocked_ns && at_least(blocked_ns, PLACE_PERCENT, t->blocked_ns) &&
	       at_least(t->blocked_ns, 100 - RAN_PERCENT, t->running_ns + t->blocked_ns) &&
	       (double)count * SECOND < (double)WAITS_A_SECOND * (double)t->blocked_ns;
}

static void classify(struct qz_report *r, const uint32_t *sorted, uint32_t n)
{
	const struct qz_profile *p = r->profile;
	uint64_t blocked_ns = 0, count = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct qz_wait *w = &p->waits[sorted[i]];
		const struct qz_wait *next = i + 1 < n ? &p->waits[sorted[i + 1]] : NULL;

		blocked_ns += w->blocked_ns;
		count += w->count;
		if (next && next->thread == w->thread && next->cause == w->cause &&
		    next->object == w->object)
			continue;
		if (is_rest(p, w) && is_idle(&p->threads[w->thread], blocked_ns, count))
			r->idle[w->thread] = true;
		blocked_ns = count = 0;
	}
}

int qz_idle_threads__find(struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	uint32_t n, *sorted = qz_wait_report__by_thread(r, &n);

	r->idle = calloc((size_t)p->nthreads + 1, sizeof(*r->idle));
	if (!sorted || !r->idle) {
		free(sorted);
		return -ENOMEM;
	}
	classify(r, sorted, n);
	for (uint32_t i = 0; i < p->nthreads; i++)
		r->nidle += r->idle[i];
	free(sorted);
	return 0;
}
