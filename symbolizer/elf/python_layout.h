/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds whether a file contains CPython's interpreter, or Ruby's, and the layout of its frames
 * (quartz/python.h).
 */
#ifndef QUARTZ_SYMBOLIZER_PYTHON_LAYOUT_H
#define QUARTZ_SYMBOLIZER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <quartz/python.h>

#include "symbolizer/elf/elf_file.h"

/*
 * Finds the layout from the exports of the file: Python 3.13 and later publish it, those of Python
 * 3.8 to 3.12 and of Ruby are known. `base`: virtual address of pc 0. False, with a layout of zeros: no interpreter, or an
 * unknown version.
 */
bool python_layout__find(const struct elf_file *file, uint64_t base,
			 struct qz_python_layout *layout);

#endif
