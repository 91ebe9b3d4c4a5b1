// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/util/vec.h"
#include "daemon/kernel/kallsyms.h"

/* Beyond the last symbol of a region nothing is known; no function is this long. */
#define MAX_FUNCTION (1ul << 20)
#define BUFFER	     16384 /* the kernel gives a page at a time */

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

static int add(struct kallsyms *k, uint64_t address, const char *name, uint32_t length)
{
	char *names;

	if (qz_array__reserve((void **)&k->symbols, k->n, sizeof(*k->symbols)))
		return -ENOMEM;
	if (k->size + length >= k->names_room) {
		uint32_t room = k->names_room ? 2 * k->names_room : 1 << 18;

		names = realloc(k->names, room);
		if (!names)
			return -ENOMEM;
		k->names = names;
		k->names_room = room;
	}
	memcpy(k->names + k->size, name, length);
	k->names[k->size + length] = '\0';
	k->symbols[k->n++] = (struct symbol) {address, k->size};
	k->size += length + 1;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static const char *read_hex(const char *at, const char *end, uint64_t *value)
{
	for (*value = 0; at < end; at++) {
		unsigned int digit = (unsigned int)(*at <= '9' ? *at - '0' : *at - 'a' + 10);

		if (digit > 15)
			break;
		*value = *value << 4 | digit;
	}
	return at;
}

/* A line is "ADDRESS TYPE NAME", and for modules a tab and "[MODULE]" behind it. */
static int add_line(struct kallsyms *k, const char *line, const char *end, uint64_t *seen)
{
	uint64_t address;
	const char *rest = read_hex(line, end, &address), *name = rest + 3, *tab;

	if (end - rest < 4 || rest[0] != ' ' || rest[2] != ' ')
		return 0;
	*seen |= address;
	if (!address || !rest[1] || !strchr("tTwW", rest[1]))
		return 0;
	tab = memchr(name, '\t', (size_t)(end - name));
	return add(k, address, name, (uint32_t)((tab ? tab : end) - name));
}

/* Adds the whole lines of a text. The length of what is left behind them, or -ENOMEM. */
static ssize_t add_lines(struct kallsyms *k, const char *text, size_t n, uint64_t *seen)
{
	const char *end = text + n, *newline;

	while ((newline = memchr(text, '\n', (size_t)(end - text)))) {
		if (add_line(k, text, newline, seen))
			return -ENOMEM;
		text = newline + 1;
	}
	return end - text;
}

/* The kernel's own text is in order, that of modules and of BPF programs behind it is not. */
static void sort(struct kallsyms *k)
{
	uint32_t n = 1;

	while (n < k->n && k->symbols[n - 1].address <= k->symbols[n].address)
		n++;
	if (n >= k->n)
		return;
	qsort(k->symbols + n, k->n - n, sizeof(*k->symbols), compare);
	if (k->symbols[n].address < k->symbols[n - 1].address)
		qsort(k->symbols, k->n, sizeof(*k->symbols), compare);
}

int kallsyms__read_file(struct kallsyms *k, int fd)
{
	char text[BUFFER];
	uint64_t seen = 0;
	ssize_t left = 0, n;

	k->read = true;
	while ((n = read(fd, text + left, sizeof(text) - (size_t)left)) > 0) {
		size_t have = (size_t)(left + n);

		left = add_lines(k, text, have, &seen);
		if (left < 0)
			return (int)left;
		memmove(text, text + have - left, (size_t)left);
	}
	if (n < 0)
		return -errno;
	sort(k);
	return seen ? 0 : -EPERM;
}

/* Who opened it decides what it shows: kept from when there was the right to. -1: not opened. */
static int table = -1;

void kallsyms__open(void)
{
	await_reader();
	if (table < 0)
		table = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
}

static void read_table(struct kallsyms *k)
{
	int fd = table < 0 ? open("/proc/kallsyms", O_RDONLY | O_CLOEXEC)
			   : fcntl(table, F_DUPFD_CLOEXEC, 0);

	k->err = fd < 0 || lseek(fd, 0, SEEK_SET) < 0 ? -errno : kallsyms__read_file(k, fd);
	if (fd >= 0)
		close(fd);
	if (k->err)
		k->n = 0;
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
