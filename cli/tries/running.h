/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Running processes in which something is changed for a while: how they are scheduled, a knob of
 * libquartz, or what a command of the user sets. Their work is counted meanwhile. All is put back
 * at the end, at once if it does harm, and, by a guard process, also if this process is killed. A
 * command may restart a systemd unit, whose processes are new ones then.
 */
#ifndef QUARTZ_CLI_RUNNING_H
#define QUARTZ_CLI_RUNNING_H

#include "cli/experiment/guard.h"
#include "cli/experiment/programs.h"
#include "cli/experiment/scheduling.h"
#include "cli/experiment/sends.h"
#include "cli/knobs/knob_page.h"

/* If the processes do less than this share of the usual work, all is put back at once. */
#define RUNNING_WORST 0.5

enum running_measure {
	RUNNING_COMMAND, /* a command of the user counts (--events) */
	RUNNING_EVENTS,	 /* quartz_event() of libquartz */
	RUNNING_SENDS,	 /* bytes sent to clients */
};

/* Work done in a time, and the processor time of the processes meanwhile. */
struct running_figures {
	double events, seconds, cpu_seconds;
};

/* In memory shared with the guard. */
struct running_state {
	bool changed[QZ_REMEDIES_MOST]; /* indexed by remedy: in force */
	struct programs_mark mark;
};

struct running {
	struct runs *runs;
	const char *unit;		/* NULL: not given */
	struct qz_integers roots, pids; /* pids: roots and their descendants */
	int process;			/* pidfd of the first root */
	char *comm;			/* of the first root, escaped */
	struct scheduling before;
	struct knob_page page;
	bool has_page;
	enum running_measure by;
	struct sends sends;
	double events; /* RUNNING_EVENTS: count so far */
	uint32_t last_events;
	uint64_t duration_ns;
	double usual; /* events per second in the last measurement without a change; 0: none yet */
	bool restarted; /* since the last measurement */
	const struct qz_remedies *remedies;
	volatile struct running_state *state;
	struct guard guard;
};

/*
 * Finds the processes of runs->config->pid, or of the unit. They must be the caller's own, unless
 * the caller is root. Close it in any case; that puts all back.
 */
enum status running__open(struct running *r, struct runs *runs, const char *unit);
void running__close(struct running *r);

/* Finds out which measure counts work of these processes. */
enum status running__choose(struct running *r);

/* A description of the measure, "bytes sent to clients", and its name in JSON. */
const char *running__events_name(const struct running *r);
const char *running__measure_name(const struct running *r);

/*
 * Sets the remedies that will be tried, which must stay valid until running__close(), and starts
 * the guard.
 */
enum status running__protect(struct running *r, const struct qz_remedies *remedies);

/*
 * Puts back all changes but these n, at most RUNS_CHANGES, makes those of them that are missing,
 * and counts for a while. RUN_SLOW: the processes did so little that all was put back at once; the
 * figures are of the time until then.
 */
enum run_outcome running__measure(struct running *r, const struct qz_remedy_use *const *uses,
				  uint32_t n, struct running_figures *figures, char why[RUNS_WHY]);

/* Makes this change, and does not put it back. Other than RUN_DONE: as of running__measure(). */
enum run_outcome running__keep(struct running *r, const struct qz_remedy_use *use,
			       char why[RUNS_WHY]);

/* Duration of running__measure(). */
uint64_t running__measure_ns(const struct running *r);

#endif
