// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/format/pprof.h"
#include "core/util/save_file.h"
#include "daemon/util/paths.h"
#include "daemon/privsep/capabilities.h"
#include "daemon/output/snapshot_file.h"
#include "daemon/util/user.h"

#define MODE 0640

/* A program's name as part of a file name. */
static void copy_name(char *to, size_t size, const char *from)
{
	size_t n = 0;

	for (; *from && n + 1 < size; from++) {
		char c = *from;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    c == '.' || c == '-' || c == '_' || c == '+')
			to[n++] = c;
		else
			to[n++] = '_';
	}
	to[n] = '\0';
}

/* ---- where it goes ---- */

/* For whose it will be. */
static int check_place(const struct snapshot_file *s, const char *name)
{
	return qz_save_file__check(s->directory, name, s->owner ?: geteuid());
}

static int try_to_write(const struct snapshot_file *s)
{
	struct stat st;
	int err = *s->name ? check_place(s, s->name) : -EISDIR;

	/* a link is replaced, but not one to a device, which who gave the name may mean */
	if (!err && !fstatat(s->directory, s->name, &st, 0) && !S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
	return err ?: qz_save_file__try(s->directory, s->name);
}

/* What the caller could not make there stays root's, as the place is. */
static int open_output(struct snapshot_file *s, const struct user *caller)
{
	if (caller) {
		s->directory = user__open_directory(caller, s->path, &s->name);
		s->owner = s->directory < 0 ? 0 : caller->uid;
	}
	s->kept = caller && !s->owner;
	if (s->directory < 0)
		s->directory = qz_save_file__directory(s->path, geteuid(), &s->name);
	return s->directory < 0 ? s->directory : try_to_write(s);
}

/*
 * Only root can make files in either directory, so that no user can plant one. That of a caller can be read by
 * the user's own group, and each file by the user.
 */
static int open_usual(struct snapshot_file *s, const struct user *caller)
{
	char directory[PATH_MAX - NAME_MAX - 1];
	int err = paths__make_state();

	if (caller) {
		snprintf(directory, sizeof(directory), "%s/users", paths__state());
		err = err ?: paths__make_for(directory, 0711, 0);
		snprintf(directory, sizeof(directory), "%s/users/%u", paths__state(), caller->uid);
		err = err ?: paths__make_for(directory, 0750, caller->gid);
		s->owner = caller->uid;
	} else {
		snprintf(directory, sizeof(directory), "%s/profiles", paths__state());
		err = err ?: paths__make(directory, 0750);
	}
	snprintf(s->path, sizeof(s->path), "%s/snapshot", directory);
	s->name = strrchr(s->path, '/') + 1;
	if (err) {
		snprintf(s->path, sizeof(s->path), "%s", paths__state());
		return err;
	}
	s->directory = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return s->directory < 0 ? -errno : try_to_write(s);
}

int snapshot_file__open(struct snapshot_file *s, const char *output, bool for_caller)
{
	struct user user = {0}, *caller = for_caller && !user__caller(&user) ? &user : NULL;
	int err;

	*s = (struct snapshot_file) {.directory = -1, .named = !output};
	snprintf(s->path, sizeof(s->path), "%s", output ?: "");
	err = output ? open_output(s, caller) : open_usual(s, caller);
	user__free(&user);
	return err;
}

void snapshot_file__close(struct snapshot_file *s)
{
	if (s->directory >= 0)
		close(s->directory);
	s->directory = -1;
}

void snapshot_file__name(struct snapshot_file *s, const char *program, int pid)
{
	size_t room = sizeof(s->path) - (s->name - s->path);
	char name[64], stamp[32], *to = s->path + (s->name - s->path);
	time_t now = time(NULL);
	struct tm tm;

	if (!s->named)
		return;
	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	copy_name(name, sizeof(name), program);
	/* a service may save more than one within a second */
	for (int i = 0; i < 1000; i++) {
		char process[16] = "", number[16] = "";

		if (pid)
			snprintf(process, sizeof(process), "-%d", pid);
		if (i)
			snprintf(number, sizeof(number), "-%d", i);
		snprintf(to, room, "%s%s-%s%s.pb.gz", name, process, stamp, number);
		if (faccessat(s->directory, to, F_OK, 0))
			break;
	}
}

bool snapshot_file__is_foreign(const struct snapshot_file *s)
{
	return !capabilities__may_write(s->directory, ".");
}

/* ---- files ---- */

static int hand_over(const struct snapshot_file *s, int fd)
{
	return fchown(fd, s->owner ? s->owner : (uid_t)-1, paths__group()) ? -errno : 0;
}

static int name_beside(const struct snapshot_file *s, const char *suffix, char name[PATH_MAX])
{
	int n = snprintf(name, PATH_MAX, "%s%s", s->name, suffix);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int snapshot_file__remove(const struct snapshot_file *s, const char *suffix)
{
	char name[PATH_MAX];
	int err = name_beside(s, suffix, name) ?: check_place(s, name);

	return err || !unlinkat(s->directory, name, 0) || errno == ENOENT ? err : -errno;
}

int snapshot_file__create(const struct snapshot_file *s, const char *suffix)
{
	char name[PATH_MAX];
	int fd, err;

	err = name_beside(s, suffix, name) ?: snapshot_file__remove(s, suffix);
	if (err)
		return err;
	fd = openat(s->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
	if (fd < 0)
		return -errno;
	err = hand_over(s, fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

struct writing {
	const struct snapshot_file *snapshot;
	const struct qz_profile *profile;
};

static int write_profile(void *context, int fd)
{
	const struct writing *w = context;
	int err = hand_over(w->snapshot, fd);

	return err ?: qz_pprof__write(w->profile, fd);
}

int snapshot_file__keep(const struct snapshot_file *s, const struct qz_profile *p)
{
	struct writing w = {s, p};

	return check_place(s, s->name)
		       ?: qz_save_file__at(s->directory, s->name, MODE, false, write_profile, &w);
}

int snapshot_file__save(const struct snapshot_file *s, const struct qz_profile *p, char *saved,
			size_t size)
{
	static const char *const elsewhere[] = {"/var/tmp", "/dev/shm"};
	struct writing w = {s, p};
	int err = check_place(s, s->name)
			  ?: qz_save_file__at(s->directory, s->name, MODE, true, write_profile, &w);

	snprintf(saved, size, "%s", err ? "" : s->path);
	for (size_t i = 0; err && i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		snprintf(saved, size, "%s/quartz-%s", elsewhere[i], s->name);
		if (!qz_save_file__at(AT_FDCWD, saved, 0600, true, write_profile, &w))
			break;
		saved[0] = '\0';
	}
	return err;
}
