/* SPDX-License-Identifier: GPL-2.0-only */
/* What is said when knobs cannot be read or set, by the errors of knob_page. */
#ifndef QUARTZ_CLI_KNOBS_KNOB_FAILURE_H
#define QUARTZ_CLI_KNOBS_KNOB_FAILURE_H

#include "cli/cli.h"
#include "cli/knobs/knob_page.h"

/* Of knob_page__open. */
enum status knob_failure__open(pid_t pid, int err);

/* Of knob_page__find. */
enum status knob_failure__missing(pid_t pid, const char *name);

/* Of knob_page__set, with the value as text; STATUS_REFUSED where the process does not take it. */
enum status knob_failure__set(pid_t pid, const struct qz_knob *k, const char *value, int err);

/* Why a value was refused; NULL: err is no refusal. */
const char *knob_failure__refusal(int err);

#endif
