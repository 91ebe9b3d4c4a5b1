/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules rest on one observation. A loop that stores nothing others can see, calls nothing that
 * may, and carries no value of its own from turn to turn does in each turn exactly what it did in
 * the last, unless memory that it loads was changed by somebody else. So if it goes round at all it
 * waits for that.
 */
#include "symbolizer/spin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/turn.h"

/*
 * A loop that only loads can be a reader that tries again when a writer came between, and mostly
 * does not have to. Those do more in a turn than waits do; what is longer must be confirmed.
 */
#define PURE_NODES 24
#define PURE_LOADS 4

/* While a procedure is called, the stack and frame pointers are its own. */
#define CALL_FRAME (REGISTER_BOTH(4) | REGISTER_BOTH(5))

struct spin {
	struct flow flow;
	struct flow_loop loops[FLOW_LOOPS];
	struct leaf leaves[SPIN_MAX_CALLS];
	uint16_t leaf_of[FLOW_MAX]; /* of a node that calls; FLOW_NONE: not looked at */
	unsigned int nleaves;
	struct turn turn;
};

struct spin *spin__new(uint16_t machine)
{
	struct spin *s = calloc(1, sizeof(*s));

	if (!s) {
		errno = ENOMEM;
		return NULL;
	}
	s->flow.decoder = decoder__new(machine);
	if (!s->flow.decoder) {
		free(s);
		return NULL;
	}
	return s;
}

void spin__free(struct spin *s)
{
	if (!s)
		return;
	decoder__free(s->flow.decoder);
	free(s);
}

/* NULL: too many were looked at already. */
static const struct leaf *leaf_of(struct spin *s, const struct code_source *source, uint16_t node)
{
	if (s->leaf_of[node] == FLOW_NONE) {
		if (s->nleaves == SPIN_MAX_CALLS)
			return NULL;
		leaf__read(s->flow.decoder, source, s->flow.nodes[node].code.target,
			   &s->leaves[s->nleaves]);
		if (source->yields(source->context, s->flow.nodes[node].code.target))
			s->leaves[s->nleaves] =
				(struct leaf) {.kind = LEAF_RELAX, .straight = true};
		s->leaf_of[node] = (uint16_t)s->nleaves++;
	}
	return &s->leaves[s->leaf_of[node]];
}

static bool is_relax(struct spin *s, const struct code_source *source, uint16_t node)
{
	const struct instruction *code = &s->flow.nodes[node].code;
	const struct leaf *leaf;

	if (!(code->flags & INSTRUCTION_CALL))
		return code->flags & INSTRUCTION_RELAX;
	leaf = leaf_of(s, source, node);
	return leaf && leaf->kind == LEAF_RELAX && leaf->straight;
}

/*
 * Whether every way round the loop from the address relaxes. Otherwise the loop may do something
 * else in most of its turns.
 */
static bool always_relaxes(struct spin *s, const struct code_source *source,
			   const struct flow_loop *loop)
{
	struct flow_set rest = loop->body;
	bool found = false;

	for (uint16_t i = 0; i < s->flow.n; i++) {
		if (!flow_set__has(&rest, i) || !is_relax(s, source, i))
			continue;
		flow_set__remove(&rest, i);
		found = true;
		if (i == 0)
			return true;
	}
	return found && !flow__leads(&s->flow, 0, 0, &rest);
}

static bool stores(const struct flow *f, const struct flow_loop *loop)
{
	for (uint16_t i = 0; i < f->n; i++)
		if (flow_set__has(&loop->body, i) && f->nodes[i].code.flags & INSTRUCTION_STORE)
			return true;
	return false;
}

/*
 * Whether an inner loop loads from one place after the other. Such a turn reads much, as one does
 * that is only tried again because a writer came between.
 */
static bool walks(const struct spin *s, const struct flow_loop *loop)
{
	struct flow_set rest = loop->body, inner = {0};
	uint64_t written = 0;

	flow_set__remove(&rest, loop->head);
	for (uint16_t i = 0; i < s->flow.n; i++)
		if (flow_set__has(&rest, i) && flow__leads(&s->flow, i, i, &rest)) {
			flow_set__add(&inner, i);
			written |= s->turn.effects[i].writes;
		}
	for (uint16_t i = 0; i < s->flow.n; i++) {
		const struct instruction *code = &s->flow.nodes[i].code;
		uint64_t from = code->flags & INSTRUCTION_CALL ? s->turn.effects[i].reads
							       : code->pointers;

		if (flow_set__has(&inner, i) && s->turn.effects[i].loads &&
		    from & (written | written >> 16) & REGISTER_LOW)
			return true;
	}
	return false;
}

