/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/commands/top.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/live.h"
#include "cli/render/output.h"
#include "cli/render/quality.h"
#include "cli/render/cells.h"
#include "cli/query/profile_source.h"
#include "core/advise/advise_text.h"
#include "core/transform/delta.h"
#include "core/estimate/estimate.h"
#include "core/model/objects.h"
#include "core/format/pprof.h"

static void drop_report(struct top *t)
{
	qz_advise__free(t->advice);
	qz_report__free(t->report);
	t->advice = NULL;
	t->report = NULL;
}

void top__free(struct top *t)
{
	drop_report(t);
	qz_process_table__free(&t->processes);
	qz_profile__free(t->added);
	qz_profile__free(t->whole);
}

/* ---- snapshots ---- */

static struct qz_profile *parse(int fd, const char **why)
{
	*why = "cannot be read";
	return lseek(fd, 0, SEEK_SET) ? NULL : qz_pprof__read(fd, why);
}

static bool is_same(const struct top_focus *a, const struct top_focus *b)
{
	return a->set == b->set && a->kind == b->kind && a->pid == b->pid &&
	       a->start_ns == b->start_ns;
}

bool top__lacks(const struct top *t)
{
	return !is_same(&t->focus, &t->asked);
}

static void drop_news(struct top_news *news)
{
	qz_profile__free(news->whole);
	qz_profile__free(news->added);
	news->whole = news->added = NULL;
}

static void explain(struct top_news *news, int err, const char *why)
{
	char *escaped = output__escape(why), socket[PATH_MAX];

	profile_source__socket(socket);
	if (err == -ENOENT || err == -ECONNREFUSED)
		snprintf(news->reason, sizeof(news->reason), SOURCE_NOT_RUNNING, socket);
	else
		snprintf(news->reason, sizeof(news->reason), "quartzd gives no snapshot: %s",
			 escaped ? escaped : "?");
	free(escaped);
	news->err = err;
	drop_news(news);
}

static int request(const struct top *t, const struct top_focus *focus, char *said, size_t size)
{
	const struct live_wanted wanted = {
		.detail = "procedures",
		.since_ns = t->whole ? t->whole->wall_start_ns + t->whole->window_ns : 0,
		.pid = focus->set ? focus->pid : -1,
		.start_ns = focus->start_ns,
	};
	char socket[PATH_MAX];
	bool own;

	return profile_source__snapshot(&wanted, socket, said, size, &own);
}

/* After a restart of quartzd, everything is new. If nothing was added, there is nothing to show. */
static void subtract(const struct top *t, struct top_news *news)
{
	int err = qz_delta__since(news->added, t->whole);

	if (err == -ENOMEM)
		explain(news, err, strerror(-err));
	else if (!err && !news->added->window_ns)
		drop_news(news);
}

void top__ask(const struct top *t, struct top_focus focus, struct top_news *news)
{
	char said[200] = "";
	const char *why = "";
	int fd = request(t, &focus, said, sizeof(said));

	*news = (struct top_news) {.focus = focus};
	if (fd < 0) {
		explain(news, fd, *said ? said : strerror(-fd));
		return;
	}
	news->whole = parse(fd, &why);
	news->added = news->whole ? parse(fd, &why) : NULL;
	close(fd);
	if (!news->added)
		explain(news, -EBADMSG, why);
	else if (t->whole && is_same(&focus, &t->asked))
		subtract(t, news);
}

int top__take(struct top *t, struct top_news *news)
{
	memcpy(t->reason, news->reason, sizeof(t->reason));
	if (!news->whole)
		return news->err;
	drop_report(t);
	qz_profile__free(t->added);
	qz_profile__free(t->whole);
	t->added = news->added;
	t->whole = news->whole;
	t->asked = news->focus;
	return top__arrange(t);
}

/* ---- tables ---- */

/* Processes without processor time in the interval have no row. */
static void drop_idle(struct qz_process_table *t)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		struct qz_process_row row = t->rows[i];

		if (row.cpu_ns || row.norm_ns || row.spin_ns)
			t->rows[kept++] = row;
		else
			free(row.name);
	}
	t->n = kept;
}

static uint32_t find_scope_in(const struct top *t, const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++) {
		const struct qz_scope *s = &p->scopes[i];

		if (s->kind == t->focus.kind && s->pid == t->focus.pid &&
		    s->start_ns == t->focus.start_ns)
			return i;
	}
	return QZ_NONE;
}

