/* SPDX-License-Identifier: GPL-2.0-only */
/* One synchronization object: its queue, its states, who waits for it and who ends the waits. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/section.h"
#include "core/view.h"

#define MAX_FRAMES 12 /* of a stack in one line */

static int print_identity(const struct section *s, const struct qz_object *o, uint32_t object)
{
	char *name = format_object(s->report, object), *module = escape_name(o->module);
	bool inode = o->kind >= QZ_OBJECT_FILE;
	bool complete = name && module;

	if (complete) {
		fprintf(s->out->file, "\n%s%s%s\n", name, *module ? " in " : "", module);
		fprintf(s->out->file, "process %d, %s ", o->pid, inode ? "inode" : "word at");
		fprintf(s->out->file, inode ? "%" PRIu64 : "0x%" PRIx64, o->address);
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
	struct digits text = group_digits((uint64_t)llround(per_second));

	if (per_second < 100)
		snprintf(text.text, sizeof(text.text), "%.3g", per_second);
	return text;
}

/* By Little's law, the mean queue is the rate of arrivals times the mean wait. */
static void print_totals(const struct section *s, const struct qz_object_row *row)
{
	const struct qz_object *o = &s->report->profile->objects[row->object];
	double elapsed = (double)s->report->elapsed_ns;
	uint64_t waits = o->waits;

	fprintf(s->out->file, "waits %s", group_digits(waits).text);
	if (waits)
		fprintf(s->out->file, " (%s per second), %s each", rate(waits, elapsed).text,
			duration((double)o->wait_ns / (double)waits).text);
	fprintf(s->out->file, "; mean queue %.2f; wake-ups %s\n",
		elapsed > 0 ? (double)o->wait_ns / elapsed : 0, group_digits(o->wakes).text);
	if (row->figure.spin_ns)
		fprintf(s->out->file, "spun on it: %.*f s, %s of what was spun\n", s->decimals,
			(double)row->figure.spin_ns / 1e9,
			share(row->figure.spin_ns, s->report->spin_ns).text);
}

static int print_held(const struct section *s, const struct qz_figure *f)
{
	int err;

	if (f->samples == f->spin_samples) {
		fputs("nobody was seen to hold it while others waited\n", s->out->file);
		return 0;
	}
	fprintf(s->out->file, "held while others waited: normalized time %.*f s (%s) %s %.*f s\n\n",
		s->decimals, (double)f->norm_ns / 1e9,
		share(f->norm_ns, s->report->elapsed_ns).text, plus_minus(s->out), s->decimals,
		(double)f->ci_ns / 1e9);
	err = bars__print(s, NULL, f);
	return err;
}

/* ---- queue ---- */

static int print_queue(const struct section *s, const struct qz_object *o)
{
	static const struct column heads[] = {
		{{"", "queue"}},    {{"time", "s"}},	      {{"", "%"}, .joined = true},
		{{"", "arrivals"}}, {{"", ""}, .left = true},
	};
	struct columns *c = columns__new(heads, sizeof(heads) / sizeof(*heads));
	uint64_t widest = 0;
	uint32_t last = 0;
	int err;

	if (!c)
		return -ENOMEM;
	for (uint32_t n = 0; n < QZ_QUEUE_LENGTHS; n++) {
		widest = n && o->queue_ns[n] > widest ? o->queue_ns[n] : widest;
		last = (n && o->queue_ns[n]) || o->arrivals[n] ? n : last;
	}
	for (uint32_t n = 0; n <= last; n++) {
		columns__add(c, PLAIN, "%u%s", n, n == QZ_QUEUE_LENGTHS - 1 ? "+" : "");
		if (n) {
			add_seconds(s, c, o->queue_ns[n]);
			add_percent(s, c, o->queue_ns[n]);
		} else { /* the time without a queue is not kept */
			columns__add(c, PLAIN, "%s", "");
			columns__add(c, PLAIN, "%s", "");
		}
		columns__add(c, PLAIN, "%s", group_digits(o->arrivals[n]).text);
		if (n)
			add_bar(s, c, bar_cells(o->queue_ns[n], widest),
				bar_cells(o->queue_ns[n], widest));
		else
			columns__add(c, PLAIN, "%s", "");
	}
	fputs("\nLength of the queue, and what those who had to wait found:\n", s->out->file);
	err = columns__print(c, s->out);
	columns__free(c);
	return err;
}

/* ---- stacks ---- */

/* "lock, work, main": innermost first. For the caller to free; NULL with ENOMEM. */
static char *format_stack(const struct section *s, uint32_t node)
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

static int add_waiter(const struct section *s, struct columns *c, const struct qz_stack_row *row,
		      uint64_t all)
{
	char *stack = format_stack(s, row->node);

	if (!stack)
		return -ENOMEM;
	add_seconds(s, c, row->waits.blocked_ns);
	columns__add(c, PLAIN, "%s", share(row->waits.blocked_ns, all).text);
	columns__add(c, PLAIN, "%s", group_digits(row->waits.count).text);
	columns__add(c, PLAIN, "%s", stack);
	free(stack);
	return 0;
}

static int print_waiters(const struct section *s, const struct qz_object_row *object)
{
	static const struct column heads[] = {
		{{"waited", "s"}},
		{{"", ""}, .joined = true},
		{{"", "waits"}},
		{{"", "from, innermost procedure first"}, .left = true},
	};
	struct qz_stack_row *rows = NULL;
	uint32_t n = 0;
	int err = qz_report__waiters(s->report, object->object, &rows, &n);
	struct columns *c = columns__new(heads, sizeof(heads) / sizeof(*heads));

	if (!err && !c)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < rows_shown(s, n); i++)
		err = add_waiter(s, c, &rows[i], object->waits.blocked_ns);
	if (!err && n) {
		fputs("\nWho waits:\n", s->out->file);
		err = columns__print(c, s->out);
	}
	columns__free(c);
	free(rows);
	return err;
}

