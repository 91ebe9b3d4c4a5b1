/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the sampled thread spins, as far as the addresses that quartzd has classified show it; and what lets quartzd
 * decide it for other addresses. The other answers of the round show which threads were busy at the same time
 * (daemon/collect/round_join.h).
 */
#ifndef QUARTZ_SPIN_BPF_H
#define QUARTZ_SPIN_BPF_H

/* Slots tried for an address, as quartzd does when it enters one. */
#define SPIN_PROBES QZ_SPIN_PROBES

/* Looking for the slot of an address. */
struct spin_probing {
	u64 address;
	u32 image, hash;
	u32 slot; /* + 1; 0: none so far */
};

/* As a turn of a loop. */
static long spin__probe_turn(u32 i, struct spin_probing *p)
{
	u32 key = (p->hash + i) & (QZ_SPIN_ADDRESSES - 1);
	struct qz_spin_address *a = bpf_map_lookup_elem(&spin_addresses, &key);

	if (!a || !a->address)
		return 1;
	if (a->address != p->address || a->image != p->image)
		return 0;
	p->slot = key + 1;
	return 1;
}

/* The slot of an address + 1, or 0. A global function, which the verifier follows once and not for each caller. */
__noinline u32 spin__slot(u32 image, u64 address)
{
	struct spin_probing p = {address, image, qz_spin__hash(image, address), 0};

	LOOP(SPIN_PROBES, spin__probe_turn, &p);
	return p.slot;
}

static __always_inline struct qz_spin_address *spin__find(u32 image, u64 address)
{
	u32 slot = spin__slot(image, address), key = slot - 1;

	return slot ? bpf_map_lookup_elem(&spin_addresses, &key) : NULL;
}

/* A thread in its last sample. */
struct spin_turn {
	u64 start; /* of the loop to be confirmed that it was in; 0: elsewhere */
	u32 image;
	u32 serial;
	u32 time;    /* in units of 2^10 ns */
	u32 changed; /* then: QZ_RECORD_FIRST << 16 | registers, see struct qz_sample_record */
	u64 registers[16]; /* as instructions number them */
};

/* Samples nearer than this are as one: interrupts may have had all of the time between them. */
#define SPIN_NEAR 128 /* in these units */

#define SPIN_TURNS 1024 /* a power of two */

/*
 * Key: low bits of a thread's serial. Written and read by the sampler alone. Threads with the same low bits overwrite each
 * other's entry: then neither is confirmed, as if it had no sample before.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SPIN_TURNS);
	__type(key, u32);
	__type(value, struct spin_turn);
} spin_turns SEC(".maps");

#define COMPARE(number, name)                                                                      \
	do {                                                                                       \
		u64 difference = turn->registers[number] ^ regs->name, minus = -difference;        \
		/* without a branch, of which the verifier would follow 16 in a row */             \
		asm volatile("" : "+r"(minus));                                                    \
		changed |= ((difference | minus) >> 63) << (number);                               \
		turn->registers[number] ^= difference;                                             \
	} while (0);

/* Which registers of the current thread have changed since its sample before. A global function, as spin__slot. */
__noinline u32 spin__compare(struct spin_turn *turn, u32 image, u32 serial, u64 now)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	u32 time = now >> 10;
	u64 changed = 0;
	bool known;

	if (!turn)
		return QZ_RECORD_FIRST << 16 | 0xffff;
	known = turn->serial == serial && turn->image == image;
	if (known && time - turn->time < SPIN_NEAR)
		return turn->changed;
	ARCH_EACH_REGISTER(COMPARE)
	turn->image = image;
	turn->serial = serial;
	turn->time = time;
	turn->start = known ? turn->start : 0;
	turn->changed = known ? changed : QZ_RECORD_FIRST << 16 | 0xffff;
	return turn->changed;
}

#undef COMPARE

/*
 * Whether the thread has not got on since its sample before: it was in this loop then, and no register
 * has changed but those that each turn of the loop writes. A thread that works has some state.
 */
static __always_inline bool spin__confirm(struct spin_turn *turn, u64 start, u32 written)
{
	bool same = turn->start == start &&
		    !(turn->changed & ~written & (QZ_RECORD_FIRST << 16 | 0xffff));

	turn->start = start;
	return same;
}

/*
 * What the loop watches that the thread is in, or called out of; 0: not known. The registers have just
 * been noted, and that which it goes by is changed neither by the loop nor by what it calls.
 */
__noinline u64 spin__watched(struct qz_spin_address *a, struct spin_turn *turn)
{
	u32 base;

	if (!a || !turn)
		return 0;
	base = QZ_SPIN_BASE(a->flags);
	if (!(a->flags & QZ_SPIN_WATCHES))
		return 0;
	return (base < QZ_SPIN_FIXED ? turn->registers[base & 15] : 0) + a->at;
}

/*
 * Whether the thread only waits. kernel: the innermost kernel address, 0 in user mode. A thread in the
 * kernel whose code waits in user mode waits as well: it yields there, or was interrupted. caller: the
 * innermost call in user code, 0 when it is not known. on: set to the word that it waits for, where that
 * is known. changed: set as in struct spin_turn.
 */
static __always_inline bool spin__waits(struct task_struct *task, const struct qz_thread_state *t,
					u64 kernel, u64 caller, u64 now, u64 *on, u32 *changed)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u32 image = t->image, serial = t->serial, written;
	u32 key = serial & (SPIN_TURNS - 1);
	struct spin_turn *turn = bpf_map_lookup_elem(&spin_turns, &key);
	bool user = task__has_memory(task), same;
	struct qz_spin_address *a;

	if (!turn)
		return false;
	if (user)
		*changed = spin__compare(turn, image, serial, now);
	if (kernel && spin__find(0, kernel)) {
		turn->start = 0;
		return true;
	}
	a = user ? spin__find(image, arch__ip(regs)) : NULL;
	written = a ? a->written : 0;
	if (a && a->flags & QZ_SPIN_BY_CALLER)
		a = caller ? spin__find(image, caller) : NULL;
	if (!a || a->flags & QZ_SPIN_BY_CALLER) {
		turn->start = 0;
		return false;
	}
	/* one loop may have addresses of either kind: each is the sample before of the next */
	same = spin__confirm(turn, a->start, written | a->written);
	if (!same && a->flags & QZ_SPIN_CONFIRM &&
	    !qz_spin__has_turned(turn->registers[a->counter & 15], a->first, a->many))
		return false;
	*on = spin__watched(a, turn);
	if (!*on && caller) {
		a = spin__find(image, caller); /* out of which it pauses or yields */
		*on = a ? spin__watched(a, turn) : 0;
	}
	return true;
}

#endif
