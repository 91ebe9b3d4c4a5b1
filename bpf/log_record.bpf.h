/* SPDX-License-Identifier: GPL-2.0-only */
/* The logs of the processors (quartz/log.h), and how a record is written. */
#ifndef QUARTZ_LOG_RECORD_BPF_H
#define QUARTZ_LOG_RECORD_BPF_H

#include "quartz/log.h"

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

/* Wakes the reader: once in a while, when a log is half full. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} log_alarms SEC(".maps");

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
	return log->head && log->head->on && !frozen;
}

/* Between two windows. */
static __always_inline bool log__rests(struct log_place *log)
{
	return log__open(log) && log->head->on == QZ_LOG_LIVES;
}

/* Switches and wake-ups are written, too. */
static __always_inline bool log__follows(struct log_place *log)
{
	return log__open(log) && log->head->on == QZ_LOG_ON;
}

static __always_inline struct qz_log_record *log__entry(struct log_place *log, u64 number)
{
	u32 key = QZ_LOG_FIRST + (number & (nr_log_records - 1));

	return bpf_map_lookup_elem(log->entries, &key);
}

/*
 * To be called before the clock is read: a reader that finds `busy` 0 then has all earlier records. Where interrupts are
 * enabled, another program can interrupt this one. It writes its record and returns before this one continues.
 */
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

/* The next record, where a wake-up or a sample may come between. */
static __always_inline struct qz_log_record *log__next_interrupted(struct log_place *log)
{
	return log__entry(log, __sync_fetch_and_add(&log->head->next, 1));
}

/* The same where nothing can: at switches and wake-ups, whose interrupts are off. */
static __always_inline struct qz_log_record *log__next(struct log_place *log)
{
	u64 number = log->head->next;

	*(volatile u64 *)&log->head->next = number + 1;
	return log__entry(log, number);
}

static __always_inline void log__fill(struct qz_log_record *r, u64 now, u8 kind, u8 state,
				      u16 cause, u32 tid, u32 other)
{
	r->time = now;
	r->tid = tid;
	r->kind = kind;
	r->state = state;
	r->cause = cause;
	r->other = other;
	r->site = 0;
	r->object = 0;
}

/* A record now, where another one may come between; comm NULL: none. */
static __always_inline void log__put(const struct task_struct *task, u8 kind, u8 state, u16 cause,
				     u32 other, u32 site, u64 object, const char *comm)
{
	struct qz_log_record *r;
	struct log_place log;

	if (!log__open(&log))
		return;
	log__begin(log.head);
	r = log__next_interrupted(&log);
	if (r) {
		log__fill(r, bpf_ktime_get_ns(), kind, state, cause, task->pid, other);
		r->site = site;
		r->object = object;
		if (comm)
			bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), comm);
	}
	log__end(log.head);
}

/* A record of what happens in the life of a thread, if it is followed; comm NULL: none. */
static __always_inline void log__write(const struct task_struct *task, u8 kind, u32 other, u32 site,
				       u64 object, const char *comm)
{
	if (log__wants(task))
		log__put(task, kind, 0, 0, other, site, object, comm);
}

static __always_inline void log__identify(struct task_struct *task, const struct qz_thread_state *t)
{
	if (t && pid_namespace)
		log__write(task, QZ_LOG_NUMBERS, t->tid, t->tgid, 0, NULL);
	if (t)
		log__write(task, QZ_LOG_IDENTITY, task__tid(task), t->scope,
			   QZ_LOG_WHO(t->serial, t->image), NULL);
}

/* Writes a record into what the reader of an iterator gets. It is in no processor's log. */
static __always_inline void log__tell(struct seq_file *seq, struct qz_log_record *r, u8 kind,
				      u32 other, u32 site, u64 object)
{
	r->kind = kind;
	r->other = other;
	r->site = site;
	r->object = object;
	bpf_seq_write(seq, r, sizeof(*r));
}

#endif
