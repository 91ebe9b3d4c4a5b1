/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contents of top, without the terminal. Figures are those of the time between the last two
 * snapshots of quartzd. The first ones, and the first ones after another process is opened, are
 * those since quartzd began to measure.
 */
#ifndef QUARTZ_CLI_TOP_H
#define QUARTZ_CLI_TOP_H

#include <limits.h>

#include "cli/cli.h"
#include "core/advise/advise.h"
#include "core/report/process_table.h"
#include "core/report/report.h"

#define TOP_REASON (PATH_MAX + 256)

enum top_view { TOP_PROCESSES, TOP_PROCEDURES, TOP_OBJECTS, TOP_HELP };

/* The opened process, of which quartzd is asked for everything. */
struct top_focus {
	bool set;
	uint32_t kind;
	int32_t pid;
	uint64_t start_ns;
	char comm[64];
};

/* An answer of quartzd. */
struct top_news {
	struct qz_profile *whole, *added; /* or NULL */
	struct top_focus focus;
	int err;
	char reason[TOP_REASON];
};

struct top {
	struct qz_profile *whole; /* the last snapshot */
	struct qz_profile *added; /* the difference to the previous one */
	struct qz_process_table processes;
	/*
	 * Of the opened process: since quartzd began to measure it, if that is wanted, or where the last interval has too few
	 * samples of it, or it has ended; else of the last interval. NULL: nothing is known of it any more.
	 */
	struct qz_report *report;
	struct qz_advice *advice; /* about the report */
	char scope[24];		  /* of the advice's commands */
	enum qz_process_group by;
	enum qz_process_order order;
	enum top_view view;
	bool wants_whole;
	struct top_focus focus;
	struct top_focus asked;	 /* focus of the last request */
	int name_width;		 /* of the column of process names */
	char reason[TOP_REASON]; /* why there is nothing new, else "" */
};

void top__free(struct top *t);

/*
 * Requests a snapshot from quartzd; *news is for top__take. Reads from *t only what keys do not
 * change; the focus is a parameter. May run in another thread, one at a time.
 */
void top__ask(const struct top *t, struct top_focus focus, struct top_news *news);

/*
 * Uses the answer from now on. 0; or -errno as of live.h, or -EBADMSG, with the reason, and nothing
 * changes.
 */
int top__take(struct top *t, struct top_news *news);

/* Whether the snapshot lacks what is to be shown. */
bool top__lacks(const struct top *t);

/* Computes the tables again, after a key. 0 or -ENOMEM. */
int top__arrange(struct top *t);

/* Opens the process of a row. False: the row stands for several processes. */
bool top__enter(struct top *t, uint32_t row);

/* Sets the number of columns of the screen. */
void top__fit(struct top *t, int width);

/* Rows of the view, and its head, in printable characters. The caller frees the lines. */
uint32_t top__rows(const struct top *t);
char *top__head(const struct top *t);
char *top__line(const struct top *t, uint32_t row);

/* The three lines above the table; the second describes the view, the third the samples. */
char *top__summary(const struct top *t);
char *top__title(const struct top *t);
char *top__quality(const struct top *t);

/* Lines about what limits the opened process, or NULL. The caller frees them. */
char *top__advice(const struct top *t, int width);

#endif
