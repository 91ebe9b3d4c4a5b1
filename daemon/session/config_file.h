/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzd.conf and its drop-ins: see quartzd.conf(5). */
#ifndef QUARTZ_DAEMON_CONFIG_FILE_H
#define QUARTZ_DAEMON_CONFIG_FILE_H

#include <stddef.h>

/* What the files say, as options of the command line: "--name=value", or "--name" for a flag. */
struct config_file {
	char **words;
	size_t n;
};

/* Names of options that the file may have; ends with NULL. */
extern const char *const config_file_names[];

/*
 * Reads `file`, or when that is NULL quartzd.conf of the configuration directory, as far as it is there, and
 * *.conf of quartzd.conf.d beside it in the order of their names; what comes later counts. 0, or
 * -EINVAL, -ENOMEM or -errno with one line in error. To be freed in any case.
 */
int config_file__read(struct config_file *s, const char *file, char *error, size_t size);
void config_file__free(struct config_file *s);

#endif
