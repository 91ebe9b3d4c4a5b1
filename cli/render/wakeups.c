/* SPDX-License-Identifier: GPL-2.0-only */
/* The other metric: time until woken, by procedure. */
#include <stdlib.h>

#include "cli/render/cells.h"
#include "core/report/wakeup_report.h"

static void add_row(const struct scope_view *s, struct text_table *table,
		    const struct qz_woken_row *row)
{
	cells__add_seconds(s, table, row->total_ns);
	cells__add_percent(s, table, row->total_ns);
	cells__add_seconds(s, table, row->self_ns);
	cells__add_percent(s, table, row->self_ns);
	text_table__add(table, PLAIN, "%s", cells__count(row->wakes).text);
	text_table__take(table, names__format(s->names, row->procedure));
}

static int print_rows(const struct scope_view *s, const struct qz_woken *woken)
{
	static const struct column heads[] = {
		{{"total", "s"}},   {{"", "%"}, .joined = true},
		{{"self", "s"}},    {{"", "%"}, .joined = true},
		{{"wake-", "ups"}}, {{"", "procedure"}, .left = true},
	};
	uint32_t shown = cells__rows_shown(s, woken->nrows);
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	int err;

	for (uint32_t i = 0; i < shown; i++)
		add_row(s, table, &woken->rows[i]);
	err = text_table__print(table, s->out);
	if (!err)
		cells__print_rest(s, woken->nrows, shown, "procedures");
	return err;
}

static void print_seconds(const struct scope_view *s, const char *what, uint64_t ns)
{
	fprintf(s->out->file, "%s %.*f s", what, s->decimals, (double)ns / 1e9);
}

/* Time that is charged to no code: nothing ran on behalf of the waiting thread. */
static void print_nobody(const struct scope_view *s, const struct qz_woken *woken)
{
	FILE *out = s->out->file;
	uint64_t rest = woken->unattributed_ns - woken->nobody_ns;

	if (woken->nobody_wakes) {
		print_seconds(s, "Not in it:", woken->nobody_ns);
		fprintf(out,
			" of waits (%s) that no thread measured here ended, but the end of a "
			"sleep, a "
			"time-out, a\ndevice or another program",
			cells__count(woken->nobody_wakes).text);
		if (woken->nobody_futex_ns)
			print_seconds(
				s, "; time-outs at locks and conditions:", woken->nobody_futex_ns);
		fputs(".\n", out);
	}
	if (woken->idle_ns) {
		print_seconds(s, "Of it, where only idle threads waited:", woken->idle_ns);
		fputs(".\n", out);
	}
	if (rest) {
		print_seconds(s, "Of it, without a procedure:", rest);
		fputs(".\n", out);
	}
}

/* Several threads may wait at once, so that percentages may exceed 100. */
int wakeups__print(const struct scope_view *s)
{
	struct qz_woken woken;
	int err = qz_wakeup_report__woken(s->report, &woken);

	if (err)
		return err;
	fprintf(s->out->file,
		"\nTime until woken, not normalized time: what ran while others waited for it and "
		"a\n"
		"processor was free; %.*f s in all, %s wake-ups; %% of elapsed time, for each who\n"
		"waited.\n",
		s->decimals, (double)(woken.woken_ns - woken.nobody_ns) / 1e9,
		cells__count(woken.wakes - woken.nobody_wakes).text);
	print_nobody(s, &woken);
	err = print_rows(s, &woken);
	free(woken.rows);
	return err;
}
