/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/figure.h"
#include "core/report/folding.h"
#include "core/report/kernel_rows.h"
#include "core/report/wait_report.h"
#include "core/util/hash_table.h"
#include "core/util/vec.h"

/* A branch while the tree grows. It comes after its parent. */
struct growing {
	uint32_t parent; /* QZ_NONE: outermost */
	uint32_t procedure, via;
	uint32_t kernel;	      /* index of labels, QZ_NONE: a procedure */
	uint64_t norm_ns, blocked_ns; /* total, without idle threads */
	bool large, folded, shown, open;
	struct qz_branch branch; /* of a large one */
};

struct forest {
	const struct qz_report *r;
	bool flat;
	struct growing *all;
	uint32_t n;
	struct qz_hash_table table;
	char **labels;
	uint32_t nlabels;
	uint32_t *leaf_of_sample, *leaf_of_wait; /* QZ_NONE: none */
	uint32_t *large, nlarge;		 /* those that are */
};

/* ---- growing ---- */

static int64_t grow(struct forest *f, const struct growing *key)
{
	return QZ_INTERN(&f->table, &f->all, &f->n, key, kernel);
}

/* Takes the label over. */
static int64_t label_of(struct forest *f, char *label)
{
	for (uint32_t i = 0; i < f->nlabels; i++) {
		if (!strcmp(f->labels[i], label)) {
			free(label);
			return i;
		}
	}
	if (qz_array__reserve((void **)&f->labels, f->nlabels, sizeof(*f->labels))) {
		free(label);
		return -ENOMEM;
	}
	f->labels[f->nlabels] = label;
	return f->nlabels++;
}

struct step {
	uint32_t procedure, via;
};

/* The procedures of a stack, innermost first, without the kernel's where `user`, and without direct recursion. */
static uint32_t list_steps(const struct qz_profile *p, uint32_t leaf, bool user,
			   struct step steps[QZ_MAX_DEPTH])
{
	struct qz_frames frames = {.profile = p, .node = leaf};
	uint32_t n = 0, procedure;

	while (n < QZ_MAX_DEPTH && (procedure = qz_frames__next(&frames)) != QZ_NONE) {
		const struct qz_procedure *proc = &p->procedures[procedure];

		if (proc->kind != QZ_PROCEDURE) {
			if (n && proc->kind > steps[n - 1].via)
				steps[n - 1].via = proc->kind;
		} else if (n && steps[n - 1].procedure == procedure) {
			continue;
		} else if (!user || !qz_procedure__is_kernel(proc)) {
			steps[n++] = (struct step) {procedure, QZ_PROCEDURE};
		}
	}
	return n;
}

/* The branch of a stack; -ENOENT: no procedure is on it. */
static int64_t branch_of(struct forest *f, uint32_t leaf)
{
	struct growing key = {.parent = QZ_NONE, .kernel = QZ_NONE};
	struct step steps[QZ_MAX_DEPTH];
	int64_t at = -ENOENT;
	char *label = NULL;
	uint32_t n;

	if (!f->flat && qz_kernel_rows__label(f->r, leaf, &label))
		return -ENOMEM;
	n = list_steps(f->r->profile, leaf, label != NULL, steps);
	while (n-- && at != -ENOMEM) {
		key.procedure = steps[n].procedure;
		key.via = steps[n].via;
		at = grow(f, &key);
		key.parent = at;
	}
	if (!label || at == -ENOMEM) {
		free(label);
		return at;
	}
	key.procedure = QZ_NONE;
	key.via = QZ_PROCEDURE;
	at = label_of(f, label);
	key.kernel = at;
	return at < 0 ? at : grow(f, &key);
}

static int grow_samples(struct forest *f)
{
	const struct qz_profile *p = f->r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		int64_t leaf = -ENOENT;

		if (p->samples[i].scope == f->r->scope)
			leaf = branch_of(f, p->samples[i].node);
		if (leaf == -ENOMEM)
			return -ENOMEM;
		f->leaf_of_sample[i] = leaf < 0 ? QZ_NONE : (uint32_t)leaf;
		for (uint32_t at = f->leaf_of_sample[i]; at != QZ_NONE; at = f->all[at].parent)
			f->all[at].norm_ns += p->samples[i].norm_ns;
	}
	return 0;
}

static int grow_waits(struct forest *f)
{
	const struct qz_profile *p = f->r->profile;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		int64_t leaf = -ENOENT;

		if (qz_scope__covers(p, f->r->scope, w->scope))
			leaf = branch_of(f, w->node);
		if (leaf == -ENOMEM)
			return -ENOMEM;
		f->leaf_of_wait[i] = leaf < 0 ? QZ_NONE : (uint32_t)leaf;
		if (w->thread != QZ_NONE && f->r->idle[w->thread])
			continue;
		for (uint32_t at = f->leaf_of_wait[i]; at != QZ_NONE; at = f->all[at].parent)
			f->all[at].blocked_ns += w->blocked_ns;
	}
	return 0;
}

