/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of several profiles in one tree: frames are matched by name, as the rows of a comparison are, and what the
 * kernel did is one frame, so that the times of a frame's own code add up to those of its row.
 */
#ifndef QUARTZ_CORE_HTML_STACKS_H
#define QUARTZ_CORE_HTML_STACKS_H

#include "core/compare/identities.h"
#include "core/html/html_nodes.h"
#include "core/html/html_rows.h"

struct qz_html_stacks {
	struct qz_identities *ids;  /* borrowed */
	struct qz_html_nodes nodes; /* their procedures are identities */
	uint32_t nscopes;
	/* Keys: node, 1 for the side after, 1 for spinning. Values: norm_ns, cpu_ns, blocked_ns, summed over runs. */
	struct qz_html_rows *scopes;
};

/* -ENOMEM; free with qz_html_stacks__free, also after an error. */
int qz_html_stacks__init(struct qz_html_stacks *s, struct qz_identities *ids, uint32_t nscopes);

/* Adds the samples, and the waits of threads that are not idle, of one run of a scope. -ENOMEM, -E2BIG. */
int qz_html_stacks__add(struct qz_html_stacks *s, uint32_t scope, const struct qz_report *r,
			bool after);

/* Puts nodes and rows in the order of the document. -ENOMEM. */
int qz_html_stacks__finish(struct qz_html_stacks *s);
void qz_html_stacks__free(struct qz_html_stacks *s);

#endif
