// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/hash_table.h"
#include "daemon/attribution/python_stacks.h"
#include "daemon/attribution/spawn_stacks.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/procfs.h"

#define MAX_KNOWN 4096 /* stacks of creators that are kept; each exec has its own */
/* Longest chain of creators: a program may restart itself for ever. */
#define MAX_DEPTH   1024
#define FOUND_STACK OPENER_BYTES /* bytes of a leader's stack that are searched for main */

/*
 * A creator's stack after its walk. Equal code addresses at equal distances from the stack pointer
 * mean equal frames, so a pool of threads needs one walk, not one for each thread.
 */
struct known {
	uint64_t contents; /* hash of the image's mappings */
	uint64_t signature;
	uint32_t *locations; /* outermost first */
	uint32_t n;
	bool complete;
};

struct spawn_stacks {
	struct stack_copies *copies;
	struct address_spaces *spaces;
	struct address_cache *addresses;
	struct python_codes *python;
	struct qz_profile *profile;
	struct known *known;
	uint32_t n;
	struct qz_hash_table table;
};

struct spawn_stacks *spawn_stacks__new(struct symbolizer *symbolizer, struct address_spaces *spaces,
				       struct address_cache *addresses, struct python_codes *python,
				       struct qz_profile *profile)
{
	struct spawn_stacks *spawn = calloc(1, sizeof(*spawn));

	if (!spawn)
		return NULL;
	spawn->copies = stack_copies__new(symbolizer);
	if (!spawn->copies) {
		free(spawn);
		return NULL;
	}
	spawn->spaces = spaces;
	spawn->addresses = addresses;
	spawn->python = python;
	spawn->profile = profile;
	return spawn;
}

/* Frees all; stacks that are needed again are walked again. */
static void forget_known(struct spawn_stacks *spawn)
{
	for (uint32_t i = 0; i < spawn->n; i++)
		free(spawn->known[i].locations);
	free(spawn->known);
	spawn->known = NULL;
	spawn->n = 0;
	qz_hash_table__clear(&spawn->table);
}

void spawn_stacks__free(struct spawn_stacks *spawn)
{
	if (!spawn)
		return;
	forget_known(spawn);
	qz_hash_table__free(&spawn->table);
	stack_copies__free(spawn->copies);
	free(spawn);
}

/* ---- stacks after their walk ---- */

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/*
 * A creator's stack: its return addresses if BPF walked it, or a copy to be walked here; and what
 * its process has mapped.
 */
struct creator {
	struct stack_copy copy;
	struct address_map map;
	uint64_t contents; /* the same hash of the image's mappings */
	uint32_t nframes;  /* > 0: the bytes are this many addresses, innermost first */
	uint32_t npython, python_depth; /* after them, this many Python frames */
	uint32_t image;
	uint64_t time; /* when */
};

static uint64_t sign(const struct creator *creator)
{
	const struct stack_copy *copy = &creator->copy;
	uint64_t h = mix(copy->regs.ip, creator->nframes ? 0 : copy->regs.bp - copy->regs.sp), word;

	for (size_t at = 0; at + sizeof(word) <= copy->size; at += sizeof(word)) {
		memcpy(&word, (const char *)copy->bytes + at, sizeof(word));
		if (creator->nframes || address_map__find(&creator->map, word))
			h = mix(mix(h, at), word);
	}
	return h;
}

static struct known *add_known(struct spawn_stacks *spawn, const struct known *key)
{
	int64_t i;

	if (spawn->n >= MAX_KNOWN)
		forget_known(spawn);
	i = QZ_INTERN(&spawn->table, &spawn->known, &spawn->n, key, signature);
	return i < 0 ? NULL : &spawn->known[i];
}

/* ---- walking ---- */

/* Whether a word of the stack points into a region. The files of other regions are not needed. */
static bool is_pointed_at(const struct region *r, const struct stack_copy *copy)
{
	uint64_t word;

	if (copy->regs.ip >= r->start && copy->regs.ip < r->end)
		return true;
	for (size_t at = 0; at + sizeof(word) <= copy->size; at += sizeof(word)) {
		memcpy(&word, (const char *)copy->bytes + at, sizeof(word));
		if (word >= r->start && word < r->end)
			return true;
	}
	return false;
}

static void walk(struct spawn_stacks *spawn, const struct creator *creator,
		 struct unwinder_stack *stack)
{
	struct modules *modules = address_cache__modules(spawn->addresses);
	struct stack_copies_region *regions = calloc(creator->map.n + 1UL, sizeof(*regions));
	uint32_t n = regions ? creator->map.n : 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct region *r = &creator->map.items[i];
		const struct module *m = modules__get(modules, r->module);
		int symbols = m && !m->jit && is_pointed_at(r, &creator->copy)
				      ? modules__symbols(modules, r->module)
				      : -ENOENT;

