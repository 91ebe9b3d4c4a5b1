// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "core/util/clock.h"
#include "daemon/kernel/bpf_paths.h"
#include "daemon/kernel/bpf_runtime_private.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/kernel/verifier_log.h"
#include "daemon/util/log.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* Per half and processor, where the rate is not above it, or there are few processors. */
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
#define SWAP_TRIES     10000 /* of 100 us */

int bpf_runtime__fail(struct bpf_runtime *e, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->error, sizeof(e->error), format, args);
	va_end(args);
	return err;
}

uint64_t bpf_runtime__now(void)
{
	return qz_clock__now();
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

struct bpf_runtime *bpf_runtime__new(const struct bpf_runtime_options *opts)
{
	struct bpf_runtime *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->opts = *opts;
	libbpf_set_print(print_libbpf);
	return e;
}

/* Maps whose memory quartzd shares with the programs, and where it is. */
static const struct shared {
	size_t memory, map;
} shared[] = {
#define SHARED(member, name)                                                                       \
	{                                                                                          \
		offsetof(struct bpf_runtime, member), offsetof(struct quartz, maps.name)           \
	}
	SHARED(control, control),
	SHARED(cpus, cpus),
	SHARED(scopes, scopes),
	SHARED(levels, levels),
	SHARED(stacks, stacks),
	SHARED(frames, frames),
	SHARED(samples, samples),
	SHARED(waits.stacks, wait_stacks),
	SHARED(waits.frames, wait_frames),
	SHARED(waits.slots, waits),
	SHARED(objects, objects),
	SHARED(object_figures, object_figures),
	SHARED(unwind_regions, unwind_regions),
	SHARED(spin_addresses, spin_addresses),
};

#define NSHARED (sizeof(shared) / sizeof(shared[0]))

static void **memory_of(struct bpf_runtime *e, size_t i)
{
	return (void **)((char *)e + shared[i].memory);
}

static struct bpf_map *map_of(const struct bpf_runtime *e, size_t i)
{
	return *(struct bpf_map **)((char *)e->skel + shared[i].map);
}

static size_t size_of(const struct bpf_map *map)
{
	return (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
}

void bpf_runtime__free(struct bpf_runtime *e)
{
	if (!e)
		return;
	ring_buffer__free(e->events);
	for (size_t i = 0; i < NSHARED; i++)
		if (*memory_of(e, i))
			munmap(*memory_of(e, i), size_of(map_of(e, i)));
	quartz__destroy(e->skel);
	free(e->before);
	free(e);
}

const char *bpf_runtime__error(const struct bpf_runtime *e)
{
	return e->error;
}

bool bpf_runtime__follows_all(const struct bpf_runtime *e)
{
	return e->opts.every_process;
}

bool bpf_runtime__is_contained(const struct bpf_runtime *e)
{
	return e->opts.pid_namespace;
}

/* ---- loading ---- */

static int on_event(void *context, void *data, size_t size)
{
	struct bpf_runtime *e = context;
	const struct qz_event *event = data;

	if (size >= sizeof(*event) && event->length <= size && e->call)
		e->call(e->context, event, event->length);
	return 0;
}

static void choose_sizes(struct bpf_runtime *e)
{
	e->processors = libbpf_num_possible_cpus();
	e->level_stride = e->processors + 1;
	e->nrecords = e->opts.rate > SAMPLES_PER_CPU ? e->opts.rate : SAMPLES_PER_CPU;
	if (e->nrecords * e->processors < MIN_SAMPLES)
		e->nrecords = MIN_SAMPLES / e->processors;
	e->nstacks = round_up_power_of_two(e->nrecords * e->processors) / 2;
	if (e->nstacks > MAX_STACKS)
		e->nstacks = MAX_STACKS;
	e->nframes = e->nstacks * FRAMES_PER_STACK;
	e->waits.nstacks = e->opts.every_process ? SYSTEM_WAIT_STACKS : PROGRAM_WAIT_STACKS;
	e->waits.nframes = e->waits.nstacks * WAIT_FRAMES_PER_STACK;
	e->waits.nslots = e->waits.nstacks * WAITS_PER_STACK;
	e->nrows = e->opts.every_process ? SYSTEM_ROWS : PROGRAM_ROWS;
}

unsigned int bpf_runtime__watchdog_seconds(void)
{
	const char *ours = secure_getenv("QUARTZ_WATCHDOG_SECONDS");
	unsigned long seconds = ours ? strtoul(ours, NULL, 10) : 0;

	return seconds >= 10 && seconds <= 3600 ? (unsigned int)seconds : 60;
}

/* The verifier's time is most of a start: what this run does not use is not loaded. */
static void choose_programs(struct bpf_runtime *e)
{
	struct quartz *s = e->skel;
	struct bpf_program *text[] = {s->progs.text_version, s->progs.text_parallelism,
				      s->progs.text_threads, s->progs.text_procedures};

	bpf_program__set_autoload(s->progs.on_waking, e->opts.woken);
	bpf_program__set_autoload(s->progs.on_release, !e->opts.woken);
	bpf_program__set_autoload(s->progs.on_map, !e->blind);
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		bpf_program__set_autoload(text[i], e->opts.text);
}

static int set_sizes(struct bpf_runtime *e)
{
	struct quartz *s = e->skel;
	uint32_t scopes = e->opts.max_scopes;
	int err;

	choose_programs(e);
	snprintf((char *)s->rodata->version, sizeof(s->rodata->version), "%s", QUARTZ_VERSION);
	s->rodata->level_stride = e->level_stride;
	s->rodata->nr_stacks = e->nstacks;
	s->rodata->nr_frames = e->nframes;
	s->rodata->nr_records = e->nrecords;
	s->rodata->nr_possible = e->processors;
	s->rodata->nr_wait_stacks = e->waits.nstacks;
	s->rodata->nr_wait_frames = e->waits.nframes;
	s->rodata->nr_waits = e->waits.nslots;
	s->rodata->nr_processors = sysconf(_SC_NPROCESSORS_ONLN);
	s->rodata->watchdog_ns = bpf_runtime__watchdog_seconds() * 1000000000ull;
	s->rodata->wanted_woken = e->opts.woken;
	s->rodata->wait_spacing = e->opts.wait_spacing_ns;
	s->rodata->every_process = e->opts.every_process;
	s->rodata->pid_namespace = e->opts.pid_namespace;
	s->rodata->sampled_by_timer = e->opts.sampled_by_timer;
	err = bpf_paths__set_sizes(e, e->opts.what_if, scopes);
	err = err ?: bpf_map__set_max_entries(s->maps.cpus, e->processors);
	err = err ?: bpf_map__set_max_entries(s->maps.scopes, scopes);
	err = err ?: bpf_map__set_max_entries(s->maps.levels, scopes * e->level_stride);
	err = err ?: bpf_map__set_max_entries(s->maps.free_scopes, scopes);
	err = err ?: bpf_map__set_max_entries(s->maps.targets, scopes + 1024);
	err = err ?: bpf_map__set_max_entries(s->maps.stacks, 2 * e->nstacks);
	err = err ?: bpf_map__set_max_entries(s->maps.frames, 2 * e->nframes);
	err = err ?: bpf_map__set_max_entries(s->maps.samples, 2 * e->nrecords * e->processors);
	err = err ?: bpf_map__set_max_entries(s->maps.wait_stacks, e->waits.nstacks);
	err = err ?: bpf_map__set_max_entries(s->maps.wait_frames, e->waits.nframes);
	err = err ?: bpf_map__set_max_entries(s->maps.waits, e->waits.nslots);
	err = err ?: bpf_map__set_max_entries(s->maps.unwind_rows, e->nrows);
	err = err ?: bpf_map__set_max_entries(s->maps.unwind_regions, UNWIND_REGIONS);
	return err;
}

static int map_all(struct bpf_runtime *e)
{
	for (size_t i = 0; i < NSHARED; i++) {
		const struct bpf_map *map = map_of(e, i);
		void *memory = mmap(NULL, size_of(map), PROT_READ | PROT_WRITE, MAP_SHARED,
				    bpf_map__fd(map), 0);

		if (memory == MAP_FAILED)
			return bpf_runtime__fail(e, -errno, "cannot map BPF map %s (%zu bytes): %s",
						 bpf_map__name(map), size_of(map), strerror(errno));
		*memory_of(e, i) = memory;
	}
	for (uint32_t i = 0; i < e->processors; i++)
		e->cpus[i].scope = QZ_NO_SCOPE;
	for (uint32_t i = 0; i < e->waits.nslots; i++) /* as slots are that were in use */
		e->waits.slots[i].object = QZ_WAIT_RETIRED;
	return 0;
}

static int explain_load(struct bpf_runtime *e, int err)
{
	if (err == -EPERM || err == -EACCES)
		return bpf_runtime__fail(
			e, err,
			"the kernel refused the BPF programs: %s; run as root, in a container "
			"with CAP_BPF and CAP_PERFMON and a seccomp profile that lets bpf "
			"pass; see "
			"`quartzctl doctor`",
			strerror(-err));
	if (err == -ESRCH || err == -ENOENT)
		return bpf_runtime__fail(e, -ENOSYS,
					 "this kernel has no BTF or lacks a tracepoint that is "
					 "needed; Linux >= 5.15 with CONFIG_DEBUG_INFO_BTF=y is");
	if (err == -EMFILE || err == -ENFILE)
		return bpf_runtime__fail(
			e, err,
			"cannot load the BPF programs: %s; raise the limit of open "
			"files (ulimit -n)",
			strerror(-err));
	return bpf_runtime__fail(e, err, "cannot load the BPF programs: %s; `--verbose` shows why",
				 strerror(-err));
}

/*
 * Whether the kernel has the tracepoint of on_map is tried, since to look for it in the kernel's types takes longer
 * than all else in a start that has it.
 */
static int load_programs(struct bpf_runtime *e)
{
	struct verifier_log *log;
	int err;

	quartz__destroy(e->skel);
	e->skel = quartz__open();
	if (!e->skel)
		return -errno;
	err = set_sizes(e);
	if (err)
		return err;
	log = log__prints(LOG_DEBUG) ? verifier_log__new(e->skel->obj) : NULL;
	err = quartz__load(e->skel);
	if (!err)
		verifier_log__print(log, e->skel->obj);
	verifier_log__free(log);
	return err;
}

/* libbpf says that there are no types of the kernel, also where there was no memory for them. */
static int cause_of(int err)
{
	struct btf *types;

	if (err != -ESRCH)
		return err;
	types = btf__parse(KERNEL_BTF, NULL);
	if (!types && errno == ENOMEM)
		return -ENOMEM;
	btf__free(types);
	return err;
}

int bpf_runtime__load(struct bpf_runtime *e)
{
	int err;

	if (access(KERNEL_BTF, R_OK))
		return bpf_runtime__fail(e, -ENOSYS,
					 KERNEL_BTF ": %s; a kernel with "
						    "CONFIG_DEBUG_INFO_BTF=y is needed",
					 strerror(errno));
	choose_sizes(e);
	err = cause_of(load_programs(e));
	if (err == -ESRCH && !e->blind) {
		e->blind = true;
		err = cause_of(load_programs(e));
	}
	if (!e->skel)
		return bpf_runtime__fail(e, err, "cannot open the BPF programs: %s",
					 strerror(-err));
	if (err)
		return explain_load(e, err);
	err = map_all(e);
	if (err)
		return err;
	e->events = ring_buffer__new(bpf_map__fd(e->skel->maps.events), on_event, e, NULL);
	if (!e->events)
		return bpf_runtime__fail(e, -errno, "cannot map the event ring: %s",
					 strerror(errno));
	return e->opts.every_process ? bpf_scopes__init(e) : 0;
}

/* ---- attaching ---- */

int bpf_runtime__mark_processor(struct bpf_runtime *e, int cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	return bpf_prog_test_run_opts(bpf_program__fd(e->skel->progs.mark_processor), &opts);
}

int bpf_runtime__mark_processors(struct bpf_runtime *e)
{
	unsigned int marked = 0;
	int err = 0;

	for (uint32_t cpu = 0; cpu < e->processors; cpu++) {
		err = bpf_runtime__mark_processor(e, cpu);
		if (!err)
			marked++;
		else if (err != -ENXIO) /* offline */
			break;
	}
	if (marked && (!err || err == -ENXIO))
		return 0;
	return bpf_runtime__fail(e, err, "cannot run a BPF program on a given processor: %s",
				 strerror(-err));
}

/* In the order in which they are attached. */
static const struct accounting {
	size_t program, link;
} accounting[] = {
#define ACCOUNTING(name)                                                                           \
	{                                                                                          \
		offsetof(struct quartz, progs.name), offsetof(struct quartz, links.name)           \
	}
	ACCOUNTING(on_switch), ACCOUNTING(on_wakeup),  ACCOUNTING(on_wakeup_new),
	ACCOUNTING(on_fork),   ACCOUNTING(on_exec),    ACCOUNTING(on_free),
	ACCOUNTING(on_waking), ACCOUNTING(on_release), ACCOUNTING(on_path),
	ACCOUNTING(on_map),
};

#define NACCOUNTING (sizeof(accounting) / sizeof(accounting[0]))

static struct bpf_link **link_of(struct bpf_runtime *e, size_t i)
{
	return (struct bpf_link **)((char *)e->skel + accounting[i].link);
}

int bpf_runtime__attach(struct bpf_runtime *e)
{
	for (size_t i = 0; i < NACCOUNTING; i++) {
		struct bpf_program *p =
			*(struct bpf_program **)((char *)e->skel + accounting[i].program);

		if (!bpf_program__autoload(p))
			continue;
		*link_of(e, i) = bpf_program__attach(p);
		/* without on_map it goes, too; see bpf_runtime__sees_mappings */
		if (!*link_of(e, i) && p != e->skel->progs.on_map)
			return bpf_runtime__fail(e, -errno, "cannot attach BPF program %s: %s",
						 bpf_program__name(p), strerror(errno));
	}
	return bpf_runtime__mark_processors(e);
}

void bpf_runtime__detach(struct bpf_runtime *e)
{
	for (size_t i = NACCOUNTING; e->skel && i--;) {
		bpf_link__destroy(*link_of(e, i));
		*link_of(e, i) = NULL;
	}
}

uint64_t bpf_runtime__left_alone(const struct bpf_runtime *e)
{
	return __atomic_load_n(&bpf_runtime__control(e)->left_alone, __ATOMIC_RELAXED);
}

uint64_t bpf_runtime__freeze(struct bpf_runtime *e)
{
	uint64_t now;

	e->skel->bss->read_until = bpf_runtime__now(); /* of threads that end from now on */
	e->skel->bss->frozen = true;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	now = bpf_runtime__left_alone(e) ?: bpf_runtime__now();
	/* lets what runs on other processors come to its end */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return now;
}

int bpf_runtime__consume(struct bpf_runtime *e, engine_event *call, void *context)
{
	e->call = call;
	e->context = context;
	return ring_buffer__consume(e->events);
}

int bpf_runtime__event_fd(const struct bpf_runtime *e)
{
	return ring_buffer__epoll_fd(e->events);
}

int bpf_runtime__sampler_fd(const struct bpf_runtime *e)
{
	return bpf_program__fd(e->skel->progs.on_sample);
}

struct quartz *bpf_runtime__skeleton(struct bpf_runtime *e)
{
	return e->skel;
}

int bpf_runtime__thread_of(const struct bpf_runtime *e, int pidfd, struct qz_thread_state *state)
{
	return bpf_map_lookup_elem(bpf_map__fd(e->skel->maps.threads), &pidfd, state);
}

int bpf_runtime__set_page(const struct bpf_runtime *e, uint32_t image,
			  const struct qz_page_place *place)
{
	int map = bpf_map__fd(e->skel->maps.pages);

	return place ? bpf_map_update_elem(map, &image, place, BPF_ANY)
		     : bpf_map_delete_elem(map, &image);
}

int bpf_runtime__set_unwind_image(struct bpf_runtime *e, uint32_t image,
				  const struct qz_unwind_image *regions)
{
	int map = bpf_map__fd(e->skel->maps.unwind_images);

	return regions ? bpf_map_update_elem(map, &image, regions, BPF_ANY)
		       : bpf_map_delete_elem(map, &image);
}

/* ---- shared memory ---- */

bool bpf_runtime__sees_mappings(const struct bpf_runtime *e)
{
	return e->skel->links.on_map;
}

uint32_t bpf_runtime__unwind_rows(const struct bpf_runtime *e)
{
	return e->nrows;
}

/* Mapped for as long as it takes: the kernel counts what is mapped of a map as memory in use. */
int bpf_runtime__store_rows(struct bpf_runtime *e, uint32_t first, const struct qz_unwind_row *rows,
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

uint32_t bpf_runtime__unwind_regions(const struct bpf_runtime *e, struct qz_unwind_region **regions)
{
	if (regions)
		*regions = e->unwind_regions;
	return UNWIND_REGIONS;
}

struct qz_spin_address *bpf_runtime__spin_addresses(const struct bpf_runtime *e)
{
	return e->spin_addresses;
}

uint32_t bpf_runtime__processors(const struct bpf_runtime *e)
{
	return e->processors;
}

uint32_t bpf_runtime__level_stride(const struct bpf_runtime *e)
{
	return e->level_stride;
}

uint32_t bpf_runtime__max_scopes(const struct bpf_runtime *e)
{
	return e->opts.max_scopes;
}

struct qz_control *bpf_runtime__control(const struct bpf_runtime *e)
{
	return e->control;
}

struct qz_cpu_state *bpf_runtime__cpus(const struct bpf_runtime *e)
{
	return e->cpus;
}

int bpf_runtime__swap_buffers(struct bpf_runtime *e, struct bpf_runtime_half *half)
{
	uint32_t epoch = e->control->epoch, which = epoch & 1;

	__atomic_store_n(&e->control->epoch, epoch + 1, __ATOMIC_SEQ_CST);
	half->stacks = &e->stacks[(size_t)which * e->nstacks];
	half->frames = &e->frames[(size_t)which * e->nframes];
	half->records = &e->samples[(size_t)which * e->nrecords * e->processors];
	half->which = which;
	half->nstacks = e->nstacks;
	half->nframes = e->nframes;
	for (uint32_t cpu = 0; cpu < e->processors; cpu++) {
		int tries = 0;

		while (__atomic_load_n(&e->cpus[cpu].in_sample, __ATOMIC_SEQ_CST) == epoch + 1) {
			if (++tries > SWAP_TRIES)
				return bpf_runtime__fail(
					e, -ETIME, "processor %u does not leave the sampler", cpu);
			usleep(100);
		}
	}
	return 0;
}

const struct qz_sample_record *bpf_runtime__records(const struct bpf_runtime *e,
						    const struct bpf_runtime_half *half,
						    uint32_t cpu, uint32_t *n)
{
	*n = e->cpus[cpu].records[half->which];
	if (*n > e->nrecords)
		*n = e->nrecords;
	return &half->records[(size_t)cpu * e->nrecords];
}

void bpf_runtime__clear(struct bpf_runtime *e, struct bpf_runtime_half *half)
{
	uint32_t which = half->which;

	for (uint32_t i = 0; i < half->nstacks; i++)
		if (half->stacks[i].hash)
			memset(&half->stacks[i], 0, sizeof(half->stacks[i]));
	for (uint32_t i = 0; i < e->processors; i++)
		e->cpus[i].records[which] = 0;
	e->control->stacks_used[which] = 0;
	e->control->frames_used[which] = 0;
}

const struct bpf_runtime_waits *bpf_runtime__waits(const struct bpf_runtime *e)
{
	return &e->waits;
}

struct qz_object_slot *bpf_runtime__objects(const struct bpf_runtime *e)
{
	return e->objects;
}

struct qz_object_figures *bpf_runtime__object_figures(const struct bpf_runtime *e)
{
	return e->object_figures;
}

static unsigned int percent(uint32_t used, uint32_t size)
{
	return (uint64_t)used * 100 / size;
}

unsigned int bpf_runtime__fill(const struct bpf_runtime *e)
{
	uint32_t which = e->control->epoch & 1;
	unsigned int stacks = percent(e->control->stacks_used[which], e->nstacks);
	unsigned int frames = percent(e->control->frames_used[which], e->nframes);
	unsigned int most = stacks > frames ? stacks : frames;

	for (uint32_t i = 0; i < e->processors; i++) {
		unsigned int records = percent(e->cpus[i].records[which], e->nrecords);

		most = records > most ? records : most;
	}
	return most;
}
