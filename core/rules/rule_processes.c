/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs run one after another: a shell loop, make without -j, a program that waits for each child.
 */
#include "core/advise/advise.h"
#include "core/advise/alone.h"

/*
 * Processor time of jobs that run at the same time, as a factor of that one after another, at most.
 * On two processors beside other load, make -j2 of 12 C files took 1.15 times as much as make -j1,
 * xargs -P2 of six bzip2 0.94 times as much as a loop.
 */
#define DEAREST 1.3

/* The least time for all jobs: that of the longest, or of all divided among the processors. */
static uint64_t least_ns(const struct qz_alone *alone, double more)
{
	double divided = (double)alone->ns * more / alone->usage.width;

	return divided > (double)alone->longest_ns ? (uint64_t)divided : alone->longest_ns;
}

static uint64_t gain(const struct qz_alone *alone, double more)
{
	uint64_t left = least_ns(alone, more);

	return alone->ns > left ? alone->ns - left : 0;
}

/* The thread that is blocked longest: the parent, which waits for the jobs. */
static uint32_t find_parent(const struct qz_report *r)
{
	uint32_t best = 0;
	uint64_t most = 0;

	for (uint32_t i = 0; i < r->nthreads; i++)
		if (r->threads[i].waits.blocked_ns > most) {
			most = r->threads[i].waits.blocked_ns;
			best = i;
		}
	return r->threads[best].thread;
}

int qz_rule__processes(const struct qz_report *r, struct qz_advice *a)
{
	const struct qz_thread *thread;
	char comm[QZ_SHORT_NAME];
	struct qz_alone alone;
	struct qz_finding f;
	int err = qz_alone__find(r, &alone);

	if (err || alone.kind != QZ_ALONE_PROCESSES)
		return err;
	alone.ns = alone.usage.alone_ns > alone.driver_ns ? alone.usage.alone_ns - alone.driver_ns
							  : 0;
	thread = &r->profile->threads[alone.thread];
	qz_finding__shorten(comm, thread->comm);
	f = qz_finding__about("processes", r, QZ_SUBJECT_THREAD, find_parent(r));
	f.word = "ONE JOB AT A TIME";
	f.gain_low_ns = gain(&alone, DEAREST);
	f.gain_high_ns = gain(&alone, 1);
	f.lost = QZ_LOST_SERIAL | QZ_LOST_DIVIDED;
	qz_finding__say(&f, &f.what,
			"%s waits for each of its jobs before it starts the next: %u processes "
			"(%s) ran one after "
			"another.",
			f.shown, alone.processes, comm);
	qz_finding__prove(&f, "threads", NULL, "only one of them could run %.0f%% of the time",
			  qz_finding__percent(r, alone.ns));
	qz_finding__prove(&f, "threads", NULL, "the longest of them took %.2f s of processor time",
			  (double)alone.longest_ns / 1e9);
	qz_finding__say(&f, &f.remedy,
			"start several at a time: make -j, xargs -P, or & and wait in a shell");
	return qz_advise__add(a, &f);
}
