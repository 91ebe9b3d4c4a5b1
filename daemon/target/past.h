/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an image had mapped before other code took its place, and until when. Times are those of bpf_ktime_get_ns, as the
 * kernel reports mappings: no thread runs the new code before, and none the old code after. Pure.
 */
#ifndef QUARTZ_DAEMON_PAST_H
#define QUARTZ_DAEMON_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/target/address_map.h"

struct past_region {
	struct region region;
	uint64_t until;
};

/* All zero is none. */
struct past {
	struct past_region *items;
	uint32_t n;
	/* Of these addresses it is not known what they had until then. */
	uint64_t unknown_start, unknown_end, unknown_until;
};

void past__free(struct past *past);

/* At `time`, other code took the place of some of the region. What is kept is bounded: of what is older, nothing is known. */
void past__add(struct past *past, const struct region *region, uint64_t time);

/* It is not known since when before `time` there is what is there now. */
void past__forget(struct past *past, uint64_t start, uint64_t end, uint64_t time);

/* What an address had at a time, or NULL: what it has now. */
const struct region *past__find(const struct past *past, uint64_t address, uint64_t time);

/* Whether that is not known. */
bool past__is_unknown(const struct past *past, uint64_t address, uint64_t time);

#endif
