/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/util/clock.h"
#include "exporter/label.h"
#include "exporter/source.h"
#include "exporter/sums.h"

#define FRESH_NS 1000000000
/* Higher levels are grouped by powers of two. */
#define SINGLE_LEVELS 64

struct metrics {
	const char *socket;
	pthread_mutex_t lock; /* guards everything below */
	uint64_t read_ns;     /* CLOCK_MONOTONIC, 0: never */
	struct qz_profile *last;
	struct sums sums;
	json_t *status; /* NULL: quartzd does not answer */
	bool measuring; /* quartzd sent the last snapshot */
};

/* A page that is being written. */
struct text {
	FILE *out;
	bool openmetrics;
};

/* ---- format ---- */

enum type { COUNTER, GAUGE, INFO };

/* Suffix of the sample names of the family that was last begun. */
static const char *const suffixes[] = {[COUNTER] = "_total", [GAUGE] = "", [INFO] = "_info"};

static void begin(const struct text *t, enum type type, const char *name, const char *help)
{
	static const char *const words[] = {
		[COUNTER] = "counter", [GAUGE] = "gauge", [INFO] = "info"};
	const char *suffix = t->openmetrics ? "" : suffixes[type];
	const char *word = type == INFO && !t->openmetrics ? "gauge" : words[type];

	fprintf(t->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix, word);
	if (t->openmetrics && strlen(name) > 8 && !strcmp(name + strlen(name) - 8, "_seconds"))
		fprintf(t->out, "# UNIT %s seconds\n", name);
}

static void put_seconds(const struct text *t, const char *name, const char *labels, uint64_t ns)
{
	fprintf(t->out, "%s_total%s %" PRIu64 ".%09" PRIu64 "\n", name, labels, ns / 1000000000,
		ns % 1000000000);
}

/* ---- families ---- */

static void put_seconds_of_machine(const struct text *t, const char *name, const char *help,
				   uint64_t ns)
{
	begin(t, COUNTER, name, help);
	put_seconds(t, name, "", ns);
}

static void put_levels(const struct text *t, const struct sums *s)
{
	const char *name = "quartz_machine_level_seconds";

	begin(t, COUNTER, name, "Time with so many processors not idle; exact.");
	for (uint32_t from = 0, to; from < s->nlevels; from = to) {
		char label[40];
		uint64_t sum = 0;

		to = from < SINGLE_LEVELS ? from + 1 : 2 * from;
		for (uint32_t n = from; n < to && n < s->nlevels; n++)
			sum += s->level_ns[n];
		if (from < SINGLE_LEVELS)
			snprintf(label, sizeof(label), "{busy=\"%" PRIu32 "\"}", from);
		else
			snprintf(label, sizeof(label), "{busy=\"%" PRIu32 "-%" PRIu32 "\"}", from,
				 to - 1);
		put_seconds(t, name, label, sum);
	}
}

static void put_machine(const struct text *t, const struct sums *s)
{
	if (!s->machine)
		return;
	put_levels(t, s);
	put_seconds_of_machine(t, "quartz_machine_busy_seconds",
			       "Time during which at least one processor was busy.", s->busy_ns);
	put_seconds_of_machine(t, "quartz_machine_serial_seconds",
			       "Time during which exactly one processor was busy.", s->serial_ns);
	put_seconds_of_machine(t, "quartz_machine_busy_processor_seconds",
			       "Busy processors, summed up over the busy time.", s->busy_cpu_ns);
	put_seconds_of_machine(t, "quartz_machine_spin_seconds",
			       "Processor time in loops that wait for another thread.", s->spin_ns);
	begin(t, GAUGE, "quartz_machine_parallelism",
	      "Mean busy processors while any was, since the exporter first asked.");
	fprintf(t->out, "quartz_machine_parallelism %.6f\n",
		s->busy_ns ? (double)s->busy_cpu_ns / (double)s->busy_ns : 0);
	begin(t, GAUGE, "quartz_machine_serial_ratio",
	      "Share of the busy time with one busy processor, since the exporter first asked.");
	fprintf(t->out, "quartz_machine_serial_ratio %.6f\n",
		s->busy_ns ? (double)s->serial_ns / (double)s->busy_ns : 0);
}

