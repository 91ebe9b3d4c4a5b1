/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a file holds CPython's interpreter, and how that lays out its frames: see quartz/python.h. */
#ifndef QUARTZ_SYMBOLIZER_PYTHON_LAYOUT_H
#define QUARTZ_SYMBOLIZER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <quartz/python.h>

#include "symbolizer/elf/elf_file.h"

/*
 * Finds the layout by what the file exports: 3.13 and later publish it, that of 3.8 to 3.12 is known. `base`: virtual address
 * of pc 0. False, and `layout` is zero: there is no interpreter, or one of a version that is not known.
 */
bool python_layout__find(const struct elf_file *file, uint64_t base,
			 struct qz_python_layout *layout);

#endif
