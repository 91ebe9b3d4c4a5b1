/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The states of a procedure or object (Quartz 1990, table 1): time in each, by cause, and how many
 * threads could have run meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/render/cells.h"

#define MAX_PARTS 4 /* of a distribution; the rest is named together */

/* "0 12%  1 80%  2 8%": the largest parts, in the order of their numbers. */
static void print_distribution(FILE *out, const struct scope_view *s, const struct qz_state *state)
{
	uint32_t parts[MAX_PARTS], n = 0;
	uint64_t rest = state->ns;
	bool any = false;

	for (; n < MAX_PARTS; n++) {
		uint32_t best = QZ_NONE;

		for (uint32_t i = 0; i <= s->report->nlevels; i++) {
			bool taken = !state->nominal_ns[i];

			for (uint32_t k = 0; k < n; k++)
				taken |= parts[k] == i;
			if (!taken &&
			    (best == QZ_NONE || state->nominal_ns[i] > state->nominal_ns[best]))
				best = i;
		}
		if (best == QZ_NONE)
			break;
		parts[n] = best;
		rest -= state->nominal_ns[best];
	}
	for (uint32_t i = 0; i <= s->report->nlevels; i++) {
		for (uint32_t k = 0; k < n; k++) {
			if (parts[k] != i)
				continue;
			fprintf(out, "%s%u%s: %s", any ? ", " : "", i,
				i == s->report->nlevels ? " or more" : "",
				cells__share(state->nominal_ns[i], state->ns).text);
			any = true;
		}
	}
	if (rest)
		fprintf(out, ", others: %s", cells__share(rest, state->ns).text);
}

/* For the caller to free, or NULL. */
static char *format_distribution(const struct scope_view *s, const struct qz_state *state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	print_distribution(out, s, state);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void add_state(const struct scope_view *s, struct text_table *table, const char *name,
		      const struct qz_state *state, uint64_t waits)
{
	text_table__add(table, PLAIN, "%s", name);
	cells__add_seconds(s, table, state->ns);
	text_table__add(table, PLAIN, "%s", waits ? cells__count(waits).text : "");
	if (state->ns)
		text_table__add(table, PLAIN, "%.1f", state->mean);
	else
		text_table__add(table, PLAIN, "%s", "");
	text_table__take(table, format_distribution(s, state));
}

/* "76.3% of blocked, 100% of ready (0.400 s)", or one of them. For the caller to free, or NULL. */
static char *format_parts(const struct scope_view *s, const struct qz_wait_figure *waits,
			  const struct qz_wait_figure *all)
{
	char *text;
	int n;

	if (!waits->ready_ns)
		n = asprintf(&text, "%s of blocked",
			     cells__share(waits->blocked_ns, all->blocked_ns).text);
	else
		n = asprintf(&text, "%s%s%s of ready (%.*f s)",
			     waits->blocked_ns
				     ? cells__share(waits->blocked_ns, all->blocked_ns).text
				     : "",
			     waits->blocked_ns ? " of blocked, " : "",
			     cells__share(waits->ready_ns, all->ready_ns).text, s->decimals,
			     (double)waits->ready_ns / 1e9);
	return n < 0 ? NULL : text;
}

/* Below the states that it is a part of. */
static void add_cause(const struct scope_view *s, struct text_table *table,
		      const struct qz_states *states, const struct qz_cause_row *row)
{
	char *name = output__escape(s->report->profile->causes[row->cause]), *label;

	label = name && asprintf(&label, "  %s", name) >= 0 ? label : NULL;
	free(name);
	text_table__take(table, label);
	cells__add_blocked(s, table, &row->waits, true);
	text_table__add(table, PLAIN, "%s", cells__count(row->waits.count).text);
	text_table__add(table, PLAIN, "%s", "");
	text_table__take(table, format_parts(s, &row->waits, &states->waits));
}

static void add_idle(const struct scope_view *s, struct text_table *table,
		     const struct qz_wait_figure *waits)
{
	text_table__add(table, PLAIN, "  idle threads");
	cells__add_seconds(s, table, waits->idle_ns);
	text_table__add(table, PLAIN, "%s", "");
	text_table__add(table, PLAIN, "%s", "");
	text_table__add(table, PLAIN, "%s of blocked",
			cells__share(waits->idle_ns, waits->blocked_ns).text);
}

static void add_all(const struct scope_view *s, struct text_table *table,
		    const struct qz_states *states)
{
	const struct qz_state *all = states->all;

	add_state(s, table, "busy", &all[QZ_STATE_BUSY], 0);
	if (all[QZ_STATE_SPINNING].ns)
		add_state(s, table, "spinning", &all[QZ_STATE_SPINNING], 0);
	add_state(s, table, "blocked", &all[QZ_STATE_BLOCKED], states->waits.count);
	if (states->waits.idle_ns)
		add_idle(s, table, &states->waits);
	for (uint32_t i = 0; i < cells__rows_shown(s, states->causes.n); i++)
		add_cause(s, table, states, &states->causes.rows[i]);
	add_state(s, table, "ready", &all[QZ_STATE_READY], 0);
}

static int print_table(const struct scope_view *s, const struct qz_states *states)
{
	static const struct column heads[] = {
		{{"", "state"}, .left = true},
		{{"all threads", "s"}},
		{{"", "waits"}},
		{{"could", "run"}},
		{{"threads that could run:", "share of the state's time"}, .left = true},
	};
	struct text_table *table;

	if (!s->report->waits.count && !s->report->spin_ns)
		return 0;
	table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	add_all(s, table, states);
	fputc('\n', s->out->file);
	return text_table__print(table, s->out);
}

int states__print(const struct scope_view *s, find_states *find, uint32_t of)
{
	struct qz_states states;
	int err = find(s->report, of, &states);

	err = err ? err : print_table(s, &states);
	qz_state_breakdown__clear(&states);
	return err;
}
