/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads read and wrote: the kernel counts it for each thread, and it is copied to the log when the thread ends, and
 * when quartzd looks. So a call costs nothing.
 */
#ifndef QUARTZ_TRANSFERS_BPF_H
#define QUARTZ_TRANSFERS_BPF_H

/* With CONFIG_TASK_IO_ACCOUNTING. Without read_bytes, which is for that alone, a new thread has the counts of its creator. */
struct task_io_accounting___own {
	u64 rchar, wchar, syscr, syscw, read_bytes;
} __attribute__((preserve_access_index));

struct task_struct___counted {
	struct task_io_accounting___own ioac;
} __attribute__((preserve_access_index));

bool counts_transfers;	       /* the kernel does; set when threads are found */
volatile bool tells_transfers; /* quartzd takes the records of the iterator. Set by quartzd */

static __always_inline bool transfers__are_counted(void)
{
	return bpf_core_field_exists(struct task_io_accounting___own, read_bytes) &&
	       bpf_core_field_exists(struct task_struct___counted, ioac);
}

/* What of it is in a record of this state. */
static __always_inline u64 transfers__calls(const struct task_struct *task, u8 state)
{
	const struct task_struct___counted *t = (const void *)task;

	return state & QZ_LOG_WRITTEN ? t->ioac.syscw : t->ioac.syscr;
}

static __always_inline u64 transfers__bytes(const struct task_struct *task, u8 state)
{
	const struct task_struct___counted *t = (const void *)task;

	return state & QZ_LOG_WRITTEN ? t->ioac.wchar : t->ioac.rchar;
}

/* One that is about to end. */
static __always_inline void transfers__end(const struct task_struct *task, u8 state)
{
	u64 calls = transfers__calls(task, state);

	if (calls)
		log__put(task, QZ_LOG_TRANSFERS, state, 0, calls, calls >> 32,
			 transfers__bytes(task, state), NULL);
}

static __always_inline void log__put_transfers(const struct task_struct *task)
{
	if (!transfers__are_counted() || !log__wants(task))
		return;
	transfers__end(task, QZ_LOG_READ);
	transfers__end(task, QZ_LOG_WRITTEN);
}

/* Tells of a thread that has not ended. */
static __always_inline void transfers__tell(struct seq_file *seq, struct task_struct *task,
					    u8 state)
{
	u64 calls = transfers__calls(task, state);
	struct qz_log_record r = {.time = bpf_ktime_get_ns(), .tid = task->pid, .state = state};

	log__tell(seq, &r, QZ_LOG_TRANSFERS, calls, calls >> 32, transfers__bytes(task, state));
}

/* Unless it has made no such call since. before: 0, or QZ_LOG_BEFORE. */
static __always_inline void log__tell_transfers(struct seq_file *seq, struct task_struct *task,
						struct qz_thread_state *t, u8 before)
{
	u64 calls;

	if (!transfers__are_counted())
		return;
	counts_transfers = true;
	calls = transfers__calls(task, QZ_LOG_READ) + transfers__calls(task, QZ_LOG_WRITTEN);
	if (calls == t->calls)
		return;
	t->calls = calls;
	transfers__tell(seq, task, QZ_LOG_READ | before);
	transfers__tell(seq, task, QZ_LOG_WRITTEN | before);
}

#endif
