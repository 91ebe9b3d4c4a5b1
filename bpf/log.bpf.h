/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of the scheduler (quartz/log.h): programs that write down what happened, each in the log of its own processor,
 * and decide nothing. What it means is worked out by core/replay.
 */
#ifndef QUARTZ_LOG_BPF_H
#define QUARTZ_LOG_BPF_H

#include "quartz/log.h"

const volatile bool
	log_follows_all; /* every thread is in the log; else those of followed processes */
const volatile bool
	switch_tells_state; /* sched_switch has the state that decided as its fourth argument: since Linux 5.18 */
const volatile __u32 nr_log_records = 1; /* of one processor, a power of two */

struct log_entries {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__uint(value_size, sizeof(struct qz_log_record));
};

/* Key: processor. The logs are made by quartzd, of processors that are online; one that has none writes nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct log_entries);
} logs SEC(".maps");

#define FOLLOWED_BITS (4u << 20) /* the kernel's own limit of process numbers */

/* A bit for each process number: it is followed. Written at fork, at the end of processes, and when they are found. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} followed SEC(".maps");

/* Places that stand in the log since when; by hash. Any processor may write an entry, which is seldom. */
struct log_site {
	u32 site;
	u32 told; /* in units of 2^LOG_SITE_SHIFT ns */
};

#define LOG_SITES      65536 /* a power of two */
#define LOG_SITE_SHIFT 27
#define LOG_SITE_AGE   8 /* units, about a second: what stands behind a hash may change */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct log_site);
} log_sites SEC(".maps");

/* Wakes the reader: once in a while, when a log is half full. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} log_alarms SEC(".maps");

/* ---- who is followed ---- */

static __always_inline u64 *followed__word(u32 tgid)
{
	u32 key = tgid / 64;

	return bpf_map_lookup_elem(&followed, &key);
}

static __always_inline bool followed__has(const struct task_struct *task)
{
	u32 tgid = task->tgid;
	u64 *word = followed__word(tgid);

	return word && *word >> tgid % 64 & 1;
}

static __always_inline void followed__set(u32 tgid, bool on)
{
	u64 *word = followed__word(tgid), bit = 1ull << tgid % 64;

	if (word && on)
		__sync_fetch_and_or(word, bit);
	else if (word)
		__sync_fetch_and_and(word, ~bit);
}

static __always_inline bool log__wants(const struct task_struct *task)
{
	return log_follows_all || followed__has(task);
}

#define KTHREADD 2 /* whose the kernel's own threads are in the log */

static __always_inline u32 log__process(const struct task_struct *task)
{
	return task->flags & PF_KTHREAD_BIT ? KTHREADD : (u32)task->tgid;
}

/* ---- writing ---- */

struct log_place {
	void *entries;
	struct qz_log_head *head;
};

/* False: this processor has no log, or it is off. */
static __always_inline bool log__open(struct log_place *log)
{
	u32 cpu = bpf_get_smp_processor_id(), zero = 0;

	log->entries = bpf_map_lookup_elem(&logs, &cpu);
	if (!log->entries)
		return false;
	log->head = bpf_map_lookup_elem(log->entries, &zero);
	return log->head && log->head->on;
}

static __always_inline struct qz_log_record *log__entry(struct log_place *log, u64 number)
{
	u32 key = QZ_LOG_FIRST + (number & (nr_log_records - 1));

	return bpf_map_lookup_elem(log->entries, &key);
}

/* Another program may interrupt this one where interrupts are on, writes its record then, and is done. */
static __always_inline void log__begin(struct qz_log_head *head)
{
	*(volatile u32 *)&head->busy += 1;
}

static __always_inline void log__alarm(struct qz_log_head *head)
{
	u32 cpu = bpf_get_smp_processor_id();

	head->woke = 1;
	bpf_ringbuf_output(&log_alarms, &cpu, sizeof(cpu), BPF_RB_FORCE_WAKEUP);
}

static __always_inline void log__end(struct qz_log_head *head)
{
	barrier();
	*(volatile u32 *)&head->busy -= 1;
	if (head->next - *(volatile u64 *)&head->read > nr_log_records / 2 && !head->woke)
		log__alarm(head);
}

/* The next record, where nothing can interrupt: at switches and wake-ups, whose interrupts are off. */
static __always_inline struct qz_log_record *log__next(struct log_place *log)
{
	u64 number = log->head->next;

	*(volatile u64 *)&log->head->next = number + 1;
	return log__entry(log, number);
}

