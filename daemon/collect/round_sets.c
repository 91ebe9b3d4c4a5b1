// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/round_sets.h"

#include <errno.h>
#include <stdlib.h>

struct sets {
	const struct stack_context *context;
	const struct bpf_runtime_buffer *buffer;
	uint32_t *leaves; /* procedures, by number of the stack + 1; 0: not asked for yet */
	uint32_t *members;
};

static int64_t leaf_of(struct sets *s, uint32_t stack)
{
	int64_t procedure;

	if (stack >= s->buffer->nstacks || !stack_slot__used(s->buffer, &s->buffer->stacks[stack]))
		return -ENOENT;
	if (s->leaves[stack])
		return s->leaves[stack] - 1;
	procedure = stack__leaf(s->context, s->buffer, &s->buffer->stacks[stack]);
	if (procedure >= 0)
		s->leaves[stack] = (uint32_t)procedure + 1;
	return procedure;
}

/* The answers of one scope in one round. False: there is no place for them. */
static bool add_set(struct sets *s, const struct round_answer *answers, uint32_t n)
{
	struct qz_round round = {.scope = stack_context__scope(s->context, answers->scope),
				 .n = n,
				 .members = s->members,
				 .count = 1};

	for (uint32_t i = 0; i < n; i++) {
		int64_t procedure = leaf_of(s, answers[i].place);

		if (procedure < 0)
			return false;
		s->members[i] = QZ_MEMBER((uint32_t)procedure, answers[i].spinning);
	}
	return round.scope != QZ_NONE && !qz_rounds__add(s->context->profile, &round);
}

static void count_set(struct sets *s, const struct round_answer *answers, uint32_t n)
{
	struct qz_rounds *sum = &s->context->profile->instants;
	uint32_t level = 0;
	int32_t first = 0, last = 0; /* from the first answer */
	uint64_t skew;

	sum->taken++;
	for (uint32_t i = 0; i < n; i++) {
		int32_t from = (int32_t)(answers[i].time - answers->time);

		level = answers[i].level > level ? answers[i].level : level;
		first = from < first ? from : first;
		last = from > last ? from : last;
	}
	if (level && n != level) {
		sum->incomplete++;
		return;
	}
	if (!add_set(s, answers, n)) {
		sum->unplaced++;
		return;
	}
	skew = (uint64_t)(last - first) << QZ_ROUND_SHIFT;
	sum->skew_ns += skew;
	sum->skew_max_ns = skew > sum->skew_max_ns ? skew : sum->skew_max_ns;
}

int round_sets__add(const struct stack_context *context, const struct bpf_runtime_buffer *buffer,
		    const struct round_answer *answers, uint32_t n)
{
	struct sets s = {.context = context, .buffer = buffer};
	int err = 0;

	s.leaves = calloc(buffer->nstacks + 1ul, sizeof(*s.leaves));
	s.members = calloc(n + 1ul, sizeof(*s.members));
	if (!s.leaves || !s.members)
		err = -ENOMEM;
	for (uint32_t i = 0, end; !err && i < n; i = end) {
		for (end = i + 1; end < n && answers[end].round == answers[i].round &&
				  answers[end].scope == answers[i].scope;)
			end++;
		count_set(&s, &answers[i], end - i);
	}
	free(s.leaves);
	free(s.members);
	return err;
}
