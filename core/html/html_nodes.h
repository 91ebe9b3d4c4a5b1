/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of a page: a tree of procedures. A node of a profile is a place in the code, and may stand for
 * several inlined procedures; here a node is one procedure called from its parent, and all its places share the node.
 */
#ifndef QUARTZ_CORE_HTML_NODES_H
#define QUARTZ_CORE_HTML_NODES_H

#include <stdio.h>

#include "core/model/profile.h"
#include "core/util/hash_table.h"

/* No browser shows more than this, and a hostile file could ask for any number. */
#define QZ_HTML_MAX_NODES (1u << 22)

struct qz_html_node {
	uint32_t parent;    /* the root, 0, is its own */
	uint32_t procedure; /* QZ_NONE: the root */
};

struct qz_html_nodes {
	uint32_t n;
	struct qz_html_node *nodes; /* in preorder: each follows its parent */
	uint32_t *
		of; /* of each node of the profile: its node here, QZ_NONE: not wanted; else NULL */
	struct qz_hash_table table; /* while it is built */
};

/*
 * A tree with only the root, to be filled by the functions below. 0 or -ENOMEM; free with qz_html_nodes__free, also after
 * an error.
 */
int qz_html_nodes__init(struct qz_html_nodes *t);

/* The node of a procedure that is called from this parent: its index or -errno. */
int64_t qz_html_nodes__intern(struct qz_html_nodes *t, uint32_t parent, uint32_t procedure);

/*
 * Puts the nodes in the order of the document, after which none can be added. n indices of nodes, QZ_NONE among them,
 * become those of the new order. -ENOMEM.
 */
int qz_html_nodes__sort(struct qz_html_nodes *t, uint32_t *indices, uint32_t n);

/* Prints them as a member "nodes", with a comma before it. */
void qz_html_nodes__put(FILE *out, const struct qz_html_nodes *t);

/*
 * Builds the tree of the marked nodes of the profile and all their callers. 0, -ENOMEM or -E2BIG; free with
 * qz_html_nodes__free, also after an error.
 */
int qz_html_nodes__build(struct qz_html_nodes *t, const struct qz_profile *p, bool *wanted);
void qz_html_nodes__free(struct qz_html_nodes *t);

#endif
