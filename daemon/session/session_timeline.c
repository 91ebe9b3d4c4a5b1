// SPDX-License-Identifier: GPL-2.0-only
/* How the run develops: the tables are drained as often as slots of its timeline begin. */
#include <errno.h>
#include <string.h>

#include "core/model/timeline.h"
#include "daemon/session/session_state.h"
#include "daemon/util/log.h"

#define SECOND	  1000000000ull
#define SHARE	  100	      /* one part of so many of the time, at most, is spent on it */
#define TOLERANCE 2000000ull  /* ns */
#define LATE	  50000000ull /* ns */

/* Where processes were put together, figures have got other places. */
static void end_timeline(void *context)
{
	struct session *s = context;

	if (collector__profile(s->collector)->timeline)
		log_info("so many processes have ended that how the run developed is not kept");
	qz_timeline_cut__end(s->timeline, collector__profile(s->collector));
}

int session__start_timeline(struct session *s)
{
	if (s->options->system && !s->options->private)
		return 0;
	s->timeline = qz_timeline_cut__new(collector__profile(s->collector));
	if (!s->timeline)
		return -ENOMEM;
	collector__on_fold(s->collector, NULL, end_timeline, s);
	collector__drain_at(s->collector, s->started + QZ_TIMELINE_WIDTH);
	return 0;
}

void session__cut_timeline(struct session *s, uint64_t until)
{
	struct qz_profile *p = collector__profile(s->collector);
	int err;

	if (!s->timeline || !p->timeline)
		return;
	err = qz_timeline_cut__take(s->timeline, p, until);
	if (err)
		log_info("how the run developed is not kept: %s",
			 err == -E2BIG ? "there is too much of it" : strerror(-err));
}

/*
 * Of a thread that is ending, what it did since the last time is in the figures of its scope at once, but in its own row only
 * when it has been reported, which is some milliseconds later.
 */
static bool is_behind(const struct qz_profile *p)
{
	uint64_t scopes = 0, threads = 0;

	for (uint32_t i = 0; i < p->nscopes; i++)
		if (p->scopes[i].kind != QZ_SCOPE_MACHINE)
			scopes += p->scopes[i].runnable_ns;
	for (uint32_t i = 0; i < p->nthreads; i++)
		threads += p->threads[i].running_ns + p->threads[i].ready_ns;
	return scopes > threads + TOLERANCE;
}

/* So it is waited for, but not for long. */
static bool must_wait(struct session *s, const struct qz_profile *p, uint64_t now)
{
	if (!is_behind(p) || (s->timeline_late && now - s->timeline_late > LATE)) {
		s->timeline_late = 0;
		return false;
	}
	if (!s->timeline_late)
		s->timeline_late = now;
	return true;
}

/* When a slot ends; not so soon that the cost would be felt. */
static uint64_t next_drain(const struct session *s, const struct qz_timeline *t, uint64_t now)
{
	uint64_t earliest = now + SHARE * s->timeline_cost_ns;
	uint64_t slot = earliest > t->start_ns ? (earliest - t->start_ns) / t->slot_ns : 0;

	if (t->slot_ns >= SECOND || s->governor.halvings)
		return 0;
	if (!t->n)
		return earliest + t->slot_ns;
	return t->start_ns + (slot + 1) * t->slot_ns;
}

int session__follow_timeline(struct session *s, uint64_t now)
{
	struct qz_profile *p = collector__profile(s->collector);
	int err = 0;

	if (!s->timeline || (!collector__was_drained(s->collector) && !s->timeline_late))
		return 0;
	/* then nothing is measured any more, and threads end where that ended */
	if (bpf_runtime__left_alone(s->bpf))
		return 0;
	if (p->timeline)
		err = session__refresh_figures(s, now, true);
	if (!err && p->timeline && must_wait(s, p, now))
		return 0;
	if (!err)
		session__cut_timeline(s, now);
	s->timeline_cost_ns = bpf_runtime__now() - now;
	collector__drain_at(s->collector, p->timeline ? next_drain(s, p->timeline, now) : 0);
	return err;
}
