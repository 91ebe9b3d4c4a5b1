// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "core/report/report.h"
#include "core/util/hash_table.h"
#include "daemon/attribution/shm_reader.h"
#include "daemon/attribution/instrumented_stacks.h"

/* Names from all programs together; those beyond this number share one. */
#define MAX_NAMES (1u << 18)

/* A symbol of a page set. */
struct item {
	uint32_t image, id;
	uint32_t module; /* of a function; MODULE_NONE: unknown */
	uint64_t address;
	uint32_t location; /* of a name given by the program, else QZ_NONE */
	bool object, function;
};

struct instrumented_stacks {
	struct shm_sets *sets;
	struct stack_context context;
	struct item *items;
	uint32_t n;
	struct qz_hash_table table;
};

struct instrumented_stacks *instrumented_stacks__new(struct shm_sets *sets,
						     const struct stack_context *context)
{
	struct instrumented_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->sets = sets;
	s->context = *context;
	return s;
}

void instrumented_stacks__free(struct instrumented_stacks *s)
{
	if (!s)
		return;
	free(s->items);
	qz_hash_table__free(&s->table);
	free(s);
}

/* ---- symbols ---- */

static struct item *find(struct instrumented_stacks *s, uint32_t image, uint32_t id)
{
	struct item key = {.image = image, .id = id};
	uint32_t i = QZ_FIND(&s->table, s->items, &key, id);

	return i == UINT32_MAX ? NULL : &s->items[i];
}

static struct item *add(struct instrumented_stacks *s, uint32_t image, uint32_t id)
{
	const struct item new = {
		.image = image, .id = id, .module = MODULE_NONE, .location = QZ_NONE};
	int64_t i = QZ_INTERN(&s->table, &s->items, &s->n, &new, id);

	return i < 0 ? NULL : &s->items[i];
}

static uint32_t named_location(struct instrumented_stacks *s, const char *name)
{
	struct qz_procedure procedure = {
		.name = (char *)name, .module = (char *)SELFREPORTED, .file = (char *)""};
	struct qz_line line = {0};
	struct qz_location location = {.mapping = QZ_NONE, .nlines = 1, .lines = &line};
	int64_t index = qz_profile__intern_procedure(s->context.profile, &procedure);

	if (index < 0)
		return QZ_NONE;
	line.procedure = index;
	index = qz_profile__intern_location(s->context.profile, &location);
	return index < 0 ? QZ_NONE : (uint32_t)index;
}

static void locate(struct instrumented_stacks *s, struct item *item, uint64_t address)
{
	struct image *image = address_spaces__get(s->context.spaces, item->image);

	if (image)
		address_spaces__locate(s->context.spaces, image, address, ADDRESS_SPACES_NOW,
				       &item->module, &item->address);
}

static void take_symbol(struct instrumented_stacks *s, struct item *item,
			const struct page_symbol *symbol)
{
	item->object = symbol->kind == QZ_SYMBOL_OBJECT;
	item->function = symbol->kind == QZ_SYMBOL_FUNCTION;
	if (symbol->kind == QZ_SYMBOL_FUNCTION && !symbol->name[0])
		locate(s, item, symbol->address);
	else
		item->location = named_location(s, symbol->name[0] ? symbol->name : "[unnamed]");
}

static struct item *know(struct instrumented_stacks *s, uint32_t image, uint32_t id)
{
	struct item *item = find(s, image, id);
	const struct page *page = item ? NULL : shm_sets__of_image(s->sets, image);
	struct page_symbol symbol;

	if (item || !page || shm_tables__symbol(page->tables, id, &symbol))
		return item;
	if (s->n >= MAX_NAMES)
		strcpy(symbol.name, "[limited]");
	item = add(s, image, id);
	if (item)
		take_symbol(s, item, &symbol);
	return item;
}

void instrumented_stacks__want(struct instrumented_stacks *s, uint32_t image, const uint32_t *ids,
			       uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct item *item = know(s, image, ids[i]);

		if (item && item->module != MODULE_NONE)
			address_cache__want(s->context.addresses, item->module, item->address);
	}
}

