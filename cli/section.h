/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One scope as text. A section is what all parts of this text need; the parts are the summary, the
 * tables of procedures, objects and threads, and the views of one procedure or object.
 */
#ifndef QUARTZ_CLI_SECTION_H
#define QUARTZ_CLI_SECTION_H

#include <jansson.h>

#include "cli/columns.h"
#include "cli/names.h"
#include "core/waiting.h"

struct digits {
	char text[32];
};

struct section {
	const struct config *config;
	const struct output *out;
	const struct qz_report *report;
	const struct names *names;
	int decimals; /* of seconds */
};

/* Sets decimals: about five significant digits of the elapsed time. */
void section__init(struct section *s);

/* The verdict, the quality of the samples, and what was measured. 0 or -ENOMEM. */
int summary__print(const struct section *s);

/* Its lines on spinning and waiting. 0 or -ENOMEM. */
int waiting__print(const struct section *s);

/* 0 or -ENOMEM. */
int ranking__print(const struct section *s);
int procedure__print(const struct section *s, const struct qz_row *row);
int threads__print(const struct section *s);
int objects__print(const struct section *s);
int object__print(const struct section *s, const struct qz_object_row *row);
int woken__print(const struct section *s);
int together__print(const struct section *s);
int pairs__print(const struct section *s, uint32_t procedure);

/* Parts of the views of one procedure or object, which has no self. 0 or -ENOMEM. */
int bars__print(const struct section *s, const struct qz_figure *self,
		const struct qz_figure *total);
int states__print(const struct section *s, const struct qz_states *states);

/* The views of one scope for programs; NULL when memory ran out. */
json_t *procedure__json(const struct qz_report *r, const struct qz_row *row);
json_t *object__json(const struct qz_report *r, const struct qz_object_row *row);
json_t *objects__json(const struct qz_report *r, uint32_t max_rows);
json_t *states__json(const struct qz_report *r, const struct qz_states *states);
json_t *woken__json(const struct qz_report *r, uint32_t max_rows);
json_t *together__json(const struct qz_report *r, uint32_t max_rows);
json_t *pairs__json(const struct qz_report *r, uint32_t procedure, uint32_t max_rows);

/* What each scope of such a document begins with, and a procedure. */
json_t *scope__json(const struct qz_report *r);
json_t *procedure_name__json(const struct qz_profile *p, uint32_t procedure);

/* ---- rows ---- */

#define DEFAULT_ROWS 20

/* How many of n rows the user wants; where nothing is said, `standard` of them, 0 for all. */
uint32_t rows_wanted(const struct config *config, uint32_t standard, uint32_t n);

/* How many of n rows the user wants to see. */
uint32_t rows_shown(const struct section *s, uint32_t n);

/* The closing line: how many of n rows were left out, and how many samples were lost. */
void print_rest(const struct section *s, uint32_t n, uint32_t shown, const char *what);

/* ---- cells ---- */

void add_seconds(const struct section *s, struct columns *c, uint64_t ns);

/* In percent. From 5 % on it is grave, from 0.5 % on notable, as with perf. */
void add_part(struct columns *c, uint64_t part, uint64_t whole);

/* Likewise of the elapsed time. */
void add_percent(const struct section *s, struct columns *c, uint64_t ns);

/* How many processors were busy, on average. */
void add_parallelism(struct columns *c, const struct qz_figure *f);

/* A time of any size with its unit, as "1.25 ms", "-" for that of nothing. */
struct digits duration(double ns);

/* An object as it is shown, with how many words it stands for. For the caller to free, or NULL. */
char *format_object(const struct qz_report *r, uint32_t object);

/* Bars of at most BAR_WIDTH cells; the first `dark` of them stand for a part. */
#define BAR_WIDTH 44
void add_bar(const struct section *s, struct columns *c, int dark, int cells);

/* In cells, when widest takes all; what is not nothing is seen. */
int bar_cells(uint64_t ns, uint64_t widest);

/* ± or its replacement. */
const char *plus_minus(const struct output *out);

/* A count with its digits in groups of three. */
struct digits group_digits(uint64_t n);

/* part of whole in percent, "-" of nothing; only nothing is 0% and only all is 100%. */
struct digits share(uint64_t part, uint64_t whole);

#endif
