/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/export/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/util/term_escape.h"

static char *name_of(const struct qz_stack_frame *frame)
{
	char *escaped = qz_term_escape__copy(*frame->name ? frame->name : "?");

	for (char *c = escaped; c && *c; c++)
		if (*c == ';')
			*c = ':';
	return escaped;
}

static void free_names(char **names, uint32_t n)
{
	for (uint32_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}

static char **names_of(const struct qz_stacks *s)
{
	char **names = calloc((size_t)s->nframes + 1, sizeof(*names));

	for (uint32_t i = 0; names && i < s->nframes; i++) {
		names[i] = name_of(&s->frames[i]);
		if (!names[i]) {
			free_names(names, i);
			return NULL;
		}
	}
	return names;
}

/* What has been written so far is rounded, not each line: so the lines add up. */
static uint64_t rounded(uint64_t ns)
{
	return ns / 1000 + (ns % 1000 >= 500);
}

int qz_folded__write(FILE *out, const struct qz_stacks *s, enum qz_stack_value which)
{
	char **names = names_of(s);
	uint64_t sum = 0;
	uint32_t path[QZ_MAX_STACK_FRAMES];

	if (!names)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t ns = s->stacks[s->order[i]].values[which];
		uint64_t us = rounded(sum + ns) - rounded(sum);
		uint32_t n = us ? qz_stacks__path(s, s->order[i], path) : 0;

		sum += ns;
		for (uint32_t k = 0; k < n; k++)
			fprintf(out, "%s%c", names[path[k]], k + 1 < n ? ';' : ' ');
		if (us)
			fprintf(out, "%" PRIu64 "\n", us);
	}
	free_names(names, s->nframes);
	return 0;
}
