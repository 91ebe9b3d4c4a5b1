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
/* Where what can be lowered is a smaller share of the ceiling, or, of rates, of what cannot, lowering it is of no use. */
#define USEFUL 0.1
#define WORTH  0.25
/* Of what a counted switch costs, this is there when it is passed, too. */
#define PASSED 0.3
/* Of the ceiling, what all but switches is expected to take when it is no longer new. */
#define EXPECTED 0.4
/* About as much of quartzd's own time is there at any rate: looks at tables, what is mapped, ends of processes. */
#define STEADY 0.5
/* A machine that is less busy counts as if so much of it were: there, nobody misses what Quartz takes. */
#define LEAST_BUSY 0.5

void qz_overhead_governor__init(struct qz_overhead_governor *g, uint32_t ceiling_ppm,
				uint32_t rate_hz, uint32_t most_switches)
{
	const struct qz_governed full = {.patience = PATIENCE, .since = LASTING};

	*g = (struct qz_overhead_governor) {
		.ceiling_ppm = ceiling_ppm, .rates = full, .switches = full};
	while (g->rates.most < QZ_MAX_HALVINGS && rate_hz >> (g->rates.most + 1) >= LEAST_HZ)
		g->rates.most++;
	g->switches.most = most_switches;
}

/* Shares of the ceiling. */
struct load {
	double fixed;	 /* however much is lowered */
	double variable; /* in proportion to it */
	double worth;	 /* a smaller part of `fixed` is not lowered */
};

static double sum(struct load load)
{
	return load.fixed + load.variable;
}

static bool is_lowered_usefully(struct load load)
{
	return load.variable > USEFUL && load.variable > load.worth * load.fixed;
}

static bool may_lower(const struct qz_governed *w, struct load load)
{
	return w->halvings < w->most && sum(load) > 1 && is_lowered_usefully(load);
}

static void lower(struct qz_governed *w, struct load load)
{
	if (w->since < LASTING) {
		w->failed = w->halvings;
		if (w->patience < MOST_PATIENCE)
			w->patience *= 2;
	}
	w->since = LASTING;
	for (; may_lower(w, load); w->halvings++)
		load.variable /= 2;
}

static void raise(struct qz_governed *w)
{
	uint32_t needed = w->halvings <= w->failed + 1 ? w->patience : PATIENCE;

	if (++w->quiet < needed)
		return;
	w->halvings--;
	w->quiet = 0;
	w->since = 0;
}

static void decide(struct qz_governed *w, struct load load)
{
	struct load doubled = {load.fixed, 2 * load.variable, load.worth};
	struct load more = {load.fixed, doubled.variable / AFFORDABLE, load.worth};
	bool affordable = sum(doubled) <= AFFORDABLE || !is_lowered_usefully(more);

	if (w->since < LASTING && ++w->since == LASTING && w->halvings <= w->failed)
		w->patience = PATIENCE;
	if (may_lower(w, load))
		lower(w, load);
	if (w->halvings && affordable)
		raise(w);
	else
		w->quiet = 0;
}

/* What being counted costs at switches; nothing where it cannot be lowered. */
static double switches_of(const struct qz_overhead_governor *g, const struct qz_costs *spent)
{
	double ns = (double)(spent->accounting_ns - spent->lifecycle_ns);
	double counted = ldexp(1 - PASSED, -(int)g->switches.halvings);

	return g->switches.most ? ns * counted / (counted + PASSED) : 0;
}

static struct load load_of(double variable, double all, double ceiling, double worth)
{
	return (struct load) {(all - variable) / ceiling, variable / ceiling, worth};
}

/*
 * Switches are lowered first and doubled last: that costs least of what is known. One at a time. `busy`: the share of the
 * time that the processors were busy.
 */
static void decide_both(struct qz_overhead_governor *g, const struct qz_costs *spent,
			double ceiling, double busy)
{
	double all = (double)qz_costs__sum(spent);
	double rates = all - (double)spent->accounting_ns - STEADY * (double)spent->daemon_ns;
	struct load of_rates = load_of(rates, all, ceiling, WORTH);
	struct load of_switches = load_of(switches_of(g, spent), all, ceiling * busy, 0);

	if (may_lower(&g->switches, of_switches) || (all <= ceiling && !g->rates.halvings))
		decide(&g->switches, of_switches);
	else
		decide(&g->rates, of_rates);
}

/* In the first window everything is new but what happens at switches. */
static struct qz_costs costs_of_start(const struct qz_costs *spent, double ceiling)
{
	return (struct qz_costs) {
		.accounting_ns = spent->accounting_ns - spent->lifecycle_ns,
		.sampling_ns = (uint64_t)(EXPECTED * ceiling),
	};
}

/* The ceiling is that of the time that has passed: switches are no burst, and all that is needed is done at once. */
static void decide_start(struct qz_overhead_governor *g, const struct qz_costs *spent,
			 double ceiling, double busy)
{
	struct qz_costs judged = costs_of_start(spent, ceiling);
	double all = (double)qz_costs__sum(&judged);

	decide(&g->switches, load_of(switches_of(g, &judged), all, ceiling * busy, 0));
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

/* The share of the time that processors were busy in the window that has ended, as it counts. */
static double busy_of(const struct qz_overhead_governor *g)
{
	double busy = g->busy_ppm / 1e6;

	return busy > LEAST_BUSY ? busy : LEAST_BUSY;
}

bool qz_overhead_governor__update(struct qz_overhead_governor *g, uint64_t now, uint32_t processors,
				  uint64_t idle_ns, const struct qz_costs *costs)
{
	uint32_t rates = g->rates.halvings, switches = g->switches.halvings;
	uint64_t elapsed = now - g->began;
	uint64_t window = elapsed > QZ_GOVERNOR_WINDOW ? elapsed : QZ_GOVERNOR_WINDOW;
	double ceiling = (double)(window * processors) * g->ceiling_ppm / 1e6;
	struct qz_costs spent = qz_costs__since(costs, &g->told);
	struct qz_costs judged = g->started ? spent : costs_of_start(&spent, ceiling);
	bool early = elapsed < QZ_GOVERNOR_WINDOW;
	double busy;

	if (g->began) {
		if (early && (double)qz_costs__sum(&judged) <= ceiling)
			return false;
		end_window(g, elapsed * processors, idle_ns, &spent);
		busy = busy_of(g);
		if (g->started)
			decide_both(g, &spent, ceiling, busy);
		else
			decide_start(g, &spent, ceiling * (double)elapsed / (double)window, busy);
		g->started = now - g->first >= QZ_GOVERNOR_WINDOW;
	} else {
		g->first = now;
	}
	g->began = now;
	g->told = *costs;
	g->told_idle = idle_ns;
	return g->rates.halvings != rates || g->switches.halvings != switches;
}
