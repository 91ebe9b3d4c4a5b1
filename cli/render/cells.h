/* SPDX-License-Identifier: GPL-2.0-only */
/* What tables and sentences of a scope are made of: times, shares, intervals, bars and closing lines. */
#ifndef QUARTZ_CLI_CELLS_H
#define QUARTZ_CLI_CELLS_H

#include "cli/render/scope_view.h"

struct digits {
	char text[32];
};

/* ---- rows ---- */

#define DEFAULT_ROWS 20

/* How many of n rows the user wants; where nothing is said, `standard` of them, 0 for all. */
uint32_t cells__rows_wanted(const struct config *config, uint32_t standard, uint32_t n);

/* How many of n rows the user wants to see. */
uint32_t cells__rows_shown(const struct scope_view *s, uint32_t n);

/*
 * The closing line: how many of n rows were left out, and how many samples were lost. Another one where figures
 * of the table have been marked.
 */
void cells__print_rest(const struct scope_view *s, uint32_t n, uint32_t shown, const char *what);

/* ---- cells ---- */

/* Of seconds: about five significant digits of the elapsed time. */
int cells__decimals(const struct qz_report *r);

void cells__add_seconds(const struct scope_view *s, struct text_table *table, uint64_t ns);

/* Time blocked, of idle threads too or only of the others, to as many digits as are known of it. */
void cells__add_blocked(const struct scope_view *s, struct text_table *table,
			const struct qz_wait_figure *f, bool idle_too);

/* Half the width of the interval of time blocked and ready, empty where it is exact. */
void cells__add_wait_interval(const struct scope_view *s, struct text_table *table,
			      const struct qz_wait_figure *f);

/* From 5 % on grave, from 0.5 % on notable, as with perf. */
enum emphasis cells__emphasis(double percent);

/* In percent. */
void cells__add_part(struct text_table *table, uint64_t part, uint64_t whole);

/* In percent of the elapsed time. */
void cells__add_percent(const struct scope_view *s, struct text_table *table, uint64_t ns);

/* Normalized time in seconds and in percent of the elapsed time, and half of its interval. */
void cells__add_norm(const struct scope_view *s, struct text_table *table,
		     const struct qz_figure *f);
void cells__add_interval(const struct scope_view *s, struct text_table *table,
			 const struct qz_figure *f);

/* A part of it, which is no more certain than all of it. */
void cells__add_norm_part(const struct scope_view *s, struct text_table *table, uint64_t ns,
			  const struct qz_figure *f);
void cells__add_norm_percent(const struct scope_view *s, struct text_table *table, uint64_t ns,
			     const struct qz_figure *f);

/* Processor time of a figure, and the part of it that was spun. */
void cells__add_cpu(const struct scope_view *s, struct text_table *table,
		    const struct qz_figure *f);
void cells__add_spun(const struct scope_view *s, struct text_table *table,
		     const struct qz_figure *f);

/* "6.82 s (88%) ± 0.04 s" */
void cells__print_norm(const struct scope_view *s, const struct qz_figure *f);

/* How many processors were busy, on average. */
void cells__add_parallelism(struct text_table *table, const struct qz_figure *f);

/* A time of any size with its unit, as "1.25 ms", "-" for that of nothing. */
struct digits cells__duration(double ns);

/*
 * An object as it is shown, with how many words it stands for, and in the machine's tables whose it is. For the
 * caller to free, or NULL.
 */
char *cells__object(const struct qz_report *r, uint32_t object);

/* Bars of at most BAR_WIDTH cells; the first `dark` of them stand for a part. */
#define BAR_WIDTH 44
void cells__add_bar(const struct scope_view *s, struct text_table *table, int dark, int cells);

/* In cells, when widest takes all; what is not nothing is seen. */
int cells__of_bar(uint64_t ns, uint64_t widest);

/* ± or its replacement. */
const char *cells__plus_minus(const struct output *out);

/* A count with its digits in groups of three. */
struct digits cells__count(uint64_t n);

/* part of whole in percent, "-" of nothing; only nothing is 0% and only all is 100%. */
struct digits cells__share(uint64_t part, uint64_t whole);

/* ---- estimates: no more digits than they are good for ---- */

/* Before a figure that rests on fewer than QZ_FEW_SAMPLES. */
#define ROUGH_MARK "~"

/* What the mark means. */
void cells__print_rough(FILE *out);

/* An estimate. */
struct estimate {
	double value,
		ci; /* in the unit that is shown; ci is half of its 95 % interval, 0: it is exact */
	int decimals; /* at most */
	bool rough;
};

/* Down to the first digit that ci leaves in doubt. */
int cells__digits(double ci, int most);

/*
 * A cell with that, in a column of `decimals` with aligned decimal points. An estimate of nothing is 0
 * without digits.
 */
void cells__add_estimate(struct text_table *table, enum emphasis emphasis,
			 const struct estimate *e);

#endif
