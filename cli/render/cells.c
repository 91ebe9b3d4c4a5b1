/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/render/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/quality.h"
#include "core/estimate/estimate.h"
#include "core/model/objects.h"
#include "core/report/wait_report.h"

#define SECOND 1e9

uint32_t cells__rows_wanted(const struct config *config, uint32_t standard, uint32_t n)
{
	int64_t rows = config->rows < 0 ? standard : config->rows;

	return rows && rows < n ? (uint32_t)rows : n;
}

uint32_t cells__rows_shown(const struct scope_view *s, uint32_t n)
{
	return cells__rows_wanted(s->config, DEFAULT_ROWS, n);
}

void cells__print_rest(const struct scope_view *s, uint32_t n, uint32_t shown, const char *what)
{
	uint64_t lost = qz_ledger__lost(&s->report->profile->ledger);

	fprintf(s->out->file, "\n%s %s, not shown %s%s; samples lost %s\n", what,
		cells__count(n).text, cells__count(n - shown).text,
		n > shown ? " (-n 0 shows all)" : "", cells__count(lost).text);
	if (*s->rough)
		cells__print_rough(s->out->file);
	*s->rough = false;
}

int cells__decimals(const struct qz_report *r)
{
	double elapsed = (double)r->elapsed_ns / SECOND;

	return elapsed < 1 ? 5 : elapsed < 100 ? 3 : elapsed < 10000 ? 2 : 1;
}

void cells__add_seconds(const struct scope_view *s, struct text_table *table, uint64_t ns)
{
	text_table__add(table, PLAIN, "%.*f", s->decimals, (double)ns / SECOND);
}

enum emphasis cells__emphasis(double percent)
{
	return percent >= 5 ? GRAVE : percent >= 0.5 ? NOTABLE : PLAIN;
}

void cells__add_part(struct text_table *table, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	text_table__add(table, cells__emphasis(percent), "%.1f", percent);
}

void cells__add_percent(const struct scope_view *s, struct text_table *table, uint64_t ns)
{
	cells__add_part(table, ns, s->report->elapsed_ns);
}

static bool is_rough(const struct scope_view *s, uint64_t samples)
{
	bool rough = samples && samples < QZ_FEW_SAMPLES;

	*s->rough |= rough;
	return rough;
}

static double percent_of(const struct scope_view *s, uint64_t ns)
{
	return s->report->elapsed_ns ? 100 * (double)ns / (double)s->report->elapsed_ns : 0;
}

static void add_seconds_of(const struct scope_view *s, struct text_table *table, uint64_t ns,
			   double ci_ns, bool rough)
{
	const struct estimate e = {(double)ns / SECOND, ci_ns / SECOND, s->decimals, rough};

	cells__add_estimate(table, PLAIN, &e);
}

void cells__add_blocked(const struct scope_view *s, struct text_table *table,
			const struct qz_wait_figure *f, bool idle_too)
{
	uint64_t ns = idle_too ? f->blocked_ns : qz_wait_figure__blocked(f);
	uint64_t ci = qz_wait_figure__ci(f);

	if (ci)
		add_seconds_of(s, table, ns, (double)ci, false);
	else
		cells__add_seconds(s, table, ns);
}

void cells__add_wait_interval(const struct scope_view *s, struct text_table *table,
			      const struct qz_wait_figure *f)
{
	uint64_t ci = qz_wait_figure__ci(f);

	if (ci)
		add_seconds_of(s, table, ci, (double)ci, false);
	else
		text_table__add(table, PLAIN, "%s", "");
}

void cells__add_norm_part(const struct scope_view *s, struct text_table *table, uint64_t ns,
			  const struct qz_figure *f)
{
	add_seconds_of(s, table, ns, (double)f->ci_ns, is_rough(s, f->samples));
}

void cells__add_norm_percent(const struct scope_view *s, struct text_table *table, uint64_t ns,
			     const struct qz_figure *f)
{
	const struct estimate e = {percent_of(s, ns), percent_of(s, f->ci_ns), 1,
				   is_rough(s, f->samples)};

	cells__add_estimate(table, cells__emphasis(e.value), &e);
}

void cells__add_norm(const struct scope_view *s, struct text_table *table,
		     const struct qz_figure *f)
{
	cells__add_norm_part(s, table, f->norm_ns, f);
	cells__add_norm_percent(s, table, f->norm_ns, f);
}

void cells__add_interval(const struct scope_view *s, struct text_table *table,
			 const struct qz_figure *f)
{
	add_seconds_of(s, table, f->ci_ns, (double)f->ci_ns, false);
}

void cells__add_cpu(const struct scope_view *s, struct text_table *table, const struct qz_figure *f)
{
	double ci = (double)f->ci_ns, parallelism = qz_figure__parallelism(f);

	add_seconds_of(s, table, f->cpu_ns, parallelism > 1 ? ci * parallelism : ci,
		       is_rough(s, f->samples));
}

