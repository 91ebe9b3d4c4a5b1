/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs that write the log of the scheduler (quartz/log.h), each in the log of its own processor. They decide nothing:
 * core/replay computes what the records mean.
 */
#ifndef QUARTZ_LOG_BPF_H
#define QUARTZ_LOG_BPF_H

/*
 * Since Linux 5.18 (fa2c3254d7cf), sched_switch has the state of the leaving thread as a fourth argument. Whether the
 * kernel has a type with these arguments tells. Can go when 5.17 is not supported any more.
 */
typedef void (*btf_trace_sched_switch___with_state)(void *, bool, struct task_struct *,
						    struct task_struct *, unsigned int);

/* Sites whose SITE record was written, and when; by hash. All processors write here, but seldom. */
struct log_site {
	u32 site;
	u32 told; /* in units of 2^LOG_SITE_SHIFT ns */
};

#define LOG_WALKED                                                                                 \
	1500 /* ns: a program that took longer has walked a stack, or the host stopped it */

#define LOG_SITES      65536 /* a power of two */
#define LOG_SITE_SHIFT 20

/*
 * After so many of these units, the SITE record of a hash is written again, since another object, or another stack of the
 * same depth, may have this hash now. Set by quartzd.
 */
volatile __u32 log_site_age = 1;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct log_site);
} log_sites SEC(".maps");

/* ---- places ---- */

/*
 * A hash of the process, of the thread's place in its program, and of the cause. Never 0. Only the last multiplication
 * needs the results of others, so that the processor can do the rest at the same time.
 */
static __always_inline u32 log__site(u32 tgid, u32 cause, const struct pt_regs *regs)
{
	u64 call = (arch__syscall_nr(regs) << 32 ^ tgid) * 0xff51afd7ed558ccdull;
	u64 stack = arch__sp(regs) * 0x9e3779b97f4a7c15ull;
	u64 place = mix(call ^ arch__arg(regs, 1), stack ^ arch__ip(regs));

	return first_slot(place + cause * 0xc4ceb9fe1a85ec53ull) | 1;
}

/* A thread may be preempted anywhere, so all such places of a thread are one site. */
static __always_inline u32 log__preempted_site(u32 tid)
{
	return first_slot(mix(QZ_WAIT_PREEMPTED, tid)) | 1;
}

/*
 * The site of a wait. The cause is part of it: a stopped or frozen thread may be in a call in which it waited for something
 * else before, and one call may wait for a device and for a lock.
 */
static __always_inline u32 log__waiting_site(struct task_struct *task, u32 state,
					     const struct pt_regs *regs)
{
	u32 cause = wait_cause__of_state(task, state);

	if (!cause && BPF_CORE_READ_BITFIELD(task, in_iowait))
		cause = QZ_WAIT_DISK;
	return log__site(task->tgid, cause, regs);
}

/* The site of a wake-up: another one than that of a wait in the same call. */
static __always_inline u32 log__waking_site(u32 tgid, const struct pt_regs *regs)
{
	return log__site(tgid, QZ_WAIT_RUNNING, regs);
}

/* Whether the SITE record of the hash was written recently. If not, the caller must write it now. */
static __always_inline bool log__knows(u32 site, u64 now)
{
	u32 key = site >> 1 & (LOG_SITES - 1), told = now >> LOG_SITE_SHIFT;
	struct log_site *s = bpf_map_lookup_elem(&log_sites, &key);

	if (!s || (s->site == site && told - s->told < log_site_age))
		return s;
	s->site = site;
	s->told = told;
	return false;
}

/* The unwind tables were not ready for this walk: the next thread at this site is walked, too. */
static __always_inline void log__forget(u32 site)
{
	u32 key = site >> 1 & (LOG_SITES - 1);
	struct log_site *s = bpf_map_lookup_elem(&log_sites, &key);

	if (s)
		s->site = 0;
}

static __always_inline int log__put_site(u32 tid, u32 site, u32 cause, u32 place, u32 object,
					 u64 now)
{
	struct qz_object_slot *slot = object ? object__get(object) : NULL;
	struct qz_log_record *r;
	struct log_place log;

	if (!log__open(&log))
		return 0;
	r = log__next(&log);
	if (!r)
		return 0;
	log__fill(r, now, QZ_LOG_SITE, slot ? slot->tag : 0, cause, tid, place);
	r->site = site;
	r->object = slot ? slot->address : 0;
	return 0;
}

static __always_inline struct qz_log_costs *log__costs(void *entries)
{
	u32 second = 1;

	return bpf_map_lookup_elem(entries, &second);
}

static __always_inline void log__count_walk(u64 now)
{
	struct qz_log_costs *costs;
	struct log_place log;

	if (!log__open(&log))
		return;
	costs = log__costs(log.entries);
	if (!costs)
		return;
	costs->walks++;
	costs->walks_ns += bpf_ktime_get_ns() - now;
}

