/* SPDX-License-Identifier: GPL-2.0-only */
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
/* About as much of quartzd's own time is there at any rate: looks at tables, what is mapped, ends of processes. */
#define STEADY 0.5

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
	double fixed;	 /* whatever the rates */
	double variable; /* in proportion to them */
};

static double sum(struct load load)
{
	return load.fixed + load.variable;
}

static bool is_lowered_usefully(struct load load)
{
	return load.variable > USEFUL && load.variable > WORTH * load.fixed;
}

static struct load load_of(const struct qz_overhead_governor *g, uint64_t ns,
			   const struct qz_costs *spent)
{
	double fixed = (double)spent->accounting_ns + STEADY * (double)spent->daemon_ns;
	double all = (double)qz_costs__sum(spent);
	double ceiling = (double)ns * g->ceiling_ppm / 1e6;

	return (struct load) {fixed / ceiling, (all - fixed) / ceiling};
}

static void lower(struct qz_overhead_governor *g, struct load load)
{
	if (g->since < LASTING) {
		g->failed = g->halvings;
		if (g->patience < MOST_PATIENCE)
			g->patience *= 2;
	}
	g->since = LASTING;
	do {
		g->halvings++;
		load.variable /= 2;
	} while (sum(load) > 1 && is_lowered_usefully(load) && g->halvings < g->most);
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

	if (g->since < LASTING && ++g->since == LASTING && g->halvings <= g->failed)
		g->patience = PATIENCE;
	if (sum(load) > 1 && is_lowered_usefully(load) && g->halvings < g->most)
		lower(g, load);
	if (g->halvings && affordable)
		raise(g);
	else
		g->quiet = 0;
}

static void end_window(struct qz_overhead_governor *g, uint64_t ns, const struct qz_costs *spent,
		       struct load load)
{
	g->last = *spent;
	g->last_ns = ns;
	g->costs_ppm = (uint32_t)((double)qz_costs__sum(&g->last) / (double)ns * 1e6);
	if (g->started)
		decide(g, load);
	g->started = true;
}

bool qz_overhead_governor__update(struct qz_overhead_governor *g, uint64_t now, uint32_t processors,
				  const struct qz_costs *costs)
{
	uint32_t before = g->halvings;
	uint64_t elapsed = now - g->began;
	uint64_t window = elapsed > QZ_GOVERNOR_WINDOW ? elapsed : QZ_GOVERNOR_WINDOW;
	struct qz_costs spent = qz_costs__since(costs, &g->told);
	struct load load = load_of(g, window * processors, &spent);

	if (g->began) {
		if (elapsed < QZ_GOVERNOR_WINDOW && !(g->started && sum(load) > 1))
			return false;
		end_window(g, elapsed * processors, &spent, load);
	}
	g->began = now;
	g->told = *costs;
	return g->halvings != before;
}
