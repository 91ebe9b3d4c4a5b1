// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all processors that run a target were doing at one instant (Quartz 1990, section 5, wishes
 * for hardware that does this). Each is interrupted once, notes what it was at in a place of its
 * own and goes on; who asked sleeps until all have answered or its patience is over. An answer that
 * comes later belongs to a round that is past, and is dropped.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
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
#if IS_ENABLED(CONFIG_X86_LOCAL_APIC)
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#include "quartz.h"

/*
 * One processor's place, one for interrupts and one for NMIs, which can come in the middle of a
 * late answer to one of the former. `asked` is the round of which it owes an answer: set before the
 * interrupt is sent, and taken back to 0 by exchange, by the handler that answers or by who could
 * not send. So there is one answer in a round at most, and `capture` is whole when `answered` is
 * the round.
 */
struct place {
	call_single_data_t csd;
	struct qz_capture capture;
	u32 asked, answered;
};

static DEFINE_PER_CPU(struct place[2], places);

static struct place *place_of(int cpu, bool by_nmi)
{
	return per_cpu_ptr(&places[by_nmi], cpu);
}

/* One snapshot at a time: guards who may begin a round, and interrupt. */
static DEFINE_MUTEX(snapshot_lock);

/* The round, never 0 once asked for, above; the answers that it still lacks below. */
static atomic64_t outstanding;
static DECLARE_WAIT_QUEUE_HEAD(answers);

static u32 current_round(void)
{
	return upper_32_bits(atomic64_read(&outstanding));
}

/* One answer less is owed in the round, unless it is past. Gives whether it was the last one. */
static bool settle(u32 round)
{
	s64 old = atomic64_read(&outstanding);

	do {
		if (upper_32_bits(old) != round)
			return false;
	} while (!atomic64_try_cmpxchg(&outstanding, &old, old - 1));
	return lower_32_bits(old) == 1;
}

static void wake_asker(struct irq_work *work)
{
	wake_up(&answers);
}

static DEFINE_IRQ_WORK(waking, wake_asker);

/* ---- on the processor that is interrupted ---- */

/* `regs` are those of the interrupted code, or NULL when only the user's can be had. */
static void place_fill(struct place *p, struct pt_regs *regs)
{
	struct qz_capture *c = &p->capture;

	*c = (struct qz_capture) {
		.cpu = smp_processor_id(),
		.time = ktime_get_mono_fast_ns(),
		.tgid = current->tgid,
		.tid = current->pid,
	};
	if (regs && !user_mode(regs)) {
		c->flags |= QZ_CAPTURE_KERNEL;
		c->kernel_ip = instruction_pointer(regs);
	}
	if (!(current->flags & PF_KTHREAD)) {
		struct pt_regs *user = task_pt_regs(current);

		c->flags |= QZ_CAPTURE_USER;
		c->user_ip = instruction_pointer(user);
		c->user_sp = user_stack_pointer(user);
		c->user_bp = frame_pointer(user);
	}
}

/* Gives whether it was the last answer. */
static bool place_answer(struct place *p, struct pt_regs *regs)
{
	u32 round = current_round();

	if (cmpxchg(&p->asked, round, 0) != round)
		return false;
	place_fill(p, regs);
	/* the capture is whole: give() */
	smp_store_release(&p->answered, round);
	return settle(round);
}

static void on_interrupt(void *info)
{
	if (place_answer(info, NULL))
		wake_up(&answers);
}

#if IS_ENABLED(CONFIG_X86_LOCAL_APIC)
static cpumask_t owing; /* an NMI */

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!cpumask_test_and_clear_cpu(smp_processor_id(), &owing))
		return NMI_DONE;
	if (place_answer(place_of(smp_processor_id(), true), regs))
		irq_work_queue(&waking);
	return NMI_HANDLED;
}

static int nmi_init(void)
{
	return register_nmi_handler(NMI_LOCAL, on_nmi, 0, "quartz");
}

static void nmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "quartz");
}

static int nmi_send(int cpu)
{
	if (cpumask_test_and_set_cpu(cpu, &owing))
		return -EBUSY;
	apic->send_IPI(cpu, NMI_VECTOR);
	return 0;
}

#define HAVE_NMI true
#else
static int nmi_init(void)
{
	return 0;
}

static void nmi_exit(void)
{
}

static int nmi_send(int cpu)
{
	return -EOPNOTSUPP;
}

#define HAVE_NMI false
#endif

/* ---- who to ask ---- */

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

