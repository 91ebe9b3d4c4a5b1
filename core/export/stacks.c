/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/export/stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "core/model/frames.h"
#include "core/util/preorder.h"
#include "core/util/string_table.h"
#include "core/util/vec.h"

struct builder {
	const struct qz_profile *p;
	struct qz_stacks *s;
	struct qz_hash_table table; /* of stacks by parent and frame */
	struct qz_string_table programs;
	uint32_t *of_program;		    /* frame of each */
	uint32_t *of_procedure;		    /* frame of each, QZ_NONE: none yet */
	uint32_t path[QZ_MAX_STACK_FRAMES]; /* of the stack in the making, innermost first */
};

/* ---- frames ---- */

static int64_t add_frame(struct builder *b, const char *name, const char *file, uint32_t line)
{
	struct qz_stacks *s = b->s;
	int err = qz_array__reserve((void **)&s->frames, s->nframes, sizeof(*s->frames));

	if (err)
		return err;
	s->frames[s->nframes] = (struct qz_stack_frame) {.name = name, .file = file, .line = line};
	return s->nframes++;
}

static int64_t frame_of_procedure(struct builder *b, uint32_t procedure)
{
	const struct qz_procedure *proc = &b->p->procedures[procedure];
	int64_t frame;

	if (b->of_procedure[procedure] != QZ_NONE)
		return b->of_procedure[procedure];
	frame = *proc->file ? add_frame(b, proc->name, proc->file, proc->line)
			    : add_frame(b, proc->name, proc->module, 0);
	if (frame >= 0)
		b->of_procedure[procedure] = (uint32_t)frame;
	return frame;
}

/* The thread has it, for the scope may be the machine; what has no thread is the scope's own. */
static int64_t frame_of_program(struct builder *b, uint32_t scope, uint32_t thread)
{
	const char *comm;
	uint32_t known = b->programs.n;
	int64_t program, frame;

	if (thread != QZ_NONE)
		scope = b->p->threads[thread].scope;
	comm = b->p->scopes[scope].comm;
	program = qz_string_table__intern(&b->programs, comm);
	if (program < 0)
		return program;
	if ((uint32_t)program < known)
		return b->of_program[program];
	if (qz_array__reserve((void **)&b->of_program, known, sizeof(*b->of_program)))
		return -ENOMEM;
	frame = add_frame(b, comm, "", 0);
	if (frame >= 0)
		b->of_program[program] = (uint32_t)frame;
	return frame;
}

/* ---- stacks ---- */

static int64_t intern_stack(struct builder *b, uint32_t parent, uint32_t frame)
{
	struct qz_stacks *s = b->s;
	const struct qz_stack new = {
		.parent = parent,
		.frame = frame,
		.depth = parent == QZ_NONE ? 1 : s->stacks[parent].depth + 1,
	};
	int64_t i = QZ_INTERN(&b->table, &s->stacks, &s->n, &new, frame);

	return i < QZ_MAX_STACKS ? i : -E2BIG;
}

static int64_t stack_of(struct builder *b, uint32_t scope, uint32_t thread, uint32_t node)
{
	struct qz_frames frames = {.profile = b->p, .node = node};
	int64_t frame = frame_of_program(b, scope, thread), stack;
	uint32_t n = 0, procedure;

	if (frame < 0)
		return frame;
	while ((procedure = qz_frames__next(&frames)) != QZ_NONE) {
		if (n + 1 == QZ_MAX_STACK_FRAMES)
			return -E2BIG;
		b->path[n++] = procedure;
	}
	stack = intern_stack(b, QZ_NONE, (uint32_t)frame);
	while (stack >= 0 && n) {
		frame = frame_of_procedure(b, b->path[--n]);
		stack = frame < 0 ? frame : intern_stack(b, (uint32_t)stack, (uint32_t)frame);
	}
	return stack;
}

static void add(struct builder *b, int64_t stack, enum qz_stack_value which, uint64_t ns)
{
	b->s->stacks[stack].values[which] += ns;
	b->s->sums[which] += ns;
}

static int add_samples(struct builder *b, const struct qz_report *r)
{
	for (uint32_t i = 0; i < b->p->nsamples; i++) {
		const struct qz_sample *sample = &b->p->samples[i];
		int64_t stack;

		if (sample->scope != r->scope || (!sample->norm_ns && !sample->cpu_ns))
			continue;
		stack = stack_of(b, r->scope, sample->thread, sample->node);
		if (stack < 0)
			return (int)stack;
		add(b, stack, QZ_STACK_NORM, sample->norm_ns);
		add(b, stack, QZ_STACK_CPU, sample->cpu_ns);
		add(b, stack, QZ_STACK_SPIN, sample->spinning ? sample->cpu_ns : 0);
	}
	return 0;
}

static int add_waits(struct builder *b, const struct qz_report *r)
{
	for (uint32_t i = 0; i < b->p->nwaits; i++) {
		const struct qz_wait *wait = &b->p->waits[i];
		int64_t stack;

		if (!qz_scope__covers(b->p, r->scope, wait->scope) || !wait->blocked_ns ||
		    (wait->thread != QZ_NONE && r->idle[wait->thread]))
			continue;
		stack = stack_of(b, wait->scope, wait->thread, wait->node);
		if (stack < 0)
			return (int)stack;
		add(b, stack, QZ_STACK_BLOCKED, wait->blocked_ns);
	}
	return 0;
}

/* ---- order ---- */

static int put_in_order(struct qz_stacks *s)
{
	uint32_t *places = qz_preorder__places(s->stacks, sizeof(*s->stacks), s->n);

	s->order = malloc(((size_t)s->n + 1) * sizeof(*s->order));
	for (uint32_t i = 0; places && s->order && i < s->n; i++)
		s->order[places[i]] = i;
	free(places);
	return places && s->order ? 0 : -ENOMEM;
}

/* ---- all ---- */

static int build(struct builder *b, const struct qz_report *const *reports, uint32_t n)
{
	int err = 0;

	b->of_procedure = malloc(((size_t)b->p->nprocedures + 1) * sizeof(*b->of_procedure));
	if (!b->of_procedure)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->p->nprocedures; i++)
		b->of_procedure[i] = QZ_NONE;
	for (uint32_t i = 0; !err && i < n; i++) {
		err = add_samples(b, reports[i]);
		err = err ? err : add_waits(b, reports[i]);
	}
	return err ? err : put_in_order(b->s);
}

struct qz_stacks *qz_stacks__new(const struct qz_report *const *reports, uint32_t n)
{
	struct qz_stacks *s = calloc(1, sizeof(*s));
	struct builder *b = calloc(1, sizeof(*b));
	int err = -ENOMEM;

	if (s && b) {
		b->s = s;
		b->p = reports[0]->profile;
		err = build(b, reports, n);
		qz_hash_table__free(&b->table);
		qz_string_table__free(&b->programs);
		free(b->of_program);
		free(b->of_procedure);
	}
	free(b);
	if (!err)
		return s;
	qz_stacks__free(s);
	errno = -err;
	return NULL;
}

void qz_stacks__free(struct qz_stacks *s)
{
	if (!s)
		return;
	free(s->stacks);
	free(s->order);
	free(s->frames);
	free(s);
}

uint32_t qz_stacks__path(const struct qz_stacks *s, uint32_t stack, uint32_t *frames)
{
	uint32_t depth = s->stacks[stack].depth;

	for (uint32_t i = depth; i-- > 0; stack = s->stacks[stack].parent)
		frames[i] = s->stacks[stack].frame;
	return depth;
}
