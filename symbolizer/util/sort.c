/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/util/sort.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A radix sort, lowest digit first. Digits that are equal in all numbers, as most digits of
 * addresses are, need no pass.
 */
#define DIGIT_BITS 11
#define DIGIT_MAX  ((1U << DIGIT_BITS) - 1)
#define DIGITS	   ((64 + DIGIT_BITS - 1) / DIGIT_BITS)

typedef size_t digit_counts[DIGIT_MAX + 1];

static uint64_t number_of(const char *item)
{
	uint64_t number;

	memcpy(&number, item, sizeof(number));
	return number;
}

static uint32_t digit_of(const char *item, unsigned int digit)
{
	return number_of(item) >> (digit * DIGIT_BITS) & DIGIT_MAX;
}

static void count_digits(digit_counts *counts, const char *items, size_t n, size_t size)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned int d = 0; d < DIGITS; d++)
			counts[d][digit_of(items + i * size, d)]++;
}

/* Sorts by one digit. The counts become the positions of the next items. */
static void pass(size_t *counts, unsigned int digit, const char *from, char *to, size_t n,
		 size_t size)
{
	size_t before = 0;

	for (uint32_t value = 0; value <= DIGIT_MAX; value++) {
		size_t count = counts[value];

		counts[value] = before;
		before += count;
	}
	for (size_t i = 0; i < n; i++) {
		const char *item = from + i * size;

		memcpy(to + counts[digit_of(item, digit)]++ * size, item, size);
	}
}

int sort__by_number(void *items, size_t n, size_t size)
{
	digit_counts *counts = calloc(DIGITS, sizeof(*counts));
	char *copy = n ? reallocarray(NULL, n, size) : NULL, *from = items, *to = copy;

	if (!counts || (n && !copy)) {
		free(counts);
		free(copy);
		return -ENOMEM;
	}
	count_digits(counts, items, n, size);
	for (unsigned int d = 0; n && d < DIGITS; d++) {
		char *sorted = to;

		if (counts[d][digit_of(from, d)] == n)
			continue;
		pass(counts[d], d, from, to, n, size);
		to = from;
		from = sorted;
	}
	if (n && from == copy)
		memcpy(items, copy, n * size);
	free(counts);
	free(copy);
	return 0;
}
