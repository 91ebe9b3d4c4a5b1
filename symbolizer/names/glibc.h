/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_SYMBOLIZER_GLIBC_H
#define QUARTZ_SYMBOLIZER_GLIBC_H

#include "symbolizer/cfi/fde.h"
#include "symbolizer/elf/symbols.h"

/*
 * Adds names for the two local procedures of a stripped glibc in which every thread begins:
 * __libc_start_call_main, which calls main, and start_thread, which calls a thread's procedure.
 * They are on every stack, and a reader knows them by name. `start_main`, `create`: where __libc_start_main and pthread_create
 * are. Adds nothing in doubt. -ENOMEM, -EFBIG.
 */
int glibc__add_thread_starts(const struct elf_file *f, const struct fde *fdes, size_t nfdes,
			     uint64_t start_main, uint64_t create, struct symbols *symbols);

/*
 * Adds the name of main to a stripped program: the start-up code at its entry, which every program
 * has from glibc's crt1.o or from musl's, passes its address on in rdi. Adds nothing in doubt. -ENOMEM, -EFBIG.
 */
int glibc__add_main(const struct elf_file *f, const struct fde *fdes, size_t nfdes,
		    struct symbols *symbols);

#endif
