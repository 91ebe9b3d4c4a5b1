/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/advise_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/usage.h"
#include "core/advise/verdict.h"
#include "core/estimate/estimate.h"
#include "core/model/objects.h"
#include "core/model/wait_causes.h"
#include "core/report/idle_time.h"
#include "core/util/term_escape.h"

#define INDENT 4

static int characters(const char *s, size_t bytes)
{
	int n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return n;
}

/* Puts a text that is at column `at`, broken at blanks where the line would get too long. Returns the column. */
static int put_broken(FILE *out, const char *text, int at, int indent, int width)
{
	while (*text) {
		size_t bytes = strcspn(text, " ");
		int n = characters(text, bytes);

		if (at > indent && width && at + 1 + n > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fwrite(text, 1, bytes, out);
		at += n;
		text += bytes;
		text += strspn(text, " ");
	}
	return at;
}

static int put_escaped(FILE *out, const char *text, int indent, int width, int *at)
{
	char *escaped = qz_term_escape__copy(text);

	if (!escaped)
		return -ENOMEM;
	*at = put_broken(out, escaped, *at, indent, width);
	free(escaped);
	return 0;
}

/* A command stays on one line, so that it can be copied, and names the profile that is shown. */
static int put_command(FILE *out, const struct qz_advice *a, const char *command, int at,
		       int indent, int width)
{
	char *text = NULL;
	size_t size;
	FILE *whole = open_memstream(&text, &size);

	if (!whole)
		return -ENOMEM;
	fputs(command, whole);
	qz_finding__put_option(whole, "-i", a->input);
	qz_finding__put_option(whole, "-s", a->scope);
	if (fclose(whole)) {
		free(text);
		return -ENOMEM;
	}
	if (at && width && at + 5 + characters(text, size) > width)
		fprintf(out, "\n%*s-> %s\n", indent, "", text);
	else
		fprintf(out, "  -> %s\n", text);
	free(text);
	return 0;
}

static const char *first_command(const struct qz_finding *f)
{
	for (uint32_t i = 0; i < f->nevidence; i++)
		if (f->evidence[i].command)
			return f->evidence[i].command;
	return NULL;
}

/* "1.20 to 2.80 s (25 to 55%)", of a short run "12 to 28 ms (25 to 55%)" */
static void format_gain(const struct qz_finding *f, const struct qz_report *r, char text[64])
{
	bool is_short = f->gain_high_ns < 100000000;
	double unit = is_short ? 1e6 : 1e9;

	snprintf(text, 64, "%.*f to %.*f %s (%.0f to %.0f%%)", is_short ? 0 : 2,
		 (double)f->gain_low_ns / unit, is_short ? 0 : 2, (double)f->gain_high_ns / unit,
		 is_short ? "ms" : "s", qz_finding__percent(r, f->gain_low_ns),
		 qz_finding__percent(r, f->gain_high_ns));
}

int qz_advise_text__verdict(FILE *out, const struct qz_advice *a, int width)
{
	char *text = qz_verdict__text(a);
	int at = 0, err;

	if (!text)
		return -ENOMEM;
	err = put_escaped(out, text, 0, width, &at);
	fputs(".\n", out);
	free(text);
	return err;
}

static int put_brief(FILE *out, const struct qz_advice *a, uint32_t i, int width)
{
	const struct qz_finding *f = &a->findings[i];
	const char *command = first_command(f);
	char gain[64];
	int at, err;

	fprintf(out, "%2u. ", i + 1);
	at = INDENT;
	err = put_escaped(out, f->what, INDENT, width, &at);
	if (command)
		err = err ? err : put_command(out, a, command, at, INDENT, width);
	else
		fputc('\n', out);
	format_gain(f, a->report, gain);
	at = INDENT + fprintf(out, "%*sgain %s:", INDENT, "", gain) - INDENT;
	err = err ? err : put_escaped(out, f->remedy, INDENT, width, &at);
	fputc('\n', out);
	return err;
}

#define MOST_REASONS 2

static int add_reason(FILE *text, const struct qz_report *r, const struct qz_idle_row *row)
{
	char room[QZ_WAIT_CAUSE_LENGTH], *label;

	if (row->kind == QZ_IDLE_READY)
		label = strdup("a processor");
	else if (row->object != QZ_NONE)
		label = qz_objects__label(&r->profile->objects[row->object]);
	else
		label = strdup(
			row->cause == QZ_NONE
				? "what is not known"
				: qz_wait_cause__words(r->profile->causes[row->cause], room));
	if (label)
		fprintf(text, "%s (%.0f%% of the time)", label,
			qz_finding__percent(r, row->idle_ns));
	free(label);
	return label ? 0 : -ENOMEM;
}

/* Puts and frees a text that a stream has written, unless that failed or there is an error already. */
static int put_stream(FILE *out, FILE *stream, char **text, int err, int width, int *at)
{
	if (fclose(stream) && !err)
		err = -ENOMEM;
	err = err ? err : put_escaped(out, *text, 0, width, at);
	free(*text);
	return err;
}

/* Whether a process stopped it meanwhile. */
static bool is_held(const struct qz_report *r, const struct qz_idle_row *most)
{
	return most->kind != QZ_IDLE_READY && most->cause != QZ_NONE &&
	       qz_wait_cause__kind(r->profile->causes[most->cause]) == QZ_WAIT_IS_HELD;
}

/* What a program that hardly runs waits for: that may be outside of it, or its idleness. */
static int put_reasons(FILE *out, const struct qz_advice *a, const struct qz_idle *idle, int width)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	int at = 0, err = 0;

	if (!stream)
		return -ENOMEM;
	fputs("While it kept no CPU busy, it waited for ", stream);
	for (uint32_t i = 0; !err && i < idle->n && i < MOST_REASONS; i++) {
		if (i && qz_finding__percent(a->report, idle->rows[i].idle_ns) < 0.5)
			break;
		fputs(i ? " and " : "", stream);
		err = add_reason(stream, a->report, &idle->rows[i]);
	}
	fputs(is_held(a->report, &idle->rows[0])
		      ? ". That is none of its own doing."
		      : ". It has no work, or what it waits for limits it.",
	      stream);
	err = put_stream(out, stream, &text, err, width, &at);
	return err ? err : put_command(out, a, "quartzctl objects", at, 0, width);
}

