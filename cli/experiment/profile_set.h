/* SPDX-License-Identifier: GPL-2.0-only */
/* The profiles of the runs of one experiment, and their joint results. */
#ifndef QUARTZ_CLI_EXPERIMENT_PROFILE_SET_H
#define QUARTZ_CLI_EXPERIMENT_PROFILE_SET_H

#include "cli/query/view.h"
#include "core/scale/scale.h"

/*
 * A profile of processes that ran already does not know their processors, nor what they did meanwhile; its name does:
 * "on2-run1-rate1234.5.pb.gz".
 */
#define RATE_WORD "-rate"

/* The files of runs of another program, to compare with, have names that begin so. */
#define BASELINE_PREFIX "baseline"

struct profile_of_run {
	char *file;
	bool baseline;
	double rate;	     /* of events per second, of processes that ran already; 0: a command */
	uint32_t processors; /* of processes that ran already; 0: as in the profile */
	struct config config; /* of the view */
	struct view view;
};

struct profile_set {
	uint32_t n;
	struct profile_of_run *runs;
	struct qz_identities ids;
	struct qz_scale *scale; /* NULL until profile_set__decompose */
};

/* Adds a snapshot, or all of those in a directory, by name. */
enum status profile_set__add(struct profile_set *set, const struct config *config,
			     const char *path);

/* Of the runs that have been added. */
enum status profile_set__decompose(struct profile_set *set);

/* The command line on the most processors, "" where it is not known. Borrowed. */
const char *profile_set__command(const struct profile_set *set);

/* Events per second by numbers of processors, as a line; NULL: they were not counted, or memory was short. To be freed. */
char *profile_set__rates(const struct profile_set *set);

/* Says which runs have no samples, and gives STATUS_NO_SAMPLES then. */
enum status profile_set__check_samples(const struct profile_set *set);

void profile_set__free(struct profile_set *set);

#endif
