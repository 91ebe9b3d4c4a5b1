/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the kind of a synchronization object, and a name that the program's authors know.
 *
 * A futex word has, best first: the name that its program gave to it (quartz_object_name); the variable that holds it, with the member where DWARF tells
 * ("pool.queue_lock") or the distance where not ("pool+0x28"); else what is waited for and the
 * procedure that first waited ("mutex in hash_insert (hash.c:42)"), outside of the code that makes
 * waiting what it is. Objects that get the same name are one object to the reader: a hundred
 * mutexes of a hundred buckets are locked from one place.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_OBJECT_NAMING_H
#define QUARTZ_DAEMON_OBJECT_NAMING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/model/profile.h"
#include "daemon/target/address_map.h"
#include "daemon/target/modules.h"
#include "daemon/symbolizer/symbolizer.h"

#define OBJNAME_BYTES 20
#define OBJNAME_SIZE  512

struct object_naming_context;

/* A futex word and the first wait for it that was seen. */
struct object_naming_futex {
	const struct address_map *map; /* of its process; NULL: not known */
	uint64_t word;		       /* its address */
	uint32_t op, val;	       /* second and third argument of the system call */
	uint32_t nbytes;	       /* of bytes: 0 when the word could not be read */
	uint8_t bytes[OBJNAME_BYTES];  /* from the word on, as the kernel read them */
	uint32_t node;		       /* leaf of the wait's stack in the profile, 0: not known */
	bool spun;		       /* no call: the thread spins on it */
	/*
	 * Writes the name that the program itself gave to the object at an address, up to
	 * OBJNAME_SIZE bytes. False: none. NULL: it gives no names.
	 */
	bool (*given)(void *context, uint64_t address, char *name);
	void *context;	    /* of given */
	const char *joined; /* of a wait for a thread's end: its name, NULL: not known */
};

/* A descriptor that was waited for, and what its inode number was then. */
struct object_naming_file {
	pid_t pid;
	uint64_t start_boottime; /* of the process */
	int fd;
	uint32_t kind; /* QZ_OBJECT_FILE, QZ_OBJECT_PIPE, QZ_OBJECT_SOCKET or QZ_OBJECT_LOCK */
	const char *before, *behind; /* the file's name in that of the object */
	uint64_t inode;
	bool limited; /* its process has as many names as it may */
};

struct object_naming {
	uint32_t kind;		 /* enum qz_object_kind */
	uint64_t address;	 /* where the object begins, as far as its layout is known */
	char name[OBJNAME_SIZE]; /* never "" */
	/* The stack of the wait did not reach what the object would be called after, or the process could not be read. */
	bool open;
	const char *module; /* path; "" when none. Valid until the profile or a module changes */
};

/* All borrowed; they must outlive the result. NULL with errno ENOMEM. */
struct object_naming_context *object_naming__new(struct symbolizer *symbolizer,
						 struct modules *modules,
						 struct qz_profile *profile);
void object_naming__free(struct object_naming_context *c);

/*
 * Names a futex word. Asks the symbolizer, which may have to read a file first; so once for each
 * object, not for each wait.
 */
void object_naming__futex(struct object_naming_context *c, const struct object_naming_futex *f,
			  struct object_naming *out);

/*
 * Names memory that threads share, by the variables that its first and its last word are in, else by the code at a node
 * that uses it. Asks the symbolizer.
 */
void object_naming__memory(struct object_naming_context *c, const struct address_map *map,
			   uint64_t first, uint64_t last, uint32_t node, struct object_naming *out);

/*
 * Names a file, pipe or socket by what fd_names.h says. One that has been closed since, or reused
 * for another, is called after its kind only, and so is one of a process that has too many.
 */
void object_naming__file(const struct object_naming_file *f, struct object_naming *out);

#endif
