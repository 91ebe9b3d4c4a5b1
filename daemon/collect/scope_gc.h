/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frees processes that have ended, if every process is a scope. When no more data of a process can arrive, its number in
 * BPF is free for another process; its figures stay in the profile. When the figures of all ended processes take too much
 * memory, those with the least processor time are folded into "other (ended)"; sums do not change.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_SCOPE_GC_H
#define QUARTZ_DAEMON_SCOPE_GC_H

#include <stdint.h>

#include "daemon/kernel/bpf_runtime.h"

struct collector;
struct scope_gc;

/* `bytes`: memory for ended processes. NULL with errno ENOMEM. */
struct scope_gc *scope_gc__new(const struct bpf_runtime *bpf, uint64_t bytes);
void scope_gc__free(struct scope_gc *gc);

/* After each drain of the sampler's tables, by the collector's own. 0 or -errno: without memory, nothing is folded. */
int scope_gc__settle(struct collector *c);

/* Whether fewer numbers are free than those that will be after some more drains. */
bool scope_gc__is_short(const struct scope_gc *gc);

/* Processes that were put together so far. */
uint64_t scope_gc__folded(const struct scope_gc *gc);

#endif
