// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/spin/asking.h"

#include <stdlib.h>

#include "core/util/vec.h"

/*
 * What hands out a byte at each call takes a fifth of the call's time for it: of 24 samples in a row, one in 200 times
 * none would show that.
 */
#define ENOUGH 24
#define MOST   40 /* so that some samples elsewhere do not end it */

/* Frames of the kernel: the way into a call, and nothing of it. */
#define ENTRY 3

#define UNSEEN 0xff /* a procedure that was not met yet */

struct asking {
	struct asking_context context;
	uint8_t *kinds; /* enum spin_rule_kind of procedures of the kernel, by index */
	uint32_t n;
};

struct asking *asking__new(const struct asking_context *context)
{
	struct asking *a = calloc(1, sizeof(*a));

	if (a)
		a->context = *context;
	return a;
}

void asking__free(struct asking *a)
{
	if (!a)
		return;
	free(a->kinds);
	free(a);
}

/* ---- stacks ---- */

/* Makes room for procedures that have come since. */
static bool has_room(struct asking *a, uint32_t procedure)
{
	while (a->n <= procedure) {
		if (qz_array__reserve((void **)&a->kinds, a->n, sizeof(*a->kinds)))
			return false;
		a->kinds[a->n++] = UNSEEN;
	}
	return true;
}

static enum spin_rule_kind kind_of(struct asking *a, uint64_t address)
{
	const struct qz_profile *p = a->context.profile;
	const struct cached_address *cached =
		address_cache__get(a->context.addresses, MODULE_KERNEL, address);
	uint32_t procedure;

	if (!cached || cached->location == QZ_NONE)
		return SPIN_RULE_NONE;
	procedure = p->locations[cached->location].lines[0].procedure;
	if (!has_room(a, procedure))
		return SPIN_RULE_NONE;
	if (a->kinds[procedure] == UNSEEN)
		a->kinds[procedure] = (uint8_t)spin_rules__find(a->context.rules, SPIN_RULES_KERNEL,
								p->procedures[procedure].name);
	return a->kinds[procedure];
}

enum asking_stack asking__of(struct asking *a, const struct bpf_runtime_buffer *buffer,
			     const struct qz_stack_slot *slot)
{
	const uint64_t *frames = &buffer->frames[slot->offset];
	bool asks = false, gets = false;

	for (uint32_t i = 0; i < slot->nkernel; i++) {
		enum spin_rule_kind kind = kind_of(a, frames[i] - (i > 0));

		asks |= kind == SPIN_RULE_ASKS;
		gets |= kind == SPIN_RULE_WORKS;
	}
	if (asks)
		return gets ? ASKING_GETS : ASKING_ASKS;
	return slot->nkernel && slot->nkernel <= ENTRY ? ASKING_ASIDE : ASKING_WORKS;
}

/* ---- threads ---- */

bool asking__takes(struct thread *t, enum asking_stack what, uint16_t woken)
{
	if (what == ASKING_GETS || t->woken != woken)
		t->asked = 0;
	t->woken = woken;
	if (what == ASKING_WORKS && t->asked)
		t->asked--;
	if (what == ASKING_ASKS && t->asked < MOST)
		t->asked++;
	return what != ASKING_WORKS && t->asked >= ENOUGH;
}
