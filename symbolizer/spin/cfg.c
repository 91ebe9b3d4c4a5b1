/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/spin/cfg.h"

#include <stdlib.h>
#include <string.h>

/* The node of an address, a new one if there is room; FLOW_NONE: out of reach. */
static uint16_t node_at(struct cfg *f, uint64_t address)
{
	uint64_t offset = address - f->start;

	if (address < f->start || offset >= f->size)
		return FLOW_NONE;
	if (f->at[offset] == FLOW_NONE && f->n < FLOW_MAX) {
		f->nodes[f->n].code.address = address;
		f->at[offset] = f->n++;
	}
	return f->at[offset];
}

static void link_node(struct cfg *f, struct cfg_node *node)
{
	const struct instruction *code = &node->code;
	bool stops = code->flags & (INSTRUCTION_JUMP | INSTRUCTION_END);

	node->next[0] = node->next[1] = FLOW_NONE;
	if (!stops)
		node->next[0] = node_at(f, code->address + code->length);
	if (code->flags & (INSTRUCTION_JUMP | INSTRUCTION_BRANCH))
		node->next[1] = node_at(f, code->target);
	node->leaves = (code->flags & INSTRUCTION_END) || (!stops && node->next[0] == FLOW_NONE) ||
		       ((code->flags & (INSTRUCTION_JUMP | INSTRUCTION_BRANCH)) &&
			node->next[1] == FLOW_NONE);
}

/* NULL: not enough bytes are there. */
static struct cfg_decoded *remembered(struct cfg *f, size_t at)
{
	uint64_t address = f->start + at;

	if (at < DECODED_BEFORE || f->size - at < CODE_MAX_LENGTH)
		return NULL;
	return &f->decoded[(address ^ address >> 11) & (DECODED - 1)];
}

/* False: no valid instruction. */
static bool decode(struct cfg *f, size_t at, struct instruction *code)
{
	struct cfg_decoded *d = remembered(f, at);
	const uint8_t *bytes = f->bytes + at;
	bool is;

	if (d && d->code.length && d->address == f->start + at &&
	    !memcmp(d->bytes, bytes - DECODED_BEFORE, sizeof(d->bytes))) {
		*code = d->code;
		return true;
	}
	is = decoder__decode(f->decoder, bytes, at, f->size - at, f->start + at, code);
	if (is && d) {
		d->address = f->start + at;
		memcpy(d->bytes, bytes - DECODED_BEFORE, sizeof(d->bytes));
		d->code = *code;
	}
	return is;
}

/* Decodes a node. An invalid instruction has no successors. */
static void decode_node(struct cfg *f, struct cfg_node *node)
{
	if (decode(f, node->code.address - f->start, &node->code))
		return;
	node->code.length = 1;
	node->code.flags = INSTRUCTION_END | INSTRUCTION_OPAQUE;
}

size_t cfg__approach(const struct cfg *f, uint64_t address, uint64_t start)
{
	size_t end = (size_t)(address - f->start), at = end > CFG_APPROACH ? end - CFG_APPROACH : 0;

	return start > f->start + at && start <= address ? (size_t)(start - f->start) : at;
}

void cfg__decode(struct cfg *f, size_t at, struct instruction *code)
{
	if (!decode(f, at, code))
		*code = (struct instruction) {.length = 1, .flags = INSTRUCTION_END};
}

static void find_predecessors(struct cfg *f)
{
	uint16_t total = 0;

	memset(f->npredecessors, 0, sizeof(f->npredecessors));
	for (uint16_t i = 0; i < f->n; i++)
		for (int k = 0; k < 2; k++)
			if (f->nodes[i].next[k] != FLOW_NONE)
				f->npredecessors[f->nodes[i].next[k]]++;
	for (uint16_t i = 0; i < f->n; i++) {
		f->first_predecessor[i] = total;
		total += f->npredecessors[i];
		f->npredecessors[i] = 0;
	}
	for (uint16_t i = 0; i < f->n; i++)
		for (int k = 0; k < 2; k++) {
			uint16_t to = f->nodes[i].next[k];

			if (to != FLOW_NONE)
				f->predecessors[f->first_predecessor[to] + f->npredecessors[to]++] =
					i;
		}
}

/* Nodes are decoded in the order in which they were reached, nearest first. */
bool cfg__follow(struct cfg *f, uint64_t address)
{
	memset(f->at, 0xff, sizeof(f->at));
	f->n = 0;
	if (node_at(f, address) == FLOW_NONE)
		return false;
	for (uint16_t i = 0; i < f->n; i++) {
		decode_node(f, &f->nodes[i]);
		link_node(f, &f->nodes[i]);
	}
	find_predecessors(f);
	return f->nodes[0].code.flags != (INSTRUCTION_END | INSTRUCTION_OPAQUE);
}

