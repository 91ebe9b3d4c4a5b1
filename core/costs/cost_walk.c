/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/costs/cost_walk.h"

#include <errno.h>
#include <stdlib.h>

#include "core/model/frames.h"

int qz_cost_walk__init(struct qz_cost_walk *w, const struct qz_profile *p)
{
	*w = (struct qz_cost_walk) {p, calloc((size_t)p->nprocedures + 1, sizeof(*w->codes))};
	if (!w->codes)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nprocedures; i++)
		if (p->procedures[i].kind == QZ_PROCEDURE)
			w->codes[i] = qz_cost_code__find(&p->procedures[i]);
	return 0;
}

void qz_cost_walk__free(struct qz_cost_walk *w)
{
	free(w->codes);
	*w = (struct qz_cost_walk) {0};
}

/* What the frames of the thread that ran have told so far. */
struct told {
	const struct qz_cost_code *strong, *weak;
	enum qz_cost_origin call; /* what the innermost call of the kernel is for */
	bool libraries;		  /* nothing else */
	bool bulk, reads, writes, decided;
	bool inlined; /* code that may have the program's own inlined, and nothing with a class inside of it */
};

/* A runtime's template in the program's file: parallel_for of oneTBB has the loop's body, and is called by the library's scheduler. */
static bool may_have_own(const struct qz_cost_code *code)
{
	return code->cost == QZ_COST_WORK && (code->flags & QZ_CODE_RUNTIME) && !code->module;
}

static void hear(struct told *t, const struct qz_cost_code *code)
{
	if (code->flags & QZ_CODE_ASIDE)
		t->strong = t->weak = NULL;
	t->libraries &= !(code->flags & QZ_CODE_RUNTIME);
	t->bulk |= code->flags & QZ_CODE_BULK;
	t->reads |= code->flags & QZ_CODE_READS;
	t->writes |= code->flags & QZ_CODE_WRITES;
	if (code->cost == QZ_COST_CALLS && t->call == QZ_ORIGIN_OTHER)
		t->call = code->origin;
	t->inlined |= may_have_own(code) && !t->weak && !t->strong;
	if (code->cost == QZ_COST_WORK)
		return;
	if (!(code->flags & QZ_CODE_WEAK))
		t->strong = code;
	else if (!t->inlined)
		t->weak = code;
}

static void decide(struct told *t, struct qz_cost_stack *s)
{
	const struct qz_cost_code *code = t->strong ? t->strong : t->weak;

	if (t->decided)
		return;
	t->decided = true;
	s->reads = t->reads;
	s->writes = t->writes;
	if (t->libraries && !t->strong && (!t->weak || t->weak->cost == QZ_COST_CALLS)) {
		s->cost = QZ_COST_STARTING;
		s->origin = QZ_ORIGIN_OTHER;
		return;
	}
	s->cost = code ? code->cost : QZ_COST_WORK;
	s->bulk = t->bulk && (s->cost == QZ_COST_CALLS || s->cost == QZ_COST_COPYING);
}

/* Who asked, as far as the frames say. */
struct asker {
	uint32_t procedure, through;
	struct qz_frames callers;
};

/* Code without a name says less than the procedure of the runtime that runs it; another process or a cut stack, nothing. */
static bool is_better(const struct asker *runtime, const struct qz_procedure *next)
{
	return runtime->procedure != QZ_NONE &&
	       (next->kind == QZ_PROCESS_START || next->kind == QZ_TRUNCATED ||
		(next->kind == QZ_PROCEDURE && next->name[0] == '['));
}

static void take(struct qz_cost_stack *s, const struct asker *asker)
{
	s->asker = asker->procedure;
	s->through = asker->through;
	s->nested = s->through != QZ_NONE && qz_frames__contain(asker->callers, asker->through);
}

struct qz_cost_stack qz_cost_walk__at(const struct qz_cost_walk *w, uint32_t node)
{
	struct qz_cost_stack s = {.asker = QZ_NONE, .through = QZ_NONE};
	const struct qz_procedure *procedures = w->profile->procedures;
	struct qz_frames frames = {.profile = w->profile, .node = node};
	struct asker asker = {QZ_NONE, QZ_NONE, frames}, runtime = asker;
	struct told told = {.libraries = true};
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
		const struct qz_cost_code *code = w->codes[frame];
		uint32_t kind = procedures[frame].kind;

		if (!code && is_better(&runtime, &procedures[frame]))
			break;
		if (kind == QZ_THREAD_START || kind == QZ_PROCESS_START) {
			decide(&told, &s);
			continue;
		}
		if (!code) {
			told.libraries = false;
			if (kind == QZ_PROCEDURE)
				asker = (struct asker) {frame, asker.through, frames};
			break;
		}
		if (!told.decided)
			hear(&told, code);
		if (code->origin != QZ_ORIGIN_OTHER)
			s.origin = code->origin;
		if (code->flags & QZ_CODE_LANGUAGE && runtime.procedure == QZ_NONE)
			runtime = (struct asker) {frame, asker.through, frames};
		asker.through = frame;
	}
	decide(&told, &s);
	if (s.cost == QZ_COST_CALLS && told.call != QZ_ORIGIN_OTHER)
		s.origin = told.call;
	if (asker.procedure == QZ_NONE)
		asker = runtime;
	if (asker.procedure != QZ_NONE)
		take(&s, &asker);
	else if (told.libraries)
		s.origin = QZ_ORIGIN_OTHER;
	return s;
}

enum qz_cost qz_cost_walk__of(const struct qz_cost_walk *w, const struct qz_cost_stack *stack,
			      const struct qz_sample *sample)
{
	if (sample->spinning)
		return QZ_COST_SPINNING;
	if (stack->cost == QZ_COST_WORK && sample->object != QZ_NONE &&
	    w->profile->objects[sample->object].kind == QZ_OBJECT_LINE)
		return QZ_COST_LINES;
	return stack->cost;
}
