/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/top.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/output.h"
#include "cli/source.h"
#include "core/difference.h"
#include "core/objects.h"
#include "core/pprof.h"

void top__free(struct top *t)
{
	qz_report__free(t->report);
	qz_processes__free(&t->processes);
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
	char *escaped = escape_name(why);

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

	return source__snapshot(&wanted, socket, said, size, &own);
}

/* Where quartzd began anew, all of it is new; where nothing was added, there are no news. */
static void subtract(const struct top *t, struct top_news *news)
{
	int err = qz_profile__subtract(news->added, t->whole);

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
	qz_report__free(t->report);
	t->report = NULL;
	qz_profile__free(t->added);
	qz_profile__free(t->whole);
	t->added = news->added;
	t->whole = news->whole;
	t->asked = news->focus;
	return top__arrange(t);
}

/* ---- tables ---- */

/* Those that did nothing meanwhile have no row. */
static void drop_idle(struct qz_processes *t)
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

static uint32_t find_scope(const struct top *t)
{
	for (uint32_t i = 0; i < t->added->nscopes; i++) {
		const struct qz_scope *s = &t->added->scopes[i];

		if (s->kind == t->focus.kind && s->pid == t->focus.pid &&
		    s->start_ns == t->focus.start_ns)
			return i;
	}
	return QZ_NONE;
}

int top__arrange(struct top *t)
{
	uint32_t *all = calloc((size_t)t->added->nscopes + 1, sizeof(*all)), scope = QZ_NONE;
	int err = all ? 0 : -ENOMEM;

	for (uint32_t i = 0; all && i < t->added->nscopes; i++)
		all[i] = i;
	qz_processes__free(&t->processes);
	if (!err)
		err = qz_processes__make(&t->processes, t->added, all, t->added->nscopes, t->by,
					 t->order);
	free(all);
	drop_idle(&t->processes);
	if ((t->view == TOP_PROCEDURES || t->view == TOP_OBJECTS) && !top__lacks(t))
		scope = find_scope(t);
	qz_report__free(t->report);
	t->report = NULL;
	if (!err && scope != QZ_NONE) {
		t->report = qz_report__new(t->added, scope);
		err = t->report ? 0 : -ENOMEM;
	}
	return err;
}

bool top__enter(struct top *t, uint32_t row)
{
	const struct qz_scope *s;

	if (t->by != QZ_BY_PROCESS || row >= t->processes.n)
		return false;
	s = &t->added->scopes[t->processes.rows[row].scope];
	t->focus = (struct top_focus) {true, s->kind, s->pid, s->start_ns};
	t->view = TOP_PROCEDURES;
	return true;
}

/* ---- lines ---- */

uint32_t top__rows(const struct top *t)
{
	if (t->view == TOP_PROCESSES)
		return t->processes.n;
	if (!t->report)
		return 0;
	return t->view == TOP_PROCEDURES ? t->report->nrows : t->report->nobjects;
}

const char *top__head(const struct top *t)
{
	switch (t->view) {
	case TOP_PROCEDURES:
		return " TOTAL%  SELF%   CPU%  PARAL  BLOCKED s  PROCEDURE";
	case TOP_OBJECTS:
		return "  NORM%  WAITS  BLOCKED s  OBJECT";
	default:
		return t->by == QZ_BY_PROCESS ? "    PID   CPU%  NORM% PARAL SERIAL%  SPIN%  THR "
						"NAME            TOP"
					      : "  PROCS   CPU%  NORM% PARAL SERIAL%  SPIN%  THR "
						"NAME            TOP";
	}
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* Cut at so many characters. */
static char *cut(char *name, int width)
{
	if (name && count_characters(name) > width)
		name[skip_characters(name, width)] = 0;
	return name;
}

static char *process_line(const struct top *t, const struct qz_process_row *row)
{
	const struct qz_scope *scope = &t->added->scopes[row->scope];
	bool procedure = row->top_procedure != QZ_NONE;
	char *name = cut(escape_name(*row->name ? row->name : "-"), 15), *line = NULL;
	char *top = escape_name(procedure ? t->added->procedures[row->top_procedure].name : "");
	uint64_t window = t->added->window_ns;
	uint64_t number = t->by == QZ_BY_PROCESS ? (uint64_t)scope->pid : row->processes;

	if (name && top &&
	    asprintf(&line, "%7" PRIu64 " %6.1f %6.1f %5.1f %7.0f %6.1f %4" PRIu64 " %s%*s %s",
		     number, percent(row->cpu_ns, window), percent(row->norm_ns, window),
		     qz_process_row__parallelism(row), 100 * qz_process_row__serial(row),
		     percent(row->spin_ns, window), row->threads, name, 15 - count_characters(name),
		     "", top) < 0)
		line = NULL;
	free(name);
	free(top);
	return line;
}

static char *procedure_line(const struct top *t, const struct qz_row *row)
{
	char *name = escape_name(t->added->procedures[row->procedure].name), *line = NULL;
	uint64_t window = t->report->elapsed_ns;

	if (name &&
	    asprintf(&line, "%7.1f %6.1f %6.1f %6.1f %10.3f  %s",
		     percent(row->total.norm_ns, window), percent(row->self.norm_ns, window),
		     percent(row->self.cpu_ns, window), qz_figure__parallelism(&row->total),
		     (double)row->total_waits.blocked_ns / 1e9, name) < 0)
		line = NULL;
	free(name);
	return line;
}

static char *object_line(const struct top *t, const struct qz_object_row *row)
{
	char *label = qz_object__label(&t->added->objects[row->object]);
	char *name = label ? escape_name(label) : NULL, *line = NULL;

	if (name && asprintf(&line, "%7.1f %6" PRIu64 " %10.3f  %s",
			     percent(row->figure.norm_ns, t->report->elapsed_ns), row->waits.count,
			     (double)row->waits.blocked_ns / 1e9, name) < 0)
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

/* Busy processors over the time that any was, of the machine or of the only scope. */
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

char *top__title(const struct top *t)
{
	static const char *const orders[] = {"norm", "CPU",	"parallelism", "serial",
					     "spin", "threads", "name"};
	static const char *const groups[] = {"process", "program", "unit", "control group"};
	uint32_t scope = t->view == TOP_PROCESSES ? QZ_NONE : find_scope(t);
	char *name, *line = NULL;

	if (t->view == TOP_PROCESSES)
		return asprintf(&line, "by %s, sorted by %s", groups[t->by], orders[t->order]) < 0
			       ? NULL
			       : line;
	if (scope == QZ_NONE)
		return strdup("this process is gone");
	name = escape_name(t->added->scopes[scope].comm);
	if (name && asprintf(&line, "process %d %s: %s", t->focus.pid, name,
			     t->view == TOP_OBJECTS ? "objects" : "procedures") < 0)
		line = NULL;
	free(name);
	return line;
}
