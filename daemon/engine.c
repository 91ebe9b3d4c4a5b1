// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/quartz.skel.h"
#include "daemon/engine.h"
#include "daemon/log.h"

/* Per half and processor, and the least in all: a second of samples that are all different. */
#define SAMPLES_PER_CPU	    1024
#define MIN_SAMPLES	    16384
#define MAX_STACKS	    (1u << 20) /* 20 bits of the sample key */
#define FRAMES_PER_STACK    24
#define PROGRAM_WAIT_STACKS (16u << 10)
#define SYSTEM_WAIT_STACKS  (64u << 10)
#define WAITS_PER_STACK	    2
/* Of waits, only those of stacks that were seen for the first time within a second. */
#define WAIT_FRAMES_PER_STACK 8
/* Unwind tables. 8 bytes each: a library has some 30,000 rows, the largest ones 1.5 million. */
#define PROGRAM_ROWS   (2u << 20)
#define SYSTEM_ROWS    (8u << 20)
#define UNWIND_REGIONS (32u << 10)
#define MAX_PASSES     16    /* of find_threads: each finds what was forked during the one before */
#define TURN_TRIES     10000 /* of 100 us */

struct engine {
	struct engine_options opts;
	struct quartz *skel;
	struct ring_buffer *events;
	engine_event *call;
	void *context;
	uint32_t processors, level_stride, next_scope;
	uint32_t nstacks, nframes, nsamples;
	struct qz_control *control;
	struct qz_cpu_state *cpus;
	struct qz_scope_state *scopes;
	uint64_t *levels;
	struct qz_stack_slot *stacks;
	uint64_t *frames;
	struct qz_sample_slot *samples;
	struct engine_waits waits;
	struct qz_object_slot *objects;
	struct qz_object_figures *object_figures;
	uint32_t nrows;
	struct qz_unwind_region *unwind_regions;
	struct qz_spin_address *spin_addresses;
	bool started;
	uint64_t *before; /* level times of the machine before its processes were known */
	char error[256];
};

__attribute__((format(printf, 3, 4))) static int fail(struct engine *e, int err, const char *format,
						      ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->error, sizeof(e->error), format, args);
	va_end(args);
	return err;
}

uint64_t engine__now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

__attribute__((format(printf, 2, 0))) static int print_libbpf(enum libbpf_print_level level,
							      const char *format, va_list args)
{
	char line[512];

	vsnprintf(line, sizeof(line), format, args);
	log_debug("%s", line);
	return 0;
}

static uint32_t round_up_power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

struct engine *engine__new(const struct engine_options *opts)
{
	struct engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->opts = *opts;
	libbpf_set_print(print_libbpf);
	return e;
}

