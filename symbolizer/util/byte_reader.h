/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads little-endian numbers from bytes that may end at any point. Each function returns false if
 * they do; then the position is undefined.
 */
#ifndef QUARTZ_SYMBOLIZER_BYTE_READER_H
#define QUARTZ_SYMBOLIZER_BYTE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_reader {
	const uint8_t *at, *end;
};

static inline size_t byte_reader__left(const struct byte_reader *r)
{
	return (size_t)(r->end - r->at);
}

static inline bool byte_reader__skip(struct byte_reader *r, uint64_t size)
{
	if (byte_reader__left(r) < size)
		return false;
	r->at += size;
	return true;
}

static inline bool byte_reader__bytes(struct byte_reader *r, void *value, size_t size)
{
	if (byte_reader__left(r) < size)
		return false;
	memcpy(value, r->at, size);
	r->at += size;
	return true;
}

/* An unsigned number of 1, 2, 4 or 8 bytes. */
static inline bool byte_reader__number(struct byte_reader *r, size_t size, uint64_t *value)
{
	*value = 0;
	return byte_reader__bytes(r, value, size);
}

/* Numbers of more than 64 bits are refused. */
static inline bool byte_reader__uleb128(struct byte_reader *r, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; r->at < r->end && shift < 64; shift += 7) {
		uint8_t byte = *r->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static inline bool byte_reader__sleb128(struct byte_reader *r, int64_t *value)
{
	uint64_t bits = 0;

	for (unsigned int shift = 0; r->at < r->end && shift < 64; shift += 7) {
		uint8_t byte = *r->at++;

		bits |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (byte & 0x40 && shift + 7 < 64)
			bits |= ~0ULL << (shift + 7);
		*value = (int64_t)bits;
		return true;
	}
	return false;
}

#endif
