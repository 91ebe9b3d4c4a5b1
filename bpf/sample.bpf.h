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
	volatile u32 nframes;	    /* of the user's, with those of Python */
	struct qz_stack_slot stack; /* what is looked for */
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
	u32 stream, changed, flags, object; /* see qz_sample_record */
};

/* What is done with the frames of the kernel's, or with the user's. */
struct sample_frames {
	struct sample_scratch *scratch;
	u64 h;
	u32 key;
};

/* As a turn of a loop. */
static long sample__hash_turn(u32 i, struct sample_frames *f)
{
	if (i >= f->scratch->nkernel)
		return 1;
	f->h = mix(f->h, f->scratch->kernel[i & (QZ_KERNEL_FRAMES - 1)]);
	return 0;
}

/* The frames that are there; not 0. */
__noinline u64 sample__hash(struct sample_scratch *scratch, u32 image)
{
	struct sample_frames f = {.scratch = scratch};

	if (!scratch)
		return 0;
	f.h = mix(mix(mix(image, scratch->nkernel), scratch->user.end), scratch->user.age);
	LOOP(QZ_KERNEL_FRAMES, sample__hash_turn, &f);
	return unwind__hash(&scratch->user, scratch->nframes, f.h) ?: 1;
}

/* As a turn of a loop. */
static long sample__store_kernel_turn(u32 i, struct sample_frames *f)
{
	if (i >= f->scratch->nkernel)
		return 1;
	frame__store(f->key + i, f->scratch->kernel[i & (QZ_KERNEL_FRAMES - 1)]);
	return 0;
}

/* As a turn of a loop. */
static long sample__store_user_turn(u32 i, struct sample_frames *f)
{
	if (i >= f->scratch->nframes)
		return 1;
	frame__store(f->key + i, f->scratch->user.frames[i & (QZ_ALL_FRAMES - 1)]);
	return 0;
}

/* Writes the frames from `key` on, for which there is room: kernel frames first. */
__noinline int sample__store_frames(struct sample_scratch *scratch, u32 key)
{
	struct sample_frames f = {.scratch = scratch, .key = key};

	if (!scratch)
		return 0;
	LOOP(QZ_KERNEL_FRAMES, sample__store_kernel_turn, &f);
	f.key += scratch->nkernel;
	LOOP(QZ_ALL_FRAMES, sample__store_user_turn, &f);
	return 0;
}

/* Copies the frames of a stack seen for the first time. */
static __always_inline bool sample__store(struct sample_scratch *scratch, struct qz_control *ctl,
					  struct qz_stack_slot *slot, u32 buffer)
{
	const struct qz_stack_slot *of = &scratch->stack;
	u32 nsampled = of->nkernel + of->nuser + of->npython;
	u32 n = nsampled + of->ntask + of->nown, zero = 0;
	u32 offset = __sync_fetch_and_add(&ctl->frames_used[buffer], n);
	u32 key = buffer * nr_frames + offset;

	stack_slot__set(slot, of);
	slot->taken = bpf_ktime_get_ns();
	slot->offset = offset;
	if (offset + n > nr_frames) {
		stack_slot__store(slot, QZ_STACK_NO_ROOM);
		return false;
	}
	sample__store_frames(scratch, key);
	if (of->profiled)
		page__store(bpf_map_lookup_elem(&page_scratch, &zero), key + nsampled);
	stack_slot__store(slot, QZ_STACK_STORED);
	return true;
}

enum sample_probe { SAMPLE_OTHER = -1, SAMPLE_NO_FRAMES = -2 };

/*
 * Looks for the stack in a slot, which it takes when it is free: its index where it has it, or why not. A function of
 * its own, as all in a loop: the verifier follows it once.
 */
