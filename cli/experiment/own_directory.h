/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A directory of /var/tmp for the files of one run. It is locked as long as this process lives: what runs that were
 * killed have left has no lock, and goes when the next one is made.
 */
#ifndef QUARTZ_CLI_EXPERIMENT_OWN_DIRECTORY_H
#define QUARTZ_CLI_EXPERIMENT_OWN_DIRECTORY_H

struct own_directory {
	char path[64]; /* empty: there is none */
	int fd;
};

/* Makes /var/tmp/KIND.XXXXXX. 0 or -errno; then there is none. */
int own_directory__make(struct own_directory *d, const char *kind);

/* With its files. Also where there is none. */
void own_directory__remove(struct own_directory *d);

#endif
