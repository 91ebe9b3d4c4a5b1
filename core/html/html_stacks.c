/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "core/compare/owner.h"
#include "core/model/frames.h"
#include "core/report/kernel_rows.h"
#include "core/util/vec.h"

/* One run as it is added. */
struct adder {
	struct qz_html_stacks *s;
	const struct qz_report *r;
	const char *program;
	uint32_t *of_procedure; /* identities, QZ_NONE: not asked for yet */
	uint32_t n;
	uint32_t *path; /* identities of a stack, innermost first */
};

int qz_html_stacks__init(struct qz_html_stacks *s, struct qz_identities *ids, uint32_t nscopes)
{
	*s = (struct qz_html_stacks) {.ids = ids, .nscopes = nscopes};
	s->scopes = calloc((size_t)nscopes + 1, sizeof(*s->scopes));
	return s->scopes ? qz_html_nodes__init(&s->nodes) : -ENOMEM;
}

/* ---- stacks ---- */

static int64_t identity_of(struct adder *a, uint32_t procedure)
{
	const struct qz_procedure *proc = &a->r->profile->procedures[procedure];
	int64_t identity = a->of_procedure[procedure];

	if (identity != QZ_NONE)
		return identity;
	identity =
		proc->kind == QZ_PROCEDURE
			? qz_identities__procedure(a->s->ids, a->r->profile, a->program, procedure)
			: qz_identities__other(a->s->ids, QZ_IDENTITY_MARKER, proc->name);
	if (identity >= 0)
		a->of_procedure[procedure] = (uint32_t)identity;
	return identity;
}

static int push(struct adder *a, int64_t identity)
{
	int err = identity < 0 ? (int)identity : 0;

	err = err ? err : qz_array__reserve((void **)&a->path, a->n, sizeof(*a->path));
	if (!err)
		a->path[a->n++] = (uint32_t)identity;
	return err;
}

/* What a sample's own time is of stands for the innermost frame, that of the kernel for all of its frames. */
static int push_stack(struct adder *a, uint32_t node, const struct qz_owner *owner)
{
	const struct qz_profile *p = a->r->profile;
	struct qz_frames frames = {.profile = p, .node = node};
	bool is_row = owner && owner->procedure == QZ_NONE;
	int err = is_row ? push(a, owner->identity) : 0;
	uint32_t procedure;

	if (is_row && !owner->in_kernel)
		qz_frames__next(&frames);
	while (!err && (procedure = qz_frames__next(&frames)) != QZ_NONE)
		if (!is_row || !owner->in_kernel ||
		    !qz_procedure__is_kernel(&p->procedures[procedure]))
			err = push(a, identity_of(a, procedure));
	return err;
}

/* In the machine's stacks, the program is the outermost frame. */
static int push_program(struct adder *a, uint32_t thread)
{
	const struct qz_profile *p = a->r->profile;
	const char *comm = thread == QZ_NONE ? "no program"
					     : p->scopes[p->threads[thread].scope].comm;

	if (p->scopes[a->r->scope].kind != QZ_SCOPE_MACHINE)
		return 0;
	return push(a, qz_identities__other(a->s->ids, QZ_IDENTITY_MARKER, comm));
}

/* The node of a stack, or -errno. */
static int64_t node_of(struct adder *a, uint32_t node, uint32_t thread,
		       const struct qz_owner *owner)
{
	int64_t at = 0;

	a->n = 0;
	at = push_stack(a, node, owner);
	at = at ? at : push_program(a, thread);
	while (at >= 0 && a->n)
		at = qz_html_nodes__intern(&a->s->nodes, (uint32_t)at, a->path[--a->n]);
	return at;
}

/* ---- samples and waits ---- */

static int add_sample(struct adder *a, struct qz_html_rows *rows, const struct qz_sample *s,
		      bool after)
{
	struct qz_owner owner = qz_owner__find(a->s->ids, a->r, s->node);
	int64_t node = owner.identity < 0 ? owner.identity : node_of(a, s->node, s->thread, &owner);

	return node < 0 ? (int)node
			: qz_html_rows__add(
				  rows, &(struct qz_html_row) {{(uint32_t)node, after, s->spinning},
							       {s->norm_ns, s->cpu_ns}});
}

static int add_wait(struct adder *a, struct qz_html_rows *rows, const struct qz_wait *w, bool after)
{
	int64_t node = node_of(a, w->node, w->thread, NULL);

	return node < 0 ? (int)node
			: qz_html_rows__add(rows,
					    &(struct qz_html_row) {{(uint32_t)node, after, false},
								   {0, 0, w->blocked_ns}});
}

static int add_all(struct adder *a, struct qz_html_rows *rows, bool after)
{
	const struct qz_profile *p = a->r->profile;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope == a->r->scope && (s->norm_ns || s->cpu_ns))
			err = add_sample(a, rows, s, after);
	}
	for (uint32_t i = 0; !err && i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (qz_scope__covers(p, a->r->scope, w->scope) && w->blocked_ns &&
		    (w->thread == QZ_NONE || !a->r->idle[w->thread]))
			err = add_wait(a, rows, w, after);
	}
	return err;
}

int qz_html_stacks__add(struct qz_html_stacks *s, uint32_t scope, const struct qz_report *r,
			bool after)
{
	uint32_t n = r->profile->nprocedures;
	struct adder a = {.s = s, .r = r, .program = qz_identities__program(r->profile)};
	int err = -ENOMEM;

	a.of_procedure = malloc(((size_t)n + 1) * sizeof(*a.of_procedure));
	if (a.program && a.of_procedure) {
		for (uint32_t i = 0; i < n; i++)
			a.of_procedure[i] = QZ_NONE;
		err = add_all(&a, &s->scopes[scope], after);
		qz_html_rows__merge(&s->scopes[scope]);
	}
	free(a.of_procedure);
	free(a.path);
	return err;
}

/* ---- order ---- */

int qz_html_stacks__finish(struct qz_html_stacks *s)
{
	uint32_t n = s->nodes.n, *place = malloc((size_t)n * sizeof(*place));
	int err = place ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < n; i++)
		place[i] = i;
	err = err ? err : qz_html_nodes__sort(&s->nodes, place, n);
	for (uint32_t i = 0; !err && i < s->nscopes; i++) {
		struct qz_html_rows *rows = &s->scopes[i];

		for (uint32_t k = 0; k < rows->n; k++)
			rows->rows[k].keys[0] = place[rows->rows[k].keys[0]];
		qz_html_rows__merge(rows);
		qz_html_rows__make_steps(rows);
	}
	free(place);
	return err;
}

void qz_html_stacks__free(struct qz_html_stacks *s)
{
	for (uint32_t i = 0; s->scopes && i < s->nscopes; i++)
		free(s->scopes[i].rows);
	free(s->scopes);
	qz_html_nodes__free(&s->nodes);
}
