/* SPDX-License-Identifier: GPL-2.0-only */
/* The text tables under /sys/fs/bpf/quartz. */
#ifndef QUARTZ_DAEMON_BPFFS_TABLES_H
#define QUARTZ_DAEMON_BPFFS_TABLES_H

#include "core/report/report.h"
#include "daemon/kernel/bpf_runtime.h"

struct bpffs_tables;

/*
 * Pins the tables, mode 0440, unless another quartzd of this machine has (EBUSY). What an earlier quartzd left is replaced; a directory that is
 * not root's own, or holds anything else, is refused. NULL with errno and one line in error.
 */
struct bpffs_tables *bpffs_tables__new(struct bpf_runtime *bpf, char *error, size_t size);

/* Removes the tables. Accepts NULL. */
void bpffs_tables__free(struct bpffs_tables *t);

/*
 * Fills the table of procedures from the reports of scopes (NULL: there was no memory for it), one after the
 * other; nscopes: of how many, from this one on. The end leaves only those in it.
 */
void bpffs_tables__add(struct bpffs_tables *t, const struct qz_report *r, uint32_t nscopes);

/* Adds a thread that lives, if there is room for it. */
void bpffs_tables__add_thread(struct bpffs_tables *t, const struct qz_thread_event *e);

void bpffs_tables__end(struct bpffs_tables *t);

#endif
