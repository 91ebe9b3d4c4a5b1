// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "core/util/clock.h"
#include "daemon/kernel/bpf_log.h"
#include "daemon/kernel/bpf_candidates.h"
#include "daemon/kernel/bpf_rows.h"
#include "daemon/kernel/bpf_runtime_private.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/kernel/kernel_types.h"
#include "daemon/kernel/program_loader.h"
#include "daemon/kernel/verifier_log.h"
#include "daemon/util/log.h"
#include "daemon/util/memory_limit.h"
#include "daemon/util/paths.h"
#include "daemon/util/processors.h"

/* Per buffer and processor, where the rate is not above it, or there are few processors. */
#define SAMPLES_PER_CPU	    1024 /* of a buffer, which is changed once a second */
#define MOST_SECONDS	    4	 /* so many of samples are room enough */
#define LEAST_REGISTERS	    64
#define MIN_SAMPLES	    16384
#define MAX_STACKS	    (1u << 20) /* 20 bits of the sample key */
#define FRAMES_PER_STACK    24
#define PROGRAM_WAIT_STACKS (16u << 10)
#define SYSTEM_WAIT_STACKS  (64u << 10)
/* Of waits, only those of stacks that were seen for the first time within a second. */
#define WAIT_FRAMES_PER_STACK 8
/* Unwind tables. */
#define PROGRAM_REGIONS (32u << 10)
#define SYSTEM_REGIONS                                                                             \
	(128u                                                                                      \
	 << 10) /* of 2,000 processes with 64 each: what a binary search of the walker reaches */
/* Processes of one program, or of the machine, that are walked at a time: of more, the ones used least recently are forgotten. */
#define PROGRAM_IMAGES (8u << 10)
#define SYSTEM_IMAGES  (64u << 10)
#define SWAP_TRIES     10000 /* of 100 us */
/* Beside maps and logs: for one program, and what the machine takes more. With a tenth less, quartzd was killed. */
#define OWN_BYTES    (32ull << 20)
#define SYSTEM_BYTES (60ull << 20)

int bpf_runtime__fail(struct bpf_runtime *bpf, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(bpf->error, sizeof(bpf->error), format, args);
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
	struct bpf_runtime *bpf = calloc(1, sizeof(*bpf));

	if (!bpf)
		return NULL;
	bpf->opts = *opts;
	libbpf_set_print(print_libbpf);
	return bpf;
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
	SHARED(text_levels, levels),
	SHARED(stacks, stacks),
	SHARED(frames, frames),
	SHARED(samples, samples),
	SHARED(register_sets, register_sets),
	SHARED(waits.stacks, wait_stacks),
	SHARED(waits.frames, wait_frames),
	SHARED(objects, objects),
	SHARED(used, used),
	SHARED(unwind_regions, unwind_regions),
	SHARED(spin_addresses, spin_addresses),
	SHARED(python_known, python_known),
};

#define NSHARED (sizeof(shared) / sizeof(shared[0]))

static void **memory_of(struct bpf_runtime *bpf, size_t i)
{
	return (void **)((char *)bpf + shared[i].memory);
}

static struct bpf_map *map_of(const struct bpf_runtime *bpf, size_t i)
{
	return *(struct bpf_map **)((char *)bpf->skel + shared[i].map);
}

