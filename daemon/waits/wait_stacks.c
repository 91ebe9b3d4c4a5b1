// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/wait_causes.h"
#include "core/util/bits.h"
#include "core/util/vec.h"
#include "core/util/hash_table.h"
#include "daemon/waits/sleeping_stacks.h"
#include "daemon/waits/wait_stacks.h"
#include "quartz/unwind.h"

enum stack_state {
	STACK_FREE,
	STACK_NEW,    /* frames were taken out */
	STACK_WANTED, /* their addresses were asked for */
	STACK_PLACED,
};

struct wait_stack {
	enum stack_state state;
	uint32_t cause;
	struct qz_stack_slot slot; /* its frames begin at offset 0 of those below */
	uint64_t *frames;	   /* until it is placed */
	struct sleeping_stacks
		*sleeping; /* until it is asked for: what frames are still to be had of */
	uint32_t n;
	bool truncated, task;
	uint32_t *locations;  /* from then on */
	uint32_t below, leaf; /* the last node asked for; leaf QZ_NONE: none */
};

/* An image whose process is asked for. */
struct owner {
	uint32_t image;
	uint32_t asked; /* at which drain */
	uint32_t gone;	/* drains since it was found to be gone, 0: it was not */
};

struct wait_stacks {
	const struct bpf_runtime_waits *waits;
	struct qz_control *control;
	const struct stack_context *context;
	struct wait_stack *items; /* one per slot */
	uint32_t drains;
	struct owner *owners;
	uint32_t nowners;
	struct qz_hash_table by_image;
	uint32_t nasleep; /* stacks that were read, ever */
	uint32_t causes[QZ_WAIT_CAUSES];
};

struct wait_stacks *wait_stacks__new(const struct bpf_runtime *bpf,
				     const struct stack_context *context)
{
	struct wait_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->waits = bpf_runtime__waits(bpf);
	s->control = bpf_runtime__control(bpf);
	s->context = context;
	s->items = calloc(s->waits->nstacks, sizeof(*s->items));
	for (uint32_t i = 0; i < QZ_WAIT_CAUSES; i++)
		s->causes[i] = QZ_NONE;
	if (s->items)
		return s;
	free(s);
	return NULL;
}

void wait_stacks__free(struct wait_stacks *s)
{
	if (!s)
		return;
	/* items of other slots are free, and most of them no memory yet */
	qz_bits__for_each(i, s->waits->used_stacks, s->waits->nstacks) {
		free(s->items[i].frames);
		sleeping_stacks__free(s->items[i].sleeping);
		free(s->items[i].locations);
	}
	free(s->items);
	free(s->owners);
	qz_hash_table__free(&s->by_image);
	free(s);
}

/* ---- taking out ---- */

static void free_slot(struct wait_stacks *s, uint32_t i)
{
	struct qz_wait_stack *slot = &s->waits->stacks[i];

	slot->stack.stored = 0;
	qz_bits__clear(s->waits->used_stacks, i);
	__atomic_store_n(&slot->stack.hash, 0, __ATOMIC_SEQ_CST);
}

/* Where its stack cannot be read, the frame that the thread sleeps in is all that is known. */
static void read_asleep(struct wait_stacks *s, struct wait_stack *item, pid_t tid)
{
	const struct image *image = address_spaces__get(s->context->spaces, item->slot.image);
	struct qz_user_registers regs;

	if (image && item->slot.nuser * sizeof(*item->frames) == sizeof(regs) &&
	    s->nasleep < ASLEEP_MAX) {
		memcpy(&regs, item->frames, sizeof(regs));
		item->sleeping = sleeping_stacks__read(image, tid, &regs);
		s->nasleep += item->sleeping != NULL;
	}
	item->slot.nuser = item->slot.depth = 1;
	item->slot.npython = 0;
}

/* Without memory it stays where it is until the next time. */
static void take_out(struct wait_stacks *s, struct wait_stack *item,
		     const struct qz_wait_stack *slot)
{
	uint32_t mask = s->waits->nframes - 1, n;

	item->slot = slot->stack;
	item->cause = slot->cause < QZ_WAIT_CAUSES ? slot->cause : QZ_WAIT_UNKNOWN;
	if (item->slot.nuser > QZ_USER_FRAMES)
		item->slot.nuser = QZ_USER_FRAMES;
	if (item->slot.npython > QZ_PYTHON_FRAMES)
		item->slot.npython = QZ_PYTHON_FRAMES;
	n = item->slot.nuser + item->slot.npython;
	item->frames = calloc(n ? n : 1, sizeof(*item->frames));
	if (!item->frames)
		return;
	for (uint32_t i = 0; i < n; i++)
		item->frames[i] = s->waits->frames[(slot->stack.offset + i) & mask];
	item->slot.offset = 0;
	item->slot.nkernel = 0;
	if (slot->asleep)
		read_asleep(s, item, slot->asleep);
	item->leaf = QZ_NONE;
	item->state = STACK_NEW;
}

