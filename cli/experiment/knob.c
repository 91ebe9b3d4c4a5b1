/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/knob.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/knobs/knob_page.h"

#define MOST_VALUES 256
#define GRID	    64 /* values that are tried of a knob that can have more than these */
#define WIDE	    8  /* last over first: from here on, ratios matter, not differences */
#define LEAST	    (-1000000000l)
#define MOST	    1000000000l

static enum status refuse(const char *text, const char *why)
{
	complain("--knob '%s': %s", text, why);
	return STATUS_USAGE;
}

static int compare_values(const void *x, const void *y)
{
	long a = *(const long *)x, b = *(const long *)y;

	return (a > b) - (a < b);
}

/* ---- ranges ---- */

static bool add_value(struct knob *k, int64_t value)
{
	if (k->n == MOST_VALUES)
		return false;
	k->values[k->n++] = (long)value;
	return true;
}

static bool add_range(struct knob *k, const char *lo, const char *hi, const char *step)
{
	int64_t from, to, by = 1;

	if (qz_options__integer(lo, LEAST, MOST, &from) ||
	    qz_options__integer(hi, from, MOST, &to) ||
	    (step && qz_options__integer(step, 1, MOST, &by)))
		return false;
	for (int64_t value = from; value <= to; value += by)
		if (!add_value(k, value))
			return false;
	return true;
}

/* "1-8" or "1-8/2": a dash at the beginning is the sign of the first number. */
static bool parse_range(struct knob *k, char *text)
{
	char *dash = strchr(text + (*text == '-'), '-'), *slash = strchr(text, '/');

	if (!dash)
		return false;
	*dash = '\0';
	if (slash)
		*slash = '\0';
	return add_range(k, text, dash + 1, slash ? slash + 1 : NULL);
}

static bool parse_list(struct knob *k, char *text)
{
	char *rest = text, *word;
	int64_t value;

	while ((word = strsep(&rest, ",")))
		if (qz_options__integer(word, LEAST, MOST, &value) || !add_value(k, value))
			return false;
	return true;
}

/* Ascending, each one once. */
static void sort_values(struct knob *k)
{
	uint32_t kept = 0;

	qsort(k->values, k->n, sizeof(*k->values), compare_values);
	for (uint32_t i = 0; i < k->n; i++)
		if (!kept || k->values[i] != k->values[kept - 1])
			k->values[kept++] = k->values[i];
	k->n = kept;
}

static bool parse_values(struct knob *k, const char *range)
{
	char *text = strdup(range);
	bool list, good;

	if (!text)
		return false;
	list = strchr(text, ',') || !strchr(text + (*text == '-'), '-');
	good = *text && (list ? parse_list(k, text) : parse_range(k, text));
	free(text);
	if (!good || !k->n)
		return false;
	sort_values(k);
	return true;
}

/* ---- knobs ---- */

static bool is_wide(long first, long last)
{
	return first > 0 && last / WIDE >= first;
}

