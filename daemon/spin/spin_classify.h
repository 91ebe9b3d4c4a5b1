/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classifies the code at an address: whether a thread that executes there waits. Rules by name come first, then the shape
 * of the code. Each address is classified once.
 */
#ifndef QUARTZ_DAEMON_SPIN_CLASSIFY_H
#define QUARTZ_DAEMON_SPIN_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/spin_rules.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/target/modules.h"
#include "daemon/symbolizer/symbolizer.h"

struct spin_classify;

/* What is known of an address. */
struct code_class {
	uint64_t address; /* in the unit of struct cached_address */
	uint32_t module;
	bool later;	       /* nothing yet: the symbolizer could not be asked */
	bool below;	       /* what is called from there waits as well */
	struct spin_code code; /* of class NONE where it does not wait */
};

/* Borrows all four; the rules must not change. NULL with errno ENOMEM. */
struct spin_classify *spin_classify__new(struct symbolizer *symbolizer, struct modules *modules,
					 struct bpf_runtime *bpf, const struct spin_rules *rules);
void spin_classify__free(struct spin_classify *s);

/* Asks for an address of a module, or of MODULE_KERNEL. 0 or -ENOMEM. */
int spin_classify__want(struct spin_classify *s, uint32_t module, uint64_t address);

/* Whether there is a module, of those that are known by now, whose code may wait with all that it calls. */
bool spin_classify__has_any_below(struct spin_classify *s);

/* Whether this one is such, so that its code is to be asked for wherever it is on a stack; after the former. */
bool spin_classify__has_below(const struct spin_classify *s, uint32_t module);

/* Whether a module is the C library: called by code that waits, it copies what has come. */
bool spin_classify__is_libc(const struct spin_classify *s, uint32_t module);

/*
 * Classifies all that was wanted, in batches. What cannot be, because its file cannot be read or its code was made
 * at run time and has no rule, does not wait.
 */
void spin_classify__resolve(struct spin_classify *s);

/* What an address is that was wanted before the last resolve(), or NULL. Valid until want(). */
const struct code_class *spin_classify__get(const struct spin_classify *s, uint32_t module,
					    uint64_t address);

#endif
