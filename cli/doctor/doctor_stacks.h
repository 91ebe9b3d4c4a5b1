/* SPDX-License-Identifier: GPL-2.0-only */
/* How well the stacks of a process could be walked. */
#ifndef QUARTZ_CLI_DOCTOR_STACKS_H
#define QUARTZ_CLI_DOCTOR_STACKS_H

#include "cli/cli.h"

/* quartzctl doctor PID. */
enum status doctor_stacks__examine(const struct config *config);

#endif
