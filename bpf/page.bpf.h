/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile stack that a thread keeps in the page set of its process (quartz/page.h), read while
 * the thread is interrupted: through its own mapping, so that whatever the process told about
 * addresses, only its own memory is ever read.
 */
#ifndef QUARTZ_PAGE_BPF_H
#define QUARTZ_PAGE_BPF_H

/* struct qz_slot up to its stack. */
struct slot_head {
	u32 tid, claims, depth, overflows;
	u64 wait, task, event, pushes, held, reserved;
};

/* Ids begin where those of a task do: its own first, then those of the thread. */
#define PAGE_WORDS 256 /* a power of two */
#define PAGE_FIRST (__builtin_offsetof(struct qz_task, procedures) / sizeof(u32))
#define PAGE_MOST  (QZ_TASK_STACK + QZ_SLOT_STACK)

struct page_copy {
	struct qz_page_place place;
	u64 thread_pointer;
	u32 slot;  /* + 1; 0: the thread has none */
	u32 state; /* enum qz_wait_state */
	/* Read anew at each turn of a loop, see struct sample_scratch. */
	volatile u32 ntask, nown, n; /* n: both */
	struct slot_head head;
	union {
		struct qz_task task;
		u32 words[PAGE_WORDS];
	};
};

_Static_assert(sizeof(struct slot_head) == __builtin_offsetof(struct qz_slot, stack), "layout");
_Static_assert(PAGE_FIRST + PAGE_MOST <= PAGE_WORDS, "room for all ids");

/* One entry per processor: the slot being copied. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct page_copy);
} page_scratch SEC(".maps");

/* Copies the head of the thread's slot. Returns its address, or 0 when it has none. */
static __always_inline u64 page__head(struct page_copy *c)
{
	u64 slot = 0, offset;

	if (bpf_probe_read_user(&slot, sizeof(slot),
				(void *)(c->thread_pointer + c->place.slot_pointer)))
		return 0;
	offset = slot - c->place.slots;
	if (offset >= QZ_SLOTS * sizeof(struct qz_slot) || offset % sizeof(struct qz_slot))
		return 0;
	if (bpf_probe_read_user(&c->head, sizeof(c->head), (void *)slot) || !c->head.tid)
		return 0;
	c->slot = offset / sizeof(struct qz_slot) + 1;
	return slot;
}

/* Copies the slot; what is not according to the contract counts as an empty stack. */
__noinline int page__copy(struct page_copy *c)
{
	u32 depth, base = 0, task, ntask = 0;
	u64 slot;

	if (!c)
		return 0;
	c->slot = 0;
	c->state = QZ_WAIT_BUSY;
	c->ntask = 0;
	c->nown = 0;
	c->n = 0;
	slot = page__head(c);
	if (!slot)
		return 0;
	if (QZ_WAIT_STATE(c->head.wait) <= QZ_WAIT_BLOCKED)
		c->state = QZ_WAIT_STATE(c->head.wait);
	depth = c->head.depth;
	task = QZ_TASK_ID(c->head.task);
	if (depth >= QZ_SLOT_STACK)
		return 0;
	if (task && task <= QZ_TASKS) {
		base = QZ_TASK_BASE(c->head.task);
		if (!bpf_probe_read_user(&c->task, sizeof(c->task),
					 (void *)(c->place.tables +
						  offsetof(struct qz_tables, tasks) +
						  (task - 1) * sizeof(c->task))))
			ntask = c->task.count;
		if (ntask > QZ_TASK_STACK)
			ntask = 0;
		c->ntask = c->n = ntask;
	}
	if (base >= depth)
		return 0;
	depth = (depth - base) & (QZ_SLOT_STACK - 1);
	if (bpf_probe_read_user(
		    &c->words[PAGE_FIRST + ntask], depth * sizeof(u32),
		    (void *)(slot + offsetof(struct qz_slot, stack) + (base + 1) * sizeof(u32))))
		return 0;
	c->nown = depth;
	c->n = ntask + depth;
	return 0;
}

/* What is done with all ids. */
struct page_stack {
	struct page_copy *copy;
	u64 h;
	u32 key;
};

static __always_inline u32 page__id(const struct page_copy *c, u32 i)
{
	return c->words[(PAGE_FIRST + i) & (PAGE_WORDS - 1)];
}

/* As a turn of a loop. */
static long page__hash_turn(u32 i, struct page_stack *s)
{
	if (i >= s->copy->n)
		return 1;
	s->h = mix(s->h, page__id(s->copy, i));
	return 0;
}

__noinline u64 page__hash(struct page_copy *c)
{
	struct page_stack s = {.copy = c};

	if (!c)
		return 0;
	s.h = mix(c->ntask, c->nown);
	LOOP(PAGE_MOST, page__hash_turn, &s);
	return s.h;
}

/* As a turn of a loop. */
static long page__store_turn(u32 i, struct page_stack *s)
{
	if (i >= s->copy->n)
		return 1;
	frame__store(s->key + i, page__id(s->copy, i));
	return 0;
}

/* Writes the ids to the frames from `key` on, for which there is room. */
__noinline int page__store(struct page_copy *c, u32 key)
{
	struct page_stack s = {.copy = c, .key = key};

	if (!c)
		return 0;
	LOOP(PAGE_MOST, page__store_turn, &s);
	return 0;
}

/* The slot of the thread that runs here, or NULL when it has none. */
static __always_inline struct page_copy *
page__read(struct task_struct *task, struct qz_thread_state *t, struct qz_cpu_state *cpu)
{
	struct qz_page_place *place = bpf_map_lookup_elem(&pages, &t->image);
	struct page_copy *copy;
	u32 zero = 0;

	if (!place)
		return NULL;
	copy = bpf_map_lookup_elem(&page_scratch, &zero);
	if (!copy)
		return NULL;
	copy->place = *place;
	copy->thread_pointer = arch__thread_pointer(task);
	page__copy(copy);
	if (!copy->slot)
		return NULL;
	if (t->slot != copy->slot || t->page != place->index + 1) {
		t->page = place->index + 1;
		t->claims = copy->head.claims;
		t->slot = copy->slot;
		event__slot(t);
		cpu__publish(cpu, t);
	}
	return copy;
}

#endif
