/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All rules follow from one observation. If a loop stores nothing that others can see, calls
 * nothing that may, and carries no value of its own from iteration to iteration, then each
 * iteration does exactly the same as the last one, unless memory that it loads was changed by
 * another thread. So if it iterates at all, it waits for that.
 */
#include "symbolizer/spin/spin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/spin/last_access.h"
#include "symbolizer/spin/loop_dataflow.h"

/*
 * A loop that only loads can be a reader that retries if a writer interfered, which is rare. Such
 * loops do more in an iteration than waits do; longer ones must be confirmed.
 */
#define PURE_NODES 24
#define PURE_LOADS 4

/* The number of instructions after PAUSE that still belong to the wait. */
#define BEHIND 4
#define GOES_ON                                                                                    \
	(INSTRUCTION_JUMP | INSTRUCTION_CALL | INSTRUCTION_RETURN | INSTRUCTION_END |              \
	 INSTRUCTION_OPAQUE | INSTRUCTION_STORE | INSTRUCTION_ATOMIC)

/* The callee changes the stack and frame pointers and restores them. */
#define CALL_FRAME (REGISTER_BOTH(4) | REGISTER_BOTH(5))

struct spin {
	struct cfg flow;
	struct cfg_loop loops[FLOW_LOOPS];
	struct callee_effects leaves[SPIN_MAX_CALLS];
	uint16_t leaf_of[FLOW_MAX]; /* of a calling node; FLOW_NONE: not analyzed */
	unsigned int nleaves;
	struct loop_dataflow turn;
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

/* NULL: too many were analyzed already. */
static const struct callee_effects *leaf_of(struct spin *s, const struct code_source *source,
					    uint16_t node)
{
	if (s->leaf_of[node] == FLOW_NONE) {
		if (s->nleaves == SPIN_MAX_CALLS)
			return NULL;
		callee_effects__read(s->flow.decoder, source, s->flow.nodes[node].code.target,
				     &s->leaves[s->nleaves]);
		if (source->yields(source->context, s->flow.nodes[node].code.target))
			s->leaves[s->nleaves] =
				(struct callee_effects) {.kind = LEAF_RELAX, .straight = true};
		s->leaf_of[node] = (uint16_t)s->nleaves++;
	}
	return &s->leaves[s->leaf_of[node]];
}

static bool is_relax(struct spin *s, const struct code_source *source, uint16_t node)
{
	const struct instruction *code = &s->flow.nodes[node].code;
	const struct callee_effects *leaf;

	if (!(code->flags & INSTRUCTION_CALL))
		return code->flags & INSTRUCTION_RELAX;
	leaf = leaf_of(s, source, node);
	return leaf && leaf->kind == LEAF_RELAX && leaf->straight;
}

/*
 * Whether every path round the loop, from the address on, relaxes. Otherwise the loop may do
 * something else in most of its iterations.
 */
static bool always_relaxes(struct spin *s, const struct code_source *source,
			   const struct cfg_loop *loop)
{
	struct cfg_set rest = loop->body;
	bool found = false;

	for (uint16_t i = 0; i < s->flow.n; i++) {
		if (!cfg_set__has(&rest, i) || !is_relax(s, source, i))
			continue;
		cfg_set__remove(&rest, i);
		found = true;
		if (i == 0)
			return true;
	}
	return found && !cfg__leads(&s->flow, 0, 0, &rest);
}

static bool stores(const struct cfg *f, const struct cfg_loop *loop)
{
	for (uint16_t i = 0; i < f->n; i++)
		if (cfg_set__has(&loop->body, i) && f->nodes[i].code.flags & INSTRUCTION_STORE)
			return true;
	return false;
}

/* The nodes of inner loops, which do not pass the head. */
static struct cfg_set inner_loops(const struct spin *s, const struct cfg_loop *loop)
{
	struct cfg_set rest = loop->body, inner = {0};

