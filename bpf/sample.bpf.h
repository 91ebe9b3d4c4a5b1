/* SPDX-License-Identifier: GPL-2.0-only */
/* The sampler: one call per instant and processor writes one record. */
#ifndef QUARTZ_SAMPLE_BPF_H
#define QUARTZ_SAMPLE_BPF_H

struct sample_scratch {
	u64 kernel[QZ_KERNEL_FRAMES];
	struct unwinding user;
	/*
	 * Read anew at each turn of a loop: what comes from a map is unknown to the verifier, which
	 * then need not follow each possible number of turns for itself.
	 */
	volatile u32 nkernel, nuser;
};

/* One entry per processor: the stack being looked up. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sample_scratch);
} sample_scratch SEC(".maps");

struct sampling {
	struct qz_cpu_state *cpu;
	struct qz_control *ctl;
	struct sample_scratch *scratch;
	struct page_copy *page; /* NULL: none */
	u32 buffer;
	u32 image;
	u64 now;
	u32 stream, machine, changed, flags, object; /* see qz_sample_record */
};

/* The frames that are there; not 0. */
__noinline u64 sample__hash(struct sample_scratch *scratch, u32 image)
{
	u64 h;

	if (!scratch)
		return 0;
	h = mix(mix(image, scratch->nkernel), scratch->user.end);
	for (u32 i = 0; i < QZ_KERNEL_FRAMES; i++) {
		if (i >= scratch->nkernel)
			break;
		h = mix(h, scratch->kernel[i]);
	}
	for (u32 i = 0; i < QZ_USER_FRAMES; i++) {
		if (i >= scratch->nuser)
			break;
		h = mix(h, scratch->user.frames[i]);
	}
	return h ? h : 1;
}

/* Writes the frames from `key` on, for which there is room: kernel frames first. */
__noinline int sample__store_frames(struct sample_scratch *scratch, u32 key)
{
	if (!scratch)
		return 0;
	for (u32 i = 0; i < QZ_KERNEL_FRAMES; i++) {
		if (i >= scratch->nkernel)
			break;
		frame__store(key++, scratch->kernel[i]);
	}
	for (u32 i = 0; i < QZ_USER_FRAMES; i++) {
		if (i >= scratch->nuser)
			break;
		frame__store(key++, scratch->user.frames[i]);
	}
	return 0;
}

/* Copies the frames of a stack seen for the first time. */
static __always_inline bool sample__store(struct sampling *s, struct qz_stack_slot *slot,
					  const struct qz_stack_slot *of)
{
	u32 nsampled = of->nkernel + of->nuser, n = nsampled + of->ntask + of->nown;
	u32 offset = __sync_fetch_and_add(&s->ctl->frames_used[s->buffer & 1], n);
	u32 key = (s->buffer & 1) * nr_frames + offset;

	stack_slot__set(slot, of);
	slot->offset = offset;
	if (offset + n > nr_frames) {
		stack_slot__store(slot, QZ_STACK_NO_ROOM);
		return false;
	}
	sample__store_frames(s->scratch, key);
	if (s->page)
		page__store(s->page, key + nsampled);
	stack_slot__store(slot, QZ_STACK_STORED);
	return true;
}

/* The number of the stack's slot in this buffer, or -1 with the loss counted. */
static __noinline s32 sample__stack(struct sampling *s)
{
	const struct qz_stack_slot of = {
		.image = s->image,
		.nkernel = s->scratch->nkernel,
		.nuser = s->scratch->nuser,
		.depth = s->scratch->user.depth,
		.end = s->scratch->user.end,
		.ntask = s->page ? s->page->ntask : 0,
		.nown = s->page ? s->page->nown : 0,
		.profiled = s->page ? 1 : 0,
	};
	u64 hash = sample__hash(s->scratch, s->image);

	if (s->page)
		hash = mix(hash, page__hash(s->page)) ?: 1;
	for (u32 i = 0; i < PROBES; i++) {
		u32 index = (first_slot(hash) + i) & (nr_stacks - 1);
		u32 key = (s->buffer & 1) * nr_stacks + index;
		struct qz_stack_slot *slot = bpf_map_lookup_elem(&stacks, &key);
		u64 taken;

		if (!slot)
			break;
		taken = __sync_val_compare_and_swap(&slot->hash, 0, hash);
		if (taken && (taken != hash || !stack_slot__is(slot, &of)))
			continue;
		if (!taken)
			__sync_fetch_and_add(&s->ctl->stacks_used[s->buffer & 1], 1);
		if (taken ? slot->stored == QZ_STACK_STORED : sample__store(s, slot, &of))
			return index;
		s->cpu->lost[QZ_LOSS_FRAMES_FULL]++;
		return -1;
	}
	s->cpu->lost[QZ_LOSS_STACKS_FULL]++;
	return -1;
}