/* The command with this value. NULL: memory was short. */
static char *line_of(const struct knob *k, const char *value)
{
	const char *word = k->command;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (const char *at; (at = strstr(word, "{}")); word = at + 2)
		fprintf(out, "%.*s%s", (int)(at - word), word, value);
	fputs(word, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static bool add_lines(struct knob *k)
{
	bool failed;

	if (!k->command)
		return true;
	k->lines = calloc(k->n, sizeof(*k->lines));
	failed = !k->lines;
	for (uint32_t i = 0; !failed && i < k->n; i++) {
		k->lines[i] = line_of(k, k->names[i]);
		failed = !k->lines[i];
	}
	return !failed;
}

static bool name_values(struct knob *k)
{
	bool wide = is_wide(k->values[0], k->values[k->n - 1]);

	k->names = calloc(k->n, sizeof(*k->names));
	k->positions = calloc(k->n, sizeof(*k->positions));
	for (uint32_t i = 0; k->names && k->positions && i < k->n; i++) {
		k->positions[i] = wide ? log((double)k->values[i]) : (double)k->values[i];
		if (asprintf(&k->names[i], "%ld", k->values[i]) < 0) {
			k->names[i] = NULL;
			return false;
		}
	}
	return k->names && k->positions && add_lines(k);
}

static enum status choose_start(struct knob *k, const char *text, const char *start)
{
	int64_t wanted = k->way == QZ_REMEDY_NICE
				 ? 0
				 : k->values[k->way == QZ_REMEDY_AFFINITY ? k->n - 1 : 0];

	if (start && qz_options__integer(start, LEAST, MOST, &wanted))
		return refuse(text, "--start is no number");
	for (k->start = 0; k->start < k->n; k->start++)
		if (k->values[k->start] == wanted)
			return STATUS_OK;
	complain("--knob '%s': %ld, which it would start with, is not among its values; --start "
		 "names another one",
		 text, (long)wanted);
	return STATUS_USAGE;
}

static enum status check_limits(const struct knob *k, const char *text, const struct processors *on)
{
	long first = k->values[0], last = k->values[k->n - 1];

	if (k->way == QZ_REMEDY_AFFINITY && (first < 1 || last > (long)on->n)) {
		complain("--knob '%s': from 1 to %u processors can be used", text, on->n);
		return STATUS_USAGE;
	}
	if (k->way == QZ_REMEDY_NICE && (first < -20 || last > 19))
		return refuse(text, "nice is from -20 to 19");
	return STATUS_OK;
}

/* "NAME", "NAME:RANGE" or "NAME:RANGE:COMMAND". */
static enum status split(struct knob *k, const char *text, char range[64],
			 const struct processors *on)
{
	const char *colon = strchr(text, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
	int length = colon ? (int)((second ? second : colon + strlen(colon)) - colon - 1) : 0;

	k->name = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);
	if (!k->name)
		return out_of_memory();
	k->command = second ? second + 1 : NULL;
	k->way = !strcmp(k->name, "cpus") && !second   ? QZ_REMEDY_AFFINITY
		 : !strcmp(k->name, "nice") && !second ? QZ_REMEDY_NICE
						       : QZ_REMEDY_COMMAND;
	if (length >= 64)
		return refuse(text, "its range is too long");
	snprintf(range, 64, "%.*s", length, colon ? colon + 1 : "");
	if (k->way == QZ_REMEDY_AFFINITY && !colon)
		snprintf(range, 64, "1-%u", on->n < MOST_VALUES ? on->n : MOST_VALUES);
	if (k->way == QZ_REMEDY_NICE && !colon)
		strcpy(range, "-15,-10,-5,0");
	if (k->way == QZ_REMEDY_COMMAND && (!k->command || !strstr(k->command, "{}")))
		return refuse(text, "not NAME:RANGE:COMMAND with {} in COMMAND, nor cpus or nice");
	return STATUS_OK;
}

enum status knob__parse(struct knob *k, const char *text, const char *start,
			const struct processors *on)
{
	char range[64];
	enum status status;

	*k = (struct knob) {0};
	status = split(k, text, range, on);
	if (status != STATUS_OK)
		return status;
	k->values = calloc(MOST_VALUES, sizeof(*k->values));
	if (!k->values)
		return out_of_memory();
	if (!parse_values(k, range))
		return refuse(text, "its range is none of 1-8, 1-64/4 and 1,2,4,8, or has more "
				    "than 256 values");
	status = check_limits(k, text, on);
	if (status == STATUS_OK && !name_values(k))
		status = out_of_memory();
	return status == STATUS_OK ? choose_start(k, text, start) : status;
}

/* ---- of a process ---- */

/* The steps are as large as the range is wide, or as the values are high. */
static void add_grid(struct knob *k, const struct qz_knob *of)
{
	bool wide = is_wide(of->least, of->most);
	double ratio = log((double)of->most) - log((double)of->least);

	for (int i = 0; i < GRID; i++) {
		double part = (double)i / (GRID - 1);
		double at =
			wide ? exp(log((double)of->least) + part * ratio)
			     : (double)of->least + part * ((double)of->most - (double)of->least);
		double steps = floor((at - (double)of->least) / (double)of->step);

		add_value(k, of->least + (int64_t)steps * of->step);
	}
}

static enum status add_values(struct knob *k, const char *text, const char *range,
			      const struct qz_knob *of)
{
	uint64_t n = ((uint64_t)of->most - (uint64_t)of->least) / (uint64_t)of->step;

	if (of->least < LEAST || of->most > MOST)
		return refuse(text,
			      "it has values beyond a thousand million: too many to be tried");
	if (range && of->choices)
		return refuse(text, "a choice has no range: all that it can be is tried");
	if (range && !parse_values(k, range))
		return refuse(text, "its range is none of 1-8, 1-64/4 and 1,2,4,8, or has more "
				    "than 256 values");
	if (!range && n >= MOST_VALUES)
		add_grid(k, of);
	for (uint64_t i = 0; !range && n < MOST_VALUES && i <= n; i++)
		add_value(k, of->least + (int64_t)i * of->step);
	for (uint32_t i = 0; i < k->n; i++)
		if (!knob_page__allows(of, k->values[i])) {
			complain("--knob '%s': it cannot be %ld; 'quartzctl knobs' shows what is "
				 "allowed",
				 text, k->values[i]);
			return STATUS_USAGE;
		}
	k->values[k->n++] = of->value;
	sort_values(k);
	return STATUS_OK;
}

enum status knob__of_process(struct knob *k, const char *text, const char *range,
			     const struct qz_knob *of)
{
	enum status status;

	*k = (struct knob) {
		.way = QZ_REMEDY_KNOB, .name = strdup(of->name), .unordered = of->choices};
	k->values = calloc(MOST_VALUES + 1, sizeof(*k->values));
	if (!k->name || !k->values)
		return out_of_memory();
	status = add_values(k, text, range, of);
	if (status != STATUS_OK)
		return status;
	if (!name_values(k))
		return out_of_memory();
	for (uint32_t i = 0; i < k->n; i++) {
		if (k->values[i] == of->value)
			k->start = i;
		if (!of->choices)
			continue;
		free(k->names[i]);
		k->names[i] = strdup(of->choice[k->values[i]]);
		if (!k->names[i])
			return out_of_memory();
	}
	return STATUS_OK;
}

void knob__free(struct knob *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		free(k->names ? k->names[i] : NULL);
		free(k->lines ? k->lines[i] : NULL);
	}
	free(k->names);
	free(k->lines);
	free(k->positions);
	free(k->values);
	free(k->name);
	*k = (struct knob) {0};
}
