/* SPDX-License-Identifier: GPL-2.0-only */
/* Who calls whom: the stacks as an indented table. */
#include <stdlib.h>
#include <string.h>

#include "cli/render/cells.h"
#include "core/report/tree.h"

#define INDENT 2

static int make_heads(const struct scope_view *s, struct column *heads)
{
	int n = 0;

	heads[n++] = (struct column) {{"total", "s"}};
	heads[n++] = (struct column) {{"", "%"}, .joined = true};
	heads[n++] = (struct column) {{"self", "%"}};
	heads[n++] = (struct column) {{"paral-", "lelism"}};
	heads[n++] = (struct column) {{cells__plus_minus(s->out), "s"}};
	if (s->report->spin_ns)
		heads[n++] = (struct column) {{"spin", "s"}};
	if (s->report->waits.count)
		heads[n++] = (struct column) {{"blocked", "s"}};
	heads[n++] = (struct column) {{"", "procedure"}, .left = true};
	return n;
}

/* "    serve(int)  as a thread". For the caller to free, or NULL. */
static char *format_branch(const struct scope_view *s, const struct qz_branch *b)
{
	static const char *const how[QZ_PROCEDURE_KINDS] = {
		[QZ_THREAD_START] = "thread: ",
		[QZ_PROCESS_START] = "process: ",
		[QZ_TRUNCATED] = "... ",
	};
	const char *via = how[b->via] ? how[b->via] : "";
	char *name = b->kernel ? output__escape(b->kernel) : names__format(s->names, b->procedure);
	char *text = NULL;

	if (!name || asprintf(&text, "%*s%s%s", (int)b->depth * INDENT, "", via, name) < 0)
		text = NULL;
	free(name);
	return text;
}

static void add_branch(const struct scope_view *s, struct text_table *table,
		       const struct qz_branch *b)
{
	cells__add_norm(s, table, &b->total);
	cells__add_norm_percent(s, table, b->self.norm_ns, &b->self);
	cells__add_parallelism(table, &b->total);
	cells__add_interval(s, table, &b->total);
	if (s->report->spin_ns)
		cells__add_spun(s, table, &b->total);
	if (s->report->waits.count)
		cells__add_blocked(s, table, &b->waits, false);
	text_table__take(table, format_branch(s, b));
}

int tree__print(const struct scope_view *s)
{
	uint32_t rows = cells__rows_shown(s, UINT32_MAX);
	uint32_t depth = s->config->depth ? (uint32_t)s->config->depth : UINT32_MAX;
	uint32_t wrappers = 0;
	struct column heads[8];
	struct qz_tree tree;
	struct text_table *table;
	int err = qz_tree__find(s->report, s->config->flat, rows, depth, &tree);

	if (err)
		goto out;
	table = text_table__new(heads, make_heads(s, heads));
	for (uint32_t i = 0; i < tree.n; i++) {
		add_branch(s, table, &tree.branches[i]);
		wrappers += tree.branches[i].wrappers;
	}
	fputs("\nNormalized time of calls, each below its caller, % of elapsed time:\n",
	      s->out->file);
	err = text_table__print(table, s->out);
	if (err)
		goto out;
	cells__print_rest(s, tree.n + tree.left_out, tree.n, "calls of 0.1% or more");
	if (wrappers)
		fprintf(s->out->file,
			"folded into the rows above: wrappers %s (--flat shows them)\n",
			cells__count(wrappers).text);
out:
	qz_tree__free(&tree);
	return err;
}
