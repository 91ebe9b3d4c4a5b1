/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/proposal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/experiment/programs.h"
#include "cli/experiment/trial.h"
#include "cli/query/profile_source.h"
#include "cli/query/view.h"
#include "cli/render/output.h"
#include "core/advise/advise.h"

/*
 * What a knob that needs no change of the program can do about a finding. Threads that contend, or work in too small
 * pieces, do so less on fewer processors; who loses processors to others gets more with a lower nice value.
 */
static const struct {
	const char *rule, *knob;
} cures[] = {
	{"contention", "cpus"},	    {"spinning", "cpus"},  {"fine", "cpus"},
	{"oversubscribed", "cpus"}, {"allocator", "cpus"}, {"taken", "nice"},
};

static const char *cure_of(const char *rule)
{
	for (size_t i = 0; i < sizeof(cures) / sizeof(cures[0]); i++)
		if (!strcmp(cures[i].rule, rule))
			return cures[i].knob;
	return NULL;
}

/* The first finding that a knob helps with, or else the first one. */
static enum status choose(struct proposal *p, const struct qz_report *r)
{
	struct qz_advice *a = qz_advise__new(r);
	const struct qz_finding *found = a && a->n ? &a->findings[0] : NULL;

	if (!a)
		return out_of_memory();
	for (uint32_t i = 0; i < a->n && !p->knob; i++) {
		p->knob = cure_of(a->findings[i].rule);
		found = p->knob ? &a->findings[i] : found;
	}
	p->why = found ? escape_name(found->what) : NULL;
	qz_advise__free(a);
	return found && !p->why ? out_of_memory() : STATUS_OK;
}

static enum status look_at(struct proposal *p, const struct config *config, const char *file)
{
	struct config of = *config;
	struct view view = {0};
	enum status status;

	of.input = file;
	of.scope = NULL;
	status = view__open(&view, &of);
	if (status == STATUS_OK)
		status = choose(p, view.reports[0]);
	view__close(&view);
	return status;
}

enum status proposal__make(struct proposal *p, const struct config *config,
			   const struct processors *on)
{
	char directory[] = "/var/tmp/quartz-tune.XXXXXX", file[64];
	struct trial t = {.on = on,
			  .processors = on->n,
			  .command = config->command,
			  .file = file,
			  .user = programs__user(config)};
	enum status status = STATUS_FAILURE;
	enum trial_outcome outcome;
	int ended;

	*p = (struct proposal) {0};
	if (!mkdtemp(directory))
		return profile_source__fail("/var/tmp", errno);
	snprintf(file, sizeof(file), "%s/profile" SOURCE_SUFFIX, directory);
	outcome = trial__run(&t, &ended);
	if (outcome == TRIAL_DONE)
		status = look_at(p, config, file);
	else if (outcome == TRIAL_FAILED)
		complain("%s ended with status %d, so that there is nothing to tune",
			 config->command[0], ended);
	else
		status = (enum status)ended;
	unlink(file);
	rmdir(directory);
	return status;
}

void proposal__free(struct proposal *p)
{
	free(p->why);
	*p = (struct proposal) {0};
}
