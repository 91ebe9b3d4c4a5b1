/* SPDX-License-Identifier: GPL-2.0-only */
/* From the figures of a replay to a profile; for log_replay.c. */
#ifndef QUARTZ_CORE_REPLAY_LOG_PROFILE_H
#define QUARTZ_CORE_REPLAY_LOG_PROFILE_H

#include "core/format/log_file.h"
#include "core/model/profile.h"
#include "core/model/what_if.h"
#include "core/replay/what_if.h"

struct log_replay {
	const struct qz_log_header *header;
	struct replay *replay;
	uint32_t
		command; /* the scope of the command that was recorded, REPLAY_NONE: there was none */
	uint64_t until;	      /* end of the replayed time */
	uint64_t overwritten; /* records, before they were read */
	uint64_t refused;     /* entries that are not valid records */
	uint32_t candidates;  /* candidates that samples met, a bit each */
};

/* Makes the estimated profile of a replay. 0, or -ENOMEM or -E2BIG; then *profile is NULL. */
int log_profile__make(const struct log_replay *l, struct qz_profile **profile);

/* Sets one candidate's figures, for a scope with cpu_ns of processor time: all members but scope, kind and name. */
void log_profile__fill_what_if(const struct replay_what_if *of, uint32_t candidate, uint64_t cpu_ns,
			       struct qz_what_if *w);

#endif
