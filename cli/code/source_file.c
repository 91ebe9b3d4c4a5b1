/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/code/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SIZE (16 << 20)

/* ---- where it is ---- */

/* What is left of a path without a prefix that ends where one of its parts does. */
static const char *strip(const char *file, const char *prefix)
{
	size_t length = prefix ? strlen(prefix) : 0;

	while (length && prefix[length - 1] == '/')
		length--;
	if (!length || strncmp(file, prefix, length) || file[length] != '/')
		return file;
	return file + length + 1;
}

/* O_NONBLOCK: a pipe that a stranger named is not waited for. */
static int try(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static bool is_missing(int err)
{
	return err == ENOENT || err == ENOTDIR;
}

/* Keeps the path of the file that exists, or else of the first attempt. */
static int try_in(struct source_file *f, const char *directory, const char *name)
{
	char *path;
	int fd, err;

	if (asprintf(&path, "%s/%s", directory, name) < 0) {
		errno = ENOMEM;
		return -1;
	}
	fd = try(path);
	err = errno;
	if (fd >= 0 || !is_missing(err) || !f->path) {
		free(f->path);
		f->path = path;
	} else {
		free(path);
	}
	errno = err;
	return fd;
}

/* Returns a descriptor, or -1 with errno. */
static int find(struct source_file *f, const struct config *config, const char *file)
{
	const char *name = strip(file, config->strip_prefix);
	int fd, first = 0;

	if (!config->source_dir) {
		f->path = strdup(name);
		return f->path ? try(f->path) : -1;
	}
	for (const char *rest = name; rest; rest = strchr(rest, '/')) {
		rest += strspn(rest, "/");
		fd = try_in(f, config->source_dir, rest);
		if (fd >= 0 || !is_missing(errno))
			return fd;
		first = first ? first : errno;
	}
	errno = first;
	return -1;
}

/* ---- what is in it ---- */

static int read_all(int fd, size_t size, char *text)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, text + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
	}
	text[n] = 0;
	return (int)n;
}

/* The text of a line ends at a null byte, if there is one. */
static int split(struct source_file *f, size_t size)
{
	char *end = f->text + size;
	uint32_t n = 0;

	for (char *at = f->text; at < end; n++) {
		char *newline = memchr(at, '\n', (size_t)(end - at));

		at = newline ? newline + 1 : end;
	}
	f->lines = calloc(n ? n : 1, sizeof(*f->lines));
	if (!f->lines)
		return -ENOMEM;
	for (char *at = f->text; at < end;) {
		char *newline = memchr(at, '\n', (size_t)(end - at));

		f->lines[f->n++] = at;
		if (!newline)
			break;
		*newline = 0;
		if (newline > at && newline[-1] == '\r')
			newline[-1] = 0;
		at = newline + 1;
	}
	return 0;
}

static int take(struct source_file *f, int fd, uint64_t began_ns)
{
	struct stat st;
	int size;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > MAX_SIZE)
		return -EFBIG;
	f->newer = began_ns && (uint64_t)st.st_mtim.tv_sec > began_ns / 1000000000;
	f->text = malloc((size_t)st.st_size + 1);
	if (!f->text)
		return -ENOMEM;
	size = read_all(fd, (size_t)st.st_size, f->text);
	return size < 0 ? size : split(f, (size_t)size);
}

int source_file__read(struct source_file *f, const struct config *config, const char *file,
		      uint64_t began_ns)
{
	int fd, err;

	*f = (struct source_file) {0};
	fd = find(f, config, file);
	if (fd < 0)
		return -errno;
	err = take(f, fd, began_ns);
	close(fd);
	return err;
}

void source_file__free(struct source_file *f)
{
	free(f->lines);
	free(f->text);
	free(f->path);
	*f = (struct source_file) {0};
}

const char *source_file__line(const struct source_file *f, uint32_t line)
{
	return line && line <= f->n ? f->lines[line - 1] : "";
}

const char *source_file__error(int err)
{
	switch (err) {
	case -EINVAL:
		return "it is not a regular file";
	case -EFBIG:
		return "it has more than 16 MiB";
	default:
		return strerror(-err);
	}
}
