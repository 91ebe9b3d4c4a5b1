/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/util/address_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "symbolizer/util/sort.h"

#define NOBODY UINT32_MAX

/* The addresses from here up to the next piece belong to one procedure, or to none. */
struct piece {
	uint64_t start;
	uint32_t owner;
	uint32_t next; /* while building: the first piece from here on without an owner */
};

struct address_table {
	struct procedure *procedures;
	struct piece *pieces;
	size_t n, room, npieces;
};

struct address_table *address_table__new(void)
{
	return calloc(1, sizeof(struct address_table));
}

void address_table__free(struct address_table *t)
{
	if (!t)
		return;
	free(t->procedures);
	free(t->pieces);
	free(t);
}

int address_table__add(struct address_table *t, const struct procedure *p)
{
	if (p->end <= p->start)
		return 0;
	if (t->n >= TABLE_MAX)
		return -EFBIG;
	if (t->n == t->room) {
		size_t room = t->room ? t->room * 2 : 256;
		struct procedure *bigger = reallocarray(t->procedures, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		t->procedures = bigger;
		t->room = room;
	}
	t->procedures[t->n++] = *p;
	return 0;
}

/* The last piece that starts at or before the address, or npieces. */
static size_t piece_at(const struct address_table *t, uint64_t address)
{
	size_t low = 0, high = t->npieces;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->pieces[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? low - 1 : t->npieces;
}

/* The first piece from i on without an owner; shortens the path for the next time. */
static uint32_t skip_owned(struct piece *pieces, uint32_t i)
{
	while (pieces[i].next != i) {
		pieces[i].next = pieces[pieces[i].next].next;
		i = pieces[i].next;
	}
	return i;
}

/* Assigns all pieces of procedure i without an owner to it. The last piece never has one. */
static void claim(struct address_table *t, uint32_t i)
{
	const struct procedure *p = &t->procedures[i];
	uint32_t k = skip_owned(t->pieces, (uint32_t)piece_at(t, p->start));

	while (t->pieces[k].start < p->end) {
		t->pieces[k].owner = i;
		t->pieces[k].next = k + 1;
		k = skip_owned(t->pieces, k);
	}
}

/* Cuts the address space at every start and end. */
static int cut(struct address_table *t)
{
	size_t n = 0;

	t->pieces = calloc(2 * t->n + 1, sizeof(*t->pieces));
	if (!t->pieces)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		t->pieces[n++].start = t->procedures[i].start;
		t->pieces[n++].start = t->procedures[i].end;
	}
	if (sort__by_number(t->pieces, n, sizeof(*t->pieces)))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (t->npieces && t->pieces[t->npieces - 1].start == t->pieces[i].start)
			continue;
		t->pieces[t->npieces] = (struct piece) {
			.start = t->pieces[i].start,
			.owner = NOBODY,
			.next = (uint32_t)t->npieces,
		};
		t->npieces++;
	}
	return 0;
}

/* Joins adjacent pieces of the same owner, and frees the rest of the memory. */
static void shrink(struct address_table *t)
{
	struct piece *smaller;
	size_t n = 0;

	for (size_t i = 0; i < t->npieces; i++)
		if (n == 0 || t->pieces[n - 1].owner != t->pieces[i].owner)
			t->pieces[n++] = t->pieces[i];
	t->npieces = n;
	smaller = reallocarray(t->pieces, n + 1, sizeof(*smaller));
	if (smaller)
		t->pieces = smaller;
}

int address_table__build(struct address_table *t)
{
	unsigned int ranks = 0;
	int err = cut(t);

	if (err)
		return err;
	for (size_t i = 0; i < t->n; i++)
		if (t->procedures[i].rank >= ranks)
			ranks = t->procedures[i].rank + 1U;
	for (unsigned int rank = 0; rank < ranks; rank++)
		for (size_t i = t->n; i-- > 0;)
			if (t->procedures[i].rank == rank)
				claim(t, (uint32_t)i);
	shrink(t);
	return 0;
}

struct procedure *address_table__find(const struct address_table *t, uint64_t address)
{
	size_t i = piece_at(t, address);

	if (i == t->npieces || t->pieces[i].owner == NOBODY)
		return NULL;
	return &t->procedures[t->pieces[i].owner];
}

size_t address_table__size(const struct address_table *t)
{
	return t->n;
}
