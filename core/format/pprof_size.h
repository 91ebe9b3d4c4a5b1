/* SPDX-License-Identifier: GPL-2.0-only */
/* What a pprof message would take in memory, found before any of that is allocated. */
#ifndef QUARTZ_CORE_PPROF_SIZE_H
#define QUARTZ_CORE_PPROF_SIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Gives at least as many bytes as are needed for the structures that protobuf-c makes of a profile, of those
 * that it makes while it does so some less; SIZE_MAX when these are no whole fields.
 */
size_t qz_pprof__unpacked_size(const uint8_t *data, size_t size);

#endif
