/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl events: counts of measurement events and the intervals between them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/render/text_table.h"
#include "cli/query/profile_source.h"
#include "core/format/event_trace.h"
#include "core/format/json_fields.h"

struct events_config {
	struct config common;
	struct qz_texts between; /* pairs of values */
};

#define BAR_WIDTH 40
#define MAX_PAIRS 64

struct pair {
	uint32_t from, to;
	struct qz_intervals raw, culled;
};

struct log {
	struct qz_event_trace_header header;
	struct qz_event_trace_record *records;
	size_t n;
	uint64_t lost;
	struct qz_frequency *values;
	size_t nvalues;
	struct pair pairs[MAX_PAIRS];
	size_t npairs;
};

/* ---- reading ---- */

/* The event file beside a snapshot. */
static enum status find_file(const struct config *config, char path[PATH_MAX])
{
	size_t length;

	if (!config->input)
		return profile_source__newest(QZ_EVENTS_SUFFIX, path);
	length = strlen(config->input);
	if (length >= PATH_MAX - sizeof(QZ_EVENTS_SUFFIX)) {
		complain("%s: %s", config->input, strerror(ENAMETOOLONG));
		return STATUS_FAILURE;
	}
	strcpy(path, config->input);
	if (length < strlen(QZ_EVENTS_SUFFIX) ||
	    strcmp(path + length - strlen(QZ_EVENTS_SUFFIX), QZ_EVENTS_SUFFIX))
		strcat(path, QZ_EVENTS_SUFFIX);
	return STATUS_OK;
}

static enum status read_log(const struct config *config, struct log *log)
{
	char path[PATH_MAX];
	enum status status = find_file(config, path);
	int fd, err;

	if (status != STATUS_OK)
		return status;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	err = fd < 0 ? -errno : qz_event_trace__read(fd, &log->header, &log->records, &log->n);
	if (fd >= 0)
		close(fd);
	if (err == -ENOENT)
		complain("%s: not there; events are logged where quartzd has a processor of its "
			 "own (--cpu) and the program calls quartz_event",
			 path);
	else if (err)
		complain("%s: %s", path, err == -EINVAL ? "not a log of events" : strerror(-err));
	if (err)
		return err == -EACCES ? STATUS_NO_PRIVILEGE : STATUS_FAILURE;
	log->lost = qz_event_trace__lost(log->records, log->n);
	log->values = qz_event_trace__frequencies(log->records, log->n, &log->nvalues);
	return STATUS_OK;
}

static enum status read_pairs(const struct config *config, struct log *log)
{
	for (size_t i = 0; i < OWN(events_config, config)->between.n && i < MAX_PAIRS; i++) {
		const char *text = OWN(events_config, config)->between.items[i],
			   *colon = strchr(text, ':');
		struct pair *p = &log->pairs[log->npairs++];
		char from[16] = "";
		int64_t a, b;

		if (colon && (size_t)(colon - text) < sizeof(from))
			memcpy(from, text, (size_t)(colon - text));
		if (!colon || qz_options__integer(from, 0, UINT32_MAX, &a) ||
		    qz_options__integer(colon + 1, 0, UINT32_MAX, &b)) {
			complain("--between %s: not two values of events, such as 1:2", text);
			return STATUS_USAGE;
		}
		p->from = (uint32_t)a;
		p->to = (uint32_t)b;
		qz_event_trace__intervals(log->records, log->n, p->from, p->to, &p->raw,
					  &p->culled);
	}
	return STATUS_OK;
}

/* ---- text ---- */

static uint64_t mean_of(const struct qz_intervals *s)
{
	return s->count ? s->sum / s->count : 0;
}

static int print_values(const struct output *out, const struct log *log)
{
	static const struct column heads[] = {
		{{"event", "value"}}, {{"", "count"}}, {{"per", "second"}}};
	struct text_table *table = text_table__new(heads, 3);

	for (size_t i = 0; i < log->nvalues; i++) {
		const struct qz_frequency *f = &log->values[i];
		double seconds = (double)(f->last_ns - f->first_ns) / 1e9;

		text_table__add(table, PLAIN, "%" PRIu32, f->value);
		text_table__add(table, PLAIN, "%" PRIu64, f->count);
		if (f->count > 1 && seconds > 0)
			text_table__add(table, PLAIN, "%.1f", (double)(f->count - 1) / seconds);
		else
			text_table__add(table, PLAIN, "-");
	}
	return text_table__print(table, out);
}

static void add_intervals(struct text_table *table, const char *name, const struct qz_intervals *s)
{
	text_table__add(table, PLAIN, "%" PRIu64, s->count);
	text_table__add(table, PLAIN, "%.3f", (double)s->min / 1e3);
	text_table__add(table, PLAIN, "%.3f", (double)mean_of(s) / 1e3);
	text_table__add(table, PLAIN, "%.3f", (double)s->max / 1e3);
	text_table__add(table, PLAIN, "%s", name);
}

