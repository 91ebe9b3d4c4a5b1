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
	uint64_t limit_ns;    /* it is ended then */
};

enum timed_outcome {
	TIMED_DONE,
	TIMED_FAILED,	   /* `status`: as a shell has it */
	TIMED_TOO_LONG,	   /* ended at the limit */
	TIMED_INTERRUPTED, /* `status` - 128 is the signal that this process got */
};

/*
 * Runs it as a group of its own, which is ended as a whole. Its input is empty, its output is discarded.
 * Between trial__watch and trial__unwatch: signals end the run.
 */
enum timed_outcome timed_run__do(const struct timed_run *r, uint64_t *elapsed_ns, int *status);

#endif
