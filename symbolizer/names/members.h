/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the member of a variable at an address, from DWARF: "locks[17].m", "pool.queue_lock". DWARF
 * may be invalid, so everything is bounded: the number of variables, the time to find them, the
 * depth of types, and the length of chains of references.
 */
#ifndef QUARTZ_SYMBOLIZER_MEMBERS_H
#define QUARTZ_SYMBOLIZER_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdw.h>

#include "symbolizer/util/name.h"

struct members;

/*
 * Lists the variables with a fixed address. Those inside procedures come last, since the last ones
 * are left out if time (half a second) runs out. NULL: there are none. dwarf must outlive the
 * result.
 */
struct members *members__new(Dwarf *dwarf);
void members__free(struct members *m);

struct member {
	const char *variable; /* name in the source; NULL: none. Owned by dwarf */
	const char *file;     /* file that declares it; NULL: unknown. Owned by dwarf */
	struct name path;     /* after the variable's name: "", ".lock", "[3].lock" */
	uint64_t start;	      /* of the variable */
	uint64_t rest;	      /* distance of the address from the start of what the path names */
	bool whole;	      /* the path names a synchronization object, with all its words */
};

/* False: no variable is at the address. */
bool members__find(const struct members *m, uint64_t vaddr, struct member *out);

#endif
