/* SPDX-License-Identifier: GPL-2.0-only */
/* --time and --window: which part of a run is shown. */
#ifndef QUARTZ_CLI_INTERVAL_H
#define QUARTZ_CLI_INTERVAL_H

#include <stdio.h>

#include "cli/cli.h"
#include "core/model/profile.h"

struct interval {
	uint64_t from, until; /* ns, or millionths of the run */
	bool from_percent, until_percent;
};

/* NULL: all of the run. */
enum status interval__parse(const char *text, struct interval *interval);

/* Sets the interval to that of the load (--window). */
enum status interval__of_load(const struct qz_profile *p, struct interval *interval);

/* Puts the part in the place of a profile. Other than STATUS_OK: *profile is as it was or NULL. */
enum status interval__restrict(const struct interval *interval, struct qz_profile **profile);

/* Says why there is no timeline that an option could be taken by. */
enum status interval__complain(const char *option, const struct qz_profile *p);

/* The line that says which part a profile is, and how wide the slots were; nothing for all of a run. */
void interval__print(FILE *out, const struct qz_profile *p);

#endif
