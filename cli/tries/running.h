/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that run, with something changed for a while: how they are scheduled, a knob of libquartz, what a command of the user sets.
 * What they do meanwhile is counted. All is put back at the end, at once if it does harm, and also if this process is killed, by a
 * process that outlives it. Commands may start a systemd unit anew, whose processes are others then.
 */
#ifndef QUARTZ_CLI_RUNNING_H
#define QUARTZ_CLI_RUNNING_H

#include "cli/experiment/guard.h"
#include "cli/experiment/scheduling.h"
#include "cli/experiment/sends.h"
#include "cli/knobs/knob_page.h"

/* Who does less than this part of what is usual is put back at once. */
#define RUNNING_WORST 0.5

enum running_measure {
	RUNNING_COMMAND, /* --events tells */
	RUNNING_EVENTS,	 /* of libquartz */
	RUNNING_SENDS,	 /* bytes to clients */
};

/* What was done in a time, and how much processor time of the processes that took. */
struct running_figures {
	double events, seconds, cpu_seconds;
};

/* In memory that the guard has, too. */
struct running_state {
	bool changed[QZ_REMEDIES_MOST]; /* by which remedies */
	pid_t command;			/* that changes something now; 0: none does */
};

struct running {
	struct runs *runs;
	const char *unit;		/* of which they are; NULL: not given */
	struct qz_integers roots, pids; /* and what descends from them */
	int process;			/* a pidfd of the first one */
	char *comm;			/* escaped */
	struct scheduling before;
	struct knob_page page;
	bool has_page;
	enum running_measure by;
	struct sends sends;
	double events; /* of RUNNING_EVENTS, so far */
	uint32_t last_events;
	uint64_t duration_ns;
	double usual; /* events in a second, by the last measurement without a change; 0: none yet */
	bool restarted; /* since it was measured last */
	const struct qz_remedies *remedies;
	volatile struct running_state *state;
	struct guard guard;
};

/*
 * Those of runs->config->pid, or of the unit, which must be the caller's own, unless this is root. To be closed in any case, which puts
 * all back.
 */
enum status running__open(struct running *r, struct runs *runs, const char *unit);
void running__close(struct running *r);

/* Finds out what can be counted. */
enum status running__choose(struct running *r);

/* "bytes sent to clients", and so on; and a word for it. */
const char *running__events_name(const struct running *r);
const char *running__measure_name(const struct running *r);

/* The remedies that will be tried, valid until running__close. From now on the guard watches. */
enum status running__protect(struct running *r, const struct qz_remedies *remedies);

/*
 * Puts back what these, n at most RUNS_CHANGES, do not change, changes what they do, and counts for a while. RUN_SLOW: so much less was
 * done than without that all was put back at once; the figures are of that time.
 */
enum run_outcome running__measure(struct running *r, const struct qz_remedy_use *const *uses,
				  uint32_t n, struct running_figures *figures, char why[RUNS_WHY]);

/* How long running__measure takes. */
uint64_t running__measure_ns(const struct running *r);

#endif
