/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Procedures as they are printed: escaped, and with module or file where the name alone would leave
 * it open which one is meant.
 */
#ifndef QUARTZ_CLI_NAMES_H
#define QUARTZ_CLI_NAMES_H

#include "core/report/report.h"

struct names;

/*
 * Names of the procedures of p, which must outlive them. Only procedures that have a row in one of
 * the reports can be mistaken for each other. NULL with ENOMEM.
 */
struct names *names__new(const struct qz_profile *p, struct qz_report *const *reports,
			 uint32_t nreports);
void names__free(struct names *n);

/* For the caller to free; NULL with ENOMEM. */
char *names__format(const struct names *n, uint32_t procedure);

#endif
