// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "daemon/kallsyms.h"

/* Beyond the last symbol of a region nothing is known; no function is this long. */
#define MAX_FUNCTION (1ul << 20)

struct symbol {
	uint64_t address;
	uint32_t name; /* offset */
};

struct kallsyms {
	struct symbol *symbols;
	uint32_t n;
	char *names;
	uint32_t size, names_room;
};

void kallsyms__free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->symbols);
	free(k->names);
	free(k);
}

static int add(struct kallsyms *k, uint64_t address, const char *name)
{
	uint32_t length = strlen(name) + 1;
	struct symbol *more;
	char *names;

	more = qz_array__room(k->symbols, k->n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	k->symbols = more;
	if (k->size + length > k->names_room) {
		uint32_t room = k->names_room ? 2 * k->names_room : 1 << 18;

		names = realloc(k->names, room);
		if (!names)
			return -ENOMEM;
		k->names = names;
		k->names_room = room;
	}
	memcpy(k->names + k->size, name, length);
	k->symbols[k->n++] = (struct symbol) {address, k->size};
	k->size += length;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int read_table(struct kallsyms *k, FILE *f)
{
	char *line = NULL, type, name[512];
	uint64_t address, seen = 0;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, f) > 0) {
		if (sscanf(line, "%" SCNx64 " %c %511s", &address, &type, name) != 3)
			continue;
		seen |= address;
		if (address && strchr("tTwW", type))
			err = add(k, address, name);
	}
	free(line);
	if (!err && !seen)
		err = -EPERM;
	return err;
}

/* Who opened it decides what it shows: kept from when there was the right to. -1: not opened. */
static int table = -1;

void kallsyms__open(void)
{
	if (table < 0)
		table = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
}

static FILE *open_table(void)
{
	int fd = table < 0 ? open("/proc/kallsyms", O_RDONLY | O_CLOEXEC)
			   : fcntl(table, F_DUPFD_CLOEXEC, 0);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (f)
		rewind(f);
	else if (fd >= 0)
		close(fd);
	return f;
}

struct kallsyms *kallsyms__new(void)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	FILE *f = open_table();
	int err = k && f ? 0 : -errno;

	if (!err)
		err = read_table(k, f);
	if (f)
		fclose(f);
	if (err) {
		kallsyms__free(k);
		errno = -err;
		return NULL;
	}
	qsort(k->symbols, k->n, sizeof(*k->symbols), compare);
	return k;
}

const char *kallsyms__find(const struct kallsyms *k, uint64_t address, uint64_t *start)
{
	uint32_t low = 0, high = k->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (k->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - k->symbols[low - 1].address > MAX_FUNCTION)
		return NULL;
	*start = k->symbols[low - 1].address;
	/* of several names for one address the first in the table: the order of the kernel's own */
	while (low > 1 && k->symbols[low - 2].address == *start)
		low--;
	return k->names + k->symbols[low - 1].name;
}

int kallsyms__each(const struct kallsyms *k, kallsyms_take *take, void *context)
{
	int err = 0;

	for (uint32_t i = 0, next = 0; i < k->n && !err; i++) {
		uint64_t start = k->symbols[i].address, end = start + MAX_FUNCTION;

		while (next < k->n && k->symbols[next].address <= start)
			next++;
		if (next < k->n && k->symbols[next].address < end)
			end = k->symbols[next].address;
		err = take(context, k->names + k->symbols[i].name, start, end);
	}
	return err;
}
