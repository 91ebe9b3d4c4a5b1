/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which processors spin. The sampler finds it out, from the addresses that quartzd has judged; each
 * processor is marked for the scope that it spins for until a sample finds it busy or the thread
 * goes, and a scope has the number of its marked processors.
 */
#ifndef QUARTZ_SPIN_BPF_H
#define QUARTZ_SPIN_BPF_H

/* Slots tried for an address, as quartzd does when it enters one. */
#define SPIN_PROBES QZ_SPIN_PROBES

/* ---- marks ---- */

static __always_inline void scope__change_spinning(u32 mark, int delta)
{
	struct qz_scope_state *s = scope__get(mark - 1);

	if (s)
		__sync_fetch_and_add(&s->spinning, (s64)delta);
	s = every_process ? scope__get(QZ_SCOPE_OF_MACHINE) : NULL;
	if (s)
		__sync_fetch_and_add(&s->spinning, (s64)delta);
}

/*
 * Marks a processor for a scope (its number + 1) or for none (0), and gives the mark it had. Who
 * exchanges a mark tells the scopes of that change; so, whatever interrupts what, the number of a
 * scope is that of the processors marked for it.
 */
static __always_inline u32 cpu__mark_spinning(struct qz_cpu_state *cpu, u32 mark)
{
	u32 old = __sync_lock_test_and_set(&cpu->spinning, mark);

	if (old == mark)
		return old;
	if (old)
		scope__change_spinning(old, -1);
	if (mark)
		scope__change_spinning(mark, 1);
	return old;
}

/*
 * The thread goes off the processor. One that was spinning and is only preempted, or yields, has
 * nothing else to do when it comes back: it keeps the mark. After its change of state, so that a
 * sample in between cannot set the mark again.
 */
static __always_inline void spin__switch_out(struct qz_cpu_state *cpu, struct qz_thread_state *out)
{
	if (!cpu->spinning)
		return;
	if (out)
		out->spins = out->state == QZ_READY;
	cpu__mark_spinning(cpu, 0);
}

static __always_inline void spin__switch_in(struct qz_cpu_state *cpu, struct qz_thread_state *in)
{
	if (!in->spins)
		return;
	in->spins = 0;
	cpu__mark_spinning(cpu, in->scope + 1);
}

/* Of the `level` processors of a scope, those that are busy; this one as it was just found. */
static __always_inline u32 scope__busy(struct qz_scope_state *scope, u32 level, bool spinning)
{
	s64 others = *(volatile s64 *)&scope->spinning - spinning;

	if (others < 0)
		others = 0;
	if (others > level - 1)
		others = level - 1;
	return level - spinning - (u32)others;
}

/*
 * Tells what the sampler found of this processor, and gives how many are busy for the scope, of the
 * `level` that run: this one as it was just found, the others as their last samples found them.
 */
static __always_inline u32 spin__busy(struct qz_cpu_state *cpu, struct qz_scope_state *scope,
				      u32 number, u32 level, bool spinning)
{
	u32 mark = spinning ? number + 1 : 0;

	if (cpu__mark_spinning(cpu, mark) != mark && level > 1)
		__sync_fetch_and_add(&scope->counters.spin_turns, 1);
	return scope__busy(scope, level, spinning);
}

/* The same of the machine, as qz_sample_slot.machine, after that. */
static __always_inline u32 spin__machine(bool spinning)
{
	struct qz_scope_state *machine;
	u32 level;

	if (!every_process)
		return 0;
	machine = scope__get(QZ_SCOPE_OF_MACHINE);
	if (!machine)
		return 0;
	level = scope__level(machine);
	if (!level)
		level = 1; /* this one, not yet counted */
	return QZ_SAMPLE_MACHINE(level, scope__busy(machine, level, spinning));
}

/* ---- verdicts ---- */

/* The slot of an address + 1, or 0. A global function, which the verifier follows once and not for each caller. */
__noinline u32 spin__slot(u32 image, u64 address)
{
	u32 hash = qz_spin__hash(image, address);

	for (u32 i = 0; i < SPIN_PROBES; i++) {
		u32 key = (hash + i) & (QZ_SPIN_ADDRESSES - 1);
		struct qz_spin_address *a = bpf_map_lookup_elem(&spin_addresses, &key);

		if (!a || !a->address)
			break;
		if (a->address == address && a->image == image)
			return key + 1;
	}
	return 0;
}