/* What to do about processors that it was kept from. */
static int put_shortage(FILE *out, const struct qz_advice *a, enum qz_shortage shortage, int width)
{
	const struct qz_report *r = a->report;
	const char *cgroup = r->profile->scopes[r->scope].cgroup;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	int at = 0, err;

	if (!stream)
		return -ENOMEM;
	if (shortage == QZ_SHORT_BY_LIMIT)
		fprintf(stream,
			"See its affinity (taskset -p PID), and cpuset.cpus and cpu.max of "
			"its control group%s%s.",
			*cgroup ? " " : "", cgroup);
	else
		fputs("Run it when the others do not run, or give it more weight (nice, "
		      "CPUWeight=).",
		      stream);
	err = put_stream(out, stream, &text, 0, width, &at);
	if (shortage == QZ_SHORT_BY_OTHERS && qz_usage__other(r) == QZ_NONE &&
	    !qz_usage__outside(r->profile))
		at = put_broken(out, "Who they are: quartzctl ps, while quartzd --system runs.", at,
				0, width);
	fputc('\n', out);
	return err;
}

#define NOTHING_FOUND "Quartz found no wait, lock or serial part that costs 2% of its time"

/* Whether more work at a time has no room. */
static bool is_full(const struct qz_report *r)
{
	struct qz_usage u;

	qz_usage__find(r, &u);
	return (double)u.unused_ns <= 0.1 * u.processors * (double)r->elapsed_ns;
}

static void put_few(FILE *out, const struct qz_advice *a, int width)
{
	const struct qz_report *r = a->report;
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	const char *text = NULL;

	if (scope->kind == QZ_SCOPE_MACHINE)
		text = "What limits a process: quartzctl advise --scope pid=PID (quartzctl ps "
		       "lists "
		       "them).";
	else if (!r->profile->rate_hz)
		text = "Made of the scheduler's log, which has no samples: of procedures nothing "
		       "is "
		       "known.";
	else if (r->elapsed_ns && scope->samples < 4 * QZ_FEW_SAMPLES)
		text = "It has too few samples to say what limits it: measure for longer.";
	else if (r->elapsed_ns)
		text = is_full(r) ? NOTHING_FOUND ": less work would save time."
				  : NOTHING_FOUND ".";
	if (!text)
		return;
	put_broken(out, text, 0, 0, width);
	fputc('\n', out);
}

static int put_nothing(FILE *out, const struct qz_advice *a, int width)
{
	const struct qz_report *r = a->report;
	struct qz_idle idle = {0};
	enum qz_shortage shortage = qz_verdict__shortage(r);
	struct qz_usage u;
	int err = 0;

	if (shortage && r->profile->scopes[r->scope].kind <= QZ_SCOPE_JOB)
		return put_shortage(out, a, shortage, width);
	qz_usage__find(r, &u);
	if (r->profile->scopes[r->scope].kind <= QZ_SCOPE_JOB && qz_usage__is_open(r, &u))
		err = qz_idle_time__find(r, &idle);
	if (!err && idle.n && idle.rows[0].kind != QZ_IDLE_UNKNOWN)
		err = put_reasons(out, a, &idle, width);
	else if (!err)
		put_few(out, a, width);
	free(idle.rows);
	return err;
}

