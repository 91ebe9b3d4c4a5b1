/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities: which ones each process of quartzd has, and how it gives up the others for good. No other file changes
 * capabilities.
 */
#ifndef QUARTZ_DAEMON_CAPABILITIES_H
#define QUARTZ_DAEMON_CAPABILITIES_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/privsep/seccomp.h"

/*
 * Makes this process a helper: its name, no more capabilities and system calls than its job needs, nor has
 * what it starts or executes; it cannot be traced nor dump core. It ends with the process `parent` that has
 * started it. Only while there is one thread. 0 or -errno.
 */
int capabilities__become(enum helper_job job, pid_t parent);

/* Whether root as any other user can make files in a directory; its name is as for openat. */
bool capabilities__may_write(int at, const char *directory);

/* What quartzd needs beyond BPF programs and perf events in one run. */
struct capabilities_needs {
	bool signals;  /* to processes of other users: of a command */
	bool priority; /* of threads that poll */
	bool foreign;  /* files are to be made where root, as a user like others, may not */
	bool giving;   /* files are to be given to another user */
};

/*
 * Gives up all but CAP_BPF, CAP_PERFMON and what is needed. Once in the life of quartzd: later
 * calls are without effect. Files that it makes can be given to the group of readers all the same.
 */
int capabilities__give_up(const struct capabilities_needs *needs);

#endif
