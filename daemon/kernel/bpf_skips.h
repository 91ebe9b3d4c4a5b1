/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When switches are counted and when they are skipped (bpf/skip.bpf.h). They are always counted where times are not left
 * to the kernel's accounts. Conventions as in bpf_runtime.h.
 */
#ifndef QUARTZ_DAEMON_BPF_SKIPS_H
#define QUARTZ_DAEMON_BPF_SKIPS_H

#include "daemon/kernel/bpf_runtime.h"

/* log2 of the largest part of the time: more would leave too little to complete from. */
#define BPF_SKIPS_MOST 4

/* The largest step that may be set: 0 where none may, or a test has set it by QUARTZ_SKIP_SWITCHES. */
uint32_t bpf_skips__most(const struct bpf_runtime *bpf);

/* Once, when all threads are followed. */
void bpf_skips__start(struct bpf_runtime *bpf);

/* Switches are counted for one part in 2^step of the time, from the next window on. */
void bpf_skips__set_step(struct bpf_runtime *bpf, uint32_t step);

uint32_t bpf_skips__step(const struct bpf_runtime *bpf);

/* Begins or ends a window if it is time for that. Gives when it will be the next time, 0: never. */
uint64_t bpf_skips__follow(struct bpf_runtime *bpf, uint64_t now);

/* Switches are counted from now on. */
void bpf_skips__stop(struct bpf_runtime *bpf);

/* For how long they were skipped until now. */
uint64_t bpf_skips__ns(const struct bpf_runtime *bpf, uint64_t now);

/* The time of the clock of scopes, which stands still while they are. */
uint64_t bpf_skips__clock(const struct bpf_runtime *bpf, uint64_t now);

#endif
