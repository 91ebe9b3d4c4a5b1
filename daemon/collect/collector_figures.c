// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/collector_state.h"
#include "daemon/attribution/threads.h"
#include "daemon/collect/allowances.h"
#include "daemon/collect/groups.h"
#include "daemon/collect/scopes.h"
#include "daemon/shm/shm_counters.h"
#include "daemon/shm/shm_polling.h"
#include "daemon/unwind/unwind_worker.h"
#include "daemon/waits/objects.h"
#include "daemon/waits/wait_drain.h"
#include "daemon/what_if/candidates.h"
#include "daemon/collect/loss_accounting.h"

static void add_alive(void *context, const struct qz_thread_event *e)
{
	struct collector *c = context;
	uint32_t scope = e->scope;
	struct qz_scope_state state;

	collector__know_scope(c, e);
	if (!scopes__read(c->scopes, scope, &state))
		return;
	threads__alive(c->threads, scopes__index(c->scopes, scope), e, state.began, c->refreshed,
		       scopes__living(c->scopes, scope));
	collector__allow_thread(c, e, true);
	collector__name_thread(c, e);
	scopes__name(c->scopes, e);
}

/* Nothing is measured once the watchdog has stopped the clock, though quartzd comes later. */
static uint64_t until_stopped(const struct collector *c, uint64_t until)
{
	uint64_t stopped = bpf_runtime__left_alone(c->bpf);

	return stopped && stopped < until ? stopped : until;
}

int collector__refresh(struct collector *c, uint64_t until)
{
	int err = c->frozen ? 0 : live__look(c->live, false);

	err = err ?: collector__follow_log(c);
	if (err)
		return err;
	until = until_stopped(c, until);
	if (live__until(c->live) < until)
		until = live__until(c->live);
	c->refreshed = until;
	scopes__begin_refresh(c->scopes);
	wait_drain__begin_refresh(c->waits);
	live__each_alive(c->live, add_alive, c);
	collector__open_waits(c);
	groups__refresh(c->groups, until);
	scopes__refresh(c->scopes, c->waits, until);
	allowances__refresh(c->allowances);
	if (!bpf_runtime__follows_all(c->bpf))
		outside__take(&c->outside, c->bpf);
	objects__settle(wait_drain__objects(c->waits));
	if (c->counters)
		shm_counters__refresh(c->counters);
	loss_accounting__refresh(c);
	err = c->candidates ? candidates__refresh(c->candidates, scopes__rows(c->scopes),
						  bpf_runtime__max_scopes(c->bpf))
			    : 0;
	if (err)
		return err;
	return c->polling ? shm_polling__join(c->polling) : 0;
}

struct collector_symbolizers collector__symbolizers(const struct collector *c)
{
	const struct symbolizer_counters *names = symbolizer__counters(c->symbolizer);
	struct unwind_worker_figures figures = unwind_worker__figures(c->worker);

	return (struct collector_symbolizers) {
		.ended = names->crashed + names->killed + figures.ended + figures.killed,
		.waiting = symbolizer__waiting(c->symbolizer) + figures.waiting,
		.refused = names->modules_refused + figures.refused,
	};
}

struct qz_profile *collector__profile(struct collector *c)
{
	return c->profile;
}

bool collector__ended(const struct collector *c)
{
	return scopes__ended(c->scopes);
}

uint64_t collector__samples(const struct collector *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->profile->nscopes; i++)
		if (i != scopes__machine(c->scopes))
			sum += c->profile->scopes[i].samples;
	return sum;
}
