// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Hooks of -finstrument-functions (gcc, clang) at the beginning and the end of every procedure.
 *
 * The end of a procedure is not always reported: longjmp skips it. So each entry of the profile
 * stack has a shadow with the stack pointer of its procedure. When a procedure is entered with a
 * higher stack pointer, that one has ended. With an equal stack pointer, it has ended if its call
 * site differs; otherwise the new one is inlined into it.
 */
#include "userlib/library.h"

#define RUNS  8
#define CALLS 64

#define WAYS 4

#define LAST_DEPTH (QZ_SLOT_STACK - 1)

/* ---- who calls whom ---- */

static uint32_t call_place(uint64_t pair)
{
	return (uint32_t)(pair * 0x9e3779b97f4a7c15ull >> 40);
}

/* Moves a count from the thread's table to that of the process. Clears it first, so that no reader
 * counts it twice. */
static void flush_call(struct qz_call *own)
{
	struct qz_page_header *header = &library.tables->header;
	uint64_t pair = own->pair, count = own->count;
	uint32_t place = call_place(pair);

	store(&own->count, 0);
	for (int i = 0; i < QZ_CALL_PROBES; i++, place++) {
		struct qz_call *c = &library.tables->calls[place % QZ_CALLS];
		__u64 there = load(&c->pair);

		if (!there && replace(&c->pair, &there, pair)) {
			there = pair;
			add(&header->calls_used, 1);
		}
		if (there == pair) {
			add(&c->count, count);
			return;
		}
	}
	add(&header->calls_refused, count);
}

/*
 * A pair is counted in one of four entries of a cache line; one of them is tried first. The numbers
 * of symbols are hash values already, so a simple hash is enough.
 */
static inline struct qz_call *first_of(struct qz_call *calls, uint32_t caller, uint32_t callee)
{
	return &calls[(caller * 3 + callee) % QZ_THREAD_CALLS];
}

static inline struct qz_call *line_of(struct qz_call *calls, uint32_t caller, uint32_t callee)
{
	return &calls[(caller * 3 + callee) % QZ_THREAD_CALLS / WAYS * WAYS];
}

/* A free entry of the line, preferably `first`; otherwise an arbitrary one that is flushed. */
static struct qz_call *make_room(struct qz_call *line, struct qz_call *first, uint64_t any)
{
	struct qz_call *victim = &line[any % WAYS];

	if (!first->pair)
		return first;
	for (int i = 0; i < WAYS; i++)
		if (!line[i].pair)
			return &line[i];
	flush_call(victim);
	return victim;
}

static inline struct qz_call *find_call(struct qz_call *line, uint64_t pair)
{
	for (int i = 0; i < WAYS; i++)
		if (line[i].pair == pair)
			return &line[i];
	return NULL;
}

static void count_call(struct qz_call *calls, uint32_t any, uint32_t caller, uint32_t callee)
{
	struct qz_call *line = line_of(calls, caller, callee);
	uint64_t pair = QZ_CALL_PAIR(caller, callee);
	struct qz_call *call = find_call(line, pair);

	if (!call) {
		call = make_room(line, first_of(calls, caller, callee), any);
		store(&call->count, 0);
		store(&call->pair, pair);
	}
	call->count++;
}

/* For quartz_enter, if the pair is not in its first entry. */
exported void quartz_count_(uint32_t caller, uint32_t callee)
{
	count_call((struct qz_call *)quartz_thread_.calls, (uint32_t)quartz_thread_.slot->pushes,
		   caller, callee);
}

/* ---- entering and leaving ---- */

static bool pushed_by_hook(const struct hooks *h, uint32_t depth)
{
	return h->shadow[depth].id == h->slot->stack[depth];
}

static inline bool has_ended(const struct shadow *s, const struct shadow *new)
{
	return s->frame < new->frame || (s->frame == new->frame && s->site != new->site);
}

/* Drops procedures that have ended without a hook, and returns the depth. The pushes without room
 * (shadow[0].repeats) belonged to them. */
static uint32_t live_depth(const struct hooks *h, const struct shadow *new)
{
	uint32_t depth = h->slot->depth;

	if (depth > LAST_DEPTH)
		depth = 0;
	while (depth && has_ended(&h->shadow[depth], new) && pushed_by_hook(h, depth)) {
		depth--;
		h->shadow[0].repeats = 0;
	}
	h->slot->depth = depth;
	return depth;
}