static size_t size_of(const struct bpf_map *map)
{
	return (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
}

void bpf_runtime__free(struct bpf_runtime *bpf)
{
	if (!bpf)
		return;
	ring_buffer__free(bpf->events);
	ring_buffer__free(bpf->python_codes);
	program_loader__free(bpf->loader);
	kernel_types__free(bpf->types);
	bpf_log__free(bpf);
	bpf_rows__free(bpf);
	for (size_t i = 0; i < NSHARED; i++)
		if (*memory_of(bpf, i))
			munmap(*memory_of(bpf, i), size_of(map_of(bpf, i)));
	quartz__destroy(bpf->skel);
	free(bpf->object_figures);
	free(bpf->ended_scopes);
	for (uint32_t i = 0; bpf->levels && i < bpf->opts.max_scopes; i++)
		free(bpf->levels[i].ns);
	free(bpf->levels);
	free(bpf);
}

const char *bpf_runtime__error(const struct bpf_runtime *bpf)
{
	return bpf->error;
}

bool bpf_runtime__follows_all(const struct bpf_runtime *bpf)
{
	return bpf->opts.every_process;
}

bool bpf_runtime__is_contained(const struct bpf_runtime *bpf)
{
	return bpf->opts.pid_namespace;
}

/* ---- loading ---- */

static int on_event(void *context, void *data, size_t size)
{
	struct bpf_runtime *bpf = context;
	const struct qz_event *event = data;

	if (size >= sizeof(*event) && event->length <= size && bpf->call)
		bpf->call(bpf->context, event, event->length);
	return 0;
}

static void choose_sizes(struct bpf_runtime *bpf)
{
	bpf->processors = processors__numbers();
	bpf->level_stride = bpf->processors < QZ_TEXT_LEVELS ? bpf->processors + 1 : QZ_TEXT_LEVELS;
	bpf->nrecords = SAMPLES_PER_CPU;
	if (bpf->nrecords > MOST_SECONDS * bpf->opts.rate)
		bpf->nrecords = MOST_SECONDS * bpf->opts.rate;
	if (bpf->nrecords < bpf->opts.rate)
		bpf->nrecords = bpf->opts.rate;
	if (bpf->nrecords * bpf->processors < MIN_SAMPLES)
		bpf->nrecords = MIN_SAMPLES / bpf->processors;
	/* of one swap of the buffers to the next */
	bpf->nregisters = bpf->opts.rate < bpf->nrecords ? bpf->opts.rate : bpf->nrecords;
	if (bpf->nregisters < LEAST_REGISTERS)
		bpf->nregisters = LEAST_REGISTERS;
	bpf->nstacks = round_up_power_of_two(bpf->nrecords * bpf->processors) / 2;
	if (bpf->nstacks > MAX_STACKS)
		bpf->nstacks = MAX_STACKS;
	bpf->nframes = bpf->nstacks * FRAMES_PER_STACK;
	bpf->waits.nstacks = bpf->opts.every_process ? SYSTEM_WAIT_STACKS : PROGRAM_WAIT_STACKS;
	bpf->waits.nframes = bpf->waits.nstacks * WAIT_FRAMES_PER_STACK;
}

unsigned int bpf_runtime__watchdog_seconds(void)
{
	const char *ours = secure_getenv("QUARTZ_WATCHDOG_SECONDS");
	unsigned long seconds = ours ? strtoul(ours, NULL, 10) : 0;

	return seconds >= 10 && seconds <= 3600 ? (unsigned int)seconds : 60;
}

static uint32_t words_of_used(const struct bpf_runtime *bpf)
{
	return (bpf->waits.nstacks + QZ_OBJECT_SLOTS) / 64;
}

/* In the order of bpf/maps.bpf.h. */
static void divide_used(struct bpf_runtime *bpf)
{
	bpf->waits.used_stacks = bpf->used;
	bpf->used_objects = bpf->waits.used_stacks + bpf->waits.nstacks / 64;
}

static int set_sizes(struct bpf_runtime *bpf)
{
	struct quartz *s = bpf->skel;
	uint32_t images = bpf->opts.every_process ? SYSTEM_IMAGES : PROGRAM_IMAGES;
	uint32_t scopes = bpf->opts.max_scopes;
	int err;

	bpf_program__set_autoload(s->progs.on_map, !bpf->blind);
	s->rodata->level_stride = bpf->level_stride;
	s->rodata->nr_stacks = bpf->nstacks;
	s->rodata->nr_frames = bpf->nframes;
	s->rodata->nr_records = bpf->nrecords;
	s->rodata->nr_registers = bpf->nregisters;
	s->rodata->nr_processors = bpf->processors;
	s->rodata->nr_wait_stacks = bpf->waits.nstacks;
	s->rodata->nr_wait_frames = bpf->waits.nframes;
	s->rodata->watchdog_ns = bpf_runtime__watchdog_seconds() * 1000000000ull;
	s->rodata->wanted_woken = bpf->opts.woken;
	s->rodata->wanted_lines = bpf->opts.lines;
	s->rodata->every_process = bpf->opts.every_process;
	s->rodata->finds_command = bpf->opts.finds_command;
	s->rodata->pid_namespace = bpf->opts.pid_namespace;
	err = bpf_candidates__set_sizes(bpf, bpf->opts.what_if);
	err = err ?: bpf_log__set_sizes(bpf);
	err = err ?: bpf_map__set_max_entries(s->maps.cpus, bpf->processors);
	err = err ?: bpf_map__set_max_entries(s->maps.scopes, scopes);
	err = err ?: bpf_map__set_max_entries(s->maps.levels, scopes * bpf->level_stride);
	err = err ?: bpf_map__set_max_entries(s->maps.free_scopes, scopes);
	err = err ?: bpf_map__set_max_entries(s->maps.targets, scopes + 1024);
	err = err ?: bpf_map__set_max_entries(s->maps.stacks, 2 * bpf->nstacks);
	err = err ?: bpf_map__set_max_entries(s->maps.frames, 2 * bpf->nframes);
	err = err ?: bpf_map__set_max_entries(s->maps.samples, 2 * bpf->nrecords * bpf->processors);
	err = err
		      ?: bpf_map__set_max_entries(s->maps.register_sets,
						  2 * bpf->nregisters * bpf->processors);
	err = err ?: bpf_map__set_max_entries(s->maps.wait_stacks, bpf->waits.nstacks);
	err = err ?: bpf_map__set_max_entries(s->maps.wait_frames, bpf->waits.nframes);
	err = err ?: bpf_map__set_max_entries(s->maps.used, words_of_used(bpf));
	err = err ?: bpf_rows__set_sizes(bpf);
	err = err ?: bpf_map__set_max_entries(s->maps.unwind_images, images);
	err = err ?: bpf_map__set_max_entries(s->maps.found_images, images);
	err = err
		      ?: bpf_map__set_max_entries(s->maps.unwind_regions,
						  bpf_runtime__unwind_regions(bpf, NULL));
	return err;
}

static int map_all(struct bpf_runtime *bpf)
{
	for (size_t i = 0; i < NSHARED; i++) {
		const struct bpf_map *map = map_of(bpf, i);
		void *memory = mmap(NULL, size_of(map), PROT_READ | PROT_WRITE, MAP_SHARED,
				    bpf_map__fd(map), 0);

		if (memory == MAP_FAILED)
			return bpf_runtime__fail(bpf, -errno,
						 "cannot map BPF map %s (%zu bytes): %s",
						 bpf_map__name(map), size_of(map), strerror(errno));
		*memory_of(bpf, i) = memory;
	}
	divide_used(bpf);
	for (uint32_t i = 0; i < bpf->processors; i++)
		bpf->cpus[i].scope = QZ_NO_SCOPE;
	bpf->object_figures = calloc(QZ_OBJECT_SLOTS, sizeof(*bpf->object_figures));
	bpf->ended_scopes = calloc((bpf->opts.max_scopes + 63) / 64, sizeof(*bpf->ended_scopes));
	bpf->levels = calloc(bpf->opts.max_scopes, sizeof(*bpf->levels));
	if (!bpf->object_figures || !bpf->ended_scopes || !bpf->levels)
		return bpf_runtime__fail(bpf, -ENOMEM, "out of memory");
	return 0;
}

static int explain_load(struct bpf_runtime *bpf, int err)
{
	const struct bpf_program *failed = program_loader__failed(bpf->loader);
	char what[96] = "the BPF programs";

	if (err == -EDQUOT) /* said by check_memory() */
		return err;
	if (failed)
		snprintf(what, sizeof(what), "BPF program %s (%s)", bpf_program__name(failed),
			 bpf_program__section_name(failed));
	if (err == -EPERM || err == -EACCES)
		return bpf_runtime__fail(
			bpf, err,
			"the kernel refused %s: %s; run as root, in a container with CAP_BPF and "
			"CAP_PERFMON and a seccomp profile that lets bpf pass; see `quartzctl "
			"doctor`",
			what, strerror(-err));
	if (err == -ESRCH || err == -ENOENT)
		return bpf_runtime__fail(bpf, -ENOSYS,
					 "this kernel has no BTF or lacks a tracepoint that is "
					 "needed; Linux >= 5.15 with CONFIG_DEBUG_INFO_BTF=y is");
	if (err == -EMFILE || err == -ENFILE)
		return bpf_runtime__fail(
			bpf, err, "cannot load %s: %s; raise the limit of open files (ulimit -n)",
			what, strerror(-err));
	return bpf_runtime__fail(bpf, err, "cannot load %s: %s; `--verbose` shows why", what,
				 strerror(-err));
}

/* Rather than be killed: what maps take, which the kernel counts as quartzd's, and programs and quartzd itself. */
static int check_memory(struct bpf_runtime *bpf)
{
	uint64_t left = memory_limit__left(), needed = OWN_BYTES + bpf_log__bytes(bpf);
	const struct bpf_map *map;

	bpf_object__for_each_map(map, bpf->skel->obj) needed += size_of(map);
	if (bpf->opts.every_process)
		needed += SYSTEM_BYTES;
	if (needed <= left)
		return 0;
	return bpf_runtime__fail(bpf, -EDQUOT,
				 "the memory limit of its control group leaves %" PRIu64
				 " MiB, and at least %" PRIu64
				 " MiB are needed; raise it (MemoryMax=, docker --memory)",
				 left >> 20, needed >> 20);
}

/* Where the types cannot be had in this way, or libbpf is to print all, it reads them itself. */
static struct quartz *open_programs(struct bpf_runtime *bpf, bool logged)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	const void *object;
	size_t size;

	object = quartz__elf_bytes(&size);
	if (!logged && !bpf->types)
		bpf->types = kernel_types__open(object, size,
						bpf->opts.keep_types ? paths__cache() : NULL);
	if (bpf->types)
		opts.btf_custom_path = kernel_types__path(bpf->types);
	return quartz__open_opts(&opts);
}

