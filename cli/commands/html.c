/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl html: a profile as one page for the browser. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/html_file.h"
#include "cli/query/history.h"
#include "cli/query/profile_source.h"
#include "cli/query/view.h"
#include "core/html/html.h"

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

/* ---- what is in it ---- */

static int put_document(FILE *out, void *context)
{
	const struct view *v = context;
	const struct qz_html_names names = {v->config->input, v->config->scope};

	return qz_html__write(out, (const struct qz_report *const *)v->reports, v->n, &names);
}

static enum status html(const struct config *config)
{
	char name[PATH_MAX];
	struct view v;
	struct html_file file = {config->output, "--output", put_document, &v, config->open};
	enum status status = view__open(&v, config);

	if (status == STATUS_OK && !file.path) {
		file.path = name;
		if (default_name(&v, name))
			status = html_file__fail(&file, -ENAMETOOLONG);
	}
	if (status == STATUS_OK)
		status = html_file__write(&file);
	view__close(&v);
	return status;
}

static const struct qz_option options[] = {
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Write to FILE. Default: the name of the snapshot\nwith .html, in the working directory."},
	{"open", 0, QZ_OPTION_FLAG, FIELD(open), NULL, "Open it in the browser."},
	{0},
};

const struct command cmd_html = {
	.name = "html",
	.summary = "Write a profile as a page for the browser",
	.details = "The page is one file that needs no network.\n",
	.options = options,
	.shared = SHARED_SCOPE | SHARED_SOURCE,
	.run = html,
};
