/* SPDX-License-Identifier: GPL-2.0-only */
/* who_clone: see who.h. In turn: a process in its parent's memory, and one with two threads. */
#define KIND clone
#include <pthread.h>
#include <sys/mman.h>

#include "tests/programs/who.h"

#define STACK_SIZE 65536
#define STACKS	   64

/* Of the processes in this memory: free when its process has been waited for. */
static struct {
	char *memory;
	pid_t owner;
} stacks[STACKS];

static int work(void *unused)
{
	(void)unused;
	who_work();
	return 0;
}

static void *work_as_thread(void *unused)
{
	who_work();
	return unused;
}

static pid_t create_sharing(void)
{
	int i = 0;

	while (stacks[i].owner && !kill(stacks[i].owner, 0))
		if (++i == STACKS)
			die("who_clone", EAGAIN);
	if (!stacks[i].memory) {
		stacks[i].memory = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (stacks[i].memory == MAP_FAILED)
			die("mmap", errno);
	}
	stacks[i].owner = clone(work, stacks[i].memory + STACK_SIZE,
				CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
	return stacks[i].owner;
}

static pid_t create_with_threads(void)
{
	pid_t pid = fork();
	pthread_t threads[2];

	if (pid)
		return pid;
	for (int i = 0; i < 2; i++)
		check("pthread_create", pthread_create(&threads[i], NULL, work_as_thread, NULL));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

static pid_t create(long number)
{
	return number % 2 ? create_sharing() : create_with_threads();
}

int main(int argc, char **argv)
{
	return who_main(argc, argv, create);
}
