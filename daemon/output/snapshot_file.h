/* SPDX-License-Identifier: GPL-2.0-only */
/* Saving profiles as snapshot files. */
#ifndef QUARTZ_DAEMON_SNAPSHOT_FILE_H
#define QUARTZ_DAEMON_SNAPSHOT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/model/profile.h"

/*
 * Where the snapshot goes. The directory is opened before privileges are given up: what its path leads
 * to, or who may follow it, does not matter any more afterwards.
 */
struct snapshot_file {
	int directory; /* O_PATH, -1: none */
	bool named;    /* the name is a made one, in the usual place */
	char path[PATH_MAX];
	const char *name; /* in path */
	uid_t owner;	  /* its owner-to-be; root: as the process is */
	bool kept;	  /* root's, since the caller by sudo could not have made it there */
};

/*
 * Decides where the snapshot goes: `output`, or a new file in the state directory, and finds out now
 * whether a file can be written there. Where the caller by sudo counts (for_caller), the usual place is a
 * directory for that user alone, and whatever that user could have made as well becomes the user's. Only
 * while there is one thread and the process has root's rights. 0 or -errno with the path either way.
 */
int snapshot_file__open(struct snapshot_file *s, const char *output, bool for_caller);
void snapshot_file__close(struct snapshot_file *s);

/* Names it after the program, its pid, unless that is 0, and the time, unless there is an `output`. */
void snapshot_file__name(struct snapshot_file *s, const char *program, int pid);

/*
 * Makes a file beside it, of the same name with a suffix, for the same user: a descriptor or -errno. What
 * has that name is replaced, never followed anywhere.
 */
int snapshot_file__create(const struct snapshot_file *s, const char *suffix);

/* Removes the file beside it with this suffix, which an earlier run has left there. 0, also if there is none, or -errno. */
int snapshot_file__remove(const struct snapshot_file *s, const char *suffix);

/* Whether root needs more than its own rights to make files there. */
bool snapshot_file__is_foreign(const struct snapshot_file *s);

/* Saves the profile so far at its path, without waiting for the disk. 0 or -errno. */
int snapshot_file__keep(const struct snapshot_file *s, const struct qz_profile *p);

/*
 * Saves it. When that fails, to /var/tmp or else /dev/shm, so that what was sampled is not
 * lost; *saved tells where it is then ("" when nowhere). 0 when it is at path, else -errno of that.
 */
int snapshot_file__save(const struct snapshot_file *s, const struct qz_profile *p, char *saved,
			size_t size);

#endif
