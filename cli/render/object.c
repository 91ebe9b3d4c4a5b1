/* SPDX-License-Identifier: GPL-2.0-only */
/* One synchronization object: its queue, its states, who waits for it and who ends the waits. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/cells.h"
#include "core/model/objects.h"
#include "core/report/wakeup_report.h"
#include "core/report/figure.h"

#define MAX_FRAMES 12 /* of a stack in one line */

/* ", inode 5", ", word at 0x1000", "" where the name says it: names are those of daemon/waits/objects.c. */
static void print_place(FILE *out, const struct qz_object *o)
{
	switch (o->kind) {
	case QZ_OBJECT_LOCK:
		if (!strncmp(o->name, "the process' ", strlen("the process' ")))
			return;
		/* fallthrough */
	case QZ_OBJECT_FILE:
	case QZ_OBJECT_PIPE:
	case QZ_OBJECT_SOCKET:
		fprintf(out, ", inode %" PRIu64, o->address);
		return;
	case QZ_OBJECT_LINE:
		fprintf(out, ", memory at 0x%" PRIx64, o->address);
		return;
	case QZ_OBJECT_EVENT:
		return;
	case QZ_OBJECT_SEMAPHORE:
		if (!strncmp(o->name, "the semaphores of set ", strlen("the semaphores of set ")))
			return;
	}
	fprintf(out, ", word at 0x%" PRIx64, o->address);
}

static int print_identity(const struct scope_view *s, const struct qz_object *o, uint32_t object)
{
	char *name = cells__object(s->report, object), *module = output__escape(o->module);
	bool complete = name && module;

	if (complete) {
		fprintf(s->out->file, "\n%s%s%s\n", name, *module ? " in " : "", module);
		fprintf(s->out->file, "process %d", o->pid);
		print_place(s->out->file, o);
		if (o->grouped > 1)
			fprintf(s->out->file, " and %u more", o->grouped - 1);
		fputc('\n', s->out->file);
	}
	free(module);
	free(name);
	return complete ? 0 : -ENOMEM;
}

/* "20 173", or "2.8" where that says more. */
static struct digits rate(uint64_t count, double elapsed_ns)
{
	double per_second = elapsed_ns > 0 ? (double)count / elapsed_ns * 1e9 : 0;
	struct digits text = cells__count((uint64_t)llround(per_second));

	if (per_second < 100)
		snprintf(text.text, sizeof(text.text), "%.3g", per_second);
	return text;
}

/* By Little's law, the mean queue is the rate of arrivals times the mean wait. */
static void print_totals(const struct scope_view *s, const struct qz_object_row *row)
{
	const struct qz_object *o = &s->report->profile->objects[row->object];
	double elapsed = (double)s->report->elapsed_ns;
	uint64_t waits = o->waits, in_vain = qz_objects__in_vain(s->report->profile, row->object);

	fprintf(s->out->file, "waits %s", cells__count(waits).text);
	if (waits)
		fprintf(s->out->file, " (%s per second), %s each", rate(waits, elapsed).text,
			cells__duration((double)o->wait_ns / (double)waits).text);
	fprintf(s->out->file, "; mean queue %.2f; wake-ups %s",
		elapsed > 0 ? (double)o->wait_ns / elapsed : 0, cells__count(o->wakes).text);
	if (in_vain)
		fprintf(s->out->file, ", %s of them for nothing", cells__count(in_vain).text);
	fputc('\n', s->out->file);
	if (row->figure.spin_ns)
		fprintf(s->out->file, "spun on it: %.*f s, %s of what was spun\n", s->decimals,
			(double)row->figure.spin_ns / 1e9,
			cells__share(row->figure.spin_ns, s->report->spin_ns).text);
}

/*
 * "cost 1.25 s (55%): held 0.9 s running and 0.2 s blocked while others queued, 0.1 s of locking and unlocking, and
 * queues for 0.05 s of free processors"
 */
static void print_cost(const struct scope_view *s, const struct qz_object_cost *cost)
{
	FILE *out = s->out->file;

	if (!cost->cost_ns)
		return;
	fprintf(out, "cost %.*f s (%s): ", s->decimals, (double)cost->cost_ns / 1e9,
		cells__share(cost->cost_ns, s->report->elapsed_ns).text);
	if (cost->queued_ns)
		fprintf(out, "held %.*f s running and %.*f s blocked while others queued, ",
			s->decimals, (double)cost->held_running_ns / 1e9, s->decimals,
			(double)cost->held_blocked_ns / 1e9);
	fprintf(out, "%.*f s of locking and unlocking", s->decimals, (double)cost->lock_ns / 1e9);
	if (cost->free_ns)
		fprintf(out, ", queues beside free CPUs %.*f s", s->decimals,
			(double)cost->free_ns / 1e9);
	fputc('\n', out);
}

static int print_held(const struct scope_view *s, const struct qz_figure *f)
{
	int err;

	if (f->samples == f->spin_samples) {
		fputs("no thread was seen to hold it while others waited\n", s->out->file);
		return 0;
	}
	fputs("held while others waited: normalized time ", s->out->file);
	cells__print_norm(s, f);
	fputs("\n\n", s->out->file);
	err = bars__print(s, NULL, f);
	return err;
}

/* ---- queue ---- */

