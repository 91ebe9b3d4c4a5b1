/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the line of a Python instruction in the table that CPython keeps with the code
 * (Objects/lnotab_notes.txt, Objects/locations.md). The table comes from the program's memory, so
 * it may contain anything; each byte is read once.
 */
#ifndef QUARTZ_DAEMON_PYTHON_LINES_H
#define QUARTZ_DAEMON_PYTHON_LINES_H

#include <stdint.h>

#include "quartz/python.h"

/*
 * The line of an instruction in code that begins at line `first`; 0: unknown. The caller has
 * checked the size of the table.
 */
uint32_t python_lines__at(const struct qz_python_table *table, uint32_t first,
			  uint32_t instruction);

#endif
