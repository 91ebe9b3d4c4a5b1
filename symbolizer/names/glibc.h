/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_SYMBOLIZER_GLIBC_H
#define QUARTZ_SYMBOLIZER_GLIBC_H

#include "symbolizer/cfi/fde.h"
#include "symbolizer/elf/symbols.h"

/*
 * Adds names for the two local procedures in which the threads of a stripped glibc begin:
 * __libc_start_call_main, which calls main, and start_thread, which calls the procedure of a
 * thread. They are on every stack, and readers know these names. `start_main`, `create`: the
 * addresses of __libc_start_main and pthread_create. If in doubt, adds nothing. 0, -ENOMEM or
 * -EFBIG.
 */
int glibc__add_thread_starts(const struct elf_file *f, const struct fde *fdes, size_t nfdes,
			     uint64_t start_main, uint64_t create, struct symbols *symbols);

/*
 * Adds the name of main to a stripped program. The start-up code at its entry, from crt1.o of glibc
 * or musl, passes main's address in rdi. If in doubt, adds nothing. 0, -ENOMEM or -EFBIG.
 */
int glibc__add_main(const struct elf_file *f, const struct fde *fdes, size_t nfdes,
		    struct symbols *symbols);

#endif