static int print_queue(const struct scope_view *s, const struct qz_object *o)
{
	static const struct column heads[] = {
		{{"", "queue"}},    {{"time", "s"}},	      {{"", "%"}, .joined = true},
		{{"", "arrivals"}}, {{"", ""}, .left = true},
	};
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	uint64_t widest = 0;
	uint32_t last = 0;

	for (uint32_t n = 0; n < QZ_QUEUE_LENGTHS; n++) {
		widest = n && o->queue_ns[n] > widest ? o->queue_ns[n] : widest;
		last = (n && o->queue_ns[n]) || o->arrivals[n] ? n : last;
	}
	for (uint32_t n = 0; n <= last; n++) {
		text_table__add(table, PLAIN, "%u%s", n, n == QZ_QUEUE_LENGTHS - 1 ? "+" : "");
		if (n) {
			cells__add_seconds(s, table, o->queue_ns[n]);
			cells__add_percent(s, table, o->queue_ns[n]);
		} else { /* the time without a queue is not kept */
			text_table__add(table, PLAIN, "%s", "");
			text_table__add(table, PLAIN, "%s", "");
		}
		text_table__add(table, PLAIN, "%s", cells__count(o->arrivals[n]).text);
		if (n)
			cells__add_bar(s, table, cells__of_bar(o->queue_ns[n], widest),
				       cells__of_bar(o->queue_ns[n], widest));
		else
			text_table__add(table, PLAIN, "%s", "");
	}
	fputs("\nLength of the queue, and what those who had to wait found:\n", s->out->file);
	return text_table__print(table, s->out);
}

/* ---- stacks ---- */

/* "lock, work, main": innermost first. For the caller to free; NULL with ENOMEM. */
static char *format_stack(const struct scope_view *s, uint32_t node)
{
	struct qz_frames frames = {.profile = s->report->profile, .node = node};
	uint32_t procedure, n = 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed = !out;

	while (!failed && n < MAX_FRAMES && (procedure = qz_frames__next(&frames)) != QZ_NONE) {
		char *name = names__format(s->names, procedure);

		failed = !name;
		if (name)
			fprintf(out, "%s%s", n++ ? ", " : "", name);
		free(name);
	}
	if (!failed && !n)
		fputs("(unknown)", out);
	if (out && fclose(out))
		failed = true;
	if (!failed)
		return text;
	free(text);
	return NULL;
}

enum stacks { WAITERS, SPINNERS, WAKERS };

static void add_stack(const struct scope_view *s, struct text_table *table, enum stacks what,
		      const struct qz_stack_row *row, uint64_t all)
{
	uint64_t part = what == WAITERS	   ? row->waits.blocked_ns
			: what == SPINNERS ? row->spin_ns
					   : row->wakes;

	if (what == WAKERS)
		text_table__add(table, PLAIN, "%s", cells__count(part).text);
	else
		cells__add_seconds(s, table, part);
	text_table__add(table, PLAIN, "%s", cells__share(part, all).text);
	if (what == WAITERS)
		text_table__add(table, PLAIN, "%s", cells__count(row->waits.count).text);
	text_table__take(table, format_stack(s, row->node));
}

/* Takes the rows over. */
static int print_stacks(const struct scope_view *s, enum stacks what, struct qz_stack_row *rows,
			uint32_t n, uint64_t all)
{
	static const struct column first[] = {
		[WAITERS] = {{"waited", "s"}},
		[SPINNERS] = {{"spun", "s"}},
		[WAKERS] = {{"wake-", "ups"}},
	};
	struct column heads[4] = {first[what], {{"", ""}, .joined = true}};
	int nheads = 2;
	struct text_table *table;

	if (what == WAITERS)
		heads[nheads++] = (struct column) {{"", "waits"}};
	heads[nheads++] = (struct column) {{"", "from, innermost procedure first"}, .left = true};
	table = text_table__new(heads, nheads);
	for (uint32_t i = 0; i < cells__rows_shown(s, n); i++)
		add_stack(s, table, what, &rows[i], all);
	free(rows);
	return text_table__print(table, s->out);
}

/* Stacks in which threads slept for the object, or spun on it. */
static int print_waiting(const struct scope_view *s, const struct qz_object_row *object,
			 enum stacks what)
{
	bool slept = what == WAITERS;
	struct qz_stack_row *rows = NULL;
	uint32_t n = 0;
	int err = slept ? qz_wakeup_report__waiters(s->report, object->object, &rows, &n)
			: qz_wakeup_report__spinners(s->report, object->object, &rows, &n);

	if (err || !n) {
		free(rows);
		return err;
	}
	fputs(slept ? "\nWho waits:\n" : "\nWho spins:\n", s->out->file);
	return print_stacks(s, what, rows, n,
			    slept ? object->waits.blocked_ns : object->figure.spin_ns);
}

static int print_wakers(const struct scope_view *s, const struct qz_object_row *object)
{
	const struct qz_profile *p = s->report->profile;
	struct qz_stack_row *rows = NULL;
	uint32_t n = 0;
	uint64_t all = 0;
	int err = qz_wakeup_report__wakers(s->report, object->object, &rows, &n);

	if (err || !n) {
		if (!err && !p->nwakings)
			fputs("\nWho ends the waits is not known.\n", s->out->file);
		free(rows);
		return err;
	}
	for (uint32_t i = 0; i < n; i++)
		all += rows[i].wakes;
	fprintf(s->out->file, "\nWho ends the waits%s:\n",
		p->wakes_sampled ? ", estimated where there are many wake-ups" : "");
	return print_stacks(s, WAKERS, rows, n, all);
}

int object__print(const struct scope_view *s, const struct qz_object_row *row)
{
	const struct qz_object *o = &s->report->profile->objects[row->object];
	int err = print_identity(s, o, row->object);

	if (err)
		return err;
	print_totals(s, row);
	print_cost(s, &row->cost);
	err = print_held(s, &row->figure);
	if (!err && o->waits)
		err = print_queue(s, o);
	err = err ? err : states__print(s, qz_state_breakdown__of_object, row->object);
	err = err ? err : print_waiting(s, row, WAITERS);
	err = err ? err : print_waiting(s, row, SPINNERS);
	return err ? err : print_wakers(s, row);
}