void cells__add_spun(const struct scope_view *s, struct text_table *table,
		     const struct qz_figure *f)
{
	const struct qz_scope *scope = &s->report->profile->scopes[s->report->scope];
	uint64_t ci = qz_share_half_width(scope->cpu_ns, f->spin_samples, scope->samples);

	add_seconds_of(s, table, f->spin_ns, (double)ci, is_rough(s, f->spin_samples));
}

void cells__print_norm(const struct scope_view *s, const struct qz_figure *f)
{
	double percent = percent_of(s, f->norm_ns), ci = percent_of(s, f->ci_ns);
	int decimals = cells__digits((double)f->ci_ns / SECOND, s->decimals);
	const char *mark = is_rough(s, f->samples) ? ROUGH_MARK : "";

	if (!f->samples) {
		fputc('0', s->out->file);
		return;
	}
	fprintf(s->out->file, "%s%.*f s (%s%.*f%%) %s %.*f s", mark, decimals,
		(double)f->norm_ns / SECOND, mark, cells__digits(ci, 1), percent,
		cells__plus_minus(s->out), decimals, (double)f->ci_ns / SECOND);
}

void cells__add_parallelism(struct text_table *table, const struct qz_figure *f)
{
	text_table__add(table, PLAIN, "%.1f", qz_figure__parallelism(f));
}

struct digits cells__duration(double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	struct digits d;
	int unit = 0;

	while (ns >= 999.5 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	snprintf(d.text, sizeof(d.text), "%.*f %s",
		 !unit || ns >= 99.5 ? 0
		 : ns >= 9.95	     ? 1
				     : 2,
		 ns, units[unit]);
	return d;
}

char *cells__object(const struct qz_report *r, uint32_t object)
{
	const struct qz_object *o = &r->profile->objects[object];
	const struct qz_scope *whose = &r->profile->scopes[o->scope];
	char *label = qz_objects__label(o), *raw = NULL, *escaped = NULL;
	char words[16] = "", process[32] = "";
	bool foreign = o->scope != r->scope;

	if (o->grouped > 1)
		snprintf(words, sizeof(words), " (%u)", o->grouped);
	if (foreign && whose->pid)
		snprintf(process, sizeof(process), " %d", whose->pid);
	if (label && asprintf(&raw, "%s%s%s%s%s", label, words, foreign ? " of " : "",
			      foreign ? whose->comm : "", process) < 0)
		raw = NULL;
	if (raw)
		escaped = output__escape(raw);
	free(raw);
	free(label);
	return escaped;
}

/* ---- bars ---- */

static const char *bar_mark(const struct output *out, bool dark)
{
	if (out->utf8)
		return dark ? "█" : "▒";
	return dark ? "#" : ".";
}

int cells__of_bar(uint64_t ns, uint64_t widest)
{
	int cells = widest ? (int)((double)ns / (double)widest * BAR_WIDTH + 0.5) : 0;

	return ns && !cells ? 1 : cells;
}

void cells__add_bar(const struct scope_view *s, struct text_table *table, int dark, int cells)
{
	char text[3 * (BAR_WIDTH + 1)] = "";
	char *end = text;

	for (int i = 0; i < cells; i++)
		end = stpcpy(end, bar_mark(s->out, i < dark));
	text_table__add(table, PLAIN, "%s", text);
}

const char *cells__plus_minus(const struct output *out)
{
	return out->utf8 ? "±" : "+-";
}

struct digits cells__count(uint64_t n)
{
	struct digits d;
	char *end = d.text + sizeof(d.text) - 1, *p = end;
	int count = 0;

	*p = 0;
	do {
		if (count && count % 3 == 0)
			*--p = ' ';
		*--p = (char)('0' + n % 10);
		count++;
	} while (n /= 10);
	memmove(d.text, p, (size_t)(end - p) + 1);
	return d;
}

struct digits cells__share(uint64_t part, uint64_t whole)
{
	double percent = 100.0 * (double)part / (double)whole;
	struct digits d;

	if (!whole)
		snprintf(d.text, sizeof(d.text), "-");
	else if (!part || part == whole)
		snprintf(d.text, sizeof(d.text), "%.0f%%", percent);
	else
		snprintf(d.text, sizeof(d.text), "%.1f%%",
			 percent < 0.1	  ? 0.1
			 : percent > 99.9 ? 99.9
					  : percent);
	return d;
}

/* ---- estimates ---- */

int cells__digits(double ci, int most)
{
	int digits;

	if (!(ci > 0))
		return most;
	if (ci >= 1)
		return 0;
	/* what rounds up to the next power of ten is one */
	digits = (int)-floor(log10(ci) + 0.022);
	return digits < most ? digits : most;
}

void cells__print_rough(FILE *out)
{
	fprintf(out, ROUGH_MARK " rests on fewer than %d samples\n", QZ_FEW_SAMPLES);
}

void cells__add_estimate(struct text_table *table, enum emphasis emphasis, const struct estimate *e)
{
	int decimals = e->value > 0 ? cells__digits(e->ci, e->decimals) : 0;
	int blanks = e->decimals - decimals + (e->decimals && !decimals);

	text_table__add(table, emphasis, "%s%.*f%*s", e->rough ? ROUGH_MARK : "", decimals,
			e->value, blanks, "");
}
