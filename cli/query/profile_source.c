/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/query/profile_source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/code/debug_names.h"
#include "cli/query/history.h"
#include "cli/query/interval.h"
#include "cli/query/paths.h"
#include "cli/render/output.h"
#include "core/format/pprof.h"
#include "core/transform/slices.h"
#include "core/util/suffix.h"

#define RECENT_S       3600
#define SERVICE_PREFIX "system-"

/* Reads and closes fd; `name` is for messages. */
static enum status read_snapshot(int fd, const char *name, struct qz_profile **profile)
{
	const char *why = "an empty file, no profile";
	struct stat st;

	*profile = NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size)
		*profile = qz_pprof__read(fd, &why);
	if (*profile)
		qz_slices__end(*profile);
	else
		complain("%s: %s", name, why);
	close(fd);
	return *profile ? STATUS_OK : STATUS_FAILURE;
}

static enum status read_file(const char *path, struct qz_profile **profile)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? paths__fail(path, errno) : read_snapshot(fd, path, profile);
}

static bool is_wanted(const char *name, const char *suffix)
{
	return *name != '.' && qz_suffix__is(name, suffix);
}

bool profile_source__is_snapshot(const char *name)
{
	static const unsigned char gzip[2] = {0x1f, 0x8b};
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	unsigned char first[2] = {0};
	struct stat st;
	bool is = fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode));

	/* of one with the suffix, reading it says what is wrong with it; what is no file could make that wait for ever */
	if (!qz_suffix__is(name, SOURCE_SUFFIX))
		is = is && fd >= 0 && pread(fd, first, 2, 0) == 2 && !memcmp(first, gzip, 2);
	if (fd >= 0)
		close(fd);
	return is;
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

struct newest {
	char *path; /* PATH_MAX bytes; "": none yet */
	struct stat st;
};

/* 0, also where there is no such directory, or -errno. */
static int look_in(const char *directory, const char *suffix, struct newest *newest)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	struct stat st;
	int err = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(dir))) {
		if (!is_wanted(entry->d_name, suffix) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || (*newest->path && !is_newer(&st, &newest->st)))
			continue;
		newest->st = st;
		if (snprintf(newest->path, PATH_MAX, "%s/%s", directory, entry->d_name) >= PATH_MAX)
			err = -ENAMETOOLONG;
	}
	closedir(dir);
	return err;
}

/* Of who calls, or of who calls by sudo. False: that is root, who has none. */
static bool own_directory(char *path)
{
	const char *sudo = geteuid() ? NULL : getenv("SUDO_UID");
	int64_t uid = geteuid();
	char name[32];

	if (sudo && qz_options__integer(sudo, 1, UINT32_MAX - 1, &uid))
		return false;
	snprintf(name, sizeof(name), "users/%" PRId64, uid);
	paths__state(name, path);
	return uid != 0;
}

/* Snapshots that the service leaves when it is paused or reloaded. */
static bool is_of_service(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, SERVICE_PREFIX, strlen(SERVICE_PREFIX));
}

/*
 * What the user has recorded and may want to see now, although quartzd runs. False: nothing within the last RECENT, or of the
 * service.
 */
static bool find_recorded(char *path)
{
	struct newest newest = {.path = path};
	char directory[PATH_MAX];
	int64_t age;

	*path = '\0';
	if (!own_directory(directory))
		paths__state("profiles", directory);
	if (look_in(directory, SOURCE_SUFFIX, &newest) || !*path || is_of_service(path))
		return false;
	age = (int64_t)time(NULL) - newest.st.st_mtim.tv_sec;
	return age >= 0 && age <= RECENT_S;
}

/* Users see their own, and those that root keeps if they may. */
enum status profile_source__newest(const char *suffix, char *path)
{
	char all[PATH_MAX], own[PATH_MAX];
	struct newest newest = {.path = path};
	bool has_own = own_directory(own);
	int err, own_err;

