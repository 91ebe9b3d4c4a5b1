/* SPDX-License-Identifier: GPL-2.0-only */
/* who_fork: see who.h. Processes have their parent's code and layout. */
#define KIND fork
#include "tests/programs/who.h"

static pid_t create(long number)
{
	pid_t pid = fork();

	(void)number;
	if (!pid) {
		who_work();
		_exit(0);
	}
	return pid;
}

int main(int argc, char **argv)
{
	return who_main(argc, argv, create);
}
