/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that a runtime writes to name its code. The process number in their names says whose they are. */
#ifndef QUARTZ_DAEMON_RUNTIME_FILES_H
#define QUARTZ_DAEMON_RUNTIME_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The directory that a command is started in, and since when a file there can be its own. */
struct runtime_directory {
	int fd; /* -1: none */
	struct timespec since;
};

/* Opens the current directory. When it cannot be opened, no files of it are removed. */
void runtime_directory__open(struct runtime_directory *d);

/* Removes perf-PID.map from the directory `tmp`, if it is this file still, and has no other name. */
void runtime_files__remove_map(int tmp, pid_t pid, dev_t device, ino_t inode);

/*
 * Removes the logs that V8 opens beside a map (isolate-0xADDRESS-PID-v8.log; no option of NODE_OPTIONS prevents it), of
 * processes of which is_ours says that they wrote a map, and that were written since. Closes the directory.
 */
void runtime_directory__remove_logs(struct runtime_directory *d,
				    bool (*is_ours)(void *context, pid_t pid), void *context);

#endif
