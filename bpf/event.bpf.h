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

/* Whether to wake quartzd. A wake-up costs more than the event. */
static __always_inline bool event__may_wake(struct qz_control *ctl, u64 now)
{
	u64 last = ctl->noticed;

	return now - last >= (every_process ? NOTICE_PERIOD_ALL : NOTICE_PERIOD) &&
	       __sync_val_compare_and_swap(&ctl->noticed, last, now) == last;
}

/* An exec is reported soon: quartzd must open its files before they are gone. */
static __always_inline void event__send_process(struct qz_process_event *e)
{
	struct qz_control *ctl = control__get();
	u64 flags = event__flags();

	if (e->cause == QZ_IMAGE_EXEC && ctl && event__may_wake(ctl, e->event.time))
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&events, e, sizeof(*e), flags))
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

static __always_inline void event__slot(const struct qz_thread_state *t)
{
	struct qz_slot_event e = {
		.serial = t->serial, .page = t->page, .slot = t->slot, .claims = t->claims};

	event__begin(&e.event, QZ_EVENT_SLOT, sizeof(e), bpf_ktime_get_ns());
	if (bpf_ringbuf_output(&events, &e, sizeof(e), event__flags()))
		event__lost();
}

#endif