/* ---- figures of the large ones ---- */

static int choose_large(struct forest *f)
{
	uint64_t least = f->r->elapsed_ns / 1000 * QZ_TREE_PER_MILLE;

	for (uint32_t i = 0; i < f->n; i++) {
		struct growing *g = &f->all[i];

		g->large = (g->norm_ns && g->norm_ns >= least) ||
			   (g->blocked_ns && g->blocked_ns >= least);
		if (!g->large)
			continue;
		if (qz_array__reserve((void **)&f->large, f->nlarge, sizeof(*f->large)))
			return -ENOMEM;
		f->large[f->nlarge++] = i;
		if (qz_figure__init(&g->branch.total, f->r))
			return -ENOMEM;
		if (qz_figure__init(&g->branch.self, f->r))
			return -ENOMEM;
		g->branch.procedure = g->procedure;
		g->branch.via = g->via;
	}
	return 0;
}

static void add_figures(struct forest *f)
{
	const struct qz_report *r = f->r;

	for (uint32_t i = 0; i < r->profile->nsamples; i++) {
		uint32_t index = qz_report__sample(r, i), leaf = f->leaf_of_sample[index];
		const struct qz_sample *s = &r->profile->samples[index];

		if (leaf != QZ_NONE && f->all[leaf].large)
			qz_figure__add(&f->all[leaf].branch.self, r, s);
		for (uint32_t at = leaf; at != QZ_NONE; at = f->all[at].parent)
			if (f->all[at].large)
				qz_figure__add(&f->all[at].branch.total, r, s);
	}
	for (uint32_t i = 0; i < r->profile->nwaits; i++)
		for (uint32_t at = f->leaf_of_wait[i]; at != QZ_NONE; at = f->all[at].parent)
			if (f->all[at].large)
				qz_wait_figure__add_at(&f->all[at].branch.waits, r,
						       &r->profile->waits[i]);
	for (uint32_t i = 0; i < f->nlarge; i++) {
		qz_figure__finish(&f->all[f->large[i]].branch.self, r);
		qz_figure__finish(&f->all[f->large[i]].branch.total, r);
	}
}

/* ---- folding ---- */

static uint32_t *largest_children(const struct forest *f)
{
	uint32_t *child = calloc((size_t)f->n + 1, sizeof(*child));

	for (uint32_t i = 0; child && i < f->n; i++)
		child[i] = QZ_NONE;
	for (uint32_t i = 0; child && i < f->nlarge; i++) {
		const struct growing *g = &f->all[f->large[i]];
		uint32_t *best = g->parent == QZ_NONE ? NULL : &child[g->parent];

		if (best &&
		    (*best == QZ_NONE ||
		     g->norm_ns + g->blocked_ns > f->all[*best].norm_ns + f->all[*best].blocked_ns))
			*best = f->large[i];
	}
	return child;
}

static bool is_wrapper(const struct forest *f, const struct growing *g, const struct growing *child)
{
	const struct qz_procedure *procs = f->r->profile->procedures;
	uint64_t instant = f->r->elapsed_ns / 100;

	return child->kernel == QZ_NONE &&
	       qz_folding__may(&procs[g->procedure], &procs[child->procedure]) &&
	       2 * child->norm_ns >= g->norm_ns &&
	       2 * (child->norm_ns + child->blocked_ns) >= g->norm_ns + g->blocked_ns &&
	       g->norm_ns - child->norm_ns <= g->branch.total.ci_ns &&
	       g->blocked_ns - child->blocked_ns <= instant &&
	       g->branch.total.spin_ns - child->branch.total.spin_ns <= instant;
}

/* From outside inwards, so that a wrapper in a wrapper finds where it belongs. */
static int fold(struct forest *f)
{
	uint32_t *child = largest_children(f);

	if (!child)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nlarge && !f->flat; i++) {
		uint32_t wrapper = f->large[i];
		struct growing *g = &f->all[wrapper], *c;

		if (child[wrapper] == QZ_NONE || g->kernel != QZ_NONE)
			continue;
		c = &f->all[child[wrapper]];
		if (!is_wrapper(f, g, c))
			continue;
		g->folded = true;
		c->branch.wrappers = g->branch.wrappers + 1;
		if (c->branch.via < g->branch.via)
			c->branch.via = g->branch.via;
		for (uint32_t k = i + 1; k < f->nlarge; k++)
			if (f->all[f->large[k]].parent == wrapper)
				f->all[f->large[k]].parent = g->parent;
	}
	free(child);
	return 0;
}

