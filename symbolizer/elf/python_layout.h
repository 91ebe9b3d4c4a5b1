/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds whether a file contains CPython's interpreter, and the layout of its frames
 * (quartz/python.h).
 */
#ifndef QUARTZ_SYMBOLIZER_PYTHON_LAYOUT_H
#define QUARTZ_SYMBOLIZER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <quartz/python.h>

#include "symbolizer/elf/elf_file.h"

/*
 * Finds the layout from the exports of the file: 3.13 and later publish it, that of 3.8 to 3.12 is
 * known. `base`: virtual address of pc 0. False, with a layout of zeros: no interpreter, or an
 * unknown version.
 */
bool python_layout__find(const struct elf_file *file, uint64_t base,
			 struct qz_python_layout *layout);

#endif
