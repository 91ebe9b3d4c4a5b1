/* SPDX-License-Identifier: GPL-2.0-only */
/* listen COMMAND...: runs the command while a server listens that reads nothing. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/userlib/fake.h"

int main(int argc, char **argv)
{
	struct fake *fake = fake__new();
	int status = 0;
	pid_t pid;

	(void)argc;
	fake__listen(fake);
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		perror("wait");
	fprintf(stderr, "page sets %u\n", fake->count);
	fake__free(fake);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
