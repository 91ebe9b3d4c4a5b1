/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of the ring buffer. */
#ifndef QUARTZ_EVENT_BPF_H
#define QUARTZ_EVENT_BPF_H

static __always_inline void event__lost(void)
{
	struct qz_control *ctl = control__get();

	if (ctl)
		__sync_fetch_and_add(&ctl->events_lost, 1);
}

/* The daemon comes by itself; wake it only when it might come too late. */
static __always_inline u64 event__flags(void)
{
	u64 size = bpf_ringbuf_query(&events, BPF_RB_RING_SIZE);

	if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > size / 4)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

static __always_inline void event__begin(struct qz_event *e, u32 type, u32 length, u64 now)
{
	e->type = type;
	e->length = length;
	e->time = now;
}

static __always_inline void registers__read(struct qz_user_registers *to, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	to->ip = arch__ip(regs);
	to->sp = arch__sp(regs);
	to->bp = arch__fp(regs);
}

static __always_inline void event__fill_process(struct qz_process_event *e,
						struct task_struct *task,
						const struct qz_thread_state *t, u32 cause, u64 now)
{
	event__begin(&e->event, QZ_EVENT_PROCESS, sizeof(*e), now);
	e->cause = cause;
	e->image = t->image;
	e->scope = t->scope;
	e->tgid = t->tgid;
	e->start_boottime = BPF_CORE_READ(task, group_leader, start_boottime);
	e->began = t->seen;
	bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), task->comm);
}

/* ns. Of a machine, on which others may start programs without end, less often. */
#define NOTICE_PERIOD	  2000000ull
#define NOTICE_PERIOD_ALL 10000000ull

/* Whether quartzd is to be woken: a wake-up costs more than what it is told. */
static __always_inline bool event__may_wake(struct qz_control *ctl, u64 now)
{
	u64 last = ctl->noticed;

	return now - last >= (every_process ? NOTICE_PERIOD_ALL : NOTICE_PERIOD) &&
	       __sync_val_compare_and_swap(&ctl->noticed, last, now) == last;
}

/* An exec is told soon: the sooner its files are opened, the surer. */
static __always_inline void event__send_process(struct qz_process_event *e)
{
	struct qz_control *ctl = control__get();
	u64 flags = event__flags();

	if (e->cause == QZ_IMAGE_EXEC && ctl && event__may_wake(ctl, e->event.time))
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&events, e, sizeof(*e), flags))
		event__lost();
}

/* Who profiles some processes waits for their end, who profiles the machine does not. */
static __always_inline void event__scope_end(u32 scope, u64 now)
{
	struct qz_scope_event e = {};

	used__mark(USED_ENDED, scope);
	event__begin(&e.event, QZ_EVENT_SCOPE_END, sizeof(e), now);
	e.scope = scope;
	if (bpf_ringbuf_output(&events, &e, sizeof(e),
			       every_process ? event__flags() : BPF_RB_FORCE_WAKEUP))
		event__lost();
}

/*
 * Wakes quartzd because something has been mapped that it has not taken in yet: there is no cheaper
 * way to be told of a library that is being opened.
 */
static __always_inline void event__unknown_code(struct qz_control *ctl, u64 now)
{
	struct qz_event e = {};

	if (!event__may_wake(ctl, now))
		return;
	event__begin(&e, QZ_EVENT_UNKNOWN_CODE, sizeof(e), now);
	bpf_ringbuf_output(&events, &e, sizeof(e), BPF_RB_FORCE_WAKEUP);
}

/* It sleeps as far as was seen. If it is in the queue of a processor by now, it is told when it was woken. */
static __always_inline void thread__describe_queued(struct qz_thread_event *e,
						    struct task_struct *task,
						    struct qz_thread_state *t)
{
	u64 ready, slept;

	if (t->state != QZ_BLOCKED)
		return;
	ready = kernel_account__ready(task, t, read_until);
	if (!ready)
		return;
	slept = read_until - t->since - ready;
	e->ns[QZ_BLOCKED] += slept;
	e->waits[0].blocked_ns += slept;
	e->since += slept;
	e->state = QZ_READY;
}

/* Gives the size of the record. */
static __always_inline u32 thread__describe(struct qz_thread_event *e, struct task_struct *task,
					    struct qz_thread_state *t, bool gone, u64 now)
{
	u32 size = offsetof(struct qz_thread_event, waits);

	size += wait_account__report(e, t, now) * sizeof(e->waits[0]);
	event__begin(&e->event, QZ_EVENT_THREAD_END, size, now);
	e->serial = t->serial;
	e->state = thread__is_single(t) ? QZ_BLOCKED : t->state;
	e->scope = t->scope;
	e->image = t->image;
	e->page = t->page;
	e->slot = t->slot;
	e->claims = t->slot ? t->claims : 0;
	e->gone = gone;
	e->tid = t->tid;
	e->tgid = t->tgid;
	e->seen = t->seen;
	e->since = t->since;
	__builtin_memcpy(e->ns, t->ns, sizeof(e->ns));
	thread__describe_queued(e, task, t);
	e->cpu = t->cpu_in - t->cpu_base;
	bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), task->comm);
	return size;
}

/* One entry per processor: threads end where nothing can come between. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_thread_event);
} ending_thread SEC(".maps");

/* Tells of a thread as it stands. Not 0: there was no room. */
static __always_inline int event__thread(struct task_struct *task, struct qz_thread_state *t,
					 bool gone, u64 now)
{
	struct qz_thread_event *e;
	u32 zero = 0, size;

	e = bpf_map_lookup_elem(&ending_thread, &zero);
	if (!e)
		return -1;
	size = thread__describe(e, task, t, gone, now);
	if (size <= sizeof(*e) && !bpf_ringbuf_output(&events, e, size, event__flags()))
		return 0;
	event__lost();
	return -1;
}

#endif