static uint32_t find_scope(const struct top *t)
{
	return find_scope_in(t, t->added);
}

/* Samples of an interval from which on the advice is made of it. */
#define ENOUGH (4 * QZ_FEW_SAMPLES)

/* Which of the two the opened process is shown by. */
static const struct qz_profile *shown_profile(const struct top *t)
{
	uint32_t scope = find_scope(t);

	if (!t->wants_whole && scope != QZ_NONE && !t->added->scopes[scope].ended &&
	    t->added->scopes[scope].samples >= ENOUGH)
		return t->added;
	return find_scope_in(t, t->whole) != QZ_NONE ? t->whole : t->added;
}

static int make_report(struct top *t)
{
	const struct qz_profile *p = shown_profile(t);
	uint32_t scope = find_scope_in(t, p);

	if (scope == QZ_NONE)
		return 0;
	t->report = qz_report__new(p, scope);
	t->advice = t->report ? qz_advise__new(t->report) : NULL;
	snprintf(t->scope, sizeof(t->scope), "pid=%d", t->focus.pid);
	if (t->advice)
		t->advice->scope = t->scope;
	return t->advice ? 0 : -ENOMEM;
}

int top__arrange(struct top *t)
{
	uint32_t *all = calloc((size_t)t->added->nscopes + 1, sizeof(*all));
	int err = all ? 0 : -ENOMEM;

	for (uint32_t i = 0; all && i < t->added->nscopes; i++)
		all[i] = i;
	qz_process_table__free(&t->processes);
	if (!err)
		err = qz_process_table__make(&t->processes, t->added, all, t->added->nscopes, t->by,
					     t->order);
	free(all);
	drop_idle(&t->processes);
	drop_report(t);
	if (!err && (t->view == TOP_PROCEDURES || t->view == TOP_OBJECTS) && !top__lacks(t))
		err = make_report(t);
	return err;
}

bool top__enter(struct top *t, uint32_t row)
{
	const struct qz_scope *s;

	if (t->by != QZ_BY_PROCESS || row >= t->processes.n)
		return false;
	s = &t->added->scopes[t->processes.rows[row].scope];
	t->focus = (struct top_focus) {
		.set = true, .kind = s->kind, .pid = s->pid, .start_ns = s->start_ns};
	snprintf(t->focus.comm, sizeof(t->focus.comm), "%s", s->comm);
	t->view = TOP_PROCEDURES;
	return true;
}

/* ---- lines ---- */

#define LEAST_NAME    15 /* maximum length of comm */
#define PROCESS_TABLE "%7s %6s %6s %5s %7s %6s %4s %s%*s %s"

/* Names get what they need up to 80 columns; beyond that, they share the width with procedures. */
void top__fit(struct top *t, int width)
{
	int most = LEAST_NAME, room = LEAST_NAME + (width > 80 ? (width - 80) / 2 : 0);

	for (uint32_t i = 0; i < t->processes.n && most < room; i++) {
		char *name = output__escape(t->processes.rows[i].name);
		int length = name ? output__count_characters(name) : 0;

		most = length > most ? length : most;
		free(name);
	}
	t->name_width = most < room ? most : room;
}

uint32_t top__rows(const struct top *t)
{
	if (t->view == TOP_PROCESSES)
		return t->processes.n;
	if (!t->report)
		return 0;
	return t->view == TOP_PROCEDURES ? t->report->nrows : t->report->nobjects;
}

