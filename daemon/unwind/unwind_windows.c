// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_windows.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/kernel/bpf_rows.h"
#include "daemon/unwind/unwind_index.h"

#define BLOCKS 256 /* of a window: most procedures are in one, and it is analyzed in a few ms */

static uint32_t first_block(uint32_t number)
{
	return number * BLOCKS;
}

static uint32_t count_blocks(const struct unwind_windows *w, uint32_t number)
{
	uint32_t left = w->blocks - first_block(number);

	return left < BLOCKS ? left : BLOCKS;
}

/* A block has the form of a row in the map. */
static int read_index(const struct unwind_windows *w, struct bpf_runtime *bpf, uint32_t number,
		      struct qz_unwind_block index[BLOCKS])
{
	return bpf_rows__read(bpf, w->first - w->blocks + first_block(number),
			      (struct qz_unwind_row *)index, count_blocks(w, number));
}

static int read_rows(const struct unwind_windows *w, struct bpf_runtime *bpf,
		     struct unwind_window *window)
{
	struct qz_unwind_block index[BLOCKS];
	uint32_t blocks = count_blocks(w, window->number), n = 0, skipped;
	int err = read_index(w, bpf, window->number, index);

	if (err)
		return err;
	for (uint32_t i = 0; i < blocks; i++)
		n += index[i].count;
	window->n = n + 1;
	window->rows = calloc(window->n, sizeof(*window->rows));
	if (!window->rows)
		return -ENOMEM;
	/* nothing comes before a table: what holds there is the row of zeros */
	skipped = index[0].before == 0;
	return bpf_rows__read(bpf, w->first + index[0].before + skipped - 1, window->rows + skipped,
			      window->n - skipped);
}

int unwind_windows__read(const struct unwind_windows *w, struct bpf_runtime *bpf, uint32_t pc,
			 struct unwind_window *window)
{
	uint32_t block = QZ_UNWIND_BLOCK(pc) - w->block, first;
	int err;

	*window = (struct unwind_window) {.number = block / BLOCKS};
	if (block >= w->blocks)
		return -ERANGE;
	err = read_rows(w, bpf, window);
	if (err)
		return err;
	first = w->block + first_block(window->number);
	window->from = QZ_UNWIND_BLOCK_PC(first);
	window->to = QZ_UNWIND_BLOCK_PC(first + count_blocks(w, window->number) - 1) +
		     QZ_UNWIND_BLOCK_PC(1) - 1;
	return unwind_index__gap(window->rows, window->n, pc, &window->from, &window->to)
		       ? 0
		       : -ENODATA;
}

/* The rows first, then the way to them. */
static int store(const struct unwind_windows *w, struct bpf_runtime *bpf, uint32_t number,
		 uint32_t at, const struct qz_unwind_row *rows, uint32_t n)
{
	struct qz_unwind_block index[BLOCKS];
	uint32_t blocks = count_blocks(w, number), first = first_block(number);
	int err = bpf_rows__store(bpf, at, rows, n);

	unwind_index__lead(index, blocks, w->block + first, rows + 1, n - 1, at + 1 - w->first);
	return err ? err
		   : bpf_rows__store(bpf, w->first - w->blocks + first,
				     (struct qz_unwind_row *)index, blocks);
}

int unwind_windows__replace(struct unwind_windows *w, struct bpf_runtime *bpf,
			    struct range_alloc *room, const struct unwind_window *window,
			    const struct qz_unwind_row *rows, uint32_t n)
{
	uint32_t windows = (w->blocks + BLOCKS - 1) / BLOCKS, count, at = UINT32_MAX;
	struct qz_unwind_row *all = calloc(window->n + n + 1UL, sizeof(*all));
	uint64_t now = bpf_runtime__now();
	struct unwind_window_rows *old;
	int err = 0;

	if (!w->rows)
		w->rows = calloc(windows, sizeof(*w->rows));
	if (!all || !w->rows) {
		free(all);
		return -ENOMEM;
	}
	count = unwind_index__splice(all, window->rows, window->n, rows, n, window->from,
				     window->to);
	at = range_alloc__take(room, count, now);
	err = at == UINT32_MAX ? -ENOSPC : store(w, bpf, window->number, at, all, count);
	free(all);
	old = &w->rows[window->number];
	if (!err && old->count)
		range_alloc__give(room, old->first, old->count, now);
	if (!err)
		*old = (struct unwind_window_rows) {at, count};
	else if (at != UINT32_MAX)
		range_alloc__give(room, at, count, now);
	return err;
}

void unwind_windows__drop(struct unwind_windows *w, struct range_alloc *room)
{
	uint32_t windows = (w->blocks + BLOCKS - 1) / BLOCKS;

	for (uint32_t i = 0; w->rows && i < windows; i++)
		if (w->rows[i].count)
			range_alloc__give(room, w->rows[i].first, w->rows[i].count,
					  bpf_runtime__now());
	free(w->rows);
	w->rows = NULL;
}