static void unmap(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

void engine__free(struct engine *e)
{
	size_t levels;

	if (!e)
		return;
	levels = (size_t)e->opts.max_scopes * e->level_stride;
	ring_buffer__free(e->events);
	unmap(e->control, sizeof(*e->control));
	unmap(e->cpus, e->processors * sizeof(*e->cpus));
	unmap(e->scopes, e->opts.max_scopes * sizeof(*e->scopes));
	unmap(e->levels, levels * sizeof(*e->levels));
	unmap(e->stacks, 2ul * e->nstacks * sizeof(*e->stacks));
	unmap(e->frames, 2ul * e->nframes * sizeof(*e->frames));
	unmap(e->samples, 2ul * e->nsamples * sizeof(*e->samples));
	unmap(e->waits.stacks, e->waits.nstacks * sizeof(*e->waits.stacks));
	unmap(e->waits.frames, e->waits.nframes * sizeof(*e->waits.frames));
	unmap(e->waits.slots, e->waits.nslots * sizeof(*e->waits.slots));
	unmap(e->objects, QZ_OBJECT_SLOTS * sizeof(*e->objects));
	unmap(e->object_figures, QZ_OBJECT_SLOTS * sizeof(*e->object_figures));
	unmap(e->unwind_regions, UNWIND_REGIONS * sizeof(*e->unwind_regions));
	unmap(e->spin_addresses, QZ_SPIN_ADDRESSES * sizeof(*e->spin_addresses));
	quartz__destroy(e->skel);
	free(e->before);
	free(e);
}

const char *engine__error(const struct engine *e)
{
	return e->error;
}

/* ---- loading ---- */

static int on_event(void *context, void *data, size_t size)
{
	struct engine *e = context;
	const struct qz_event *event = data;

	if (size >= sizeof(*event) && event->length <= size && e->call)
		e->call(e->context, event, event->length);
	return 0;
}

static void choose_sizes(struct engine *e)
{
	uint32_t samples;

	e->processors = libbpf_num_possible_cpus();
	e->level_stride = e->processors + 1;
	samples = e->processors * SAMPLES_PER_CPU;
	if (samples < MIN_SAMPLES)
		samples = MIN_SAMPLES;
	e->nsamples = round_up_power_of_two(samples);
	e->nstacks = e->nsamples / 2;
	if (e->nstacks > MAX_STACKS)
		e->nstacks = MAX_STACKS;
	e->nframes = e->nstacks * FRAMES_PER_STACK;
	e->waits.nstacks = e->opts.every_process ? SYSTEM_WAIT_STACKS : PROGRAM_WAIT_STACKS;
	e->waits.nframes = e->waits.nstacks * WAIT_FRAMES_PER_STACK;
	e->waits.nslots = e->waits.nstacks * WAITS_PER_STACK;
	e->nrows = e->opts.every_process ? SYSTEM_ROWS : PROGRAM_ROWS;
}

static int set_sizes(struct engine *e)
{
	struct quartz *s = e->skel;
	uint32_t scopes = e->opts.max_scopes;
	int err = 0;

	if (libbpf_find_vmlinux_btf_id("vm_unmapped_area", BPF_TRACE_RAW_TP) < 0)
		bpf_program__set_autoload(s->progs.on_map, false);
	snprintf((char *)s->rodata->version, sizeof(s->rodata->version), "%s", QUARTZ_VERSION);
	s->rodata->level_stride = e->level_stride;
	s->rodata->nr_stacks = e->nstacks;
	s->rodata->nr_frames = e->nframes;
	s->rodata->nr_samples = e->nsamples;
	s->rodata->nr_wait_stacks = e->waits.nstacks;
	s->rodata->nr_wait_frames = e->waits.nframes;
	s->rodata->nr_waits = e->waits.nslots;
	s->rodata->nr_processors = sysconf(_SC_NPROCESSORS_ONLN);
	s->rodata->wanted_woken = e->opts.woken;
	s->rodata->every_process = e->opts.every_process;
	bpf_program__set_autoload(s->progs.on_waking, e->opts.woken);
	bpf_program__set_autoload(s->progs.on_release, !e->opts.woken);
	s->rodata->sampled_by_timer = e->opts.sampled_by_timer;
	err = err ?: bpf_map__set_max_entries(s->maps.cpus, e->processors);
	err = err ?: bpf_map__set_max_entries(s->maps.scopes, scopes);
	err = err ?: bpf_map__set_max_entries(s->maps.levels, scopes * e->level_stride);
	err = err ?: bpf_map__set_max_entries(s->maps.free_scopes, scopes);
	err = err ?: bpf_map__set_max_entries(s->maps.targets, scopes + 1024);
	err = err ?: bpf_map__set_max_entries(s->maps.stacks, 2 * e->nstacks);
	err = err ?: bpf_map__set_max_entries(s->maps.frames, 2 * e->nframes);
	err = err ?: bpf_map__set_max_entries(s->maps.samples, 2 * e->nsamples);
	err = err ?: bpf_map__set_max_entries(s->maps.wait_stacks, e->waits.nstacks);
	err = err ?: bpf_map__set_max_entries(s->maps.wait_frames, e->waits.nframes);
	err = err ?: bpf_map__set_max_entries(s->maps.waits, e->waits.nslots);
	err = err ?: bpf_map__set_max_entries(s->maps.unwind_rows, e->nrows);
	err = err ?: bpf_map__set_max_entries(s->maps.unwind_regions, UNWIND_REGIONS);
	return err;
}

static void *map_memory(struct engine *e, struct bpf_map *map)
{
	size_t size = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (memory != MAP_FAILED)
		return memory;
	fail(e, -errno, "cannot map BPF map %s (%zu bytes): %s", bpf_map__name(map), size,
	     strerror(errno));
	return NULL;
}

static int map_all(struct engine *e)
{
	struct quartz *s = e->skel;

	e->control = map_memory(e, s->maps.control);
	e->cpus = map_memory(e, s->maps.cpus);
	e->scopes = map_memory(e, s->maps.scopes);
	e->levels = map_memory(e, s->maps.levels);
	e->stacks = map_memory(e, s->maps.stacks);
	e->frames = map_memory(e, s->maps.frames);
	e->samples = map_memory(e, s->maps.samples);
	e->waits.stacks = map_memory(e, s->maps.wait_stacks);
	e->waits.frames = map_memory(e, s->maps.wait_frames);
	e->waits.slots = map_memory(e, s->maps.waits);
	e->objects = map_memory(e, s->maps.objects);
	e->object_figures = map_memory(e, s->maps.object_figures);
	e->unwind_regions = map_memory(e, s->maps.unwind_regions);
	e->spin_addresses = map_memory(e, s->maps.spin_addresses);
	if (!e->control || !e->cpus || !e->scopes || !e->levels || !e->stacks || !e->frames ||
	    !e->samples || !e->waits.stacks || !e->waits.frames || !e->waits.slots || !e->objects ||
	    !e->object_figures || !e->unwind_regions || !e->spin_addresses)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->processors; i++)
		e->cpus[i].scope = QZ_NO_SCOPE;
	return 0;
}

