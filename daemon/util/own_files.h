/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that can be made again, and that no other user can have put there: in a directory, as a rule below
 * /var/cache/quartz, that this user owns and alone can change.
 */
#ifndef QUARTZ_DAEMON_OWN_FILES_H
#define QUARTZ_DAEMON_OWN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Opens such a directory: a descriptor, -EPERM where it is another's or others can change it, or another -errno. */
int own_files__directory(const char *path);

/* Opens a file of it for reading, whatever has that name. Returns a descriptor, or -1. */
int own_files__open(int dir, const char *name);

/* Whether it is a regular file, this user's, and his alone to change. *st is what fstat() says of it. */
bool own_files__is_own(int fd, struct stat *st);

/* False: there is less, or what reading met. */
bool own_files__read(int fd, void *to, size_t size);

/* 0 or -errno. */
int own_files__write(int fd, const void *from, size_t size);

#endif