/* ---- what is shown ---- */

static bool is_larger(const struct growing *a, const struct growing *b)
{
	return a->norm_ns != b->norm_ns ? a->norm_ns > b->norm_ns : a->blocked_ns > b->blocked_ns;
}

/* The largest that may be shown next, whose caller is; the first of equal ones. */
static uint32_t find_next(struct forest *f, uint32_t depth)
{
	uint32_t best = QZ_NONE;

	for (uint32_t i = 0; i < f->nlarge; i++) {
		struct growing *g = &f->all[f->large[i]];
		const struct growing *up = g->parent == QZ_NONE ? NULL : &f->all[g->parent];

		if (g->folded || g->shown || (up && !up->shown))
			continue;
		g->branch.depth = up ? up->branch.depth + 1 : 0;
		if (g->branch.depth < depth && (best == QZ_NONE || is_larger(g, &f->all[best])))
			best = f->large[i];
	}
	return best;
}

/* The largest of those shown below `parent` that is not in the tree yet. */
static uint32_t find_child(const struct forest *f, uint32_t parent)
{
	uint32_t best = QZ_NONE;

	for (uint32_t i = 0; i < f->nlarge; i++) {
		const struct growing *g = &f->all[f->large[i]];

		if (g->shown && !g->open && g->parent == parent &&
		    (best == QZ_NONE || is_larger(g, &f->all[best])))
			best = f->large[i];
	}
	return best;
}

/* Moves the branches shown to the tree, in its order. */
static int collect(struct forest *f, struct qz_tree *tree, uint32_t shown)
{
	uint32_t at = QZ_NONE;

	tree->branches = calloc((size_t)shown + 1, sizeof(*tree->branches));
	if (!tree->branches)
		return -ENOMEM;
	while (tree->n < shown) {
		uint32_t next = find_child(f, at);
		struct growing *g;

		if (next == QZ_NONE) {
			at = f->all[at].parent;
			continue;
		}
		g = &f->all[next];
		g->open = true;
		tree->branches[tree->n] = g->branch;
		g->branch.self = g->branch.total = (struct qz_figure) {0};
		if (g->kernel != QZ_NONE) {
			tree->branches[tree->n].kernel = strdup(f->labels[g->kernel]);
			if (!tree->branches[tree->n].kernel) {
				tree->n++;
				return -ENOMEM;
			}
		}
		tree->n++;
		at = next;
	}
	return 0;
}

static int show(struct forest *f, uint32_t rows, uint32_t depth, struct qz_tree *tree)
{
	uint32_t shown = 0, next;

	while (shown < rows && (next = find_next(f, depth)) != QZ_NONE) {
		f->all[next].shown = true;
		shown++;
	}
	for (uint32_t i = 0; i < f->nlarge; i++)
		tree->left_out += !f->all[f->large[i]].folded && !f->all[f->large[i]].shown;
	return collect(f, tree, shown);
}

int qz_tree__find(const struct qz_report *r, bool flat, uint32_t rows, uint32_t depth,
		  struct qz_tree *tree)
{
	const struct qz_profile *p = r->profile;
	struct forest f = {.r = r, .flat = flat};
	int err = -ENOMEM;

	*tree = (struct qz_tree) {0};
	f.leaf_of_sample = calloc((size_t)p->nsamples + 1, sizeof(*f.leaf_of_sample));
	f.leaf_of_wait = calloc((size_t)p->nwaits + 1, sizeof(*f.leaf_of_wait));
	if (f.leaf_of_sample && f.leaf_of_wait)
		err = grow_samples(&f);
	err = err ?: grow_waits(&f);
	err = err ?: choose_large(&f);
	if (!err) {
		add_figures(&f);
		err = fold(&f);
	}
	err = err ?: show(&f, rows, depth, tree);
	for (uint32_t i = 0; i < f.n; i++) {
		qz_figure__clear(&f.all[i].branch.self);
		qz_figure__clear(&f.all[i].branch.total);
	}
	for (uint32_t i = 0; i < f.nlabels; i++)
		free(f.labels[i]);
	free(f.labels);
	free(f.large);
	free(f.all);
	free(f.leaf_of_sample);
	free(f.leaf_of_wait);
	qz_hash_table__free(&f.table);
	return err;
}

void qz_tree__free(struct qz_tree *tree)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		qz_figure__clear(&tree->branches[i].self);
		qz_figure__clear(&tree->branches[i].total);
		free(tree->branches[i].kernel);
	}
	free(tree->branches);
	*tree = (struct qz_tree) {0};
}
