/* SPDX-License-Identifier: GPL-2.0-only */
/* One measured run: a private quartzd runs a command, or measures processes for a while, and saves the profile. */
#ifndef QUARTZ_CLI_EXPERIMENT_TRIAL_H
#define QUARTZ_CLI_EXPERIMENT_TRIAL_H

#include <sys/types.h>

#include "cli/cli.h"
#include "cli/experiment/processors.h"

struct trial {
	const struct processors *on;
	uint32_t processors;  /* so many of them; OMP_NUM_THREADS is set to this */
	char *const *command; /* "{P}" in its words stands for the number */
	const char *file;     /* for the profile */
	/* Instead of a command: these processes, for so long. */
	const struct qz_integers *pids;
	bool trees; /* with their children */
	uint64_t duration_ns;
	void (*tick)(void *context); /* is called some times a second meanwhile; NULL: nothing is */
	void *context;
	const char *user; /* NULL: this one */
	int64_t rate;	  /* 0: the default */
};

enum trial_outcome {
	TRIAL_DONE,
	TRIAL_FAILED, /* the command ended with `status` */
	TRIAL_NOT_STARTED, /* nothing was measured, and the error was printed; `status` is to be passed on */
	TRIAL_INTERRUPTED, /* by `status` - 128 */
};

/* Interrupts end the run, not this program, from here to trial__unwatch. */
void trial__watch(void);
void trial__unwatch(void);

/* A signal that was taken by now, or 0. */
int trial__signal(void);

/* Waits so long. False: a signal came. */
bool trial__pass(uint64_t ns);

enum trial_outcome trial__run(const struct trial *t, int *status);

/*
 * Waits for the end of a quartzd that was forked between trial__watch and trial__unwatch, and passes on signals that come. Its status, as a
 * shell has it. `t`: whose tick is called meanwhile, NULL: none is.
 */
int trial__await(pid_t pid, const struct trial *t);

#endif