/* The same where a wake-up may come between. */
static __always_inline struct qz_log_record *log__next_interrupted(struct log_place *log)
{
	return log__entry(log, __sync_fetch_and_add(&log->head->next, 1));
}

static __always_inline void log__fill(struct qz_log_record *r, u8 kind, u8 state, u16 cause,
				      u32 tid, u32 other)
{
	r->time = bpf_ktime_get_ns();
	r->tid = tid;
	r->kind = kind;
	r->state = state;
	r->cause = cause;
	r->other = other;
	r->site = 0;
	r->object = 0;
}

/* A record of what happens in the life of a thread, if it is followed. */
static __always_inline void log__write(struct task_struct *task, u8 kind, u32 other, u32 site,
				       u64 object)
{
	struct qz_log_record *r;
	struct log_place log;

	if (!log__wants(task) || !log__open(&log))
		return;
	log__begin(log.head);
	r = log__next_interrupted(&log);
	if (r) {
		log__fill(r, kind, 0, 0, task->pid, other);
		r->site = site;
		r->object = object;
	}
	log__end(log.head);
}

static __always_inline void log__write_comm(struct task_struct *task, u8 kind, const char *comm)
{
	struct qz_log_record *r;
	struct log_place log;

	if (!log__wants(task) || !log__open(&log))
		return;
	log__begin(log.head);
	r = log__next_interrupted(&log);
	if (r) {
		log__fill(r, kind, 0, 0, task->pid, 0);
		bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), comm);
	}
	log__end(log.head);
}

/* ---- waits ---- */

/* Never 0. */
static __always_inline u32 log__site(const struct pt_regs *regs)
{
	u64 place = mix(mix(arch__syscall_nr(regs), arch__arg(regs, 1)), arch__sp(regs));

	return first_slot(mix(place, arch__ip(regs))) | 1;
}

/* Whether what stands behind the hash was told shortly ago; if not it is to be told now. */
static __always_inline bool log__knows(u32 site, u64 now)
{
	u32 key = site >> 1 & (LOG_SITES - 1), told = now >> LOG_SITE_SHIFT;
	struct log_site *s = bpf_map_lookup_elem(&log_sites, &key);

	if (!s || (s->site == site && told - s->told < LOG_SITE_AGE))
		return s;
	s->site = site;
	s->told = told;
	return false;
}

/* Tells what stands behind a hash, of the thread that is about to leave. A function of its own: it is called seldom. */
static __noinline int log__tell_site(struct task_struct *task, u32 site, u32 state)
{
	struct qz_thread_state *t;
	struct object_key key = {};
	struct qz_log_record *r;
	struct log_place log;
	u32 cause, place = 0;

	if (!task || !log__open(&log))
		return 0;
	t = thread__find(task);
	cause = wait_cause__find(task, state);
	if (t) {
		struct qz_wait_site *at = wait_account__at(t, wait_account__site(t));

		place = QZ_LOG_PLACE(at->stack, at->object);
		object__key(task, t, cause, &key);
	}
	r = log__next(&log);
	if (!r)
		return 0;
	log__fill(r, QZ_LOG_SITE, key.tag, cause, task->pid, place);
	r->site = site;
	r->object = key.address;
	return 0;
}

/* The word that a thread waits at, and what stands where glibc's mutexes have their owner. */
static __always_inline u64 log__word(const struct pt_regs *regs)
{
	u32 words[3] = {};

	if (!syscall__is_futex(arch__syscall_nr(regs)))
		return 0;
	bpf_probe_read_user(words, sizeof(words), (void *)arch__arg(regs, 1));
	return words[0] | (u64)words[2] << 32;
}

/* ---- programs ---- */

static __always_inline u32 switch__state(unsigned long long *ctx, const struct task_struct *prev)
{
	return switch_tells_state ? (u32)ctx[3] : prev->__state;
}

