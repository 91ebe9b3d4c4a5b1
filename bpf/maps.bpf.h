/* SPDX-License-Identifier: GPL-2.0-only */
/* Configuration and maps of all programs that account, and the look-ups on them. */
#ifndef QUARTZ_MAPS_BPF_H
#define QUARTZ_MAPS_BPF_H

#include "bpf/text_maps.bpf.h"

/* ---- configuration, set between open and load ---- */

const volatile __u32 nr_stacks = 1;	 /* slots of one buffer of stacks, a power of two */
const volatile __u32 nr_frames = 1;	 /* words of one buffer of frames */
const volatile __u32 nr_records = 1;	 /* of samples, of one processor in one buffer */
const volatile __u32 nr_registers = 1;	 /* sets of registers, of one processor in one buffer */
const volatile __u32 nr_processors = 1;	 /* that can come online: one above the highest number */
const volatile __u32 nr_wait_stacks = 1; /* powers of two */
const volatile __u32 nr_wait_frames = 1;
const volatile __u64 watchdog_ns = 60000000000ull; /* without a heartbeat of quartzd */
const volatile bool wanted_woken;		   /* the time until woken is wanted */
const volatile bool wanted_lines;		   /* of Python */
const volatile bool every_process; /* each process of the machine is a scope of its own */
/* What runs already is one process alone, which is a target, and waits for quartzd to let it go. */
const volatile bool finds_command;

/*
 * Set by quartzd, or in its absence by bpf/watchdog.bpf.h, for good: times and counts stand still from then
 * on.
 */
volatile bool frozen;

/* ---- maps ---- */

/*
 * Key: a thread. Made at fork, by the sampler or by an iterator, never in the scheduler's path; freed by the kernel with
 * the thread. When there is no memory the thread is not followed and control.threads_refused counts it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct qz_thread_state);
} threads SEC(".maps");

/* Key: processor. Each entry is written by its processor alone, see struct qz_cpu_state. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_cpu_state);
} cpus SEC(".maps");

/* Scope numbers that are free; filled by quartzd, taken at fork when every_process is set. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__uint(value_size, sizeof(u32));
} free_scopes SEC(".maps");

/* Free scopes for groups alone: of one that cannot be made, no process that lived for a moment is counted. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, QZ_SPARE_SCOPES);
	__uint(value_size, sizeof(u32));
} spare_scopes SEC(".maps");

/* Key: tgid of a process to enumerate. Value: its scope. Written by quartzd before enumerating. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} targets SEC(".maps");

/*
 * Rare events for quartzd, which drains ten times a second and is woken early only when a quarter
 * is in use or a scope has ended. Full: control.events_lost counts; totals of scopes do not
 * depend on events.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20);
} events SEC(".maps");

/* The sampler's tables; see struct qz_stack_slot. Full: the sample is lost and counted by cause. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_stack_slot);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_sample_record);
} samples SEC(".maps");

/* As of samples; see struct qz_register_set. Full: the samples are without. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_register_set);
} register_sets SEC(".maps");

/* Waits, see struct qz_wait_stack. Full: a wait has its cause alone, counted in wait_stacks_lost. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_wait_stack);
} wait_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} wait_frames SEC(".maps");

/* See struct qz_object_slot. Full: waits without an object, counted in control.objects_full. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, QZ_OBJECT_SLOTS);
	__type(key, u32);
	__type(value, struct qz_object_slot);
} objects SEC(".maps");

/*
 * Bits: slots of wait stacks and of objects that are in use. quartzd reads no other slots. A program sets the bit when it
 * takes a slot, which is seldom; quartzd clears it before it frees the slot.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} used SEC(".maps");

/* The first bit of each; all are multiples of 64. */
#define USED_STACKS  0
#define USED_OBJECTS nr_wait_stacks