/* The stack is full. Beyond it nothing is known, neither the caller nor recursion. */
static void enter_beyond(const struct hooks *h, uint32_t id)
{
	struct shadow *top = &h->shadow[LAST_DEPTH], *beyond = &h->shadow[0];
	uint32_t caller = h->slot->stack[LAST_DEPTH];

	count_call(h->calls, h->slot->pushes, beyond->repeats ? 0 : caller, id);
	if (!beyond->repeats && caller == id) {
		top->repeats++;
	} else {
		beyond->repeats++;
		h->slot->overflows++;
	}
}

/* Invalidates the shadow before the depth includes it, so that a signal handler in between ignores
 * it. */
static __attribute__((always_inline)) inline void push(struct quartz_slot_ *slot, struct shadow *s,
						       uint32_t depth, uint64_t function,
						       uint64_t site, uint64_t frame, uint32_t id)
{
	s->id = QUARTZ_NONE;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&slot->depth, depth, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->function = function;
	s->frame = frame;
	s->site = site;
	s->repeats = 0;
	s->id = id;
	__atomic_store_n(&slot->stack[depth], id, __ATOMIC_RELAXED);
}

/* Enters a procedure, in all cases. */
static void enter(const struct hooks *h, const struct shadow *new)
{
	uint32_t depth = live_depth(h, new);

	if (depth == LAST_DEPTH) {
		h->slot->pushes++;
		enter_beyond(h, new->id);
		return;
	}
	count_call(h->calls, h->slot->pushes, h->slot->stack[depth], new->id);
	h->slot->pushes++;
	if (h->slot->stack[depth] == new->id)
		h->shadow[depth].repeats++;
	else
		push(h->slot, &h->shadow[depth + 1], depth + 1, new->function, new->site,
		     new->frame, new->id);
}

/*
 * The usual case: a pair that was called before, on a stack that is not full, whose last procedure
 * has not ended. Otherwise false, and nothing is done. The shadow of the empty stack has the
 * highest frame. This uses only caller-saved registers and calls nothing, so that it needs no
 * frame.
 */
static __attribute__((always_inline)) inline bool
enter_quickly(const struct hooks *h, uint64_t function, uint64_t site, uint64_t frame, uint32_t id)
{
	struct quartz_slot_ *slot = h->slot;
	uint32_t depth = __atomic_load_n(&slot->depth, __ATOMIC_RELAXED), caller;
	struct shadow *top = &h->shadow[depth];
	struct qz_call *call;

	if (unlikely(depth >= LAST_DEPTH))
		return false;
	if (top->frame <= frame && unlikely(top->frame != frame || top->site != site))
		return false;
	caller = slot->stack[depth];
	call = first_of(h->calls, caller, id);
	if (unlikely(call->pair != QZ_CALL_PAIR(caller, id)))
		return false;
	call->count++;
	slot->pushes++;
	if (unlikely(caller == id))
		top->repeats++;
	else
		push(slot, top + 1, depth + 1, function, site, frame, id);
	return true;
}

static inline void leave_at(const struct hooks *h, uint32_t depth)
{
	struct shadow *s = &h->shadow[depth];

	if (s->repeats) {
		s->repeats--;
		depth++;
	}
	__atomic_store_n(&h->slot->depth, depth - 1, __ATOMIC_RELAXED);
}

/* The end of a procedure that is not on top: it was not pushed, or those above it have ended. */
static __attribute__((noinline)) void leave_other(const struct hooks *h, uint64_t function,
						  uint64_t frame)
{
	uint32_t depth = h->slot->depth;

	if (depth > LAST_DEPTH)
		depth = 0;
	if (depth && h->shadow[0].repeats) {
		if (frame <= h->shadow[depth].frame) {
			h->shadow[0].repeats--;
			return;
		}
		h->shadow[0].repeats = 0;
	}
	for (; depth; depth--)
		if (h->shadow[depth].function == function && pushed_by_hook(h, depth)) {
			leave_at(h, depth);
			return;
		}
}

