/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/history.h"
#include "cli/output.h"
#include "core/pprof.h"

static const char *directory(const char *variable, const char *standard)
{
	const char *value = getenv(variable);

	return value && *value ? value : standard;
}

enum status source__fail(const char *what, int err)
{
	if (err == EACCES || err == EPERM) {
		complain("%s: %s; run as root or as a member of the group quartz", what,
			 strerror(err));
		return STATUS_NO_PRIVILEGE;
	}
	complain("%s: %s", what, strerror(err));
	return STATUS_FAILURE;
}

/* Reads and closes fd; `name` is for messages. */
static enum status read_snapshot(int fd, const char *name, struct qz_profile **profile)
{
	const char *why = NULL;

	*profile = qz_pprof__read(fd, &why);
	if (!*profile)
		complain("%s: %s", name, why);
	close(fd);
	return *profile ? STATUS_OK : STATUS_FAILURE;
}

static enum status read_file(const char *path, struct qz_profile **profile)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? source__fail(path, errno) : read_snapshot(fd, path, profile);
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name);

	return *name != '.' && length > strlen(suffix) &&
	       !strcmp(name + length - strlen(suffix), suffix);
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* Writes the name of the newest one in `dir`, "" when there is none. */
static void find_newest(DIR *dir, const char *suffix, char newest[NAME_MAX + 1])
{
	struct stat best = {0}, st;
	struct dirent *entry;

	*newest = 0;
	while ((entry = readdir(dir))) {
		if (!has_suffix(entry->d_name, suffix) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || (*newest && !is_newer(&st, &best)))
			continue;
		best = st;
		strcpy(newest, entry->d_name);
	}
}

enum status source__newest(const char *suffix, char *path)
{
	char name[NAME_MAX + 1] = "";
	DIR *dir;

	source__state("profiles", path);
	dir = opendir(path);
	if (!dir && errno != ENOENT)
		return source__fail(path, errno);
	if (dir) {
		find_newest(dir, suffix, name);
		closedir(dir);
	}
	if (!*name) {
		if (!strcmp(suffix, SOURCE_SUFFIX))
			complain("quartzd is not running and there is no snapshot in %s; "
				 "make one with 'quartzctl record -- COMMAND'",
				 path);
		else
			complain("there is no *%s in %s", suffix, path);
		return STATUS_NO_SOURCE;
	}
	if (strlen(path) + 1 + strlen(name) >= PATH_MAX)
		return source__fail(path, ENAMETOOLONG);
	strcat(strcat(path, "/"), name);
	return STATUS_OK;
}

static enum status read_newest(struct qz_profile **profile)
{
	char path[PATH_MAX];
	enum status status = source__newest(SOURCE_SUFFIX, path);

	return status == STATUS_OK ? read_file(path, profile) : status;
}

void source__state(const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s/%s", directory("QUARTZ_STATE_DIR", "/var/lib/quartz"), name);
}

static void runtime(const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s/%s", directory("QUARTZ_RUNTIME_DIR", "/run/quartz"), name);
}

void source__socket(char *path)
{
	runtime("quartzd.sock", path);
}

int source__snapshot(const struct live_wanted *wanted, char *socket, char *reason, size_t size,
		     bool *own)
{
	char users[PATH_MAX];
	int fd, other;

	*own = false;
	source__socket(socket);
	fd = live__snapshot(socket, wanted, reason, size);
	if (fd != -EACCES)
		return fd;
	runtime("users.sock", users);
	other = live__snapshot(users, wanted, reason, size);
	if (other == -ENOENT)
		return fd;
	strcpy(socket, users);
	*own = true;
	return other;
}

enum status source__explain(const char *socket, int err, const char *reason)
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
		escaped = escape_name(reason);
		complain("quartzd cannot do that: %s", escaped ? escaped : "?");
		free(escaped);
		return STATUS_FAILURE;
	default:
		return source__fail(socket, -err);
	}
}

enum status source__read(const struct config *config, struct qz_profile **profile)
{
	char socket[PATH_MAX], reason[200];
	bool own;
	int fd;

	if (history__is_wanted(config))
		return history__read(config, profile);
	if (config->input)
		return read_file(config->input, profile);
	fd = source__snapshot(NULL, socket, reason, sizeof(reason), &own);
	if (fd >= 0 && own)
		complain("your own processes alone; root and the group quartz see all");
	if (fd >= 0)
		return read_snapshot(fd, "the snapshot of quartzd", profile);
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return read_newest(profile);
	return source__explain(socket, fd, reason);
}
