/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>

#include "core/model/overhead_governor.h"

#define LEAST_HZ 3
/* Twice the rate is affordable where it is expected to cost no more than this share of the ceiling. */
#define AFFORDABLE 0.8
#define PATIENCE   3
/* A doubling that lasted no longer was a mistake: the next one takes twice the patience. */
#define LASTING	      6
#define MOST_PATIENCE 60
/* Where what can be lowered is a smaller share of the ceiling, or of what cannot, lowering it is of no use. */
#define USEFUL 0.1
#define WORTH  0.25
/* About as much of quartzd's own time does not depend on the rate: it reads tables, maps and ends of processes. */
#define STEADY 0.5
#define ENOUGH 1000000000ull /* ns of a window, to tell what Quartz costs */

void qz_overhead_governor__init(struct qz_overhead_governor *g, uint32_t ceiling_ppm,
				uint32_t rate_hz)
{
	*g = (struct qz_overhead_governor) {
		.ceiling_ppm = ceiling_ppm, .patience = PATIENCE, .since = LASTING};
	while (g->most < QZ_MAX_HALVINGS && rate_hz >> (g->most + 1) >= LEAST_HZ)
		g->most++;
}

/* Shares of the ceiling. */
struct load {
	double fixed;	 /* at any rate */
	double variable; /* in proportion to it */
};

static double sum(struct load load)
{
	return load.fixed + load.variable;
}

static bool is_lowered_usefully(struct load load)
{
	return load.variable > USEFUL && load.variable > WORTH * load.fixed;
}

static bool may_lower(const struct qz_overhead_governor *g, struct load load)
{
	return g->halvings < g->most && sum(load) > 1 && is_lowered_usefully(load);
}

static void lower(struct qz_overhead_governor *g, struct load load)
{
	if (g->since < LASTING) {
		g->failed = g->halvings;
		if (g->patience < MOST_PATIENCE)
			g->patience *= 2;
	}
	g->since = LASTING;
	for (; may_lower(g, load); g->halvings++)
		load.variable /= 2;
}

static void raise(struct qz_overhead_governor *g)
{
	uint32_t needed = g->halvings <= g->failed + 1 ? g->patience : PATIENCE;

	if (++g->quiet < needed)
		return;
	g->halvings--;
	g->quiet = 0;
	g->since = 0;
}

static void decide(struct qz_overhead_governor *g, struct load load)
{
	struct load doubled = {load.fixed, 2 * load.variable};
	struct load more = {load.fixed, doubled.variable / AFFORDABLE};
	bool affordable = sum(doubled) <= AFFORDABLE || !is_lowered_usefully(more);

	if (!g->halvings && sum(load) <= 1)
		return;
	if (g->since < LASTING && ++g->since == LASTING && g->halvings <= g->failed)
		g->patience = PATIENCE;
	if (may_lower(g, load))
		lower(g, load);
	if (g->halvings && affordable)
		raise(g);
	else
		g->quiet = 0;
}

/* records: what they cost, as a share of the ceiling. No rate lowers it, and there is none of it while nothing is measured. */
static void decide_time(struct qz_overhead_governor *g, double records)
{
	if (!g->time_halvings || 2 * records > AFFORDABLE)
		g->rest = 0;
	else if (++g->rest >= PATIENCE) {
		g->time_halvings--;
		g->rest = 0;
	}
	for (; records > 1 && g->time_halvings < QZ_MAX_TIME_HALVINGS; g->time_halvings++)
		records /= 2;
}

static double records_of(const struct qz_costs *spent)
{
	return (double)(spent->accounting_ns + spent->replay_ns);
}

static struct load load_of(const struct qz_costs *spent, double ceiling)
{
	double fixed = records_of(spent) + STEADY * (double)(spent->daemon_ns - spent->replay_ns);

	return (struct load) {fixed / ceiling, ((double)qz_costs__sum(spent) - fixed) / ceiling};
}

static void decide_all(struct qz_overhead_governor *g, const struct qz_costs *spent, double ceiling)
{
	decide(g, load_of(spent, ceiling));
	decide_time(g, records_of(spent) / ceiling);
}

static void end_window(struct qz_overhead_governor *g, uint64_t ns, uint64_t idle_ns,
		       const struct qz_costs *spent)
{
	double idle = (double)(idle_ns - g->told_idle) / (double)ns;

	g->last = *spent;
	g->last_ns = ns;
	g->busy_ppm = idle < 1 ? (uint32_t)lround((1 - idle) * 1e6) : 0;
	g->costs_ppm = (uint32_t)((double)qz_costs__sum(&g->last) / (double)ns * 1e6);
}

/* What is spent in the first window decides nothing, and does not end it: it is a burst, since everything is new. */
bool qz_overhead_governor__update(struct qz_overhead_governor *g, uint64_t now, uint32_t processors,
				  uint64_t idle_ns, const struct qz_costs *costs)
{
	uint32_t before = g->halvings, time_before = g->time_halvings;
	uint64_t elapsed = now - g->began;
	uint64_t window = elapsed > QZ_GOVERNOR_WINDOW ? elapsed : QZ_GOVERNOR_WINDOW;
	double ceiling = (double)(window * processors) * g->ceiling_ppm / 1e6;
	struct qz_costs spent = qz_costs__since(costs, &g->told);
	bool early = elapsed < QZ_GOVERNOR_WINDOW;

	if (g->began) {
		if (early && (!g->started || (double)qz_costs__sum(&spent) <= ceiling))
			return false;
		end_window(g, elapsed * processors, idle_ns, &spent);
		if (g->started)
			decide_all(g, &spent, ceiling);
		g->started = true;
	}
	g->began = now;
	g->told = *costs;
	g->told_idle = idle_ns;
	return g->halvings != before || g->time_halvings != time_before;
}

struct qz_overhead_governor qz_overhead_governor__so_far(const struct qz_overhead_governor *g,
							 uint64_t now, uint32_t processors,
							 uint64_t idle_ns,
							 const struct qz_costs *costs)
{
	struct qz_overhead_governor seen = *g;
	struct qz_costs spent = qz_costs__since(costs, &g->told);

	if (!g->last_ns && g->began && now - g->began >= ENOUGH)
		end_window(&seen, (now - g->began) * processors, idle_ns, &spent);
	return seen;
}