/* The end of a procedure. Only a full stack can have pushes without room. */
static inline void leave(const struct hooks *h, uint64_t function, uint64_t frame)
{
	uint32_t depth = __atomic_load_n(&h->slot->depth, __ATOMIC_RELAXED);

	if (likely(depth - 1 < LAST_DEPTH - 1 && h->shadow[depth].function == function))
		leave_at(h, depth);
	else
		leave_other(h, function, frame);
}

/* ---- hooks ---- */

static uint32_t hooks_cost(void)
{
	const struct shadow new = {.function = 1, .id = 1, .frame = 1};
	struct qz_call calls[QZ_THREAD_CALLS] = {0};
	struct shadow shadow[4] = {{.frame = UINT64_MAX}};
	struct quartz_slot_ slot = {0};
	const struct hooks h = {.slot = &slot, .shadow = shadow, .calls = calls};
	uint64_t least = UINT64_MAX;

	for (int run = 0; run < RUNS; run++) {
		uint64_t start = calibrate__now(), ns;

		for (int i = 0; i < CALLS; i++) {
			if (!enter_quickly(&h, new.function, new.site, new.frame, new.id))
				enter(&h, &new);
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
			leave(&h, 1, 1);
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
		}
		ns = calibrate__now() - start;
		least = ns < least ? ns : least;
	}
	return calibrate__cost(least, CALLS);
}

/* The number of a function that is called for the first time; 0: none. */
static __attribute__((noinline)) uint32_t find_id(uint64_t function)
{
	uint32_t id = symbols__intern(function, QZ_SYMBOL_FUNCTION, NULL);
	struct qz_page_header *header = &library.tables->header;

	if (id && load(&library.tables->symbols[id - 1].kind) == QZ_SYMBOL_EXCLUDED)
		return 0;
	if (id && !header->cost_hook_ps) {
		library.flags |= QZ_PAGE_INSTRUMENTED;
		header->flags = library.flags;
		header->cost_hook_ps = hooks_cost();
	}
	return id;
}

/* The number of a function that was called before, else 0. */
static __attribute__((always_inline)) inline uint32_t known_id(const struct hooks *h,
							       uint64_t function)
{
	uint32_t place = qz_symbol_place(function);
	const struct qz_symbol *s = &h->symbols[place];

	return likely(s->address == function && s->kind == QZ_SYMBOL_FUNCTION) ? place + 1 : 0;
}

static __attribute__((noinline)) void enter_slowly(uint64_t function, uint64_t site, uint64_t frame)
{
	uint32_t generation = __atomic_load_n(library_generation, __ATOMIC_RELAXED);
	struct shadow new = {.function = function, .frame = frame, .site = site};
	const struct hooks *h = &thread_state.hooks;

	if (h->generation != generation && (!generation || !quartz_attach_(generation)))
		return;
	new.id = known_id(h, function) ?: find_id(function);
	if (new.id)
		enter(h, &new);
}

/* A value that grows from callee to caller. */
#if defined(__has_builtin) && __has_builtin(__builtin_dwarf_cfa)
#define frame_here() ((uintptr_t)__builtin_dwarf_cfa())
#else
#define frame_here() ((uintptr_t)__builtin_frame_address(0))
#endif

exported void __cyg_profile_func_enter(void *function, void *site);
exported void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
	uint32_t generation = __atomic_load_n(library_generation, __ATOMIC_RELAXED), id;
	const struct hooks *h = &thread_state.hooks;

	if (!generation)
		return;
	if (likely(h->generation == generation)) {
		id = known_id(h, (uintptr_t)function);
		if (likely(id && enter_quickly(h, (uintptr_t)function, (uintptr_t)site,
					       frame_here(), id)))
			return;
	}
	enter_slowly((uintptr_t)function, (uintptr_t)site, frame_here());
}

/* Also if no quartzd listens any more: what was entered must be left. */
void __cyg_profile_func_exit(void *function, void *site)
{
	const struct hooks *h = &thread_state.hooks;

	if (h->generation)
		leave(h, (uintptr_t)function, frame_here());
}

exported void quartz_exclude(const void *function)
{
	uint32_t id = symbols__intern((uintptr_t)function, QZ_SYMBOL_FUNCTION, NULL);

	if (id)
		store(&library.tables->symbols[id - 1].kind, QZ_SYMBOL_EXCLUDED);
}
