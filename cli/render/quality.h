/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far figures can be trusted, as text: at which rate was sampled, what became of all samples, and no more
 * digits of an estimate than it is good for.
 */
#ifndef QUARTZ_CLI_QUALITY_H
#define QUARTZ_CLI_QUALITY_H

#include <stdio.h>

#include "cli/render/text_table.h"
#include "core/model/profile.h"

/* Before a figure that rests on fewer than QZ_FEW_SAMPLES. */
#define ROUGH_MARK "~"

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

/* What the mark means. */
void quality__print_rough(FILE *out);

/* An estimate. */
struct estimate {
	double value,
		ci; /* in the unit that is shown; ci is half of its 95 % interval, 0: it is exact */
	int decimals; /* at most */
	bool rough;
};

/* Down to the first digit that ci leaves in doubt. */
int quality__decimals(double ci, int most);

/*
 * A cell with that, in a column of `decimals` whose points stand below each other. An estimate of nothing is 0
 * without digits.
 */
void quality__add_estimate(struct text_table *table, enum emphasis emphasis,
			   const struct estimate *e);

#endif
