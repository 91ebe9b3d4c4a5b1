/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/spin/loop_counter.h"

#define REGISTERS_BELOW ((1ull << 32) - 1)

#define LARGEST_STEP (1 << 16)

static bool has(const struct loop_dataflow *t, uint16_t node)
{
	return cfg_set__has(&t->loop->body, node);
}

/* A set of values in which both halves of a register count as one. */
static uint64_t whole(uint64_t values)
{
	uint64_t registers = (values | values >> 16) & REGISTER_LOW;

	return (values & ~REGISTERS_BELOW) | registers | registers << 16;
}

/* ---- whether it only counts ---- */

/*
 * counts: values derived only from carried ones and constants. Only such values may be written to a
 * carried one; others may be derived from them, but must not be used as addresses, nor mixed with
 * them.
 */
static bool node_counts(const struct loop_dataflow *t, uint16_t node, uint64_t carried,
			uint64_t counts)
{
	const struct loop_dataflow_effects *e = &t->effects[node];
	const struct instruction *code = &t->flow->nodes[node].code;
	uint64_t results = e->writes & ~REGISTER_FLAGS;
	bool moves = code->flags & (INSTRUCTION_STEP | INSTRUCTION_COPY);

	if (!(e->reads & counts & ~REGISTER_FLAGS) && !(results & carried))
		return true;
	if (e->loads || code->flags & INSTRUCTION_CALL || code->flags & INSTRUCTION_ATOMIC)
		return false;
	if (results & carried && (results & ~carried || e->reads & t->in[node]))
		return false;
	if (results & carried && code->flags & INSTRUCTION_CONSTANT)
		return true;
	return !results || (moves && !(e->reads & t->in[node]));
}

static bool leaves(const struct loop_dataflow *t, uint16_t node)
{
	const struct cfg_node *n = &t->flow->nodes[node];

	if (!(n->code.flags & INSTRUCTION_BRANCH))
		return false;
	for (int k = 0; k < 2; k++)
		if (n->next[k] == FLOW_NONE || !has(t, n->next[k]))
			return true;
	return false;
}

bool loop_counter__only_counts(struct loop_dataflow *t)
{
	uint64_t carried = whole(t->carried), changed = 0;
	uint64_t counted[FLOW_MAX];
	bool steps = false, ends = false;

	if (!loop_dataflow__find_origins(t, counted, carried))
		return false;
	for (uint16_t i = 0; i < t->flow->n; i++) {
		const struct instruction *code = &t->flow->nodes[i].code;
		uint64_t counts = whole(counted[i]) | carried;

		if (!has(t, i))
			continue;
		if (!node_counts(t, i, carried, counts))
			return false;
		if (t->effects[i].reads & counts & ~REGISTER_FLAGS) {
			changed |= t->effects[i].writes;
			steps |= code->flags & INSTRUCTION_STEP;
		}
		ends |= leaves(t, i) && t->in[i] & REGISTER_FLAGS && !(counted[i] & REGISTER_FLAGS);
	}
	return steps && ends && !(carried & ~whole(changed));
}

/* ---- the counter ---- */

/* The register that is carried, if nothing else is; -1: none. */
static int carried_register(uint64_t carried)
{
	uint64_t low = carried & REGISTER_LOW;

	if (!low || low & (low - 1) || carried & ~REGISTERS_BELOW)
		return -1;
	return __builtin_ctzll(low);
}

/* The value that each iteration adds, at most once; 0: unknown. */
static int32_t find_step(struct loop_dataflow *t)
{
	uint64_t carried = whole(t->carried), counted[FLOW_MAX];
	int64_t step = 0;

	if (!loop_dataflow__find_origins(t, counted, carried))
		return 0;
	for (uint16_t i = 0; i < t->flow->n; i++) {
		const struct loop_dataflow_effects *e = &t->effects[i];
		const struct instruction *code = &t->flow->nodes[i].code;
		uint64_t counts = whole(counted[i]) | carried;
		bool reads = e->reads & counts & ~REGISTER_FLAGS;

		if (!has(t, i) || !(e->writes & ~REGISTER_FLAGS))
			continue;
		if (e->writes & carried && (!reads || e->reads & ~counts & ~REGISTER_FLAGS))
			return 0;
		if (!reads || !(code->flags & INSTRUCTION_STEP))
			continue;
		if (step || !code->constant)
			return 0;
		step = code->constant;
	}
	return step > LARGEST_STEP || step < -LARGEST_STEP ? 0 : (int32_t)step;
}

