/* SPDX-License-Identifier: GPL-2.0-only */
/* What rules make findings from. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/quota.h"
#include "core/advise/languages.h"
#include "core/advise/usage.h"
#include "core/estimate/estimate.h"
#include "core/model/objects.h"
#include "core/util/order.h"
#include "core/util/term_escape.h"
#include "core/util/vec.h"

const char *qz_subject__kind_name(enum qz_subject_kind kind)
{
	static const char *const names[QZ_SUBJECT_KINDS] = {
		[QZ_SUBJECT_SCOPE] = "scope",	[QZ_SUBJECT_PROCEDURE] = "procedure",
		[QZ_SUBJECT_THREAD] = "thread", [QZ_SUBJECT_OBJECT] = "object",
		[QZ_SUBJECT_CAUSE] = "cause",
	};

	return names[kind];
}

static char *name_of(const struct qz_profile *p, enum qz_subject_kind kind, uint32_t index)
{
	switch (kind) {
	case QZ_SUBJECT_PROCEDURE:
		return strdup(p->procedures[index].name);
	case QZ_SUBJECT_THREAD:
		return strdup(*p->threads[index].name ? p->threads[index].name
						      : p->threads[index].comm);
	case QZ_SUBJECT_OBJECT:
		return qz_objects__label(&p->objects[index]);
	case QZ_SUBJECT_CAUSE:
		return strdup(p->causes[index]);
	default:
		return strdup(p->scopes[index].comm);
	}
}

/* Characters are left out as a whole. */
void qz_finding__shorten(char shown[QZ_SHORT_NAME], const char *name)
{
	size_t length = strlen(name), head = QZ_SHORT_NAME / 2, tail = length - QZ_SHORT_NAME / 3;

	if (length < QZ_SHORT_NAME) {
		memcpy(shown, name, length + 1);
		return;
	}
	while (head && ((unsigned char)name[head] & 0xc0) == 0x80)
		head--;
	while (tail < length && ((unsigned char)name[tail] & 0xc0) == 0x80)
		tail++;
	snprintf(shown, QZ_SHORT_NAME, "%.*s...%s", (int)head, name, name + tail);
}

struct qz_finding qz_finding__about(const char *rule, const struct qz_report *r,
				    enum qz_subject_kind kind, uint32_t index)
{
	struct qz_finding f = {.rule = rule, .subject = {kind, index, NULL}};

	f.subject.name = name_of(r->profile, kind, index);
	f.failed = !f.subject.name;
	if (f.subject.name)
		qz_finding__shorten(f.shown,
				    kind == QZ_SUBJECT_PROCEDURE
					    ? qz_language__call(&r->profile->procedures[index])
					    : f.subject.name);
	return f;
}

void qz_finding__say_nameless(struct qz_finding *f, const struct qz_report *r)
{
	const char *where = qz_language__among_nameless(r, f->subject.index);

	if (where)
		qz_finding__say(f, &f->where, "%s", where);
}

__attribute__((format(printf, 2, 0))) static char *text_of(struct qz_finding *f, const char *format,
							   va_list values)
{
	char *text;

	if (vasprintf(&text, format, values) < 0) {
		f->failed = true;
		return NULL;
	}
	return text;
}

void qz_finding__say(struct qz_finding *f, char **text, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	free(*text);
	*text = text_of(f, format, values);
	va_end(values);
}

