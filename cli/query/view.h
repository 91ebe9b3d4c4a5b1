/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a data command shows: the profile, the reports of those of its scopes that are wanted, and
 * in each of them the procedure or object that was asked for.
 */
#ifndef QUARTZ_CLI_VIEW_H
#define QUARTZ_CLI_VIEW_H

#include "cli/cli.h"
#include "cli/render/names.h"
#include "core/report/report.h"

struct view {
	const struct config *config;
	struct qz_profile *profile;
	struct names *names;
	uint32_t n;	  /* of the scopes wanted, >= 1, and of the arrays below */
	uint32_t *scopes; /* their indices in the profile */
	struct qz_report **reports;
	const struct qz_row **rows;	      /* of the procedure, NULL where it did not run */
	const struct qz_object_row **objects; /* of the object, where there is no such procedure */
};

/* The view is to be closed in any case. */
enum status view__open(struct view *v, const struct config *config);
void view__close(struct view *v);

#endif
