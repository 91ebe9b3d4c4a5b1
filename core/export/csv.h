/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The procedures of reports as a table, quoted as RFC 4180 has it, with lines that end with a newline alone. There is a
 * column for each single number of a procedure in JSON for programs (core/report/report_json.h), with the same name after
 * "self_" or "total_"; lists, by level or by cause, have no column.
 */
#ifndef QUARTZ_CORE_EXPORT_CSV_H
#define QUARTZ_CORE_EXPORT_CSV_H

#include <stdio.h>

#include "core/report/report.h"

/*
 * Writes a line with the names of the columns, then one for each procedure of each report; nothing if there are no
 * procedures. Spreadsheets cannot take names for formulas. 0 or -ENOMEM; write errors stay in out.
 */
int qz_csv__write(FILE *out, const struct qz_report *const *reports, uint32_t n);

#endif