/* A jump by a register, mostly of a switch, may go anywhere in the procedure. */
static bool jumps_anywhere(const struct flow_node *node)
{
	return (node->code.flags & (INSTRUCTION_END | INSTRUCTION_RETURN | INSTRUCTION_OPAQUE)) ==
	       INSTRUCTION_END;
}

/*
 * Whether a way leads from the address out of the loop and back to it nearby, or out of sight. Then
 * the loop may be a short cut of a larger one that works, and passed through without going round.
 */
static bool is_passed_through(const struct flow *f, const struct flow_loop *loop)
{
	struct flow_set seen = {0};
	uint16_t queue[FLOW_MAX], n = 0;

	for (uint16_t i = 0; i < f->n; i++) {
		if (!flow_set__has(&loop->body, i))
			continue;
		if (f->nodes[i].leaves)
			return true;
		flow_set__add(&seen, i);
		queue[n++] = i;
	}
	for (uint16_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			uint16_t next = f->nodes[queue[i]].next[k];
			bool outside = !flow_set__has(&loop->body, queue[i]);

			if (next == FLOW_NONE)
				continue;
			if (jumps_anywhere(&f->nodes[next]) ||
			    (outside && flow_set__has(&loop->body, next)))
				return true;
			if (flow_set__has(&seen, next))
				continue;
			flow_set__add(&seen, next);
			queue[n++] = next;
		}
	return false;
}

/* Hands the nodes of the loop over. false: one of them has effects, or does what is not known. */
static bool prepare_turn(struct spin *s, const struct code_source *source,
			 const struct flow_loop *loop)
{
	turn__begin(&s->turn, &s->flow, loop);
	for (uint16_t i = 0; i < s->flow.n; i++) {
		const struct leaf *leaf = NULL;

		if (!flow_set__has(&loop->body, i))
			continue;
		if (s->flow.nodes[i].code.flags & INSTRUCTION_CALL) {
			leaf = leaf_of(s, source, i);
			if (!leaf || leaf->kind == LEAF_NONE)
				return false;
		}
		if (!turn__add(&s->turn, i, leaf))
			return false;
	}
	return turn__finish(&s->turn);
}

static enum qz_spin_class judge_loop(struct spin *s, const struct code_source *source,
				     const struct flow_loop *loop, bool *confirm)
{
	*confirm = stores(&s->flow, loop) || is_passed_through(&s->flow, loop);
	if (always_relaxes(s, source, loop))
		return QZ_SPIN_PAUSE;
	if (!prepare_turn(s, source, loop) || walks(s, loop))
		return QZ_SPIN_NONE;
	if (s->turn.carried) {
		*confirm = true;
		return turn__is_counted(&s->turn) ? QZ_SPIN_COUNTED : QZ_SPIN_NONE;
	}
	if (s->turn.atomic)
		return turn__takes(&s->turn) ? QZ_SPIN_ATOMIC : QZ_SPIN_NONE;
	*confirm |= loop->size > PURE_NODES || s->turn.loads > PURE_LOADS;
	return QZ_SPIN_PURE;
}

/* All that the loop may write, for what is confirmed by the other registers. */
static uint32_t written_by(struct spin *s, const struct code_source *source,
			   const struct flow_loop *loop)
{
	uint64_t written = 0;

	for (uint16_t i = 0; i < s->flow.n; i++) {
		const struct instruction *code = &s->flow.nodes[i].code;
		const struct leaf *leaf;

		if (!flow_set__has(&loop->body, i))
			continue;
		written |= code->writes;
		if (!(code->flags & INSTRUCTION_CALL))
			continue;
		leaf = leaf_of(s, source, i);
		written |= CALL_FRAME;
		written |= leaf && leaf->complete ? leaf->writes : DECODER_CALLER_SAVED;
	}
	return (uint32_t)((written | written >> 16) & 0xffff);
}

static bool same_place(const struct place *a, const struct place *b)
{
	return a->known && b->known && a->base == b->base && a->at == b->at;
}

/* The place that a turn loads from, where it is one, and the same in all turns. */
static struct place find_watched(struct spin *s, const struct code_source *source,
				 const struct flow_loop *loop, uint32_t written)
{
	const struct place *watched = NULL, none = {.known = false};

	for (uint16_t i = 0; i < s->flow.n; i++) {
		const struct instruction *code = &s->flow.nodes[i].code;
		const struct leaf *leaf;

		if (!flow_set__has(&loop->body, i))
			continue;
		if (code->flags & INSTRUCTION_CALL) {
			leaf = leaf_of(s, source, i);
			if (!leaf || leaf->kind != LEAF_RELAX)
				return none;
		}
		if (!(code->flags & INSTRUCTION_LOAD))
			continue;
		if (!code->load.known || (watched && !same_place(watched, &code->load)))
			return none;
		watched = &code->load;
	}
	if (!watched || (watched->base < QZ_SPIN_FIXED && written >> watched->base & 1))
		return none;
	return *watched;
}

