// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "core/table.h"
#include "daemon/creation.h"
#include "daemon/opener.h"
#include "daemon/proc.h"

#define MAX_KNOWN 4096 /* creators' stacks that are kept: each exec has its own */
/* Chains of creators are cut here: programs that start themselves anew for ever. */
#define MAX_DEPTH   1024
#define FOUND_STACK OPENER_BYTES /* of a leader, up to main */

/*
 * A creator's stack as it was unwound once. Equal code addresses at equal distances from the stack
 * pointer mean equal frames, so that a pool of threads is unwound once and not once per thread.
 */
struct known {
	uint64_t contents; /* of the image's regions */
	uint64_t signature;
	uint32_t *locations; /* outermost first */
	uint32_t n;
	bool complete;
};

struct creation {
	struct symbolizer *symbolizer;
	struct images *images;
	struct places *places;
	struct qz_profile *profile;
	struct known *known;
	uint32_t n;
	struct qz_table table;
};

struct creation *creation__new(struct symbolizer *symbolizer, struct images *images,
			       struct places *places, struct qz_profile *profile)
{
	struct creation *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->symbolizer = symbolizer;
	c->images = images;
	c->places = places;
	c->profile = profile;
	return c;
}

void creation__free(struct creation *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		free(c->known[i].locations);
	free(c->known);
	qz_table__free(&c->table);
	free(c);
}

/* ---- what was unwound before ---- */

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* A creator's stack: its return addresses as BPF walked them, or a copy to be unwound here. */
struct copy {
	struct symbolizer_registers regs;
	const void *stack;
	size_t size;	  /* bytes of stack */
	uint32_t nframes; /* not 0: stack holds so many addresses, innermost first */
};

static struct symbolizer_registers registers_of(const struct qz_user_registers *r)
{
	return (struct symbolizer_registers) {r->ip,  r->sp,  r->bp,  r->bx,
					      r->r12, r->r13, r->r14, r->r15};
}

static uint64_t sign(const struct image *image, const struct copy *copy)
{
	uint64_t h = mix(copy->regs.ip, copy->nframes ? 0 : copy->regs.bp - copy->regs.sp), word;

	for (size_t at = 0; at + sizeof(word) <= copy->size; at += sizeof(word)) {
		memcpy(&word, (const char *)copy->stack + at, sizeof(word));
		if (copy->nframes || regions__find(&image->regions, word))
			h = mix(mix(h, at), word);
	}
	return h;
}

static bool same_known(const void *context, uint32_t index, const void *key)
{
	const struct creation *c = context;
	const struct known *k = key;

	return c->known[index].signature == k->signature && c->known[index].contents == k->contents;
}

/* What is still needed is unwound anew. */
static void forget_known(struct creation *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		free(c->known[i].locations);
	free(c->known);
	c->known = NULL;
	c->n = 0;
	qz_table__clear(&c->table);
}

static struct known *add_known(struct creation *c, const struct known *key)
{
	struct known *more;

	if (c->n >= MAX_KNOWN)
		forget_known(c);
	more = qz_array__room(c->known, c->n, sizeof(*more));
	if (!more)
		return NULL;
	c->known = more;
	if (qz_table__reserve(&c->table))
		return NULL;
	c->known[c->n] = *key;
	qz_table__insert(&c->table, key->signature, c->n);
	return &c->known[c->n++];
}

/* ---- unwinding ---- */

/* Gives the number of return addresses, innermost first; 0 when nothing can be had. */
static size_t unwind(struct creation *c, const struct image *image, const struct copy *copy,
		     uint64_t *addresses, bool *complete)
{
	struct symbolizer_region *regions = calloc(image->regions.n, sizeof(*regions));
	size_t n = 0, nregions = 0;

	*complete = false;
	if (!regions)
		return 0;
	for (uint32_t i = 0; i < image->regions.n; i++) {
		const struct region *r = &image->regions.items[i];
		const struct module *m = modules__get(places__modules(c->places), r->module);

		if (!m || m->jit || m->symbols < 0)
			continue;
		regions[nregions++] =
			(struct symbolizer_region) {r->start, r->end, r->offset, m->symbols};
	}
	if (symbolizer__unwind(c->symbolizer, regions, nregions, &copy->regs, copy->stack,
			       copy->size, addresses, CREATION_MAX_CHAIN, &n, complete))
		n = 0;
	free(regions);
	return n;
}

size_t creation__unwind(struct creation *c, const struct image *image,
			const struct qz_user_registers *regs, const void *stack, size_t size,
			uint64_t addresses[CREATION_MAX_CHAIN], bool *complete)
{
	const struct copy copy = {.regs = registers_of(regs), .stack = stack, .size = size};

	return unwind(c, image, &copy, addresses, complete);
}

/* The place of a return address: that of the call before it. */
static const struct place *place_of(struct creation *c, const struct image *image, uint64_t address)
{
	const struct region *r = regions__find(&image->regions, address - 1);

	return r ? places__get(c->places, r->module, address - 1 - r->start + r->offset) : NULL;
}

static void want(struct creation *c, const struct image *image, uint64_t address)
{
	const struct region *r = regions__find(&image->regions, address - 1);

	if (r)
		places__want(c->places, r->module, address - 1 - r->start + r->offset);
}

