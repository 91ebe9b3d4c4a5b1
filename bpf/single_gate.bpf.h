/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads at whose switches and wake-ups there is nothing to do, known without a look at their state, which is mostly
 * not in the cache: those that are alone in their process (bpf/single.bpf.h), are in no wait that is looked at, and
 * wait often enough that most of their waits are passed (bpf/wait_gate.bpf.h). Of two threads whose numbers collide
 * one has no entry, and its state is looked at.
 */
#ifndef QUARTZ_SINGLE_GATE_BPF_H
#define QUARTZ_SINGLE_GATE_BPF_H

/* Of the number of a thread, which has 22 bits at most; below the rest of it, log2 of waits for one that is looked at. */
#define GATE_BITS 16
#define GATE_STEP 4

/* What is to be done with a wait: CLOSED, the state of the thread knows. */
enum gate { GATE_CLOSED, GATE_PASSES, GATE_LOOKS };

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
	return (u32)task->pid >> GATE_BITS << GATE_STEP;
}

/* 0: its state is to be looked at. */
static __always_inline u32 single_gate__step(const struct task_struct *task)
{
	u16 step;

	if (!wanted_singles)
		return 0;
	step = *single_gate__entry(task) ^ single_gate__tag(task);
	return step < 1 << GATE_STEP ? step : 0;
}

static __always_inline void single_gate__open(const struct task_struct *task, u32 step)
{
	u16 entry = step ? single_gate__tag(task) | step : 0;

	if (*single_gate__entry(task) != entry)
		*single_gate__entry(task) = entry;
}

static __always_inline void single_gate__close(const struct task_struct *task)
{
	*single_gate__entry(task) = 0;
}

#endif