/* The level of the machine; this processor may not be counted yet. */
static __always_inline u32 sample__machine(void)
{
	struct qz_scope_state *machine = every_process ? scope__get(QZ_SCOPE_OF_MACHINE) : NULL;

	return machine ? scope__level(machine) ?: 1 : 0;
}

static __always_inline void sample__write(struct sampling *s, u64 key)
{
	u32 buffer = s->buffer & 1, n = s->cpu->records[buffer];
	u32 index = (buffer * nr_possible + bpf_get_smp_processor_id()) * nr_records + n;
	struct qz_sample_record *record = bpf_map_lookup_elem(&samples, &index);

	if (n >= nr_records || !record) {
		s->cpu->lost[QZ_LOSS_SAMPLES_FULL]++;
		return;
	}
	/* not as a whole: Linux 6.1 refuses to read words of its stack that were written in parts */
	record->key = key;
	record->time = QZ_ROUND_TIME(s->now, s->stream);
	record->machine = s->machine;
	record->object = s->object;
	record->changed = s->changed;
	record->flags = s->flags;
	s->cpu->records[buffer] = n + 1;
	s->cpu->accepted++;
}

/* Without tables the kernel walks the frame pointers, if the code keeps any. */
static __always_inline void sample__user_stack(struct bpf_perf_event_data *ctx, struct sampling *s,
					       struct task_struct *task)
{
	struct unwinding *u = &s->scratch->user;
	long n;

	u->asked = 0;
	if (!task__has_memory(task) || task->flags & PF_KTHREAD_BIT) {
		u->depth = 0;
		u->end = QZ_UNWIND_OUTERMOST;
	} else if (!unwind__current(u, task, s->image)) {
		n = bpf_get_stack(ctx, u->frames, QZ_USER_FRAMES * sizeof(u64), BPF_F_USER_STACK);
		u->depth = n > 0 ? (u32)n / sizeof(u64) : 0;
	}
	s->scratch->nuser = unwind__frames(u);
	if (unwind__was_early(u) || u->asked)
		event__unknown_code(s->ctl, bpf_ktime_get_ns());
}

/* What kind of time it is, and whose object. */
static __noinline int sample__judge(struct sampling *s, struct task_struct *task,
				    struct qz_thread_state *t)
{
	struct sample_scratch *scratch = s->scratch;
	u64 kernel = scratch->nkernel ? scratch->kernel[0] : 0;
	u64 caller = scratch->nuser > 1 ? scratch->user.frames[1] - 1 : 0;
	u32 changed = QZ_RECORD_FIRST << 16;
	bool spinning;
	u64 on = 0;

	s->cpu->leaf_image = t->image;
	s->cpu->leaf = scratch->nuser ? scratch->user.frames[0] : 0;
	s->cpu->caller = caller;
	if (s->page && s->page->state == QZ_WAIT_SPINNING) {
		spinning = true;
		on = QZ_WAIT_ADDRESS(s->page->head.wait);
	} else {
		spinning = spin__waits(task, t, kernel, caller, s->now, &on, &changed);
	}
	s->changed = changed;
	s->flags = (spinning ? QZ_RECORD_SPINNING : 0) | changed >> 16;
	s->object = spinning ? object__spun(t, on) : lock_owner__held(task, t);
	return 0;
}

/* What the level of the scope is, and in s->machine that of the machine. Neither is counted while switches are skipped. */
static __always_inline u64 sample__levels(struct sampling *s, const struct qz_scope_state *scope,
					  struct task_struct *task, const struct qz_thread_state *t)
{
	bool single = thread__is_single(t);
	u32 elsewhere;

	if (!skip__is_on(s->cpu) && !(single && t->skipped)) {
		s->machine = sample__machine();
		return single ? 1 : scope__level(scope);
	}
	elsewhere = skip__elsewhere(t->scope, task->tgid);
	s->machine = 1 + SKIP_BUSY(elsewhere);
	return single && !t->skipped ? 1 : 1 + SKIP_RUNNING(elsewhere);
}