SEC("tp_btf/sched_switch")
int log_switch(unsigned long long *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	u32 state = (bool)ctx[0] ? 0 : switch__state(ctx, prev), site = 0;
	bool own = log__wants(prev);
	struct qz_log_record *r;
	struct pt_regs *regs;
	struct log_place log;
	u64 object = 0;

	if ((!own && !log__wants(next)) || !log__open(&log))
		return 0;
	log__begin(log.head);
	if (state & TASK_DEAD_BIT) {
		object = prev->se.sum_exec_runtime;
	} else if (state && own && prev->mm) {
		regs = (struct pt_regs *)bpf_task_pt_regs(prev);
		site = log__site(regs);
		if (!log__knows(site, bpf_ktime_get_ns()))
			log__tell_site(prev, site, state);
		object = log__word(regs);
	}
	r = log__next(&log);
	if (r) {
		log__fill(r, QZ_LOG_SWITCH,
			  state & TASK_DEAD_BIT ? QZ_LOG_DEAD
			  : state		? QZ_LOG_BLOCKED
						: QZ_LOG_PREEMPTED,
			  0, prev->pid, next->pid);
		r->site = site;
		r->object = object;
	}
	log.head->running = next->pid;
	log__end(log.head);
	return 0;
}

/* Calls that wake who waits for a futex are one cause, as waits are. */
static __always_inline u32 log__call(s64 nr)
{
	if (nr >= 0 && (syscall__is_futex(nr) || nr == ARCH_NR_EXIT))
		return QZ_WAIT_FUTEX;
	return nr >= 0 && nr < QZ_WAIT_CAUSES - QZ_WAIT_SYSCALL ? QZ_WAIT_SYSCALL + nr : 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(log_waking, struct task_struct *task)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct qz_log_record *r;
	struct log_place log;
	s64 nr = -1;

	if (!log__wants(task) || !log__open(&log))
		return 0;
	if (!(waker->flags & PF_KTHREAD_BIT))
		nr = arch__native_nr(task__syscall(waker));
	log__begin(log.head);
	/* who wakes itself, about to sleep, may be interrupted */
	r = waker == task ? log__next_interrupted(&log) : log__next(&log);
	if (r)
		log__fill(r, QZ_LOG_WAKING, nr < 0 ? QZ_LOG_BY_INTERRUPT : QZ_LOG_BY_CALL,
			  log__call(nr), task->pid, waker->pid);
	log__end(log.head);
	return 0;
}

/* Whether the processes that a thread starts are followed. */
static __always_inline bool task__is_followed_on(struct task_struct *task)
{
	struct qz_thread_state *t = thread__find(task);
	struct qz_scope_state *s = t ? scope__get(t->scope) : NULL;

	return s && s->follows;
}

/* Not sched_process_fork: threads that the kernel makes in a process, for io_uring, come without that. */
SEC("tp_btf/task_newtask")
int BPF_PROG(log_fork, struct task_struct *child)
{
	struct task_struct *parent = bpf_get_current_task_btf();

	if (!log_follows_all && child->tgid != parent->tgid)
		followed__set(child->tgid, task__is_followed_on(parent));
	log__write(child, QZ_LOG_FORK, parent->pid, log__process(child), 0);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(log_exec, struct task_struct *task, pid_t old)
{
	log__write(task, QZ_LOG_EXEC, old, 0, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(log_exit, struct task_struct *task)
{
	log__write_comm(task, QZ_LOG_EXIT, task->comm);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(log_name, struct task_struct *task, const char *comm)
{
	log__write_comm(task, QZ_LOG_NAME, comm);
	return 0;
}

/* Its number may be another one's from now on, which is not followed for that. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(log_free, struct task_struct *task)
{
	if (!log_follows_all && task->pid == task->tgid)
		followed__set(task->tgid, false);
	return 0;
}

/* ---- what is there already ---- */

static __always_inline void log__found(struct bpf_iter__task *ctx, struct task_struct *task)
{
	struct qz_log_record r = {};
	bool sleeps = task__sleeps(task);

	log__fill(&r, QZ_LOG_FOUND, sleeps ? QZ_LOG_FOUND_BLOCKED : QZ_LOG_FOUND_RUNNABLE,
		  sleeps ? wait_cause__find(task, BPF_CORE_READ(task, __state)) : 0, task->pid,
		  log__process(task));
	r.object = task->se.sum_exec_runtime;
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	r.kind = QZ_LOG_NAME;
	bpf_probe_read_kernel_str(r.comm, sizeof(r.comm), task->comm);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
}

/* Writes FOUND and NAME of each thread that is to be in the log. They are the reader's: it is interrupted by others here. */
SEC("iter/task")
int log_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task || task->exit_state || (!log_follows_all && !thread__find(task)))
		return 0;
	if (!log_follows_all)
		followed__set(task->tgid, true);
	log__found(ctx, task);
	return 0;
}

#endif
