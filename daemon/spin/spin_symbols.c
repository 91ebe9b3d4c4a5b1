// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/util/paths.h"
#include "daemon/spin/spin_symbols.h"

#define INSTALLED QUARTZ_DATADIR "/spin-symbols"

static int refuse(int err, const char *path, const char *reason, char *error, size_t size)
{
	snprintf(error, size, "%s: %s", path, reason);
	return err;
}

/* What has no end, waits for a writer or changes when it is read is not read. */
static int open_regular(const char *path, char *error, size_t size)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return refuse(-errno, path, strerror(errno), error, size);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return refuse(-EINVAL, path, "not a regular file", error, size);
}

/* Up to `room` bytes, or -errno. */
static ssize_t read_all(int fd, char *to, size_t room)
{
	size_t n = 0;
	ssize_t some;

	do {
		some = read(fd, to + n, room - n);
		if (some < 0 && errno != EINTR)
			return -errno;
		n += some > 0 ? some : 0;
	} while (some && n < room);
	return n;
}

/* One byte more than may be is read, so that a file that is too long is refused for it. */
static int add_file(struct spin_rules *rules, const char *path, char *error, size_t size)
{
	int fd = open_regular(path, error, size);
	char *text;
	ssize_t n;
	int err;

	if (fd < 0)
		return fd;
	text = malloc(SPIN_RULES_MAX_TEXT + 1);
	n = text ? read_all(fd, text, SPIN_RULES_MAX_TEXT + 1) : -ENOMEM;
	close(fd);
	if (n < 0)
		err = refuse(n, path, strerror(-n), error, size);
	else
		err = spin_rules__add(rules, path, text, n, error, size);
	free(text);
	return err;
}

/* Files that editors and package managers leave are no rules. */
static int is_rules(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && entry->d_name[length - 1] != '~' &&
	       !strstr(entry->d_name, ".dpkg-");
}

static int add_directory(struct spin_rules *rules, const char *path, char *error, size_t size)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_rules, alphasort), err = 0;

	if (n < 0)
		return errno == ENOENT ? 0 : refuse(-errno, path, strerror(errno), error, size);
	for (int i = 0; i < n; i++) {
		char file[PATH_MAX + NAME_MAX + 2];

		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		err = err ?: add_file(rules, file, error, size);
		free(entries[i]);
	}
	free(entries);
	return err;
}

int spin_symbols__load(struct spin_rules *rules, const struct qz_texts *files, char *error,
		       size_t size)
{
	char directory[PATH_MAX];
	int err;

	if (access(INSTALLED, F_OK))
		err = spin_rules__add(rules, "built-in spin-symbols", spin_symbols_builtin,
				      spin_symbols_builtin_size, error, size);
	else
		err = add_file(rules, INSTALLED, error, size);
	snprintf(directory, sizeof(directory), "%s/spin-symbols.d", paths__configuration());
	err = err ?: add_directory(rules, directory, error, size);
	for (size_t i = 0; i < files->n && !err; i++)
		err = add_file(rules, files->items[i], error, size);
	return err;
}
