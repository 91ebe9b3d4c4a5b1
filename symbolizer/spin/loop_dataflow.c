/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/spin/loop_dataflow.h"

#include <string.h>

#define MAX_PASSES	16 /* most passes over the nodes until nothing changes */
#define REGISTERS_BELOW ((1ull << 32) - 1)

void loop_dataflow__begin(struct loop_dataflow *t, const struct cfg *flow,
			  const struct cfg_loop *loop)
{
	t->flow = flow;
	t->loop = loop;
	t->nslots = 0;
	t->loads = 0;
	t->atomic = false;
	t->written = t->carried = 0;
}

static bool has(const struct loop_dataflow *t, uint16_t node)
{
	return cfg_set__has(&t->loop->body, node);
}

/* Adds a slot; overlapping ones are merged. False: there are too many. */
static bool add_slot(struct loop_dataflow *t, const struct slot *slot)
{
	struct loop_dataflow_slot new = {slot->at, slot->at + slot->size, slot->by_frame_pointer};
	unsigned int n = 0;

	for (unsigned int i = 0; i < t->nslots; i++) {
		const struct loop_dataflow_slot *old = &t->slots[i];

		if (old->by_frame_pointer != new.by_frame_pointer || old->end <= new.start ||
		    new.end <= old->start) {
			t->slots[n++] = *old;
			continue;
		}
		new.start = old->start < new.start ? old->start : new.start;
		new.end = old->end > new.end ? old->end : new.end;
	}
	t->nslots = n;
	if (n == TURN_SLOTS)
		return false;
	t->slots[t->nslots++] = new;
	return true;
}

bool loop_dataflow__add(struct loop_dataflow *t, uint16_t node, const struct callee_effects *leaf)
{
	const struct instruction *code = &t->flow->nodes[node].code;
	struct loop_dataflow_effects *e = &t->effects[node];

	*e = (struct loop_dataflow_effects) {0};
	if (leaf) {
		bool known = leaf->complete;

		e->reads = known ? leaf->reads : 0;
		e->writes = known ? leaf->writes | REGISTER_FLAGS : DECODER_CALLER_SAVED;
		e->kills = known ? leaf->kills | REGISTER_FLAGS : DECODER_CALLER_SAVED;
		e->loads = known && leaf->loads;
	} else {
		if (code->flags & (INSTRUCTION_OPAQUE | INSTRUCTION_STACK | INSTRUCTION_END) ||
		    (code->flags & INSTRUCTION_STORE && !(code->flags & INSTRUCTION_ATOMIC)))
			return false;
		e->reads = code->reads;
		e->writes = e->kills = code->writes;
		e->loads = code->flags & INSTRUCTION_LOAD;
	}
	t->written |= e->writes;
	t->loads += e->loads;
	t->atomic |= !leaf && code->flags & INSTRUCTION_ATOMIC;
	return leaf || !code->slot.size || add_slot(t, &code->slot);
}

/* Adds the reads and writes of slots, which are all known now. */
static void use_slots(struct loop_dataflow *t)
{
	for (uint16_t i = 0; i < t->flow->n; i++) {
		const struct slot *slot = &t->flow->nodes[i].code.slot;
		struct loop_dataflow_effects *e = &t->effects[i];

		if (!has(t, i) || !slot->size)
			continue;
		for (unsigned int k = 0; k < t->nslots; k++) {
			const struct loop_dataflow_slot *s = &t->slots[k];

			if (s->by_frame_pointer != slot->by_frame_pointer || slot->at < s->start ||
			    slot->at >= s->end)
				continue;
			e->reads |= slot->read ? TURN_SLOT(k) : 0;
			e->writes |= slot->written ? TURN_SLOT(k) : 0;
			if (slot->written && slot->size == s->end - s->start)
				e->kills |= TURN_SLOT(k);
		}
		t->written |= e->writes;
	}
}

/*
 * If the loop loads nothing else, reads of the frame count as loads: the address of a variable
 * there may have been published, and the loop may wait for it.
 */
static void load_slots(struct loop_dataflow *t)
{
	uint64_t slots = ~(TURN_SLOT(0) - 1) & ~t->written;

	for (uint16_t i = 0; i < t->flow->n && t->loads == 0; i++)
		if (has(t, i) && t->effects[i].reads & slots) {
			t->effects[i].loads = true;
			t->loads++;
		}
}

static uint64_t meet(const struct loop_dataflow *t, uint16_t node)
{
	const struct cfg *f = t->flow;
	const uint16_t *p = &f->predecessors[f->first_predecessor[node]];
	uint64_t in = UINT64_MAX;

	if (node == t->loop->head)
		return 0;
	for (uint16_t k = 0; k < f->npredecessors[node]; k++)
		if (has(t, p[k]))
			in &= t->in[p[k]] | t->effects[p[k]].kills;
	return in;
}

/*
 * Finds what is written on every path from the head to a node. False: no result within the limit.
 */
static bool find_written_before(struct loop_dataflow *t)
{
	memset(t->in, 0xff, sizeof(t->in));
	for (int pass = 0; pass < MAX_PASSES; pass++) {
		bool changed = false;

		for (uint16_t i = 0; i < t->flow->n; i++) {
			uint64_t in;

			if (!has(t, i))
				continue;
			in = meet(t, i);
			changed |= in != t->in[i];
			t->in[i] = in;
		}
		if (!changed)
			return true;
	}
	return false;
}

