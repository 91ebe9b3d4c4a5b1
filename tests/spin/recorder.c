/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/spin/recorder.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/util/vec.h"

#define PAGES	 512
#define PAGE	 4096UL
#define MAX_CPUS 256

/* In the order in which the kernel gives them, the registers by their number in instructions. */
static const int order[] = {0, 3, 1, 2, 6, 7, 5, 4, -1, 8, 9, 10, 11, 12, 13, 14, 15};
#define REGISTERS ((0x1ffULL) | (0xffULL << PERF_REG_X86_R8))

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

static int open_ring(struct ring *ring, pid_t pid, int cpu, unsigned int rate)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_freq = rate,
		.freq = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGISTERS,
		.sample_stack_user = STACK_WORDS * 8,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = PAGES * PAGE / 4,
	};
	void *map;

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return -errno;
	map = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	ring->page = map;
	return 0;
}

struct sample_event {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time, abi, values[];
};

/* Threads that are leaving have no user registers any more. */
static void take_sample(struct recording *r, const struct sample_event *e)
{
	const uint64_t *values = e->values, *stack;
	struct sample *s;

	if (!e->abi || qz_array__reserve((void **)&r->samples, r->nsamples, sizeof(*s)))
		return;
	s = &r->samples[r->nsamples++];
	*s = (struct sample) {.time = e->time, .pid = e->pid, .tid = e->tid};
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (order[i] < 0)
			s->ip = values[i];
		else
			s->registers[order[i]] = values[i];
	stack = values + sizeof(order) / sizeof(*order);
	if (*stack == sizeof(s->stack))
		memcpy(s->stack, stack + 1, sizeof(s->stack));
}

struct mmap_event {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

static void take_mapping(struct recording *r, const struct mmap_event *e)
{
	const uint64_t *end = (const uint64_t *)((const char *)e + e->header.size);
	struct mapping *m;

	if (qz_array__reserve((void **)&r->mappings, r->nmappings, sizeof(*m)))
		return;
	m = &r->mappings[r->nmappings++];
	*m = (struct mapping) {
		.time = end[-1],
		.pid = e->pid,
		.start = e->start,
		.end = e->start + e->length,
		.offset = e->offset,
		.path = strdup(e->path),
	};
}

static void drain(struct ring *ring, struct recording *r)
{
	const char *data = (const char *)ring->page + PAGE;
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	static char event[65536] __attribute__((aligned(8)));

	while (tail < head) {
		struct perf_event_header header;

		for (size_t i = 0; i < sizeof(header); i++)
			((char *)&header)[i] = data[(tail + i) % (PAGES * PAGE)];
		for (size_t i = 0; i < header.size; i++)
			event[i] = data[(tail + i) % (PAGES * PAGE)];
		if (header.type == PERF_RECORD_SAMPLE)
			take_sample(r, (const void *)event);
		else if (header.type == PERF_RECORD_MMAP2)
			take_mapping(r, (const void *)event);
		else if (header.type == PERF_RECORD_LOST)
			r->lost += ((const uint64_t *)event)[2];
		tail += header.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

static int by_thread(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

static int by_time(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* The child waits for a byte, so that the events are there before it becomes the command. */
static pid_t start(char *const argv[], int *go)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

int recorder__run(char *const argv[], unsigned int rate, struct recording *r)
{
	struct ring rings[MAX_CPUS];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int go, status = 0, err = 0, n = 0;
	pid_t pid = start(argv, &go);

	*r = (struct recording) {0};
	if (pid < 0)
		return -1;
	for (; n < cpus && n < MAX_CPUS && !err; n++)
		err = open_ring(&rings[n], pid, n, rate);
	if (err) {
		fprintf(stderr, "cannot sample: %s\n", strerror(-err));
		kill(pid, SIGKILL);
	} else if (write(go, "", 1) != 1) {
		err = -errno;
	}
	close(go);
	while (waitpid(pid, &status, err ? 0 : WNOHANG) == 0) {
		for (int i = 0; i < n; i++)
			drain(&rings[i], r);
		poll(NULL, 0, 20);
	}
	for (int i = 0; i < n && !err; i++)
		drain(&rings[i], r);
	if (r->nsamples)
		qsort(r->samples, r->nsamples, sizeof(*r->samples), by_thread);
	if (r->nmappings)
		qsort(r->mappings, r->nmappings, sizeof(*r->mappings), by_time);
	return err ? -1 : status;
}

void recorder__free(struct recording *r)
{
	for (uint32_t i = 0; i < r->nmappings; i++)
		free(r->mappings[i].path);
	free(r->mappings);
	free(r->samples);
}
