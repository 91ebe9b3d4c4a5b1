/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/steps.h"

#include <errno.h>
#include <stdlib.h>

#include "core/advise/quota.h"
#include "core/advise/usage.h"
#include "core/model/objects.h"
#include "core/model/wait_causes.h"
#include "core/report/idle_time.h"

/*
 * Of the time in which any thread ran: what healthy programs have less of, doc/truth.md. Calls and copies are what some
 * programs are for.
 */
#define LEAST_SHARE 0.25
#define LEAST_CALLS 0.4

/* So many threads and processes are no steps: each command has its start. */
#define FEW_STARTS 30

/* What ten times larger steps save of what is paid for each. */
#define TENFOLD 0.9

/* A program that asks for more than it works may do all of that for each step. */
#define MOSTLY 0.5

/* Page faults belong to the steps of a procedure that asks for maps with so much of its time in the kernel's memory code. */
#define MAPS_EACH_TIME 0.2

/* ---- what is paid by the step ---- */

/* What a procedure asked for. */
struct asked {
	uint64_t memory_ns, pages_ns; /* of memory: all, and by the page */
	uint64_t step_ns;	      /* of the class that was chosen, by the step */
};

/* By procedure. NULL: no memory. */
static struct asked *find_asked(const struct qz_cost_class *calls, const struct qz_profile *p)
{
	struct asked *asked = calloc((size_t)p->nprocedures + 1, sizeof(*asked));

	for (uint32_t i = 0; asked && i < calls->n; i++) {
		const struct qz_cost_row *row = &calls->rows[i];

		if (row->asker == QZ_NONE || row->origin != QZ_ORIGIN_MEMORY)
			continue;
		asked[row->asker].memory_ns += row->figure.norm_ns;
		asked[row->asker].pages_ns += row->bulk_norm_ns;
	}
	return asked;
}

static bool maps_each_time(const struct asked *asked)
{
	return (double)(asked->memory_ns - asked->pages_ns) >=
	       MAPS_EACH_TIME * (double)asked->memory_ns;
}

/* Who has more copied than it takes to ask for it has large steps: what else they take is by the page, too. */
static bool is_large(const struct qz_cost_row *row)
{
	return row->cost == QZ_COST_CALLS && row->bulk_norm_ns > row->figure.norm_ns / 2;
}

static uint64_t by_step(const struct asked *asked, const struct qz_cost_row *row)
{
	if (row->cost == QZ_COST_CALLS && row->origin == QZ_ORIGIN_MEMORY &&
	    row->asker != QZ_NONE && maps_each_time(&asked[row->asker]))
		return row->figure.norm_ns;
	return row->cost == QZ_COST_LINES || is_large(row)
		       ? 0
		       : row->figure.norm_ns - row->bulk_norm_ns;
}

/* Adds up a class; `most`: of what procedures asked for, the row with most. */
static uint64_t add_up(const struct asked *asked, const struct qz_cost_class *class,
		       const struct qz_cost_row **most)
{
	uint64_t sum = 0, best = 0;

	for (uint32_t i = 0; i < class->n; i++) {
		uint64_t ns = by_step(asked, &class->rows[i]);

		if (qz_cost_row__is_own_start(&class->rows[i]))
			continue;
		sum += ns;
		if (ns > best && class->rows[i].asker != QZ_NONE) {
			best = ns;
			*most = &class->rows[i];
		}
	}
	return sum;
}

/* Goroutines and tasks are no threads. */
static bool starts_few(const struct qz_report *r, enum qz_cost cost, const struct qz_cost_row *most)
{
	return cost == QZ_COST_STARTING && most->origin != QZ_ORIGIN_GO &&
	       most->origin != QZ_ORIGIN_RUST &&
	       r->profile->scopes[r->scope].counters.threads_seen <= FEW_STARTS;
}

static void choose(struct qz_steps *s, const struct qz_report *r, const struct asked *asked)
{
	for (int cost = QZ_COST_WORK + 1; cost < QZ_COSTS; cost++) {
		const struct qz_cost_row *most = NULL;
		uint64_t ns = add_up(asked, &s->table.classes[cost], &most);
		double least = cost == QZ_COST_CALLS || cost == QZ_COST_COPYING ? LEAST_CALLS
										: LEAST_SHARE;

		if (cost == QZ_COST_SPINNING || cost == QZ_COST_LINES || !most ||
		    ns <= s->step_norm_ns || starts_few(r, (enum qz_cost)cost, most) ||
		    (double)ns < least * (double)r->busy_ns)
			continue;
		s->cost = (enum qz_cost)cost;
		s->most = most;
		s->step_norm_ns = ns;
		s->share = (double)ns / (double)r->busy_ns;
	}
}

/* ---- what is left ---- */

/* Adds up what each procedure has of the class that was chosen. Returns the processor time of its steps, ns. */
static double add_steps(const struct qz_steps *s, struct asked *asked)
{
	const struct qz_cost_class *class = &s->table.classes[s->cost];
	double cpu_ns = 0;

	for (uint32_t i = 0; i < class->n; i++) {
		const struct qz_cost_row *row = &class->rows[i];
		uint64_t step_ns = by_step(asked, row);

		if (row->asker != QZ_NONE)
			asked[row->asker].step_ns += step_ns;
		if (row->figure.norm_ns && !qz_cost_row__is_own_start(row))
			cpu_ns += (double)row->figure.cpu_ns * (double)step_ns /
				  (double)row->figure.norm_ns;
	}
	return cpu_ns;
}

