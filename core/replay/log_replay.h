/* SPDX-License-Identifier: GPL-2.0-only */
/* Replays a kept log of the scheduler (core/format/log_file.h) and makes a profile of it. */
#ifndef QUARTZ_CORE_REPLAY_LOG_REPLAY_H
#define QUARTZ_CORE_REPLAY_LOG_REPLAY_H

#include "core/format/log_file.h"
#include "core/model/profile.h"
#include "core/replay/replay.h"

struct log_replay_figures {
	struct replay_counts counts;
	uint64_t overwritten; /* records that were lost before they were read */
	bool complete;	      /* the file has its end */
};

/*
 * Reads the rest of a file whose header was read, and returns the profile: scopes with the exact times of their levels,
 * threads, waits by cause, objects, wake-ups, and the gains of candidates that samples met. The profile has no samples and
 * no stacks, and is estimated. The same file gives the same profile. NULL with errno: ENOMEM; EBADMSG: damaged before the
 * first record; or an error of read(2). Free with qz_profile__free.
 */
struct qz_profile *log_replay__profile(struct qz_log_file *file, const struct qz_log_header *header,
				       struct log_replay_figures *figures);

#endif
