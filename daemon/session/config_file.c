// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/vec.h"
#include "daemon/session/options.h"
#include "daemon/util/paths.h"
#include "daemon/session/config_file.h"

#define MAX_FILE (64 << 10)

/* Options that make sense for a service; the others say what one run is about. */
const char *const config_file_names[] = {
	"rate",		"processes", "ended-memory", "history",	  "history-size",
	"max-overhead", "slice",     "cpu",	     "page-rate", "busy",
	"woken",	"exact",     "lines",	     "inlines",	  "spin-symbols",
	"cache-size",	"quiet",     "verbose",	     NULL,
};

struct reading {
	struct config_file *settings;
	const char *path;
	int line;
	char *error;
	size_t size;
};

static int refuse(const struct reading *r, int err, const char *why)
{
	if (r->line)
		snprintf(r->error, r->size, "%s:%d: %s", r->path, r->line, why);
	else
		snprintf(r->error, r->size, "%s: %s", r->path, why);
	return err;
}

void config_file__free(struct config_file *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->words[i]);
	free(s->words);
	*s = (struct config_file) {0};
}

static const struct qz_option *find_option(const char *name)
{
	bool may = false;

	for (const char *const *n = config_file_names; *n; n++)
		may |= !strcmp(name, *n);
	for (const struct qz_option *o = options_table; may && o->name; o++)
		if (!strcmp(name, o->name))
			return o;
	return NULL;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

/* An earlier value of the option is dropped; lists are continued. */
static void forget(struct config_file *s, const struct qz_option *o)
{
	size_t length = strlen(o->name), kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		const char *name = s->words[i] + 2;

		if (!strncmp(name, o->name, length) && (!name[length] || name[length] == '='))
			free(s->words[i]);
		else
			s->words[kept++] = s->words[i];
	}
	s->n = kept;
}

/* Takes a word over, which is tried as on a command line. */
static int add_word(const struct reading *r, char *word)
{
	char *argv[] = {(char *)"quartzd", word, NULL}, why[256];
	struct config_file *s = r->settings;
	struct options trial = {0};
	int err;

	if (!word)
		return refuse(r, -ENOMEM, "memory is short");
	err = qz_options__parse(2, argv, options_table, &trial, why, sizeof(why));
	options__free(&trial);
	if (err < 0) {
		free(word);
		return refuse(r, err, err == -ENOMEM ? "memory is short" : why + 2);
	}
	if (qz_array__reserve((void **)&s->words, s->n, sizeof(*s->words))) {
		free(word);
		return refuse(r, -ENOMEM, "memory is short");
	}
	s->words[s->n++] = word;
	return 0;
}

static int take_setting(const struct reading *r, const char *name, const char *value)
{
	const struct qz_option *o = find_option(name);
	char why[256], *word = NULL;

	if (!o) {
		snprintf(why, sizeof(why), "unknown setting '%.64s'; see quartzd.conf(5)", name);
		return refuse(r, -EINVAL, why);
	}
	if (o->kind != QZ_OPTION_STRINGS)
		forget(r->settings, o);
	if (o->kind == QZ_OPTION_FLAG) {
		if (is_one_of(value, "no", "false", "0"))
			return 0;
		if (!is_one_of(value, "yes", "true", "1")) {
			snprintf(why, sizeof(why), "%s: '%.64s' is neither yes nor no", name,
				 value);
			return refuse(r, -EINVAL, why);
		}
		word = asprintf(&word, "--%s", name) < 0 ? NULL : word;
	} else {
		word = asprintf(&word, "--%s=%s", name, value) < 0 ? NULL : word;
	}
	return add_word(r, word);
}

static char *strip(char *s)
{
	size_t n;

	s += strspn(s, " \t\r");
	n = strlen(s);
	while (n && strchr(" \t\r", s[n - 1]))
		s[--n] = '\0';
	return s;
}

static int take_line(const struct reading *r, char *line)
{
	char *value;

	line = strip(line);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	value = strchr(line, '=');
	if (!value)
		return refuse(r, -EINVAL, "not of the form NAME = VALUE");
	*value++ = '\0';
	return take_setting(r, strip(line), strip(value));
}

/* Who can write it decides what root does: that must be root alone. */
static int read_text(const struct reading *r, int fd, char *text)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return refuse(r, -errno, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(r, -EINVAL, "not a regular file");
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & (S_IWGRP | S_IWOTH))
		return refuse(r, -EPERM, "others than root can write it; chown root, chmod go-w");
	if (st.st_size >= MAX_FILE)
		return refuse(r, -EFBIG, "larger than 64 KiB");
	n = read(fd, text, MAX_FILE - 1);
	if (n < 0)
		return refuse(r, -errno, strerror(errno));
	text[n] = '\0';
	return 0;
}

static int read_file(struct reading *r, bool required)
{
	int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err;
	char *text, *next, *line;

	r->line = 0;
	if (fd < 0 && errno == ENOENT && !required)
		return 0;
	if (fd < 0)
		return refuse(r, -errno, strerror(errno));
	text = malloc(MAX_FILE);
	err = text ? read_text(r, fd, text) : refuse(r, -ENOMEM, "memory is short");
	close(fd);
	next = text;
	while (!err && (line = strsep(&next, "\n"))) {
		r->line++;
		err = take_line(r, line);
	}
	free(text);
	return err;
}

static int is_drop_in(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return e->d_name[0] != '.' && n > 5 && !strcmp(e->d_name + n - 5, ".conf");
}

/* In the C locale's order, whatever the caller's. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_drop_ins(struct reading *r, const char *directory)
{
	struct dirent **names = NULL;
	int n = scandir(directory, &names, is_drop_in, by_name), err = 0;
	char path[PATH_MAX + NAME_MAX + 2];

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name);
		r->path = path;
		err = err ?: read_file(r, true);
		free(names[i]);
	}
	free(names);
	return err;
}

int config_file__read(struct config_file *s, const char *file, char *error, size_t size)
{
	struct reading r = {.settings = s, .path = file, .error = error, .size = size};
	char path[PATH_MAX], directory[PATH_MAX];
	int err;

	*s = (struct config_file) {0};
	if (file)
		return read_file(&r, true);
	snprintf(path, sizeof(path), "%s/quartzd.conf", paths__configuration());
	snprintf(directory, sizeof(directory), "%s/quartzd.conf.d", paths__configuration());
	r.path = path;
	err = read_file(&r, false);
	return err ?: read_drop_ins(&r, directory);
}
