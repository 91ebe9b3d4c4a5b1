// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "daemon/attribution/instrumented_stacks.h"
#include "daemon/attribution/python_codes.h"
#include "daemon/attribution/python_stacks.h"
#include "daemon/attribution/stacks.h"

/* The address that identifies the procedure: that of the call, not of the instruction after it. */
static uint64_t code_address(uint64_t address, bool innermost)
{
	return innermost ? address : address - 1;
}

bool stack_slot__used(const struct bpf_runtime_buffer *buffer, const struct qz_stack_slot *s)
{
	return s->hash && s->stored == QZ_STACK_STORED &&
	       (uint64_t)s->offset + s->nkernel + s->nuser + s->npython <= buffer->nframes;
}

/* The i-th user frame from the inner end. */
static uint64_t user_frame(const struct bpf_runtime_buffer *buffer, const struct qz_stack_slot *s,
			   uint32_t i)
{
	return buffer->frames[s->offset + s->nkernel + qz_kept_frame(s->depth, s->nuser, i)];
}

/*
 * Whether an address may have been of one code or another. All samples of a slot are of the code that the first one has met,
 * but where the sampler had no tables of that: then code that came since may have samples there, too. The caller holds the lock
 * of the address spaces.
 */
static bool is_disputed(const struct qz_stack_slot *s, const struct image *image, uint64_t address)
{
	bool lacking = s->end == QZ_UNWIND_NOT_READY || s->end == QZ_UNWIND_NO_REGION;

	return past__is_unknown(&image->past, address, s->taken) ||
	       (lacking && past__find(&image->past, address, s->taken));
}

/* Finds the module and the offset of an address. False: there is no code. */
static bool locate(const struct stack_context *c, const struct qz_stack_slot *s,
		   struct image *image, uint64_t address, uint32_t *module, uint64_t *offset)
{
	bool disputed;

	address_spaces__lock(c->spaces);
	disputed = is_disputed(s, image, address);
	address_spaces__unlock(c->spaces);
	if (!disputed)
		return address_spaces__locate(c->spaces, image, address, s->taken, module, offset);
	*module = modules__of_replaced(c->modules);
	*offset = 0;
	return *module != MODULE_NONE;
}

void stack__want(const struct stack_context *c, const struct bpf_runtime_buffer *buffer,
		 const struct qz_stack_slot *s)
{
	const uint64_t *frames = &buffer->frames[s->offset];
	struct image *image = address_spaces__get(c->spaces, s->image);

	for (uint32_t i = 0; i < s->nkernel; i++)
		address_cache__want(c->addresses, MODULE_KERNEL, code_address(frames[i], i == 0));
	if (!image || image->launcher)
		return;
	if (c->instrumented)
		instrumented_stacks__want_slot(c->instrumented, buffer, s);
	for (uint32_t i = 0; i < s->nuser; i++) {
		uint64_t address = code_address(user_frame(buffer, s, i), i == 0), offset;
		uint32_t module;

		if (locate(c, s, image, address, &module, &offset))
			address_cache__want(c->addresses, module, offset);
	}
}

/* The caller holds the lock of the address spaces. */
static const struct cached_address *user_address(const struct stack_context *c,
						 const struct qz_stack_slot *s,
						 const struct image *image, uint64_t address)
{
	const struct region *r = address_spaces__find(image, address, s->taken);
	const struct module *m = r ? modules__get(c->modules, r->module) : NULL;

	if (is_disputed(s, image, address))
		return address_cache__get(c->addresses, modules__of_replaced(c->modules), 0);
	if (!m)
		return NULL;
	return address_cache__get(c->addresses, r->module,
				  m->jit ? address : address - r->start + r->offset);
}

/* The addresses of the user frames, innermost first, up to the first one outside of all code. */
static uint32_t user_addresses(const struct stack_context *c,
			       const struct bpf_runtime_buffer *buffer,
			       const struct qz_stack_slot *s, const struct image *image,
			       const struct cached_address **found)
{
	uint32_t n;

	address_spaces__lock(c->spaces);
	for (n = 0; n < s->nuser && n < QZ_USER_FRAMES; n++) {
		found[n] =
			user_address(c, s, image, code_address(user_frame(buffer, s, n), n == 0));
		if (!found[n])
			break;
	}
	address_spaces__unlock(c->spaces);
	return n;
}

/* Whether the walk reached the outermost frame. Frame pointers do not mark it, but names do. */
static bool is_complete(const struct qz_stack_slot *s, const struct cached_address *last)
{
	if (s->end == QZ_UNWIND_NOT_READY || s->end == QZ_UNWIND_STALE)
		return last && last->outermost;
	return s->end == QZ_UNWIND_OUTERMOST || s->end == QZ_UNWIND_GUESSED;
}

/*
 * Whether the stack is a goroutine's: it begins with the runtime's code for that, and the frames of
 * the starter follow.
 */
static bool is_goroutine(const struct cached_address *const *found, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (found[i]->task)
			return true;
	return false;
}

/*
 * Places the user frames, outermost first. A frame outside of all code ends the stack, because what
 * is beyond it was read from memory that is no stack. The runtime's code that begins a thread is
 * left out, so that main is the outermost procedure.
 */