static void put_row(const struct text *t, const struct sums *s, const struct sums_row *row,
		    const char *name, uint64_t ns)
{
	static const char *const keys[] = {"comm", "comm", "unit", "cgroup"};
	char label[LABEL_SIZE], labels[LABEL_SIZE + 64];
	const char *value = row->made_up ? label__of_words(label, row->name)
					 : label__of_name(label, row->name, row->number);

	if (s->by == QZ_BY_PROCESS)
		snprintf(labels, sizeof(labels), "{pid=\"%d\",comm=\"%s\"}", row->pid, value);
	else
		snprintf(labels, sizeof(labels), "{%s=\"%s\"}", keys[s->by], value);
	put_seconds(t, name, labels, ns);
}

static void put_rows(const struct text *t, const struct sums *s)
{
	static const struct {
		const char *name, *help;
		size_t at;
	} families[] = {
		{"quartz_cpu_seconds", "Processor time, the kernel's own accounting.",
		 offsetof(struct sums_row, cpu_ns)},
		{"quartz_normalized_seconds",
		 "Processor time, each moment divided by the number of busy processors.",
		 offsetof(struct sums_row, norm_ns)},
		{"quartz_busy_seconds",
		 "Time during which at least one thread was busy, summed up over processes.",
		 offsetof(struct sums_row, busy_ns)},
		{"quartz_serial_seconds", "Of the busy time, that with exactly one busy thread.",
		 offsetof(struct sums_row, serial_ns)},
		{"quartz_busy_thread_seconds", "Busy threads, summed up over the busy time.",
		 offsetof(struct sums_row, busy_cpu_ns)},
		{"quartz_spin_seconds", "Processor time in loops that wait for another thread.",
		 offsetof(struct sums_row, spin_ns)},
	};

	for (size_t f = 0; f < sizeof(families) / sizeof(*families); f++) {
		begin(t, COUNTER, families[f].name, families[f].help);
		for (uint32_t i = 0; i <= s->nrows; i++) {
			const struct sums_row *row = i < s->nrows ? &s->rows[i] : &s->others;

			put_row(t, s, row, families[f].name,
				*(const uint64_t *)((const char *)row + families[f].at));
		}
	}
	begin(t, COUNTER, "quartz_series_evicted", "Rows that made room for others.");
	fprintf(t->out, "quartz_series_evicted_total %" PRIu64 "\n", s->evicted);
}

/* As measured by quartzd; 0 if it has no overhead limit. */
static void put_costs(const struct text *t, const struct qz_costs *c)
{
	const char *name = "quartz_overhead_seconds";

	begin(t, COUNTER, name, "Processor time that Quartz took from the machine, by part.");
	put_seconds(t, name, "{part=\"accounting\"}", c->accounting_ns);
	put_seconds(t, name, "{part=\"sampling\"}", c->sampling_ns);
	put_seconds(t, name, "{part=\"walking\"}", c->walking_ns);
	put_seconds(t, name, "{part=\"daemon\"}", c->daemon_ns);
}

static void put_causes(const struct text *t, const char *name, const char *key, const char *help,
		       const struct qz_loss *losses, uint32_t n)
{
	char label[LABEL_SIZE];

	begin(t, COUNTER, name, help);
	for (uint32_t i = 0; i < n; i++)
		fprintf(t->out, "%s_total{%s=\"%s\"} %" PRIu64 "\n", name, key,
			label__of_words(label, losses[i].cause), losses[i].count);
}

static void put_ledger(const struct text *t, const struct sums *s)
{
	begin(t, COUNTER, "quartz_samples", "Samples that are in the profile, or outside of it.");
	fprintf(t->out,
		"quartz_samples_total{state=\"accepted\"} %" PRIu64
		"\nquartz_samples_total{state=\"filtered\"} %" PRIu64 "\n",
		s->ledger.accepted, s->ledger.filtered);
	put_causes(t, "quartz_lost_samples", "cause", "Samples that were lost, by cause.",
		   s->ledger.losses, s->ledger.nlosses);
	put_causes(t, "quartz_irregularities", "event", "Other irregularities, by what happened.",
		   s->ledger.events, s->ledger.nevents);
	begin(t, GAUGE, "quartz_unaccounted_samples",
	      "Samples that were expected less those that came or are known to be lost.");
	fprintf(t->out, "quartz_unaccounted_samples %" PRId64 "\n", s->ledger.unaccounted);
}

static uint64_t number(const json_t *status, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(status, key));

	return n > 0 ? (uint64_t)n : 0;
}

