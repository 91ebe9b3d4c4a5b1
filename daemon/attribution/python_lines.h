/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What line an instruction of Python is of, by the table that CPython keeps with its code (Objects/lnotab_notes.txt, Objects/locations.md). The
 * table is a program's own: whatever stands there, each byte is looked at once.
 */
#ifndef QUARTZ_DAEMON_PYTHON_LINES_H
#define QUARTZ_DAEMON_PYTHON_LINES_H

#include <stdint.h>

#include "quartz/python.h"

/* The line of an instruction, of code that begins at line `first`; 0: it is not known. Of a table the caller has checked the size. */
uint32_t python_lines__at(const struct qz_python_table *table, uint32_t first,
			  uint32_t instruction);

#endif