static int explain_load(struct engine *e, int err)
{
	if (err == -EPERM || err == -EACCES)
		return fail(e, err,
			    "the kernel refused the BPF programs: %s; run as root, see "
			    "`quartzctl doctor`",
			    strerror(-err));
	if (err == -ESRCH || err == -ENOENT)
		return fail(e, -ENOSYS,
			    "this kernel has no BTF or lacks a tracepoint that is "
			    "needed; Linux >= 5.15 with CONFIG_DEBUG_INFO_BTF=y is");
	if (err == -EMFILE || err == -ENFILE)
		return fail(e, err,
			    "cannot load the BPF programs: %s; raise the limit of open "
			    "files (ulimit -n)",
			    strerror(-err));
	return fail(e, err, "cannot load the BPF programs: %s; `--verbose` shows why",
		    strerror(-err));
}

static void open_own(struct engine *e, uint32_t scope)
{
	e->scopes[scope].began = engine__now();
	e->scopes[scope].running = e->scopes[scope].began << QZ_LEVEL_BITS;
}

static int open_every_process(struct engine *e)
{
	e->before = calloc(e->level_stride, sizeof(*e->before));
	if (!e->before)
		return fail(e, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < e->opts.max_scopes; i++)
		if (i < QZ_OWN_SCOPES)
			open_own(e, i);
		else
			engine__recycle_scope(e, i);
	return 0;
}

int engine__load(struct engine *e)
{
	int err;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return fail(e, -ENOSYS,
			    "/sys/kernel/btf/vmlinux: %s; a kernel with "
			    "CONFIG_DEBUG_INFO_BTF=y is needed",
			    strerror(errno));
	choose_sizes(e);
	e->skel = quartz__open();
	if (!e->skel)
		return fail(e, -errno, "cannot open the BPF programs: %s", strerror(errno));
	err = set_sizes(e);
	if (!err)
		err = quartz__load(e->skel);
	if (err)
		return explain_load(e, err);
	err = map_all(e);
	if (err)
		return err;
	e->events = ring_buffer__new(bpf_map__fd(e->skel->maps.events), on_event, e, NULL);
	if (!e->events)
		return fail(e, -errno, "cannot map the event ring: %s", strerror(errno));
	return e->opts.every_process ? open_every_process(e) : 0;
}

