// SPDX-License-Identifier: GPL-2.0-only
/* What the scheduler's log tells (daemon/log/live.h), on its way into the profile. */
#include "daemon/collect/collector_state.h"
#include "daemon/collect/groups.h"
#include "daemon/waits/wait_drain.h"
#include "daemon/what_if/candidates.h"

void collector__use_log(struct collector *c, struct live *live)
{
	c->live = live;
	if (c->candidates)
		candidates__use_log(c->candidates, live);
}

int collector__follow_log(struct collector *c)
{
	return live__advance(c->live);
}

static void take_ended(void *context, const struct qz_thread_event *e)
{
	collector__end_thread(context, e);
}

static void end_scope(void *context, uint32_t scope, uint64_t when)
{
	const struct collector *c = context;

	address_spaces__end(c->spaces, scope, when);
}

static void add_group(void *context, const struct qz_group_event *e)
{
	const struct collector *c = context;

	groups__add(c->groups, e);
}

void collector__take_ended(struct collector *c, uint64_t until)
{
	live__take_groups(c->live, add_group, c);
	live__take_ended(c->live, until, take_ended, c);
	live__take_ended_scopes(c->live, end_scope, c);
}

static void put_wait(void *context, const struct live_wait *w)
{
	const struct collector *c = context;

	wait_drain__put(c->waits, w);
}

void collector__take_waits(struct collector *c)
{
	live__each_wait(c->live, put_wait, c);
	live__forget_waits(c->live);
}

static void open_wait(void *context, const struct live_wait *w)
{
	const struct collector *c = context;

	if (w->nominal != QZ_WAKING)
		wait_drain__open(c->waits, w);
}

void collector__open_waits(struct collector *c)
{
	live__each_wait(c->live, open_wait, c);
	live__each_open_wait(c->live, open_wait, c);
}
