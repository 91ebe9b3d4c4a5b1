/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/knobs/knob_failure.h"

#include <errno.h>
#include <string.h>

enum status knob_failure__open(pid_t pid, int err)
{
	switch (err) {
	case -ESRCH:
		complain("no process %d; 'quartzctl knobs' lists those with knobs", pid);
		return STATUS_FAILURE;
	case -EACCES:
	case -EPERM:
		complain("process %d: only its owner and root may; run it with sudo", pid);
		return STATUS_NO_PRIVILEGE;
	case -ENOENT:
		complain("process %d has no knobs; its program must register them with "
			 "quartz_knob(), see quartz(3)",
			 pid);
		return STATUS_FAILURE;
	case -EPROTO:
		complain("process %d: its knobs are damaged, or of another version of libquartz",
			 pid);
		return STATUS_FAILURE;
	default:
		complain("process %d: its knobs cannot be read: %s", pid, strerror(-err));
		return STATUS_FAILURE;
	}
}

enum status knob_failure__missing(pid_t pid, const char *name)
{
	complain("process %d has no knob '%s'; 'quartzctl knobs %d' lists what it has", pid, name,
		 pid);
	return STATUS_USAGE;
}

const char *knob_failure__refusal(int err)
{
	switch (err) {
	case -ERANGE:
		return "libquartz refuses it: it is out of range";
	case -EINVAL:
		return "libquartz refuses it: it is between two steps";
	case -ECANCELED:
		return "the program refuses it";
	default:
		return NULL;
	}
}

enum status knob_failure__set(pid_t pid, const struct qz_knob *k, const char *value, int err)
{
	const char *refusal = knob_failure__refusal(err);

	if (refusal) {
		complain("%s of process %d stays what it was, not %s: %s; 'quartzctl knobs %d' "
			 "shows "
			 "what is allowed",
			 k->name, pid, value, refusal, pid);
		return STATUS_REFUSED;
	}
	if (err == -ETIMEDOUT)
		complain("%s of process %d: not taken yet, since the program has not come to its "
			 "quartz_knob_point() nor ended its callback; it will take %s then",
			 k->name, pid, value);
	else if (err == -EBUSY)
		complain("%s of process %d: another quartzctl is waiting for its answer; try again",
			 k->name, pid);
	else if (err == -ESRCH)
		complain("process %d has ended before it took the value", pid);
	else
		return knob_failure__open(pid, err);
	return STATUS_FAILURE;
}