char *top__head(const struct top *t)
{
	char *line;
	int n;

	switch (t->view) {
	case TOP_PROCEDURES:
		return strdup(" TOTAL%  SELF%   CPU%  PARAL  BLOCKED s  PROCEDURE");
	case TOP_OBJECTS:
		return strdup("  NORM%  WAITS  BLOCKED s  OBJECT");
	default:
		n = asprintf(&line, PROCESS_TABLE, t->by == QZ_BY_PROCESS ? "PID" : "PROCS", "CPU%",
			     "NORM%", "PARAL", "SERIAL%", "SPIN%", "THR", "NAME", t->name_width - 4,
			     "", "TOP");
		return n < 0 ? NULL : line;
	}
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* Cuts a text at a number of characters. */
static char *cut(char *name, int width)
{
	if (name && output__count_characters(name) > width)
		name[output__skip_characters(name, width)] = 0;
	return name;
}

/* A share of time in percent, rounded to the digits that its samples support. */
static struct digits estimate(uint64_t part, uint64_t ci, uint64_t whole, bool rough)
{
	struct digits d;

	snprintf(d.text, sizeof(d.text), "%s%.*f", rough ? ROUGH_MARK : "",
		 part ? cells__digits(percent(ci, whole), 1) : 0, percent(part, whole));
	return d;
}

static struct digits figure(const struct top *t, const struct qz_figure *f)
{
	return estimate(f->norm_ns, f->ci_ns, t->report->elapsed_ns,
			f->samples && f->samples < QZ_FEW_SAMPLES);
}

/* The processor time of a procedure is an estimate, like its normalized time. */
static struct digits cpu_figure(const struct top *t, const struct qz_figure *f)
{
	double parallelism = qz_figure__parallelism(f);

	return estimate(f->cpu_ns,
			(uint64_t)((double)f->ci_ns * (parallelism > 1 ? parallelism : 1)),
			t->report->elapsed_ns, f->samples && f->samples < QZ_FEW_SAMPLES);
}

static struct digits __attribute__((format(printf, 1, 2))) text(const char *format, ...)
{
	struct digits d;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(d.text, sizeof(d.text), format, arguments);
	va_end(arguments);
	return d;
}

/* A figure of levels, which are exact. None if nothing was busy. */
static struct digits level(const struct qz_process_row *row, int decimals, double value)
{
	return row->busy_ns ? text("%.*f", decimals, value) : text("-");
}

static char *process_line(const struct top *t, const struct qz_process_row *row)
{
	const struct qz_scope *scope = &t->added->scopes[row->scope];
	bool procedure = row->top_procedure != QZ_NONE, one = t->by == QZ_BY_PROCESS;
	char *name = cut(output__escape(*row->name ? row->name : "-"), t->name_width), *line = NULL;
	char *top = output__escape(procedure ? t->added->procedures[row->top_procedure].name : "");
	uint64_t window = t->added->window_ns;
	uint64_t spin_ci = qz_share_half_width(row->cpu_ns, row->spin_samples, row->samples);

	if (name && top &&
	    asprintf(&line, PROCESS_TABLE,
		     one && !scope->pid
			     ? "-"
			     : text("%" PRIu64, one ? (uint64_t)scope->pid : row->processes).text,
		     text("%.1f", percent(row->cpu_ns, window)).text,
		     estimate(row->norm_ns, row->ci_ns, window,
			      qz_process_table__is_rough(&t->processes, row))
			     .text,
		     level(row, 1, qz_process_row__parallelism(row)).text,
		     level(row, 0, 100 * qz_process_row__serial(row)).text,
		     estimate(row->spin_ns, spin_ci, window,
			      row->spin_samples && row->spin_samples < QZ_FEW_SAMPLES)
			     .text,
		     text("%" PRIu64, row->threads).text, name,
		     t->name_width - output__count_characters(name), "", top) < 0)
		line = NULL;
	free(name);
	free(top);
	return line;
}

static char *procedure_line(const struct top *t, const struct qz_row *row)
{
	char *name = output__escape(t->report->profile->procedures[row->procedure].name),
	     *line = NULL;

	if (name && asprintf(&line, "%7s %6s %6s %6.1f %10.3f  %s", figure(t, &row->total).text,
			     figure(t, &row->self).text, cpu_figure(t, &row->self).text,
			     qz_figure__parallelism(&row->total),
			     (double)row->total_waits.blocked_ns / 1e9, name) < 0)
		line = NULL;
	free(name);
	return line;
}

static char *object_line(const struct top *t, const struct qz_object_row *row)
{
	char *label = qz_objects__label(&t->report->profile->objects[row->object]);
	char *name = label ? output__escape(label) : NULL, *line = NULL;

	if (name && asprintf(&line, "%7s %6" PRIu64 " %10.3f  %s", figure(t, &row->figure).text,
			     row->waits.count, (double)row->waits.blocked_ns / 1e9, name) < 0)
		line = NULL;
	free(label);
	free(name);
	return line;
}

char *top__line(const struct top *t, uint32_t row)
{
	if (t->view == TOP_PROCESSES)
		return process_line(t, &t->processes.rows[row]);
	return t->view == TOP_PROCEDURES ? procedure_line(t, &t->report->rows[row])
					 : object_line(t, &t->report->objects[row]);
}

/* ---- above the table ---- */

/* Mean number of busy processors while any was, of the machine or of the only scope. */
static void add_up(const struct top *t, uint64_t *busy, uint64_t *serial, uint64_t *processors)
{
	uint32_t machine = qz_profile__machine(t->added);

	*busy = *serial = *processors = 0;
	for (uint32_t i = 0; i < t->added->nsamples; i++) {
		const struct qz_sample *s = &t->added->samples[i];

		if (s->scope != (machine == QZ_NONE ? 0 : machine))
			continue;
		*busy += s->norm_ns;
		*processors += s->busy * s->norm_ns;
		*serial += s->busy == 1 ? s->norm_ns : 0;
	}
}

char *top__summary(const struct top *t)
{
	uint64_t busy, serial, processors;
	char *line;

	add_up(t, &busy, &serial, &processors);
	if (asprintf(&line,
		     "%.1f s: busy %.0f%%, parallelism %.1f of %u, serial %.0f%%, lost %" PRIu64,
		     (double)t->added->window_ns / 1e9, percent(busy, t->added->window_ns),
		     busy ? (double)processors / (double)busy : 0, t->added->processors,
		     percent(serial, busy), qz_ledger__lost(&t->added->ledger)) < 0)
		return NULL;
	return line;
}

/* The sort key, and the reason if it was chosen automatically. */
static char *order_title(const struct top *t)
{
	static const char *const orders[] = {"",       "norm", "CPU",	  "parallelism",
					     "serial", "spin", "threads", "name"};
	static const char *const groups[] = {"process", "program", "unit", "control group"};
	bool instead = t->order == QZ_ORDER_AUTO && t->processes.order == QZ_ORDER_CPU;
	char *line;

	if (asprintf(&line, "by %s, sorted by %s%s", groups[t->by], orders[t->processes.order],
		     instead ? ": too few samples to sort by norm" : "") < 0)
		return NULL;
	return line;
}

/* Of the opened process, and not only of the last interval. */
static bool is_whole(const struct top *t)
{
	return t->report && t->report->profile == t->whole;
}

/* An ended process stays in the snapshots for a while: it is shown while they have it. */
char *top__title(const struct top *t)
{
	const char *what = t->view == TOP_OBJECTS ? "objects" : "procedures";
	char *name, *line = NULL;
	bool ended;

	if (t->view == TOP_PROCESSES)
		return order_title(t);
	ended = !t->report || t->report->profile->scopes[t->report->scope].ended;
	name = output__escape(t->focus.comm);
	if (name && asprintf(&line, "process %d %s%s: %s%s", t->focus.pid, name,
			     ended ? " has ended, Esc goes back" : "", what,
			     is_whole(t) ? " since quartzd measures it" : "") < 0)
		line = NULL;
	free(name);
	return line;
}

/* The number of samples, and whether figures on the screen have few of them. */
char *top__quality(const struct top *t)
{
	uint32_t machine = qz_profile__machine(t->added), scope = QZ_NONE;
	struct rate_text rate = quality__rate(t->added);
	uint64_t samples = 0;
	char *line;

	if (t->view != TOP_PROCESSES)
		samples = t->report ? t->report->profile->scopes[t->report->scope].samples : 0;
	else if (machine != QZ_NONE)
		scope = machine;
	for (uint32_t i = 0; i < t->added->nscopes; i++)
		if (t->view == TOP_PROCESSES && (scope == i || scope == QZ_NONE))
			samples += t->added->scopes[i].samples;
	if (asprintf(&line, "%s samples%s%s; " ROUGH_MARK ": below %d", cells__count(samples).text,
		     *rate.text ? " at " : "", rate.text, QZ_FEW_SAMPLES) < 0)
		return NULL;
	return line;
}

char *top__advice(const struct top *t, int width)
{
	char *text = NULL;
	size_t size;
	FILE *out = t->advice ? open_memstream(&text, &size) : NULL;
	int err;

	if (!out)
		return NULL;
	err = qz_advise_text__head(out, t->advice, width, 1);
	if (fclose(out) || err) {
		free(text);
		return NULL;
	}
	return text;
}
