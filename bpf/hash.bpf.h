/* SPDX-License-Identifier: GPL-2.0-only */
/* What the hash tables in memory-mapped arrays have in common. */
#ifndef QUARTZ_HASH_BPF_H
#define QUARTZ_HASH_BPF_H

/* Slots tried for a key before the table counts as full. */
#define PROBES 16

/*
 * Takes one more word into a hash, which is multiplied before: two pairs whose words differ in the same
 * bits must not come out equal. No hash proves what a slot is of: programs choose most of the words. So whoever
 * finds a slot by its hash compares what it is of, too.
 */
static __always_inline u64 mix(u64 h, u64 word)
{
	h = (h * 0xff51afd7ed558ccdull ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* The low half of a product depends on the low bits of its factors only: the high half is used. */
static __always_inline u32 first_slot(u64 hash)
{
	return hash >> 32;
}

/*
 * Whose slot it was, 0: it was free, and is taken now. Read before: all processors are sampled at one instant, many of them in
 * one stack, and an exchange has them wait for the line in turn, even one that changes nothing.
 */
static __always_inline u64 slot__take(__u64 *hash, u64 value)
{
	u64 taken = *(volatile u64 *)hash;

	return taken ? taken : __sync_val_compare_and_swap(hash, 0, value);
}

/* Looking for what has a hash in one slot after the other. `found` less than 0: in none so far. */
struct probing {
	void *of;
	u64 hash;
	u32 buffer;
	int found;
};

/*
 * Whether a slot with the same hash has this stack: one of the same image, and as many frames. While another processor
 * fills the slot, this cannot be decided: the stack then takes another slot, and quartzd adds the two up.
 */
static __always_inline bool stack_slot__is(const struct qz_stack_slot *slot,
					   const struct qz_stack_slot *of)
{
	if (!*(const volatile u8 *)&slot->stored)
		return false;
	barrier();
	/* without branches, which the verifier would follow each at each probe */
	return !((slot->image ^ of->image) | (slot->nkernel ^ of->nkernel) |
		 (slot->nuser ^ of->nuser) | (slot->depth ^ of->depth) | (slot->end ^ of->end) |
		 (slot->ntask ^ of->ntask) | (slot->nown ^ of->nown) |
		 (slot->profiled ^ of->profiled) | (slot->npython ^ of->npython) |
		 (slot->python_depth ^ of->python_depth));
}

/* What the slot is of; who has taken it calls this before it sets `stored`. */
static __always_inline void stack_slot__set(struct qz_stack_slot *slot,
					    const struct qz_stack_slot *of)
{
	slot->image = of->image;
	slot->nkernel = of->nkernel;
	slot->nuser = of->nuser;
	slot->depth = of->depth;
	slot->end = of->end;
	slot->ntask = of->ntask;
	slot->nown = of->nown;
	slot->profiled = of->profiled;
	slot->npython = of->npython;
	slot->python_depth = of->python_depth;
}

/* All that was written to the slot is seen by who sees this. */
static __always_inline void stack_slot__store(struct qz_stack_slot *slot, u8 stored)
{
	barrier();
	*(volatile u8 *)&slot->stored = stored;
}

#endif
