/* SPDX-License-Identifier: GPL-2.0-only */
/* who_exec: see who.h. Each process executes the program, twice. */
#define KIND exec
#include "tests/programs/who.h"

static pid_t create(long number)
{
	pid_t pid = number % 2 ? vfork() : fork();

	if (!pid)
		who_execute("again");
	return pid;
}

int main(int argc, char **argv)
{
	int status = who_main(argc, argv, create);

	if (argc > 2 && !strcmp(argv[1], "work"))
		who_execute(NULL);
	return status;
}
