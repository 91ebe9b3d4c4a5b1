/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/proposal.h"

#include <stdlib.h>
#include <string.h>

#include "cli/experiment/measured.h"
#include "cli/render/output.h"
#include "core/advise/advise.h"

#define STANDARD_TIME 3000000000ull /* for which a process is measured */

/*
 * What a knob that needs no change of the program can do about a finding: threads that contend, or work in too small
 * pieces, do so less on fewer processors; who loses processors to others gets more with a lower nice value. And which
 * knob of the program helps: where pieces are too small or too large, their size, else how many threads there are.
 */
static const struct {
	const char *rule, *knob;
	int role; /* enum qz_knob_role, -1: none */
} cures[] = {
	{"contention", "cpus", QZ_KNOB_THREADS},
	{"spinning", "cpus", QZ_KNOB_THREADS},
	{"fine", "cpus", QZ_KNOB_CHUNK},
	{"imbalance", NULL, QZ_KNOB_CHUNK},
	{"oversubscribed", "cpus", QZ_KNOB_THREADS},
	{"few-threads", NULL, QZ_KNOB_THREADS},
	{"allocator", "cpus", QZ_KNOB_THREADS},
	{"serial", NULL, QZ_KNOB_THREADS},
	{"pipeline", NULL, QZ_KNOB_THREADS},
	{"overlap", NULL, QZ_KNOB_THREADS},
	{"taken", "nice", -1},
};

static const char *of_role(const struct qz_knobs *knobs, int role)
{
	for (uint32_t i = 0; i < knobs->used; i++)
		if ((int)knobs->knobs[i].role == role)
			return knobs->knobs[i].name;
	return NULL;
}

static const char *cure_of(const char *rule, const struct qz_knobs *knobs)
{
	for (size_t i = 0; i < sizeof(cures) / sizeof(cures[0]); i++)
		if (!strcmp(cures[i].rule, rule))
			return knobs ? of_role(knobs, cures[i].role) : cures[i].knob;
	return NULL;
}

/* Threads that work one at a time, because the others spin or sleep for their turn, contend, whatever shows it. */
static const char *rule_of(const struct qz_finding *f)
{
	return f->word && !strcmp(f->word, "CONTENDED") ? "contention" : f->rule;
}

/* The first finding that a knob helps with, or else the first one. */
static enum status choose(struct proposal *p, const struct qz_report *r,
			  const struct qz_knobs *knobs)
{
	struct qz_advice *a = qz_advise__new(r);
	const struct qz_finding *found = a && a->n ? &a->findings[0] : NULL;

	if (!a)
		return out_of_memory();
	for (uint32_t i = 0; i < a->n && !p->knob; i++) {
		p->knob = cure_of(rule_of(&a->findings[i]), knobs);
		found = p->knob ? &a->findings[i] : found;
	}
	p->why = found ? output__escape(found->what) : NULL;
	qz_advise__free(a);
	return found && !p->why ? out_of_memory() : STATUS_OK;
}

enum status proposal__make(struct proposal *p, const struct config *config,
			   const struct processors *on, const struct qz_knobs *knobs,
			   const char *user)
{
	int64_t pid = config->pid;
	const struct qz_integers pids = {.items = &pid, .n = 1};
	struct trial t = {.on = on,
			  .processors = on->n,
			  .command = knobs ? NULL : config->command,
			  .pids = knobs ? &pids : NULL,
			  .duration_ns = config->duration ? config->duration : STANDARD_TIME,
			  .user = user};
	struct measured m;
	enum status status;

	*p = (struct proposal) {0};
	status = measured__take(&m, config, &t, "tune");
	if (status == STATUS_OK)
		status = choose(p, m.view.reports[0], knobs);
	measured__free(&m);
	return status;
}

void proposal__free(struct proposal *p)
{
	free(p->why);
	*p = (struct proposal) {0};
}
