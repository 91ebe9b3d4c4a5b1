/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl html: a profile as one page for the browser. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/page_file.h"
#include "cli/query/history.h"
#include "cli/query/profile_source.h"
#include "cli/query/view.h"
#include "core/page/page.h"

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

static enum status write_page(const struct view *v, const struct page_file *file)
{
	const struct qz_page_names names = {v->config->input, v->config->scope};
	enum status status;
	char *document = NULL;
	size_t size;
	FILE *memory = open_memstream(&document, &size);
	int err;

	if (!memory)
		return out_of_memory();
	err = qz_page__write(memory, (const struct qz_report *const *)v->reports, v->n, &names);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	status = err ? page_file__fail(file, err) : page_file__write(file, document, size);
	free(document);
	return status;
}

enum status cmd_html(const struct config *config)
{
	char name[PATH_MAX];
	struct page_file file = {config->output, "--output"};
	struct view v;
	enum status status = view__open(&v, config);

	if (status == STATUS_OK && !file.path) {
		file.path = name;
		if (default_name(&v, name))
			status = page_file__fail(&file, -ENAMETOOLONG);
	}
	if (status == STATUS_OK)
		status = write_page(&v, &file);
	view__close(&v);
	return status == STATUS_OK && config->open ? page_file__open(file.path) : status;
}
