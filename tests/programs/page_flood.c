/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page_flood PROCESSES [run]: so many processes that ask quartzd for page sets, each for all segments of
 * slots, touch none of these, and say that all slots are in use. With "run" each computes besides, with
 * its thread's slot at another place all the time. Prints what they got, "truth sets N" and
 * "truth segments N", and stays until it is killed.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "include/quartz/page.h"

static __thread const struct qz_slot *volatile slot_pointer;

static int64_t slot_pointer_offset(void)
{
	const char *thread;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
	return (const char *)&slot_pointer - thread;
}

/* Gives the status, and the descriptors in fds. */
static int ask(uint32_t type, uint32_t index, const struct qz_slot *slots, int fds[QZ_PAGE_FDS])
{
	struct qz_page_request request = {
		.length = sizeof(request),
		.type = type,
		.version = QZ_PAGE_VERSION,
		.index = index,
		.tables_size = QZ_TABLES_SIZE,
		.segment_size = QZ_SEGMENT_SIZE,
		.slot_size = sizeof(struct qz_slot),
		.slots_address = (uintptr_t)slots,
		.slot_pointer_offset = slot_pointer_offset(),
	};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(QZ_PAGE_FDS * sizeof(int))];
	} control;
	struct qz_page_reply reply;
	struct iovec data = {&reply, sizeof(reply)};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ssize_t n = -1;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" QZ_PAGE_SOCKET,
		 getenv("QUARTZ_RUNTIME_DIR"));
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
	    send(fd, &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request))
		n = recvmsg(fd, &m, 0);
	close(fd);
	if (n != sizeof(reply))
		return -EPIPE; /* turned away, as one of too many at a time */
	if (!reply.status)
		memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&m)),
		       (type == QZ_PAGE_OPEN ? 2 : 1) * sizeof(int));
	return reply.status;
}

/* Until it is measured, and there is a place in the queue. */
static int ask_patiently(uint32_t type, uint32_t index, const struct qz_slot *slots, int *fds)
{
	int status = -EPIPE;

	for (int i = 0; i < 3000 && (status == -EPIPE || status == -ESRCH); i++) {
		status = ask(type, index, slots, fds);
		if (status == -EPIPE || status == -ESRCH)
			usleep(10000);
	}
	return status;
}

/* Not a slot of the page set: what BPF reads there is this. */
static struct qz_slot *own_slots(void)
{
	struct qz_slot *slots = mmap(NULL, QZ_SLOTS * sizeof(*slots), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return slots == MAP_FAILED ? NULL : slots;
}

static void run(struct qz_slot *slots)
{
	for (uint32_t i = 0;; i = (i + 4) % QZ_SLOTS) {
		slots[i].tid = getpid();
		slot_pointer = &slots[i];
		for (volatile int turn = 0; turn < 100000; turn++)
			;
	}
}

static void flood(int told, bool running)
{
	struct qz_slot *slots = own_slots();
	uint32_t segments = 0, got[2] = {0};
	struct qz_tables *tables;
	int fds[QZ_PAGE_FDS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (slots && !ask_patiently(QZ_PAGE_OPEN, 0, slots, fds)) {
		tables = mmap(NULL, QZ_TABLES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
		if (tables == MAP_FAILED)
			_exit(1);
		close(fds[1]);
		for (segments = 1; segments < QZ_SEGMENTS; segments++) {
			if (ask_patiently(QZ_PAGE_MORE, segments, slots, fds))
				break;
			close(fds[0]);
		}
		tables->header.slots_used = QZ_SLOTS;
		tables->header.segments = QZ_SEGMENTS;
		got[0] = 1;
		got[1] = segments;
	}
	if (write(told, got, sizeof(got)) != sizeof(got))
		_exit(1);
	if (got[0] && running)
		run(slots);
	for (;;)
		pause();
}

int main(int argc, char *argv[])
{
	int processes = argc > 1 ? atoi(argv[1]) : 1;
	bool running = argc > 2 && !strcmp(argv[2], "run");
	uint32_t got[2], sets = 0, segments = 0;
	int told[2];

	if (!getenv("QUARTZ_RUNTIME_DIR") || pipe(told))
		return 1;
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid)
			flood(told[1], running);
	}
	close(told[1]);
	for (int i = 0; i < processes; i++) {
		if (read(told[0], got, sizeof(got)) != sizeof(got))
			return 1;
		sets += got[0];
		segments += got[1];
	}
	printf("truth sets %u\ntruth segments %u\n", sets, segments);
	fflush(stdout);
	for (;;)
		pause();
}
