/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl export: a profile in the format of another tool, and on stderr what that cannot express. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/output_file.h"
#include "cli/query/history.h"
#include "cli/query/profile_source.h"
#include "cli/query/view.h"
#include "core/export/csv.h"
#include "core/export/folded.h"
#include "core/export/speedscope.h"
#include "core/export/trace_events.h"
#include "core/util/save_file.h"

struct export_config {
	struct config common;
	int format, value; /* in the order of their words, -1: not given */
};

/* In the order of the words of --format. */
enum format { FORMAT_FOLDED, FORMAT_SPEEDSCOPE, FORMAT_PERFETTO, FORMAT_CSV };

static const struct qz_report *const *reports_of(const struct view *v)
{
	return (const struct qz_report *const *)v->reports;
}

/* 0, or the errno of a writer, which is about memory or too much of something. */
static enum status explain(int err)
{
	if (err != -E2BIG)
		return err ? out_of_memory() : STATUS_OK;
	complain("the profile has more or deeper stacks than can be exported; --scope chooses a "
		 "part "
		 "of it");
	return STATUS_FAILURE;
}

/* ---- stacks ---- */

static void say_of_scopes(const struct view *v)
{
	if (v->n > 1)
		complain("%" PRIu32 " scopes: each has a normalized time of its own, and their sum "
			 "is no elapsed time; --scope chooses one",
			 v->n);
}

static enum status put_stacks(const struct view *v, FILE *out)
{
	static const char *const names[QZ_STACK_VALUES] = {"normalized time", "processor time",
							   "time blocked", "time spinning"};
	enum qz_stack_value value = OWN(export_config, v->config)->value < 0
					    ? QZ_STACK_NORM
					    : OWN(export_config, v->config)->value;
	struct qz_stacks *s = qz_stacks__new(reports_of(v), v->n);
	enum status status;

	if (!s)
		return explain(-errno);
	if (OWN(export_config, v->config)->format == FORMAT_FOLDED)
		status = explain(qz_folded__write(out, s, value));
	else
		status = explain(
			qz_speedscope__write(out, s, v->profile->scopes[v->scopes[0]].comm));
	say_of_scopes(v);
	if (status == STATUS_OK && !s->sums[value]) {
		complain("the profile has no %s", names[value]);
		status = STATUS_NO_SAMPLES;
	}
	qz_stacks__free(s);
	return status;
}

/* ---- the time axis ---- */

/* The snapshot that was read: the events are in a file beside it. False: it was none. */
static bool find_snapshot(const struct view *v, char path[PATH_MAX])
{
	const struct config *config = v->config;

	if (history__is_wanted(config))
		return false;
	if (config->input)
		return snprintf(path, PATH_MAX, "%s", config->input) < PATH_MAX;
	return !v->profile->live && profile_source__newest(SOURCE_SUFFIX, path) == STATUS_OK;
}

/* Most programs have no events, and then there is no such file. */
static enum status read_events(const struct view *v, struct qz_event_trace_record **events,
			       size_t *n)
{
	char snapshot[PATH_MAX], path[PATH_MAX + sizeof(QZ_EVENTS_SUFFIX)];
	int fd, err;

	if (!find_snapshot(v, snapshot))
		return STATUS_OK;
	snprintf(path, sizeof(path), "%s" QZ_EVENTS_SUFFIX, snapshot);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return STATUS_OK;
	err = fd < 0 ? -errno : qz_event_trace__read(fd, NULL, events, n);
	if (fd >= 0)
		close(fd);
	if (err)
		complain("%s: %s", path, err == -EINVAL ? "not a log of events" : strerror(-err));
	return err ? STATUS_FAILURE : STATUS_OK;
}

static enum status put_trace(const struct view *v, FILE *out)
{
	struct qz_event_trace_record *events = NULL;
	size_t n = 0;
	enum status status = read_events(v, &events, &n);

	if (status == STATUS_OK)
		status = explain(qz_trace_events__write(out, reports_of(v), v->n, events, n));
	if (status == STATUS_OK)
		complain("a profile has sums and no time axis: only when threads lived, and %zu "
			 "events, are in it; --format speedscope has the procedures",
			 n);
	free(events);
	return status;
}

/* ---- the table ---- */

static enum status put_table(const struct view *v, FILE *out)
{
	enum status status = explain(qz_csv__write(out, reports_of(v), v->n));
	uint32_t rows = 0;

	for (uint32_t i = 0; i < v->n; i++)
		rows += v->reports[i]->nrows;
	if (status == STATUS_OK && !rows) {
		complain("the profile has no procedures");
		status = STATUS_NO_SAMPLES;
	}
	return status;
}

/* ---- all ---- */

static enum status put(const struct view *v, FILE *out)
{
	if (OWN(export_config, v->config)->format == FORMAT_PERFETTO)
		return put_trace(v, out);
	return OWN(export_config, v->config)->format == FORMAT_CSV ? put_table(v, out)
								   : put_stacks(v, out);
}

struct exporting {
	const struct view *view;
	enum status status;
};

static int put_file(FILE *out, void *context)
{
	struct exporting *e = context;

	e->status = put(e->view, out);
	return e->status == STATUS_OK ? 0 : -ECANCELED;
}

static enum status write_file(const struct view *v)
{
	struct exporting e = {v, STATUS_OK};
	int err = output_file__write(v->config->output, put_file, &e);

	if (!err || e.status != STATUS_OK)
		return e.status;
	complain("%s: cannot be written: %s; choose another file with --output", v->config->output,
		 qz_save_file__reason(err));
	return STATUS_FAILURE;
}

static enum status check(const struct config *config)
{
	const char *why = NULL;

	if (OWN(export_config, config)->format < 0)
		why = "no --format given: folded, speedscope, perfetto or csv";
	else if (OWN(export_config, config)->value >= 0 &&
		 OWN(export_config, config)->format != FORMAT_FOLDED)
		why = "--value needs --format folded; the others have all values";
	if (!why)
		return STATUS_OK;
	complain("%s; try 'quartzctl export --help'", why);
	return STATUS_USAGE;
}

static enum status export(const struct config *config) {
	struct view v; enum status status = check(config);

	if (status != STATUS_OK) return status;
	status = view__open(&v, config);
	if (status == STATUS_OK) status = config->output ? write_file(&v) : put(&v, stdout);
	view__close(&v);
	return status;
}

static const struct export_config defaults = {.common = {.rows = -1}, .format = -1, .value = -1};

static const struct qz_option options[] = {
	{"format", 'f', QZ_OPTION_CHOICE, OWN_FIELD(export_config, format),
	 "folded|speedscope|perfetto|csv",
	 "folded: stacks for flame graphs; speedscope;\nperfetto: the threads and events in "
	 "time;\ncsv: the procedures as a table."},
	{"value", 0, QZ_OPTION_CHOICE, OWN_FIELD(export_config, value), "norm|cpu|blocked|spin",
	 "With --format folded: which time, in us [norm]."},
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Write to FILE instead of standard output."},
	{0},
};

const struct command cmd_export = {
	.name = "export",
	.summary = "Write a profile in the format of another tool",
	.details = "A snapshot is a pprof profile as it is, which needs no export.\n",
	.options = options,
	.shared = SHARED_SCOPE | SHARED_SOURCE | SHARED_PART,
	.size = sizeof(struct export_config),
	.defaults = &defaults,
	.run = export,
};