/* The frames of a slot that is taken and not stored are being written. Returns how many are in use. */
static uint32_t take_out_new(struct wait_stacks *s, bool *complete)
{
	uint32_t n = 0;

	qz_bits__for_each(i, s->waits->used_stacks, s->waits->nstacks) {
		const struct qz_wait_stack *slot = &s->waits->stacks[i];
		uint8_t stored = __atomic_load_n(&slot->stack.stored, __ATOMIC_SEQ_CST);

		n++;
		if (stored == QZ_STACK_NO_ROOM)
			free_slot(s, i);
		else if (stored && s->items[i].state == STACK_FREE)
			take_out(s, &s->items[i], slot);
		if (stored != QZ_STACK_NO_ROOM && s->items[i].state == STACK_FREE)
			*complete = false;
	}
	return n;
}

/* ---- freeing ---- */

/* NULL without memory. */
static struct owner *get_owner(struct wait_stacks *s, uint32_t image)
{
	const struct owner new = {.image = image};
	int64_t i = QZ_INTERN(&s->by_image, &s->owners, &s->nowners, &new, image);

	return i < 0 ? NULL : &s->owners[i];
}

/* Asked of thousands once a second, so not of /proc. If another process has its number now, it is gone when that one is. */
static bool process_is_gone(const struct image *image)
{
	return kill(image->pid, 0) && errno == ESRCH;
}

/*
 * Whether the process of an image is gone for so long that nothing of its threads can still be on its
 * way: what their last waits left in the table of waits is drained, and no program adds to it.
 */
static bool is_gone(struct wait_stacks *s, uint32_t number)
{
	const struct image *image = address_spaces__get(s->context->spaces, number);
	struct owner *owner = image ? get_owner(s, number) : NULL;

	if (!owner)
		return false;
	if (owner->asked != s->drains) {
		owner->asked = s->drains;
		if (owner->gone || process_is_gone(image))
			owner->gone++;
	}
	return owner->gone > WAIT_STACKS_GRACE;
}

static void release(struct wait_stacks *s, uint32_t i)
{
	struct wait_stack *item = &s->items[i];

	if (item->cause == QZ_WAIT_RUNNING)
		__atomic_fetch_sub(&s->control->running_stacks, 1, __ATOMIC_SEQ_CST);
	if (s->waits->stacks[i].asleep)
		__atomic_fetch_sub(&s->control->asleep_stacks, 1, __ATOMIC_SEQ_CST);
	free(item->locations);
	*item = (struct wait_stack) {.state = STACK_FREE};
	free_slot(s, i);
}

static void release_ended(struct wait_stacks *s)
{
	qz_bits__for_each(i, s->waits->used_stacks, s->waits->nstacks)
		if (s->items[i].state == STACK_PLACED && is_gone(s, s->items[i].slot.image))
			release(s, i);
}

/* Owners whose stacks have numbers, anew. */
static void forget_owners(struct wait_stacks *s, const bool *marked)
{
	uint32_t kept = 0;

	qz_hash_table__clear(&s->by_image);
	for (uint32_t i = 0; i < s->nowners; i++) {
		const struct image *image =
			address_spaces__get(s->context->spaces, s->owners[i].image);

		if (!image || marked[image->scope])
			continue;
		s->owners[kept] = s->owners[i];
		qz_hash_table__insert(&s->by_image, QZ_HASH(&s->owners[kept], image), kept);
		kept++;
	}
	s->nowners = qz_array__shrink((void **)&s->owners, s->nowners, kept, sizeof(*s->owners));
}

void wait_stacks__forget(struct wait_stacks *s, const bool *marked)
{
	qz_bits__for_each(i, s->waits->used_stacks, s->waits->nstacks) {
		const struct image *image;

		if (s->items[i].state != STACK_PLACED)
			continue;
		image = address_spaces__get(s->context->spaces, s->items[i].slot.image);
		if (image && marked[image->scope])
			release(s, i);
	}
	forget_owners(s, marked);
}

void wait_stacks__drain(struct wait_stacks *s, bool aging)
{
	uint32_t used = __atomic_load_n(&s->control->wait_frames_used, __ATOMIC_SEQ_CST);
	bool complete = true;

	s->drains += aging;
	if (take_out_new(s, &complete) > s->waits->nstacks / 2 && aging)
		release_ended(s);
	if (complete) /* else the ring stays as it is until the next time */
		__atomic_store_n(&s->control->wait_frames_read, used, __ATOMIC_SEQ_CST);
}

