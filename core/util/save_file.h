/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that appear whole or not at all, and take the place only of what may be replaced. Thread-safe by name. */
#ifndef QUARTZ_CORE_SAVE_FILE_H
#define QUARTZ_CORE_SAVE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* Writes to the descriptor, which it does not close: 0 or -errno. */
typedef int qz_save_file_write(void *context, int fd);

/*
 * Writes a file by `write` under a temporary name, `name`.PID.part, and gives it its own name then; both are as for openat
 * in the directory dir. No link is followed. `durable`: waits for the disk, so that it outlives a failure of the machine. 0
 * or -errno; on failure nothing stays behind, and what had the name is as it was.
 */
int qz_save_file__at(int dir, const char *name, mode_t mode, bool durable,
		     qz_save_file_write *write, void *context);

/* Whether a file could be saved there, found out by making the temporary one. 0 or -errno. */
int qz_save_file__try(int dir, const char *name);

/*
 * Whether a file of this user's may take the place of what has the name: 0, also if nothing has. -EISDIR a directory and
 * -EEXIST a device or the like, which are not replaced; -EPERM another user's in a directory where users cannot remove each
 * other's files, as /tmp, which root, who could, does not either; or -errno.
 */
int qz_save_file__check(int dir, const char *name, uid_t uid);

#endif
