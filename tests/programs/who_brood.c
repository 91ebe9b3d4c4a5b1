/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * who_brood: see who.h. Each process executes the program, and creates four that have its layout, at once:
 * they run the same loop in the same procedure, that of their parent's number, which their name has at its end.
 * For some of them the unwinder has tables before it has them for others.
 */
#define KIND brood
#include <sys/mman.h>
#include <sys/prctl.h>

#include "tests/programs/who.h"

#define CHILDREN   4
#define STACK_SIZE 65536
/* Some 25 ms. */
#define TURNS 25000000

#define BROOD_PROCEDURE(n)                                                                         \
	PROCEDURE static void WHO_NAME(alike, n)(void)                                             \
	{                                                                                          \
		compute_turns(TURNS + 1##n);                                                       \
	}
#define BROOD_POINTER(n) WHO_NAME(alike, n),

WHO_ALL(BROOD_PROCEDURE)

static void (*const alike[])(void) = {WHO_ALL(BROOD_POINTER)};

/* Frame pointers lead as far as tables do: to the outermost frame, clone(). */
static int compute(void *number)
{
	alike[*(int *)number]();
	return 0;
}

static void create_children(void)
{
	int number = who_pid() % 64, status;
	char *stack =
		mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[16];

	if (stack == MAP_FAILED)
		die("mmap", errno);
	snprintf(name, sizeof(name), "who_alike_%02o", number);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < CHILDREN; i++)
		if (clone(compute, stack + STACK_SIZE, SIGCHLD, &number) < 0)
			die("clone", errno);
	while (wait(&status) > 0 || errno == EINTR)
		;
}

static pid_t create(long number)
{
	pid_t pid = fork();

	(void)number;
	if (!pid)
		who_execute(NULL);
	return pid;
}

int main(int argc, char **argv)
{
	int status = who_main(argc, argv, create);

	if (argc > 1 && !strcmp(argv[1], "work"))
		create_children();
	return status;
}