bool instrumented_stacks__is_function(struct instrumented_stacks *s, uint32_t image, uint32_t id)
{
	const struct item *item = find(s, image, id);

	return item && item->function;
}

/* The location of an id that was wanted and resolved, or QZ_NONE. */
static uint32_t location_of(struct instrumented_stacks *s, uint32_t image, uint32_t id)
{
	const struct item *item = find(s, image, id);
	const struct cached_address *cached;

	if (!item || item->module == MODULE_NONE)
		return item ? item->location : QZ_NONE;
	cached = address_cache__get(s->context.addresses, item->module, item->address);
	return cached ? cached->location : QZ_NONE;
}

/* ---- stacks ---- */

/* A profile stack: ids of the task, if any, then those that the thread has entered since. */
struct profile_stack {
	uint32_t ntask, nown;
	uint32_t ids[QZ_TASK_STACK + QZ_SLOT_STACK]; /* outermost first, those of the task first */
};

/* Reads the profile stack of a used slot. False: the thread keeps none, or has entered nothing. */
static bool read_stack(const struct bpf_runtime_buffer *buffer, const struct qz_stack_slot *slot,
		       struct profile_stack *profile)
{
	const uint64_t *ids =
		&buffer->frames[slot->offset + slot->nkernel + slot->nuser + slot->npython];

	profile->ntask = slot->ntask;
	profile->nown = slot->nown;
	if (!slot->profiled || slot->ntask > QZ_TASK_STACK || slot->nown >= QZ_SLOT_STACK ||
	    !(slot->ntask + slot->nown) ||
	    (uint64_t)slot->offset + slot->nkernel + slot->nuser + slot->npython + slot->ntask +
			    slot->nown >
		    buffer->nframes)
		return false;
	for (uint32_t i = 0; i < profile->ntask + profile->nown; i++)
		profile->ids[i] = ids[i];
	return true;
}

void instrumented_stacks__want_slot(struct instrumented_stacks *s,
				    const struct bpf_runtime_buffer *buffer,
				    const struct qz_stack_slot *slot)
{
	struct profile_stack profile;

	if (read_stack(buffer, slot, &profile))
		instrumented_stacks__want(s, slot->image, profile.ids,
					  profile.ntask + profile.nown);
}

/* The procedure of a location by the symbol table, inlined ones aside. */
static uint32_t procedure_of(const struct instrumented_stacks *s, uint32_t location)
{
	const struct qz_location *l = &s->context.profile->locations[location];

	return l->lines[l->nlines - 1].procedure;
}

uint32_t instrumented_stacks__procedure(struct instrumented_stacks *s, uint32_t image, uint32_t id)
{
	uint32_t location = location_of(s, image, id);

	return location == QZ_NONE ? QZ_NONE : procedure_of(s, location);
}

bool instrumented_stacks__object_name(const struct instrumented_stacks *s, uint32_t image,
				      uint64_t address, char name[QZ_NAME_LENGTH])
{
	const struct page *page = shm_sets__of_image(s->sets, image);

	return page && shm_tables__object_name(page->tables, address, name);
}

/*
 * Writes the locations of ids that have one, and whether any of them is code. Returns their number.
 */
static uint32_t place_ids(struct instrumented_stacks *s, uint32_t image, const uint32_t *ids,
			  uint32_t n, uint32_t *locations, bool *code)
{
	uint32_t placed = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct item *item = find(s, image, ids[i]);
		uint32_t location = location_of(s, image, ids[i]);

		if (location == QZ_NONE)
			continue;
		*code = *code || !item->object;
		locations[placed++] = location;
	}
	return placed;
}

/*
 * Whether both are the same procedure. One that the program named itself is compared by name; the
 * unwound one has parameters, too, in C++.
 */
static bool same_procedure(const struct instrumented_stacks *s, uint32_t reported, uint32_t unwound)
{
	uint32_t a = procedure_of(s, reported), b = procedure_of(s, unwound);
	const struct qz_procedure *all = s->context.profile->procedures;

	return a == b || (!strcmp(all[a].module, SELFREPORTED) &&
			  qz_procedure__is_called(&all[b], all[a].name));
}

