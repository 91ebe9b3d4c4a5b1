/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/costs/grain.h"

#include <math.h>
#include <stdio.h>

#define US 1000ull

uint64_t qz_grain__limit_ns(uint32_t i)
{
	return i < QZ_GRAINS - 1 ? US << i : UINT64_MAX;
}

/* Whether a runtime starts tasks of its own there, and hands over to them: goroutines, which the kernel does not count. */
static bool is_of_tasks(const struct qz_cost_row *row)
{
	return row->origin == QZ_ORIGIN_GO || row->origin == QZ_ORIGIN_RUST;
}

/* Without what is for none that counts: the command's own start, and tasks. */
static struct qz_grain_cost each(const struct qz_cost_class *class, uint64_t count)
{
	struct qz_grain_cost cost = {0};

	for (uint32_t i = 0; count && i < class->n; i++) {
		if (qz_cost_row__is_own_start(&class->rows[i]) || is_of_tasks(&class->rows[i]))
			continue;
		cost.samples += class->rows[i].figure.samples;
		cost.ns += (double)class->rows[i].figure.cpu_ns / (double)count;
	}
	return cost;
}

static struct qz_grain_cost each_call(const struct qz_cost_calls *calls, uint64_t count)
{
	return (struct qz_grain_cost) {.samples = count ? calls->samples : 0,
				       .ns = count ? (double)calls->cpu_ns / (double)count : 0};
}

static uint64_t half_of(const struct qz_scope_counters *c, uint64_t all)
{
	uint64_t below = 0;

	for (uint32_t i = 0; all && i < QZ_GRAINS; i++) {
		below += c->grain[i];
		if (below >= all - below)
			return qz_grain__limit_ns(i);
	}
	return 0;
}

struct qz_grain qz_grain__find(const struct qz_scope *scope, const struct qz_cost_table *t)
{
	const struct qz_scope_counters *c = &scope->counters;
	struct qz_grain g = {.threads = c->threads_started,
			     .processes = c->processes_started,
			     .transfers = c->transfers};

	for (uint32_t i = 0; i < QZ_GRAINS; i++)
		g.hand_overs += c->grain[i];
	g.start = each(&t->classes[QZ_COST_STARTING], g.threads + g.processes);
	g.hand_over = each(&t->classes[QZ_COST_HANDING], g.hand_overs);
	g.read = each_call(&t->reading, g.transfers.reads);
	g.write = each_call(&t->writing, g.transfers.writes);
	g.half_below_ns = half_of(c, g.hand_overs);
	return g;
}

bool qz_grain__is_none(const struct qz_grain *g)
{
	return !g->threads && !g->processes && !g->hand_overs && !g->transfers.reads &&
	       !g->transfers.writes;
}

const char *qz_grain__bytes(uint64_t bytes, uint64_t calls, char room[QZ_GRAIN_BYTES])
{
	static const char *const units[] = {"KiB", "MiB", "GiB"};
	double mean = calls ? (double)bytes / (double)calls : 0;
	size_t unit = 0;

	if (mean < 1023.5) {
		snprintf(room, QZ_GRAIN_BYTES, "%.0f byte%s", mean, round(mean) == 1 ? "" : "s");
		return room;
	}
	for (mean /= 1024; mean >= 1023.5 && unit < 2; unit++)
		mean /= 1024;
	snprintf(room, QZ_GRAIN_BYTES, "%.3g %s", mean, units[unit]);
	return room;
}
