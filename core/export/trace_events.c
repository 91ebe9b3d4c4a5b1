/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/export/trace_events.h"

#include <inttypes.h>
#include <stdbool.h>

#include "core/format/json_fields.h"

struct writer {
	FILE *out;
	bool any;
	int err;
};

/* Whole nanoseconds, as decimals of microseconds. */
static void put_time(struct writer *w, const char *name, uint64_t ns)
{
	fprintf(w->out, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned int)(ns % 1000));
}

static void begin(struct writer *w, char phase, int32_t pid, int32_t tid, json_t *name)
{
	fprintf(w->out, "%s{\"ph\":\"%c\",\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"name\":",
		w->any ? "," : "", phase, pid, tid);
	w->any = true;
	if (!w->err)
		w->err = qz_json_fields__put(w->out, name);
	else
		json_decref(name);
}

static void end(struct writer *w, json_t *arguments)
{
	fputs(",\"args\":", w->out);
	if (!w->err)
		w->err = qz_json_fields__put(w->out, arguments);
	else
		json_decref(arguments);
	fputs("}\n", w->out);
}

static void put_name(struct writer *w, const char *what, int32_t pid, int32_t tid, const char *name)
{
	begin(w, 'M', pid, tid, json_string(what));
	end(w, json_pack("{s:o}", "name", qz_json_fields__text(name)));
}

static json_t *sums_of(const struct qz_report *r, const struct qz_thread_row *row)
{
	const struct qz_thread *t = &r->profile->threads[row->thread];

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "running_ns",
			 qz_json_fields__integer(t->running_ns), "ready_ns",
			 qz_json_fields__integer(t->ready_ns), "blocked_ns",
			 qz_json_fields__integer(t->blocked_ns), "cpu_ns",
			 qz_json_fields__integer(t->cpu_ns), "norm_ns",
			 qz_json_fields__integer(row->figure.norm_ns), "spin_ns",
			 qz_json_fields__integer(row->figure.spin_ns), "several_threads",
			 t->merged ? 1 : 0);
}

static void put_thread(struct writer *w, const struct qz_report *r, const struct qz_thread_row *row)
{
	const struct qz_thread *t = &r->profile->threads[row->thread];
	uint64_t length = t->end_ns > t->start_ns ? t->end_ns - t->start_ns : 0;

	if (t->tid == t->pid)
		put_name(w, "process_name", t->pid, t->tid, t->comm);
	put_name(w, "thread_name", t->pid, t->tid, *t->name ? t->name : t->comm);
	begin(w, 'X', t->pid, t->tid, qz_json_fields__text(*t->name ? t->name : t->comm));
	fputs(",\"cat\":\"thread\"", w->out);
	put_time(w, "ts", t->start_ns);
	put_time(w, "dur", length);
	end(w, sums_of(r, row));
}

static void put_event(struct writer *w, const struct qz_event_trace_record *e)
{
	begin(w, 'i', (int32_t)e->pid, (int32_t)e->tid, json_sprintf("event %" PRIu32, e->value));
	fputs(",\"cat\":\"event\",\"s\":\"t\"", w->out);
	put_time(w, "ts", e->time_ns);
	end(w, json_pack("{s:I, s:I}", "number", (json_int_t)e->number, "lost_before",
			 (json_int_t)e->lost));
}

int qz_trace_events__write(FILE *out, const struct qz_report *const *reports, uint32_t nreports,
			   const struct qz_event_trace_record *events, size_t n)
{
	struct writer w = {.out = out};

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	for (uint32_t i = 0; i < nreports; i++)
		for (uint32_t k = 0; !w.err && k < reports[i]->nthreads; k++)
			put_thread(&w, reports[i], &reports[i]->threads[k]);
	for (size_t i = 0; !w.err && i < n; i++)
		put_event(&w, &events[i]);
	fputs("]}\n", out);
	return w.err;
}
