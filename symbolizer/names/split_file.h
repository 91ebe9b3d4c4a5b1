/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hands files to libdw. It opens the files of split units (.dwo) by name, which the sandbox
 * forbids, and has no interface to pass a descriptor. So quartz-symbolizer is linked with an open()
 * of its own.
 */
#ifndef QUARTZ_SYMBOLIZER_SPLIT_FILE_H
#define QUARTZ_SYMBOLIZER_SPLIT_FILE_H

/* The next open() gets fd; -1: none. Closes the one offered before if it was not taken. */
void split_file__offer(int fd);

/* Replaces open(2) in that program, libraries included. EACCES: nothing was offered. */
int split_file__open(const char *path, int flags, ...);

#endif
