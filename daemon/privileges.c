// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/filter.h"
#include "daemon/paths.h"
#include "daemon/privileges.h"

/* /proc/PID of all users, whose directories fd and map_files are for the user alone. */
#define OPENER CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE

const cap_value_t privileges_opener[] = {OPENER};
const int privileges_opener_n = sizeof(privileges_opener) / sizeof(privileges_opener[0]);

/*
 * What openers have, and symbolizers need to give everything up, the right to end both, and, where the
 * kernel wants that for perf events, the last one.
 */
const cap_value_t privileges_keeper[] = {OPENER,      CAP_SETUID, CAP_SETGID,
					 CAP_SETPCAP, CAP_KILL,	  CAP_SYS_ADMIN};
const int privileges_keeper_n = sizeof(privileges_keeper) / sizeof(privileges_keeper[0]);

static bool is_among(cap_value_t cap, const cap_value_t *caps, int n)
{
	for (int i = 0; i < n; i++)
		if (caps[i] == cap)
			return true;
	return false;
}

/* Without CAP_SETPCAP the bounding set stays: with PR_SET_NO_NEW_PRIVS nothing comes of it. */
static void bound(const cap_value_t *caps, int n)
{
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (!is_among(cap, caps, n))
			cap_drop_bound(cap);
}

int privileges__keep(const cap_value_t *caps, int n)
{
	cap_t before = cap_get_proc(), after = cap_init();
	cap_flag_value_t value;
	int err = before && after ? 0 : -ENOMEM;

	for (int i = 0; i < n && !err; i++) {
		if (cap_get_flag(before, caps[i], CAP_PERMITTED, &value) || value != CAP_SET)
			continue;
		if (cap_set_flag(after, CAP_PERMITTED, 1, &caps[i], CAP_SET) ||
		    cap_set_flag(after, CAP_EFFECTIVE, 1, &caps[i], CAP_SET))
			err = -errno;
	}
	if (!err) {
		bound(caps, n);
		if (cap_set_proc(after) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
			err = -errno;
	}
	cap_free(before);
	cap_free(after);
	return err;
}

/* ---- quartzd ---- */

/* Whether root as any other owner of files can make one there. */
static bool is_writable(const char *path)
{
	static const cap_value_t overrides[] = {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH};
	cap_t before = cap_get_proc(), without = cap_dup(before);
	char copy[PATH_MAX];
	bool writable;

	snprintf(copy, sizeof(copy), "%s", path);
	cap_set_flag(without, CAP_EFFECTIVE, 2, overrides, CAP_CLEAR);
	cap_set_proc(without);
	writable = !faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS);
	cap_set_proc(before);
	cap_free(before);
	cap_free(without);
	return writable;
}

/* The rings of perf events are charged to it when there is no CAP_IPC_LOCK. */
static void raise_memory_limit(void)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	if (!setrlimit(RLIMIT_MEMLOCK, &limit) || getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_MEMLOCK, &limit);
}

int privileges__give_up(const struct privileges_needs *needs)
{
	static bool done;
	cap_value_t caps[5] = {CAP_BPF, CAP_PERFMON};
	gid_t group = paths__group();
	int n = 2, err;

	if (done)
		return 0;
	raise_memory_limit();
	if (needs->signals)
		caps[n++] = CAP_KILL;
	if (needs->priority)
		caps[n++] = CAP_SYS_NICE;
	if (needs->writing && !is_writable(needs->writing))
		caps[n++] = CAP_DAC_OVERRIDE;
	/* else what it makes could not be given to that group later */
	setgroups(1, &group);
	prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED);
	err = privileges__keep(caps, n);
	err = err ?: filter__quartzd();
	done = !err;
	return err;
}
