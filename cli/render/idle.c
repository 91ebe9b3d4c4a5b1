/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads waited for while nothing ran. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/cells.h"
#include "core/advise/usage.h"
#include "core/report/idle_time.h"

/* From this share of the elapsed time on, idle time is worth a table. */
#define LEAST_IDLE 0.005

/* Of what takes less there is one row together. */
#define LEAST_ROW 0.001

static char *name_of(const struct scope_view *s, const struct qz_idle_row *row)
{
	const struct qz_profile *p = s->report->profile;

	struct qz_usage usage;

	if (row->kind == QZ_IDLE_READY) {
		qz_usage__find(s->report, &usage);
		return strdup(qz_usage__lacking(&usage));
	}
	if (row->kind == QZ_IDLE_UNKNOWN)
		return strdup("unknown");
	if (row->object != QZ_NONE)
		return cells__object(s->report, row->object);
	return output__escape(p->causes[row->cause]);
}

static void add_row(const struct scope_view *s, struct text_table *table, uint64_t ns, char *name)
{
	cells__add_seconds(s, table, ns);
	cells__add_percent(s, table, ns);
	text_table__take(table, name);
}

static void add_rows(const struct scope_view *s, struct text_table *table,
		     const struct qz_idle *idle)
{
	double least = LEAST_ROW * (double)s->report->elapsed_ns;
	uint32_t shown = cells__rows_shown(s, idle->n);
	uint64_t rest = 0;

	for (uint32_t i = 0; i < idle->n; i++)
		if (i < shown && (double)idle->rows[i].idle_ns >= least)
			add_row(s, table, idle->rows[i].idle_ns, name_of(s, &idle->rows[i]));
		else
			rest += idle->rows[i].idle_ns;
	if (rest)
		add_row(s, table, rest, strdup("all others"));
}

int idle__print(const struct scope_view *s)
{
	static const struct column heads[] = {
		{{"idle", "s"}},
		{{"", "%"}, .joined = true},
		{{"", "waited for"}, .left = true},
	};
	const struct qz_report *r = s->report;
	struct qz_idle idle;
	struct text_table *table;
	int err;

	if (!r->idle_ns || (double)r->idle_ns < LEAST_IDLE * (double)r->elapsed_ns)
		return 0;
	err = qz_idle_time__find(r, &idle);
	if (err)
		return err;
	table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	add_rows(s, table, &idle);
	fprintf(s->out->file, "\nNothing ran %s of the time; threads %s:\n",
		cells__share(r->idle_ns, r->elapsed_ns).text,
		idle.n && idle.rows[0].kind == QZ_IDLE_WORK ? "that had no work waited for"
							    : "waited for");
	free(idle.rows);
	return text_table__print(table, s->out);
}
