/* SPDX-License-Identifier: GPL-2.0-only */
/* The user stack of the current thread, for all takers: samples and creations. */
#ifndef QUARTZ_STACK_BPF_H
#define QUARTZ_STACK_BPF_H

/* Whether quartzd has not made other regions since, in the knowledge of it. */
static __always_inline bool remapping__is_new(const struct remapping *r,
					      const struct qz_unwind_image *tables)
{
	return r->first == tables->first || r->when + QZ_UNWIND_MARGIN > tables->known;
}

/* Whether addresses of code that the tables describe were used again. */
static __always_inline bool image__is_remapped(u32 image, const struct qz_unwind_image *tables)
{
	struct remapping *r = bpf_map_lookup_elem(&remapped, &image);

	return r && remapping__is_new(r, tables);
}

/*
 * Stacks with equal addresses in an image, and of one number, are of the same code: in between, no place of code was used
 * again. Where the kernel does not let us see that, each one with stale tables has a number of its own.
 */
static __always_inline u64 image__age(u32 image, const struct qz_unwind_image *tables, bool stale)
{
	struct remapping *r = bpf_map_lookup_elem(&remapped, &image);

	if (stale && tables->exec_vm)
		return bpf_ktime_get_ns();
	return (u64)tables->first << 32 | (r ? r->last : 0);
}

/*
 * Whether the tables of an image may describe code that is gone. Code at new places does not make
 * them wrong. Where the kernel does not let us see that places are used again, any change of the
 * number of executable pages counts; a library at the old place with the same number of pages then
 * goes unnoticed for as long as the kernel's report of it takes to reach quartzd.
 */
static __always_inline bool unwind__is_stale(struct task_struct *task, u32 image,
					     const struct qz_unwind_image *tables)
{
	if (image__is_remapped(image, tables))
		return true;
	return tables->exec_vm && BPF_CORE_READ(task, mm, exec_vm) != tables->exec_vm;
}

/* Of n frames. */
struct frames_hash {
	struct unwinding *u;
	u32 n;
	u64 h;
};

/* As a turn of a loop. */
static long unwind__hash_turn(u32 i, struct frames_hash *f)
{
	if (i >= f->n)
		return 1;
	f->h = mix(f->h, f->u->frames[i & (QZ_ALL_FRAMES - 1)]);
	return 0;
}

/* Takes all of its n frames into a hash. */
__noinline u64 unwind__hash(struct unwinding *u, u32 n, u64 h)
{
	struct frames_hash f = {u, n, h};

	if (!u)
		return h;
	LOOP(QZ_ALL_FRAMES, unwind__hash_turn, &f);
	return f.h;
}

#define CLONE_ARGS_STACK 40 /* of the member `stack` in struct clone_args */

/*
 * Whether a thread that comes from clone or clone3 was given a stack of its own, and is the new one. A global function: what follows is
 * followed once and not for each answer.
 */
__noinline u32 unwind__clone(u64 nr, u64 result, u64 first, u64 second)
{
	u64 stack = nr == ARCH_NR_CLONE ? second : 0;

	if (nr != ARCH_NR_CLONE && nr != ARCH_NR_CLONE3 && nr != ARCH_NR_FORK &&
	    nr != ARCH_NR_VFORK)
		return UNWIND_NO_CLONE;
	if (result)
		return UNWIND_CLONE;
	if (nr == ARCH_NR_CLONE3 &&
	    bpf_probe_read_user(&stack, sizeof(stack), (void *)(first + CLONE_ARGS_STACK)))
		stack = 0;
	return stack ? UNWIND_NEW_STACK : UNWIND_CLONE;
}

/* quartzd has not seen all of the code yet, or not analyzed it: the next walk may come further. */
static __always_inline bool unwind__was_early(const struct unwinding *u)
{
	return u->end == QZ_UNWIND_STALE || u->end == QZ_UNWIND_NO_REGION ||
	       u->end == QZ_UNWIND_NOT_READY || u->asked;
}

/*
 * Walks the user stack of the current thread, whose state is t. False when there are no tables to do it with: then
 * u->end tells why.
 */
static __always_inline bool unwind__current(struct unwinding *u, struct task_struct *task,
					    u32 image, struct qz_thread_state *t)
{
	struct qz_unwind_image *tables = bpf_map_lookup_elem(&unwind_images, &image);
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	bool stale;

	u->depth = 0;
	u->npython = 0;
	u->asked = 0;
	u->age = 0;
	if (!tables) {
		u->end = QZ_UNWIND_NOT_READY;
		return false;
	}
	stale = unwind__is_stale(task, image, tables);
	u->age = image__age(image, tables, stale);
	if (stale) {
		u->end = QZ_UNWIND_STALE;
		return false;
	}
	u->image = *tables;
	u->ip = arch__ip(regs);
	u->sp = arch__sp(regs);
	u->bp = arch__fp(regs);
	u->registers = (u64)regs;
	u->thread_pointer = arch__thread_pointer(task);
	u->at_clone = unwind__clone(arch__syscall_nr(regs), arch__result(regs), arch__arg(regs, 1),
				    arch__arg(regs, 2));
	u->mark = t->mark;
	unwind__walk(u);
	t->mark = u->mark;
	if (!u->at_python)
		return true;
	u->python.image = image;
	u->python.thread = t->python;
	python__walk(u);
	t->python = u->python.thread;
	return true;
}

#endif
