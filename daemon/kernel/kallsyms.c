// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/vec.h"
#include "daemon/kernel/kallsyms.h"

/* Beyond the last symbol of a region nothing is known; no function is this long. */
#define MAX_FUNCTION (1ul << 20)
#define BUFFER	     65536

struct symbol {
	uint64_t address;
	uint32_t name; /* offset */
};

struct kallsyms {
	struct symbol *symbols;
	uint32_t n;
	char *names;
	uint32_t size, names_room;
	bool read;
	int err; /* of that */
};

/* The table that a thread of its own reads, which has not been joined. */
static struct kallsyms *ahead;
static pthread_t reader;

static void await_reader(void)
{
	if (ahead)
		pthread_join(reader, NULL);
	ahead = NULL;
}

void kallsyms__free(struct kallsyms *k)
{
	if (!k)
		return;
	if (k == ahead)
		await_reader();
	free(k->symbols);
	free(k->names);
	free(k);
}

static int add(struct kallsyms *k, uint64_t address, const char *name)
{
	uint32_t length = strlen(name) + 1;
	char *names;

	if (qz_array__reserve((void **)&k->symbols, k->n, sizeof(*k->symbols)))
		return -ENOMEM;
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

/* A line is "ADDRESS TYPE NAME", and for modules a tab and "[MODULE]" behind it. */
static int add_line(struct kallsyms *k, char *line, uint64_t *seen)
{
	char *rest;
	uint64_t address = strtoull(line, &rest, 16);
	char type;

	if (*rest != ' ' || !rest[1] || rest[2] != ' ')
		return 0;
	type = rest[1];
	rest += 3;
	rest[strcspn(rest, "\t\n")] = '\0';
	*seen |= address;
	return *rest && address && strchr("tTwW", type) ? add(k, address, rest) : 0;
}

static int read_lines(struct kallsyms *k, FILE *f)
{
	char *line = NULL;
	uint64_t seen = 0;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, f) > 0)
		err = add_line(k, line, &seen);
	free(line);
	if (!err && !seen)
		err = -EPERM;
	return err;
}

/* Who opened it decides what it shows: kept from when there was the right to. -1: not opened. */
static int table = -1;

void kallsyms__open(void)
{
	await_reader();
	if (table < 0)
		table = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
}

static FILE *open_table(void)
{
	int fd = table < 0 ? open("/proc/kallsyms", O_RDONLY | O_CLOEXEC)
			   : fcntl(table, F_DUPFD_CLOEXEC, 0);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

static void read_table(struct kallsyms *k)
{
	char *buffer = malloc(BUFFER);
	FILE *f = open_table();

	/* 1 KiB else, as the file has it: four times the calls. glibc heeds no size without a buffer. */
	if (f && buffer)
		setvbuf(f, buffer, _IOFBF, BUFFER);
	if (f)
		rewind(f);
	k->err = f ? read_lines(k, f) : -errno;
	if (f)
		fclose(f);
	free(buffer);
	if (k->err)
		k->n = 0;
	if (k->n)
		qsort(k->symbols, k->n, sizeof(*k->symbols), compare);
}

static void *read_ahead(void *argument)
{
	read_table(argument);
	return NULL;
}

struct kallsyms *kallsyms__new(void)
{
	return calloc(1, sizeof(struct kallsyms));
}

void kallsyms__read_ahead(struct kallsyms *k)
{
	await_reader();
	if (k->read || pthread_create(&reader, NULL, read_ahead, k))
		return;
	ahead = k;
	k->read = true;
}

int kallsyms__read(struct kallsyms *k)
{
	if (k == ahead)
		await_reader();
	if (!k->read)
		read_table(k);
	k->read = true;
	return k->err;
}

/* The first name of the function at an address, of several the first in the table: the order of the kernel's own. */
static const struct symbol *find(struct kallsyms *k, uint64_t address)
{
	uint32_t low = 0, high;

	kallsyms__read(k);
	high = k->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (k->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - k->symbols[low - 1].address > MAX_FUNCTION)
		return NULL;
	while (low > 1 && k->symbols[low - 2].address == k->symbols[low - 1].address)
		low--;
	return &k->symbols[low - 1];
}

const char *kallsyms__find(struct kallsyms *k, uint64_t address, uint64_t *start)
{
	const struct symbol *s = find(k, address);

	if (!s)
		return NULL;
	*start = s->address;
	return k->names + s->name;
}

void kallsyms__names(struct kallsyms *k, uint64_t address, kallsyms_take *take, void *context)
{
	const struct symbol *first = find(k, address), *next = first, *last = k->symbols + k->n;

	if (!first)
		return;
	while (next < last && next->address == first->address)
		next++;
	for (const struct symbol *s = first; s < next; s++)
		take(context, k->names + s->name, s->address,
		     next < last && next->address - s->address < MAX_FUNCTION
			     ? next->address
			     : s->address + MAX_FUNCTION);
}
