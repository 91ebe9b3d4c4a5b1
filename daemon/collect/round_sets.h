/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ran together, from the rounds of the sampler: a set for each round and scope in which all running threads gave an
 * answer. It has the innermost procedure of each, and whether it spun. Where no thread of the scope ran, there is no set.
 */
#ifndef QUARTZ_DAEMON_ROUND_SETS_H
#define QUARTZ_DAEMON_ROUND_SETS_H

#include <stdint.h>

#include "daemon/attribution/stacks.h"
#include "daemon/collect/round_join.h"
#include "daemon/kernel/bpf_runtime.h"

/*
 * Adds n answers to the rounds of the profile. They are in the order of rounds and then of scopes, and their places are
 * the numbers of stacks of the buffer, which have been resolved. What finds no room is counted there. 0 or -ENOMEM.
 */
int round_sets__add(const struct stack_context *context, const struct bpf_runtime_buffer *buffer,
		    const struct round_answer *answers, uint32_t n);

#endif