/* Adds the nodes that lead to `from` without passing one of the set. */
static void add_ways_to(const struct cfg *f, uint16_t from, struct cfg_set *set)
{
	uint16_t queue[FLOW_MAX], n = 0;

	if (cfg_set__has(set, from))
		return;
	cfg_set__add(set, from);
	queue[n++] = from;
	for (uint16_t i = 0; i < n; i++) {
		const uint16_t *p = &f->predecessors[f->first_predecessor[queue[i]]];

		for (uint16_t k = 0; k < f->npredecessors[queue[i]]; k++) {
			if (cfg_set__has(set, p[k]))
				continue;
			cfg_set__add(set, p[k]);
			queue[n++] = p[k];
		}
	}
}

/* Removes nodes that lead to a head without being reached from it: they belong to another entry. */
static void keep_reached(const struct cfg *f, uint16_t head, struct cfg_set *set)
{
	struct cfg_set reached = {0};
	uint16_t queue[FLOW_MAX], n = 0;

	cfg_set__add(&reached, head);
	queue[n++] = head;
	for (uint16_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			uint16_t to = f->nodes[queue[i]].next[k];

			if (to == FLOW_NONE || !cfg_set__has(set, to) || cfg_set__has(&reached, to))
				continue;
			cfg_set__add(&reached, to);
			queue[n++] = to;
		}
	*set = reached;
}

static void measure(const struct cfg *f, struct cfg_loop *loop)
{
	loop->size = 0;
	loop->start = UINT64_MAX;
	loop->end = 0;
	for (uint16_t i = 0; i < f->n; i++) {
		const struct instruction *code = &f->nodes[i].code;

		if (!cfg_set__has(&loop->body, i))
			continue;
		loop->size++;
		if (code->address < loop->start)
			loop->start = code->address;
		if (code->address + code->length > loop->end)
			loop->end = code->address + code->length;
	}
}

static int by_size(const void *a, const void *b)
{
	const struct cfg_loop *x = a, *y = b;

	if (x->narrowed != y->narrowed)
		return x->narrowed - y->narrowed;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Finds the loop that a branch closes, if node 0 is in it. */
static bool close_loop(const struct cfg *f, uint16_t back, struct cfg_loop *loop)
{
	uint16_t head = f->nodes[back].next[1];

	*loop = (struct cfg_loop) {.head = head, .back = back};
	cfg_set__add(&loop->body, head);
	add_ways_to(f, back, &loop->body);
	keep_reached(f, head, &loop->body);
	if (!cfg_set__has(&loop->body, 0) || !cfg_set__has(&loop->body, back))
		return false;
	measure(f, loop);
	return true;
}

/*
 * The part of a loop between its head and its branch, which may be a loop of its own that the outer
 * one enters in its middle. False: it is the whole loop, or node 0 is not in it.
 */
static bool narrow_loop(const struct cfg *f, const struct cfg_loop *loop, struct cfg_loop *inner)
{
	uint64_t first = f->nodes[loop->head].code.address;
	uint64_t last = f->nodes[loop->back].code.address;
	struct cfg_set outside = {0};

	for (uint16_t i = 0; i < f->n; i++)
		if (f->nodes[i].code.address < first || f->nodes[i].code.address > last)
			cfg_set__add(&outside, i);
	*inner = (struct cfg_loop) {true, loop->head, loop->back, .body = outside};
	cfg_set__add(&inner->body, loop->head);
	add_ways_to(f, loop->back, &inner->body);
	for (unsigned int i = 0; i < FLOW_MAX / 64; i++)
		inner->body.words[i] &= ~outside.words[i];
	keep_reached(f, loop->head, &inner->body);
	if (!cfg_set__has(&inner->body, 0) || !cfg_set__has(&inner->body, loop->back))
		return false;
	measure(f, inner);
	return inner->size < loop->size && inner->end - inner->start <= FLOW_REACH;
}

unsigned int cfg__loops(const struct cfg *f, struct cfg_loop *loops)
{
	struct cfg_set cycle = {0};
	unsigned int n = 0;

	add_ways_to(f, 0, &cycle);
	for (uint16_t i = 0; i < f->n && n < FLOW_LOOPS; i++) {
		const struct cfg_node *node = &f->nodes[i];
		struct cfg_loop loop;
		uint16_t head = node->next[1];

		if (!cfg_set__has(&cycle, i) || head == FLOW_NONE || !cfg_set__has(&cycle, head) ||
		    f->nodes[head].code.address > node->code.address || !close_loop(f, i, &loop))
			continue;
		if (narrow_loop(f, &loop, &loops[n]) && n + 1 < FLOW_LOOPS)
			n++;
		if (loop.end - loop.start <= FLOW_REACH)
			loops[n++] = loop;
	}
	qsort(loops, n, sizeof(*loops), by_size);
	return n;
}

bool cfg__leads(const struct cfg *f, uint16_t from, uint16_t to, const struct cfg_set *within)
{
	struct cfg_set seen = {0};
	uint16_t queue[FLOW_MAX + 1], n = 0;

	queue[n++] = from;
	for (uint16_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			uint16_t next = f->nodes[queue[i]].next[k];

			if (next == to)
				return true;
			if (next == FLOW_NONE || !cfg_set__has(within, next) ||
			    cfg_set__has(&seen, next))
				continue;
			cfg_set__add(&seen, next);
			queue[n++] = next;
		}
	return false;
}
