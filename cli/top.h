/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top: what stands in its tables, without the terminal. Figures are those of the time between the last two
 * snapshots of quartzd, the first ones those since it began.
 */
#ifndef QUARTZ_CLI_TOP_H
#define QUARTZ_CLI_TOP_H

#include "cli/cli.h"
#include "core/processes.h"
#include "core/report.h"

#define TOP_REASON 256

enum top_view { TOP_PROCESSES, TOP_PROCEDURES, TOP_OBJECTS, TOP_HELP };

struct top {
	struct qz_profile *whole; /* the last snapshot */
	struct qz_profile *added; /* to it, since the one before */
	struct qz_processes processes;
	struct qz_report *report; /* of the scope that is looked into, NULL: it is gone */
	enum qz_process_group by;
	enum qz_process_order order;
	enum top_view view;
	/* the scope that is looked into, in whatever snapshot */
	uint32_t kind;
	int32_t pid;
	uint64_t start_ns;
	char reason[TOP_REASON]; /* why there is nothing new, "" otherwise */
};

void top__free(struct top *t);

/* Asks quartzd anew. 0; -errno as live.h gives it, or -EBADMSG, with the reason. */
int top__refresh(struct top *t);

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
