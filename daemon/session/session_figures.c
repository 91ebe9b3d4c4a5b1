// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/session/session_state.h"

struct qz_costs session__costs(const struct session *s)
{
	struct qz_costs costs = collector__costs(s->collector, s->interrupt_ns);

	costs.daemon_ns -= s->daemon_before;
	return costs;
}

int session__refresh_figures(struct session *s, uint64_t until, bool live)
{
	struct qz_profile *p = collector__profile(s->collector);

	p->live = live;
	p->window_ns = until - s->started;
	p->costs = session__costs(s);
	return collector__refresh(s->collector, until);
}
