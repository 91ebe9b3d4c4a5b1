/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The argument of a command that sets how many threads or processes it uses.
 * core/remedies/arguments.c has a table with a row for each known program, and a last row with
 * options that mean the same in any program.
 */
#ifndef QUARTZ_CORE_ARGUMENTS_H
#define QUARTZ_CORE_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct qz_argument {
	char option[24];       /* "-j" */
	long value;	       /* 0: not given; the option would become the first argument */
	uint32_t word, offset; /* position of the number in the command */
};

/*
 * Finds the argument of a NULL-terminated command. Returns false if the command has none, and its
 * program has no known one.
 */
bool qz_argument__find(struct qz_argument *a, char *const *command);

/* Writes the option with a number: "-j2", "--threads=2", "-threads 2". */
void qz_argument__put(FILE *out, const struct qz_argument *a, char *const *command, long number);

/* Writes the whole command with this number, as it is typed. */
void qz_argument__put_command(FILE *out, const struct qz_argument *a, char *const *command,
			      long number);

#endif