/*
 * Leaves out the C library's own way into the kernel at the inner end (all frames of the module
 * that made the system call, when it is a library; else those known by name), and the runtime's
 * start-up code at the outer end.
 */
static void trim(struct creation *c, const struct image *image, const uint64_t *addresses,
		 size_t *first, size_t *n)
{
	const struct place *inner = *n ? place_of(c, image, addresses[0]) : NULL;
	const struct place *outer = *n ? place_of(c, image, addresses[*n - 1]) : NULL;
	bool library = inner && outer && inner->creator;
	uint32_t module = inner ? inner->module : MODULE_NONE;

	for (*first = 0; *first < *n; (*first)++) {
		const struct place *p = place_of(c, image, addresses[*first]);

		if (!p || !(p->creator || p->outermost || (library && p->module == module)))
			break;
	}
	if (*first == *n) /* a static program: all is one module */
		for (*first = 0; *first < *n; (*first)++) {
			const struct place *p = place_of(c, image, addresses[*first]);

			if (!p || !(p->creator || p->outermost))
				break;
		}
	while (*n > *first + 1) {
		const struct place *p = place_of(c, image, addresses[*n - 1]);

		if (!p || !p->outermost)
			break;
		(*n)--;
	}
}

static size_t addresses_of(struct creation *c, const struct image *image, const struct copy *copy,
			   uint64_t *addresses, bool *complete)
{
	if (!copy->nframes)
		return unwind(c, image, copy, addresses, complete);
	*complete = true;
	memcpy(addresses, copy->stack, copy->nframes * sizeof(*addresses));
	return copy->nframes;
}

static void learn(struct creation *c, struct image *image, const struct copy *copy, struct known *k)
{
	uint64_t addresses[CREATION_MAX_CHAIN];
	size_t first, n = addresses_of(c, image, copy, addresses, &k->complete);

	for (size_t i = 0; i < n; i++)
		want(c, image, addresses[i]);
	places__resolve(c->places);
	trim(c, image, addresses, &first, &n);
	k->locations = calloc(n - first + 1, sizeof(*k->locations));
	if (!k->locations)
		return;
	for (size_t i = n; i > first; i--) {
		const struct place *p = place_of(c, image, addresses[i - 1]);

		if (p)
			k->locations[k->n++] = p->location;
		else
			k->complete = false;
	}
}

/* ---- nodes ---- */

static uint32_t below(struct creation *c, uint32_t node, int64_t location)
{
	int64_t next = location < 0 ? -1 : qz_profile__intern_node(c->profile, node, location);

	return next < 0 ? node : next;
}

static uint32_t mark(struct creation *c, uint32_t node, enum qz_procedure_kind kind)
{
	return below(c, node, qz_profile__marker(c->profile, kind));
}

/* What is known of a stack, unwound now if it was not before. NULL when nothing can be told. */
static struct known *know(struct creation *c, struct image *image, const struct copy *copy)
{
	struct known key = {.contents = image->contents, .signature = sign(image, copy)}, *k;
	uint32_t index = qz_table__find(&c->table, key.signature, same_known, c, &key);

	if (index != UINT32_MAX)
		return &c->known[index];
	k = add_known(c, &key);
	if (k)
		learn(c, image, copy, k);
	return k;
}

uint32_t creation__node(struct creation *c, uint32_t parent, const struct qz_creation_event *event)
{
	struct image *image = images__get(c->images, event->image);
	struct copy copy = {registers_of(&event->regs), event->stack, event->size, event->nframes};
	struct known *k = NULL;
	uint32_t node = parent;

	if (copy.nframes > CREATION_MAX_CHAIN || copy.nframes * sizeof(uint64_t) > copy.size)
		copy.nframes = 0;
	if (c->profile->nodes[parent].depth > MAX_DEPTH)
		return parent;
	if (image && image->regions.n)
		k = know(c, image, &copy);
	if (!k || !k->complete)
		node = mark(c, node, QZ_TRUNCATED);
	for (uint32_t i = 0; k && i < k->n; i++)
		node = below(c, node, k->locations[i]);
	return mark(c, node, event->process ? QZ_PROCESS_START : QZ_THREAD_START);
}

/* The stack from sp upwards as far as it is mapped, at most `size` bytes. */
static size_t read_stack(const struct image *image, uint64_t sp, void *to, size_t size)
{
	int dir = proc__open(image->pid, image->start_boottime);
	ssize_t n = dir < 0 ? 0 : opener__memory(dir, sp, to, size);

	if (dir >= 0)
		close(dir);
	return n > 0 ? n : 0;
}

uint32_t creation__unseen(struct creation *c, const struct qz_process_event *event)
{
	struct image *image = images__get(c->images, event->image);
	struct copy copy = {.regs = registers_of(&event->regs)};
	void *stack = malloc(FOUND_STACK);
	struct known *k = NULL;
	uint32_t node = 0;

	if (stack && image && image->regions.n && event->regs.sp) {
		copy.stack = stack;
		copy.size = read_stack(image, event->regs.sp, stack, FOUND_STACK);
		k = know(c, image, &copy);
	}
	free(stack);
	if (k && k->complete && k->n)
		node = below(c, node, k->locations[0]);
	return mark(c, mark(c, node, QZ_TRUNCATED), QZ_THREAD_START);
}
