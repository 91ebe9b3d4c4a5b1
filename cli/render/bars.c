/* SPDX-License-Identifier: GPL-2.0-only */
/* Normalized time as bars over the number of busy processors. */

#include "cli/render/cells.h"

#define MAX_BARS 33 /* the serial level and 32 others, of several levels each if need be */

struct bar {
	uint32_t first, last; /* levels */
	uint64_t self_ns, total_ns;
};

/* Level 1 has a bar of its own: it is what the reader looks for first. Returns the number of bars. */
static int make_bars(const struct scope_view *s, const struct qz_figure *self,
		     const struct qz_figure *total, struct bar *bars)
{
	uint32_t levels = s->report->nlevels - 1; /* without level 0 */
	uint32_t group = levels > MAX_BARS ? (levels - 1 + MAX_BARS - 2) / (MAX_BARS - 1) : 1;
	int n = 0;

	for (uint32_t level = 1; level <= levels; level++) {
		if (level <= 2 || (level - 2) % group == 0)
			bars[n++] = (struct bar) {.first = level};
		bars[n - 1].last = level;
		bars[n - 1].self_ns += (self ? self : total)->level_norm_ns[level];
		bars[n - 1].total_ns += total->level_norm_ns[level];
	}
	return n;
}

static void add_levels(const struct scope_view *s, struct text_table *table, const struct bar *b,
		       uint64_t widest)
{
	int total = cells__of_bar(b->total_ns, widest), self = cells__of_bar(b->self_ns, widest);

	if (total == 1 && 2 * b->self_ns < b->total_ns)
		self = 0; /* one cell for both: the larger part has it */
	cells__add_bar(s, table, self, total);
}

int bars__print(const struct scope_view *s, const struct qz_figure *self,
		const struct qz_figure *total)
{
	const struct column heads[] = {
		{{"busy", "proc."}},	      {{self ? "self" : "", self ? "s" : ""}},
		{{self ? "total" : "", "s"}}, {{"", "%"}, .joined = true},
		{{"", ""}, .left = true},
	};
	struct bar bars[MAX_BARS];
	int n = make_bars(s, self, total, bars);
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	uint64_t widest = 0;

	for (int i = 0; i < n; i++)
		widest = bars[i].total_ns > widest ? bars[i].total_ns : widest;
	for (int i = 0; i < n; i++) {
		if (bars[i].first == bars[i].last)
			text_table__add(table, PLAIN, "%u", bars[i].first);
		else
			text_table__add(table, PLAIN, "%u-%u", bars[i].first, bars[i].last);
		if (self)
			cells__add_norm_part(s, table, bars[i].self_ns, self);
		else
			text_table__add(table, PLAIN, "%s", "");
		cells__add_norm_part(s, table, bars[i].total_ns, total);
		cells__add_norm_percent(s, table, bars[i].total_ns, total);
		add_levels(s, table, &bars[i], widest);
	}
	return text_table__print(table, s->out);
}
