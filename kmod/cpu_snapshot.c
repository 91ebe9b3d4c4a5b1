// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all processors that run a target are doing at one instant (Quartz 1990, section 5, wishes
 * for hardware that does this). Each processor is interrupted once, fills its own slot and
 * continues. The caller sleeps until all have answered or the timeout is over. A later answer
 * belongs to a past round and is dropped.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "quartz.h"

/*
 * The answer of one processor. `asked` is the round that still needs an answer.
 * It is set before the interrupt is sent, and exchanged for 0 by the handler, or by the sender if
 * sending failed. So there is at most one answer in a round, and `capture` is complete when
 * `answered` is the round.
 */
struct cpu_slot {
	call_single_data_t csd;
	struct qz_capture capture;
	u32 asked, answered;
};

static DEFINE_PER_CPU(struct cpu_slot, slots);

static struct cpu_slot *slot_of(int cpu)
{
	return per_cpu_ptr(&slots, cpu);
}

/* Serializes snapshots: only its holder may begin a round and send interrupts. */
static DEFINE_MUTEX(snapshot_lock);

/* Upper half: the round, not 0 after the first one. Lower half: its missing answers. */
static atomic64_t outstanding;
static DECLARE_WAIT_QUEUE_HEAD(answers);

static u32 current_round(void)
{
	return upper_32_bits(atomic64_read(&outstanding));
}

/* Counts an answer in the round, unless it is past. Returns whether it was the last one. */
static bool settle(u32 round)
{
	s64 old = atomic64_read(&outstanding);

	do {
		if (upper_32_bits(old) != round)
			return false;
	} while (!atomic64_try_cmpxchg(&outstanding, &old, old - 1));
	return lower_32_bits(old) == 1;
}

/* ---- on the processor that is interrupted ---- */

/* Of a thread in the kernel, the registers with which it entered. */
static void slot_fill(struct cpu_slot *p)
{
	struct qz_capture *c = &p->capture;

	*c = (struct qz_capture) {
		.cpu = smp_processor_id(),
		.time = ktime_get_mono_fast_ns(),
		.tgid = current->tgid,
		.tid = current->pid,
	};
	if (!(current->flags & PF_KTHREAD)) {
		struct pt_regs *user = task_pt_regs(current);

		c->flags |= QZ_CAPTURE_USER;
		c->user_ip = instruction_pointer(user);
		c->user_sp = user_stack_pointer(user);
		c->user_bp = frame_pointer(user);
	}
}

/* Returns whether it was the last answer. */
static bool slot_answer(struct cpu_slot *p)
{
	u32 round = current_round();

	if (cmpxchg(&p->asked, round, 0) != round)
		return false;
	slot_fill(p);
	/* The capture is complete; pairs with copy_captures(). */
	smp_store_release(&p->answered, round);
	return settle(round);
}

static void on_interrupt(void *info)
{
	if (slot_answer(info))
		wake_up(&answers);
}

/* ---- choice of processors ---- */

