/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs a command and samples the registers and the top of the stack of all its threads. */
#ifndef QUARTZ_TESTS_SPIN_RECORDER_H
#define QUARTZ_TESTS_SPIN_RECORDER_H

#include <stdint.h>

#define STACK_WORDS 8

struct sample {
	uint64_t time;
	uint32_t pid, tid;
	uint64_t ip;		/* of user code, also when the kernel was interrupted */
	uint64_t registers[16]; /* by the number in instructions */
	uint64_t stack[STACK_WORDS];
};

struct mapping {
	uint64_t time;
	uint32_t pid;
	uint64_t start, end, offset;
	char *path;
};

struct recording {
	struct sample *samples; /* by thread, then by time */
	uint32_t nsamples;
	struct mapping *mappings; /* by time */
	uint32_t nmappings;
	uint64_t lost;
};

/* Gives the command's wait status, or -1 with a message on stderr. */
int recorder__run(char *const argv[], unsigned int rate, struct recording *r);
void recorder__free(struct recording *r);

#endif