static __always_inline void sample__take(struct bpf_perf_event_data *ctx, struct sampling *s,
					 struct task_struct *task, struct qz_thread_state *t)
{
	struct qz_scope_state *scope = scope__get(t->scope);
	bool single = thread__is_single(t);
	u64 level = scope ? sample__levels(s, scope, task, t) : 0;
	u32 serial = t->serial;
	s32 stack;
	long n;

	s->image = t->image;
	if (!scope || !level || level > QZ_MAX_LEVEL || (t->state != QZ_RUNNING && !single)) {
		s->cpu->lost[QZ_LOSS_UNSETTLED]++;
		return;
	}
	if (scope->unreported)
		group__report(group__leader(task), t, s->now);
	n = bpf_get_stack(ctx, s->scratch->kernel, sizeof(s->scratch->kernel), 0);
	s->scratch->nkernel = n > 0 ? (u32)n / sizeof(u64) : 0;
	sample__user_stack(ctx, s, task);
	s->page = page__read(task, t, s->cpu);
	if (!s->scratch->nkernel && !s->scratch->nuser) {
		s->cpu->lost[QZ_LOSS_STACK_FAULT]++;
		return;
	}
	sample__judge(s, task, t);
	stack = sample__stack(s);
	if (stack >= 0)
		sample__write(s, QZ_SAMPLE_KEY(stack, level, serial));
	if (wanted_woken && s->scratch->nuser)
		waking__sample(task, &s->scratch->user, s->image);
	if (wanted_what_if)
		critical_path__sample(task, &s->scratch->user, s->image,
				      s->flags & QZ_RECORD_SPINNING);
}

/*
 * Tells the daemon which epoch this processor works in. When the daemon turned between the reading
 * and the telling, it has not seen us: the new epoch is then taken. It turns once in 80 ms at the
 * most, so that a second look decides.
 */
static __always_inline u32 sample__enter(struct qz_cpu_state *cpu, struct qz_control *ctl)
{
	u32 epoch = *(volatile u32 *)&ctl->epoch, again;

	__sync_lock_test_and_set(&cpu->in_sample, epoch + 1);
	again = *(volatile u32 *)&ctl->epoch;
	if (again != epoch)
		__sync_lock_test_and_set(&cpu->in_sample, again + 1);
	return again;
}

static __always_inline int handle_sample(struct bpf_perf_event_data *ctx, u64 now)
{
	struct task_struct *task;
	struct qz_thread_state *t;
	struct sampling s = {};
	u32 zero = 0;

	s.cpu = cpu__this();
	s.ctl = control__get();
	s.scratch = bpf_map_lookup_elem(&sample_scratch, &zero);
	if (!s.cpu || !s.ctl || !s.scratch || watchdog__is_alone(s.ctl, now))
		return 0;
	task = bpf_get_current_task_btf();
	if (sampled_by_timer && s.cpu->task && s.cpu->task != (u64)task)
		cpu__settle_unseen(s.cpu, task, bpf_ktime_get_ns());
	if (sampled_by_timer)
		idle__compare(s.cpu, now);
	if (!task->pid)
		return 0;
	if (sampled_by_timer && every_process && s.cpu->counted == QZ_COUNTED_IDLE)
		machine__count(s.cpu, false, bpf_ktime_get_ns());
	t = thread__find(task);
	if (!t && sampled_by_timer && passed__is(task)) {
		t = passed__state(task, FRESH_SAMPLED, now);
		if (!t) {
			s.cpu->lost[QZ_LOSS_UNSETTLED]++;
			return 0;
		}
	}
	if (!t || t->state == QZ_DEAD) {
		s.cpu->filtered++;
		return 0;
	}
	s.now = now;
	s.stream = ctx->sample_period & ((1 << QZ_STREAM_BITS) - 1);
	s.buffer = sample__enter(s.cpu, s.ctl) & 1;
	sample__take(ctx, &s, task, t);
	*(volatile u32 *)&s.cpu->in_sample = 0;
	return 0;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	u64 began = bpf_ktime_get_ns();
	struct qz_cpu_state *cpu;

	handle_sample(ctx, began);
	cpu = cpu__this();
	if (cpu)
		cpu->sampling_ns += bpf_ktime_get_ns() - began;
	return 0;
}

#endif
