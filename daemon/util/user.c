// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "core/util/options.h"
#include "core/util/save_file.h"
#include "daemon/util/user.h"

#define MAX_GROUPS 65536 /* NGROUPS_MAX of the kernel */

void user__free(struct user *u)
{
	free(u->name);
	free(u->home);
	free(u->shell);
	free(u->groups);
	*u = (struct user) {0};
}

static int take_groups(struct user *u)
{
	int room = 64;

	for (;;) {
		gid_t *groups = reallocarray(u->groups, room, sizeof(*groups));

		if (!groups)
			return -ENOMEM;
		u->groups = groups;
		u->ngroups = room;
		if (getgrouplist(u->name, u->gid, u->groups, &u->ngroups) >= 0)
			return 0;
		if (room >= MAX_GROUPS)
			return -E2BIG;
		room *= 4;
	}
}

static int take(struct user *u, const struct passwd *entry)
{
	int err;

	*u = (struct user) {.uid = entry->pw_uid, .gid = entry->pw_gid};
	u->name = strdup(entry->pw_name);
	u->home = strdup(entry->pw_dir);
	u->shell = strdup(entry->pw_shell);
	err = u->name && u->home && u->shell ? take_groups(u) : -ENOMEM;
	if (err)
		user__free(u);
	return err;
}

static const struct passwd *find(const char *text)
{
	const struct passwd *entry = getpwnam(text);
	int64_t uid;

	if (entry || qz_options__integer(text, 0, UINT32_MAX - 1, &uid))
		return entry;
	return getpwuid((uid_t)uid);
}

int user__look(struct user *u, const char *text, char *error, size_t size)
{
	const struct passwd *entry = find(text);
	int err;

	*u = (struct user) {0};
	if (!entry) {
		snprintf(error, size, "--user: there is no user '%s'", text);
		return -ENOENT;
	}
	err = take(u, entry);
	if (err)
		snprintf(error, size, "--user: %s: %s", text, strerror(-err));
	return err;
}

int user__caller(struct user *u)
{
	const char *text = secure_getenv("SUDO_UID");
	const struct passwd *entry;
	int64_t uid;

	*u = (struct user) {0};
	if (geteuid() || !text || qz_options__integer(text, 1, UINT32_MAX - 1, &uid))
		return -ENOENT;
	entry = getpwuid((uid_t)uid);
	return entry ? take(u, entry) : -ENOENT;
}

/* ---- as the user ---- */

static int open_directory(const struct user *u, const char *path, const char **name)
{
	int fd = qz_save_file__directory(path, u->uid, name), err;

	if (fd < 0)
		return fd;
	if (!faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int user__open_directory(const struct user *u, const char *path, const char **name)
{
	gid_t before[NGROUPS_MAX];
	int n = getgroups(NGROUPS_MAX, before), fd;

	if (n < 0 || setgroups(u->ngroups, u->groups))
		return -errno;
	setfsgid(u->gid);
	setfsuid(u->uid); /* and no more capabilities for files, until it is root's again */
	fd = setfsuid(-1) == (int)u->uid ? open_directory(u, path, name) : -EPERM;
	setfsuid(geteuid());
	setfsgid(getegid());
	if (setgroups(n, before) && fd >= 0) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

int user__become(const struct user *u)
{
	if (setgroups(u->ngroups, u->groups) || setresgid(u->gid, u->gid, u->gid) ||
	    setresuid(u->uid, u->uid, u->uid))
		return -errno;
	return 0;
}