#define LEAST_HELD 10 /* percent of the time */

/* Beside findings about the rest of the time: what nothing that they say changes. */
static int put_held(FILE *out, const struct qz_advice *a, int width)
{
	const struct qz_report *r = a->report;
	struct qz_idle idle = {0};
	int err = qz_idle_time__find(r, &idle);
	double percent = 0;
	char text[80];

	for (uint32_t i = 0; !err && i < idle.n; i++)
		if (is_held(r, &idle.rows[i]))
			percent += qz_finding__percent(r, idle.rows[i].idle_ns);
	free(idle.rows);
	if (err || percent < LEAST_HELD)
		return err;
	snprintf(text, sizeof(text), "It was stopped or frozen %.0f%% of the time.", percent);
	put_broken(out, text, 0, 0, width);
	fputc('\n', out);
	return 0;
}

/* A server that does nothing itself is not idle: its children do the work. */
static void put_children(FILE *out, const struct qz_report *r, int width)
{
	const struct qz_scope *s = &r->profile->scopes[r->scope];
	char text[160];
	struct qz_usage u;

	qz_usage__find(r, &u);
	if (!s->children || u.idle_ns < r->elapsed_ns / 2)
		return;
	snprintf(text, sizeof(text),
		 "It had %llu child process%s, which %s not in this profile: record --tree %d.",
		 (unsigned long long)s->children, s->children > 1 ? "es" : "",
		 s->children > 1 ? "are" : "is", s->pid);
	put_broken(out, text, 0, 0, width);
	fputc('\n', out);
}

/* Below the verdict, and before the findings. */
static int put_first(FILE *out, const struct qz_advice *a, int width)
{
	int err = 0;

	put_children(out, a->report, width);
	if (!a->n)
		return put_nothing(out, a, width);
	if (qz_verdict__others_first(a))
		err = put_shortage(out, a, QZ_SHORT_BY_OTHERS, width);
	return err ?: put_held(out, a, width);
}

int qz_advise_text__head(FILE *out, const struct qz_advice *a, int width, uint32_t n)
{
	int err = qz_advise_text__verdict(out, a, width);

	if (!err)
		err = put_first(out, a, width);
	for (uint32_t i = 0; !err && i < a->n && i < n; i++)
		err = put_brief(out, a, i, width);
	if (a->n > n) {
		fprintf(out, "%*s%u more: quartzctl advise", INDENT, "", a->n - n);
		qz_finding__put_option(out, "-i", a->input);
		qz_finding__put_option(out, "-s", a->scope);
		fputc('\n', out);
	}
	return err;
}

/* "    LABEL  text" */
static int put_part(FILE *out, const char *label, const char *text, int width, int *at)
{
	*at = INDENT + 10;
	fprintf(out, "%*s%-10s", INDENT, "", label);
	return put_escaped(out, text, INDENT + 10, width, at);
}

static int put_whole(FILE *out, const struct qz_advice *a, uint32_t i, int width)
{
	const struct qz_finding *f = &a->findings[i];
	char gain[64];
	int at = INDENT, err;

	fprintf(out, "\n%2u. ", i + 1);
	err = put_escaped(out, f->what, INDENT, width, &at);
	format_gain(f, a->report, gain);
	fprintf(out, "\n%*s%-10s%s\n", INDENT, "", "gain", gain);
	if (f->where && !err) {
		err = put_part(out, "where", f->where, width, &at);
		fputc('\n', out);
	}
	for (uint32_t k = 0; k < f->nevidence && !err; k++) {
		err = put_part(out, k ? "" : "evidence", f->evidence[k].text, width, &at);
		if (f->evidence[k].command)
			err = err ? err
				  : put_command(out, a, f->evidence[k].command, at, INDENT + 10,
						width);
		else
			fputc('\n', out);
	}
	err = err ? err : put_part(out, "remedy", f->remedy, width, &at);
	fputc('\n', out);
	return err;
}

int qz_advise_text__all(FILE *out, const struct qz_advice *a, int width, uint32_t n)
{
	int err = qz_advise_text__verdict(out, a, width);

	if (!err)
		err = put_first(out, a, width);
	for (uint32_t i = 0; !err && i < a->n && i < n; i++)
		err = put_whole(out, a, i, width);
	return err;
}
