/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the entities of one profile get into another one: what merging, subtracting, filtering and summaries have in common.
 * The caller says what becomes of each scope, and the rest follows: what refers to a scope goes where it went.
 */
#ifndef QUARTZ_CORE_IMPORT_H
#define QUARTZ_CORE_IMPORT_H

#include "core/model/profile.h"
#include "core/util/hash_table.h"

enum qz_fate {
	QZ_FATE_OWN,	/* it is a scope of `to`, with all that is its own */
	QZ_FATE_SUMMED, /* the same, of its stacks, threads and waits only what they add up to */
	QZ_FATE_FOLDED, /* its figures go into the scope `folded` */
	QZ_FATE_NONE,	/* it is left out */
};

/* Where the entities of `from` are in `to`, by their index; QZ_NONE: they are not there. */
struct qz_maps {
	uint32_t *scopes, *threads, *objects, *calls;
	uint32_t *mappings, *procedures, *locations, *nodes, *causes; /* as they are needed */
	uint32_t *cuts; /* by location: the node that stands for stacks which end there */
};

struct qz_import {
	struct qz_profile *to;
	const struct qz_profile *from;
	const uint8_t *fates;	     /* of the scopes of `from`, enum qz_fate; NULL: QZ_FATE_OWN */
	uint32_t folded, folded_row; /* of `to`: a scope and its thread, QZ_NONE: none */
	bool distinct;		     /* each entity of `from` is a new one of `to` */
	bool busy;	 /* entities are imported only where they have figures, or are needed */
	bool procedures; /* of a stack that is summed, the innermost one stays; else no code */
	bool for_user;	 /* who may see these scopes alone: no kernel, strangers and instants */
	/*
	 * `to` is a later state of the run: figures are added to what it has, and no scope or thread; what
	 * it does not have is left out.
	 */
	bool earlier;

	/* of import.c */
	struct qz_maps maps;
	struct qz_hash_table scopes, threads; /* entities of `to`, by what tells them apart */
};

/* Finds what `to` has already. 0 or -ENOMEM. To be ended in any case, as also what follows. */
int qz_import__begin(struct qz_import *m);

bool qz_import__knows_scope(const struct qz_import *m, const struct qz_scope *scope);

/* Scopes, threads and objects, all figures, and what these need; begins if that was not done. 0 or -errno. */
int qz_import__run(struct qz_import *m);

void qz_import__end(struct qz_import *m);

/* Runs and ends. 0 or -errno. */
int qz_import__once(struct qz_import *m);

/* Threads that had ended are not of this time; rows that stand for several are not known to be. Between run and end. */
void qz_import__forget_ended(struct qz_import *m, uint64_t before_ns, uint32_t whole);

/* ---- import_code.c: each gives where it is in `to`, or -ENOMEM ---- */

int qz_maps__new(struct qz_maps *maps, const struct qz_profile *from);
void qz_maps__free(struct qz_maps *maps);

/* Keeps what an intern function gave, and gives it. */
int64_t qz_import__keep(uint32_t *entry, int64_t index);

int64_t qz_import__procedure(struct qz_import *m, uint32_t i);
int64_t qz_import__cause(struct qz_import *m, uint32_t i);

/* A stack, by its innermost node. */
int64_t qz_import__node(struct qz_import *m, uint32_t leaf);

/* The stack of its innermost procedure alone, wherever in it; none where no procedures are wanted. */
int64_t qz_import__innermost(struct qz_import *m, uint32_t leaf);

#endif
