/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads at whose switches and wake-ups there is nothing to do, known without a look at their state, which is mostly
 * not in the cache: those that are alone in their process (bpf/single.bpf.h), and are in no wait that is looked at. Which
 * of their waits are passed is known here, too (bpf/wait_gate.bpf.h). Of two threads whose numbers collide one has no
 * entry, and its state is looked at.
 */
#ifndef QUARTZ_SINGLE_GATE_BPF_H
#define QUARTZ_SINGLE_GATE_BPF_H

/* Of the number of a thread, which has 22 bits at most. */
#define GATE_BITS 16
/* An entry: log2 of waits for one that is looked at, the rest of the number, the same of preemptions, and that it is there. */
#define GATE_STEP	   15
#define GATE_TAG_SHIFT	   4
#define GATE_PREEMPT_SHIFT 10
#define GATE_KNOWN	   0x4000
#define GATE_SKIPPED	   0x8000 /* only while switches are skipped there is nothing to do */

/* What is to be done with a wait: CLOSED, the state of the thread knows; SKIPS, nothing. */
enum gate { GATE_CLOSED, GATE_PASSES, GATE_LOOKS, GATE_SKIPS };

/* 0: nobody's. Read by all processors, seldom written. */
__u16 single_gates[1 << GATE_BITS];

static __always_inline u32 single_gate__index(const struct task_struct *task)
{
	return (u32)task->pid & ((1 << GATE_BITS) - 1);
}

static __always_inline volatile u16 *single_gate__entry(const struct task_struct *task)
{
	return &single_gates[single_gate__index(task)];
}

static __always_inline u16 single_gate__tag(const struct task_struct *task)
{
	return GATE_KNOWN | (u32)task->pid >> GATE_BITS << GATE_TAG_SHIFT;
}

/* 0: the state of the thread is to be looked at. */
static __always_inline u16 single_gate__get(const struct task_struct *task)
{
	u16 entry = wanted_singles ? *single_gate__entry(task) : 0;
	u16 rest = entry ^ single_gate__tag(task);

	return rest & ~(GATE_STEP | GATE_STEP << GATE_PREEMPT_SHIFT) ? 0 : entry;
}

/* Whether there is nothing to do when the thread comes to a processor while switches are skipped. */
static __always_inline bool single_gate__is_skipped(const struct task_struct *task)
{
	u16 rest = *single_gate__entry(task) ^ single_gate__tag(task);

	return !(rest & ~(GATE_STEP | GATE_STEP << GATE_PREEMPT_SHIFT | GATE_SKIPPED));
}

/* The step of its waits, or of its preemptions. */
static __always_inline u32 single_gate__step(u16 entry, bool preempted)
{
	return entry >> (preempted ? GATE_PREEMPT_SHIFT : 0) & GATE_STEP;
}

static __always_inline void single_gate__open(const struct task_struct *task,
					      const struct qz_thread_state *t)
{
	u16 entry = single_gate__tag(task) | t->waiting.step | (t->skipped ? GATE_SKIPPED : 0) |
		    wait_gate__preempted_step(&t->waiting) << GATE_PREEMPT_SHIFT;

	if (*single_gate__entry(task) != entry)
		*single_gate__entry(task) = entry;
}

/* Of a thread without a state: none of its waits is to be looked at. */
static __always_inline void single_gate__open_unknown(const struct task_struct *task)
{
	*single_gate__entry(task) = single_gate__tag(task) | GATE_STEP |
				    GATE_STEP << GATE_PREEMPT_SHIFT;
}

static __always_inline void single_gate__close(const struct task_struct *task)
{
	*single_gate__entry(task) = 0;
}

#endif
