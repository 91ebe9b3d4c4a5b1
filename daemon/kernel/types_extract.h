/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Extracts from all types of a kernel what libbpf asks of them for one object: the structures that it names,
 * with all of their members, and what these are made of by value. The target of a pointer is not part of a layout, so it is
 * left out; an object that follows a pointer names that type, too.
 *
 * The numbers of what programs are attached to are kept as an enumeration, by section: they are numbers in the whole.
 */
#ifndef QUARTZ_DAEMON_TYPES_EXTRACT_H
#define QUARTZ_DAEMON_TYPES_EXTRACT_H

#include <stddef.h>
#include <stdint.h>

struct btf;

/* `object`: an ELF file; `kernel`: the file of all types. NULL with errno; else the caller's. */
struct btf *types_extract__make(const void *object, size_t size, const char *kernel);

/* The number of what a section is attached to; 0: the kernel has no such thing. */
uint32_t types_extract__target(const struct btf *made, const char *section);

#endif