		regions[i] = (struct stack_copies_region) {r->start, r->end, r->offset, symbols};
	}
	stack_copies__walk(spawn->copies, regions, n, &creator->copy, stack);
	free(regions);
}

void spawn_stacks__walk(struct spawn_stacks *spawn, const struct image *image,
			const struct stack_copy *copy, struct unwinder_stack *stack)
{
	struct creator creator = {.copy = *copy};

	creator.map =
		address_spaces__copy(spawn->spaces, image, ADDRESS_SPACES_NOW, &creator.contents);
	walk(spawn, &creator, stack);
	address_map__free(&creator.map);
}

/* The cached address of the call before a return address. */
static const struct cached_address *cached_address(struct spawn_stacks *spawn,
						   const struct creator *creator, uint64_t address)
{
	const struct region *r = address_map__find(&creator->map, address - 1);

	return r ? address_cache__get(spawn->addresses, r->module,
				      address - 1 - r->start + r->offset)
		 : NULL;
}

static void want(struct spawn_stacks *spawn, const struct creator *creator, uint64_t address)
{
	const struct region *r = address_map__find(&creator->map, address - 1);

	if (r)
		address_cache__want(spawn->addresses, r->module,
				    address - 1 - r->start + r->offset);
}

/* How many frames, from the inner end on, are known creators, or of this module. */
static size_t count_inner(struct spawn_stacks *spawn, const struct creator *creator,
			  const uint64_t *addresses, size_t n, uint32_t module)
{
	for (size_t i = 0; i < n; i++) {
		const struct cached_address *cached = cached_address(spawn, creator, addresses[i]);

		if (!cached || !(cached->creator || cached->outermost || cached->module == module))
			return i;
	}
	return n;
}

/* The number of frames of the stack itself; for a goroutine, the frames of its starter follow. */
static size_t own_frames(struct spawn_stacks *spawn, const struct creator *creator,
			 const uint64_t *addresses, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct cached_address *cached = cached_address(spawn, creator, addresses[i]);

		if (cached && cached->task)
			return i + 1;
	}
	return n;
}

/*
 * Leaves out the C library's frames at the inner end: all frames of the module that made the system
 * call if it is a library, else those known by name. Also leaves out the runtime's start-up code at
 * the outer end.
 */
static void trim(struct spawn_stacks *spawn, const struct creator *creator,
		 const uint64_t *addresses, size_t *first, size_t *n)
{
	const struct cached_address *inner = *n ? cached_address(spawn, creator, addresses[0])
						: NULL;
	const struct cached_address *outer = *n ? cached_address(spawn, creator, addresses[*n - 1])
						: NULL;
	bool library = inner && outer && inner->creator;

	*first = count_inner(spawn, creator, addresses, *n, library ? inner->module : MODULE_NONE);
	if (*first == *n) /* a static program is one module */
		*first = count_inner(spawn, creator, addresses, *n, MODULE_NONE);
	for (; *n > *first + 1 && outer && outer->outermost; (*n)--)
		outer = cached_address(spawn, creator, addresses[*n - 2]);
}

static void addresses_of(struct spawn_stacks *spawn, const struct creator *creator,
			 struct unwinder_stack *stack)
{
	if (!creator->nframes) {
		walk(spawn, creator, stack);
		return;
	}
	stack->end = QZ_UNWIND_OUTERMOST;
	stack->depth = stack->nframes = creator->nframes;
	memcpy(stack->frames, creator->copy.bytes, creator->nframes * sizeof(*stack->frames));
}

/* Whether the walk reached the outermost frame. Frame pointers do not mark it, but names do. */
static bool is_complete(struct spawn_stacks *spawn, const struct creator *creator,
			const struct unwinder_stack *stack)
{
	const struct cached_address *last =
		cached_address(spawn, creator, stack->frames[stack->nframes - 1]);

	return stack->end == QZ_UNWIND_OUTERMOST || (stack->nframes > 1 && last && last->outermost);
}

