/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl html: a profile as one page for the browser. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/query/history.h"
#include "cli/query/profile_source.h"
#include "cli/query/view.h"
#include "core/page/page.h"
#include "core/page/page_html.h"

extern char **environ;

/* ---- which file ---- */

/* The name of the snapshot without its directory and suffix; of what is no file, where it comes from. */
static int default_name(const struct view *v, char path[PATH_MAX])
{
	const struct config *config = v->config;
	char newest[PATH_MAX] = "";
	const char *name = "quartz", *slash;
	size_t length;

	if (config->input)
		name = config->input;
	else if (!v->profile->live && !history__is_wanted(config) &&
		 profile_source__newest(SOURCE_SUFFIX, newest) == STATUS_OK)
		name = newest;
	slash = strrchr(name, '/');
	name = slash ? slash + 1 : name;
	length = strlen(name);
	if (length > strlen(SOURCE_SUFFIX) &&
	    !strcmp(name + length - strlen(SOURCE_SUFFIX), SOURCE_SUFFIX))
		length -= strlen(SOURCE_SUFFIX);
	return snprintf(path, PATH_MAX, "%.*s.html", (int)length, name) < PATH_MAX ? 0
										   : -ENAMETOOLONG;
}

static enum status fail(const char *path, int err)
{
	complain("%s: cannot be written: %s; choose another file with --output", path,
		 strerror(err));
	return STATUS_FAILURE;
}

/* Whether there is a file that is no page, and so of some other use. Devices and pipes are what was asked for. */
static bool is_of_others(const char *path)
{
	char first[sizeof(QZ_PAGE_MARK)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size) {
		close(fd);
		return false;
	}
	n = pread(fd, first, sizeof(QZ_PAGE_MARK) - 1, 0);
	close(fd);
	return n != sizeof(QZ_PAGE_MARK) - 1 || strcmp(first, QZ_PAGE_MARK);
}

/* ---- what is in it ---- */

static enum status explain(int err)
{
	if (err != -E2BIG)
		return err ? out_of_memory() : STATUS_OK;
	complain("the profile is too large for a page; --scope chooses a part of it");
	return STATUS_FAILURE;
}

static enum status put_page(const struct view *v, FILE *out)
{
	const struct qz_page_names names = {v->config->input, v->config->scope};
	char *document = NULL;
	size_t size;
	FILE *memory = open_memstream(&document, &size);
	int err;

	if (!memory)
		return out_of_memory();
	err = qz_page__write(memory, (const struct qz_report *const *)v->reports, v->n, &names);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	err = err ? err : qz_page_html__write(out, document, size);
	free(document);
	return explain(err);
}

static enum status write_file(const struct view *v, const char *path)
{
	FILE *out;
	enum status status;
	bool failed;

	if (is_of_others(path)) {
		complain("%s: exists and is no page of quartzctl; choose another file with "
			 "--output",
			 path);
		return STATUS_FAILURE;
	}
	out = fopen(path, "we");
	if (!out)
		return fail(path, errno);
	status = put_page(v, out);
	failed = ferror(out);
	if (fclose(out) || failed)
		return fail(path, errno);
	return status;
}

/* ---- the browser ---- */

/* Starts it and does not wait for its end. */
static enum status open_page(const char *path)
{
	const char *chosen = getenv("BROWSER"), *browser = chosen && *chosen ? chosen : "xdg-open";
	char *argv[] = {(char *)browser, (char *)path, NULL};
	pid_t pid;
	int err = posix_spawnp(&pid, browser, NULL, NULL, argv, environ);

	if (!err)
		return STATUS_OK;
	complain("%s: %s; open %s in a browser, or name one in BROWSER", browser, strerror(err),
		 path);
	return STATUS_FAILURE;
}

enum status cmd_html(const struct config *config)
{
	char name[PATH_MAX];
	const char *path = config->output;
	struct view v;
	enum status status = view__open(&v, config);

	if (status == STATUS_OK && !path) {
		path = name;
		if (default_name(&v, name))
			status = fail(name, ENAMETOOLONG);
	}
	if (status == STATUS_OK)
		status = write_file(&v, path);
	view__close(&v);
	if (status != STATUS_OK)
		return status;
	complain("page written to %s", path);
	return config->open ? open_page(path) : STATUS_OK;
}
