/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory that a pprof message needs when unpacked, computed before any of it is allocated. */
#ifndef QUARTZ_CORE_PPROF_SIZE_H
#define QUARTZ_CORE_PPROF_SIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns an upper bound of the bytes of the structures that protobuf-c makes of a profile; its temporary memory is not
 * included in full. SIZE_MAX if the data are not whole fields.
 */
size_t qz_pprof__unpacked_size(const uint8_t *data, size_t size);

#endif