static uint64_t constants_after(const struct loop_dataflow *t, uint16_t node)
{
	const struct loop_dataflow_effects *e = &t->effects[node];
	uint64_t kept = t->in[node] & ~e->writes;

	return t->flow->nodes[node].code.flags & INSTRUCTION_CONSTANT ? kept | e->kills : kept;
}

static uint64_t meet_constants(const struct loop_dataflow *t, uint16_t node)
{
	const struct cfg *f = t->flow;
	const uint16_t *p = &f->predecessors[f->first_predecessor[node]];
	uint64_t in = UINT64_MAX;

	if (node == t->loop->head)
		return 0;
	for (uint16_t k = 0; k < f->npredecessors[node]; k++)
		if (has(t, p[k]))
			in &= constants_after(t, p[k]);
	return in;
}

/*
 * Values that one node alone sets, to a constant, and that every path back to the head passes last:
 * they are the same in all iterations. Reuses t->in.
 */
static uint64_t find_constants(struct loop_dataflow *t)
{
	uint64_t once = 0, twice = 0, all = UINT64_MAX;
	bool changed = true;

	for (uint16_t i = 0; i < t->flow->n; i++)
		if (has(t, i) && t->flow->nodes[i].code.flags & INSTRUCTION_CONSTANT) {
			twice |= once & t->effects[i].kills;
			once |= t->effects[i].kills;
		}
	memset(t->in, 0xff, sizeof(t->in));
	for (int pass = 0; pass < MAX_PASSES && changed; pass++) {
		changed = false;
		for (uint16_t i = 0; i < t->flow->n; i++) {
			uint64_t in = has(t, i) ? meet_constants(t, i) : t->in[i];

			changed |= in != t->in[i];
			t->in[i] = in;
		}
	}
	for (uint16_t i = 0; i < t->flow->n; i++)
		for (int k = 0; k < 2; k++)
			if (has(t, i) && t->flow->nodes[i].next[k] == t->loop->head)
				all &= constants_after(t, i);
	return changed ? 0 : all & once & ~twice;
}

static bool frame_pointer_changes(const struct loop_dataflow *t)
{
	if (!(t->written & REGISTER_BOTH(DECODER_FP)))
		return false;
	for (unsigned int i = 0; i < t->nslots; i++)
		if (t->slots[i].by_frame_pointer)
			return true;
	return false;
}

bool loop_dataflow__finish(struct loop_dataflow *t)
{
	if (frame_pointer_changes(t))
		return false;
	use_slots(t);
	load_slots(t);
	if (t->loads == 0 || !find_written_before(t))
		return false;
	for (uint16_t i = 0; i < t->flow->n; i++)
		if (has(t, i))
			t->carried |= t->effects[i].reads & ~t->in[i] & t->written;
	t->carried &= ~REGISTER_FLAGS;
	if (t->carried && t->atomic)
		t->carried &= ~find_constants(t);
	return true;
}

/* The values derived from loads, and those derived from carried values. */
struct origins {
	uint64_t loaded, counted;
};

static struct origins after(const struct loop_dataflow *t, uint16_t node, struct origins o,
			    uint64_t carried)
{
	const struct loop_dataflow_effects *e = &t->effects[node];
	bool loaded = e->loads || e->reads & o.loaded;
	bool counted = e->reads & (o.counted | carried);

	o.loaded = (o.loaded & ~e->kills) | (loaded ? e->writes : 0);
	o.counted = (o.counted & ~e->kills) | (counted ? e->writes : 0);
	return o;
}

bool loop_dataflow__find_origins(struct loop_dataflow *t, uint64_t counted[FLOW_MAX],
				 uint64_t carried)
{
	uint64_t *loaded = t->in;
	bool changed = true;

	memset(t->in, 0, sizeof(t->in));
	memset(counted, 0, FLOW_MAX * sizeof(*counted));
	for (int pass = 0; pass < MAX_PASSES && changed; pass++) {
		changed = false;
		for (uint16_t i = 0; i < t->flow->n; i++) {
			struct origins o = {loaded[i], counted[i]};

			if (!has(t, i))
				continue;
			o = after(t, i, o, carried);
			for (int k = 0; k < 2; k++) {
				uint16_t to = t->flow->nodes[i].next[k];

				if (to == FLOW_NONE || !has(t, to) || to == t->loop->head)
					continue;
				changed |= (o.loaded & ~loaded[to]) || (o.counted & ~counted[to]);
				loaded[to] |= o.loaded;
				counted[to] |= o.counted;
			}
		}
	}
	return !changed;
}

bool loop_dataflow__takes(struct loop_dataflow *t)
{
	uint64_t counted[FLOW_MAX];

	if (!loop_dataflow__find_origins(t, counted, 0))
		return false;
	for (uint16_t i = 0; i < t->flow->n; i++) {
		const struct instruction *code = &t->flow->nodes[i].code;
		uint64_t pointers = code->pointers | (uint64_t)code->pointers << 16;

		if (has(t, i) && code->flags & INSTRUCTION_ATOMIC &&
		    code->reads & ~pointers & t->in[i])
			return false;
	}
	return true;
}
