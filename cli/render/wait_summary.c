/* SPDX-License-Identifier: GPL-2.0-only */
/* What the summary says of costs, spinning and waiting: only what costs the program something. */
#include <errno.h>
#include <stdlib.h>

#include "cli/render/cells.h"
#include "core/costs/cost_table.h"

#define MAX_CAUSES 3

/* From this share of the elapsed time on, spinning or blocked threads are worth a line. */
static bool matters(const struct scope_view *s, uint64_t ns)
{
	return ns && ns >= s->report->elapsed_ns / 100;
}

/* From this share of the processor time on, what is no work is worth a line; and of this share on, one of its classes. */
#define LEAST_COSTS 0.1
#define LEAST_CLASS 0.01

/* "no work: 38.0% of CPU time: handing over 30.2%, calls 7.8%" */
static int print_costs(const struct scope_view *s)
{
	struct qz_cost_table t;
	int err = qz_cost_table__find(&t, s->report);
	uint64_t costs_ns = qz_cost_table__cpu(&t), cpu_ns;
	bool first = true;

	cpu_ns = costs_ns + t.classes[QZ_COST_WORK].figure.cpu_ns;
	if (err || (double)costs_ns <= LEAST_COSTS * (double)cpu_ns)
		goto out;
	fprintf(s->out->file, "no work: %s of CPU time", cells__share(costs_ns, cpu_ns).text);
	for (int cost = QZ_COST_WORK + 1; cost < QZ_COSTS; cost++) {
		uint64_t ns = t.classes[cost].figure.cpu_ns;

		if ((double)ns < LEAST_CLASS * (double)cpu_ns)
			continue;
		fprintf(s->out->file, "%s %s %s", first ? ":" : ",",
			qz_cost__name((enum qz_cost)cost), cells__share(ns, cpu_ns).text);
		first = false;
	}
	fputs("  -> report --costs\n", s->out->file);
out:
	qz_cost_table__free(&t);
	return err;
}

/* "spinning: 1.3 processors on average, 38.0% of CPU time; most of it in barrier_wait (91.0%)" */
static int print_spinning(const struct scope_view *s)
{
	const struct qz_report *r = s->report;
	const struct qz_row *top = NULL;
	uint64_t cpu_ns = qz_scope__running_ns(&r->profile->scopes[r->scope]);
	char *name;

	if (!matters(s, r->spin_ns))
		return 0;
	for (uint32_t i = 0; i < r->nrows; i++)
		if (!top || r->rows[i].self.spin_ns > top->self.spin_ns)
			top = &r->rows[i];
	fprintf(s->out->file, "spinning: %.2f processors on average, %s of CPU time",
		(double)r->spin_ns / (double)r->elapsed_ns, cells__share(r->spin_ns, cpu_ns).text);
	if (top && top->self.spin_ns) {
		name = names__format(s->names, top->procedure);
		if (!name)
			return -ENOMEM;
		fprintf(s->out->file, "; most of it in %s (%s)", name,
			cells__share(top->self.spin_ns, r->spin_ns).text);
		free(name);
	}
	fputc('\n', s->out->file);
	return 0;
}

/* Of idle threads, or of the others. */
static uint64_t blocked(const struct qz_wait_figure *f, bool idle)
{
	return idle ? f->idle_ns : qz_wait_figure__blocked(f);
}

/* ": futex 61.2%, poll 30.1%" */
static int print_causes(const struct scope_view *s, bool idle)
{
	const struct qz_report *r = s->report;
	uint64_t all = blocked(&r->waits, idle);
	uint32_t shown = 0;

	for (uint32_t i = 0; i < r->causes.n && shown < MAX_CAUSES; i++) {
		const struct qz_cause_row *row = &r->causes.rows[i];
		uint64_t ns = blocked(&row->waits, idle);
		char *name;

		if (ns < all / 100 || !ns)
			continue;
		name = output__escape(r->profile->causes[row->cause]);
		if (!name)
			return -ENOMEM;
		fprintf(s->out->file, "%s%s %s", shown++ ? ", " : ": ", name,
			cells__share(ns, all).text);
		free(name);
	}
	fputc('\n', s->out->file);
	return 0;
}

/* "waiting: 2.46 threads on average, 12.3 s of all together: futex 61.2%, poll 30.1%" */
static int print_waiting(const struct scope_view *s)
{
	const struct qz_report *r = s->report;
	uint64_t ns = qz_wait_figure__blocked(&r->waits);
	int err = 0;

	if (matters(s, ns)) {
		fprintf(s->out->file, "waiting: %.2f threads on average, %.*f s of all together",
			(double)ns / (double)r->elapsed_ns, s->decimals, (double)ns / 1e9);
		err = print_causes(s, false);
	}
	if (!err && matters(s, r->waits.idle_ns)) {
		fprintf(s->out->file,
			"idle: %u thread%s did nothing but wait, %.*f s of all together", r->nidle,
			r->nidle == 1 ? "" : "s", s->decimals, (double)r->waits.idle_ns / 1e9);
		err = print_causes(s, true);
	}
	return err;
}

int wait_summary__print(const struct scope_view *s)
{
	int err = print_costs(s);

	err = err ? err : print_spinning(s);
	return err ? err : print_waiting(s);
}