/* ---- its initial value ---- */

enum set { SET_NOT, SET_UNKNOWN, SET_CONSTANT };

static enum set sets(const struct instruction *code, int number)
{
	uint64_t both = REGISTER_BOTH(number);

	if (code->flags & INSTRUCTION_CALL)
		return both & DECODER_CALLER_SAVED ? SET_UNKNOWN : SET_NOT;
	if (code->flags & INSTRUCTION_OPAQUE)
		return SET_UNKNOWN;
	if (!(code->writes & both))
		return SET_NOT;
	return (code->writes & both) == both && code->flags & INSTRUCTION_CONSTANT ? SET_CONSTANT
										   : SET_UNKNOWN;
}

struct search {
	const struct loop_dataflow *t;
	int number;
	struct cfg_set seen;
	uint16_t queue[FLOW_MAX], n;
	bool known;
	int32_t first;
};

/* Adds the predecessors of a node outside of the loop. */
static void add_ways_to(struct search *s, uint16_t node)
{
	const struct cfg *f = s->t->flow;

	for (uint16_t k = 0; k < f->npredecessors[node]; k++) {
		uint16_t p = f->predecessors[f->first_predecessor[node] + k];

		if (has(s->t, p) || cfg_set__has(&s->seen, p))
			continue;
		cfg_set__add(&s->seen, p);
		s->queue[s->n++] = p;
	}
}

static bool follows_loop(const struct search *s, uint16_t node)
{
	const struct cfg *f = s->t->flow;

	for (uint16_t k = 0; k < f->npredecessors[node]; k++)
		if (has(s->t, f->predecessors[f->first_predecessor[node] + k]))
			return true;
	return !f->npredecessors[node];
}

/*
 * Searches the paths that lead from the exits of the loop back to it. There must be some, and all
 * must set the same constant.
 */
static bool find_around(struct search *s)
{
	for (uint16_t i = 0; i < s->t->flow->n; i++)
		if (has(s->t, i))
			add_ways_to(s, i);
	for (uint16_t i = 0; i < s->n; i++) {
		const struct instruction *code = &s->t->flow->nodes[s->queue[i]].code;
		enum set set = sets(code, s->number);

		if (set == SET_UNKNOWN ||
		    (set == SET_CONSTANT && s->known && s->first != (int32_t)code->constant))
			return false;
		if (set == SET_CONSTANT) {
			s->known = true;
			s->first = (int32_t)code->constant;
		} else if (follows_loop(s, s->queue[i])) {
			return false;
		} else {
			add_ways_to(s, s->queue[i]);
		}
	}
	return s->known;
}

/* Searches the code before the loop, which falls through into it. */
static bool find_before(struct search *s, uint64_t start)
{
	const struct cfg *f = s->t->flow;
	uint64_t end = s->t->loop->start;
	uint64_t at = end > f->start + COUNTER_APPROACH ? end - COUNTER_APPROACH : f->start;
	struct instruction code;

	if (start > at && start <= end)
		at = start;
	for (; at < end; at += code.length) {
		size_t offset = at - f->start;
		enum set set;

		if (!decoder__decode(f->decoder, f->bytes + offset, offset, f->size - offset, at,
				     &code))
			return false;
		set = sets(&code, s->number);
		if (set == SET_CONSTANT)
			s->first = (int32_t)code.constant;
		if (set != SET_NOT)
			s->known = set == SET_CONSTANT;
		if (code.flags & INSTRUCTION_END ||
		    (code.flags & INSTRUCTION_JUMP &&
		     (code.target < end || code.target >= s->t->loop->end)))
			s->known = false;
	}
	return s->known && at == end;
}

void loop_counter__find(struct loop_dataflow *t, uint64_t start, struct loop_counter *c)
{
	struct search s = {.t = t, .number = carried_register(whole(t->carried))};
	int32_t step = s.number < 0 ? 0 : find_step(t);

	*c = (struct loop_counter) {.known = false};
	if (!step || !(find_around(&s) || (!s.n && find_before(&s, start))))
		return;
	*c = (struct loop_counter) {true, (uint8_t)s.number, step, s.first};
}
