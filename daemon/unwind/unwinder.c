// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwinder.h"

#include <string.h>

/* ---- what the header finds in a BPF program ---- */

typedef uint8_t u8;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;

#define __noinline __attribute__((noinline))

/* One walk at a time, of one thread: helpers of BPF have no argument that could lead here. */
static const struct unwinder *current;

/* A map is known by its address; a piece of the rows has the address of its first one. */
static char unwind_regions, unwind_rows;

static void *row_at(size_t at)
{
	return at < current->nrows ? (void *)&current->rows[at] : NULL;
}

static void *bpf_map_lookup_elem(const void *map, const u32 *key)
{
	size_t at;

	if (map == &unwind_regions)
		return *key < current->nregions ? (void *)&current->regions[*key] : NULL;
	if (map == &unwind_rows)
		return row_at((size_t)*key * QZ_UNWIND_PIECE);
	at = (const struct qz_unwind_row *)map - current->rows + *key;
	if (current->touched && at < current->nrows)
		current->touched[at] = 1;
	return row_at(at);
}

static long bpf_probe_read_user(void *to, u32 size, const void *from)
{
	return current->read(current->arg, (u64)from, to, size) ? 0 : -14;
}

static long bpf_probe_read_kernel(void *to, u32 size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

#define UNWIND_NO_CODE current->no_code
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* global functions for the verifier */
#define HAS_BPF_LOOP			  false
#define bpf_loop(n, turn, context, flags) ((void)(turn), (void)(context))
#include "bpf/loop.bpf.h"
#include "bpf/unwind.bpf.h"

/* ---- */

void unwinder__walk(const struct unwinder *w, const struct unwinder_start *start,
		    struct unwinder_stack *stack)
{
	struct unwinding u = {
		.ip = start->ip,
		.sp = start->sp,
		.bp = start->bp,
		.at_clone = start->at_clone,
		.thread_pointer = start->thread_pointer,
		.registers = (u64)w->registers,
		.image = {.first = 0, .count = w->nregions},
	};

	current = w;
	unwind__walk(&u);
	*stack = (struct unwinder_stack) {
		.depth = u.depth,
		.end = u.end,
		.nframes = unwind__frames(&u),
		.guessed = u.guessed,
	};
	for (u32 i = 0; i < stack->nframes; i++)
		stack->frames[i] = u.frames[qz_kept_frame(u.depth, stack->nframes, i)];
}