/* Whether a shell takes it as one word as it is. */
static bool is_plain(const char *word)
{
	for (const char *c = word; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_-+./=:@,", *c))
			return false;
	return *word;
}

static void put_quoted(FILE *out, const char *word)
{
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

/* Names with what a terminal would not show as it is have no command. */
static bool can_be_typed(const char *word)
{
	return *word && *word != '-' && qz_term_escape(NULL, 0, word) == strlen(word);
}

void qz_finding__put_word(FILE *out, const char *word)
{
	if (is_plain(word))
		fputs(word, out);
	else
		put_quoted(out, word);
}

void qz_finding__put_option(FILE *out, const char *option, const char *word)
{
	if (!word || !can_be_typed(word))
		return;
	fprintf(out, " %s ", option);
	qz_finding__put_word(out, word);
}

/* NULL: memory ran out. */
static char *command(const char *verb, const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "quartzctl %s", verb);
	if (name) {
		fputc(' ', out);
		qz_finding__put_word(out, name);
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

void qz_finding__prove(struct qz_finding *f, const char *verb, const char *name, const char *format,
		       ...)
{
	struct qz_evidence *e = &f->evidence[f->nevidence];
	va_list values;

	if (f->nevidence == QZ_MAX_EVIDENCE)
		return;
	f->nevidence++;
	va_start(values, format);
	e->text = text_of(f, format, values);
	va_end(values);
	if (!verb || (name && !can_be_typed(name)))
		return;
	e->command = command(verb, name);
	f->failed |= !e->command;
}

double qz_finding__percent(const struct qz_report *r, uint64_t ns)
{
	return r->elapsed_ns ? 100.0 * (double)ns / (double)r->elapsed_ns : 0;
}

/* ---- findings of an advice ---- */

/* A finding whose best gain is below this share of the elapsed time is noise of the next run. */
#define LEAST_GAIN 0.02

void qz_finding__clear(struct qz_finding *f)
{
	free(f->subject.name);
	free(f->what);
	free(f->where);
	free(f->remedy);
	for (uint32_t i = 0; i < f->nevidence; i++) {
		free(f->evidence[i].text);
		free(f->evidence[i].command);
	}
	*f = (struct qz_finding) {0};
}

bool qz_finding__gains(const struct qz_report *r, const struct qz_finding *f)
{
	return f->gain_high_ns && (double)f->gain_high_ns >= LEAST_GAIN * (double)r->elapsed_ns;
}

/* Which procedure it is, a few samples do not show. */
static bool is_rough(const struct qz_report *r, const struct qz_finding *f)
{
	if (f->subject.kind != QZ_SUBJECT_PROCEDURE)
		return false;
	for (uint32_t i = 0; i < r->nrows; i++)
		if (r->rows[i].procedure == f->subject.index)
			return r->rows[i].total.samples < QZ_FEW_SAMPLES;
	return false;
}

/*
 * Threads that were kept from processors for longer than they ran: a lock whose holders have none is queued for all the
 * longer, and more threads at a time have no place where a limit keeps the scope from it. Only as much of the gain is left
 * as they ran of that time. What saves work saves also what the work waited for.
 */
static void scale_gain(struct qz_finding *f, const struct qz_report *r)
{
	uint64_t running = qz_scope__running_ns(&r->profile->scopes[r->scope]), kept;
	struct qz_usage u;
	double share;

	if (f->lost & QZ_LOST_READY)
		return;
	qz_usage__find(r, &u);
	kept = f->lost & QZ_LOST_HELD ? u.taken_ns : u.limited_ns;
	if (kept <= running)
		return;
	share = (double)running / (double)(running + kept);
	f->gain_low_ns = (uint64_t)(share * (double)f->gain_low_ns);
	f->gain_high_ns = (uint64_t)(share * (double)f->gain_high_ns);
}

int qz_advise__add(struct qz_advice *a, struct qz_finding *f)
{
	uint64_t elapsed = a->report->elapsed_ns;

	scale_gain(f, a->report);
	if (f->lost & QZ_LOST_DIVIDED)
		f->gain_high_ns = qz_least(f->gain_high_ns, qz_quota__beyond(a->report));
	if (f->gain_high_ns > elapsed)
		f->gain_high_ns = elapsed;
	if (f->gain_low_ns > f->gain_high_ns)
		f->gain_low_ns = f->gain_high_ns;
	if (f->failed || qz_array__reserve((void **)&a->findings, a->n, sizeof(*a->findings))) {
		qz_finding__clear(f);
		return -ENOMEM;
	}
	if (qz_finding__gains(a->report, f) && !is_rough(a->report, f))
		a->findings[a->n++] = *f;
	else
		qz_finding__clear(f);
	return 0;
}
