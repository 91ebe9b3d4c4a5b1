/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hog SECONDS stacks|words|threads|mappings|all: never waits twice by the same stack; at a futex word
 * where it waited before; in the same thread; or maps code again and again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define WORDS (1u << 20)

static uint64_t end_ns;
static unsigned int words[WORDS];

static bool is_over(void)
{
	return clock_ns(CLOCK_MONOTONIC) >= end_ns;
}

/* Whoever waits elsewhere has another argument, too. */
#define MOMENTS (1u << 16)

static const struct timespec moment = {.tv_nsec = 1};
static struct timespec moments[MOMENTS];

/* The bits of `path` are the way, and of how much stack. */
static void descend(uint32_t path, int depth);
static _Thread_local uint32_t way;

PROCEDURE static void left(uint32_t path, int depth)
{
	volatile char room[64];

	room[0] = (char)path;
	descend(path >> 1, depth - 1);
	room[1] = room[0];
}

PROCEDURE static void right(uint32_t path, int depth)
{
	volatile char room[192];

	room[0] = (char)path;
	descend(path >> 1, depth - 1);
	room[1] = room[0];
}

PROCEDURE static void descend(uint32_t path, int depth)
{
	if (!depth)
		syscall(SYS_nanosleep, &moments[way % MOMENTS],
			NULL); /* glibc has another system call, and argument */
	else if (path & 1)
		left(path, depth);
	else
		right(path, depth);
}

static void *stacks(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	while (!is_over()) {
		way = (uint32_t)rand_r(&seed);
		descend(way, 24);
	}
	return NULL;
}

static void *wait_at_words(void *arg)
{
	for (uint32_t i = 0; !is_over(); i++)
		syscall(SYS_futex, &words[i % WORDS], FUTEX_WAIT_PRIVATE, 0, &moment);
	return arg;
}

static void *sleep_once(void *arg)
{
	nanosleep(&moment, NULL);
	return arg;
}

static void *threads(void *arg)
{
	pthread_t thread;

	while (!is_over())
		if (!pthread_create(&thread, NULL, sleep_once, NULL))
			pthread_join(thread, NULL);
	return arg;
}

static void *mappings(void *arg)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	while (!is_over()) {
		void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (code != MAP_FAILED)
			munmap(code, 4096);
	}
	close(fd);
	return arg;
}

static const struct {
	const char *name;
	void *(*run)(void *arg);
} kinds[] = {
	{"stacks", stacks},
	{"words", wait_at_words},
	{"threads", threads},
	{"mappings", mappings},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

int main(int argc, char *argv[])
{
	pthread_t started[2 * KINDS];
	size_t n = 0;

	if (argc != 3)
		return 2;
	for (size_t i = 0; i < MOMENTS; i++)
		moments[i] = moment;
	end_ns = clock_ns(CLOCK_MONOTONIC) + strtoull(argv[1], NULL, 10) * 1000000000;
	for (size_t i = 0; i < 2 * KINDS; i++)
		if (!strcmp(argv[2], "all") || !strcmp(argv[2], kinds[i % KINDS].name))
			n += !pthread_create(&started[n], NULL, kinds[i % KINDS].run,
					     (void *)(i + 1));
	for (size_t i = 0; i < n; i++)
		pthread_join(started[i], NULL);
	return n ? 0 : 2;
}
