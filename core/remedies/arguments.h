/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The argument of a command that says how many threads or processes it has: of each program that is known a row in a table, in
 * core/remedies/arguments.c, and options that mean so anywhere.
 */
#ifndef QUARTZ_CORE_ARGUMENTS_H
#define QUARTZ_CORE_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct qz_argument {
	char option[24];       /* "-j" */
	long value;	       /* 0: it is not given, and would be the first argument */
	uint32_t word, offset; /* where its number stands */
};

/* Finds the argument of a NULL-terminated command. False: the command has none, and its program takes none that is known. */
bool qz_argument__find(struct qz_argument *a, char *const *command);

/* With a number: "-j2", "--threads=2", "-threads 2". */
void qz_argument__put(FILE *out, const struct qz_argument *a, char *const *command, long number);

/* The whole command with this number, as it is typed. */
void qz_argument__put_command(FILE *out, const struct qz_argument *a, char *const *command,
			      long number);

#endif
