/* SPDX-License-Identifier: GPL-2.0-only */
/* The other metric: time until woken, by procedure. */
#include <errno.h>
#include <stdlib.h>

#include "cli/section.h"

static int add_row(const struct section *s, struct columns *c, const struct qz_woken_row *row)
{
	char *name = names__format(s->names, row->procedure);

	if (!name)
		return -ENOMEM;
	add_seconds(s, c, row->total_ns);
	add_percent(s, c, row->total_ns);
	add_seconds(s, c, row->self_ns);
	add_percent(s, c, row->self_ns);
	columns__add(c, PLAIN, "%s", group_digits(row->wakes).text);
	columns__add(c, PLAIN, "%s", name);
	free(name);
	return 0;
}

static int print_rows(const struct section *s, const struct qz_woken *woken)
{
	static const struct column heads[] = {
		{{"total", "s"}},   {{"", "%"}, .joined = true},
		{{"self", "s"}},    {{"", "%"}, .joined = true},
		{{"wake-", "ups"}}, {{"", "procedure"}, .left = true},
	};
	uint32_t shown = rows_shown(s, woken->nrows);
	struct columns *c = columns__new(heads, sizeof(heads) / sizeof(*heads));
	int err = c ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < shown; i++)
		err = add_row(s, c, &woken->rows[i]);
	if (!err)
		err = columns__print(c, s->out);
	columns__free(c);
	if (!err)
		print_rest(s, woken->nrows, shown, "procedures");
	return err;
}

/* Several threads may wait at once, so that percentages may exceed 100. */
int woken__print(const struct section *s)
{
	struct qz_woken woken;
	int err = qz_report__woken(s->report, &woken);

	if (err)
		return err;
	if (!s->report->profile->nwakings || s->report->profile->wakes_sampled) {
		fputs("\nThe time until woken was not measured: record with --woken.\n",
		      s->out->file);
		free(woken.rows);
		return 0;
	}
	fprintf(s->out->file,
		"\nTime until woken, not normalized time: what ran while others waited for it and "
		"a\n"
		"processor was free; %.*f s in all, %s wake-ups; %% of elapsed time, for each who\n"
		"waited.\n",
		s->decimals, (double)woken.woken_ns / 1e9, group_digits(woken.wakes).text);
	if (woken.unattributed_ns)
		fprintf(s->out->file, "Without a procedure: %.*f s.\n", s->decimals,
			(double)woken.unattributed_ns / 1e9);
	err = print_rows(s, &woken);
	free(woken.rows);
	return err;
}
