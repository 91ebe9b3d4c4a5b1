/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/comparison/limits.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Figures of a scope, by the word for them. */
static const struct figure {
	const char *word, *name;
	size_t change; /* of struct qz_comparison */
} figures[] = {
	{"elapsed", "the elapsed time", offsetof(struct qz_comparison, elapsed)},
	{"cpu", "the CPU time", offsetof(struct qz_comparison, cpu)},
	{"serial", "the time in which only one CPU worked", offsetof(struct qz_comparison, serial)},
};

static bool is_subject(const struct growth_limit *limit, const char *name)
{
	return (size_t)limit->subject_length == strlen(name) &&
	       !memcmp(limit->subject, name, limit->subject_length);
}

static const struct figure *find_figure(const struct growth_limit *limit)
{
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		if (is_subject(limit, figures[i].word))
			return &figures[i];
	return NULL;
}

/* ---- parsing ---- */

/* -EINVAL, -ERANGE or -ENOMEM. */
static int parse_most(const char *text, struct growth_limit *limit)
{
	size_t length = strlen(text);
	uint64_t ns;
	int64_t ppm;
	char *number;
	int err;

	limit->relative = length && text[length - 1] == '%';
	if (!limit->relative) {
		/* "5" may be meant as either */
		if (!length || !isalpha((unsigned char)text[length - 1]))
			return -EINVAL;
		err = qz_options__duration(text, 0, INT64_MAX, &ns);
		limit->most = err ? 0 : (double)ns;
		return err;
	}
	number = strndup(text, length - 1);
	if (!number)
		return -ENOMEM;
	err = qz_options__percent(number, 0, 1000000000, &ppm);
	limit->most = err ? 0 : (double)ppm / 1e6;
	free(number);
	return err;
}

enum status limits__parse(const char *text, struct growth_limit *limit)
{
	const char *colon = strrchr(text, ':'); /* names have colons, too */
	int err;

	*limit = (struct growth_limit) {.text = text, .subject = "elapsed", .subject_length = 7};
	if (colon) {
		limit->subject = text;
		limit->subject_length = (int)(colon - text);
	}
	err = parse_most(colon ? colon + 1 : text, limit);
	if (err == -ENOMEM)
		return out_of_memory();
	if (!err && limit->subject_length)
		return STATUS_OK;
	complain("--fail-above: '%s' is neither a percentage, as 5%%, nor a time with its unit, as "
		 "200ms; 'cpu:', 'serial:' or 'PROCEDURE:' before it says what of",
		 text);
	return STATUS_USAGE;
}

/* ---- checking ---- */

static void complain_grown(const struct growth_limit *limit, const struct compared_scope *s,
			   const char *what, const struct qz_change *c)
{
	const struct qz_run *run = s->after[0];
	char *comm = output__escape(run->comm), within[64] = "in one run each";

	if (s->comparison->nbefore + s->comparison->nafter > 2)
		snprintf(within, sizeof(within), "+- %.3f s", c->ci / 1e9);
	else if (c->ci > 0)
		snprintf(within, sizeof(within), "+- %.3f s in one run each", c->ci / 1e9);
	complain("%s: %s grew from %.3f to %.3f s, by %.3f s %s, which is above %s",
		 comm ? comm : "?", what, c->before / 1e9, c->after / 1e9, qz_change__of(c) / 1e9,
		 within, limit->text);
	free(comm);
}

/* Whether the whole interval of the growth lies above the limit; says so then. */
static bool check_change(const struct growth_limit *limit, const struct compared_scope *s,
			 const char *what, const struct qz_change *c)
{
	double most = limit->relative ? limit->most * c->before : limit->most;
	bool above = qz_change__of(c) - c->ci > most;

	if (above)
		complain_grown(limit, s, what, c);
	return above;
}

/* Of rows by their names, with or without the module's. Returns whether one is above; `found`: there is one. */
static bool check_rows(const struct growth_limit *limit, const struct compared_scope *s,
		       bool *found)
{
	bool above = false;

	for (uint32_t i = 0; i < s->comparison->n; i++) {
		const struct qz_compared *row = &s->comparison->rows[i];
		struct qz_identity id = qz_identities__get(s->ids, row->identity);
		char *full = NULL, *shown;

		if (asprintf(&full, "%.*s:%s", id.module_length, id.module, id.name) < 0)
			continue;
		if (is_subject(limit, id.name) || is_subject(limit, full)) {
			*found = true;
			shown = output__escape(id.name);
			above |= check_change(limit, s, shown ? shown : "?", &row->total);
			free(shown);
		}
		free(full);
	}
	return above;
}

enum status limits__check(const struct growth_limit *limit, const struct compared_scope *scopes,
			  uint32_t n)
{
	const struct figure *figure = find_figure(limit);
	bool above = false, found = figure;

	for (uint32_t i = 0; i < n; i++) {
		const char *c = (const char *)scopes[i].comparison;

		if (figure)
			above |= check_change(limit, &scopes[i], figure->name,
					      (const struct qz_change *)(c + figure->change));
		else
			above |= check_rows(limit, &scopes[i], &found);
	}
	if (found)
		return above ? STATUS_SLOWER : STATUS_OK;
	complain(
		"--fail-above: no row '%.*s' in what is compared; 'quartzctl diff -n 0' lists them",
		limit->subject_length, limit->subject);
	return STATUS_FAILURE;
}
