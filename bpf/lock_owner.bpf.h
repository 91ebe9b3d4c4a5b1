/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who holds what others queue for. glibc's mutexes have the owner's thread number behind the word,
 * those of priority inheritance and robust ones in it, its locks for reading and writing behind the
 * words of either side, where a writer has it: a running thread that is named there holds the lock.
 * Candidates are the object that the thread itself waited for last, the one at which it woke another
 * thread last, and the one that another waiter found it named at.
 *
 * Of other locks (stdio, malloc, Rust) the word is 2 when it was taken by a thread that had waited, and 1
 * when it was taken by one that found it free, before the one that was woken for it. The first is the
 * one who was woken last, until it is seen to wait again; the second is not known, and the one who
 * let go of the lock last is taken for it, as it mostly is.
 */
#ifndef QUARTZ_LOCK_OWNER_BPF_H
#define QUARTZ_LOCK_OWNER_BPF_H

#define FUTEX_WAIT_CMD	     0
#define FUTEX_LOCK_PI_CMD    6
#define FUTEX_REQUEUE_PI_CMD 11 /* FUTEX_WAIT_REQUEUE_PI */
#define FUTEX_LOCK_PI2_CMD   13
#define FUTEX_WAITERS_BIT    0x80000000u
#define FUTEX_TID	     0x3fffffffu
#define LOCK_TAKEN	     1 /* of locks of three states */
#define LOCK_CONTENDED	     2

struct holder_key {
	u32 image;
	u32 tid; /* as the process knows it */
};

/*
 * Value: the object at which a waiter saw the thread named. Written at switch-outs, read by samples,
 * which look again. Full: the least recently used go.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct holder_key);
	__type(value, u32);
} holders SEC(".maps");

/* The number of a thread in its own pid namespace. */
static __always_inline u32 task__tid(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	u32 level = BPF_CORE_READ(pid, level);
	u32 nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr), &pid->numbers[level].nr);
	return nr;
}

/*
 * The writer that has a lock of glibc's: its number stands 12 bytes behind the word that writers wait
 * at, or 16 behind that of all who wait for a phase to end, where what is at 12 is 0. Behind the
 * writers' word there is a flag at 16; so nobody is taken to be number 1.
 */
static __always_inline u32 lock_owner__writer(const struct qz_object_slot *slot)
{
	u32 words[2] = {}; /* at 12 and 16 */

	if (bpf_probe_read_user(words, sizeof(words), (void *)(slot->address + 12)))
		return 0;
	if (words[0])
		return words[0];
	return words[1] > 1 ? words[1] : 0;
}

/* The thread that the memory of a lock names as its owner, 0 for none. */
static __always_inline u32 lock_owner__find(const struct qz_object_slot *slot, u32 *word)
{
	u32 op = slot->op & FUTEX_COMMAND, words[3] = {};

	if (slot->rwlock)
		return lock_owner__writer(slot);
	if (bpf_probe_read_user(words, sizeof(words), (void *)slot->address))
		return 0;
	*word = words[0];
	if (op == FUTEX_LOCK_PI_CMD || op == FUTEX_LOCK_PI2_CMD || op == FUTEX_REQUEUE_PI_CMD ||
	    (slot->val & FUTEX_WAITERS_BIT && slot->val != ~0u))
		return words[0] & FUTEX_TID;
	return words[2];
}

/* A waiter tells whom it finds named. */
static __always_inline void lock_owner__note(struct qz_thread_state *t, u32 object)
{
	struct qz_object_slot *slot = object ? object__get(object) : NULL;
	struct holder_key key = {.image = t->image};
	u32 word = 0, *known;

	if (!slot || slot->tag != QZ_TAG_FUTEX)
		return;
	key.tid = lock_owner__find(slot, &word);
	if (!key.tid || key.tid > FUTEX_TID)
		return;
	known = bpf_map_lookup_elem(&holders, &key);
	if (!known || *known != object)
		bpf_map_update_elem(&holders, &key, &object, BPF_ANY);
}

/*
 * Whether a lock is left as who waits for it leaves it. Where not every wait is looked at, nobody may be known to
 * stand in its queue.
 */
static __always_inline bool lock_owner__is_contended(const struct qz_object_slot *slot, u32 word)
{
	return (slot->op & FUTEX_COMMAND) == FUTEX_WAIT_CMD && word && word == slot->val;
}

/* Whether the running thread holds the object, and others wait. */
__noinline int lock_owner__holds(struct qz_thread_state *t, u32 object, u32 tid)
{
	u32 key = object - 1, word = 0, owner;
	bool queued;
	struct qz_object_figures *f = bpf_map_lookup_elem(&object_figures, &key);
	struct qz_object_slot *slot = object__get(object);

	if (!t || !f || !slot || slot->tag != QZ_TAG_FUTEX)
		return false;
	queued = *(volatile u64 *)&f->queue & QZ_LEVEL_MASK;
	if (!queued && !wait_spacing)
		return false;
	owner = lock_owner__find(slot, &word);
	if (!queued && !lock_owner__is_contended(slot, word))
		return false;
	if (owner == tid)
		return true;
	if ((slot->op & FUTEX_COMMAND) != FUTEX_WAIT_CMD || slot->val != LOCK_CONTENDED)
		return false;
	return word == LOCK_CONTENDED ? f->acquirer == t->serial
				      : word == LOCK_TAKEN && f->releaser == t->serial;
}

/* The object that the current thread holds while others queue for it, 0 for none. */
static __noinline u32 lock_owner__held(struct task_struct *task, struct qz_thread_state *t)
{
	struct holder_key key = {};
	u32 *noted, last;

	if (!task || !t)
		return 0;
	key.image = t->image;
	key.tid = task__tid(task);
	last = t->waiting.acquired;
	if (last && lock_owner__holds(t, last, key.tid))
		return last;
	if (t->waiting.released != last && t->waiting.released &&
	    lock_owner__holds(t, t->waiting.released, key.tid))
		return t->waiting.released;
	noted = bpf_map_lookup_elem(&holders, &key);
	if (noted && *noted != last && lock_owner__holds(t, *noted, key.tid))
		return *noted;
	return 0;
}

#endif
