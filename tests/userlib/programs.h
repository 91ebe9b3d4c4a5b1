/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that the suites of libquartz run, with the quartzd of the tests. */
#ifndef QUARTZ_TESTS_USERLIB_PROGRAMS_H
#define QUARTZ_TESTS_USERLIB_PROGRAMS_H

#include <stdio.h>
#include <sys/types.h>

struct program {
	pid_t pid;
	int in;	   /* its standard input; -1 after program__let_go */
	FILE *out; /* its standard output */
};

/* Starts tests/userlib/programs/NAME, which finds `fake`. */
struct program program__start(const char *name);

/* Closes its standard input. */
void program__let_go(struct program *p);

/* Waits for its end: the status as waitpid has it. Frees what it has. */
int program__end(struct program *p);

/* All that it prints, to be freed; it must end with status 0. */
char *program__output(const char *name);

#endif