static void place_user(const struct stack_context *c, const struct bpf_runtime_buffer *buffer,
		       const struct qz_stack_slot *s, struct stack *stack)
{
	const struct image *image = address_spaces__get(c->spaces, s->image);
	const struct cached_address *found[QZ_USER_FRAMES];
	struct python_stack python = {.codes = c->python, .profile = c->profile, .image = s->image};
	uint32_t n, goroutines = 0;

	if (image && image->launcher)
		return;
	n = image ? user_addresses(c, buffer, s, image, found) : 0;
	stack->truncated = n < s->nuser || !is_complete(s, n ? found[n - 1] : NULL);
	if (!s->nkernel)
		stack->unresolved = !n || !found[0]->found;
	while (n > 1 && found[n - 1]->outermost)
		n--;
	stack->task = is_goroutine(found, n);
	python.locations = stack->locations;
	if (n && c->python) {
		python.frames = &buffer->frames[s->offset + s->nkernel + s->nuser];
		python.kept = python.left = s->npython;
		python.depth = s->python_depth;
	}
	if (stack->truncated)
		python_stack__begin(&python, found, n);
	while (n) {
		if (s->depth > s->nuser && n == QZ_INNER_FRAMES)
			python.locations[python.n++] = qz_profile__marker(c->profile, QZ_TRUNCATED);
		n--;
		if (found[n]->task && python.n && goroutines++ < QZ_GO_ANCESTORS)
			python.locations[python.n++] =
				qz_profile__marker(c->profile, QZ_THREAD_START);
		python_stack__place(&python, found[n], n == 0);
	}
	stack->n = python.n;
	stack->truncated &= !python.begins;
	if (python.leaf && !s->nkernel)
		stack->unresolved = !python.named;
}

void stack__place(const struct stack_context *c, const struct bpf_runtime_buffer *buffer,
		  const struct qz_stack_slot *s, struct stack *stack)
{
	const uint64_t *frames = &buffer->frames[s->offset];

	stack->n = 0;
	stack->nprofile = 0;
	stack->on_behalf = false;
	stack->task = false;
	stack->truncated = false;
	stack->unresolved = false;
	place_user(c, buffer, s, stack);
	stack->nuser = stack->n;
	for (uint32_t i = s->nkernel; i > 0; i--) {
		const struct cached_address *cached = address_cache__get(
			c->addresses, MODULE_KERNEL, code_address(frames[i - 1], i == 1));

		if (cached)
			stack->locations[stack->n++] = cached->location;
		if (i == 1)
			stack->unresolved = !cached || !cached->found;
	}
	if (c->instrumented)
		instrumented_stacks__merge(c->instrumented, buffer, s, stack);
}

/* The innermost procedure of a stack with Python frames. */
static int64_t python_leaf(const struct stack_context *c, const struct bpf_runtime_buffer *buffer,
			   const struct qz_stack_slot *s, const struct cached_address *leaf,
			   const struct cached_address *caller)
{
	uint32_t locations[4] = {leaf->location};
	struct python_stack python = {.codes = c->python,
				      .profile = c->profile,
				      .image = s->image,
				      .frames = &buffer->frames[s->offset + s->nkernel + s->nuser],
				      .kept = 1,
				      .left = 1,
				      .depth = 1,
				      .locations = locations};
	bool inside; /* the caller runs the Python code */

	if (caller)
		python_stack__place(&python, caller, false);
	inside = !python.left;
	if (!inside)
		python.n = 0;
	python_stack__place(&python, leaf, true);
	return c->profile->locations[locations[inside && python.n ? python.n - 1 : 0]]
		.lines[0]
		.procedure;
}

int64_t stack__leaf(const struct stack_context *c, const struct bpf_runtime_buffer *buffer,
		    const struct qz_stack_slot *s)
{
	const struct image *image = address_spaces__get(c->spaces, s->image);
	const struct cached_address *cached = NULL, *caller = NULL;

	if (s->nkernel) {
		cached = address_cache__get(c->addresses, MODULE_KERNEL, buffer->frames[s->offset]);
	} else if (s->nuser && image && !image->launcher) {
		address_spaces__lock(c->spaces);
		cached = user_address(c, s, image, user_frame(buffer, s, 0));
		if (s->nuser > 1)
			caller = user_address(c, s, image,
					      code_address(user_frame(buffer, s, 1), false));
		address_spaces__unlock(c->spaces);
		if (cached && c->python && s->npython)
			return python_leaf(c, buffer, s, cached, caller);
	}
	return address_cache__procedure(c->profile, cached);
}

static uint32_t procedure_of(const struct qz_profile *profile, uint32_t location)
{
	const struct qz_location *l = &profile->locations[location];

	return l->lines[l->nlines - 1].procedure;
}

static uint32_t outermost_node(const struct qz_profile *profile, uint32_t node)
{
	while (profile->nodes[node].depth > 1)
		node = profile->nodes[node].parent;
	return node;
}

/* The node at which the process began. */
static uint32_t process_node(const struct qz_profile *profile, uint32_t node)
{
	uint32_t procedure;

	for (; node; node = profile->nodes[node].parent) {
		procedure = procedure_of(profile, profile->nodes[node].location);
		if (profile->procedures[procedure].kind == QZ_PROCESS_START)
			break;
	}
	return node;
}

/*
 * A task that was submitted by another thread belongs below main, beside the work of the thread's
 * creator. A goroutine can run in any thread, so it does not belong to that thread's creator,
 * either.
 */
int64_t stack__node(struct qz_profile *profile, uint32_t below, const struct stack *stack)
{
	int64_t node = below;
	uint32_t i = 0;

	if (stack->task)
		node = process_node(profile, below);
	if (stack->on_behalf && stack->n) {
		node = outermost_node(profile, below);
		if (node && procedure_of(profile, profile->nodes[node].location) ==
				    procedure_of(profile, stack->locations[0]))
			i++;
	}
	if (stack->truncated)
		node = qz_profile__intern_node(profile, node,
					       qz_profile__marker(profile, QZ_TRUNCATED));
	for (; node >= 0 && i < stack->n; i++)
		node = qz_profile__intern_node(profile, node, stack->locations[i]);
	return node;
}
