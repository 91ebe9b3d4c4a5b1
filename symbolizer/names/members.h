/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which member of which variable is at an address, from DWARF: "locks[17].m", "pool.queue_lock".
 *
 * DWARF is taken as far as it makes sense, and everything is bounded: the number of variables, the
 * time to find them, the depth of types and the length of what is followed from one to another.
 */
#ifndef QUARTZ_SYMBOLIZER_MEMBERS_H
#define QUARTZ_SYMBOLIZER_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdw.h>

#include "symbolizer/util/name.h"

struct members;

/*
 * Lists the variables that have an address of their own. Those inside of procedures come last: they
 * are the ones left out when time (half a second) runs out. NULL when there are none. dwarf must
 * outlive the result.
 */
struct members *members__new(Dwarf *dwarf);
void members__free(struct members *m);

struct member {
	const char *variable; /* its name in the source; NULL: none. Owned by dwarf */
	const char *file;     /* that declares it; NULL: not known. Owned by dwarf */
	struct name path;     /* behind the variable's name: "", ".lock", "[3].lock" */
	uint64_t start;	      /* of the variable */
	uint64_t rest;	      /* from the beginning of what the path names to the address */
	bool whole; /* the path names an object made for synchronization, with all its words */
};

/* false when no variable is at the address. */
bool members__find(const struct members *m, uint64_t vaddr, struct member *out);

#endif
