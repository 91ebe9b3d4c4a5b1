/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/jobs.h"

#include <stdlib.h>

#include "core/model/wait_causes.h"
#include "core/util/order.h"

static int compare_pids(const void *x, const void *y)
{
	const struct qz_job *a = x, *b = y;
	int order = qz_order(a->pid, b->pid);

	return order ? order : qz_order(a->thread, b->thread);
}

static struct qz_job job_of(const struct qz_report *r, const struct qz_thread_row *row,
			    const uint64_t *child_ns)
{
	const struct qz_thread *t = &r->profile->threads[row->thread];

	return (struct qz_job) {
		.pid = t->pid,
		.thread = row->thread,
		.start_ns = t->start_ns,
		.end_ns = t->end_ns,
		.running_ns = t->running_ns,
		.ready_ns = t->ready_ns,
		.alone_ns = row->figure.level_norm_ns[1],
		.child_ns = child_ns[row->thread],
	};
}

uint64_t *qz_jobs__child_times(const struct qz_profile *p)
{
	uint64_t *times = calloc((size_t)p->nthreads + 1, sizeof(*times));

	for (uint32_t i = 0; times && i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (w->thread != QZ_NONE &&
		    qz_wait_cause__kind(p->causes[w->cause]) == QZ_WAIT_IS_CHILD)
			times[w->thread] += w->blocked_ns;
	}
	return times;
}

/* One for each process, from one for each thread. Returns how many. */
static uint32_t join_threads(struct qz_job *jobs, uint32_t n)
{
	uint32_t kept = 0;

	if (n)
		qsort(jobs, n, sizeof(*jobs), compare_pids);
	for (uint32_t i = 0; i < n; i++) {
		struct qz_job *last = &jobs[kept ? kept - 1 : 0];

		if (!kept || last->pid != jobs[i].pid) {
			jobs[kept++] = jobs[i];
			continue;
		}
		last->running_ns += jobs[i].running_ns;
		last->ready_ns += jobs[i].ready_ns;
		last->alone_ns += jobs[i].alone_ns;
		last->child_ns += jobs[i].child_ns;
		if (jobs[i].start_ns < last->start_ns)
			last->start_ns = jobs[i].start_ns;
		if (jobs[i].end_ns > last->end_ns)
			last->end_ns = jobs[i].end_ns;
	}
	return kept;
}

struct qz_job *qz_jobs__of(const struct qz_report *r, const uint64_t *child_ns, uint32_t *n)
{
	struct qz_job *jobs = calloc((size_t)r->nthreads + 1, sizeof(*jobs));

	*n = 0;
	for (uint32_t i = 0; jobs && i < r->nthreads; i++)
		if (!r->profile->threads[r->threads[i].thread].merged)
			jobs[(*n)++] = job_of(r, &r->threads[i], child_ns);
	*n = join_threads(jobs, *n);
	return jobs;
}
