/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps addresses to locations of the profile. The symbolizer is asked once for each (module,
 * address), in batches: call want() for all addresses, resolve(), then get().
 */
#ifndef QUARTZ_DAEMON_ADDRESS_CACHE_H
#define QUARTZ_DAEMON_ADDRESS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/profile.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/target/modules.h"
#include "daemon/symbolizer/symbolizer.h"

#define MODULE_KERNEL (UINT32_MAX - 1)

struct address_cache;

struct cached_address {
	uint64_t address; /* file offset; virtual for JIT code and the kernel */
	uint32_t module;
	uint32_t location; /* in the profile; QZ_NONE before resolve() */
	bool found;	   /* it has a name */
	bool later;	   /* it may get a name later, since the symbolizer could not be asked */
	bool outermost;	   /* runtime code that begins a process or a thread */
	uint32_t read;	   /* how often the names of its module had been read when this was named */
	bool task;	   /* runtime code that begins a goroutine */
	bool unknown;	   /* the location is of this address only, and may get a name at the end */
	bool creator; /* runtime code that creates a process or thread: clone, fork, pthread_create, ... */
};

/* Borrows all arguments. NULL with errno ENOMEM. */
struct address_cache *address_cache__new(struct symbolizer *symbolizer, struct modules *modules,
					 struct bpf_runtime *bpf, struct qz_profile *profile);
void address_cache__free(struct address_cache *cache);

struct modules *address_cache__modules(const struct address_cache *cache);

/* Asks for an address. 0 or -ENOMEM. */
int address_cache__want(struct address_cache *cache, uint32_t module, uint64_t address);

/*
 * Finds the names of all wanted addresses. Those without a name become "[unknown]" of their module.
 */
int address_cache__resolve(struct address_cache *cache);

/*
 * From now on, nameless JIT code gets a location for each address, up to a bound, for
 * address_cache__name_late().
 */
void address_cache__expect_late_maps(struct address_cache *cache);

/*
 * Call this at the end of a run: it takes names from maps that were written since, as a Java
 * virtual machine does when it exits. 0 or -ENOMEM.
 */
int address_cache__name_late(struct address_cache *cache);

/* The address, if it was wanted before the last resolve(); else NULL. */
const struct cached_address *address_cache__get(const struct address_cache *cache, uint32_t module,
						uint64_t address);

/*
 * The index of the innermost procedure at an address, "[unknown]" if cached is NULL or has no name;
 * or -ENOMEM.
 */
int64_t address_cache__procedure(struct qz_profile *profile, const struct cached_address *cached);

/*
 * The number of addresses wanted so far, and each of them; NULL: it has no location. Indices stay
 * valid.
 */
uint32_t address_cache__count(const struct address_cache *cache);
const struct cached_address *address_cache__at(const struct address_cache *cache, uint32_t index);

#endif
