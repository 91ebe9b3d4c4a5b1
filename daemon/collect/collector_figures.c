// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/collector_state.h"
#include "daemon/attribution/threads.h"
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
	wait_drain__alive(c->waits, e, state.began, c->refreshed);
	collector__name_thread(c, e);
	scopes__name(c->scopes, e);
}

static int dump_alive(struct collector *c)
{
	if (!c->frozen)
		return bpf_scopes__dump(c->bpf, c->refreshed, add_alive, c);
	for (const uint64_t *kept = c->kept; kept < c->kept + c->kept_words;) {
		struct qz_thread_event e;

		kept = collector__kept_thread(kept, &e);
		add_alive(c, &e);
	}
	return 0;
}

/* Nothing is measured once the watchdog has stopped the clock, though quartzd comes later. */
static uint64_t until_stopped(const struct collector *c, uint64_t until)
{
	uint64_t stopped = bpf_runtime__left_alone(c->bpf);

	return stopped && stopped < until ? stopped : until;
}

int collector__refresh(struct collector *c, uint64_t until)
{
	int err;

	until = until_stopped(c, until);
	c->refreshed = until;
	scopes__begin_refresh(c->scopes);
	wait_drain__begin_refresh(c->waits);
	err = dump_alive(c);
	if (err)
		return err;
	groups__refresh(c->groups, until);
	scopes__refresh(c->scopes, c->waits, until);
	objects__settle(wait_drain__objects(c->waits), until);
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
