/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/measured.h"

#include <stdio.h>

#include "cli/experiment/own_directory.h"
#include "cli/query/paths.h"
#include "cli/query/profile_source.h"

static enum status open_profile(struct measured *m, const struct config *config, const char *file)
{
	m->config = *config;
	m->config.input = file;
	m->config.scope = NULL;
	return view__open(&m->view, &m->config);
}

static enum status explain(const struct trial *t, enum trial_outcome outcome, int ended,
			   const char *verb)
{
	if (outcome != TRIAL_FAILED)
		return (enum status)ended;
	complain("%s ended with status %d, so that there is nothing to %s",
		 t->command ? t->command[0] : "measuring the process", ended, verb);
	return STATUS_FAILURE;
}

enum status measured__take(struct measured *m, const struct config *config, const struct trial *t,
			   const char *verb)
{
	struct own_directory directory;
	char file[96];
	struct trial once = *t;
	enum trial_outcome outcome;
	enum status status;
	int ended, err = own_directory__make(&directory, "quartz-once");

	*m = (struct measured) {0};
	if (err)
		return paths__fail("/var/tmp", -err);
	snprintf(file, sizeof(file), "%s/profile" SOURCE_SUFFIX, directory.path);
	once.file = file;
	outcome = trial__run(&once, &ended);
	status = outcome == TRIAL_DONE ? open_profile(m, config, file)
				       : explain(&once, outcome, ended, verb);
	own_directory__remove(&directory);
	return status;
}

enum status measured__read(struct measured *m, const struct config *config)
{
	*m = (struct measured) {.config = *config};
	return view__open(&m->view, &m->config);
}

void measured__free(struct measured *m)
{
	view__close(&m->view);
	*m = (struct measured) {0};
}
