/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies the entities of one profile into another: the common part of merging, subtracting, filtering and summaries. The
 * caller decides what becomes of each scope; entities that refer to a scope follow it.
 */
#ifndef QUARTZ_CORE_IMPORT_H
#define QUARTZ_CORE_IMPORT_H

#include "core/model/profile.h"
#include "core/util/hash_table.h"

enum qz_fate {
	QZ_FATE_OWN,	/* it is a scope of `to`, with all that is its own */
	QZ_FATE_SUMMED, /* the same, but only the sums of its stacks, threads and waits */
	QZ_FATE_FOLDED, /* its figures go into the scope `folded` */
	QZ_FATE_NONE,	/* it is left out */
};

/* Where the entities of `from` are in `to`, by their index; QZ_NONE: they are not there. */
struct qz_maps {
	uint32_t *scopes, *threads, *objects, *calls;
	uint32_t *mappings, *procedures, *locations, *nodes, *causes; /* filled when needed */
	uint32_t *cuts; /* by location: the node that stands for stacks which end there */
};

struct qz_import {
	struct qz_profile *to;
	const struct qz_profile *from;
	const uint8_t *fates;	     /* of the scopes of `from`, enum qz_fate; NULL: QZ_FATE_OWN */
	uint32_t folded, folded_row; /* of `to`: a scope and its thread, QZ_NONE: none */
	bool distinct;		     /* each entity of `from` is a new one of `to` */
	bool busy;	 /* entities are imported only where they have figures, or are needed */
	bool procedures; /* keep the innermost procedure of a stack that is summed; else no code */
	bool for_user; /* for a user who may see only these scopes: no kernel code, no foreign wakers, no instants */
	/*
	 * `to` is a later state of the run: figures are added to its entities, but no scope or thread is; what it does not
	 * have is left out.
	 */
	bool earlier;

	/* of import.c */
	struct qz_maps maps;
	struct qz_hash_table scopes, threads; /* entities of `to`, by their keys */
};

/*
 * Finds the entities that `to` has already. 0 or -ENOMEM. qz_import__end must follow in any case, also after the functions
 * below.
 */
int qz_import__begin(struct qz_import *m);

bool qz_import__knows_scope(const struct qz_import *m, const struct qz_scope *scope);

/* Scopes, threads and objects, all figures, and what these need; begins if that was not done. 0 or -errno. */
int qz_import__run(struct qz_import *m);

void qz_import__end(struct qz_import *m);

/* Runs and ends. 0 or -errno. */
int qz_import__once(struct qz_import *m);

/*
 * Removes threads that had ended before `before_ns`, and rows of several threads, from those that were seen. To be called
 * between run and end.
 */
void qz_import__forget_ended(struct qz_import *m, uint64_t before_ns, uint32_t whole);

/* ---- import_code.c: each gives where it is in `to`, or -ENOMEM ---- */

int qz_maps__new(struct qz_maps *maps, const struct qz_profile *from);
void qz_maps__free(struct qz_maps *maps);

/* Stores the result of an intern function, and returns it. */
int64_t qz_import__keep(uint32_t *entry, int64_t index);

int64_t qz_import__procedure(struct qz_import *m, uint32_t i);
int64_t qz_import__cause(struct qz_import *m, uint32_t i);

/* A stack, by its innermost node. */
int64_t qz_import__node(struct qz_import *m, uint32_t leaf);

/* The stack of its innermost procedure alone, wherever in it; none where no procedures are wanted. */
int64_t qz_import__innermost(struct qz_import *m, uint32_t leaf);

#endif
