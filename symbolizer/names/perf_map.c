/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/names/perf_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads what the file contains at first; it may grow meanwhile. */
static int read_text(int fd, char **text, size_t *size)
{
	struct stat st;
	char *buffer;
	size_t n = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -ENOEXEC;
	if (st.st_size > PERF_MAP_MAX_SIZE)
		return -EFBIG;
	buffer = malloc((size_t)st.st_size + 1);
	if (!buffer)
		return -ENOMEM;
	while (n < (size_t)st.st_size) {
		ssize_t got = pread(fd, buffer + n, (size_t)st.st_size - n, (off_t)n);

		if (got < 0) {
			free(buffer);
			return -errno;
		}
		if (got == 0)
			break;
		n += (size_t)got;
	}
	buffer[n] = '\0';
	*text = buffer;
	*size = n;
	return 0;
}

/* Parses hexadecimal digits, optionally after 0x, and the space after them. */
static bool parse_number(char **at, uint64_t *value)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	size_t n;

	if ((*at)[0] == '0' && (*at)[1] == 'x')
		*at += 2;
	n = strspn(*at, digits);
	if (n == 0 || n > 16 || (*at)[n] != ' ')
		return false;
	*value = strtoull(*at, NULL, 16);
	*at += n + 1;
	return true;
}

/*
 * Makes one procedure of all versions of a function: V8 compiles it again with more optimization,
 * and marks that by a character before its name: "JS:*work file:1:2".
 */
static void merge_tiers(char *name)
{
	static const char prefix[] = "JS:";
	char *tier = name + sizeof(prefix) - 1;

	if (!strncmp(name, prefix, sizeof(prefix) - 1) && *tier && strchr("~^+*", *tier))
		memmove(tier, tier + 1, strlen(tier));
}

static bool parse_line(char *line, struct procedure *p)
{
	uint64_t size;

	if (!parse_number(&line, &p->start) || !parse_number(&line, &size) || !*line ||
	    p->start + size < p->start)
		return false;
	p->end = p->start + size;
	merge_tiers(line);
	p->name = line;
	return true;
}

int perf_map__read(struct perf_map *map, int fd)
{
	size_t size = 0;
	char *line, *end;
	int err;

	*map = (struct perf_map) {0};
	err = read_text(fd, &map->text, &size);
	if (err)
		return err;
	map->table = address_table__new();
	if (!map->table)
		return -ENOMEM;
	for (line = map->text; line < map->text + size; line = end + 1) {
		struct procedure p = {0};

		/* ignores what is after a NUL in a line */
		end = memchr(line, '\n', (size_t)(map->text + size - line));
		if (!end)
			break; /* an unfinished line */
		*end = '\0';
		if (!parse_line(line, &p))
			continue;
		err = address_table__add(map->table, &p);
		if (err)
			return err;
	}
	return address_table__size(map->table) ? address_table__build(map->table) : -ENOEXEC;
}

void perf_map__free(struct perf_map *map)
{
	address_table__free(map->table);
	free(map->text);
}