	cfg_set__remove(&rest, loop->head);
	for (uint16_t i = 0; i < s->flow.n; i++)
		if (cfg_set__has(&rest, i) && cfg__leads(&s->flow, i, i, &rest))
			cfg_set__add(&inner, i);
	return inner;
}

/*
 * Whether an inner loop loads from consecutive places. Such an iteration reads much, like one that
 * is only retried because a writer interfered.
 */
static bool walks(const struct spin *s, const struct cfg_set *inner)
{
	uint64_t written = 0;

	for (uint16_t i = 0; i < s->flow.n; i++)
		if (cfg_set__has(inner, i))
			written |= s->turn.effects[i].writes;
	for (uint16_t i = 0; i < s->flow.n; i++) {
		const struct instruction *code = &s->flow.nodes[i].code;
		uint64_t from = code->flags & INSTRUCTION_CALL ? s->turn.effects[i].reads
							       : code->pointers;

		if (cfg_set__has(inner, i) && s->turn.effects[i].loads &&
		    from & (written | written >> 16) & REGISTER_LOW)
			return true;
	}
	return false;
}

/*
 * Whether an inner loop does more than count. A pause between two loads only counts; what computes
 * has a result, even if no code here reads it.
 */
static bool computes(const struct spin *s, const struct cfg_set *inner)
{
	for (uint16_t i = 0; i < s->flow.n; i++)
		if (cfg_set__has(inner, i) && s->turn.effects[i].writes & ~REGISTER_FLAGS &&
		    !s->turn.effects[i].loads &&
		    !(s->flow.nodes[i].code.flags &
		      (INSTRUCTION_STEP | INSTRUCTION_COPY | INSTRUCTION_CONSTANT)))
			return true;
	return false;
}

/* An indirect jump, mostly of a switch, can lead anywhere in the procedure. */
static bool jumps_anywhere(const struct cfg_node *node)
{
	return (node->code.flags & (INSTRUCTION_END | INSTRUCTION_RETURN | INSTRUCTION_OPAQUE)) ==
	       INSTRUCTION_END;
}

/*
 * Whether a path leads from the address out of the loop and back to it nearby, or out of reach.
 * Then the loop may be a part of a larger loop that works, and be passed without an iteration.
 */
static bool is_passed_through(const struct cfg *f, const struct cfg_loop *loop)
{
	struct cfg_set seen = {0};
	uint16_t queue[FLOW_MAX], n = 0;

	for (uint16_t i = 0; i < f->n; i++) {
		if (!cfg_set__has(&loop->body, i))
			continue;
		if (f->nodes[i].leaves)
			return true;
		cfg_set__add(&seen, i);
		queue[n++] = i;
	}
	for (uint16_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			uint16_t next = f->nodes[queue[i]].next[k];
			bool outside = !cfg_set__has(&loop->body, queue[i]);

			if (next == FLOW_NONE)
				continue;
			if (jumps_anywhere(&f->nodes[next]) ||
			    (outside && cfg_set__has(&loop->body, next)))
				return true;
			if (cfg_set__has(&seen, next))
				continue;
			cfg_set__add(&seen, next);
			queue[n++] = next;
		}
	return false;
}

/* Adds the nodes of the loop to the data flow. False: one of them has effects, or unknown ones. */
static bool prepare_turn(struct spin *s, const struct code_source *source,
			 const struct cfg_loop *loop)
{
	loop_dataflow__begin(&s->turn, &s->flow, loop);
	for (uint16_t i = 0; i < s->flow.n; i++) {
		const struct callee_effects *leaf = NULL;

		if (!cfg_set__has(&loop->body, i))
			continue;
		if (s->flow.nodes[i].code.flags & INSTRUCTION_CALL) {
			leaf = leaf_of(s, source, i);
			if (!leaf || leaf->kind == LEAF_NONE)
				return false;
		}
		if (!loop_dataflow__add(&s->turn, i, leaf))
			return false;
	}
	return loop_dataflow__finish(&s->turn);
}

static enum qz_spin_class classify_loop(struct spin *s, const struct code_source *source,
					const struct cfg_loop *loop, bool *confirm)
{
	struct cfg_set inner;

	*confirm = stores(&s->flow, loop) || is_passed_through(&s->flow, loop);
	if (always_relaxes(s, source, loop))
		return QZ_SPIN_PAUSE;
	if (!prepare_turn(s, source, loop))
		return QZ_SPIN_NONE;
	inner = inner_loops(s, loop);
	if (walks(s, &inner))
		return QZ_SPIN_NONE;
	if (s->turn.carried) {
		*confirm = true;
		return loop_counter__only_counts(&s->turn) && !computes(s, &inner) ? QZ_SPIN_COUNTED
										   : QZ_SPIN_NONE;
	}
	if (s->turn.atomic)
		return loop_dataflow__takes(&s->turn) ? QZ_SPIN_ATOMIC : QZ_SPIN_NONE;
	*confirm |= loop->size > PURE_NODES || s->turn.loads > PURE_LOADS;
	return QZ_SPIN_PURE;
}

/* All registers that the loop may write; the others confirm the wait. */
static uint32_t written_by(struct spin *s, const struct code_source *source,
			   const struct cfg_loop *loop)
{
	uint64_t written = 0;

	for (uint16_t i = 0; i < s->flow.n; i++) {
		const struct instruction *code = &s->flow.nodes[i].code;
		const struct callee_effects *leaf;

		if (!cfg_set__has(&loop->body, i))
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

/* Finds the memory that an iteration loads, if it is one place, and the same in all iterations. */
static void find_watched(struct spin *s, const struct code_source *source,
			 const struct cfg_loop *loop, struct spin_code *found)
{
	const struct place *watched = NULL;

	for (uint16_t i = 0; i < s->flow.n; i++) {
		const struct instruction *code = &s->flow.nodes[i].code;
		const struct callee_effects *leaf;

		if (!cfg_set__has(&loop->body, i))
			continue;
		if (code->flags & INSTRUCTION_CALL) {
			leaf = leaf_of(s, source, i);
			if (!leaf || leaf->kind != LEAF_RELAX)
				return;
		}
		if (!(code->flags & INSTRUCTION_LOAD))
			continue;
		if (!code->load.known || (watched && !same_place(watched, &code->load)))
			return;
		watched = &code->load;
	}
	if (!watched || (watched->base < QZ_SPIN_FIXED && found->written >> watched->base & 1))
		return;
	found->flags |= QZ_SPIN_WATCHES;
	found->base = watched->base;
	found->at = watched->at;
}

/* Finds a counter. If it has advanced by this much, it proves the wait like a second sample. */
static void find_counter(struct spin *s, uint64_t start, int turns, struct spin_code *found)
{
	struct loop_counter c;

	loop_counter__find(&s->turn, start, &c);
	if (!c.known)
		return;
	found->counter = c.number;
	found->first = c.first;
	found->many = c.step * turns;
}

/* The same for a loop that relaxes in each iteration, whatever else it does. */
static void find_pauses(struct spin *s, const struct code_source *source, uint64_t start,
			unsigned int n, struct spin_code *found)
{
	for (unsigned int i = 0; i < n; i++)
		if (always_relaxes(s, source, &s->loops[i]) &&
		    prepare_turn(s, source, &s->loops[i])) {
			find_counter(s, start, QZ_SPIN_MANY_PAUSES, found);
			return;
		}
}

/*
 * Lets the iteration begin at the load. Compilers enter a loop in the middle, where it tests what
 * it waits for; a value in a register there is carried over the head, but not over that place.
 */
static void begin_at_load(const struct cfg *f, struct cfg_loop *loop)
{
	uint16_t first = loop->head;

	for (uint16_t i = 0; i < f->n; i++)
		if (cfg_set__has(&loop->body, i) && f->nodes[i].code.flags & INSTRUCTION_LOAD &&
		    (first == loop->head ||
		     f->nodes[i].code.address < f->nodes[first].code.address))
			first = i;
	loop->head = first;
}

static void classify_loops(struct spin *s, const struct code_source *source, uint64_t start,
			   struct spin_code *found)
{
	unsigned int n = cfg__loops(&s->flow, s->loops), i = 0;
	bool confirm = false;

	while (i < n && found->class == QZ_SPIN_NONE)
		found->class = classify_loop(s, source, &s->loops[i++], &confirm);
	for (unsigned int k = 0; k < n && found->class == QZ_SPIN_NONE; k++) {
		begin_at_load(&s->flow, &s->loops[k]);
		found->class = classify_loop(s, source, &s->loops[k], &confirm);
		i = k + 1;
	}
	if (found->class == QZ_SPIN_NONE)
		return;
	i--;
	found->flags = confirm ? QZ_SPIN_CONFIRM : 0;
	found->start = s->loops[i].start;
	found->end = s->loops[i].end;
	found->written = written_by(s, source, &s->loops[i]);
	if (found->class == QZ_SPIN_COUNTED)
		find_counter(s, start, QZ_SPIN_MANY_TURNS, found);
	if (found->class == QZ_SPIN_PAUSE && confirm)
		find_pauses(s, source, start, n, found);
	find_watched(s, source, &s->loops[i], found);
	/* an outer loop may load something else, where it sleeps after a number of iterations */
	for (i = 0; i < n && !(found->flags & QZ_SPIN_WATCHES); i++)
		if (s->loops[i].narrowed)
			find_watched(s, source, &s->loops[i], found);
}

static void classify_leaf(struct spin *s, const struct code_source *source, uint64_t address,
			  uint64_t start, uint64_t end, struct spin_code *found)
{
	struct callee_effects leaf;

	callee_effects__read(s->flow.decoder, source, start, &leaf);
	if (leaf.kind == LEAF_RELAX && leaf.straight) {
		*found = (struct spin_code) {
			.class = QZ_SPIN_PAUSE,
			.start = start,
			.end = end,
		};
		return;
	}
	if (leaf.kind != LEAF_PURE || address >= leaf.end)
		return;
	found->flags = QZ_SPIN_BY_CALLER;
	found->start = start;
	found->end = leaf.end;
	found->written = (uint32_t)((leaf.writes | leaf.writes >> 16) & 0xffff);
}

/*
 * The start of the straight code to the address, of a few instructions at most, after one that
 * relaxes; 0: none.
 */
static uint64_t behind_relax(struct cfg *f, uint64_t address, uint64_t start)
{
	size_t end = (size_t)(address - f->start), at = cfg__approach(f, address, start);
	struct instruction code;
	uint64_t behind = 0;
	int n = 0;

	for (; at < end; at += code.length) {
		cfg__decode(f, at, &code);
		if (code.flags & INSTRUCTION_RELAX) {
			behind = f->start + at + code.length;
			n = 0;
		} else if (++n > BEHIND || code.flags & GOES_ON) {
			behind = 0;
		}
	}
	return at == end ? behind : 0;
}

/*
 * Whether the instruction before the address relaxes: the processor reports the one after it. Its
 * bytes could be the end of another instruction, so code is decoded up to there, from the start of
 * the procedure, or from far enough that decoding is aligned.
 */
static bool follows_relax(struct cfg *f, uint64_t address, uint64_t start)
{
	size_t end = (size_t)(address - f->start);

	return decoder__follows_relax(f->bytes + end, end) &&
	       behind_relax(f, address, start) == address;
}

/*
 * Whether the instructions before the address relax and lead straight to it, and no branch nearby
 * does. Even in a larger loop that passes through, only a thread that has waited comes there.
 */
static bool has_relaxed(struct cfg *f, uint64_t address, uint64_t start)
{
	size_t at = cfg__approach(f, address, start),
	       end = (size_t)(address - f->start) + CFG_APPROACH;
	uint64_t behind = behind_relax(f, address, start);
	struct instruction code;

	if (f->nodes[0].code.flags & GOES_ON & ~INSTRUCTION_JUMP)
		return false;
	for (; behind && at < f->size && at < end; at += code.length) {
		cfg__decode(f, at, &code);
		if (code.flags & (INSTRUCTION_BRANCH | INSTRUCTION_JUMP) && code.target >= behind &&
		    code.target <= address)
			return false;
	}
	return behind;
}

/* Whether no branch nearby leads to the address, so that only the code before it does. */
static bool is_reached_once(const struct cfg *f)
{
	for (uint16_t k = 0; k < f->npredecessors[0]; k++) {
		const struct instruction *code =
			&f->nodes[f->predecessors[f->first_predecessor[0] + k]].code;

		if (code->address + code->length != f->nodes[0].code.address)
			return false;
	}
	return true;
}

static bool read_surroundings(struct cfg *f, const struct code_source *source, uint64_t address)
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

void spin__classify(struct spin *s, const struct code_source *source, uint64_t address,
		    uint64_t start, uint64_t end, struct spin_code *found)
{
	struct cfg *f = &s->flow;

	*found = (struct spin_code) {.class = QZ_SPIN_NONE};
	memset(s->leaf_of, 0xff, sizeof(s->leaf_of));
	s->nleaves = 0;
	if (!read_surroundings(f, source, address))
		return;
	found->operand = last_access__find(f, address, start);
	if (!cfg__follow(f, address))
		return;
	classify_loops(s, source, start, found);
	if (is_relax(s, source, 0) || (is_reached_once(f) && follows_relax(f, address, start))) {
		if (found->class == QZ_SPIN_NONE) {
			found->start = address;
			found->end = address + f->nodes[0].code.length;
		}
		found->class = QZ_SPIN_PAUSE;
		found->flags &= ~(uint32_t)QZ_SPIN_CONFIRM;
		found->many = 0;
	} else if (found->class == QZ_SPIN_PAUSE && found->flags & QZ_SPIN_CONFIRM &&
		   has_relaxed(f, address, start)) {
		found->flags &= ~(uint32_t)QZ_SPIN_CONFIRM;
		found->many = 0;
	} else if (found->class == QZ_SPIN_NONE && start && end - start <= LEAF_BYTES) {
		classify_leaf(s, source, address, start, end, found);
	}
}

uint64_t spin__decoded(const struct spin *s)
{
	return decoder__count(s->flow.decoder);
}
