/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/folding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/figure.h"
#include "core/util/base_name.h"

/*
 * What a procedure calls most, by normalized and blocked time together. Only one that takes more than half can be its
 * only one, and a majority is found by a vote (Boyer and Moore), without a table of all calls.
 */
struct vote {
	uint32_t row; /* of the procedure, QZ_NONE: it has none */
	uint32_t stamp;
	uint32_t callee;	      /* procedure, QZ_NONE: none yet */
	uint64_t lead;		      /* of the callee, while votes are cast */
	uint64_t norm_ns, blocked_ns; /* then what it has below the procedure */
};

struct ballot {
	const struct qz_report *r;
	const struct qz_kernel_rows *kernel;
	struct vote *votes; /* by procedure */
	uint32_t stamp;	    /* of the stack at hand */
	bool counting;	    /* the second pass: how much the winners have */
};

static void cast(struct vote *v, uint32_t callee, uint64_t weight)
{
	if (v->callee == callee) {
		v->lead += weight;
	} else if (v->lead >= weight) {
		v->lead -= weight;
	} else {
		v->lead = weight - v->lead;
		v->callee = callee;
	}
}

/* As of core/report/call_graph.c: what the outermost occurrence of each procedure calls or starts. */
static void take_stack(struct ballot *b, uint32_t leaf, uint64_t norm_ns, uint64_t blocked_ns)
{
	const struct qz_profile *p = b->r->profile;
	uint32_t path[QZ_MAX_DEPTH], n = 0, procedure;
	struct qz_frames frames = {.profile = p, .node = leaf};

	while (n < QZ_MAX_DEPTH && (procedure = qz_frames__next(&frames)) != QZ_NONE)
		if (p->procedures[procedure].kind == QZ_PROCEDURE && !b->kernel->inside[procedure])
			path[n++] = procedure;
	b->stamp++;
	while (n--) {
		struct vote *v = &b->votes[path[n]];

		if (v->stamp == b->stamp)
			continue;
		v->stamp = b->stamp;
		if (!n)
			continue;
		if (!b->counting) {
			cast(v, path[n - 1], norm_ns + blocked_ns);
		} else if (v->callee == path[n - 1]) {
			v->norm_ns += norm_ns;
			v->blocked_ns += blocked_ns;
		}
	}
}

static void take_all(struct ballot *b)
{
	const struct qz_profile *p = b->r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++)
		if (p->samples[i].scope == b->r->scope)
			take_stack(b, p->samples[i].node, p->samples[i].norm_ns, 0);
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (qz_scope__covers(p, b->r->scope, p->waits[i].scope) &&
		    (p->waits[i].thread == QZ_NONE || !b->r->idle[p->waits[i].thread]))
			take_stack(b, p->waits[i].node, 0, p->waits[i].blocked_ns);
}

static bool is_libc(const struct qz_procedure *proc)
{
	const char *name = qz_base_name(proc->module);

	return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) ||
	       !strncmp(name, "libpthread", 10) || !strncmp(name, "ld-", 3);
}

/* What people have written does not disappear in the interpreter's code that runs it. */
static bool leaves_python(const struct qz_procedure *outer, const struct qz_procedure *inner)
{
	return qz_procedure__is_interpreted(outer) && !qz_procedure__is_interpreted(inner);
}

bool qz_folding__may(const struct qz_procedure *outer, const struct qz_procedure *inner)
{
	return strcmp(outer->name, "main") != 0 && strcmp(outer->name, "main.main") != 0 &&
	       strcmp(outer->module, "[libquartz]") != 0 &&
	       (*inner->name != '_' || *outer->name == '_') &&
	       (!is_libc(inner) || is_libc(outer)) && !leaves_python(outer, inner);
}

static bool near(uint64_t a, uint64_t b, uint64_t distance)
{
	return a > b ? a - b <= distance : b - a <= distance;
}

static bool is_wrapper(const struct ballot *b, const struct qz_row *row)
{
	const struct qz_procedure *procs = b->r->profile->procedures;
	const struct vote *v = &b->votes[row->procedure];
	uint64_t norm_ns = row->total.norm_ns,
		 blocked_ns = qz_wait_figure__blocked(&row->total_waits);
	uint64_t instant = b->r->elapsed_ns / 100;
	const struct qz_row *callee;

	if (v->callee == QZ_NONE || v->callee == row->procedure ||
	    b->votes[v->callee].row == QZ_NONE ||
	    !qz_folding__may(&procs[row->procedure], &procs[v->callee]))
		return false;
	callee = &b->r->rows[b->votes[v->callee].row];
	return 2 * v->norm_ns >= norm_ns &&
	       2 * (v->norm_ns + v->blocked_ns) >= norm_ns + blocked_ns &&
	       near(callee->total.spin_ns, row->total.spin_ns, instant) &&
	       near(v->norm_ns, norm_ns, row->total.ci_ns) &&
	       near(callee->total.norm_ns, norm_ns, row->total.ci_ns) &&
	       near(v->blocked_ns, blocked_ns, instant) &&
	       near(qz_wait_figure__blocked(&callee->total_waits), blocked_ns, instant);
}

/* Of procedures that call each other, one is kept. */
static bool ends_in_itself(const struct qz_folding *f, const struct ballot *b, uint32_t row)
{
	uint32_t at = row;

	for (uint32_t i = 0; i < b->r->nrows && f->folded[at]; i++) {
		at = b->votes[b->votes[b->r->rows[at].procedure].callee].row;
		if (at == row)
			return true;
	}
	return false;
}

static void fold_wrappers(struct qz_folding *f, struct ballot *b)
{
	const struct qz_report *r = b->r;

	for (uint32_t i = 0; i < r->profile->nprocedures; i++)
		b->votes[i] = (struct vote) {.row = QZ_NONE, .callee = QZ_NONE};
	for (uint32_t i = 0; i < r->nrows; i++)
		b->votes[r->rows[i].procedure].row = i;
	take_all(b);
	b->counting = true;
	take_all(b);
	for (uint32_t i = 0; i < r->nrows; i++)
		f->folded[i] = is_wrapper(b, &r->rows[i]);
	for (uint32_t i = 0; i < r->nrows; i++)
		if (f->folded[i] && ends_in_itself(f, b, i))
			f->folded[i] = false;
	for (uint32_t i = 0; i < r->nrows; i++)
		f->nwrappers += f->folded[i];
}

int qz_folding__find(const struct qz_report *r, struct qz_folding *f)
{
	struct ballot b = {.r = r, .kernel = &f->kernel};
	int err;

	*f = (struct qz_folding) {.folded = calloc((size_t)r->nrows + 1, 1)};
	b.votes = calloc((size_t)r->profile->nprocedures + 1, sizeof(*b.votes));
	err = f->folded && b.votes ? qz_kernel_rows__find(r, &f->kernel) : -ENOMEM;
	if (!err)
		fold_wrappers(f, &b);
	free(b.votes);
	for (uint32_t i = 0; !err && i < r->nrows; i++) {
		if (!f->kernel.inside[r->rows[i].procedure])
			continue;
		f->nwrappers -= f->folded[i];
		f->folded[i] = true;
		f->nkernel++;
	}
	return err;
}

void qz_folding__free(struct qz_folding *f)
{
	qz_kernel_rows__free(&f->kernel);
	free(f->folded);
	*f = (struct qz_folding) {0};
}
