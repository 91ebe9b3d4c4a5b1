// SPDX-License-Identifier: GPL-2.0-only
#include "cli/render/scope_label.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/transform/merge.h"
#include "cli/render/output.h"

char *scope_label(const struct qz_scope *scope, int width)
{
	static const char *const kinds[] = {
		[QZ_SCOPE_PROCESS] = "process",
		[QZ_SCOPE_TREE] = "process tree",
		[QZ_SCOPE_JOB] = "job",
		[QZ_SCOPE_MACHINE] = "machine",
		[QZ_SCOPE_KERNEL] = "kernel threads",
	};
	char *command = output__escape(*scope->command ? scope->command : scope->comm);
	const char *name = kinds[scope->kind];
	char *label = NULL;
	size_t keep;

	if (scope->kind == QZ_SCOPE_MACHINE && !strcmp(scope->comm, QZ_CONTAINED))
		name = "processes of a PID namespace";

	if (!command)
		return NULL;
	if (qz_scope__is_group(scope)) {
		if (asprintf(&label, "%s (%" PRIu64 " processes that lived for less than a second)",
			     command, (uint64_t)scope->counters.threads_seen) < 0)
			label = NULL;
	} else if (scope->pid ? asprintf(&label, "%s %d: %s", name, scope->pid, command) < 0
			      : asprintf(&label, "%s", name) < 0)
		label = NULL;
	free(command);
	if (label && output__count_characters(label) > width) {
		keep = output__skip_characters(label, width - 3);
		strcpy(label + keep, "...");
	}
	return label;
}
