/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities: which of them each process of quartzd has, and how it gives up the others, for good.
 * The only file that does.
 */
#ifndef QUARTZ_DAEMON_PRIVILEGES_H
#define QUARTZ_DAEMON_PRIVILEGES_H

#include <stdbool.h>
#include <sys/capability.h>

extern const cap_value_t privileges_keeper[], privileges_opener[];
extern const int privileges_keeper_n, privileges_opener_n;

/*
 * Of what this process has, it has no more than these from now on, nor has what it starts or
 * executes; it cannot be traced nor dump core. Only while there is one thread. 0 or -errno.
 */
int privileges__keep(const cap_value_t *caps, int n);

/* What quartzd needs beyond BPF programs and perf events in one run. */
struct privileges_needs {
	bool signals;	     /* to processes of other users: of a command */
	bool priority;	     /* of threads that poll */
	const char *writing; /* a file that is to be made, or NULL */
};

/*
 * Gives up all but CAP_BPF, CAP_PERFMON and what is needed. Once in the life of quartzd: later
 * calls are without effect. Files that it makes can be given to the group of readers all the same.
 */
int privileges__give_up(const struct privileges_needs *needs);

#endif
