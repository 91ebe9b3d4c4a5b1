/* SPDX-License-Identifier: GPL-2.0-only */
/* How the entities of one profile get into another one: what merging, folding and summaries have in common. */
#ifndef QUARTZ_CORE_BRING_H
#define QUARTZ_CORE_BRING_H

#include "core/merge.h"
#include "core/summary.h"
#include "core/table.h"

struct qz_bringing {
	struct qz_profile *to;
	const struct qz_profile *from;
	struct qz_maps *maps;
	/* entities of `to` that are found again by what tells them apart */
	struct qz_table scopes, threads;
	bool distinct;	    /* none are looked for: each one of `from` is one of `to` */
	const bool *marked; /* scopes of `from` that go into another one, NULL: none */
	uint32_t into, row; /* of `from`: that one and its thread; QZ_NONE: see `folded` */
	uint32_t folded;    /* of `to`: that one */
	bool busy;	    /* entities are brought only where they have figures, or are needed */
	const struct qz_summary *summary; /* NULL: all that scopes have is brought */
	const bool *
		kept; /* scopes of `from`: what is theirs is brought, without the kernel; NULL: all */
	uint32_t *
		cuts; /* of each location, the node of `to` that stands for stacks which end there */
};

/* ---- bring_code.c: each gives where it is in `to`, or -ENOMEM ---- */

/* Keeps what an intern function gave, and gives it. */
int64_t qz_bring__keep(uint32_t *entry, int64_t index);

int64_t qz_bring__procedure(struct qz_bringing *m, uint32_t i);
int64_t qz_bring__cause(struct qz_bringing *m, uint32_t i);

/* A stack, by its innermost node. */
int64_t qz_bring__node(struct qz_bringing *m, uint32_t leaf);

/* The stack of its innermost procedure alone, wherever in it; none where the summary has no procedures. */
int64_t qz_bring__innermost(struct qz_bringing *m, uint32_t leaf);

/* All code, stacks and causes, so that indices stay as they are in a profile that was empty. */
int qz_bring__code(struct qz_bringing *m);

/* ---- bring.c ---- */

/* Looks at what `to` has already. */
int qz_bring__know(struct qz_bringing *m);

/* Scopes, threads and objects, all figures, and what these need. */
int qz_bring__entities(struct qz_bringing *m);

void qz_bring__end(struct qz_bringing *m);

#endif
