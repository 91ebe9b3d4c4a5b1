/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Searches beside quartzctl (build tree), then relative to it (installed), else uses the usual
 * place.
 */
static void find(const char *const places[2], const char *usual, char path[PATH_MAX])
{
	char own[PATH_MAX] = "";
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash = length > 0 ? strrchr(own, '/') : NULL;

	for (size_t i = 0; slash && i < 2; i++) {
		int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - own), own, places[i]);

		if (n < PATH_MAX && !access(path, X_OK))
			return;
	}
	strcpy(path, usual);
}

void programs__quartzd(char path[PATH_MAX])
{
	static const char *const places[2] = {"quartzd", "../sbin/quartzd"};

	find(places, "/usr/sbin/quartzd", path);
}

const char *programs__library(const char *name)
{
	static char path[PATH_MAX];
	char beside[64], installed[64], usual[64];
	const char *const places[2] = {beside, installed};

	snprintf(beside, sizeof(beside), "%s", name);
	snprintf(installed, sizeof(installed), "../lib/%s", name);
	snprintf(usual, sizeof(usual), "/usr/lib/%s", name);
	find(places, usual, path);
	return path;
}

/* By name or number. */
static const struct passwd *find_user(const char *text)
{
	const struct passwd *entry = getpwnam(text);
	int64_t uid;

	if (entry || qz_options__integer(text, 0, UINT32_MAX - 1, &uid))
		return entry;
	return getpwuid((uid_t)uid);
}

enum status programs__user(const struct config *config, const char *what, const char **user)
{
	const char *uid = getenv("SUDO_UID"), *name = getenv("SUDO_USER");

	*user = config->user ? config->user : uid && strcmp(uid, "0") ? uid : NULL;
	if (!*user)
		return STATUS_OK;
	if (!find_user(*user)) {
		complain("%s '%s' is no user here; choose whom %s is run as with --user",
			 config->user ? "--user:" : "SUDO_UID:", *user, what);
		return STATUS_USAGE;
	}
	if (!config->user)
		complain("%s is run as %s; with --user root it is run as root", what,
			 name ? name : uid);
	return STATUS_OK;
}

int programs__become(const char *user)
{
	const struct passwd *entry;

	if (!user)
		return 0;
	errno = 0;
	entry = find_user(user);
	if (!entry)
		return errno ? -errno : -ENOENT;
	if (entry->pw_uid != geteuid() && (initgroups(entry->pw_name, entry->pw_gid) ||
					   setresgid(entry->pw_gid, entry->pw_gid, entry->pw_gid) ||
					   setresuid(entry->pw_uid, entry->pw_uid, entry->pw_uid)))
		return -errno;
	if (setenv("HOME", entry->pw_dir, 1) || setenv("USER", entry->pw_name, 1) ||
	    setenv("LOGNAME", entry->pw_name, 1) || setenv("SHELL", entry->pw_shell, 1))
		return -ENOMEM;
	return 0;
}

void programs__set_input(void)
{
	struct stat st;
	bool again = !fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode);
	int fd = open(again ? "/proc/self/fd/0" : "/dev/null", O_RDONLY);

	if (fd < 0)
		fd = open("/dev/null", O_RDONLY);
	if (fd > STDIN_FILENO) {
		dup2(fd, STDIN_FILENO);
		close(fd);
	}
}

/* Either the line sees that it must not begin, or who forbids that sees that it is about to. */
static bool may_begin(volatile struct programs_mark *mark)
{
	__atomic_store_n(&mark->line, getpid(), __ATOMIC_SEQ_CST);
	return !__atomic_load_n(&mark->ended, __ATOMIC_SEQ_CST);
}

static void become_shell(const char *line, const char *user, volatile struct programs_mark *mark,
			 int out)
{
	int err;

	if (mark && !may_begin(mark))
		_exit(127);
	err = programs__become(user);

	if (!err && dup2(out, STDOUT_FILENO) >= 0)
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	complain("cannot run '%s': %s", line, strerror(err ? -err : errno));
	_exit(127);
}

pid_t programs__read(const char *line, const char *user, volatile struct programs_mark *mark,
		     FILE **out)
{
	int ends[2], err;
	pid_t pid;

	*out = NULL;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		become_shell(line, user, mark, ends[1]);
	err = pid < 0 ? -errno : 0;
	close(ends[1]);
	*out = err ? NULL : fdopen(ends[0], "r");
	if (*out)
		return pid;
	err = err ? err : -errno;
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return err;
}

int programs__end(pid_t pid, FILE *out)
{
	int status;

	fclose(out);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

bool programs__ask(const char *events, const char *user, double *value)
{
	FILE *out;
	pid_t pid = programs__read(events, user, NULL, &out);
	char line[256] = "", *at = line, *end = line;
	int status;

	if (pid > 0 && fgets(line, sizeof(line), out)) {
		at += strcspn(line, "0123456789");
		*value = strtod(at, &end);
		while (fgets(line, sizeof(line), out))
			at = line;
	}
	status = pid > 0 ? programs__end(pid, out) : -1;
	if (status || end == at || !isfinite(*value)) {
		complain("--events '%s': %s", events,
			 status ? "it failed" : "no number in its first line");
		return false;
	}
	return true;
}
