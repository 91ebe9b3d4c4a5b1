/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict on code addresses: is a thread that executes there waiting? Rules by name come first,
 * then the shape of the code. Each address is judged once.
 */
#ifndef QUARTZ_DAEMON_VERDICTS_H
#define QUARTZ_DAEMON_VERDICTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/spin_rules.h"
#include "daemon/modules.h"
#include "daemon/symbolizer.h"

struct verdicts;

/* A piece of code, addresses in the unit of a place: see struct place. */
struct verdict {
	uint32_t module;
	uint64_t address;
	enum qz_spin_class spin;
	bool confirm, by_caller; /* these and the following as in struct symbolizer_verdict */
	uint32_t written;
	uint64_t start, end;
	bool watches;
	uint32_t base;
	uint64_t at;
};

/* A range of kernel addresses. */
struct verdict_range {
	uint64_t start, end;
};

/* Borrows all three; the rules must not change. NULL with errno ENOMEM. */
struct verdicts *verdicts__new(struct symbolizer *symbolizer, struct modules *modules,
			       const struct spin_rules *rules);
void verdicts__free(struct verdicts *v);

/* Asks for an address of a module, or of MODULE_KERNEL. 0 or -ENOMEM. */
int verdicts__want(struct verdicts *v, uint32_t module, uint64_t address);

/*
 * Judges all that was wanted, in batches. What cannot be judged, because its file cannot be read or
 * its code was made at run time and has no rule, does not wait. 0 or -ENOMEM.
 */
int verdicts__judge(struct verdicts *v);

/* The verdict on an address that was wanted before the last judge(), or NULL. Valid until want(). */
const struct verdict *verdicts__get(const struct verdicts *v, uint32_t module, uint64_t address);

/*
 * The kernel code that waits, sorted and apart from each other; *n is 0 where the kernel hides its
 * addresses. Read on first use, owned by v. 0 or -ENOMEM.
 */
int verdicts__kernel(struct verdicts *v, const struct verdict_range **ranges, uint32_t *n);

#endif
