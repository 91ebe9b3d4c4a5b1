/* SPDX-License-Identifier: GPL-2.0-only */
/* The text tables under /sys/fs/bpf/quartz. */
#ifndef QUARTZ_DAEMON_TEXT_H
#define QUARTZ_DAEMON_TEXT_H

#include "core/profile.h"
#include "daemon/engine.h"

struct text;

/*
 * Pins the tables, mode 0440. What an earlier quartzd left behind is replaced; a directory that is
 * not root's own, or holds anything else, is refused. NULL with errno and one line in error.
 */
struct text *text__new(struct engine *engine, char *error, size_t size);

/* Removes the tables. Accepts NULL. */
void text__free(struct text *t);

/* Fills the table of procedures from an estimated profile. */
void text__show(struct text *t, const struct qz_profile *p);

#endif
