/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be set differently from run to run: a number in the words of a command, on how many processors it runs, or how
 * nice it is. "NAME:RANGE:COMMAND" is the former; "cpus" and "nice", with a range or without, are built in.
 */
#ifndef QUARTZ_CLI_EXPERIMENT_KNOB_H
#define QUARTZ_CLI_EXPERIMENT_KNOB_H

#include "cli/cli.h"
#include "cli/experiment/processors.h"
#include "core/remedies/remedies.h"
#include "quartz/knobs.h"

struct knob {
	enum qz_remedy_way way; /* QZ_REMEDY_COMMAND, _AFFINITY, _NICE or _KNOB */
	char *name;
	const char *
		command; /* of QZ_REMEDY_COMMAND: for a shell, "{}" stands for the value; borrowed */
	uint32_t n;
	long *values;	   /* ascending */
	char **names;	   /* of these */
	char **lines;	   /* of these, of QZ_REMEDY_COMMAND; else NULL */
	double *positions; /* of the values: where the range is wide, their logarithms */
	bool unordered;	   /* neighbours have nothing in common */
	uint32_t start;	   /* index */
};

/*
 * Ranges: "1-8", "1-64/4" (in steps of four), "1,2,4,8". The start is the value that is named so, else the first one of a
 * command, all processors, or nice 0. To be freed in any case.
 */
enum status knob__parse(struct knob *k, const char *text, const char *start,
			const struct processors *on);
void knob__free(struct knob *k);

/*
 * A knob of a running process, from its page: values of the range, NULL: all that it can have, or some of them where these are
 * too many, and what it has now, which is the start. `text` is what was asked for. As knob__parse.
 */
enum status knob__of_process(struct knob *k, const char *text, const char *range,
			     const struct qz_knob *of);

#endif