static void learn(struct spawn_stacks *spawn, const struct creator *creator, struct known *k)
{
	struct python_stack python = {
		.codes = spawn->python, .profile = spawn->profile, .image = creator->image};
	struct unwinder_stack stack;
	size_t first, n;

	addresses_of(spawn, creator, &stack);
	for (size_t i = 0; i < stack.nframes; i++)
		want(spawn, creator, stack.frames[i]);
	address_cache__resolve(spawn->addresses);
	k->complete = is_complete(spawn, creator, &stack);
	n = own_frames(spawn, creator, stack.frames, stack.nframes);
	trim(spawn, creator, stack.frames, &first, &n);
	k->locations = calloc(n - first + creator->npython + 3, sizeof(*k->locations));
	if (!k->locations)
		return;
	python_codes__read(spawn->python);
	python.locations = k->locations;
	python.frames = (const uint64_t *)creator->copy.bytes + creator->nframes;
	python.kept = python.left = creator->npython;
	python.depth = creator->python_depth;
	for (size_t i = n; i > first; i--) {
		const struct cached_address *cached =
			cached_address(spawn, creator, stack.frames[i - 1]);

		if (stack.depth > stack.nframes && i == QZ_INNER_FRAMES)
			k->locations[python.n++] = qz_profile__marker(spawn->profile, QZ_TRUNCATED);
		if (cached)
			python_stack__place(&python, cached, i == first + 1);
		else
			k->complete = false;
	}
	k->n = python.n;
}

/* ---- nodes ---- */

static uint32_t below(struct spawn_stacks *spawn, uint32_t node, int64_t location)
{
	int64_t next = location < 0 ? -1 : qz_profile__intern_node(spawn->profile, node, location);

	return next < 0 ? node : next;
}

static uint32_t mark(struct spawn_stacks *spawn, uint32_t node, enum qz_procedure_kind kind)
{
	return below(spawn, node, qz_profile__marker(spawn->profile, kind));
}

static struct known *know_copy(struct spawn_stacks *spawn, const struct creator *creator)
{
	struct known key = {.contents = creator->contents, .signature = sign(creator)}, *k;
	uint32_t index = QZ_FIND(&spawn->table, spawn->known, &key, signature);

	if (index != UINT32_MAX)
		return &spawn->known[index];
	k = add_known(spawn, &key);
	if (k)
		learn(spawn, creator, k);
	return k;
}

/* The known stack of a creator, after a walk if it is new. NULL: nothing could be found. */
static struct known *know(struct spawn_stacks *spawn, const struct image *image,
			  struct creator *creator)
{
	struct known *k;

	creator->map =
		address_spaces__copy(spawn->spaces, image, creator->time, &creator->contents);
	k = creator->map.n ? know_copy(spawn, creator) : NULL;
	address_map__free(&creator->map);
	return k;
}

uint32_t spawn_stacks__node(struct spawn_stacks *spawn, uint32_t parent,
			    const struct qz_creation_event *event)
{
	struct image *image = address_spaces__get(spawn->spaces, event->image);
	struct creator creator = {.copy = {event->regs, event->stack, event->size},
				  .nframes = event->nframes,
				  .npython = event->npython,
				  .python_depth = event->python_depth,
				  .image = event->image,
				  .time = event->event.time};
	struct known *k = NULL;
	uint32_t node = parent;

	if (creator.nframes > QZ_USER_FRAMES || creator.npython > QZ_PYTHON_FRAMES ||
	    (creator.nframes + creator.npython) * sizeof(uint64_t) > event->size)
		creator.nframes = creator.npython = 0;
	if (spawn->profile->nodes[parent].depth > MAX_DEPTH)
		return parent;
	if (image)
		k = know(spawn, image, &creator);
	if (!k || !k->complete)
		node = mark(spawn, node, QZ_TRUNCATED);
	for (uint32_t i = 0; k && i < k->n; i++)
		node = below(spawn, node, k->locations[i]);
	return mark(spawn, node, event->process ? QZ_PROCESS_START : QZ_THREAD_START);
}

/* Reads the stack from sp upwards as far as it is mapped, at most `size` bytes. */
static size_t read_stack(const struct image *image, uint64_t sp, void *to, size_t size)
{
	int dir = procfs__open(image->pid, image->start_boottime);
	ssize_t n = dir < 0 ? 0 : opener__memory(dir, sp, to, size);

	if (dir >= 0)
		close(dir);
	return n > 0 ? n : 0;
}

uint32_t spawn_stacks__unseen(struct spawn_stacks *spawn, const struct qz_process_event *event)
{
	struct image *image = address_spaces__get(spawn->spaces, event->image);
	struct creator creator = {.copy.regs = event->regs, .time = ADDRESS_SPACES_NOW};
	void *stack = malloc(FOUND_STACK);
	struct known *k = NULL;
	uint32_t node = 0;

	if (stack && image && event->regs.sp) {
		creator.copy.bytes = stack;
		creator.copy.size = read_stack(image, event->regs.sp, stack, FOUND_STACK);
		k = know(spawn, image, &creator);
	}
	free(stack);
	if (k && k->complete && k->n)
		node = below(spawn, node, k->locations[0]);
	return mark(spawn, mark(spawn, node, QZ_TRUNCATED), QZ_THREAD_START);
}
