/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads wait for: futex words, pipes, sockets, files, and locks of the kernel. */
#ifndef QUARTZ_OBJECT_BPF_H
#define QUARTZ_OBJECT_BPF_H

#define USER_BITS      56 /* of addresses, at most */
#define IDENTITY_TRIES 64

static __always_inline struct qz_object_slot *object__get(u32 object)
{
	u32 key = object - 1;

	return bpf_map_lookup_elem(&objects, &key);
}

/* What a thread waits for, and what the first thread that waits for it reports of it. */
struct object_key {
	u64 address;
	u64 space, place, offset; /* what tells it from others, see struct qz_object_slot */
	u32 tag;
	u32 asleep; /* the waiter is not the current thread: its memory cannot be read */
	u32 scope, image, serial, stack;
	u32 op, val;
	s32 fd;
	u32 pad;
};

/* Whether user addresses can be read: only those of the current thread, not those of a sleeper that an iterator visits. */
static __always_inline bool task__is_current(struct task_struct *task)
{
	return (u64)task == bpf_get_current_task();
}

struct futex_wait {
	u64 word;
	bool shared; /* perhaps: the call does not say that it is the process' own */
};

/* What a futex call waits for: of several words, the first one. */
static __always_inline struct futex_wait futex__wait(struct task_struct *task, struct pt_regs *regs)
{
	u64 nr = arch__syscall_nr(regs), word = arch__arg(regs, 1), flags = arch__arg(regs, 2);
	u64 first[3] = {}; /* of struct futex_waitv: val, uaddr, flags */

	if (nr == ARCH_NR_FUTEX_WAIT)
		flags = arch__arg(regs, 4);
	barrier_var(word); /* or two loads become one, of different kinds of memory */
	barrier_var(flags);
	if (nr == ARCH_NR_FUTEX_WAITV) {
		if (!task__is_current(task) ||
		    bpf_probe_read_user(first, sizeof(first), (void *)word))
			return (struct futex_wait) {0};
		word = first[1];
		flags = first[2];
	}
	return (struct futex_wait) {word, !(flags & FUTEX_PRIVATE)};
}

static __always_inline bool object__key_of_inode(struct task_struct *task, u64 fd, u32 tag,
						 u32 scope, struct object_key *key)
{
	struct inode *inode = inode__of_fd(task, fd);

	if (!inode)
		return false;
	key->address = BPF_CORE_READ(inode, i_ino);
	key->place = key->address;
	key->space = (u64)scope << 32 | BPF_CORE_READ(inode, i_sb, s_dev);
	key->tag = tag;
	return key->address != 0;
}

static __always_inline bool object__key_of_word(struct task_struct *task, struct qz_thread_state *t,
						struct pt_regs *regs, struct object_key *key)
{
	struct futex_wait wait = futex__wait(task, regs);

	key->address = wait.word;
	key->tag = QZ_TAG_FUTEX;
	if (wait.shared &&
	    futex_key__get(task, wait.word, t->scope, &key->space, &key->place, &key->offset))
		return true;
	key->space = t->image;
	key->place = wait.word;
	return wait.word != 0;
}

/* In a call that is its own cause: at a file's lock, or at an eventfd. */
static __noinline bool object__key_of_call(struct task_struct *task, u32 scope, u64 fd,
					   struct object_key *key)
{
	u32 tag;

	if (!task || !key)
		return false;
	tag = KERNEL_LOCK_TAG(kernel_lock__find(task, BPF_CORE_READ(task, __state)));
	if (tag == QZ_TAG_POSITION)
		key->offset = (u64)file__of_fd(task, fd);
	if (tag)
		return object__key_of_inode(task, fd, tag, scope, key);
	key->address = key->place = files__event((u64)BPF_CORE_READ(task, files), fd);
	key->tag = QZ_TAG_EVENT;
	key->space = (u64)scope << 32;
	return key->address != 0;
}

/* False for a wait that is not for an object. */
static __always_inline bool object__key(struct task_struct *task, struct qz_thread_state *t,
					u32 cause, struct object_key *key)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	switch (cause) {
	case QZ_WAIT_FUTEX:
		return object__key_of_word(task, t, regs, key);
	case QZ_WAIT_MAP_LOCK:
		key->tag = QZ_TAG_MAP;
		key->space = t->image;
		key->address = task->tgid;
		return true;
	case QZ_WAIT_SYSCALL + ARCH_NR_FLOCK:
		return object__key_of_inode(task, arch__arg(regs, 1), QZ_TAG_FLOCK, t->scope, key);
	case QZ_WAIT_SYSCALL + ARCH_NR_FCNTL:
		return object__key_of_inode(task, arch__arg(regs, 1), QZ_TAG_RECORD, t->scope, key);
	case QZ_WAIT_SYSCALL + ARCH_NR_SEMOP:
	case QZ_WAIT_SYSCALL + ARCH_NR_SEMTIMEDOP:
		key->tag = QZ_TAG_SEMAPHORES;
		key->space = (u64)t->scope << 32;
		key->address = key->place = (u64)(u32)arch__arg(regs, 1) + 1;
		return true;
	}
	if (cause >= QZ_WAIT_SYSCALL)
		return object__key_of_call(task, t->scope, arch__arg(regs, 1), key);
	if (!syscall__has_fd(arch__syscall_nr(regs)))
		return false;
	switch (cause) {
	case QZ_WAIT_PIPE:
		return object__key_of_inode(task, arch__arg(regs, 1), QZ_TAG_PIPE, t->scope, key);
	case QZ_WAIT_SOCKET:
		return object__key_of_inode(task, arch__arg(regs, 1), QZ_TAG_SOCKET, t->scope, key);
	case QZ_WAIT_DISK:
		return object__key_of_inode(task, arch__arg(regs, 1), QZ_TAG_FILE, t->scope, key);
	}
	return false;
}

