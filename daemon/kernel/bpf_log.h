/* SPDX-License-Identifier: GPL-2.0-only */
/* The logs of the processors (quartz/log.h), which BPF programs write. Conventions as in bpf_runtime.h. */
#ifndef QUARTZ_DAEMON_BPF_LOG_H
#define QUARTZ_DAEMON_BPF_LOG_H

#include "daemon/kernel/bpf_runtime.h"
#include "quartz/log.h"

/* Before the programs are loaded: which, and how large their maps are. */
int bpf_log__set_sizes(struct bpf_runtime *bpf);

/* Makes a log for each processor that is online, and maps it; nothing is written yet. Only where one is wanted. */
int bpf_log__make(struct bpf_runtime *bpf);

void bpf_log__free(struct bpf_runtime *bpf);

/* What the iterator over threads is given to: FOUND and NAME of each that is to be in the log. */
typedef void bpf_log_record(void *context, const struct qz_log_record *record);

/* From now on the logs are written; then tells what is there already. The programs must be attached. */
int bpf_log__start(struct bpf_runtime *bpf, bpf_log_record *call, void *context);

/* No record begins from now on. */
void bpf_log__stop(struct bpf_runtime *bpf);

/* Records of one processor; a power of two. */
uint32_t bpf_log__size(const struct bpf_runtime *bpf);

/* The log of a processor, NULL: it has none. Its records are at the head + QZ_LOG_FIRST. */
struct qz_log_head *bpf_log__of(const struct bpf_runtime *bpf, uint32_t cpu);

/* Waits until a log is half full, or so many ms. Any thread. */
void bpf_log__await(struct bpf_runtime *bpf, int ms);

#endif
