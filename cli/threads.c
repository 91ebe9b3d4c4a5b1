/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of threads. */
#include <errno.h>
#include <stdlib.h>

#include "cli/section.h"

/* "futex: mutex queue_lock", or the cause alone. */
static int add_top_wait(const struct section *s, struct columns *c, const struct qz_thread_row *row)
{
	bool any = row->top_cause != QZ_NONE, object = row->top_object != QZ_NONE;
	char *cause = escape_name(any ? s->report->profile->causes[row->top_cause] : "");
	char *label = object ? format_object(s->report, row->top_object) : NULL;
	int err = cause && (label || !object) ? 0 : -ENOMEM;

	if (!err)
		columns__add(c, PLAIN, "%s%s%s", cause, object ? ": " : "", object ? label : "");
	free(label);
	free(cause);
	return err;
}

static int add_row(const struct section *s, struct columns *c, const struct qz_thread_row *row)
{
	const struct qz_thread *thread = &s->report->profile->threads[row->thread];
	char *name = escape_name(*thread->name ? thread->name : thread->comm);

	if (!name)
		return -ENOMEM;
	add_seconds(s, c, row->figure.norm_ns);
	add_percent(s, c, row->figure.norm_ns);
	add_seconds(s, c, thread->cpu_ns);
	add_seconds(s, c, thread->running_ns);
	if (s->report->spin_ns)
		add_seconds(s, c, row->figure.spin_ns);
	add_seconds(s, c, thread->ready_ns);
	add_seconds(s, c, thread->blocked_ns);
	add_parallelism(c, &row->figure);
	if (thread->merged)
		columns__add(c, PLAIN, "-");
	else
		columns__add(c, PLAIN, "%d", thread->tid);
	columns__add(c, PLAIN, "%s%s", name, thread->merged ? " (several, ended)" : "");
	free(name);
	return s->report->waits.count ? add_top_wait(s, c, row) : 0;
}

static uint64_t unknown_time(const struct qz_report *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->nthreads; i++)
		sum += r->profile->threads[r->threads[i].thread].unknown_ns;
	return sum;
}

static int make_heads(const struct section *s, struct column *heads)
{
	int n = 0;

	heads[n++] = (struct column) {{"total", "s"}};
	heads[n++] = (struct column) {{"", "%"}, .joined = true};
	heads[n++] = (struct column) {{"CPU", "s"}};
	heads[n++] = (struct column) {{"running", "s"}};
	if (s->report->spin_ns)
		heads[n++] = (struct column) {{"spin", "s"}};
	heads[n++] = (struct column) {{"ready", "s"}};
	heads[n++] = (struct column) {{"blocked", "s"}};
	heads[n++] = (struct column) {{"paral-", "lelism"}};
	heads[n++] = (struct column) {{"", "tid"}};
	heads[n++] = (struct column) {{"", "thread"}, .left = true};
	if (s->report->waits.count)
		heads[n++] = (struct column) {{"waits", "mostly for"}, .left = true};
	return n;
}

int threads__print(const struct section *s)
{
	struct column heads[11];
	int nheads = make_heads(s, heads);
	uint32_t shown = rows_shown(s, s->report->nthreads);
	struct columns *c = columns__new(heads, nheads);
	uint64_t unknown = unknown_time(s->report);
	int err = c ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < shown; i++)
		err = add_row(s, c, &s->report->threads[i]);
	if (!err) {
		fputs("\nNormalized time of threads, % of elapsed time:\n", s->out->file);
		err = columns__print(c, s->out);
	}
	columns__free(c);
	if (err)
		return err;
	if (unknown)
		fprintf(s->out->file, "State unknown for %.*f s, all threads together.\n",
			s->decimals, (double)unknown / 1e9);
	print_rest(s, s->report->nthreads, shown, "threads");
	return 0;
}
