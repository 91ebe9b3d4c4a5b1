/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages for the browser as files. */
#include "cli/files/html_file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/output_file.h"
#include "core/html/html_file.h"
#include "core/util/save_file.h"

extern char **environ;

enum status html_file__fail(const struct html_file *file, int err)
{
	if (err == -ENOMEM)
		return out_of_memory();
	if (err == -E2BIG)
		complain("the profile is too large for a page; --scope chooses a part of it");
	else
		complain("%s: cannot be written: %s; choose another file with %s", file->path,
			 qz_save_file__reason(err), file->option);
	return STATUS_FAILURE;
}

/* ---- the browser ---- */

static enum status open_in_browser(const char *path)
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

/* ---- the file ---- */

/* Whether there is a file that is no page, and so of some other use. Devices and pipes are what was asked for. */
static bool is_of_others(const char *path)
{
	char first[sizeof(QZ_HTML_MARK)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size) {
		close(fd);
		return false;
	}
	n = pread(fd, first, sizeof(QZ_HTML_MARK) - 1, 0);
	close(fd);
	return n != sizeof(QZ_HTML_MARK) - 1 || strcmp(first, QZ_HTML_MARK);
}

struct document {
	const char *text;
	size_t size;
};

static int put_html(FILE *out, void *context)
{
	const struct document *d = context;

	return qz_html_file__write(out, d->text, d->size);
}

static enum status write_document(const struct html_file *file, const char *text, size_t size)
{
	struct document document = {text, size};
	int err;

	if (is_of_others(file->path)) {
		complain("%s: exists and is no page of quartzctl; choose another file with %s",
			 file->path, file->option);
		return STATUS_FAILURE;
	}
	err = output_file__write(file->path, put_html, &document);
	if (err)
		return html_file__fail(file, err);
	complain("page written to %s", file->path);
	return STATUS_OK;
}

enum status html_file__write(const struct html_file *file)
{
	enum status status;
	char *document = NULL;
	size_t size;
	FILE *memory = open_memstream(&document, &size);
	int err;

	if (!memory)
		return out_of_memory();
	err = file->put(memory, file->context);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	status = err ? html_file__fail(file, err) : write_document(file, document, size);
	free(document);
	return status == STATUS_OK && file->open ? open_in_browser(file->path) : status;
}
