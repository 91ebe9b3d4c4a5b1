/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses become locations of the profile. Each (module, address) is asked of the symbolizer
 * once, in batches: want() everything, resolve(), then get().
 */
#ifndef QUARTZ_DAEMON_PLACES_H
#define QUARTZ_DAEMON_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/profile.h"
#include "daemon/modules.h"
#include "daemon/symbolizer.h"

#define MODULE_KERNEL (UINT32_MAX - 1)

struct places;

struct place {
	uint32_t module;
	uint64_t address;  /* file offset; virtual for JIT code and the kernel */
	uint32_t location; /* in the profile; QZ_NONE before resolve() */
	bool found;	   /* it has a name */
	bool outermost;	   /* runtime code that begins a process or thread */
	bool creator;	   /* runtime code that makes one: clone, fork, pthread_create, … */
};

struct places *places__new(struct symbolizer *symbolizer, struct modules *modules,
			   struct qz_profile *profile);
void places__free(struct places *p);

struct modules *places__modules(const struct places *p);

/* Asks for an address. 0 or -ENOMEM. */
int places__want(struct places *p, uint32_t module, uint64_t address);

/* Names all that was wanted. Addresses without a name become "[unknown]" of their module. */
int places__resolve(struct places *p);

/* The place of an address that was wanted before the last resolve(), or NULL. */
const struct place *places__get(const struct places *p, uint32_t module, uint64_t address);

#endif