/* Writes where the current thread, which is about to leave, waits, and for what. Rarely called, hence not inlined. */
static __noinline int log__tell_wait(struct task_struct *task, u32 site, u32 state, u64 now)
{
	u32 stack, object = 0, cause = QZ_WAIT_UNKNOWN;
	struct qz_thread_state *t;

	if (!task)
		return 0;
	t = thread__find(task);
	if (!t)
		return log__put_site(task->pid, site, wait_cause__find(task, state), 0, 0, now);
	stack = wait_stack__walk(task, t, state, &cause);
	cause = *(volatile u32 *)&cause;
	if (wait_stack__asked())
		log__forget(site);
	if (state)
		object = object__of_wait(task, t, cause, stack);
	log__count_walk(now);
	return log__put_site(task->pid, site, cause, QZ_LOG_PLACE(stack, object), object, now);
}

/* Writes where the current thread is, which wakes another one. */
static __noinline int log__tell_waking(struct task_struct *task, u32 site, u64 now)
{
	u32 key = SCRATCH_LEAVING, stack; /* free: no thread leaves during a wake-up */
	struct wait_scratch *w = bpf_map_lookup_elem(&wait_scratch, &key);
	struct qz_thread_state *t;

	if (!task || !w)
		return 0;
	t = thread__find(task);
	if (!t)
		return 0;
	w->image = t->image;
	w->scope = QZ_NO_SCOPE;
	w->cause = QZ_WAIT_RUNNING;
	if (!unwind__current(&w->user, task, t->image, t)) {
		w->user.frames[0] = arch__ip((struct pt_regs *)bpf_task_pt_regs(task));
		w->user.depth = 1;
	}
	wait_stack__count_frames(w);
	stack = running_stack__number(w);
	if (unwind__was_early(&w->user))
		log__forget(site);
	log__count_walk(now);
	return log__put_site(task->pid, site, QZ_WAIT_RUNNING, QZ_LOG_PLACE(stack, 0), 0, now);
}

/*
 * The futex word, and the owner of the lock. glibc stores the owner of a mutex 8 bytes after the word; that of a read-write
 * lock 12 bytes after the word of writers, and 16 bytes after that of threads that wait for the end of a phase, where 1
 * means that there is no owner.
 */
static __always_inline u64 log__futex_word(const struct pt_regs *regs)
{
	u32 words[5] = {}, owner;

	if (bpf_probe_read_user(words, sizeof(words), (void *)arch__arg(regs, 1)))
		bpf_probe_read_user(words, 3 * sizeof(u32), (void *)arch__arg(regs, 1));
	owner = words[2];
	if (!owner)
		owner = words[4] > 1 ? words[4] : words[3];
	return words[0] | (u64)owner << 32;
}

/* For a lock of the kernel, only the holder. */
static __always_inline u64 log__word(struct task_struct *task, u32 state,
				     const struct pt_regs *regs)
{
	if (syscall__is_futex(arch__syscall_nr(regs)))
		return log__futex_word(regs);
	return (u64)KERNEL_LOCK_HOLDER(kernel_lock__find(task, state)) << 32;
}

/* ---- switches and wake-ups ---- */

static __always_inline u32 switch__state(unsigned long long *ctx, const struct task_struct *prev)
{
	return bpf_core_type_exists(btf_trace_sched_switch___with_state) ? (u32)ctx[3]
									 : prev->__state;
}

/*
 * The site of a thread that leaves its processor but has not ended; writes its SITE record if that is due. 0: it is a thread
 * of the kernel.
 */
static __always_inline u32 log__leave(struct task_struct *prev, u32 state, u64 now, u64 *object)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(prev);
	u32 site;

	if (!prev->mm || prev->flags & PF_KTHREAD_BIT)
		return 0;
	site = state ? log__waiting_site(prev, state, regs) : log__preempted_site(prev->pid);
	if (!log__knows(site, now))
		log__tell_wait(prev, site, state, now);
	if (state)
		*object = log__word(prev, state, regs);
	return site;
}

/* Times one record in QZ_LOG_TIMED. Walks are counted separately. */
static __always_inline void log__time(struct log_place *log, u64 began)
{
	struct qz_log_costs *costs;
	u64 ns;

	if (log->head->next % QZ_LOG_TIMED)
		return;
	costs = log__costs(log->entries);
	ns = bpf_ktime_get_ns() - began;
	if (costs && ns < LOG_WALKED)
		costs->timed_ns += ns;
}

/* Publishes which thread runs here, for the pollers of page sets on other processors. */
static __always_inline void log__publish(struct task_struct *next)
{
	struct qz_cpu_state *cpu = cpu__this();
	struct qz_thread_state *t = thread__get(next);

	if (!cpu)
		return;
	*(volatile u64 *)&cpu->run |= 1;
	cpu->scope = t ? t->scope : QZ_NO_SCOPE;
	if (!t)
		return;
	cpu__publish(cpu, t);
	cpu->mark += 2;
	*(volatile u64 *)&cpu->run = cpu->mark;
}

volatile bool log_publishes; /* set by quartzd while there are page sets */

