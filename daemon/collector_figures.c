// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collector_state.h"
#include "daemon/ledger.h"

static void add_alive(void *context, const struct qz_thread_event *e)
{
	struct collector *c = context;
	uint32_t scope = e->scope;
	struct qz_scope_state state;

	if (!scopes__read(c->scopes, scope, &state))
		return;
	threads__alive(c->threads, scopes__index(c->scopes, scope), e, state.began, c->refreshed,
		       scopes__living(c->scopes, scope));
	waits__alive(c->waits, e, state.began, c->refreshed);
	collector__name_thread(c, e);
}

static void refresh_ledger(struct collector *c)
{
	struct ledger_sources from = {
		.engine = c->engine,
		.sampler = c->sampler,
		.symbolizer = c->symbolizer,
		.builder = c->builder,
		.waits = c->waits,
		.page_figures = c->page_figures,
		.polling = c->polling,
		.moments = c->moments,
		.until = c->refreshed,
		.processes_folded = c->ended ? ended__folded(c->ended) : 0,
		.not_stored = c->not_stored,
		.reports_dropped =
			c->dropped + reports__dropped(c->reports) + intake__dropped(c->intake),
	};

	ledger__refresh(&c->profile->ledger, &from);
}

static int dump_alive(struct collector *c)
{
	if (!c->frozen)
		return engine__dump(c->engine, add_alive, c);
	for (uint32_t i = 0; i < c->nkept; i++)
		add_alive(c, &c->kept[i]);
	return 0;
}

int collector__refresh(struct collector *c, uint64_t until)
{
	int err;

	c->refreshed = until;
	scopes__begin_refresh(c->scopes);
	threads__begin_refresh(c->threads);
	waits__begin_refresh(c->waits);
	err = dump_alive(c);
	if (err)
		return err;
	scopes__refresh(c->scopes, c->waits, until);
	waits__objects(c->waits, until);
	if (c->page_figures)
		page_figures__refresh(c->page_figures);
	refresh_ledger(c);
	return c->polling ? polling__join(c->polling) : 0;
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