static void print_histogram(const struct output *out, const struct qz_intervals *s)
{
	uint64_t most = 1;

	for (int i = 0; i < QZ_EVENT_BUCKETS; i++)
		most = s->buckets[i] > most ? s->buckets[i] : most;
	for (int i = 0; i < QZ_EVENT_BUCKETS; i++) {
		int length = (int)(s->buckets[i] * BAR_WIDTH / most);

		if (!s->buckets[i])
			continue;
		fprintf(out->file, "%12.3f us%s %10" PRIu64 " %.*s\n",
			(double)i * (double)s->width / 1e3, i == QZ_EVENT_BUCKETS - 1 ? "+" : " ",
			s->buckets[i], length ? length : 1,
			"########################################");
	}
}

static int print_pair(const struct output *out, const struct pair *p)
{
	static const struct column heads[] = {{{"", "intervals"}},
					      {{"least", "us"}},
					      {{"mean", "us"}},
					      {{"longest", "us"}},
					      {{"", ""}, .left = true}};
	struct text_table *table = text_table__new(heads, 5);
	int err;

	fprintf(out->file, "\nFrom event %" PRIu32 " to event %" PRIu32, p->from, p->to);
	if (p->raw.broken)
		fprintf(out->file, "; %" PRIu64 " left out, for events between were lost",
			p->raw.broken);
	fputs(":\n", out->file);
	add_intervals(table, "all", &p->raw);
	add_intervals(table, "up to 4 times the least", &p->culled);
	err = text_table__print(table, out);
	print_histogram(out, &p->raw);
	return err;
}

static enum status print_text(const struct config *config, const struct log *log)
{
	struct output out;
	int err;

	output__open(&out, config);
	fprintf(out.file,
		"events %zu, overwritten before they were seen %" PRIu64 ", without room %" PRIu64
		"%s\n\n",
		log->n, log->lost, log->header.dropped,
		log->header.complete ? "" : "; the log was not finished");
	err = print_values(&out, log);
	for (size_t i = 0; i < log->npairs && !err; i++)
		err = print_pair(&out, &log->pairs[i]);
	output__close(&out);
	return err ? out_of_memory() : STATUS_OK;
}

/* ---- JSON ---- */

static json_t *intervals_json(const struct qz_intervals *s)
{
	json_t *buckets = json_array();

	for (int i = 0; i < QZ_EVENT_BUCKETS; i++)
		json_array_append_new(buckets, json_integer((json_int_t)s->buckets[i]));
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "count", (json_int_t)s->count, "min_ns",
			 (json_int_t)s->min, "mean_ns", (json_int_t)mean_of(s), "max_ns",
			 (json_int_t)s->max, "bucket_ns", (json_int_t)s->width, "buckets", buckets);
}

static json_t *values_json(const struct log *log)
{
	json_t *values = json_array();

	for (size_t i = 0; i < log->nvalues; i++) {
		const struct qz_frequency *f = &log->values[i];

		json_array_append_new(values,
				      json_pack("{s:I, s:I, s:I, s:I}", "value",
						(json_int_t)f->value, "count", (json_int_t)f->count,
						"first_ns", (json_int_t)f->first_ns, "last_ns",
						(json_int_t)f->last_ns));
	}
	return values;
}

static enum status print_json(const struct log *log)
{
	json_t *pairs = json_array(), *all;
	char *text;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < log->npairs; i++) {
		const struct pair *p = &log->pairs[i];

		json_array_append_new(pairs, json_pack("{s:I, s:I, s:I, s:o, s:o}", "from",
						       (json_int_t)p->from, "to", (json_int_t)p->to,
						       "broken", (json_int_t)p->raw.broken, "raw",
						       intervals_json(&p->raw), "culled",
						       intervals_json(&p->culled)));
	}
	all = json_pack("{s:s, s:I, s:I, s:I, s:b, s:o, s:o}", "schema", "quartz.events/v1",
			"events", (json_int_t)log->n, "lost", (json_int_t)log->lost, "dropped",
			(json_int_t)log->header.dropped, "complete", log->header.complete != 0,
			"values", values_json(log), "intervals", pairs);
	text = all ? qz_json_fields__dump(all, JSON_COMPACT) : NULL;
	if (text)
		fputs(text, stdout);
	else
		status = out_of_memory();
	free(text);
	json_decref(all);
	return status;
}

static enum status events(const struct config *config)
{
	struct log log = {0};
	enum status status = read_log(config, &log);

	if (status == STATUS_OK)
		status = read_pairs(config, &log);
	if (status == STATUS_OK)
		status = config->json ? print_json(&log) : print_text(config, &log);
	free(log.records);
	free(log.values);
	return status;
}

static const struct qz_option options[] = {
	{"input", 'i', QZ_OPTION_STRING, FIELD(input), "FILE",
	 "Read the events of this snapshot. Default: the\nnewest."},
	{"between", 'b', QZ_OPTION_STRINGS, OWN_FIELD(events_config, between), "A:B",
	 "Show the intervals from each event with value A\nto the next one with value B in the "
	 "same "
	 "thread;\nmay be repeated."},
	{0},
};

const struct command cmd_events = {
	.name = "events",
	.summary = "Show a program's measurement events and intervals",
	.options = options,
	.shared = SHARED_JSON | SHARED_PAGER,
	.size = sizeof(struct events_config),
	.run = events,
};