static void judge_loops(struct spin *s, const struct code_source *source,
			struct spin_verdict *verdict)
{
	unsigned int n = flow__loops(&s->flow, s->loops);

	for (unsigned int i = 0; i < n && verdict->class == QZ_SPIN_NONE; i++) {
		verdict->class = judge_loop(s, source, &s->loops[i], &verdict->confirm);
		verdict->start = s->loops[i].start;
		verdict->end = s->loops[i].end;
		verdict->written = written_by(s, source, &s->loops[i]);
		verdict->watched = find_watched(s, source, &s->loops[i], verdict->written);
	}
	if (verdict->class == QZ_SPIN_NONE) {
		*verdict = (struct spin_verdict) {.class = QZ_SPIN_NONE};
		return;
	}
	/* a loop around may load elsewhere, where it sleeps after so many turns */
	for (unsigned int i = 0; i < n && !verdict->watched.known; i++)
		if (s->loops[i].narrowed)
			verdict->watched = find_watched(s, source, &s->loops[i], verdict->written);
}

static void judge_leaf(struct spin *s, const struct code_source *source, uint64_t address,
		       uint64_t start, uint64_t end, struct spin_verdict *verdict)
{
	struct leaf leaf;

	leaf__read(s->flow.decoder, source, start, &leaf);
	if (leaf.kind == LEAF_RELAX && leaf.straight) {
		*verdict = (struct spin_verdict) {
			.class = QZ_SPIN_PAUSE,
			.start = start,
			.end = end,
		};
		return;
	}
	if (leaf.kind != LEAF_PURE || address >= leaf.end)
		return;
	verdict->by_caller = true;
	verdict->start = start;
	verdict->end = leaf.end;
	verdict->written = (uint32_t)((leaf.writes | leaf.writes >> 16) & 0xffff);
}

/*
 * Whether the instruction before the address relaxes: the processor reports the one behind it. Its
 * bytes could be the end of another one, so code is decoded up to there, from the start of the
 * procedure or from so far that it falls into step.
 */
static bool follows_relax(struct flow *f, uint64_t address, uint64_t start)
{
	size_t end = (size_t)(address - f->start),
	       at = end > SPIN_APPROACH ? end - SPIN_APPROACH : 0;
	struct instruction code = {0};

	if (!decoder__follows_relax(f->bytes + end, end))
		return false;
	if (start > f->start + at && start <= address)
		at = (size_t)(start - f->start);
	while (at < end) {
		if (!decoder__decode(f->decoder, f->bytes + at, at, f->size - at, f->start + at,
				     &code))
			code = (struct instruction) {.length = 1};
		at += code.length;
	}
	return at == end && code.flags & INSTRUCTION_RELAX;
}

/* Whether no branch nearby goes to the address: then only what stands before it leads to it. */
static bool is_reached_once(const struct flow *f)
{
	for (uint16_t k = 0; k < f->npredecessors[0]; k++) {
		const struct instruction *code =
			&f->nodes[f->predecessors[f->first_predecessor[0] + k]].code;

		if (code->address + code->length != f->nodes[0].code.address)
			return false;
	}
	return true;
}

static bool read_surroundings(struct flow *f, const struct code_source *source, uint64_t address)
{
	uint64_t start, end;

	if (!source->range(source->context, address, &start, &end) || address < start ||
	    address >= end)
		return false;
	if (address - start > FLOW_REACH)
		start = address - FLOW_REACH;
	if (end - start > sizeof(f->bytes))
		end = start + sizeof(f->bytes);
	f->start = start;
	f->size = source->read(source->context, start, f->bytes, end - start);
	return f->size > address - start;
}

void spin__judge(struct spin *s, const struct code_source *source, uint64_t address, uint64_t start,
		 uint64_t end, struct spin_verdict *verdict)
{
	struct flow *f = &s->flow;
	*verdict = (struct spin_verdict) {.class = QZ_SPIN_NONE};
	memset(s->leaf_of, 0xff, sizeof(s->leaf_of));
	s->nleaves = 0;
	if (!read_surroundings(f, source, address))
		return;
	if (!flow__follow(f, address))
		return;
	judge_loops(s, source, verdict);
	if (is_relax(s, source, 0) || (is_reached_once(f) && follows_relax(f, address, start))) {
		if (verdict->class == QZ_SPIN_NONE) {
			verdict->start = address;
			verdict->end = address + f->nodes[0].code.length;
		}
		verdict->class = QZ_SPIN_PAUSE;
		verdict->confirm = false;
	} else if (verdict->class == QZ_SPIN_NONE && start && end - start <= LEAF_BYTES) {
		judge_leaf(s, source, address, start, end, verdict);
	}
}

uint64_t spin__decoded(const struct spin *s)
{
	return decoder__count(s->flow.decoder);
}
