/* SPDX-License-Identifier: GPL-2.0-only */
/* Knobs that the user names, and their values as remedies. */
#include "cli/tries/tries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/knobs/knob_failure.h"
#include "cli/render/output.h"

enum status tries__add_value(struct tries *t, const struct knob *k, uint32_t i,
			     const struct qz_remedy_place *place)
{
	const struct qz_remedy_wish wish = {.way = k->way,
					    .knob = k->name,
					    .name = k->names[i],
					    .value = k->values[i],
					    .line = k->lines ? k->lines[i] : NULL,
					    .undo = k->lines && t->is_running ? k->lines[k->start]
									      : NULL};
	int err = qz_remedies__add(&t->remedies, &wish, place);

	if (err == -ENOSPC) {
		complain("--knob '%s': more than %d remedies and values in all; leave out some",
			 k->name, QZ_REMEDIES_MOST);
		return STATUS_USAGE;
	}
	return err ? out_of_memory() : STATUS_OK;
}

/* The process has no knob of this name. */
static enum status fail_to_find(const struct tries *t, const char *name)
{
	pid_t pid = (pid_t)t->running.roots.items[0];
	struct knob_page page;
	int err = knob_page__open(&page, pid);

	if (err)
		return knob_failure__open(pid, err);
	knob_page__close(&page);
	return knob_failure__missing(pid, name);
}

/*
 * NAME and NAME:VALUES name a knob of the process; cpus and nice are there for each process. In NAME:VALUES:COMMAND, the
 * first value is the current one.
 */
enum status tries__parse_knob(struct tries *t, const char *text, const char *start, struct knob *k)
{
	const char *values = strchr(text, ':'), *line = values ? strchr(values + 1, ':') : NULL;
	char first[64];
	const struct qz_knob *of;

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, ":"), text);
	of = t->running.has_page && !line ? knob_page__find(&t->running.page, first) : NULL;
	if (of)
		return knob__of_process(k, text, values ? values + 1 : NULL, of);
	if (t->is_running && !line && strcmp(first, "cpus") != 0 && strcmp(first, "nice") != 0)
		return fail_to_find(t, first);
	if (line)
		snprintf(first, sizeof(first), "%ld", strtol(values + 1, NULL, 10));
	return knob__parse(k, text, line && !start ? first : start, &t->runs.on);
}
