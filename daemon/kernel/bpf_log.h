/* SPDX-License-Identifier: GPL-2.0-only */
/* The logs of the processors (quartz/log.h), which BPF programs write. Conventions as in bpf_runtime.h. */
#ifndef QUARTZ_DAEMON_BPF_LOG_H
#define QUARTZ_DAEMON_BPF_LOG_H

#include "daemon/kernel/bpf_runtime.h"
#include "quartz/log.h"

/* Before the programs are loaded: which, and how large their maps are. */
int bpf_log__set_sizes(struct bpf_runtime *bpf);

/* Bytes of all logs. After bpf_log__set_sizes(). */
uint64_t bpf_log__bytes(const struct bpf_runtime *bpf);

/* Makes a log for each processor that may come online, and maps it; nothing is written yet. */
int bpf_log__make(struct bpf_runtime *bpf);

void bpf_log__free(struct bpf_runtime *bpf);

/*
 * Sets which records are written from now on. On return, no program is still writing other records. The programs must be
 * attached.
 */
void bpf_log__turn(struct bpf_runtime *bpf, enum qz_log_on on);

/* Records of one processor; a power of two. */
uint32_t bpf_log__size(const struct bpf_runtime *bpf);

/* The log of a processor, NULL: it has none. Its records are at the head + QZ_LOG_FIRST. */
struct qz_log_head *bpf_log__of(const struct bpf_runtime *bpf, uint32_t cpu);

/* How often the rate of samples was halved: walks of places become rarer, too. Programs that run know it at once. */
void bpf_log__set_halvings(struct bpf_runtime *bpf, uint32_t halvings);

/* Waits until a log is half full, a descriptor can be read, or so many ms. Any thread. */
void bpf_log__await(struct bpf_runtime *bpf, int wake, int ms);

#endif
