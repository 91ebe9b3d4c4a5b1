/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of a command that is measured by how long it takes, without quartzd and without privileges. */
#ifndef QUARTZ_CLI_EXPERIMENT_TIMED_RUN_H
#define QUARTZ_CLI_EXPERIMENT_TIMED_RUN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct timed_run {
	char *const *command; /* NULL-terminated */
	const char *user;     /* whom it is run as, of programs__user */
	const cpu_set_t *on;  /* NULL: on all that this process may use */
	int nice;	      /* added to that of this process */
	bool batch;	      /* by SCHED_BATCH */
	/* "NAME=VALUE", NULL-terminated; NULL: it has the environment of this process. */
	char *const *variables;
	const int *output; /* a descriptor for what it prints; NULL: that is discarded */
	bool quiet;	   /* what it says on standard error is discarded, too */
	const int *input;  /* a descriptor that it reads; NULL: */
	bool with_input; /* this process's, from the beginning, if that is a file; else its input is empty */
	uint64_t limit_ns; /* it is ended then */
};

struct timed_result {
	uint64_t elapsed_ns;
	uint64_t cpu_ns; /* of all that it has waited for */
	uint64_t
		peak_kib; /* of its largest process; 0: no more than this one has, which it is a copy of at first */
	int status; /* as a shell has it */
};

enum timed_outcome {
	TIMED_DONE,
	TIMED_FAILED,	   /* `status` is not 0 */
	TIMED_TOO_LONG,	   /* ended at the limit */
	TIMED_INTERRUPTED, /* `status` - 128 is the signal that this process got */
};

/*
 * Runs it as a group of its own, which is ended as a whole. Between trial__watch and trial__unwatch: signals end the run.
 */
enum timed_outcome timed_run__do(const struct timed_run *r, struct timed_result *result);

#endif
