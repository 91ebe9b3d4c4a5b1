/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CORE_BITS_H
#define QUARTZ_CORE_BITS_H

#include <stdint.h>

/*
 * Sets of numbers below n, as bits of words that others, such as BPF programs, set meanwhile. The first one from i on
 * that is in the set; n: there is none.
 */
static inline uint32_t qz_bits__next(const uint64_t *bits, uint32_t n, uint32_t i)
{
	uint64_t before = ~0ull << i % 64;

	for (uint32_t word = i / 64; word * 64 < n; word++, before = ~0ull) {
		uint64_t left = __atomic_load_n(&bits[word], __ATOMIC_SEQ_CST) & before;

		if (!left)
			continue;
		i = word * 64 + (uint32_t)__builtin_ctzll(left);
		return i < n ? i : n;
	}
	return n;
}

#define qz_bits__for_each(i, bits, n)                                                              \
	for (uint32_t i = qz_bits__next(bits, n, 0); i < (n); i = qz_bits__next(bits, n, i + 1))

static inline void qz_bits__clear(uint64_t *bits, uint32_t i)
{
	__atomic_fetch_and(&bits[i / 64], ~(1ull << i % 64), __ATOMIC_SEQ_CST);
}

static inline void qz_bits__set(uint64_t *bits, uint32_t i)
{
	__atomic_fetch_or(&bits[i / 64], 1ull << i % 64, __ATOMIC_SEQ_CST);
}

#endif
