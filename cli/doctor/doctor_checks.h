/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What quartzd needs of a machine, looked up in files below a root directory, so that the trees of
 * other machines can be judged too.
 */
#ifndef QUARTZ_CLI_DOCTOR_CHECKS_H
#define QUARTZ_CLI_DOCTOR_CHECKS_H

#include <stddef.h>

enum verdict { CHECK_OK, CHECK_WARN, CHECK_FAIL };

struct finding {
	enum verdict verdict;
	char detail[160];   /* may hold text of the examined machine, unescaped */
	const char *remedy; /* static; NULL: nothing to do */
};

struct check {
	const char *name;
	void (*run)(const char *root, struct finding *f);
};

/* The last check has no name. `root` is "" for this machine. */
extern const struct check checks[];

#endif