static int add_spinner(const struct section *s, struct columns *c, const struct qz_stack_row *row,
		       uint64_t all)
{
	char *stack = format_stack(s, row->node);

	if (!stack)
		return -ENOMEM;
	add_seconds(s, c, row->spin_ns);
	columns__add(c, PLAIN, "%s", share(row->spin_ns, all).text);
	columns__add(c, PLAIN, "%s", stack);
	free(stack);
	return 0;
}

static int print_spinners(const struct section *s, const struct qz_object_row *object)
{
	static const struct column heads[] = {
		{{"spun", "s"}},
		{{"", ""}, .joined = true},
		{{"", "from, innermost procedure first"}, .left = true},
	};
	struct qz_stack_row *rows = NULL;
	uint32_t n = 0;
	int err = qz_report__spinners(s->report, object->object, &rows, &n);
	struct columns *c = columns__new(heads, sizeof(heads) / sizeof(*heads));

	if (!err && !c)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < rows_shown(s, n); i++)
		err = add_spinner(s, c, &rows[i], object->figure.spin_ns);
	if (!err && n) {
		fputs("\nWho spins:\n", s->out->file);
		err = columns__print(c, s->out);
	}
	columns__free(c);
	free(rows);
	return err;
}

static int add_waker(const struct section *s, struct columns *c, const struct qz_stack_row *row,
		     uint64_t all)
{
	char *stack = format_stack(s, row->node);

	if (!stack)
		return -ENOMEM;
	columns__add(c, PLAIN, "%s", group_digits(row->wakes).text);
	columns__add(c, PLAIN, "%s", share(row->wakes, all).text);
	columns__add(c, PLAIN, "%s", stack);
	free(stack);
	return 0;
}

static int print_wakers(const struct section *s, const struct qz_object_row *object)
{
	static const struct column heads[] = {
		{{"wake-", "ups"}},
		{{"", ""}, .joined = true},
		{{"", "from, innermost procedure first"}, .left = true},
	};
	struct qz_stack_row *rows = NULL;
	uint32_t n = 0;
	uint64_t all = 0;
	int err = qz_report__wakers(s->report, object->object, &rows, &n);
	struct columns *c = columns__new(heads, sizeof(heads) / sizeof(*heads));

	if (!err && !c)
		err = -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		all += rows[i].wakes;
	for (uint32_t i = 0; !err && i < rows_shown(s, n); i++)
		err = add_waker(s, c, &rows[i], all);
	if (!err && n) {
		fprintf(s->out->file, "\nWho ends the waits%s:\n",
			s->report->profile->wakes_sampled
				? ", estimated where there are many wake-ups"
				: "");
		err = columns__print(c, s->out);
	} else if (!err && !s->report->profile->nwakings) {
		fputs("\nWho ends the waits is not known.\n", s->out->file);
	}
	columns__free(c);
	free(rows);
	return err;
}

static int print_states(const struct section *s, uint32_t object)
{
	struct qz_states states;
	int err = qz_report__object_states(s->report, object, &states);

	err = err ? err : states__print(s, &states);
	qz_states__clear(&states);
	return err;
}

int object__print(const struct section *s, const struct qz_object_row *row)
{
	const struct qz_object *o = &s->report->profile->objects[row->object];
	int err = print_identity(s, o, row->object);

	if (err)
		return err;
	print_totals(s, row);
	err = print_held(s, &row->figure);
	if (!err && o->waits)
		err = print_queue(s, o);
	err = err ? err : print_states(s, row->object);
	err = err ? err : print_waiters(s, row);
	err = err ? err : print_spinners(s, row);
	return err ? err : print_wakers(s, row);
}