/* Whether the kernel has the tracepoint of on_map is tried: nearly all have it. */
static int load_programs(struct bpf_runtime *bpf)
{
	bool logged = log__prints(LOG_DEBUG); /* by libbpf, which says what the verifier says */
	struct verifier_log *log;
	int err = program_loader__register();

	program_loader__free(bpf->loader);
	bpf->loader = NULL;
	quartz__destroy(bpf->skel);
	bpf->skel = err ? NULL : open_programs(bpf, logged);
	if (!bpf->skel)
		return err ?: -errno;
	err = set_sizes(bpf) ?: check_memory(bpf);
	err = err ?: program_loader__begin(&bpf->loader, bpf->skel->obj, bpf->types);
	if (err)
		return err;
	log = logged ? verifier_log__new(bpf->skel->obj) : NULL;
	err = quartz__load(bpf->skel);
	verifier_log__print(log, bpf->skel->obj);
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

/* Was it what the kernel refused? */
static bool lacks_on_map(const struct bpf_runtime *bpf)
{
	return bpf->skel && program_loader__failed(bpf->loader) == bpf->skel->progs.on_map;
}

int bpf_runtime__load(struct bpf_runtime *bpf)
{
	int err;

	if (access(KERNEL_BTF, R_OK))
		return bpf_runtime__fail(bpf, -ENOSYS,
					 KERNEL_BTF ": %s; a kernel with "
						    "CONFIG_DEBUG_INFO_BTF=y is needed",
					 strerror(errno));
	choose_sizes(bpf);
	err = cause_of(load_programs(bpf));
	if (err == -ESRCH || (err && lacks_on_map(bpf))) {
		bpf->blind = true;
		err = cause_of(load_programs(bpf));
	}
	if (!bpf->skel)
		return bpf_runtime__fail(bpf, err, "cannot open the BPF programs: %s",
					 strerror(-err));
	if (err)
		return explain_load(bpf, err);
	err = map_all(bpf) ?: bpf_log__make(bpf) ?: bpf_rows__make(bpf);
	if (err)
		return err;
	bpf->events = ring_buffer__new(bpf_map__fd(bpf->skel->maps.events), on_event, bpf, NULL);
	if (!bpf->events)
		return bpf_runtime__fail(bpf, -errno, "cannot map the event ring: %s",
					 strerror(errno));
	err = bpf_python__make(bpf);
	if (err)
		return err;
	return bpf->opts.every_process ? bpf_scopes__init(bpf) : 0;
}

int bpf_runtime__await_programs(struct bpf_runtime *bpf)
{
	int err = program_loader__await(bpf->loader, bpf->skel->progs.on_map);

	err = err ? explain_load(bpf, err) : 0;
	bpf->blind |= lacks_on_map(bpf);
	program_loader__free(bpf->loader);
	bpf->loader = NULL;
	kernel_types__free(bpf->types);
	bpf->types = NULL;
	return err;
}

/* ---- attaching ---- */

/* Runs a program in an interrupt of that processor. 0 or -errno: -ENXIO it is offline. */
static int run_on(const struct bpf_program *program, int cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &opts);
}

