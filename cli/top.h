/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top: what stands in its tables, without the terminal. Figures are those of the time between the last two
 * snapshots of quartzd; the first ones, and the first ones after another process is looked into, those since it
 * began.
 */
#ifndef QUARTZ_CLI_TOP_H
#define QUARTZ_CLI_TOP_H

#include "cli/cli.h"
#include "core/processes.h"
#include "core/report.h"

#define TOP_REASON 256

enum top_view { TOP_PROCESSES, TOP_PROCEDURES, TOP_OBJECTS, TOP_HELP };

/* The process that is looked into: of it, quartzd is asked for all. */
struct top_focus {
	bool set;
	uint32_t kind;
	int32_t pid;
	uint64_t start_ns;
};

/* An answer of quartzd. */
struct top_news {
	struct qz_profile *whole, *added; /* NULL: there is none */
	struct top_focus focus;
	int err;
	char reason[TOP_REASON];
};

struct top {
	struct qz_profile *whole; /* the last snapshot */
	struct qz_profile *added; /* to it, since the one before */
	struct qz_processes processes;
	struct qz_report *report; /* of the scope that is looked into, NULL: it is gone */
	enum qz_process_group by;
	enum qz_process_order order;
	enum top_view view;
	struct top_focus focus;
	struct top_focus asked;	 /* with which the last snapshot was asked for */
	char reason[TOP_REASON]; /* why there is nothing new, "" otherwise */
};

void top__free(struct top *t);

/*
 * Asks quartzd anew; *news is for top__take. Reads *t alone, and of that nothing that keys change but the focus,
 * which is given. One at a time.
 */
void top__ask(const struct top *t, struct top_focus focus, struct top_news *news);

/*
 * Shows what it has answered from now on. 0; -errno as live.h gives it, or -EBADMSG, with the reason: then
 * all stays.
 */
int top__take(struct top *t, struct top_news *news);

/* Whether the snapshot has not got what is to be shown. */
bool top__lacks(const struct top *t);

/* Makes the tables again, after a key. 0 or -ENOMEM. */
int top__arrange(struct top *t);

/* Looks into the process of a row of the processes. False: a row that stands for several. */
bool top__enter(struct top *t, uint32_t row);

/* The rows of the view, and its heads; lines are of printable characters, for the caller to free. */
uint32_t top__rows(const struct top *t);
const char *top__head(const struct top *t);
char *top__line(const struct top *t, uint32_t row);

/* What stands above the table, of two lines, the second one about what is shown. */
char *top__summary(const struct top *t);
char *top__title(const struct top *t);

#endif