/* Of a slot just taken: what it is of, at once, for others who come there wait for that. */
static __always_inline void object__identify(struct qz_object_slot *slot,
					     const struct object_key *key)
{
	slot->tag = key->tag;
	slot->space = key->space;
	slot->place = key->place;
	slot->offset = key->offset;
	barrier();
	*(volatile u32 *)&slot->stored = QZ_OBJECT_IDENTIFIED;
}

/*
 * Whether a slot with the same hash is of this object. Who has taken it tells after a few instructions, unless
 * it is the one that we interrupt, or its processor is stopped: the object then has two slots.
 */
__noinline int object__is(struct qz_object_slot *slot, struct object_key *key)
{
	if (!slot || !key)
		return false;
	for (int i = 0; i < IDENTITY_TRIES; i++)
		if (*(const volatile u32 *)&slot->stored)
			break;
	if (!*(const volatile u32 *)&slot->stored)
		return false;
	barrier();
	return !((slot->tag ^ key->tag) | (slot->space ^ key->space) | (slot->place ^ key->place) |
		 (slot->offset ^ key->offset));
}

static __always_inline void object__fill(struct qz_object_slot *slot, const struct object_key *key)
{
	slot->address = key->address;
	slot->scope = key->scope;
	slot->image = key->image;
	slot->serial = key->serial;
	slot->stack = key->stack;
	slot->op = key->op;
	slot->val = key->val;
	slot->fd = key->fd;
	slot->nbytes = 0;
	if (key->tag == QZ_TAG_FUTEX && !key->asleep &&
	    !bpf_probe_read_user(slot->bytes, QZ_WORD_BYTES, (void *)key->address))
		slot->nbytes = QZ_WORD_BYTES;
	barrier();
	*(volatile u32 *)&slot->stored = key->asleep ? QZ_OBJECT_ASLEEP : QZ_OBJECT_STORED;
}

/* Whether the first waiter slept when it was found, and this one, who knows more, is to fill anew. */
static __always_inline bool object__refill(struct qz_object_slot *slot,
					   const struct object_key *key)
{
	return *(volatile u32 *)&slot->stored == QZ_OBJECT_ASLEEP && !key->asleep &&
	       __sync_val_compare_and_swap(&slot->stored, QZ_OBJECT_ASLEEP, QZ_OBJECT_REFILLED) ==
		       QZ_OBJECT_ASLEEP;
}

enum object_probe { OBJECT_OTHER = -1, OBJECT_NO_SHARE = -2, OBJECT_NO_ROOM = -3 };

/* Looks for an object in a slot, which it takes when it is free: its index where it is there, or why not. */
__noinline int object__probe(struct object_key *key, u64 hash, u32 at)
{
	u32 index = at & (QZ_OBJECT_SLOTS - 1);
	struct qz_object_slot *slot = bpf_map_lookup_elem(&objects, &index);
	u64 taken;

	if (!slot || !key)
		return OBJECT_NO_ROOM;
	if (!*(volatile u64 *)&slot->hash &&
	    !quota__take(key->scope, QZ_SHARE_OBJECTS, QZ_OBJECT_SLOTS))
		return OBJECT_NO_SHARE;
	taken = slot__take(&slot->hash, hash);
	if (taken && (taken != hash || !object__is(slot, key)))
		return OBJECT_OTHER;
	if (!taken) {
		used__mark(USED_OBJECTS, index); /* before others can find it */
		object__identify(slot, key);
	}
	if (!taken || object__refill(slot, key))
		object__fill(slot, key);
	return index;
}

/* The number of an object, which is made when it is a new one; 0: there is no room. */
__noinline u32 object__number(struct object_key *key)
{
	int found = OBJECT_OTHER;
	struct qz_control *ctl;
	u64 hash;

	if (!key)
		return 0;
	hash = mix(mix(mix(key->tag, key->space), key->place), key->offset);
	if (hash <= QZ_OBJECT_RETIRED)
		hash = QZ_OBJECT_RETIRED + 1;
	for (u32 i = 0; i < PROBES && found == OBJECT_OTHER; i++)
		found = object__probe(key, hash, first_slot(hash) + i);
	if (found >= 0)
		return found + 1;
	ctl = control__get();
	if (ctl && found != OBJECT_NO_SHARE)
		__sync_fetch_and_add(&ctl->objects_full, 1);
	return 0;
}

/*
 * The number of a word that the thread spins on, 0 for none: the same that it has when threads sleep
 * there. As of a sleeper that was found, the next one who goes to sleep there tells more of it.
 */
static __noinline u32 object__spun(struct qz_thread_state *t, u64 word)
{
	struct object_key key = {.address = word, .place = word, .tag = QZ_TAG_FUTEX};

	if (!t || !word || word >> USER_BITS)
		return 0;
	key.space = t->image;
	key.asleep = true;
	key.scope = t->scope;
	key.image = t->image;
	key.serial = t->serial;
	key.stack = QZ_WAIT_RUNNING;
	key.op = QZ_OP_SPUN;
	return object__number(&key);
}

/* The number of what the current thread is about to wait for, or one found asleep does; 0: none. */
static __noinline u32 object__of_wait(struct task_struct *task, struct qz_thread_state *t,
				      u32 cause, u32 stack)
{
	struct object_key key = {.stack = stack};
	struct pt_regs *regs;

	if (!task || !t || !object__key(task, t, cause, &key))
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	key.asleep = !task__is_current(task);
	key.scope = t->scope;
	key.image = t->image;
	key.serial = t->serial;
	key.op = arch__arg(regs, 2);
	key.val = arch__arg(regs, 3);
	key.fd = arch__arg(regs, 1);
	return object__number(&key);
}

#endif