/* The index of the first unwound user frame below the profile stack, which ends at `top`. */
static uint32_t first_below(const struct instrumented_stacks *s, const struct stack *stack,
			    uint32_t top)
{
	for (uint32_t i = stack->nuser; i > 0; i--)
		if (same_procedure(s, top, stack->locations[i - 1]))
			return i;
	return stack->nuser ? stack->nuser - 1 : 0;
}

static void merge(struct instrumented_stacks *s, uint32_t image,
		  const struct profile_stack *profile, struct stack *stack)
{
	const struct stack before = *stack;
	uint32_t *to = stack->locations, n = 0, ntask, nown, below;
	uint32_t task[QZ_TASK_STACK], own[QZ_SLOT_STACK];
	int64_t marker;
	bool code = false;

	ntask = place_ids(s, image, profile->ids, profile->ntask, task, &code);
	nown = place_ids(s, image, profile->ids + profile->ntask, profile->nown, own, &code);
	if (!code)
		return;
	below = first_below(s, &before, nown ? own[nown - 1] : task[ntask - 1]);
	stack->on_behalf = ntask > 0;
	stack->outermost = QZ_NONE;
	marker = qz_profile__marker(s->context.profile, QZ_THREAD_START);
	if (!ntask && before.nuser && !before.truncated &&
	    !same_procedure(s, own[0], before.locations[0]))
		stack->outermost = to[n++] = before.locations[0];
	for (uint32_t i = 0; i < ntask; i++)
		to[n++] = task[i];
	if (ntask && nown && marker >= 0)
		to[n++] = marker;
	for (uint32_t i = 0; i < nown; i++)
		to[n++] = own[i];
	stack->nprofile = n;
	for (uint32_t i = below; i < before.n; i++)
		to[n++] = before.locations[i];
	stack->nuser = n - (before.n - before.nuser);
	stack->n = n;
	stack->truncated = false;
}

void instrumented_stacks__merge(struct instrumented_stacks *s,
				const struct bpf_runtime_buffer *buffer,
				const struct qz_stack_slot *slot, struct stack *stack)
{
	struct profile_stack profile;

	if (read_stack(buffer, slot, &profile))
		merge(s, slot->image, &profile, stack);
}

/* ---- polled stacks ---- */

/* Tasks are written once, so their ids can be read at any time while the page set exists. */
static uint32_t read_task(struct instrumented_stacks *s, uint32_t image, uint32_t task,
			  uint32_t ids[QZ_TASK_STACK])
{
	const struct page *page = task ? shm_sets__of_image(s->sets, image) : NULL;

	return page ? shm_tables__task(page->tables, task, ids) : 0;
}

void instrumented_stacks__want_polled(struct instrumented_stacks *s, uint32_t image, uint32_t task,
				      const uint32_t *ids, uint32_t n)
{
	uint32_t task_ids[QZ_TASK_STACK];

	instrumented_stacks__want(s, image, task_ids, read_task(s, image, task, task_ids));
	instrumented_stacks__want(s, image, ids, n);
}

bool instrumented_stacks__place_polled(struct instrumented_stacks *s, uint32_t image, uint32_t task,
				       const uint32_t *ids, uint32_t n, uint32_t outermost,
				       struct stack *stack)
{
	struct profile_stack profile = {.nown = n < QZ_SLOT_STACK ? n : QZ_SLOT_STACK};

	profile.ntask = read_task(s, image, task, profile.ids);
	memcpy(profile.ids + profile.ntask, ids, profile.nown * sizeof(*ids));
	*stack = (struct stack) {0};
	if (outermost != QZ_NONE)
		stack->locations[stack->n++] = outermost;
	stack->nuser = stack->n;
	merge(s, image, &profile, stack);
	if (!stack->nprofile)
		return false;
	stack->n = stack->nuser = stack->nprofile;
	return true;
}
