/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/cpu_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool qz_cpu_set__has(const struct qz_cpu_set *set, uint32_t cpu)
{
	return cpu < QZ_CPUS && set->bits[cpu / 64] >> cpu % 64 & 1;
}

uint32_t qz_cpu_set__end(const struct qz_cpu_set *set)
{
	uint32_t end = QZ_CPUS;

	while (end && !qz_cpu_set__has(set, end - 1))
		end--;
	return end;
}

/* A number without sign or blank. */
static bool read_number(const char **at, unsigned long *number)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*number = strtoul(*at, &end, 10);
	*at = end;
	return *number < QZ_CPUS;
}

bool qz_cpu_set__add_list(struct qz_cpu_set *set, const char *list)
{
	unsigned long first, last;

	for (;; list++) {
		if (!read_number(&list, &first))
			return false;
		last = first;
		if (*list == '-') {
			list++;
			if (!read_number(&list, &last) || last < first)
				return false;
		}
		for (unsigned long cpu = first; cpu <= last; cpu++)
			set->bits[cpu / 64] |= 1ull << cpu % 64;
		if (*list != ',')
			return !*list || !strcmp(list, "\n");
	}
}

uint32_t qz_cpu_set__count(const struct qz_cpu_set *set)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < QZ_CPUS / 64; i++)
		n += (uint32_t)__builtin_popcountll(set->bits[i]);
	return n;
}

void qz_cpu_set__list(const struct qz_cpu_set *set, char *list, size_t size)
{
	size_t length = 0;

	list[0] = '\0';
	for (uint32_t cpu = 0; cpu < QZ_CPUS; cpu++) {
		uint32_t first = cpu;

		if (!qz_cpu_set__has(set, cpu))
			continue;
		while (qz_cpu_set__has(set, cpu + 1))
			cpu++;
		length += (size_t)snprintf(list + length, size - length, "%s%u", length ? "," : "",
					   first);
		if (length < size && cpu > first)
			length += (size_t)snprintf(list + length, size - length, "-%u", cpu);
		if (length >= size) {
			list[0] = '\0';
			return;
		}
	}
}