/* ---- naming ---- */

static struct bpf_runtime_buffer frames_of(const struct wait_stack *item)
{
	return (struct bpf_runtime_buffer) {.frames = item->frames,
					    .nframes = item->slot.nuser + item->slot.npython};
}

/* Frames in the place of registers. */
static void walk_asleep(struct wait_stacks *s, struct wait_stack *item)
{
	const struct image *image = address_spaces__get(s->context->spaces, item->slot.image);
	uint64_t *frames = calloc(QZ_USER_FRAMES, sizeof(*frames));
	uint32_t n;

	if (frames && image) {
		item->slot.end =
			sleeping_stacks__walk(item->sleeping, s->context->spawn, image, frames, &n);
		item->slot.nuser = item->slot.depth = n;
		free(item->frames);
		item->frames = frames;
	} else {
		free(frames);
	}
	sleeping_stacks__free(item->sleeping);
	item->sleeping = NULL;
}

void wait_stacks__want(struct wait_stacks *s)
{
	qz_bits__for_each(i, s->waits->used_stacks, s->waits->nstacks) {
		struct wait_stack *item = &s->items[i];
		struct bpf_runtime_buffer frames;

		if (item->state != STACK_NEW)
			continue;
		if (item->sleeping)
			walk_asleep(s, item);
		frames = frames_of(item);
		stack__want(s->context, &frames, &item->slot);
		item->state = STACK_WANTED;
	}
}

static void place(struct wait_stacks *s, struct wait_stack *item)
{
	struct bpf_runtime_buffer frames = frames_of(item);
	struct stack stack;

	stack__place(s->context, &frames, &item->slot, &stack);
	item->locations = malloc((stack.n ? stack.n : 1) * sizeof(*item->locations));
	if (!item->locations)
		return;
	memcpy(item->locations, stack.locations, stack.n * sizeof(*item->locations));
	item->n = stack.n;
	item->truncated = stack.truncated;
	item->task = stack.task;
	free(item->frames);
	item->frames = NULL;
	item->state = STACK_PLACED;
}

void wait_stacks__place(struct wait_stacks *s)
{
	qz_bits__for_each(i, s->waits->used_stacks, s->waits->nstacks)
		if (s->items[i].state == STACK_WANTED)
			place(s, &s->items[i]);
}

/* ---- asking ---- */

static struct wait_stack *find(struct wait_stacks *s, uint32_t number)
{
	uint32_t at = number - QZ_WAIT_CAUSES;

	if (number < QZ_WAIT_CAUSES || at >= s->waits->nstacks || s->items[at].state == STACK_FREE)
		return NULL;
	return &s->items[at];
}

bool wait_stacks__lasts(struct wait_stacks *s, uint32_t number, uint32_t image)
{
	const struct wait_stack *item = find(s, number);

	return !item || item->slot.image == image;
}

/* A stack that is not yet taken out has its cause at its slot. */
int64_t wait_stacks__cause(struct wait_stacks *s, uint32_t number)
{
	const struct wait_stack *item = find(s, number);
	uint32_t cause = number;
	char name[QZ_WAIT_CAUSE_LENGTH];
	int64_t index;

	if (item)
		cause = item->cause;
	else if (number >= QZ_WAIT_CAUSES)
		cause = number - QZ_WAIT_CAUSES < s->waits->nstacks
				? s->waits->stacks[number - QZ_WAIT_CAUSES].cause
				: QZ_WAIT_UNKNOWN;
	if (cause >= QZ_WAIT_CAUSES)
		cause = QZ_WAIT_UNKNOWN;
	if (s->causes[cause] != QZ_NONE)
		return s->causes[cause];
	index = qz_waits__intern_cause(s->context->profile, qz_wait_cause__name(cause, name));
	if (index >= 0)
		s->causes[cause] = index;
	return index;
}

int64_t wait_stacks__node(struct wait_stacks *s, uint32_t number, struct thread *thread)
{
	struct wait_stack *item = find(s, number);
	uint32_t below;
	struct stack stack;
	int64_t node;

	if (!item || item->state != STACK_PLACED)
		return thread__node(thread, NULL);
	below = thread__node(thread, address_spaces__get(s->context->spaces, item->slot.image));
	if (item->leaf != QZ_NONE && item->below == below)
		return item->leaf;
	stack = (struct stack) {.n = item->n, .truncated = item->truncated, .task = item->task};
	memcpy(stack.locations, item->locations, item->n * sizeof(*item->locations));
	node = stack__node(s->context->profile, below, &stack);
	if (node >= 0) {
		item->below = below;
		item->leaf = node;
	}
	return node;
}
