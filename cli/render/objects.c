/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of synchronization objects. */
#include <errno.h>
#include <stdlib.h>

#include "cli/render/cells.h"

/* The longest queue, up to the length that is counted separately. */
static uint32_t longest_queue(const struct qz_object *o)
{
	for (uint32_t n = QZ_QUEUE_LENGTHS - 1; n; n--)
		if (o->queue_ns[n] || o->arrivals[n - 1])
			return n;
	return 0;
}

/* Whether it is known of any object that threads spun on it. */
static bool any_spun(const struct scope_view *s)
{
	for (uint32_t i = 0; i < s->report->nobjects; i++)
		if (s->report->objects[i].figure.spin_ns)
			return true;
	return false;
}

static void add_row(const struct scope_view *s, struct text_table *table,
		    const struct qz_object_row *row, bool spun)
{
	const struct qz_object *o = &s->report->profile->objects[row->object];
	uint64_t elapsed = s->report->elapsed_ns;
	uint32_t longest = longest_queue(o);

	cells__add_seconds(s, table, row->cost.cost_ns);
	cells__add_percent(s, table, row->cost.cost_ns);
	cells__add_seconds(s, table, row->cost.held_running_ns);
	cells__add_seconds(s, table, row->cost.held_blocked_ns);
	cells__add_seconds(s, table, row->cost.lock_ns);
	text_table__add(table, PLAIN, "%s", cells__count(o->waits).text);
	cells__add_seconds(s, table, o->wait_ns);
	text_table__add(table, PLAIN, "%s",
			o->waits ? cells__duration((double)o->wait_ns / (double)o->waits).text
				 : "-");
	if (spun) {
		cells__add_spun(s, table, &row->figure);
		cells__add_percent(s, table, row->figure.spin_ns);
	}
	text_table__add(table, PLAIN, "%.2f", elapsed ? (double)o->wait_ns / (double)elapsed : 0);
	text_table__add(table, PLAIN, "%u%s", longest, longest == QZ_QUEUE_LENGTHS - 1 ? "+" : "");
	text_table__take(table, cells__object(s->report, row->object));
}

static int compare(const void *x, const void *y)
{
	const struct qz_object_row *a = *(const struct qz_object_row *const *)x;
	const struct qz_object_row *b = *(const struct qz_object_row *const *)y;

	if (a->cost.cost_ns != b->cost.cost_ns)
		return a->cost.cost_ns < b->cost.cost_ns ? 1 : -1;
	return a < b ? -1 : a > b; /* as the report has them */
}

/* By cost, descending. To be freed; NULL with ENOMEM. */
static const struct qz_object_row **sorted(const struct qz_report *r)
{
	const struct qz_object_row **rows = calloc((size_t)r->nobjects + 1, sizeof(*rows));

	for (uint32_t i = 0; rows && i < r->nobjects; i++)
		rows[i] = &r->objects[i];
	if (rows && r->nobjects)
		qsort(rows, r->nobjects, sizeof(*rows), compare);
	return rows;
}

/* Fills in what follows the columns that are always there, up to `n`. Returns how many there are. */
static int add_columns(struct column *heads, int n, bool spun)
{
	if (spun) {
		heads[n++] = (struct column) {{"spun", "s"}};
		heads[n++] = (struct column) {{"", "%"}, .joined = true};
	}
	heads[n++] = (struct column) {{"mean", "queue"}};
	heads[n++] = (struct column) {{"", "max"}, .joined = true};
	heads[n++] = (struct column) {{"", "object"}, .left = true};
	return n;
}

int objects__print(const struct scope_view *s)
{
	struct column heads[13] = {
		{{"cost", "s"}},	{{"", "%"}, .joined = true}, {{"held", "s"}},
		{{"held,", "blocked"}}, {{"lock", "code"}},	     {{"", "waits"}},
		{{"waited", "s"}},	{{"average", "wait"}},
	};
	uint32_t n = s->report->nobjects, shown = cells__rows_shown(s, n);
	const struct qz_object_row **rows;
	bool spun = any_spun(s);
	struct text_table *table;
	int err;

	if (!n) {
		fputs("\nNo thread was seen waiting for an object.\n", s->out->file);
		return idle__print(s);
	}
	rows = sorted(s->report);
	if (!rows)
		return -ENOMEM;
	table = text_table__new(heads, add_columns(heads, 8, spun));
	for (uint32_t i = 0; i < shown; i++)
		add_row(s, table, rows[i], spun);
	free(rows);
	fputs("\nObjects by cost: held while others queued, locked and unlocked, waited for while "
	      "CPUs were free:\n",
	      s->out->file);
	err = text_table__print(table, s->out);
	if (err)
		return err;
	cells__print_rest(s, n, shown, "objects");
	return idle__print(s);
}