static void put_daemon(const struct text *t, const struct metrics *m)
{
	const char *version = json_string_value(json_object_get(m->status, "version"));
	char label[LABEL_SIZE];

	begin(t, GAUGE, "quartz_up", "Whether quartzd answers.");
	fprintf(t->out, "quartz_up %d\n", m->status != NULL);
	begin(t, GAUGE, "quartz_measuring", "Whether it measures: 0 in a pause.");
	fprintf(t->out, "quartz_measuring %d\n", m->measuring);
	if (!m->status)
		return;
	begin(t, INFO, "quartz_build", "The version of quartzd.");
	fprintf(t->out, "quartz_build_info{version=\"%s\"} 1\n",
		label__of_words(label, version ? version : ""));
	begin(t, GAUGE, "quartz_rate_hertz", "Samples per second and processor.");
	fprintf(t->out, "quartz_rate_hertz %g\n",
		ldexp((double)number(m->status, "rate_hz"),
		      -(int)(number(m->status, "rate_halvings") % (QZ_MAX_HALVINGS + 1))));
	begin(t, GAUGE, "quartz_requested_rate_hertz",
	      "The rate that was asked for: it is lowered to keep the overhead limit.");
	fprintf(t->out, "quartz_requested_rate_hertz %" PRIu64 "\n", number(m->status, "rate_hz"));
	begin(t, GAUGE, "quartz_overhead_limit_ratio",
	      "What Quartz may cost of all processors, 0: no limit.");
	fprintf(t->out, "quartz_overhead_limit_ratio %g\n",
		(double)number(m->status, "max_overhead_ppm") / 1e6);
	begin(t, GAUGE, "quartz_processors", "Processors that are measured.");
	fprintf(t->out, "quartz_processors %" PRIu64 "\n", number(m->status, "processors"));
	begin(t, GAUGE, "quartz_processes", "Processes that quartzd knows, ended ones included.");
	fprintf(t->out, "quartz_processes %" PRIu64 "\n", number(m->status, "processes"));
	begin(t, COUNTER, "quartz_processes_refused", "Processes beyond what it can follow.");
	fprintf(t->out, "quartz_processes_refused_total %" PRIu64 "\n",
		number(m->status, "scopes_refused"));
	begin(t, COUNTER, "quartz_daemon_cpu_seconds", "Processor time that quartzd itself used.");
	put_seconds(t, "quartz_daemon_cpu_seconds", "", number(m->status, "cpu_ns"));
}

/* ---- page ---- */

/* Without an answer, the sums stay unchanged. */
static void refresh(struct metrics *m)
{
	struct qz_profile *whole, *added;
	char reason[SOURCE_REASON];

	if (m->read_ns && qz_clock__now() - m->read_ns < FRESH_NS)
		return;
	json_decref(m->status);
	m->status = source__status(m->socket);
	m->measuring = m->status &&
		       !source__figures_since(m->socket, m->last, &whole, &added, reason);
	if (m->measuring) {
		if (sums__add(&m->sums, added))
			fputs("quartz-exporter: out of memory; some figures are too small\n",
			      stderr);
		qz_profile__free(added);
		qz_profile__free(m->last);
		m->last = whole;
	}
	m->read_ns = qz_clock__now();
}

char *metrics__text(struct metrics *m, bool openmetrics, size_t *size)
{
	struct text t = {.openmetrics = openmetrics};
	char *text = NULL;

	t.out = open_memstream(&text, size);
	if (!t.out)
		return NULL;
	pthread_mutex_lock(&m->lock);
	refresh(m);
	put_daemon(&t, m);
	put_seconds_of_machine(&t, "quartz_observed_seconds", "Time that was measured.",
			       m->sums.window_ns);
	put_costs(&t, &m->sums.costs);
	put_machine(&t, &m->sums);
	put_rows(&t, &m->sums);
	put_ledger(&t, &m->sums);
	pthread_mutex_unlock(&m->lock);
	if (openmetrics)
		fputs("# EOF\n", t.out);
	if (fclose(t.out)) {
		free(text);
		return NULL;
	}
	return text;
}

struct metrics *metrics__new(const char *socket, enum qz_process_group by, uint32_t rows)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->socket = socket;
	m->sums.by = by;
	m->sums.others = (struct sums_row) {.name = (char *)LABEL_OTHERS, .made_up = true};
	m->sums.max = rows;
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

void metrics__free(struct metrics *m)
{
	if (!m)
		return;
	json_decref(m->status);
	sums__free(&m->sums);
	qz_profile__free(m->last);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
