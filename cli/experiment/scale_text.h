/* SPDX-License-Identifier: GPL-2.0-only */
/* The decomposition of processor time by numbers of processors as text. */
#ifndef QUARTZ_CLI_EXPERIMENT_SCALE_TEXT_H
#define QUARTZ_CLI_EXPERIMENT_SCALE_TEXT_H

#include "cli/render/output.h"
#include "core/scale/gap.h"

/* 0 or -ENOMEM. */
int scale_text__print(const struct qz_scale *s, const struct qz_identities *ids,
		      const struct qz_gaps *gaps, const char *command, const struct config *config,
		      const struct output *out);

#endif
