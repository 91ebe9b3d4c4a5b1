/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uring KIND [N]: waits N times in io_uring_enter for something of one kind, each time for some milliseconds, in a procedure
 * wait_KIND. Tells how long that took in all. Kinds: see the table at the end. Ends with status 77 where the kernel lets
 * nobody use io_uring.
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define PAUSE_US 3000
#define ENTRIES	 16

static struct {
	int fd, enter_fd;   /* two numbers if it is registered */
	unsigned int flags; /* of each call */
	unsigned int *tail, *mask, *array, *done, *answered;
	struct io_uring_sqe *requests;
} ring;

static void *map(size_t size, off_t offset)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
			offset);

	if (at == MAP_FAILED)
		die("mmap", errno);
	return at;
}

static void set_up(void)
{
	struct io_uring_params p = {0};
	char *sq, *cq;

	ring.fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &p);
	if (ring.fd < 0) {
		fprintf(stderr, "io_uring_setup: %s\n", strerror(errno));
		exit(77);
	}
	ring.enter_fd = ring.fd;
	sq = map(p.sq_off.array + p.sq_entries * sizeof(unsigned int), IORING_OFF_SQ_RING);
	cq = map(p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	ring.requests = map(p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	ring.tail = (unsigned int *)(sq + p.sq_off.tail);
	ring.mask = (unsigned int *)(sq + p.sq_off.ring_mask);
	ring.array = (unsigned int *)(sq + p.sq_off.array);
	ring.done = (unsigned int *)(cq + p.cq_off.head);
	ring.answered = (unsigned int *)(cq + p.cq_off.tail);
}

static struct io_uring_sqe *ask(int op, int fd, void *address, unsigned int length)
{
	unsigned int i = *ring.tail & *ring.mask;
	struct io_uring_sqe *request = &ring.requests[i];

	memset(request, 0, sizeof(*request));
	request->opcode = (__u8)op;
	request->fd = fd;
	request->addr = (uintptr_t)address;
	request->len = length;
	ring.array[i] = i;
	__atomic_store_n(ring.tail, *ring.tail + 1, __ATOMIC_RELEASE);
	return request;
}

/* Submits, and waits until one answer more is there. */
static inline __attribute__((always_inline)) void await(unsigned int asked)
{
	if (syscall(SYS_io_uring_enter, ring.enter_fd, asked, 1,
		    IORING_ENTER_GETEVENTS | ring.flags, NULL, 0) < 0)
		die("io_uring_enter", errno);
	__atomic_store_n(ring.done, *ring.done + 1, __ATOMIC_RELEASE);
}

static long rounds;
static int fds[2];
static char byte;
static struct __kernel_timespec pause_time = {.tv_nsec = PAUSE_US * 1000};
static struct __kernel_timespec never = {.tv_sec = 1000};

static void *send_bytes(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		usleep(PAUSE_US);
		if (write(fds[1], "", 1) != 1)
			die("write", errno);
	}
	return arg;
}

PROCEDURE static void wait_timer(void)
{
	ask(IORING_OP_TIMEOUT, -1, &pause_time, 1);
	await(1);
}

PROCEDURE static void wait_socket(void)
{
	ask(IORING_OP_RECV, fds[0], &byte, 1);
	await(1);
}

PROCEDURE static void wait_pipe(void)
{
	ask(IORING_OP_READ, fds[0], &byte, 1);
	await(1);
}

/* A socket and a clock that does not strike: the first of the two is waited for. */
PROCEDURE static void wait_limited(void)
{
	ask(IORING_OP_RECV, fds[0], &byte, 1);
	await(1);
}

/* Readiness and an answer: two kinds at a time. */
PROCEDURE static void wait_mixed(void)
{
	ask(IORING_OP_RECV, fds[0], &byte, 1);
	await(1);
}

static void nothing(void)
{
}

#ifndef IORING_ENTER_REGISTERED_RING /* since 5.18 */
#define IORING_ENTER_REGISTERED_RING (1U << 4)
#define IORING_REGISTER_RING_FDS     20
struct io_uring_rsrc_update {
	__u32 offset, resv;
	__u64 data;
};
#endif