static __always_inline struct qz_spin_address *spin__find(u32 image, u64 address)
{
	u32 slot = spin__slot(image, address), key = slot - 1;

	return slot ? bpf_map_lookup_elem(&spin_addresses, &key) : NULL;
}

/* Where a thread was in its last sample, when that was in a loop to be confirmed. */
struct spin_turn {
	u64 start; /* of the loop; 0: elsewhere */
	u32 image;
	u32 serial;
	u64 registers[16]; /* as instructions number them */
};

#define SPIN_TURNS 1024 /* a power of two */

/*
 * Key: low bits of a thread's serial. Written and read by the sampler alone. Threads that have the
 * same ones take it from each other: then neither is confirmed, which is what is told of a thread of
 * which nothing is known.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SPIN_TURNS);
	__type(key, u32);
	__type(value, struct spin_turn);
} spin_turns SEC(".maps");

#define CONFIRM(number, name)                                                                      \
	do {                                                                                       \
		u64 value = regs->name;                                                            \
		/* without a branch, of which the verifier would follow 16 in a row */             \
		changed |= (turn->registers[number] ^ value) & ((written >> (number)&1) - 1ull);   \
		turn->registers[number] = value;                                                   \
	} while (0);

/*
 * Whether the thread has not got on since its sample before: it was in this loop then, and no register
 * has changed but those that each turn of the loop writes. A thread that works has some state.
 */
static __always_inline bool spin__confirm(struct spin_turn *turn, struct pt_regs *regs, u64 start,
					  u32 written, u32 image, u32 serial)
{
	u64 changed = (turn->start ^ start) | (turn->image ^ image) | (turn->serial ^ serial);

	turn->start = start;
	turn->image = image;
	turn->serial = serial;
	ARCH_EACH_REGISTER(CONFIRM)
	return !changed;
}

#undef CONFIRM

static __always_inline void spin__leave(struct spin_turn *turn, u32 serial)
{
	if (turn->serial == serial)
		turn->start = 0;
}

/*
 * What the loop watches that the thread is in, or called out of; 0: not known. The registers have just
 * been noted, and that which it goes by is changed neither by the loop nor by what it calls.
 */
static __always_inline u64 spin__watched(const struct qz_spin_address *a,
					 const struct spin_turn *turn)
{
	u32 base = QZ_SPIN_BASE(a->flags);

	if (!(a->flags & QZ_SPIN_WATCHES))
		return 0;
	return (base < QZ_SPIN_FIXED ? turn->registers[base & 15] : 0) + a->at;
}

/*
 * Whether the thread only waits. kernel: the innermost kernel address, 0 in user mode. A thread in the
 * kernel whose code waits in user mode waits as well: it yields there, or was interrupted. caller: the
 * innermost call in user code, 0 when it is not known. on: set to the word that it waits for, where that
 * is known.
 */
static __always_inline bool spin__waits(struct task_struct *task, const struct qz_thread_state *t,
					u64 kernel, u64 caller, u64 *on)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u32 image = t->image, serial = t->serial, written;
	u32 key = serial & (SPIN_TURNS - 1);
	struct spin_turn *turn = bpf_map_lookup_elem(&spin_turns, &key);
	struct qz_spin_address *a;
	bool same;

	if (!turn)
		return false;
	if (kernel && spin__find(0, kernel)) {
		spin__leave(turn, serial);
		return true;
	}
	a = task->mm ? spin__find(image, arch__ip(regs)) : NULL;
	written = a ? a->written : 0;
	if (a && a->flags & QZ_SPIN_BY_CALLER)
		a = caller ? spin__find(image, caller) : NULL;
	if (!a || a->flags & QZ_SPIN_BY_CALLER) {
		spin__leave(turn, serial);
		return false;
	}
	/* one loop may have addresses of either kind: each is the sample before of the next */
	same = spin__confirm(turn, regs, a->start, written | a->written, image, serial);
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
