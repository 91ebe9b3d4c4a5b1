/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_threads.h"

#include <errno.h>
#include <stdlib.h>

#include "core/html/html_columns.h"
#include "core/threads/thread_groups.h"
#include "core/util/systemd_unit.h"

struct row {
	struct qz_thread thread; /* strings belong to the profile */
	struct qz_thread_row row;
	char *program; /* comm of its scope */
	char *unit;    /* that its control group is of */
	uint32_t start;
	bool idle;
};

#define COLUMN(kind, called, path) QZ_HTML_COLUMN(kind, row, called, path)

static const struct qz_field fields[] = {
	COLUMN(I32, "tid", thread.tid),
	COLUMN(I32, "pid", thread.pid),
	COLUMN(TEXT, "comm", thread.comm),
	COLUMN(TEXT, "name", thread.name),
	COLUMN(TEXT, "program", program),
	COLUMN(TEXT, "unit", unit),
	COLUMN(U32, "start", start),
	COLUMN(BOOL, "idle", idle),
	COLUMN(BOOL, "ended", thread.ended),
	COLUMN(BOOL, "merged", thread.merged),
	COLUMN(U64, "start_ns", thread.start_ns),
	COLUMN(U64, "end_ns", thread.end_ns),
	COLUMN(U64, "cpu_ns", thread.cpu_ns),
	COLUMN(U64, "running_ns", thread.running_ns),
	COLUMN(U64, "ready_ns", thread.ready_ns),
	COLUMN(U64, "blocked_ns", thread.blocked_ns),
	COLUMN(U64, "unknown_ns", thread.unknown_ns),
	COLUMN(U64, "norm_ns", row.figure.norm_ns),
	COLUMN(U64, "ci_ns", row.figure.ci_ns),
	COLUMN(U64, "sampled_ns", row.figure.cpu_ns),
	COLUMN(U64, "spin_ns", row.figure.spin_ns),
	COLUMN(U64, "samples", row.figure.samples),
	COLUMN(U64, "waits", row.waits.count),
	{0},
};

/* Units of the scopes of a profile, "" where there is none. -ENOMEM. */
static char *find_units(const struct qz_profile *p)
{
	char *units = calloc((size_t)p->nscopes + 1, QZ_UNIT_LENGTH);

	for (uint32_t i = 0; units && i < p->nscopes; i++)
		qz_systemd_unit__of_cgroup(p->scopes[i].cgroup, units + (size_t)i * QZ_UNIT_LENGTH);
	return units;
}

static struct row row_of(const struct qz_report *r, uint32_t i, const struct qz_thread_groups *g,
			 char *units)
{
	const struct qz_profile *p = r->profile;
	uint32_t thread = r->threads[i].thread, scope = p->threads[thread].scope;

	return (struct row) {
		.thread = p->threads[thread],
		.row = r->threads[i],
		.program = p->scopes[scope].comm,
		.unit = units + (size_t)scope * QZ_UNIT_LENGTH,
		.start = g->start[i],
		.idle = r->idle[thread],
	};
}

int qz_html_threads__put(FILE *out, const struct qz_report *r)
{
	struct row *rows = calloc((size_t)r->nthreads + 1, sizeof(*rows));
	char *units = find_units(r->profile);
	struct qz_thread_groups groups = {0};
	int err = rows && units ? qz_thread_groups__find(r, &groups) : -ENOMEM;

	for (uint32_t i = 0; !err && i < r->nthreads; i++)
		rows[i] = row_of(r, i, &groups, units);
	if (!err) {
		fputs(",\n\"threads\":{", out);
		err = qz_html_columns__put(out, "", fields,
					   &(struct qz_html_table) {rows, r->nthreads,
								    sizeof(*rows)});
		fputs("}", out);
	}
	qz_thread_groups__free(&groups);
	free(units);
	free(rows);
	return err;
}
