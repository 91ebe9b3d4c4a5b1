/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/section.h"

#include <stdlib.h>
#include <string.h>

#include "core/objects.h"

#define SECOND 1e9

void section__init(struct section *s)
{
	double elapsed = (double)s->report->elapsed_ns / SECOND;

	s->decimals = elapsed < 1 ? 5 : elapsed < 100 ? 3 : elapsed < 10000 ? 2 : 1;
}

uint32_t rows_wanted(const struct config *config, uint32_t standard, uint32_t n)
{
	int64_t rows = config->rows < 0 ? standard : config->rows;

	return rows && rows < n ? (uint32_t)rows : n;
}

uint32_t rows_shown(const struct section *s, uint32_t n)
{
	return rows_wanted(s->config, DEFAULT_ROWS, n);
}

void print_rest(const struct section *s, uint32_t n, uint32_t shown, const char *what)
{
	uint64_t lost = qz_ledger__lost(&s->report->profile->ledger);

	fprintf(s->out->file, "\n%s %s, not shown %s%s; samples lost %s\n", what,
		group_digits(n).text, group_digits(n - shown).text,
		n > shown ? " (-n 0 shows all)" : "", group_digits(lost).text);
}

void add_seconds(const struct section *s, struct columns *c, uint64_t ns)
{
	columns__add(c, PLAIN, "%.*f", s->decimals, (double)ns / SECOND);
}

void add_part(struct columns *c, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	columns__add(c, percent >= 5 ? GRAVE : percent >= 0.5 ? NOTABLE : PLAIN, "%.1f", percent);
}

void add_percent(const struct section *s, struct columns *c, uint64_t ns)
{
	add_part(c, ns, s->report->elapsed_ns);
}

void add_parallelism(struct columns *c, const struct qz_figure *f)
{
	columns__add(c, PLAIN, "%.1f", qz_figure__parallelism(f));
}

struct digits duration(double ns)
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

char *format_object(const struct qz_report *r, uint32_t object)
{
	const struct qz_object *o = &r->profile->objects[object];
	char *label = qz_object__label(o), *raw = NULL, *escaped = NULL;

	if (label && o->grouped > 1 && asprintf(&raw, "%s (%u)", label, o->grouped) < 0)
		raw = NULL;
	if (label && (raw || o->grouped <= 1))
		escaped = escape_name(raw ? raw : label);
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

int bar_cells(uint64_t ns, uint64_t widest)
{
	int cells = widest ? (int)((double)ns / (double)widest * BAR_WIDTH + 0.5) : 0;

	return ns && !cells ? 1 : cells;
}

void add_bar(const struct section *s, struct columns *c, int dark, int cells)
{
	char text[3 * (BAR_WIDTH + 1)] = "";
	char *end = text;

	for (int i = 0; i < cells; i++)
		end = stpcpy(end, bar_mark(s->out, i < dark));
	columns__add(c, PLAIN, "%s", text);
}

const char *plus_minus(const struct output *out)
{
	return out->utf8 ? "±" : "+-";
}

struct digits group_digits(uint64_t n)
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

struct digits share(uint64_t part, uint64_t whole)
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