/*
 * Addresses of code that waits, see struct qz_spin_address. Full: quartzd empties it; what was in it is
 * entered again when it is sampled.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, QZ_SPIN_ADDRESSES);
	__type(key, u32);
	__type(value, struct qz_spin_address);
} spin_addresses SEC(".maps");

struct unwind_piece {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__uint(value_size, sizeof(struct qz_unwind_row));
};

/*
 * Unwind tables, see quartz/unwind.h, in pieces of QZ_UNWIND_PIECE rows, which quartzd makes when it has rows for them. Written by
 * quartzd through memory, read by the unwinder. Full: modules without a table, whose frames are walked by frame pointers, counted
 * by quartzd.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct unwind_piece);
} unwind_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_unwind_region);
} unwind_regions SEC(".maps");

/*
 * Key: image. Written by quartzd when an image's regions are known, and at fork, where the child
 * has its parent's. The least recently used ones go when it is full: processes that have ended.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, struct qz_unwind_image);
} unwind_images SEC(".maps");

/* Key: number of a layout of Python's frames. Written by quartzd before a region has that number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, QZ_PYTHON_LAYOUTS);
	__type(key, u32);
	__type(value, struct qz_python_layout);
} python_layouts SEC(".maps");

/*
 * Hashes of Python code that was reported to quartzd. Written by the walks, emptied by quartzd. Full: some code is reported
 * again and again.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, QZ_PYTHON_KNOWN);
	__type(key, u32);
	__type(value, u64);
} python_known SEC(".maps");

/*
 * A struct qz_python_code for each code object. quartzd reads them before each drain. It is a ring of its own, so that a
 * program that makes code without end fills no other ring. Full: the code is reported when a walk meets it again.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 512 << 10);
} python_codes SEC(".maps");

/*
 * When addresses of described code were used again, and by which regions it was described. As long as it is described by
 * these, `last` is of each address that is used, described or not: low bits of the time, which tell one use from the next.
 */
struct remapping {
	u64 when;
	u32 first; /* as in struct qz_unwind_image */
	u32 last;
};

/* Key: image. See on_map. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct remapping);
} remapped SEC(".maps");

/*
 * Key: image. Value: where the process has mapped its page set. Written by quartzd when it hands one out. Full: stacks of
 * the process have no profile stack, only frames. Preallocated, as older kernels want it of a map that a perf event uses.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10240);
	__type(key, u32);
	__type(value, struct qz_page_place);
} pages SEC(".maps");

/*
 * Key: tgid. Samples of what is in no scope; quartzd takes entries out once a second. Full: of those, it is not known whose
 * they were. Preallocated, as `pages`.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, struct qz_outside);
} outside SEC(".maps");

/* ---- look-ups ---- */

static __always_inline struct qz_cpu_state *cpu__get(u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline struct qz_cpu_state *cpu__this(void)
{
	return cpu__get(bpf_get_smp_processor_id());
}

static __always_inline struct qz_scope_state *scope__get(u32 scope)
{
	return bpf_map_lookup_elem(&scopes, &scope);
}

/* The state of a thread of any scope, or NULL. For what is seldom called, see thread__get. */
static __always_inline struct qz_thread_state *thread__find(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, NULL, 0);
}

/*
 * The state of a thread of any scope, or NULL. Cheap for a thread without any task storage. Not for code that seldom runs:
 * each time that the verifier comes upon the pointer, it searches all types of the kernel, up to four times (Linux 6.4 to
 * 6.18), which takes a millisecond.
 */
static __always_inline struct qz_thread_state *thread__get(struct task_struct *task)
{
	if (!task->bpf_storage)
		return NULL;
	return bpf_task_storage_get(&threads, task, NULL, 0);
}

static __always_inline void used__mark(u32 first, u32 index)
{
	u32 word = (first + index) / 64;
	u64 *bits = bpf_map_lookup_elem(&used, &word);

	if (bits)
		__sync_fetch_and_or(bits, 1ull << index % 64);
}

static __always_inline bool task__has_memory(struct task_struct *task)
{
	return BPF_CORE_READ(task, mm);
}

/* Whether it never runs code of a program, though it may belong to one. */
static __always_inline bool task__is_kernels(struct task_struct *task)
{
	return task->flags & (PF_KTHREAD_BIT | IO_WORKER_BIT);
}

/* A global function: the verifier then follows it once, and not at each turn of the loops that call it. */
__noinline int frame__store(u32 key, u64 address)
{
	u64 *frame = bpf_map_lookup_elem(&frames, &key);

	if (frame)
		*frame = address;
	return 0;
}

#endif
