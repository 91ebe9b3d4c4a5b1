/* SPDX-License-Identifier: GPL-2.0-only */
/* How the entities of one profile get into another one: what merging, folding and summaries have in common. */
#ifndef QUARTZ_CORE_IMPORT_H
#define QUARTZ_CORE_IMPORT_H

#include "core/transform/merge.h"
#include "core/transform/compact.h"
#include "core/util/hash_table.h"

/*
 * Where the entities of one profile are in another one, by their index; QZ_NONE: they are not there.
 * Stacks, code and causes are imported when they are first needed.
 */
struct qz_maps {
	uint32_t *scopes, *threads, *objects, *calls;
	uint32_t *mappings, *procedures, *locations, *nodes, *causes;
};

int qz_maps__new(struct qz_maps *maps, const struct qz_profile *from);
void qz_maps__free(struct qz_maps *maps);

struct qz_import {
	struct qz_profile *to;
	const struct qz_profile *from;
	struct qz_maps *maps;
	/* entities of `to` that are found again by what tells them apart */
	struct qz_hash_table scopes, threads;
	bool distinct;		     /* none are looked for: each one of `from` is one of `to` */
	const bool *marked;	     /* scopes of `from` that go into another one, NULL: none */
	uint32_t folded, folded_row; /* of `to`: that one and its thread, QZ_NONE: none */
	bool busy; /* entities are imported only where they have figures, or are needed */
	/*
	 * `to` is a later state of the run: figures are added to what it has, and no scope or thread; what
	 * it does not have is left out. Where the scopes went that it does not have, `marked` and `folded` say.
	 */
	bool earlier;
	const struct qz_compact *summary; /* NULL: all that scopes have is imported */
	const bool *
		kept; /* scopes of `from`: what is theirs is imported, without the kernel; NULL: all */
	uint32_t *
		cuts; /* of each location, the node of `to` that stands for stacks which end there */
};

/* ---- import_code.c: each gives where it is in `to`, or -ENOMEM ---- */

/* Keeps what an intern function gave, and gives it. */
int64_t qz_import__keep(uint32_t *entry, int64_t index);

int64_t qz_import__procedure(struct qz_import *m, uint32_t i);
int64_t qz_import__cause(struct qz_import *m, uint32_t i);

/* A stack, by its innermost node. */
int64_t qz_import__node(struct qz_import *m, uint32_t leaf);

/* The stack of its innermost procedure alone, wherever in it; none where the summary has no procedures. */
int64_t qz_import__innermost(struct qz_import *m, uint32_t leaf);

/* ---- import.c ---- */

/* Looks at what `to` has already. */
int qz_import__know(struct qz_import *m);

bool qz_import__knows_scope(const struct qz_import *m, const struct qz_scope *scope);

/* Scopes, threads and objects, all figures, and what these need. */
int qz_import__entities(struct qz_import *m);

void qz_import__end(struct qz_import *m);

#endif
