/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/polled.h"

#include <errno.h>
#include <stdlib.h>

#include "core/util/order.h"
#include "core/util/vec.h"

uint32_t qz_polled__node(const struct qz_profile *p, const struct qz_sample *s)
{
	uint32_t node = s->node;

	while (p->nodes[node].depth >= s->below && node)
		node = p->nodes[node].parent;
	return node;
}

struct place {
	uint32_t stack, sample;
};

static int compare_places(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	return qz_order(a->stack, b->stack) ?: qz_order(a->sample, b->sample);
}

/* Samples come stack by stack. */
static int add_sample(struct qz_report *r, const struct place *place)
{
	const struct qz_sample *s = &r->profile->samples[place->sample];
	struct qz_polled_stack *stack;

	if (!r->nstacks || r->stacks[r->nstacks - 1].node != place->stack) {
		if (qz_array__reserve((void **)&r->stacks, r->nstacks, sizeof(*r->stacks)))
			return -ENOMEM;
		r->stacks[r->nstacks++] = (struct qz_polled_stack) {.node = place->stack};
	}
	stack = &r->stacks[r->nstacks - 1];
	stack->norm_ns += s->norm_ns;
	stack->count += s->count;
	if (s->seen > stack->seen)
		stack->seen = s->seen;
	return 0;
}

static bool is_shared(const struct qz_report *r, const struct qz_sample *s)
{
	return s->scope == r->scope && s->below && s->seen;
}

static int sort_samples(struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	struct place *places = malloc(p->nsamples * sizeof(*places));
	int err = 0;

	r->order = malloc(p->nsamples * sizeof(*r->order));
	if (!places || !r->order) {
		free(places);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < p->nsamples; i++)
		places[i] = (struct place) {
			is_shared(r, &p->samples[i]) ? qz_polled__node(p, &p->samples[i]) : QZ_NONE,
			i};
	qsort(places, p->nsamples, sizeof(*places), compare_places);
	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		r->order[i] = places[i].sample;
		if (places[i].stack != QZ_NONE)
			err = add_sample(r, &places[i]);
	}
	free(places);
	return err;
}

int qz_polled__build(struct qz_report *r)
{
	for (uint32_t i = 0; i < r->profile->nsamples; i++)
		if (is_shared(r, &r->profile->samples[i]))
			return sort_samples(r);
	return 0;
}

static int compare_node(const void *key, const void *stack)
{
	return qz_order(*(const uint32_t *)key, ((const struct qz_polled_stack *)stack)->node);
}

double qz_polled__square(const struct qz_report *r, uint32_t node, double norm_ns)
{
	const struct qz_polled_stack *stack =
		r->nstacks ? bsearch(&node, r->stacks, r->nstacks, sizeof(*stack), compare_node)
			   : NULL;

	if (!stack || stack->seen >= stack->count)
		return 0;
	return norm_ns * ((double)stack->norm_ns - norm_ns) *
	       (1 / (double)stack->seen - 1 / (double)stack->count);
}
