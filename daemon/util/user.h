/* SPDX-License-Identifier: GPL-2.0-only */
/* Users: who called quartzd by sudo, and whom a command is run as. */
#ifndef QUARTZ_DAEMON_USER_H
#define QUARTZ_DAEMON_USER_H

#include <stddef.h>
#include <sys/types.h>

struct user {
	char *name, *home, *shell;
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int ngroups;
};

/* By name or number. 0, or -errno with one line in error. What it holds is freed with user__free. */
int user__look(struct user *u, const char *text, char *error, size_t size);

/*
 * The user who called by sudo, by SUDO_UID, which counts for root only. 0, or -ENOENT: none did, or root itself, or
 * there is no such user.
 */
int user__caller(struct user *u);

void user__free(struct user *u);

/*
 * Opens the directory part of a path as qz_save_file__directory does, but as this user, who is asked whether new files may be
 * made in it: a descriptor, or -errno. The process is root before and after; only while there is one thread.
 */
int user__open_directory(const struct user *u, const char *path, const char **name);

/* The process is this user's for good, and has none of root's capabilities. 0 or -errno. */
int user__become(const struct user *u);

#endif