static void register_ring(void)
{
	struct io_uring_rsrc_update update = {.offset = UINT32_MAX, .data = (__u64)ring.fd};

	if (syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_RING_FDS, &update, 1) != 1)
		exit(77);
	ring.enter_fd = (int)update.offset;
	ring.flags = IORING_ENTER_REGISTERED_RING;
}

PROCEDURE static void wait_registered(void)
{
	ask(IORING_OP_RECV, fds[0], &byte, 1);
	await(1);
}

static void ask_for_time(void)
{
	ask(IORING_OP_TIMEOUT, -1, &never, 0);
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0) != 1)
		die("io_uring_enter", errno);
}

static void ask_for_readiness(void)
{
	static int others[2];

	if (pipe(others))
		die("pipe", errno);
	ask(IORING_OP_POLL_ADD, others[0], NULL, 0)->poll_events = 1;
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0) != 1)
		die("io_uring_enter", errno);
}

static FILE *file;

/* A request of before, and then many for a file, one after the other: it is no wait for the file. */
PROCEDURE static void wait_after_writes(void)
{
	ask(IORING_OP_RECV, fds[0], &byte, 1);
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0) != 1)
		die("io_uring_enter", errno);
	for (int i = 0; i < 12; i++) {
		ask(IORING_OP_WRITE, fileno(file), "x", 1);
		await(1);
	}
	await(0);
}

#define PIECE 4096

/* Read past the page cache, a piece each time. */
PROCEDURE static void wait_device(void)
{
	static char *piece;
	static long i;

	if (!piece)
		piece = aligned_alloc(PIECE, PIECE);
	if (!piece)
		die("aligned_alloc", ENOMEM);
	ask(IORING_OP_READ, fds[0], piece, PIECE)->off = (__u64)(i++ % 256 * PIECE);
	await(1);
}

static void open_device(void)
{
	static char text[256 * PIECE];
	int fd = open("direct", O_RDWR | O_CREAT, 0600);

	if (fd < 0 || write(fd, text, sizeof(text)) != sizeof(text) || fsync(fd))
		die("direct", errno);
	close(fd);
	fds[0] = open("direct", O_RDONLY | O_DIRECT);
	if (fds[0] < 0)
		exit(77);
}

static void open_file(void)
{
	file = tmpfile();
	if (!file)
		die("tmpfile", errno);
}

static const struct {
	const char *name;
	void (*wait)(void);
	int domain;	    /* of the socket that bytes come from; 0: a pipe, -1: no bytes */
	void (*once)(void); /* before the first wait */
} kinds[] = {
	{"timer", wait_timer, -1, nothing},
	{"socket", wait_socket, AF_UNIX, nothing},
	{"pipe", wait_pipe, 0, nothing},
	{"registered", wait_registered, AF_UNIX, register_ring},
	{"limited", wait_limited, AF_UNIX, ask_for_time},
	{"mixed", wait_mixed, AF_UNIX, ask_for_readiness},
	{"device", wait_device, -1, open_device},
	{"after_writes", wait_after_writes, AF_UNIX, open_file},
};

static uint64_t wait_all(size_t kind)
{
	pthread_t helper;
	uint64_t ns = 0;

	kinds[kind].once();
	if (kinds[kind].domain >= 0)
		check("pthread_create", pthread_create(&helper, NULL, send_bytes, NULL));
	for (long i = 0; i < rounds; i++) {
		uint64_t start = clock_ns(CLOCK_MONOTONIC);

		kinds[kind].wait();
		ns += clock_ns(CLOCK_MONOTONIC) - start;
	}
	if (kinds[kind].domain >= 0)
		check("pthread_join", pthread_join(helper, NULL));
	return ns;
}

int main(int argc, char **argv)
{
	rounds = count_argument(argc, argv, 2, 20);
	set_up();
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name) != 0)
			continue;
		if (kinds[i].domain > 0 && socketpair(kinds[i].domain, SOCK_STREAM, 0, fds))
			die("socketpair", errno);
		if (!kinds[i].domain && pipe(fds))
			die("pipe", errno);
		compute_seconds(0.03); /* without a sample there is no report */
		printf("waited %s ns %" PRIu64 "\n", argv[1], wait_all(i));
		return 0;
	}
	die("uring: kind", EINVAL);
}
