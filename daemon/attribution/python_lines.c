// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/attribution/python_lines.h"

#include <stdbool.h>

/*
 * The line after the last entry. 0: the table was cut, so the instruction's entry may be missing.
 */
static uint32_t last_line(const struct qz_python_table *t, int64_t line)
{
	return t->size < QZ_PYTHON_TABLE && line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/*
 * Up to 3.9: pairs of a number of bytes and a number of lines to advance. The last line has the
 * rest.
 */
static uint32_t by_lnotab(const struct qz_python_table *t, int64_t line, uint32_t byte)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i + 1 < t->size; i += 2) {
		at += t->bytes[i];
		if (at > byte)
			return line > 0 ? (uint32_t)line : 0;
		line += (int8_t)t->bytes[i + 1];
	}
	return last_line(t, line);
}

#define NO_LINE (-128)

/* 3.10: pairs of the bytes of the next range, and the difference of its line; or it has none. */
static uint32_t by_ranges(const struct qz_python_table *t, int64_t line, uint32_t byte)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i + 1 < t->size; i += 2) {
		int8_t delta = (int8_t)t->bytes[i + 1];

		end += t->bytes[i];
		if (delta != NO_LINE)
			line += delta;
		if (byte < end)
			return delta != NO_LINE && line > 0 ? (uint32_t)line : 0;
	}
	return 0;
}

/* A number in groups of six bits, the lowest first; *i is set to the byte after it. */
static uint32_t number(const struct qz_python_table *t, uint32_t *i)
{
	uint32_t value = 0;
	bool more = true;

	for (uint32_t shift = 0; more && *i < t->size; shift += 6) {
		uint8_t byte = t->bytes[(*i)++];

		if (shift < 32)
			value |= (uint32_t)(byte & 63) << shift;
		more = byte & 64;
	}
	return value;
}

/* A number whose lowest bit is the sign. */
static int64_t signed_number(const struct qz_python_table *t, uint32_t *i)
{
	uint32_t value = number(t, i);

	return value & 1 ? -(int64_t)(value >> 1) : value >> 1;
}

/* Kinds of entries. Those below ONE_LINE_0 have the line of the entry before. */
enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS, LONG, NONE };

/*
 * From 3.11 on: entries of a kind and a number of instructions. Only the first byte of an entry has
 * its highest bit set.
 */
static uint32_t by_locations(const struct qz_python_table *t, int64_t line, uint32_t instruction)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < t->size;) {
		uint8_t first = t->bytes[i++], kind = first >> 3 & 15;

		if (kind == NO_COLUMNS || kind == LONG)
			line += signed_number(t, &i);
		else if (kind >= ONE_LINE_0 && kind <= ONE_LINE_2)
			line += kind - ONE_LINE_0;
		end += (first & 7) + 1;
		if (instruction < end)
			return kind != NONE && line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
		while (i < t->size && !(t->bytes[i] & 128))
			i++;
	}
	return 0;
}

uint32_t python_lines__at(const struct qz_python_table *table, uint32_t first, uint32_t instruction)
{
	switch (table->lines) {
	case QZ_PYTHON_LNOTAB:
		return by_lnotab(table, first, 2 * instruction);
	case QZ_PYTHON_RANGES:
		return by_ranges(table, first, 2 * instruction);
	case QZ_PYTHON_LOCATIONS:
		return by_locations(table, first, instruction);
	default:
		return 0;
	}
}