static int compare_pids(const void *a, const void *b)
{
	const s32 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_target(const s32 *targets, u32 n, s32 tgid)
{
	u32 low = 0;

	while (low < n) {
		u32 at = low + (n - low) / 2;

		if (targets[at] == tgid)
			return true;
		if (targets[at] < tgid)
			low = at + 1;
		else
			n = at;
	}
	return false;
}

/* Adds the processors that run a thread of the target now; they may switch before the interrupt. */
static void add_running(struct cpumask *mask, s32 tgid)
{
	struct task_struct *leader, *thread;

	rcu_read_lock();
	leader = pid_task(find_pid_ns(tgid, &init_pid_ns), PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, thread)
			if (READ_ONCE(thread->on_cpu))
				cpumask_set_cpu(task_cpu(thread), mask);
	rcu_read_unlock();
}

static void choose_cpus(struct cpumask *mask, const struct qz_ioc_snapshot *s, const s32 *targets)
{
	u32 i;

	if (s->flags & QZ_SNAPSHOT_ALL)
		cpumask_copy(mask, cpu_online_mask);
	else
		for (i = 0; i < s->ntargets; i++)
			add_running(mask, targets[i]);
	cpumask_and(mask, mask, cpu_online_mask);
}

/* ---- capturing ---- */

/* The calling processor fills its own slot. Preemption is disabled. */
static void interrupt_all(const struct cpumask *mask, u32 round)
{
	int self = smp_processor_id(), cpu;

	for_each_cpu(cpu, mask) {
		struct cpu_slot *p = slot_of(cpu);
		int err;

		WRITE_ONCE(p->asked, round);
		if (cpu == self) {
			slot_answer(p);
			p->capture.flags |= QZ_CAPTURE_SELF;
			continue;
		}
		err = smp_call_function_single_async(cpu, &p->csd);
		if (err && cmpxchg(&p->asked, round, 0) == round)
			settle(round);
	}
}

/* Interrupts the chosen processors, and sleeps until they have answered or the timeout is over. */
static void capture_all(struct cpumask *mask, const s32 *targets, struct qz_ioc_snapshot *s)
{
	long patience = nsecs_to_jiffies(s->patience_ns) + 1;
	u32 round = current_round() + 1 ?: 1;

	cpus_read_lock();
	choose_cpus(mask, s, targets);
	atomic64_set(&outstanding, (u64)round << 32 | cpumask_weight(mask));
	preempt_disable();
	s->begun = ktime_get_mono_fast_ns();
	interrupt_all(mask, round);
	preempt_enable();
	cpus_read_unlock();
	wait_event_timeout(answers, !lower_32_bits(atomic64_read(&outstanding)), patience);
}

/* ---- results ---- */

static int copy_captures(const struct cpumask *mask, const s32 *targets, struct qz_ioc_snapshot *s)
{
	struct qz_capture __user *to = u64_to_user_ptr(s->captures);
	u64 first = U64_MAX, last = 0;
	u32 round = current_round();
	int cpu;

	s->captured = 0;
	s->missed = 0;
	for_each_cpu(cpu, mask) {
		struct cpu_slot *p = slot_of(cpu);
		struct qz_capture c;

		/* Before the capture is read; pairs with slot_answer(). */
		if (smp_load_acquire(&p->answered) != round) {
			s->missed++;
			continue;
		}
		c = p->capture;
		first = min(first, c.time);
		last = max(last, c.time);
		if (s->captured == s->room ||
		    (!(s->flags & QZ_SNAPSHOT_ALL) && !is_target(targets, s->ntargets, c.tgid)))
			continue;
		if (copy_to_user(&to[s->captured], &c, sizeof(c)))
			return -EFAULT;
		s->captured++;
	}
	s->skew_ns = last > first ? last - first : 0;
	return 0;
}

static int valid(const struct qz_ioc_snapshot *s)
{
	bool all = s->flags & QZ_SNAPSHOT_ALL;

	if (s->flags & ~QZ_SNAPSHOT_ALL)
		return -EINVAL;
	if (s->ntargets > QZ_TARGETS_MAX || (!all && !s->ntargets) || (all && s->ntargets))
		return -EINVAL;
	return s->patience_ns && s->patience_ns <= QZ_PATIENCE_MAX ? 0 : -EINVAL;
}

static int take_locked(struct qz_ioc_snapshot *s, const s32 *targets)
{
	cpumask_var_t mask;
	int err;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	err = mutex_lock_interruptible(&snapshot_lock);
	if (!err) {
		capture_all(mask, targets, s);
		err = copy_captures(mask, targets, s);
		mutex_unlock(&snapshot_lock);
	}
	free_cpumask_var(mask);
	return err;
}

long qz_cpu_snapshot_take(struct qz_ioc_snapshot *s)
{
	s32 *targets;
	int err = valid(s);

	if (err)
		return err;
	targets = memdup_user(u64_to_user_ptr(s->targets), s->ntargets * sizeof(*targets));
	if (IS_ERR(targets))
		return PTR_ERR(targets);
	sort(targets, s->ntargets, sizeof(*targets), compare_pids, NULL);
	err = take_locked(s, targets);
	kfree(targets);
	return err;
}

int qz_cpu_snapshot_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct cpu_slot *p = slot_of(cpu);

		INIT_CSD(&p->csd, on_interrupt, p);
	}
	return 0;
}

/*
 * No snapshot is taken any more, but an interrupt may still be pending. A call to each processor
 * runs after all calls sent before.
 */
static void do_nothing(void *unused)
{
}

void qz_cpu_snapshot_exit(void)
{
	on_each_cpu(do_nothing, NULL, 1);
}
