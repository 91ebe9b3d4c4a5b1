/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The procedures of reports as a table, quoted as RFC 4180 has it, with lines that end with a newline alone. A column
 * for each single number that JSON for programs has of a procedure (core/report/report_json.h), which is called as there,
 * with "self_" or "total_" before it; lists, by level or by cause, have none.
 */
#ifndef QUARTZ_CORE_EXPORT_CSV_H
#define QUARTZ_CORE_EXPORT_CSV_H

#include <stdio.h>

#include "core/report/report.h"

/*
 * A line with the names of the columns, then one for each procedure of each report; nothing where there is none. Names
 * cannot be taken for formulas. -ENOMEM; errors of out stay there.
 */
int qz_csv__write(FILE *out, const struct qz_report *const *reports, uint32_t n);

#endif
