/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzd's directories. QUARTZ_RUNTIME_DIR and QUARTZ_STATE_DIR replace /run/quartz and /var/lib/quartz. */
#ifndef QUARTZ_CLI_PATHS_H
#define QUARTZ_CLI_PATHS_H

#include "cli/cli.h"

/* What is in the state directory, or in the runtime directory, in a buffer of PATH_MAX bytes. */
void paths__state(const char *name, char *path);
void paths__runtime(const char *name, char *path);

/* Says why a file or directory cannot be read, by errno. */
enum status paths__fail(const char *what, int err);

#endif