	*path = '\0';
	paths__state("profiles", all);
	own_err = has_own ? look_in(own, suffix, &newest) : 0;
	err = look_in(all, suffix, &newest);
	if (own_err)
		return paths__fail(own, -own_err);
	if (err && !(*path && err == -EACCES))
		return paths__fail(all, -err);
	if (*path)
		return STATUS_OK;
	if (!strcmp(suffix, SOURCE_SUFFIX))
		complain("quartzd is not running and there is no snapshot in %s%s%s; "
			 "make one with 'quartzctl record -- COMMAND'",
			 all, has_own ? " or " : "", has_own ? own : "");
	else
		complain("there is no *%s in %s%s%s", suffix, all, has_own ? " or " : "",
			 has_own ? own : "");
	return STATUS_NO_SOURCE;
}

static enum status read_newest(struct qz_profile **profile)
{
	char path[PATH_MAX];
	enum status status = profile_source__newest(SOURCE_SUFFIX, path);

	return status == STATUS_OK ? read_file(path, profile) : status;
}

void profile_source__socket(char *path)
{
	paths__runtime("quartzd.sock", path);
}

int profile_source__snapshot(const struct live_wanted *wanted, char *socket, char *reason,
			     size_t size, bool *own)
{
	char users[PATH_MAX];
	int fd, other;

	*own = false;
	profile_source__socket(socket);
	fd = live__snapshot(socket, wanted, reason, size);
	if (fd != -EACCES)
		return fd;
	paths__runtime("users.sock", users);
	other = live__snapshot(users, wanted, reason, size);
	if (other == -ENOENT)
		return fd;
	strcpy(socket, users);
	*own = true;
	return other;
}

enum status profile_source__explain(const char *socket, int err, const char *reason)
{
	char *escaped;

	switch (err) {
	case -ETIMEDOUT:
		complain("quartzd does not answer on %s", socket);
		return STATUS_FAILURE;
	case -EBADMSG:
		complain("%s: the answer makes no sense; is quartzd of another version?", socket);
		return STATUS_FAILURE;
	case -EREMOTEIO:
		escaped = output__escape(reason);
		complain("quartzd cannot do that: %s", escaped ? escaped : "?");
		free(escaped);
		return STATUS_FAILURE;
	default:
		return paths__fail(socket, -err);
	}
}

/* Of a snapshot beside a quartzd that runs: it is said which one is shown. */
static enum status read_recorded(const char *path, struct qz_profile **profile)
{
	char socket[PATH_MAX], *escaped = output__escape(path);

	profile_source__socket(socket);
	if (!access(socket, F_OK))
		complain("%s, recorded within the last hour; --live shows the running quartzd",
			 escaped ? escaped : "?");
	free(escaped);
	return read_file(path, profile);
}

/* All of it. */
static enum status read_whole(const struct config *config, struct qz_profile **profile)
{
	char socket[PATH_MAX], recorded[PATH_MAX], reason[200];
	bool own;
	int fd;

	if (history__is_wanted(config))
		return history__read(config, profile);
	if (config->input)
		return read_file(config->input, profile);
	/* a scope is named that quartzd shows */
	if (!config->live && !config->live_first && !config->scope && find_recorded(recorded))
		return read_recorded(recorded, profile);
	fd = profile_source__snapshot(NULL, socket, reason, sizeof(reason), &own);
	if (fd >= 0 && own)
		complain("your own processes alone; root and the group quartz see all");
	if (fd >= 0)
		return read_snapshot(fd, "the snapshot of quartzd", profile);
	if (fd != -ENOENT && fd != -ECONNREFUSED)
		return profile_source__explain(socket, fd, reason);
	if (!config->live)
		return read_newest(profile);
	complain("quartzd is not running; without --live, what was recorded is shown");
	return STATUS_NO_SOURCE;
}

enum status profile_source__read(const struct config *config, struct qz_profile **profile)
{
	struct interval interval;
	enum status status = interval__parse(config->time, &interval);

	*profile = NULL;
	if (config->time && config->window) {
		complain("--time and --window both say which part of the run to show: give one");
		return STATUS_USAGE;
	}
	if (status == STATUS_OK)
		status = read_whole(config, profile);
	if (status == STATUS_OK)
		debug_names__find(*profile);
	if (status == STATUS_OK && config->window)
		status = interval__of_load(*profile, &interval);
	if (status == STATUS_OK && (config->time || config->window))
		status = interval__restrict(&interval, profile);
	return status;
}
