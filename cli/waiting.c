/* SPDX-License-Identifier: GPL-2.0-only */
/* What the summary says of spinning and waiting: only what costs the program something. */
#include <errno.h>
#include <stdlib.h>

#include "cli/section.h"

#define MAX_CAUSES 3

/* From this share of the elapsed time on, somebody spinning or queueing is worth a line. */
static bool matters(const struct section *s, uint64_t ns)
{
	return ns && ns >= s->report->elapsed_ns / 100;
}

/* A queue that is nearly always empty, of a lock that is not seen held, holds nobody up. */
static bool holds_up(const struct section *s, uint64_t wait_ns)
{
	return wait_ns && wait_ns >= s->report->elapsed_ns / 20;
}

/* "spinning: 1.3 processors on average, 38.0% of CPU time; most of it in barrier_wait (91.0%)" */
static int print_spinning(const struct section *s)
{
	const struct qz_report *r = s->report;
	const struct qz_row *top = NULL;
	uint64_t cpu_ns = 0;
	char *name;

	if (!matters(s, r->spin_ns))
		return 0;
	for (uint32_t n = 1; n < r->nlevels; n++)
		cpu_ns += n * r->profile->scopes[r->scope].level_ns[n];
	for (uint32_t i = 0; i < r->nrows; i++)
		if (!top || r->rows[i].self.spin_ns > top->self.spin_ns)
			top = &r->rows[i];
	fprintf(s->out->file, "spinning: %.2f processors on average, %s of CPU time",
		(double)r->spin_ns / (double)r->elapsed_ns, share(r->spin_ns, cpu_ns).text);
	if (top && top->self.spin_ns) {
		name = names__format(s->names, top->procedure);
		if (!name)
			return -ENOMEM;
		fprintf(s->out->file, "; most of it in %s (%s)", name,
			share(top->self.spin_ns, r->spin_ns).text);
		free(name);
	}
	fputc('\n', s->out->file);
	return 0;
}

/* "waiting: all threads together blocked 12.3 s: futex 61.2%, poll 30.1%" */
static int print_causes(const struct section *s)
{
	const struct qz_report *r = s->report;
	uint32_t shown = 0;

	if (!matters(s, r->waits.blocked_ns))
		return 0;
	fprintf(s->out->file, "waiting: all threads together blocked %.*f s", s->decimals,
		(double)r->waits.blocked_ns / 1e9);
	for (uint32_t i = 0; i < r->causes.n && shown < MAX_CAUSES; i++) {
		const struct qz_cause_row *row = &r->causes.rows[i];
		char *name;

		if (row->waits.blocked_ns < r->waits.blocked_ns / 100 || !row->waits.blocked_ns)
			continue;
		name = escape_name(r->profile->causes[row->cause]);
		if (!name)
			return -ENOMEM;
		fprintf(s->out->file, "%s%s %s", shown++ ? ", " : ": ", name,
			share(row->waits.blocked_ns, r->waits.blocked_ns).text);
		free(name);
	}
	fputc('\n', s->out->file);
	return 0;
}

/* Those that are held or that all wait for, unlike a condition that idle threads wait for. */
static bool restricts(const struct qz_object *o)
{
	return o->kind == QZ_OBJECT_MUTEX || o->kind == QZ_OBJECT_RWLOCK ||
	       o->kind == QZ_OBJECT_SPIN || o->kind == QZ_OBJECT_BARRIER;
}

/* The first object by normalized time; where none was seen held, the lock most waited for. */
static const struct qz_object_row *find_culprit(const struct section *s)
{
	const struct qz_report *r = s->report;
	const struct qz_object_row *best = NULL;
	uint64_t waited = 0;

	if (r->nobjects && matters(s, r->objects[0].figure.norm_ns))
		return &r->objects[0];
	for (uint32_t i = 0; i < r->nobjects; i++) {
		const struct qz_object *o = &r->profile->objects[r->objects[i].object];

		if (restricts(o) && holds_up(s, o->wait_ns) && o->wait_ns > waited) {
			best = &r->objects[i];
			waited = o->wait_ns;
		}
	}
	return best;
}

/* "mutex queue_lock: at least one thread waits for it 38.2% of the time; its holders take …" */
static int print_culprit(const struct section *s)
{
	const struct qz_report *r = s->report;
	const struct qz_object_row *row = find_culprit(s);
	const struct qz_object *o;
	uint64_t queued = 0;
	char *name;

	if (!row)
		return 0;
	o = &r->profile->objects[row->object];
	name = format_object(r, row->object);
	if (!name)
		return -ENOMEM;
	for (int n = 1; n < QZ_QUEUE_LENGTHS; n++)
		queued += o->queue_ns[n];
	fprintf(s->out->file, "%s: ", name);
	free(name);
	if (o->grouped <= 1 && queued && queued <= r->elapsed_ns)
		fprintf(s->out->file, "at least one thread waits for it %s of the time",
			share(queued, r->elapsed_ns).text);
	else
		fprintf(s->out->file, "%.2f threads wait for it on average",
			(double)o->wait_ns / (double)r->elapsed_ns);
	if (row->figure.norm_ns)
		fprintf(s->out->file, "; its holders take %.*f s (%s) meanwhile", s->decimals,
			(double)row->figure.norm_ns / 1e9,
			share(row->figure.norm_ns, r->elapsed_ns).text);
	fputc('\n', s->out->file);
	return 0;
}

int waiting__print(const struct section *s)
{
	int err = print_spinning(s);

	err = err ? err : print_causes(s);
	return err ? err : print_culprit(s);
}
