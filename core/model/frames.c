// SPDX-License-Identifier: GPL-2.0-only
#include "core/model/frames.h"

#include <string.h>

uint32_t qz_frames__next(struct qz_frames *f)
{
	const struct qz_profile *p = f->profile;

	while (f->node != 0) {
		const struct qz_location *loc = &p->locations[p->nodes[f->node].location];

		if (f->line < loc->nlines)
			return loc->lines[f->line++].procedure;
		f->node = p->nodes[f->node].parent;
		f->line = 0;
	}
	return QZ_NONE;
}

bool qz_frames__contain(struct qz_frames frames, uint32_t procedure)
{
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE)
		if (frame == procedure)
			return true;
	return false;
}

bool qz_frames__have_name(const struct qz_profile *p, uint32_t node, const char *part)
{
	struct qz_frames frames = {.profile = p, .node = node};
	uint32_t procedure;

	while ((procedure = qz_frames__next(&frames)) != QZ_NONE)
		if (strstr(p->procedures[procedure].name, part))
			return true;
	return false;
}

uint32_t qz_frames__program_code(const struct qz_profile *p, uint32_t node)
{
	struct qz_frames frames = {.profile = p, .node = node};
	uint32_t procedure;

	while ((procedure = qz_frames__next(&frames)) != QZ_NONE)
		if (p->procedures[procedure].kind == QZ_PROCEDURE &&
		    *p->procedures[procedure].module != '[')
			return procedure;
	return QZ_NONE;
}
