/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of all unwind tables (quartz/unwind.h), as the unwinder reads them. Conventions as in bpf_runtime.h. Reading and writing
 * may be in another thread than the rest.
 */
#ifndef QUARTZ_DAEMON_BPF_ROWS_H
#define QUARTZ_DAEMON_BPF_ROWS_H

#include <stdint.h>

#include "quartz/unwind.h"

struct bpf_runtime;

/* Before the programs are loaded: how many there may be. */
int bpf_rows__set_sizes(struct bpf_runtime *bpf);

/* Makes room for the first ones. */
int bpf_rows__make(struct bpf_runtime *bpf);

void bpf_rows__free(struct bpf_runtime *bpf);

/* How many there may be. Memory for more than the first ones is taken when they are stored. */
uint32_t bpf_rows__number(const struct bpf_runtime *bpf);

/* Writes n rows from `first` on, and reads those that were written. 0 or -errno. */
int bpf_rows__store(struct bpf_runtime *bpf, uint32_t first, const struct qz_unwind_row *rows,
		    uint32_t n);
int bpf_rows__read(struct bpf_runtime *bpf, uint32_t first, struct qz_unwind_row *rows, uint32_t n);

#endif