/* ---- attaching ---- */

int engine__mark_processor(struct engine *e, int cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	return bpf_prog_test_run_opts(bpf_program__fd(e->skel->progs.mark_processor), &opts);
}

static int mark_processors(struct engine *e)
{
	unsigned int marked = 0;
	int err = 0;

	for (uint32_t cpu = 0; cpu < e->processors; cpu++) {
		err = engine__mark_processor(e, cpu);
		if (!err)
			marked++;
		else if (err != -ENXIO) /* offline */
			break;
	}
	if (marked && (!err || err == -ENXIO))
		return 0;
	return fail(e, err, "cannot run a BPF program on a given processor: %s", strerror(-err));
}

static int attach_one(struct engine *e, struct bpf_program *prog, struct bpf_link **link)
{
	*link = bpf_program__attach(prog);
	if (*link)
		return 0;
	return fail(e, -errno, "cannot attach BPF program %s: %s", bpf_program__name(prog),
		    strerror(errno));
}

int engine__attach(struct engine *e)
{
	struct quartz *s = e->skel;
	int err = 0;

	err = err ?: attach_one(e, s->progs.on_switch, &s->links.on_switch);
	err = err ?: attach_one(e, s->progs.on_wakeup, &s->links.on_wakeup);
	err = err ?: attach_one(e, s->progs.on_wakeup_new, &s->links.on_wakeup_new);
	err = err ?: attach_one(e, s->progs.on_fork, &s->links.on_fork);
	err = err ?: attach_one(e, s->progs.on_exec, &s->links.on_exec);
	err = err ?: attach_one(e, s->progs.on_free, &s->links.on_free);
	if (e->opts.woken)
		err = err ?: attach_one(e, s->progs.on_waking, &s->links.on_waking);
	else
		err = err ?: attach_one(e, s->progs.on_release, &s->links.on_release);
	/* Without it goes, too; see engine__sees_mappings. */
	if (!err && bpf_program__autoload(s->progs.on_map))
		s->links.on_map = bpf_program__attach(s->progs.on_map);
	return err ?: mark_processors(e);
}

