/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that describe others: debug files and what they share. They are looked for where they have to be by a rule, since the file
 * could name any, and the symbolizer takes none but those of the same build.
 */
#ifndef QUARTZ_DAEMON_DEBUG_FILES_H
#define QUARTZ_DAEMON_DEBUG_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolizer;

/* Adds an ELF file, whose descriptor it takes, as symbolizer__add_module() does, with its debug file where there is one. */
int debug_files__add(struct symbolizer *s, int fd, const char *path);

/*
 * Gives a module, whose file `of` is, the files in which what is inlined at the addresses is described (.dwo). False: one of
 * them is not there, or is no good, of which a line was written if `say`.
 */
bool debug_files__complete(struct symbolizer *s, int module, int of, const uint64_t *addresses,
			   size_t n, const char *path, bool say);

#endif
