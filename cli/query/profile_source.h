/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a profile comes from: a named snapshot, the running quartzd, or the newest snapshot of the
 * state directory. All three are the same bytes and are read by the same code.
 */
#ifndef QUARTZ_CLI_PROFILE_SOURCE_H
#define QUARTZ_CLI_PROFILE_SOURCE_H

#include "cli/cli.h"
#include "client/live.h"
#include "core/model/profile.h"

#define SOURCE_SUFFIX ".pb.gz" /* of snapshots and slices */

/* Reads the profile that the configuration asks for into *profile, which the caller frees. */
enum status profile_source__read(const struct config *config, struct qz_profile **profile);

/*
 * Whether a name on the command line is that of a snapshot: a file that is one, by its first bytes, or one
 * that is missing and called as they are.
 */
bool profile_source__is_snapshot(const char *name);

/* The newest file with this suffix among the snapshots. `path` has PATH_MAX bytes. */
enum status profile_source__newest(const char *suffix, char *path);

/* The message that no quartzd serves this socket. The remedy comes first: lines may be cut. */
#define SOURCE_NOT_RUNNING                                                                         \
	"quartzd is not running: 'systemctl start quartzd' or 'quartzd --system' starts it; "      \
	"no process serves %s"

/* The socket of the running quartzd, in a buffer of PATH_MAX bytes. */
void profile_source__socket(char *path);

/*
 * live__snapshot of the running quartzd; of the user's own processes where it gives no more, and then *own is
 * set. `socket` has PATH_MAX bytes.
 */
int profile_source__snapshot(const struct live_wanted *wanted, char *socket, char *reason,
			     size_t size, bool *own);

/* Says why a call of live.h failed. */
enum status profile_source__explain(const char *socket, int err, const char *reason);

#endif
