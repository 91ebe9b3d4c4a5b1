/* SPDX-License-Identifier: GPL-2.0-only */
/* The files with rules on procedures that wait: Quartz's own, the machine's, the user's. */
#ifndef QUARTZ_DAEMON_SPIN_SYMBOLS_H
#define QUARTZ_DAEMON_SPIN_SYMBOLS_H

#include <stddef.h>

#include "core/util/options.h"
#include "core/model/spin_rules.h"

/* The text of daemon/spin/spin-symbols.txt. */
extern const char spin_symbols_builtin[];
extern const size_t spin_symbols_builtin_size;

/*
 * Adds the rules that Quartz was installed with (those built in when there are none), of the files
 * in spin-symbols.d of the configuration directory by name, hidden ones and backups left out, and
 * then of `files`. Only regular files of bounded size are read. 0, or -errno with one line in error;
 * what rules hold is freed in any case with spin_rules__free.
 */
int spin_symbols__load(struct spin_rules *rules, const struct qz_texts *files, char *error,
		       size_t size);

#endif