SEC("tp_btf/sched_switch")
int log_switch(unsigned long long *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	u32 state = (bool)ctx[0] ? 0 : switch__state(ctx, prev), site = 0;
	bool own = log__wants(prev);
	struct qz_log_record *r;
	struct log_place log;
	u64 object = 0, now;

	/* switches to and from the idle task are written for all threads */
	if ((!own && !log__wants(next) && prev->pid && next->pid) || !log__follows(&log))
		return 0;
	log__begin(log.head);
	now = bpf_ktime_get_ns();
	if (state & TASK_DEAD_BIT)
		object = prev->se.sum_exec_runtime;
	else if (own && prev->pid)
		site = log__leave(prev, state, now, &object);
	r = log__next(&log);
	if (r) {
		log__fill(r, now, QZ_LOG_SWITCH,
			  state & TASK_DEAD_BIT ? QZ_LOG_DEAD
			  : state		? QZ_LOG_BLOCKED
						: QZ_LOG_PREEMPTED,
			  (site ? 0 : QZ_WAIT_KERNEL) |
				  (prev->nr_cpus_allowed == 1 ? QZ_LOG_BOUND : 0),
			  prev->pid, next->pid);
		r->site = site;
		r->object = object;
	}
	if (log_publishes)
		log__publish(next);
	log__time(&log, now);
	log__end(log.head);
	return 0;
}

/* All system calls that wake waiters of a futex are one cause, as waits for futexes are. */
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
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(waker);
	struct qz_log_record *r;
	struct log_place log;
	u32 site = 0;
	s64 nr = -1;
	u64 now;

	if (!log__wants(task) || !log__follows(&log))
		return 0;
	log__begin(log.head);
	now = bpf_ktime_get_ns();
	if (!(waker->flags & PF_KTHREAD_BIT))
		nr = arch__native_nr((s64)arch__syscall_nr(regs));
	if (nr >= 0 && log__wants(waker)) {
		site = log__waking_site(waker->tgid, regs);
		if (!log__knows(site, now))
			log__tell_waking(waker, site, now);
	}
	/* a thread that is about to sleep and wakes itself may be interrupted */
	r = waker == task ? log__next_interrupted(&log) : log__next(&log);
	if (r) {
		log__fill(r, now, QZ_LOG_WAKING, nr < 0 ? QZ_LOG_BY_INTERRUPT : QZ_LOG_BY_CALL,
			  log__call(nr), task->pid, waker->pid);
		r->site = site;
	}
	log__time(&log, now);
	log__end(log.head);
	return 0;
}

/* ---- samples ---- */

/* Writes that the thread which runs here was sampled; number: index of the sample in the buffer. See QZ_LOG_SAMPLE. */
static __always_inline void log__sample(const struct task_struct *task, u32 number, u32 state,
					u32 candidates, u32 stack)
{
	log__put(task, QZ_LOG_SAMPLE, state, candidates, number, stack, 0, NULL);
}

/* ---- lives ---- */

/*
 * Not at sched_process_fork, which is not called for threads that the kernel makes in a process for io_uring. Makes the
 * state of the thread before it can run.
 */
SEC("tp_btf/task_newtask")
int BPF_PROG(log_fork, struct task_struct *child)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	struct qz_thread_state *t;
	struct log_place log;

	if (!log__open(&log)) /* the log has not begun: the thread will be found */
		return 0;
	handle_fork(parent, child);
	t = thread__find(child);
	if (!log_follows_all)
		followed__begin(child, t);
	log__write(child, QZ_LOG_FORK, parent->pid, log__process(child),
		   every_process && child->pid == child->tgid ? task__unit(child) : 0, NULL);
	log__identify(child, t);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(log_exec, struct task_struct *task, pid_t old)
{
	struct qz_thread_state *t;

	handle_exec(task);
	t = thread__find(task);
	log__write(task, QZ_LOG_EXEC, old, 0, t ? QZ_LOG_WHO(0, t->image) : 0, NULL);
	if (t && pid_namespace)
		log__write(task, QZ_LOG_NUMBERS, t->tid, t->tgid, 0, NULL);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(log_exit, struct task_struct *task)
{
	log__put_transfers(task);
	log__write(task, QZ_LOG_EXIT, 0, 0, 0, task->comm);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(log_name, struct task_struct *task, const char *comm)
{
	log__write(task, QZ_LOG_NAME, 0, 0, 0, comm);
	return 0;
}

/* ---- what runs already ---- */

/* quartzd runs this on each processor, in an interrupt: writes which thread runs there. */
SEC("raw_tp")
int log_here(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct qz_cpu_state *cpu = cpu__this();

	if (cpu && !cpu->idle_since && !task->pid)
		cpu->idle_since = bpf_ktime_get_ns();
	if (!task->pid || log__wants(task))
		log__put(task, QZ_LOG_SWITCH, QZ_LOG_PREEMPTED, 0, task->pid, 0, 0, NULL);
	return 0;
}

#endif
