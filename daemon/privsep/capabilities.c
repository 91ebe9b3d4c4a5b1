// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/privsep/capabilities.h"
#include "daemon/privsep/sample_event.h"
#include "daemon/util/paths.h"

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

/* No more than these, of what it has. */
static int keep(const cap_value_t *caps, int n)
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

/* ---- helpers ---- */

/* /proc/PID of all users, whose directories fd and map_files are for the user alone. */
#define OPENER CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE

static const struct job {
	const char *name;
	int n;
	cap_value_t caps[8];
} jobs[] = {
	/*
	 * What openers have, and symbolizers need to give everything up, the right to end both, and the last
	 * one for perf events alone.
	 */
	[JOB_KEEPER] = {"quartzd-keeper",
			8,
			{OPENER, CAP_SETUID, CAP_SETGID, CAP_SETPCAP, CAP_KILL, CAP_SYS_ADMIN}},
	[JOB_OPENER] = {"quartzd-opener", 3, {OPENER}},
	[JOB_WAKER] = {"quartzd-waker", 3, {OPENER}},
};

/* Neither the terminal's signals nor the service manager's are for it. */
int capabilities__become(enum helper_job job, pid_t parent)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	const struct job *j = &jobs[job];
	bool less = job == JOB_KEEPER && !sample_event__wants_admin();
	int err;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, j->name);
	err = keep(j->caps, j->n - less);
	if (err || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return err ?: -errno;
	return getppid() == parent ? seccomp__confine(job) : -ESRCH;
}

/* ---- quartzd ---- */

bool capabilities__may_write(int at, const char *directory)
{
	static const cap_value_t overrides[] = {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH};
	cap_t before = cap_get_proc(), without = cap_dup(before);
	bool writable;

	cap_set_flag(without, CAP_EFFECTIVE, 2, overrides, CAP_CLEAR);
	cap_set_proc(without);
	writable = !faccessat(at, directory, W_OK | X_OK, AT_EACCESS);
	cap_set_proc(before);
	cap_free(before);
	cap_free(without);
	return writable;
}

/*
 * What nothing is started with that is not quartzd's own. The rings of perf events are charged to the memory limit when
 * there is no CAP_IPC_LOCK. Threads that start timers in phase (daemon/kernel/timer_phase.h) have the lowest real-time
 * priority, for some milliseconds, without CAP_SYS_NICE.
 */
static void raise_limits(void)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY}, lowest = {1, 1};

	setrlimit(RLIMIT_RTPRIO, &lowest);

	if (!setrlimit(RLIMIT_MEMLOCK, &limit) || getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_MEMLOCK, &limit);
}

int capabilities__give_up(const struct capabilities_needs *needs)
{
	static bool done;
	cap_value_t caps[6] = {CAP_BPF, CAP_PERFMON};
	gid_t group = paths__group();
	int n = 2, err;

	if (done)
		return 0;
	raise_limits();
	if (needs->signals)
		caps[n++] = CAP_KILL;
	if (needs->priority)
		caps[n++] = CAP_SYS_NICE;
	if (needs->foreign)
		caps[n++] = CAP_DAC_OVERRIDE;
	if (needs->giving)
		caps[n++] = CAP_CHOWN;
	/* else what it makes could not be given to that group later */
	setgroups(1, &group);
	prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED);
	err = keep(caps, n);
	err = err ?: seccomp__confine(JOB_QUARTZD);
	done = !err;
	return err;
}
