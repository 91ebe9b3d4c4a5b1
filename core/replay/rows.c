/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/replay/state.h"

#define FIRST_ROOM 16

/* More rows than one record can add: a switch may end the waits of two threads and begin those of two. */
#define MOST_NEW 4

static int replay_rows__grow(struct replay_rows *rows)
{
	uint32_t room = rows->room ? 2 * rows->room : FIRST_ROOM;
	void *items;

	if (room < rows->room)
		return -ENOMEM;
	items = realloc(rows->items, room * rows->size);
	if (!items)
		return -ENOMEM;
	rows->items = items;
	rows->room = room;
	return 0;
}

/* Makes room for at least one record, and returns for how many there is room. Half of the table stays empty. */
static int replay_rows__reserve(struct replay_rows *rows, uint32_t *records)
{
	uint32_t left;

	if ((rows->n + MOST_NEW > rows->room && replay_rows__grow(rows)) ||
	    qz_hash_table__reserve(&rows->index))
		return -ENOMEM;
	left = rows->room - rows->n;
	if (left > rows->index.size / 2 - rows->index.used)
		left = rows->index.size / 2 - rows->index.used;
	if (*records > left / MOST_NEW)
		*records = left / MOST_NEW;
	return 0;
}

int replay__make_room(struct replay *r)
{
	struct replay_rows *all[] = {&r->threads, &r->processes, &r->scopes,
				     &r->objects, &r->waits,	 &r->wakeups};
	uint32_t records = UINT32_MAX;

	if (r->room) {
		r->room--;
		return 0;
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (replay_rows__reserve(all[i], &records))
			return -ENOMEM;
	r->room = records ? records - 1 : 0;
	return 0;
}

uint32_t replay_rows__take(struct replay_rows *rows, uint32_t *free, size_t next, bool *fresh)
{
	uint32_t i = *free;

	*fresh = i == REPLAY_NONE;
	if (*fresh)
		return rows->n++;
	memcpy(free, (char *)rows->items + i * rows->size + next, sizeof(*free));
	return i;
}

static void move_list(uint32_t *from, uint32_t *to, const struct replay_rows *rows, size_t next)
{
	while (*from != REPLAY_NONE) {
		uint32_t i = *from;
		uint32_t *link = (uint32_t *)((char *)rows->items + i * rows->size + next);

		*from = *link;
		*link = *to;
		*to = i;
	}
}

void replay__reuse_dropped(struct replay *r)
{
	move_list(&r->dropped_scopes, &r->free_scopes, &r->scopes,
		  offsetof(struct replay_parallelism, next));
	move_list(&r->dropped_objects, &r->free_objects, &r->objects,
		  offsetof(struct replay_queue, next));
}
