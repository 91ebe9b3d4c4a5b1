/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of synchronization objects. */
#include <errno.h>
#include <stdlib.h>

#include "cli/section.h"

/* The longest queue there was, of those that are told apart. */
static uint32_t longest_queue(const struct qz_object *o)
{
	for (uint32_t n = QZ_QUEUE_LENGTHS - 1; n; n--)
		if (o->queue_ns[n] || o->arrivals[n - 1])
			return n;
	return 0;
}

/* Whether it is known of any object that threads spun on it. */
static bool any_spun(const struct section *s)
{
	for (uint32_t i = 0; i < s->report->nobjects; i++)
		if (s->report->objects[i].figure.spin_ns)
			return true;
	return false;
}

static int add_row(const struct section *s, struct columns *c, const struct qz_object_row *row,
		   bool spun)
{
	const struct qz_object *o = &s->report->profile->objects[row->object];
	uint64_t elapsed = s->report->elapsed_ns;
	uint32_t longest = longest_queue(o);
	char *name = format_object(s->report, row->object);

	if (!name)
		return -ENOMEM;
	add_seconds(s, c, row->figure.norm_ns);
	add_percent(s, c, row->figure.norm_ns);
	columns__add(c, PLAIN, "%s", group_digits(o->waits).text);
	add_seconds(s, c, o->wait_ns);
	columns__add(c, PLAIN, "%s",
		     o->waits ? duration((double)o->wait_ns / (double)o->waits).text : "-");
	if (spun) {
		add_seconds(s, c, row->figure.spin_ns);
		add_percent(s, c, row->figure.spin_ns);
	}
	columns__add(c, PLAIN, "%.2f", elapsed ? (double)o->wait_ns / (double)elapsed : 0);
	columns__add(c, PLAIN, "%u%s", longest, longest == QZ_QUEUE_LENGTHS - 1 ? "+" : "");
	columns__add(c, PLAIN, "%s", group_digits(o->wakes).text);
	columns__add(c, PLAIN, "%s", name);
	free(name);
	return 0;
}

int objects__print(const struct section *s)
{
	struct column heads[11] = {
		{{"held", "s"}},   {{"", "%"}, .joined = true}, {{"", "waits"}},
		{{"waited", "s"}}, {{"average", "wait"}},
	};
	uint32_t n = s->report->nobjects, shown = rows_shown(s, n);
	bool spun = any_spun(s);
	int nheads = 5, err;
	struct columns *c;

	if (!n) {
		fputs("\nNobody was seen waiting for an object.\n", s->out->file);
		return 0;
	}

	if (spun) {
		heads[nheads++] = (struct column) {{"spun", "s"}};
		heads[nheads++] = (struct column) {{"", "%"}, .joined = true};
	}
	heads[nheads++] = (struct column) {{"mean", "queue"}};
	heads[nheads++] = (struct column) {{"", "max"}, .joined = true};
	heads[nheads++] = (struct column) {{"wake-", "ups"}};
	heads[nheads++] = (struct column) {{"", "object"}, .left = true};
	c = columns__new(heads, nheads);
	err = c ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < shown; i++)
		err = add_row(s, c, &s->report->objects[i], spun);
	if (!err) {
		fputs("\nObjects by normalized time of their holders while others queued, % of "
		      "elapsed time:\n",
		      s->out->file);
		err = columns__print(c, s->out);
	}
	columns__free(c);
	if (!err)
		print_rest(s, n, shown, "objects");
	return err;
}
