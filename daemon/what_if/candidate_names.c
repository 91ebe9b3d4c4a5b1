// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/what_if/candidate_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/frames.h"
#include "core/model/objects.h"
#include "core/util/order.h"

/* Of the candidates that are chosen. */
#define LOCKS 4

#define MOST_FRAMES 256 /* of a stack, that are searched */

/* In millionths of all samples: less does not matter, more is on every path. */
#define LEAST 10000
#define MOST  950000

void candidate_names__free(struct candidate_names *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		free(names->items[i]);
	names->n = 0;
}

/* ---- as they were named ---- */

static bool is_known(const struct candidate_names *names, const char *name)
{
	for (uint32_t i = 0; i < names->n; i++)
		if (!strcmp(names->items[i], name))
			return true;
	return false;
}

static int add(struct candidate_names *names, const char *name, size_t length)
{
	char *copy;

	if (!length || names->n == QZ_CANDIDATES)
		return -EINVAL;
	copy = strndup(name, length);
	if (!copy)
		return -ENOMEM;
	if (is_known(names, copy)) {
		free(copy);
		return -EINVAL;
	}
	names->items[names->n++] = copy;
	return 0;
}

/* The length of the first name of a list. */
static size_t name_length(const char *text)
{
	int depth = 0;
	size_t i;

	for (i = 0; text[i] && (depth > 0 || text[i] != ','); i++) {
		if (strchr("<([", text[i]))
			depth++;
		if (strchr(">)]", text[i]) && depth && !(i && text[i - 1] == '-'))
			depth--;
	}
	return i;
}

int candidate_names__parse(struct candidate_names *names, const char *text)
{
	size_t length = name_length(text);
	int err = add(names, text, length);

	while (!err && text[length]) {
		text += length + 1;
		length = name_length(text);
		err = add(names, text, length);
	}
	return err;
}

/* ---- those that lead ---- */

struct standing {
	uint32_t procedure;
	uint64_t own, with_callees; /* samples */
};

static bool is_of_program(const struct qz_profile *p, uint32_t procedure)
{
	const struct qz_procedure *proc = &p->procedures[procedure];

	return proc->kind == QZ_PROCEDURE && proc->module[0] && strcmp(proc->module, "[kernel]") &&
	       qz_procedure__has_name(proc);
}

/* Each procedure once, however often it is on the stack; the innermost one of the program has it for its own. */
static void count(const struct qz_profile *p, const struct qz_sample *s, struct standing *all)
{
	struct qz_frames frames = {.profile = p, .node = s->node};
	uint32_t seen[MOST_FRAMES], n = 0, frame;
	bool own = true;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
		bool again = false;

		if (!is_of_program(p, frame))
			continue;
		if (own)
			all[frame].own += s->count;
		own = false;
		for (uint32_t i = 0; i < n && !again; i++)
			again = seen[i] == frame;
		if (again || n == MOST_FRAMES)
			continue;
		seen[n++] = frame;
		all[frame].with_callees += s->count;
	}
}

static int by_own(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;

	return qz_order(y->own, x->own) ?: qz_order(x->procedure, y->procedure);
}

static int by_callees(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;

	return qz_order(y->with_callees, x->with_callees) ?: by_own(a, b);
}

static int take(struct candidate_names *names, const struct qz_profile *p, const struct standing *s)
{
	const char *name = p->procedures[s->procedure].name;

	return is_known(names, name) ? 0 : add(names, name, strlen(name));
}

static int take_leading(struct candidate_names *names, const struct qz_profile *p,
			struct standing *all, uint64_t samples, uint32_t room)
{
	int err = 0;

	qsort(all, p->nprocedures, sizeof(*all), by_own);
	for (uint32_t i = 0; !err && i < p->nprocedures && names->n < room / 2; i++)
		if (all[i].own * 1000000 >= samples * LEAST)
			err = take(names, p, &all[i]);
	qsort(all, p->nprocedures, sizeof(*all), by_callees);
	for (uint32_t i = 0; !err && i < p->nprocedures && names->n < room; i++)
		if (all[i].with_callees * 1000000 >= samples * LEAST &&
		    all[i].with_callees * 1000000 <= samples * MOST)
			err = take(names, p, &all[i]);
	return err;
}

/* Without a barrier or the end of a thread to wait for it would be another program. */
static bool is_lock(const struct qz_object *o)
{
	return !o->vacant && (o->kind == QZ_OBJECT_MUTEX || o->kind == QZ_OBJECT_RWLOCK);
}

static int take_locks(struct candidate_names *names, const struct qz_profile *p, uint64_t least_ns)
{
	uint64_t below = UINT64_MAX;
	int err = 0;

	for (int n = 0; !err && n < LOCKS && names->n < QZ_CANDIDATES; n++) {
		const struct qz_object *most = NULL;
		char name[4096];

		for (uint32_t i = 0; i < p->nobjects; i++) {
			const struct qz_object *o = &p->objects[i];

			if (is_lock(o) && o->wait_ns >= least_ns && o->wait_ns < below &&
			    (!most || o->wait_ns > most->wait_ns))
				most = o;
		}
		if (!most)
			return 0;
		below = most->wait_ns;
		snprintf(name, sizeof(name), "%s %s", qz_objects__kind_name(most->kind),
			 most->name);
		if (!is_known(names, name))
			err = add(names, name, strlen(name));
	}
	return err;
}

int candidate_names__choose(struct candidate_names *names, const struct qz_profile *p)
{
	struct standing *all = calloc(p->nprocedures + 1, sizeof(*all));
	uint64_t samples = 0, elapsed = 0;
	int err;

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nprocedures; i++)
		all[i].procedure = i;
	for (uint32_t i = 0; i < p->nsamples; i++) {
		if (p->samples[i].spinning)
			continue;
		samples += p->samples[i].count;
		count(p, &p->samples[i], all);
	}
	for (uint32_t i = 0; i < p->nscopes; i++)
		elapsed += p->scopes[i].elapsed_ns;
	err = take_locks(names, p, elapsed / 50 + 1);
	if (!err && samples)
		err = take_leading(names, p, all, samples, QZ_CANDIDATES);
	free(all);
	return err;
}
