/* SPDX-License-Identifier: GPL-2.0-only */
/* What limits the program, at the end of a recording: the head of the report, as lines of the log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise_text.h"
#include "daemon/session/session_state.h"
#include "daemon/util/log.h"

#define WIDTH 100

static void log_lines(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		if (*line)
			log_info("%s", line);
}

/* Of an estimated profile. The profile is saved by now: where memory is short, nothing is said. */
void session__say_advice(const struct qz_profile *p, const char *file)
{
	uint32_t machine = qz_profile__machine(p);
	struct qz_report *r = p->nscopes ? qz_report__new(p, machine == QZ_NONE ? 0 : machine)
					 : NULL;
	struct qz_advice *a = r ? qz_advise__new(r) : NULL;
	char *text = NULL;
	size_t size;
	FILE *out = a ? open_memstream(&text, &size) : NULL;

	if (out) {
		int err;

		a->input = file;
		err = qz_advise_text__head(out, a, WIDTH, QZ_HEAD_FINDINGS);

		if (!fclose(out) && !err)
			log_lines(text);
	}
	free(text);
	qz_advise__free(a);
	qz_report__free(r);
}