int bpf_runtime__iterate(struct bpf_runtime *bpf, struct bpf_program *prog,
			 const struct bpf_iter_attach_opts *opts,
			 const struct bpf_runtime_records *records)
{
	_Alignas(uint64_t) char buffer[16384];
	struct bpf_link *link = bpf_program__attach_iter(prog, opts);
	size_t have = 0;
	ssize_t n;
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1, err = 0;

	if (fd < 0) {
		err = bpf_runtime__fail(bpf, -errno, "cannot iterate over the threads: %s",
					strerror(errno));
		bpf_link__destroy(link);
		return err;
	}
	while ((n = read(fd, buffer + have, sizeof(buffer) - have)) > 0) {
		size_t whole = (have + n) / records->size * records->size;

		have += n;
		for (size_t at = 0; records->call && at < whole; at += records->size)
			records->call(records->context, buffer + at);
		have -= whole;
		memmove(buffer, buffer + whole, have);
	}
	if (n < 0)
		err = bpf_runtime__fail(bpf, -errno, "cannot read the threads: %s",
					strerror(errno));
	close(fd);
	bpf_link__destroy(link);
	return err;
}

int bpf_runtime__mark_processor(struct bpf_runtime *bpf, int cpu)
{
	return run_on(bpf->skel->progs.log_here, cpu);
}

