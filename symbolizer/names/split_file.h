/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that libdw gets when it opens one. It opens the files of split units (.dwo) by itself, by their names, which nobody may
 * in the sandbox, and there is no other way to hand it one: so quartz-symbolizer is linked with an open() of its own.
 */
#ifndef QUARTZ_SYMBOLIZER_SPLIT_FILE_H
#define QUARTZ_SYMBOLIZER_SPLIT_FILE_H

/* The next one that opens anything gets it; -1: nobody. Closes what nobody has taken. */
void split_file__offer(int fd);

/* Takes the place of open(2) in that program, libraries included. EACCES when nothing was offered. */
int split_file__open(const char *path, int flags, ...);

#endif
