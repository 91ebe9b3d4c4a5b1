/* SPDX-License-Identifier: GPL-2.0-only */
/* A command that is started to be profiled from its first instruction. */
#ifndef QUARTZ_DAEMON_COMMAND_H
#define QUARTZ_DAEMON_COMMAND_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

#include "daemon/util/user.h"

struct command {
	pid_t pid;
	int go;	    /* to the child: a byte lets it start */
	int failed; /* from the child: a byte when it waits, then errno of a failed exec */
	int pidfd;
	bool started;
	bool ended;
	bool waited; /* for its status: until then its number is its own */
	int status;  /* of waitpid */
};

/*
 * To be called before anything is written: afterwards, writing to a closed pipe, or beyond RLIMIT_FSIZE, does not kill
 * quartzd. Idempotent.
 */
void command__ignore_signals(void);

/*
 * Makes the process that will become the command and waits. It runs on the processors of `allowed`
 * and with the signal mask and the ignored signals that quartzd was started with, and is run as `user` where
 * that is not NULL. 0 or -errno.
 */
int command__prepare(struct command *c, char *const argv[], const cpu_set_t *allowed,
		     const struct user *user);

/*
 * Opens (O_PATH) the file that the command will execute, as PATH tells, and gives a descriptor, or -1.
 * path has room for PATH_MAX.
 */
int command__open(char *const argv[], char *path);

/* Lets it start. 0, or -errno of the exec: -ENOENT, -EACCES, … */
int command__start(struct command *c);

/* Whether it has ended; does not wait. */
bool command__ended(struct command *c);

/* Exit status as a shell gives it: 128 + the signal when one ended the command. Its number is free then. */
int command__exit_status(struct command *c);

/* Frees, and ends a process that was never let start. Accepts one not prepared (all zero). */
void command__free(struct command *c);

#endif