__noinline int sample__probe(struct sample_scratch *scratch, u64 hash, u32 at, u32 buffer)
{
	u32 index = at & (nr_stacks - 1), key;
	struct qz_control *ctl = control__get();
	struct qz_stack_slot *slot;
	u64 taken;

	buffer &= 1;
	key = buffer * nr_stacks + index;
	slot = bpf_map_lookup_elem(&stacks, &key);
	if (!scratch || !ctl || !slot)
		return SAMPLE_OTHER;
	taken = slot__take(&slot->hash, hash);
	if (taken && (taken != hash || !stack_slot__is(slot, &scratch->stack)))
		return SAMPLE_OTHER;
	if (!taken)
		__sync_fetch_and_add(&ctl->stacks_used[buffer], 1);
	if (taken ? slot->stored == QZ_STACK_STORED : sample__store(scratch, ctl, slot, buffer))
		return index;
	return SAMPLE_NO_FRAMES;
}

/* As a turn of a loop. */
static long sample__probe_turn(u32 i, struct probing *p)
{
	p->found = sample__probe(p->of, p->hash, first_slot(p->hash) + i, p->buffer);
	return p->found != SAMPLE_OTHER;
}

/* The number of the stack's slot in this buffer, or -1 with the loss counted. */
static __noinline s32 sample__stack(struct sampling *s)
{
	struct sample_scratch *scratch = s->scratch;
	struct probing p = {.of = scratch, .buffer = s->buffer, .found = SAMPLE_OTHER};

	scratch->stack = (struct qz_stack_slot) {
		.image = s->image,
		.nkernel = scratch->nkernel,
		.nuser = scratch->nuser,
		.depth = scratch->user.depth,
		.end = scratch->user.end,
		.ntask = s->page ? s->page->ntask : 0,
		.nown = s->page ? s->page->nown : 0,
		.profiled = s->page ? 1 : 0,
		.npython = unwind__python_frames(&scratch->user),
		.python_depth = scratch->user.npython,
	};
	p.hash = sample__hash(scratch, s->image);
	if (s->page)
		p.hash = mix(p.hash, page__hash(s->page)) ?: 1;
	LOOP(PROBES, sample__probe_turn, &p);
	if (p.found >= 0)
		return p.found;
	s->cpu->lost[p.found == SAMPLE_OTHER ? QZ_LOSS_STACKS_FULL : QZ_LOSS_FRAMES_FULL]++;
	return -1;
}

static __always_inline void sample__log(const struct sampling *s, struct task_struct *task, u32 n)
{
	u32 state = s->buffer & 1 ? QZ_LOG_SAMPLED_BUFFER : 0, candidates = 0, stack = 0;

	if (s->flags & QZ_RECORD_SPINNING)
		state |= QZ_LOG_SAMPLED_SPINNING;
	if (wanted_what_if)
		candidates = candidates__on(&s->scratch->user, s->image);
	if (wanted_woken && s->scratch->nuser)
		stack = running_stack__sampled(&s->scratch->user, s->image);
	log__sample(task, n, state, candidates, stack);
}

#define KEEP(number, name) set->values[number] = regs->name;

/* Registers of one that no other thread shares memory with, that waits, or that is in the kernel tell nothing. */
static __noinline u32 sample__keep_registers(struct sampling *s, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u32 buffer = s->buffer & 1, n = s->cpu->registers[buffer];
	u32 index = (buffer * nr_processors + bpf_get_smp_processor_id()) * nr_registers + n;
	struct qz_register_set *set;

	if (s->scratch->nkernel || s->flags & QZ_RECORD_SPINNING || n >= nr_registers ||
	    BPF_CORE_READ(task, signal, nr_threads) < 2)
		return 0;
	set = bpf_map_lookup_elem(&register_sets, &index);
	if (!set)
		return 0;
	ARCH_EACH_REGISTER(KEEP)
	s->cpu->registers[buffer] = n + 1;
	return n + 1;
}

#undef KEEP

/* Its level, and what the thread holds, are put in by quartzd, which knows them by the log. */
static __always_inline void sample__write(struct sampling *s, struct task_struct *task, u64 key)
{
	u32 buffer = s->buffer & 1, n = s->cpu->records[buffer];
	u32 index = (buffer * nr_processors + bpf_get_smp_processor_id()) * nr_records + n;
	struct qz_sample_record *record = bpf_map_lookup_elem(&samples, &index);

	if (n >= nr_records || !record) {
		s->cpu->lost[QZ_LOSS_SAMPLES_FULL]++;
		return;
	}
	/* not as a whole: Linux 6.1 refuses to read words of its stack that were written in parts */
	record->key = key;
	record->time = QZ_ROUND_TIME(s->now, s->stream);
	record->machine = 0;
	record->object = s->object;
	record->changed = s->changed;
	record->flags = s->flags;
	record->registers = sample__keep_registers(s, task);
	s->cpu->records[buffer] = n + 1;
	s->cpu->accepted++;
	sample__log(s, task, n);
}

