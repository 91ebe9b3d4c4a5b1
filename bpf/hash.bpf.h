/* SPDX-License-Identifier: GPL-2.0-only */
/* What the hash tables in memory-mapped arrays have in common. */
#ifndef QUARTZ_HASH_BPF_H
#define QUARTZ_HASH_BPF_H

/* Slots tried for a key before the table counts as full. */
#define PROBES 16

static __always_inline u64 mix(u64 h, u64 word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* The low half of a product depends on the low bits of its factors only: the high half is used. */
static __always_inline u32 first_slot(u64 hash)
{
	return hash >> 32;
}

#endif
