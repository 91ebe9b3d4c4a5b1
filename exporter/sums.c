/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/transform/merge.h"

/* A row that has not grown for this many additions may be removed. */
#define IDLE_ADDITIONS 60

void sums__free(struct sums *s)
{
	for (uint32_t i = 0; i < s->nrows; i++)
		free(s->rows[i].name);
	free(s->rows);
	free(s->level_ns);
	for (uint32_t i = 0; i < s->ledger.nlosses; i++)
		free(s->ledger.losses[i].cause);
	for (uint32_t i = 0; i < s->ledger.nevents; i++)
		free(s->ledger.events[i].cause);
	free(s->ledger.losses);
	free(s->ledger.events);
	*s = (struct sums) {0};
}

/* ---- rows ---- */

static struct sums_row *longest_idle(struct sums *s)
{
	struct sums_row *found = NULL;

	for (uint32_t i = 0; i < s->nrows; i++)
		if (s->rows[i].used + IDLE_ADDITIONS < s->additions &&
		    (!found || s->rows[i].used < found->used))
			found = &s->rows[i];
	return found;
}

/* The row of the same name, a new one if there is room, or that of all others. NULL: ENOMEM. */
static struct sums_row *find_row(struct sums *s, const struct sums_row *wanted)
{
	struct sums_row *row;
	char *copy;

	for (uint32_t i = 0; i < s->nrows; i++) {
		row = &s->rows[i];
		if (row->pid == wanted->pid && row->made_up == wanted->made_up &&
		    !strcmp(row->name, wanted->name))
			return row;
	}
	row = s->nrows < s->max ? &s->rows[s->nrows] : longest_idle(s);
	if (!row)
		return &s->others;
	copy = strdup(wanted->name);
	if (!copy)
		return NULL;
	if (row == &s->rows[s->nrows])
		s->nrows++;
	else
		s->evicted++;
	free(row->name);
	*row = *wanted;
	row->name = copy;
	row->number = ++s->made;
	return row;
}

/* The rows of kernel threads, and of merged ended processes, have names of Quartz's own. */
static struct sums_row described(const struct sums *s, const struct qz_profile *p,
				 const struct qz_process_row *from)
{
	const struct qz_scope *scope = &p->scopes[from->scope];
	bool named = s->by == QZ_BY_PROCESS || s->by == QZ_BY_COMM;

	return (struct sums_row) {
		.name = from->name,
		.made_up = scope->kind == QZ_SCOPE_KERNEL || (named && qz_scope__is_folded(scope)),
		.pid = s->by == QZ_BY_PROCESS ? scope->pid : 0,
	};
}

/* Rows come with the most normalized time first, so these get the room. */
static int add_rows(struct sums *s, const struct qz_profile *p, const struct qz_process_table *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct qz_process_row *from = &t->rows[i];
		const struct sums_row wanted = described(s, p, from);
		struct sums_row *row;

		if (!from->cpu_ns && !from->norm_ns && !from->busy_ns && !from->spin_ns)
			continue;
		row = find_row(s, &wanted);
		if (!row)
			return -ENOMEM;
		row->used = s->additions;
		row->cpu_ns += from->cpu_ns;
		row->norm_ns += from->norm_ns;
		row->busy_ns += from->busy_ns;
		row->serial_ns += from->serial_ns;
		row->busy_cpu_ns += from->busy_cpu_ns;
		row->spin_ns += from->spin_ns;
	}
	return 0;
}

static int add_processes(struct sums *s, const struct qz_profile *p)
{
	uint32_t *all = calloc((size_t)p->nscopes + 1, sizeof(*all));
	struct qz_process_table t = {0};
	int err = all ? 0 : -ENOMEM;

	for (uint32_t i = 0; all && i < p->nscopes; i++)
		all[i] = i;
	err = err ? err : qz_process_table__make(&t, p, all, p->nscopes, s->by, QZ_ORDER_NORM);
	err = err ? err : add_rows(s, p, &t);
	qz_process_table__free(&t);
	free(all);
	return err;
}

/* ---- the machine ---- */

static int add_levels(struct sums *s, const struct qz_scope *machine)
{
	if (s->nlevels < machine->nlevels) {
		uint64_t *more = realloc(s->level_ns, machine->nlevels * sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + s->nlevels, 0, (machine->nlevels - s->nlevels) * sizeof(*more));
		s->level_ns = more;
		s->nlevels = machine->nlevels;
	}
	for (uint32_t n = 0; n < machine->nlevels; n++)
		s->level_ns[n] += machine->level_ns[n];
	return 0;
}

static int add_machine(struct sums *s, const struct qz_profile *p)
{
	uint32_t machine = qz_profile__machine(p);

	if (machine == QZ_NONE)
		return 0;
	s->machine = true;
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *sample = &p->samples[i];

		if (sample->scope != machine)
			continue;
		s->busy_ns += sample->norm_ns;
		s->busy_cpu_ns += sample->busy * sample->norm_ns;
		if (sample->busy == 1)
			s->serial_ns += sample->norm_ns;
		if (sample->spinning)
			s->spin_ns += sample->cpu_ns;
	}
	return add_levels(s, &p->scopes[machine]);
}

static int add_ledger(struct qz_ledger *sum, const struct qz_ledger *l)
{
	int err = qz_ledger__add(sum, l);

	qz_ledger__close(sum);
	return err == -E2BIG ? 0 : err;
}

int sums__add(struct sums *s, const struct qz_profile *added)
{
	int err = 0;

	if (!s->rows)
		s->rows = calloc((size_t)s->max + 1, sizeof(*s->rows));
	if (!s->rows)
		return -ENOMEM;
	s->additions++;
	s->window_ns += added->window_ns;
	qz_costs__add(&s->costs, &added->costs);
	err = add_machine(s, added);
	err = err ? err : add_processes(s, added);
	return err ? err : add_ledger(&s->ledger, &added->ledger);
}
