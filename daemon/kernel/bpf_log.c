// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/bpf_log.h"

#include <errno.h>
#include <poll.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "daemon/kernel/bpf_runtime_private.h"
#include "daemon/util/processors.h"

#define MEMORY	       (64u << 20) /* of all logs, where that leaves none too small */
#define FOLLOWED_WORDS ((4u << 20) / 64)
#define SITES	       65536 /* LOG_SITES of bpf/log.bpf.h */
/* The stack of a place is walked anew after so many times a millisecond: of the machine's, after 64. */
#define SYSTEM_DOUBLINGS 6
#define MOST_DOUBLINGS	 10

static uint32_t choose_size(uint32_t processors)
{
	uint32_t size = QZ_LOG_MOST;

	while (size > QZ_LOG_LEAST &&
	       (uint64_t)size * processors * sizeof(struct qz_log_record) > MEMORY)
		size /= 2;
	return size;
}

static size_t bytes_of(const struct bpf_runtime *bpf)
{
	return (size_t)(QZ_LOG_FIRST + bpf->nlog) * sizeof(struct qz_log_record);
}

uint64_t bpf_log__bytes(const struct bpf_runtime *bpf)
{
	return (uint64_t)bpf->processors * bytes_of(bpf);
}

/* On a NUMA node, -1: any. Gives a descriptor, or -errno. */
static int create(const struct bpf_runtime *bpf, int node)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE | BPF_F_NUMA_NODE,
		    .numa_node = (uint32_t)node);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "log", sizeof(uint32_t),
				sizeof(struct qz_log_record), QZ_LOG_FIRST + bpf->nlog, &opts);

	return fd < 0 ? -errno : fd;
}

/*
 * What all logs are like, for the verifier: the first one. libbpf cannot set the size of a template that it has made
 * itself.
 */
static int set_template(struct bpf_runtime *bpf)
{
	int err;

	if (bpf->log_template > 0) /* of programs that the kernel has refused */
		close(bpf->log_template);
	bpf->log_template = create(bpf, processors__node(0));
	if (bpf->log_template < 0)
		return bpf->log_template;
	err = bpf_map__set_max_entries(bpf->skel->maps.logs, bpf->processors);
	return err ?: bpf_map__set_inner_map_fd(bpf->skel->maps.logs, bpf->log_template);
}

int bpf_log__set_sizes(struct bpf_runtime *bpf)
{
	struct quartz *s = bpf->skel;
	int err;

	bpf->nlog = choose_size(bpf->processors);
	s->rodata->log_follows_all = bpf->opts.every_process && !bpf->opts.pid_namespace;
	s->rodata->nr_log_records = bpf->nlog;
	bpf_log__set_halvings(bpf, 0);
	err = set_template(bpf);
	err = err ?: bpf_map__set_max_entries(s->maps.log_sites, SITES);
	if (!err && !s->rodata->log_follows_all)
		err = bpf_map__set_max_entries(s->maps.followed, FOLLOWED_WORDS);
	return err;
}

void bpf_log__set_halvings(struct bpf_runtime *bpf, uint32_t halvings)
{
	uint32_t doublings = 2 * halvings + (bpf->opts.every_process ? SYSTEM_DOUBLINGS : 0);

	bpf->skel->data->log_site_age =
		1u << (doublings < MOST_DOUBLINGS ? doublings : MOST_DOUBLINGS);
}

/* Its pages are there before the processor writes to them. */
static int make_log(struct bpf_runtime *bpf, uint32_t cpu)
{
	int fd = cpu ? create(bpf, processors__node(cpu)) : bpf->log_template, err;
	void *memory;

	if (fd < 0)
		return fd;
	memory =
		mmap(NULL, bytes_of(bpf), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	err = memory == MAP_FAILED ? -errno : 0;
	if (!err)
		bpf->logs[cpu] = memory;
	if (!err && bpf_map_update_elem(bpf_map__fd(bpf->skel->maps.logs), &cpu, &fd, BPF_ANY))
		err = -errno;
	if (cpu)
		close(fd);
	return err;
}

/* They only wake. */
static int ignore(void *context, void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return 0;
}

int bpf_log__make(struct bpf_runtime *bpf)
{
	int err = 0;

	bpf->logs = calloc(bpf->processors, sizeof(*bpf->logs));
	if (!bpf->logs)
		err = -ENOMEM;
	for (uint32_t cpu = 0; !err && cpu < bpf->processors; cpu++)
		err = make_log(bpf, cpu);
	if (!err) {
		bpf->log_alarms = ring_buffer__new(bpf_map__fd(bpf->skel->maps.log_alarms), ignore,
						   NULL, NULL);
		err = bpf->log_alarms ? 0 : -errno;
	}
	return err ? bpf_runtime__fail(
			     bpf, err,
			     "cannot make the scheduler's log (%zu bytes a processor): %s",
			     bytes_of(bpf), strerror(-err))
		   : 0;
}

void bpf_log__free(struct bpf_runtime *bpf)
{
	ring_buffer__free(bpf->log_alarms);
	for (uint32_t cpu = 0; bpf->logs && cpu < bpf->processors; cpu++)
		if (bpf->logs[cpu])
			munmap(bpf->logs[cpu], bytes_of(bpf));
	free(bpf->logs);
	if (bpf->log_template > 0)
		close(bpf->log_template);
}

void bpf_log__turn(struct bpf_runtime *bpf, enum qz_log_on on)
{
	for (uint32_t cpu = 0; cpu < bpf->processors; cpu++)
		__atomic_store_n(&bpf->logs[cpu]->on, on, __ATOMIC_SEQ_CST);
	if (on != QZ_LOG_ON) /* lets what runs on other processors come to its end */
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

uint32_t bpf_log__size(const struct bpf_runtime *bpf)
{
	return bpf->nlog;
}

struct qz_log_head *bpf_log__of(const struct bpf_runtime *bpf, uint32_t cpu)
{
	return bpf->logs[cpu];
}

void bpf_log__await(struct bpf_runtime *bpf, int wake, int ms)
{
	struct pollfd fds[] = {
		{.fd = ring_buffer__epoll_fd(bpf->log_alarms), .events = POLLIN},
		{.fd = wake, .events = POLLIN},
	};

	poll(fds, sizeof(fds) / sizeof(fds[0]), ms);
	ring_buffer__consume(bpf->log_alarms);
}
