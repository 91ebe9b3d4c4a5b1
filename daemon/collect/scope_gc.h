/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that have ended, where every process is a scope. Once nothing of one is on its way any more,
 * its number in BPF is free for another process; its figures stay in the profile. When those of all
 * ended ones take more memory than is wanted, the least ones, by processor time, are put together as
 * "other (ended)": sums stay as they are.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_SCOPE_GC_H
#define QUARTZ_DAEMON_SCOPE_GC_H

#include <stdint.h>

#include "daemon/kernel/bpf_runtime.h"

struct collector;
struct scope_gc;

/* `bytes`: what ended processes may take. NULL with errno ENOMEM. */
struct scope_gc *scope_gc__new(const struct bpf_runtime *bpf, uint64_t bytes);
void scope_gc__free(struct scope_gc *gc);

/* After each drain of the sampler's tables, by the collector's own. 0 or -errno: without memory, nothing is folded. */
int scope_gc__settle(struct collector *c);

/* Whether fewer numbers are free than those that will be after some more drains. */
bool scope_gc__is_short(const struct scope_gc *gc);

/* Processes that were put together so far. */
uint64_t scope_gc__folded(const struct scope_gc *gc);

#endif