/* Sets the mark of each processor, 0 or -errno. */
static int mark_processors(struct bpf_runtime *bpf)
{
	unsigned int marked = 0;
	int err = 0;

	for (uint32_t cpu = 0; cpu < bpf->processors; cpu++) {
		err = bpf_runtime__mark_processor(bpf, cpu);
		if (!err)
			marked++;
		else if (err != -ENXIO) /* offline */
			break;
	}
	if (marked && (!err || err == -ENXIO))
		return 0;
	return bpf_runtime__fail(bpf, err, "cannot run a BPF program on a given processor: %s",
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
	ACCOUNTING(log_switch), ACCOUNTING(log_waking), ACCOUNTING(log_fork), ACCOUNTING(log_exec),
	ACCOUNTING(log_exit),	ACCOUNTING(log_name),	ACCOUNTING(on_map),
};

#define NACCOUNTING (sizeof(accounting) / sizeof(accounting[0]))

static struct bpf_link **link_of(struct bpf_runtime *bpf, size_t i)
{
	return (struct bpf_link **)((char *)bpf->skel + accounting[i].link);
}

int bpf_runtime__attach(struct bpf_runtime *bpf)
{
	for (size_t i = 0; i < NACCOUNTING; i++) {
		struct bpf_program *p =
			*(struct bpf_program **)((char *)bpf->skel + accounting[i].program);
		/* without it it goes, too; see bpf_runtime__sees_mappings */
		bool spare = p == bpf->skel->progs.on_map;

		if (!bpf_program__autoload(p) || (spare && bpf->blind))
			continue;
		*link_of(bpf, i) = bpf_program__attach_trace(p);
		if (!*link_of(bpf, i) && !spare)
			return bpf_runtime__fail(bpf, -errno, "cannot attach BPF program %s: %s",
						 bpf_program__name(p), strerror(errno));
	}
	return mark_processors(bpf);
}

void bpf_runtime__detach(struct bpf_runtime *bpf)
{
	for (size_t i = NACCOUNTING; bpf->skel && i--;) {
		bpf_link__destroy(*link_of(bpf, i));
		*link_of(bpf, i) = NULL;
	}
}

uint64_t bpf_runtime__left_alone(const struct bpf_runtime *bpf)
{
	return __atomic_load_n(&bpf_runtime__control(bpf)->left_alone, __ATOMIC_RELAXED);
}

uint64_t bpf_runtime__freeze(struct bpf_runtime *bpf)
{
	uint64_t now, stopped;

	bpf->skel->bss->frozen = true;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	now = bpf_runtime__now();
	stopped = bpf_runtime__left_alone(bpf) ?: now;
	bpf->alone_ns = now - stopped;
	/* lets what runs on other processors come to its end */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return stopped;
}

uint64_t bpf_runtime__alone_ns(const struct bpf_runtime *bpf)
{
	return bpf->alone_ns;
}

int bpf_runtime__consume(struct bpf_runtime *bpf, bpf_runtime_event *call, void *context)
{
	bpf->call = call;
	bpf->context = context;
	return ring_buffer__consume(bpf->events);
}

int bpf_runtime__event_fd(const struct bpf_runtime *bpf)
{
	return ring_buffer__epoll_fd(bpf->events);
}

int bpf_runtime__sampler_fd(const struct bpf_runtime *bpf)
{
	return bpf_program__fd(bpf->skel->progs.on_sample);
}

struct quartz *bpf_runtime__skeleton(struct bpf_runtime *bpf)
{
	return bpf->skel;
}

int bpf_runtime__thread_of(const struct bpf_runtime *bpf, int pidfd, struct qz_thread_state *state)
{
	return bpf_map_lookup_elem(bpf_map__fd(bpf->skel->maps.threads), &pidfd, state);
}

static int set_element(const struct bpf_map *map, uint32_t image, const void *value)
{
	return value ? bpf_map_update_elem(bpf_map__fd(map), &image, value, BPF_ANY)
		     : bpf_map_delete_elem(bpf_map__fd(map), &image);
}

int bpf_runtime__set_page(const struct bpf_runtime *bpf, uint32_t image,
			  const struct qz_page_place *place)
{
	if (place) /* from now on BPF programs publish which slot is in use on which processor */
		bpf->skel->bss->log_publishes = true;
	return set_element(bpf->skel->maps.pages, image, place);
}

int bpf_runtime__set_unwind_image(struct bpf_runtime *bpf, uint32_t image,
				  const struct qz_unwind_image *regions)
{
	return set_element(bpf->skel->maps.unwind_images, image, regions);
}

/* ---- shared memory ---- */

bool bpf_runtime__sees_mappings(const struct bpf_runtime *bpf)
{
	return bpf->skel->links.on_map;
}

uint32_t bpf_runtime__unwind_regions(const struct bpf_runtime *bpf,
				     struct qz_unwind_region **regions)
{
	if (regions)
		*regions = bpf->unwind_regions;
	return bpf->opts.every_process ? SYSTEM_REGIONS : PROGRAM_REGIONS;
}

void bpf_runtime__take_outside(struct bpf_runtime *bpf, bpf_runtime_outside *call, void *context)
{
	int fd = bpf_map__fd(bpf->skel->maps.outside);
	struct qz_outside what;
	uint32_t pid;

	for (uint32_t n = bpf_map__max_entries(bpf->skel->maps.outside); n; n--) {
		if (bpf_map_get_next_key(fd, NULL, &pid) ||
		    bpf_map_lookup_and_delete_elem(fd, &pid, &what))
			return;
		call(context, pid, &what);
	}
}

struct qz_spin_address *bpf_runtime__spin_addresses(const struct bpf_runtime *bpf)
{
	return bpf->spin_addresses;
}

uint32_t bpf_runtime__processors(const struct bpf_runtime *bpf)
{
	return bpf->processors;
}

uint32_t bpf_runtime__max_scopes(const struct bpf_runtime *bpf)
{
	return bpf->opts.max_scopes;
}

struct qz_control *bpf_runtime__control(const struct bpf_runtime *bpf)
{
	return bpf->control;
}

uint32_t bpf_runtime__next_serial(const struct bpf_runtime *bpf)
{
	return __atomic_add_fetch(&bpf->control->next_serial, 1, __ATOMIC_SEQ_CST);
}

struct qz_cpu_state *bpf_runtime__cpus(const struct bpf_runtime *bpf)
{
	return bpf->cpus;
}

int bpf_runtime__swap_buffers(struct bpf_runtime *bpf, struct bpf_runtime_buffer *buffer)
{
	uint32_t epoch = bpf->control->epoch, which = epoch & 1;

	__atomic_store_n(&bpf->control->epoch, epoch + 1, __ATOMIC_SEQ_CST);
	buffer->stacks = &bpf->stacks[(size_t)which * bpf->nstacks];
	buffer->frames = &bpf->frames[(size_t)which * bpf->nframes];
	buffer->records = &bpf->samples[(size_t)which * bpf->nrecords * bpf->processors];
	buffer->which = which;
	buffer->nstacks = bpf->nstacks;
	buffer->nframes = bpf->nframes;
	for (uint32_t cpu = 0; cpu < bpf->processors; cpu++) {
		int tries = 0;

		while (__atomic_load_n(&bpf->cpus[cpu].in_sample, __ATOMIC_SEQ_CST) == epoch + 1) {
			if (++tries > SWAP_TRIES)
				return bpf_runtime__fail(bpf, -ETIME,
							 "processor %u does not leave the sampler",
							 cpu);
			usleep(100);
		}
	}
	return 0;
}

const struct qz_sample_record *bpf_runtime__records(const struct bpf_runtime *bpf,
						    const struct bpf_runtime_buffer *buffer,
						    uint32_t cpu, uint32_t *n)
{
	*n = bpf->cpus[cpu].records[buffer->which];
	if (*n > bpf->nrecords)
		*n = bpf->nrecords;
	return &buffer->records[(size_t)cpu * bpf->nrecords];
}

const struct qz_register_set *bpf_runtime__registers(const struct bpf_runtime *bpf,
						     const struct bpf_runtime_buffer *buffer,
						     const struct qz_sample_record *record)
{
	size_t cpu = (size_t)(record - buffer->records) / bpf->nrecords;
	uint32_t number = record->registers;

	if (!number || number > bpf->nregisters)
		return NULL;
	return &bpf->register_sets[(buffer->which * bpf->processors + cpu) * bpf->nregisters +
				   number - 1];
}

void bpf_runtime__clear(struct bpf_runtime *bpf, struct bpf_runtime_buffer *buffer)
{
	uint32_t which = buffer->which;

	for (uint32_t i = 0; i < buffer->nstacks; i++)
		if (buffer->stacks[i].hash)
			memset(&buffer->stacks[i], 0, sizeof(buffer->stacks[i]));
	for (uint32_t i = 0; i < bpf->processors; i++)
		bpf->cpus[i].records[which] = bpf->cpus[i].registers[which] = 0;
	bpf->control->stacks_used[which] = 0;
	bpf->control->frames_used[which] = 0;
}

struct qz_sample_record *bpf_runtime__sample(const struct bpf_runtime *bpf, uint32_t which,
					     uint32_t cpu, uint32_t number)
{
	if (which > 1 || cpu >= bpf->processors || number >= bpf->nrecords)
		return NULL;
	return &bpf->samples[((size_t)which * bpf->processors + cpu) * bpf->nrecords + number];
}

const struct bpf_runtime_waits *bpf_runtime__waits(const struct bpf_runtime *bpf)
{
	return &bpf->waits;
}

struct qz_object_slot *bpf_runtime__objects(const struct bpf_runtime *bpf)
{
	return bpf->objects;
}

uint64_t *bpf_runtime__used_objects(const struct bpf_runtime *bpf)
{
	return bpf->used_objects;
}

struct qz_object_figures *bpf_runtime__object_figures(const struct bpf_runtime *bpf)
{
	return bpf->object_figures;
}

static unsigned int percent(uint32_t used, uint32_t size)
{
	return (uint64_t)used * 100 / size;
}

unsigned int bpf_runtime__fill(const struct bpf_runtime *bpf)
{
	uint32_t which = bpf->control->epoch & 1;
	unsigned int stacks = percent(bpf->control->stacks_used[which], bpf->nstacks);
	unsigned int frames = percent(bpf->control->frames_used[which], bpf->nframes);
	unsigned int most = stacks > frames ? stacks : frames;

	for (uint32_t i = 0; i < bpf->processors; i++) {
		unsigned int records = percent(bpf->cpus[i].records[which], bpf->nrecords);

		most = records > most ? records : most;
	}
	return most;
}
