/* SPDX-License-Identifier: GPL-2.0-only */
/* How far figures can be trusted, as text: at which rate was sampled, and what became of all samples. */
#ifndef QUARTZ_CLI_QUALITY_H
#define QUARTZ_CLI_QUALITY_H

#include <stdio.h>

#include "core/model/profile.h"

/* "99 Hz, lowered to 3.1 Hz to hold 1% overhead"; "" where the rate is not known. */
struct rate_text {
	char text[96];
};
struct rate_text quality__rate(const struct qz_profile *p);

/*
 * What the samples that were expected became, of which `shown` are those of what is shown, as a line whose
 * numbers add up; none where all of them are.
 */
void quality__print_ledger(FILE *out, const struct qz_profile *p, uint64_t shown, bool machine);

#endif
