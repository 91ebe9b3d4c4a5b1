/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/remedies/arguments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/util/base_name.h"

#define MOST	99999
#define OPTIONS 13 /* of a row, and its end */

/* The options of a known program come before those of any program, the last row. */
static const struct program {
	const char *names[6];	      /* names of its file; none: any program */
	const char *options[OPTIONS]; /* the number follows as "8", "=8" or the next word */
	bool one;		      /* without the option: one thread, or one process at a time */
} programs[] = {
	{{"make", "gmake"}, {"-j", "--jobs"}, true},
	{{"xz", "zstd"}, {"-T", "--threads"}, true},
	{{"xargs"}, {"-P", "--max-procs"}, true},
	{{"pigz", "pbzip2"}, {"-p", "--processes"}, false},
	{{"lbzip2", "plzip"}, {"-n", "--threads"}, false},
	{{"bwa", "minimap2", "memcached", "par2"}, {"-t", "--threads"}, false},
	{{"povray"}, {"+WT", "-WT"}, false},
	{{"ParaFly"}, {"-CPU"}, false},
	{{"samtools", "bcftools"}, {"-@", "--threads"}, false},
	{{"blastn", "blastp", "blastx"}, {"-num_threads"}, false},
	{{"7z", "7za", "7zr"}, {"-mmt"}, false},
	{{"redis-server"}, {"--io-threads"}, false},
	{{0},
	 {"-j", "--jobs", "--threads", "-threads", "--num-threads", "-numthreads", "--nthreads",
	  "--workers", "--parallel", "--processes", "--max-procs", "--concurrency"},
	 false},
};
#define NPROGRAMS (sizeof(programs) / sizeof(programs[0]))

static bool is_of(const struct program *p, const char *file)
{
	const char *name = qz_base_name(file);

	for (int i = 0; p->names[i]; i++)
		if (!strcmp(name, p->names[i]))
			return true;
	return !p->names[0];
}

/* 0 often stands for all processors, so it is no number here. */
static bool read_number(const char *text, long *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*value = strtol(text, &end, 10);
	return !*end && *value > 0 && *value <= MOST;
}

static bool is_given(struct qz_argument *a, char *const *command, uint32_t i, const char *option)
{
	size_t n = strlen(option);
	const char *rest = command[i] + n;

	if (strncmp(command[i], option, n) != 0)
		return false;
	snprintf(a->option, sizeof(a->option), "%s", option);
	a->word = i;
	if (!*rest) {
		a->word++;
		a->offset = 0;
		return command[i + 1] && read_number(command[i + 1], &a->value);
	}
	rest += *rest == '=';
	a->offset = (uint32_t)(rest - command[i]);
	return read_number(rest, &a->value);
}

/*
 * Words after "--" are no options of this program; they may be those of a program that it starts.
 */
static bool find_in(struct qz_argument *a, const struct program *p, char *const *command)
{
	for (uint32_t i = 1; command[0] && command[i] && strcmp(command[i], "--") != 0; i++)
		for (int k = 0; p->options[k]; k++)
			if (is_given(a, command, i, p->options[k]))
				return true;
	return false;
}

/* Whether an option is given in any form. "make -j" has no number, and uses as many as it can. */
static bool has_option(const struct program *p, char *const *command)
{
	for (uint32_t i = 1; command[i]; i++)
		for (int k = 0; p->options[k]; k++)
			if (!strncmp(command[i], p->options[k], strlen(p->options[k])))
				return true;
	return false;
}

bool qz_argument__find(struct qz_argument *a, char *const *command)
{
	for (size_t i = 0; *command && i < NPROGRAMS; i++) {
		const struct program *p = &programs[i];

		*a = (struct qz_argument) {0};
		if (!is_of(p, *command))
			continue;
		if (find_in(a, p, command))
			return true;
		if (!p->one || has_option(p, command))
			continue;
		*a = (struct qz_argument) {0};
		snprintf(a->option, sizeof(a->option), "%s", p->options[0]);
		return true;
	}
	return false;
}

void qz_argument__put(FILE *out, const struct qz_argument *a, char *const *command, long number)
{
	if (a->offset)
		fprintf(out, "%.*s%ld", (int)a->offset, command[a->word], number);
	else
		fprintf(out, "%s%s%ld", a->option, a->value ? " " : "", number);
}

void qz_argument__put_command(FILE *out, const struct qz_argument *a, char *const *command,
			      long number)
{
	for (uint32_t i = 0; command[i]; i++) {
		fputs(i ? " " : "", out);
		if (!a->value || i != a->word)
			qz_finding__put_word(out, command[i]);
		else if (a->offset)
			qz_argument__put(out, a, command, number);
		else
			fprintf(out, "%ld", number);
		if (!a->value && !i) {
			fputc(' ', out);
			qz_argument__put(out, a, command, number);
		}
	}
}