/* Without tables the kernel walks the frame pointers, if the code keeps any. */
static __always_inline void sample__user_stack(struct bpf_perf_event_data *ctx, struct sampling *s,
					       struct task_struct *task, struct qz_thread_state *t)
{
	struct unwinding *u = &s->scratch->user;
	long n;

	if (!task__has_memory(task) || task__is_kernels(task)) {
		u->depth = 0;
		u->npython = 0;
		u->asked = 0;
		u->age = 0;
		u->end = QZ_UNWIND_OUTERMOST;
	} else if (!unwind__current(u, task, s->image, t)) {
		n = bpf_get_stack(ctx, u->frames, QZ_USER_FRAMES * sizeof(u64), BPF_F_USER_STACK);
		u->depth = n > 0 ? (u32)n / sizeof(u64) : 0;
	}
	s->scratch->nuser = unwind__frames(u);
	s->scratch->nframes = s->scratch->nuser + unwind__python_frames(u);
	if (unwind__was_early(u))
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
	s->object = spinning ? object__spun(t, on) : 0;
	return 0;
}

static __always_inline void sample__take(struct bpf_perf_event_data *ctx, struct sampling *s,
					 struct task_struct *task, struct qz_thread_state *t)
{
	u32 serial = t->serial;
	s32 stack;
	long n;

	s->image = t->image;
	n = bpf_get_stack(ctx, s->scratch->kernel, sizeof(s->scratch->kernel), 0);
	s->scratch->nkernel = n > 0 ? (u32)n / sizeof(u64) : 0;
	sample__user_stack(ctx, s, task, t);
	s->page = page__read(task, t, s->cpu);
	if (!s->scratch->nkernel && !s->scratch->nuser) {
		s->cpu->lost[QZ_LOSS_STACK_FAULT]++;
		return;
	}
	sample__judge(s, task, t);
	stack = sample__stack(s);
	if (stack >= 0)
		sample__write(s, task, QZ_SAMPLE_KEY(stack, 0, serial));
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

/* Counts the sample for its process, which is in no scope. Where the map is full, it is not counted. */
static __noinline int sample__outside(struct task_struct *task)
{
	u32 tgid = task->tgid;
	struct qz_outside *known = bpf_map_lookup_elem(&outside, &tgid), new = {.samples = 1};

	if (known) {
		__sync_fetch_and_add(&known->samples, 1);
		return 0;
	}
	bpf_probe_read_kernel_str(new.comm, sizeof(new.comm),
				  BPF_CORE_READ(task, group_leader)->comm);
	bpf_map_update_elem(&outside, &tgid, &new, BPF_NOEXIST);
	return 0;
}

static __always_inline int handle_sample(struct bpf_perf_event_data *ctx, u64 now)
{
	struct task_struct *task;
	struct qz_thread_state *t;
	struct sampling s = {};
	struct log_place log;
	u32 zero = 0;

	s.cpu = cpu__this();
	s.ctl = control__get();
	s.scratch = bpf_map_lookup_elem(&sample_scratch, &zero);
	if (!s.cpu || !s.ctl || !s.scratch)
		return 0;
	/* it is of no use where it is not known who ran beside it */
	if (watchdog__is_alone(s.ctl, now) || log__rests(&log))
		return 0;
	task = bpf_get_current_task_btf();
	if (!task->pid)
		return 0;
	t = thread__find(task);
	if (!t && tell__is_untold(task)) {
		t = tell__state(task, FRESH_SAMPLED, now);
		if (!t) {
			s.cpu->lost[QZ_LOSS_UNSETTLED]++;
			return 0;
		}
	}
	if (!t) {
		s.cpu->filtered++;
		sample__outside(task);
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