static void detach_one(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

void engine__detach(struct engine *e)
{
	struct quartz *s = e->skel;

	if (!s)
		return;
	detach_one(&s->links.on_fork);
	detach_one(&s->links.on_exec);
	detach_one(&s->links.on_waking);
	detach_one(&s->links.on_release);
	detach_one(&s->links.on_wakeup);
	detach_one(&s->links.on_wakeup_new);
	detach_one(&s->links.on_free);
	detach_one(&s->links.on_switch);
	detach_one(&s->links.on_map);
}

uint64_t engine__left_alone(const struct engine *e)
{
	return __atomic_load_n(&engine__control(e)->left_alone, __ATOMIC_RELAXED);
}

uint64_t engine__freeze(struct engine *e)
{
	uint64_t now;

	e->skel->bss->frozen = true;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	now = engine__left_alone(e) ?: engine__now();
	/* lets what runs on other processors come to its end */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return now;
}

int engine__open_scope(struct engine *e, int pid, bool follows)
{
	uint32_t scope = e->next_scope, tgid = pid;
	struct qz_scope_state *s;
	int err;

	if (e->opts.every_process || scope >= e->opts.max_scopes)
		return fail(e, -ENOSPC, "process %d: no room for more than %u scopes", pid,
			    e->opts.max_scopes);
	s = &e->scopes[scope];
	s->pid = pid;
	s->follows = follows;
	s->began = engine__now();
	s->running = s->began << QZ_LEVEL_BITS;
	err = bpf_map_update_elem(bpf_map__fd(e->skel->maps.targets), &tgid, &scope, BPF_NOEXIST);
	if (err)
		return fail(e, err, "process %d: given twice, or too many targets: %s", pid,
			    strerror(-err));
	e->next_scope++;
	return scope;
}

void engine__restart_scope(struct engine *e, uint32_t scope)
{
	struct qz_scope_state *s = &e->scopes[scope];

	memset(&e->levels[(size_t)scope * e->level_stride], 0,
	       e->level_stride * sizeof(*e->levels));
	s->began = engine__now();
	s->running = s->began << QZ_LEVEL_BITS;
}

void engine__forget_idle(struct engine *e, int cpu)
{
	e->cpus[cpu].idle_since = 0;
}

/* Reads a task iterator to its end; `thread` gets what it writes, if anything. */
static int iterate(struct engine *e, struct bpf_program *prog, engine_thread *call, void *context)
{
	struct qz_thread_event records[64];
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	size_t have = 0;
	ssize_t n;
	int fd, err = 0;

	fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	if (fd < 0) {
		err = fail(e, -errno, "cannot iterate over the threads: %s", strerror(errno));
		goto out;
	}
	while ((n = read(fd, (char *)records + have, sizeof(records) - have)) > 0) {
		size_t whole = (have + n) / sizeof(records[0]);

		have += n;
		for (size_t i = 0; call && i < whole; i++)
			call(context, &records[i]);
		have -= whole * sizeof(records[0]);
		memmove(records, &records[whole], have);
	}
	if (n < 0)
		err = fail(e, -errno, "cannot read the threads: %s", strerror(errno));
	close(fd);
out:
	bpf_link__destroy(link);
	return err;
}

/* From here on each processor that is counted as busy is so for a scope too. */
static void start_machine(struct engine *e)
{
	struct qz_scope_state state;
	uint64_t now = engine__now();

	engine__read_scope(e, QZ_SCOPE_OF_MACHINE, now, &state, e->before);
	e->scopes[QZ_SCOPE_OF_MACHINE].began = now;
	e->started = true;
}

int engine__adopt(struct engine *e)
{
	struct quartz *s = e->skel;
	int err = 0;

	for (int pass = 0; !err && pass < MAX_PASSES; pass++) {
		uint64_t before = s->bss->threads_found;

		err = iterate(e, s->progs.find_threads, NULL, NULL);
		if (s->bss->threads_found == before)
			break;
	}
	err = err ?: mark_processors(e);
	if (e->before)
		start_machine(e);
	err = err ?: iterate(e, s->progs.settle_threads, NULL, NULL);
	return err;
}

int engine__dump(struct engine *e, engine_thread *call, void *context)
{
	return iterate(e, e->skel->progs.dump_threads, call, context);
}

bool engine__scope_ended(const struct engine *e, uint32_t scope)
{
	const struct qz_scope_state *s = &e->scopes[scope];

	return __atomic_load_n(&s->ended, __ATOMIC_SEQ_CST) &&
	       !__atomic_load_n(&s->alive, __ATOMIC_SEQ_CST) &&
	       !(__atomic_load_n(&s->running, __ATOMIC_SEQ_CST) & QZ_LEVEL_MASK);
}

bool engine__scope_lives(const struct engine *e, uint32_t scope, uint64_t since)
{
	const struct qz_scope_state *s = scope < e->opts.max_scopes ? &e->scopes[scope] : NULL;

	return s && __atomic_load_n(&s->alive, __ATOMIC_SEQ_CST) &&
	       __atomic_load_n(&s->began, __ATOMIC_SEQ_CST) <= since;
}

int engine__scope_pid(const struct engine *e, uint32_t scope)
{
	return e->scopes[scope].pid;
}

int engine__recycle_scope(struct engine *e, uint32_t scope)
{
	if (scope >= e->opts.max_scopes)
		return -EINVAL;
	memset(&e->scopes[scope], 0, sizeof(e->scopes[scope]));
	memset(&e->levels[(size_t)scope * e->level_stride], 0,
	       e->level_stride * sizeof(*e->levels));
	return bpf_map_update_elem(bpf_map__fd(e->skel->maps.free_scopes), NULL, &scope, BPF_ANY);
}

int engine__consume(struct engine *e, engine_event *call, void *context)
{
	e->call = call;
	e->context = context;
	return ring_buffer__consume(e->events);
}

int engine__event_fd(const struct engine *e)
{
	return ring_buffer__epoll_fd(e->events);
}

int engine__sampler_fd(const struct engine *e)
{
	return bpf_program__fd(e->skel->progs.on_sample);
}

struct quartz *engine__skeleton(struct engine *e)
{
	return e->skel;
}

int engine__thread_of(const struct engine *e, int pidfd, struct qz_thread_state *state)
{
	return bpf_map_lookup_elem(bpf_map__fd(e->skel->maps.threads), &pidfd, state);
}

int engine__set_page(const struct engine *e, uint32_t image, const struct qz_page_place *place)
{
	int map = bpf_map__fd(e->skel->maps.pages);

	return place ? bpf_map_update_elem(map, &image, place, BPF_ANY)
		     : bpf_map_delete_elem(map, &image);
}

int engine__set_unwind_image(struct engine *e, uint32_t image,
			     const struct qz_unwind_image *regions)
{
	int map = bpf_map__fd(e->skel->maps.unwind_images);

	return regions ? bpf_map_update_elem(map, &image, regions, BPF_ANY)
		       : bpf_map_delete_elem(map, &image);
}

/* ---- shared memory ---- */

bool engine__sees_mappings(const struct engine *e)
{
	return e->skel->links.on_map;
}

uint32_t engine__unwind_rows(const struct engine *e)
{
	return e->nrows;
}

/* Mapped for as long as it takes: the kernel counts what is mapped of a map as memory in use. */
int engine__store_rows(struct engine *e, uint32_t first, const struct qz_unwind_row *rows,
		       uint32_t n)
{
	size_t page = sysconf(_SC_PAGESIZE), at = (size_t)first * sizeof(*rows);
	size_t before = at % page, size = n * sizeof(*rows);
	char *memory;

	if (first > e->nrows || n > e->nrows - first)
		return -EINVAL;
	memory = mmap(NULL, before + size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(e->skel->maps.unwind_rows), at - before);
	if (memory == MAP_FAILED)
		return -errno;
	memcpy(memory + before, rows, size);
	munmap(memory, before + size);
	return 0;
}

uint32_t engine__unwind_regions(const struct engine *e, struct qz_unwind_region **regions)
{
	if (regions)
		*regions = e->unwind_regions;
	return UNWIND_REGIONS;
}

struct qz_spin_address *engine__spin_addresses(const struct engine *e)
{
	return e->spin_addresses;
}

uint32_t engine__processors(const struct engine *e)
{
	return e->processors;
}

uint32_t engine__level_stride(const struct engine *e)
{
	return e->level_stride;
}

uint32_t engine__max_scopes(const struct engine *e)
{
	return e->opts.max_scopes;
}

struct qz_control *engine__control(const struct engine *e)
{
	return e->control;
}

void engine__set_share(struct engine *e, uint32_t scope, enum qz_share what, uint32_t n)
{
	__u32 *share = &e->scopes[scope].shares[what];

	if (__atomic_load_n(share, __ATOMIC_RELAXED) != n)
		__atomic_store_n(share, n, __ATOMIC_RELAXED);
}

void engine__set_halvings(struct engine *e, uint32_t halvings)
{
	for (uint32_t i = 0; i < e->processors; i++)
		e->cpus[i].halvings = halvings;
}

struct qz_cpu_state *engine__cpus(const struct engine *e)
{
	return e->cpus;
}

/*
 * The interval that has not ended is added to its level. While the programs are attached a
 * processor may be between its exchange of the word and its addition to the level: then a copy is
 * short by that interval, never wrong for good.
 */
void engine__read_scope(const struct engine *e, uint32_t scope, uint64_t until,
			struct qz_scope_state *state, uint64_t *level_ns)
{
	const uint64_t *levels = &e->levels[(size_t)scope * e->level_stride];
	uint64_t level, elapsed;

	do {
		memcpy(state, &e->scopes[scope], sizeof(*state));
		memcpy(level_ns, levels, e->level_stride * sizeof(*levels));
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (state->running != __atomic_load_n(&e->scopes[scope].running, __ATOMIC_SEQ_CST));
	level = state->running & QZ_LEVEL_MASK;
	elapsed = (until - (state->running >> QZ_LEVEL_BITS)) & QZ_TIME_MASK;
	if (elapsed > QZ_TIME_MASK / 2)
		elapsed = 0;
	if (level >= e->level_stride)
		level = e->level_stride - 1;
	level_ns[level] += elapsed;
	if (scope == QZ_SCOPE_OF_MACHINE && e->started)
		for (uint32_t i = 0; i < e->level_stride; i++)
			level_ns[i] -= level_ns[i] < e->before[i] ? level_ns[i] : e->before[i];
}

uint64_t engine__running(const struct engine *e, uint32_t scope)
{
	if (scope >= e->opts.max_scopes)
		return 0;
	return __atomic_load_n(&e->scopes[scope].running, __ATOMIC_SEQ_CST);
}

uint32_t engine__level(const struct engine *e, uint32_t scope)
{
	return engine__running(e, scope) & QZ_LEVEL_MASK;
}

int engine__turn(struct engine *e, struct engine_half *half)
{
	uint32_t epoch = e->control->epoch, which = epoch & 1;

	__atomic_store_n(&e->control->epoch, epoch + 1, __ATOMIC_SEQ_CST);
	half->stacks = &e->stacks[(size_t)which * e->nstacks];
	half->frames = &e->frames[(size_t)which * e->nframes];
	half->samples = &e->samples[(size_t)which * e->nsamples];
	half->nstacks = e->nstacks;
	half->nframes = e->nframes;
	half->nsamples = e->nsamples;
	for (uint32_t cpu = 0; cpu < e->processors; cpu++) {
		int tries = 0;

		while (__atomic_load_n(&e->cpus[cpu].in_sample, __ATOMIC_SEQ_CST) == epoch + 1) {
			if (++tries > TURN_TRIES)
				return fail(e, -ETIME, "processor %u does not leave the sampler",
					    cpu);
			usleep(100);
		}
	}
	return 0;
}

void engine__clear(struct engine *e, struct engine_half *half)
{
	uint32_t which = half->stacks != e->stacks;

	for (uint32_t i = 0; i < half->nstacks; i++)
		if (half->stacks[i].hash)
			memset(&half->stacks[i], 0, sizeof(half->stacks[i]));
	for (uint32_t i = 0; i < half->nsamples; i++)
		if (half->samples[i].key)
			memset(&half->samples[i], 0, sizeof(half->samples[i]));
	e->control->stacks_used[which] = 0;
	e->control->frames_used[which] = 0;
	e->control->samples_used[which] = 0;
}

const struct engine_waits *engine__waits(const struct engine *e)
{
	return &e->waits;
}

struct qz_object_slot *engine__objects(const struct engine *e)
{
	return e->objects;
}

struct qz_object_figures *engine__object_figures(const struct engine *e)
{
	return e->object_figures;
}

static unsigned int percent(uint32_t used, uint32_t size)
{
	return (uint64_t)used * 100 / size;
}

unsigned int engine__fill(const struct engine *e)
{
	uint32_t which = e->control->epoch & 1;
	unsigned int stacks = percent(e->control->stacks_used[which], e->nstacks);
	unsigned int frames = percent(e->control->frames_used[which], e->nframes);
	unsigned int samples = percent(e->control->samples_used[which], e->nsamples);
	unsigned int most = stacks > frames ? stacks : frames;

	return most > samples ? most : samples;
}
