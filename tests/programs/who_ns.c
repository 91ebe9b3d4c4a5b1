/* SPDX-License-Identifier: GPL-2.0-only */
/* who_ns: see who.h. Each process is the first one of a pid namespace; every second one executes. */
#define KIND ns
#include "tests/programs/who.h"

static pid_t create(long number)
{
	long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | SIGCHLD;
	pid_t pid = syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);

	if (pid)
		return pid;
	if (number % 2)
		who_execute(NULL);
	who_work();
	_exit(0);
}

int main(int argc, char **argv)
{
	return who_main(argc, argv, create);
}
