/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that appear whole or not at all, and replace only what may be replaced. Thread-safe by name. */
#ifndef QUARTZ_CORE_SAVE_FILE_H
#define QUARTZ_CORE_SAVE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* The suffix of temporary names. */
#define QZ_SAVE_FILE_PART ".part"

/* Writes to the descriptor, which it does not close: 0 or -errno. */
typedef int qz_save_file_write(void *context, int fd);

/*
 * Opens the directory part of a path, the working directory where there is none; *name is the rest, "" after a slash at the
 * end. Links in the path are followed if they are root's or this user's. A descriptor (O_PATH) that the caller closes, -EPERM if a
 * link is another user's, or -errno.
 */
int qz_save_file__directory(const char *path, uid_t uid, const char **name);

/*
 * Writes a file by `write` under a temporary name, `name`.NUMBER.part, and gives it its own name then; both are as for openat
 * in the directory dir. No link is followed. `durable`: waits for the disk, so that it outlives a failure of the machine. 0
 * or -errno; on failure no new file is left, and a file with the name is unchanged.
 */
int qz_save_file__at(int dir, const char *name, mode_t mode, bool durable,
		     qz_save_file_write *write, void *context);

/* Whether a file could be saved there, found out by making the temporary one. 0 or -errno. */
int qz_save_file__try(int dir, const char *name);

/* Whether the name stands for an open file of a process, as /dev/stdout and /dev/fd/3 do; the file may be of any kind. */
bool qz_save_file__is_open(int dir, const char *name);

/*
 * Whether a file of this user may replace the file with this name: 0, also if there is none. -EISDIR: a directory, and
 * -EEXIST: a device, an open file or the like, which are not replaced; -EPERM: another user's file in a directory where
 * users cannot remove each other's files, such as /tmp (root does not either); or -errno.
 */
int qz_save_file__check(int dir, const char *name, uid_t uid);

/* A sentence about an error of these functions. Static. */
const char *qz_save_file__reason(int err);

#endif