/* The processors that run a thread of a target now. They may have switched when they are asked. */
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

static void choose(struct cpumask *mask, const struct qz_ioc_snapshot *s, const s32 *targets)
{
	u32 i;

	if (s->flags & QZ_SNAPSHOT_ALL)
		cpumask_copy(mask, cpu_online_mask);
	else
		for (i = 0; i < s->ntargets; i++)
			add_running(mask, targets[i]);
	cpumask_and(mask, mask, cpu_online_mask);
}

/* ---- asking ---- */

/* The processor that asks answers at once, for itself. Preemption is off. */
static void ask_all(const struct cpumask *mask, u32 round, bool by_nmi)
{
	int self = smp_processor_id(), cpu;

	for_each_cpu(cpu, mask) {
		struct place *p = place_of(cpu, by_nmi);
		int err;

		WRITE_ONCE(p->asked, round);
		if (cpu == self) {
			place_answer(p, NULL);
			p->capture.flags |= QZ_CAPTURE_SELF;
			continue;
		}
		err = by_nmi ? nmi_send(cpu) : smp_call_function_single_async(cpu, &p->csd);
		if (err && cmpxchg(&p->asked, round, 0) == round)
			settle(round);
	}
}

/* Sends to all of the mask, and sleeps until they have answered or patience is over. */
static void take(struct cpumask *mask, const s32 *targets, struct qz_ioc_snapshot *s)
{
	long patience = nsecs_to_jiffies(s->patience_ns) + 1;
	u32 round = current_round() + 1 ?: 1;

	cpus_read_lock();
	choose(mask, s, targets);
	atomic64_set(&outstanding, (u64)round << 32 | cpumask_weight(mask));
	preempt_disable();
	s->begun = ktime_get_mono_fast_ns();
	ask_all(mask, round, s->flags & QZ_SNAPSHOT_NMI);
	preempt_enable();
	cpus_read_unlock();
	wait_event_timeout(answers, !lower_32_bits(atomic64_read(&outstanding)), patience);
}

/* ---- what came of it ---- */

static int give(const struct cpumask *mask, const s32 *targets, struct qz_ioc_snapshot *s)
{
	struct qz_capture __user *to = u64_to_user_ptr(s->captures);
	u64 first = U64_MAX, last = 0;
	u32 round = current_round();
	int cpu;

	s->captured = 0;
	s->missed = 0;
	for_each_cpu(cpu, mask) {
		struct place *p = place_of(cpu, s->flags & QZ_SNAPSHOT_NMI);
		struct qz_capture c;

		/* before the capture is read: place_answer() */
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

	if (s->flags & ~(QZ_SNAPSHOT_ALL | QZ_SNAPSHOT_NMI))
		return -EINVAL;
	if (s->ntargets > QZ_TARGETS_MAX || (!all && !s->ntargets) || (all && s->ntargets))
		return -EINVAL;
	if (!s->patience_ns || s->patience_ns > QZ_PATIENCE_MAX)
		return -EINVAL;
	return s->flags & QZ_SNAPSHOT_NMI && !HAVE_NMI ? -EOPNOTSUPP : 0;
}

static int take_and_give(struct qz_ioc_snapshot *s, const s32 *targets)
{
	cpumask_var_t mask;
	int err;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	err = mutex_lock_interruptible(&snapshot_lock);
	if (!err) {
		take(mask, targets, s);
		err = give(mask, targets, s);
		mutex_unlock(&snapshot_lock);
	}
	free_cpumask_var(mask);
	return err;
}

long qz_snapshot_take(struct qz_ioc_snapshot *s)
{
	s32 *targets;
	int err = valid(s);

	if (err)
		return err;
	targets = memdup_user(u64_to_user_ptr(s->targets), s->ntargets * sizeof(*targets));
	if (IS_ERR(targets))
		return PTR_ERR(targets);
	sort(targets, s->ntargets, sizeof(*targets), compare_pids, NULL);
	err = take_and_give(s, targets);
	kfree(targets);
	return err;
}

int qz_snapshot_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct place *p = place_of(cpu, false);

		INIT_CSD(&p->csd, on_interrupt, p);
	}
	return nmi_init();
}

/*
 * Nobody asks any more, but an interrupt may be on its way: a call to each processor comes after
 * the calls sent before, and an NMI is not left behind for longer than its handler runs.
 */
static void nothing(void *unused)
{
}

void qz_snapshot_exit(void)
{
	on_each_cpu(nothing, NULL, 1);
	nmi_exit();
	irq_work_sync(&waking);
}
