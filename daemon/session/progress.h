/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The progress of a recording that runs on a terminal for more than a second: time, samples, processors in use, and the
 * present activity, on the last line of the terminal.
 */
#ifndef QUARTZ_DAEMON_PROGRESS_H
#define QUARTZ_DAEMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/profile.h"
#include "core/util/status_line.h"

struct progress {
	bool wanted;
	int group; /* of processes, to be set while system calls are not restricted: getpgrp() */
	struct qz_status_line line;
	uint64_t began, due;
	uint64_t running_ns, window_ns; /* of all threads, and of the run, at the last update */
	double busy;			/* processors, since the time before; -1: not known */
	char subject[64];
	const char *doing;
};

/* `subject`, any bytes, is measured. Where stderr is no terminal with a cursor, or `quiet`, nothing will be shown. */
void progress__begin(struct progress *p, const char *subject, bool quiet, uint64_t now);

/* Whether it is time to be updated: never where nothing is shown, else about once a second. */
bool progress__is_due(const struct progress *p, uint64_t now);

/* Takes in how far the run is, and shows it. */
void progress__update(struct progress *p, const struct qz_profile *profile, uint64_t samples,
		      uint64_t now);

/* What is being done from now on, shown at once if there is a line. */
void progress__say(struct progress *p, const char *doing);

/* Takes the line away. */
void progress__end(struct progress *p);

#endif
