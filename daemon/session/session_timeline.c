// SPDX-License-Identifier: GPL-2.0-only
/* How the run develops: the tables are drained as often as slots of its timeline begin. */
#include <errno.h>
#include <string.h>

#include "core/model/timeline.h"
#include "daemon/session/session_state.h"
#include "daemon/util/log.h"

#define SECOND 1000000000ull
#define SHARE  100 /* one part of so many of the time, at most, is spent on it */

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
	if (s->config->system && !s->config->private)
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

	if (!s->timeline || !collector__was_drained(s->collector))
		return 0;
	if (p->timeline)
		err = session__refresh(s, now, true);
	s->timeline_cost_ns = bpf_runtime__now() - now;
	collector__drain_at(s->collector, p->timeline ? next_drain(s, p->timeline, now) : 0);
	return err;
}