/*
 * Processor time that stays for sure: work, but for procedures that ask for more than they do themselves, and what is
 * by the byte.
 */
static double left(const struct qz_steps *s, const struct asked *asked)
{
	const struct qz_cost_class *work = &s->table.classes[QZ_COST_WORK];
	double cpu_ns = 0;

	if (s->share > MOSTLY)
		return 0;
	for (uint32_t i = 0; i < work->n; i++) {
		const struct qz_cost_row *row = &work->rows[i];

		if (row->asker == QZ_NONE || asked[row->asker].step_ns < row->figure.norm_ns)
			cpu_ns += (double)row->figure.cpu_ns;
	}
	for (int cost = QZ_COST_WORK + 1; cost < QZ_COSTS; cost++)
		for (uint32_t i = 0; i < s->table.classes[cost].n; i++) {
			const struct qz_cost_row *row = &s->table.classes[cost].rows[i];

			cpu_ns += (double)(row->figure.norm_ns - by_step(asked, row));
		}
	return cpu_ns;
}

/* Whether a wait for this would not be there with larger steps. */
static bool hangs_on(enum qz_cost cost, const char *cause)
{
	const unsigned int others = QZ_WAIT_IS_SOCKET | QZ_WAIT_IS_ANY;
	unsigned int kind = qz_wait_cause__kind(cause);

	if (cost == QZ_COST_CALLS)
		return kind & (others | QZ_WAIT_IS_PIPE);
	return !(kind & (others | QZ_WAIT_IS_SLEEP | QZ_WAIT_IS_DEVICE));
}

/* Of the time in which nothing ran, what would stay; all others hang on the steps. 0 or -ENOMEM. */
static int find_idle(const struct qz_steps *s, const struct qz_report *r, uint64_t *stays)
{
	struct qz_idle idle = {0};
	int err = qz_idle_time__find(r, &idle);

	*stays = 0;
	for (uint32_t i = 0; !err && i < idle.n; i++) {
		const struct qz_idle_row *row = &idle.rows[i];

		if (row->kind == QZ_IDLE_BLOCKED && row->cause != QZ_NONE &&
		    (!hangs_on(s->cost, r->profile->causes[row->cause]) ||
		     (row->object != QZ_NONE &&
		      qz_objects__is_clock(&r->profile->objects[row->object]))))
			*stays += row->idle_ns;
		else if (row->kind == QZ_IDLE_WORK || row->kind == QZ_IDLE_UNKNOWN)
			*stays += row->idle_ns;
	}
	free(idle.rows);
	return err;
}

/* What has no work waits for some: that is not shorter with larger steps. */
static bool has_work(const struct qz_report *r, const struct qz_usage *u)
{
	return qz_usage__is_closed(r) || !qz_usage__is_open(r, u);
}

/* Calls do not keep other threads from working: what is left is not spread over more processors. */
static int set_gain(struct qz_steps *s, const struct qz_report *r, const struct asked *asked,
		    double step_cpu_ns)
{
	struct qz_usage u;
	uint64_t stays, waits;
	double able, rest = left(s, asked), width;
	double cpu = (double)qz_scope__running_ns(&r->profile->scopes[r->scope]);
	struct qz_bounds saved_cpu = {.low_ns = (uint64_t)(TENFOLD * step_cpu_ns),
				      .high_ns = (uint64_t)(cpu > rest ? cpu - rest : 0)};
	int err = find_idle(s, r, &stays);

	qz_usage__find(r, &u);
	able = (double)(r->elapsed_ns - u.idle_ns);
	width = s->cost == QZ_COST_CALLS ? r->parallelism : u.width;
	rest = width > 1 ? rest / width : rest;
	rest = rest < (double)r->busy_ns ? rest / (double)r->busy_ns : 1;
	stays = stays < u.idle_ns ? stays : u.idle_ns;
	waits = has_work(r, &u) ? u.idle_ns - stays : 0;
	s->gain.low_ns = (uint64_t)(TENFOLD * s->share * able);
	s->gain.high_ns = (uint64_t)((1 - rest) * able) + waits;
	s->gain = qz_quota__save(r, qz_bounds__within(r, s->gain), saved_cpu);
	return err;
}

int qz_steps__find(struct qz_steps *s, const struct qz_report *r)
{
	struct asked *asked;
	int err;

	*s = (struct qz_steps) {0};
	err = qz_cost_table__find(&s->table, r);
	if (err || !r->busy_ns)
		return err;
	asked = find_asked(&s->table.classes[QZ_COST_CALLS], r->profile);
	if (!asked)
		return -ENOMEM;
	choose(s, r, asked);
	if (s->cost != QZ_COST_WORK) {
		err = set_gain(s, r, asked, add_steps(s, asked));
	}
	free(asked);
	return err;
}

void qz_steps__free(struct qz_steps *s)
{
	qz_cost_table__free(&s->table);
	*s = (struct qz_steps) {0};
}
