/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Identities by which rows of several profiles are matched: names that two builds of a program share, never addresses.
 *
 * A procedure is its name and its module's file name. The module's file name is used without the version of a library. The
 * executable's name is left out if not all profiles have it, because then the file was renamed. The suffix that a compiler
 * appends for a part or a copy of a procedure (".isra.0", " [clone .part.1]") is left out as well. A procedure without a
 * name is named after its address, which is the same only in the same build: if builds differ, all such procedures of a
 * module are one.
 */
#ifndef QUARTZ_CORE_COMPARE_IDENTITIES_H
#define QUARTZ_CORE_COMPARE_IDENTITIES_H

#include "core/model/profile.h"
#include "core/util/string_table.h"

enum qz_identity_kind {
	QZ_IDENTITY_PROCEDURE,
	QZ_IDENTITY_KERNEL,	/* what the kernel did for a program: core/report/kernel_rows.h */
	QZ_IDENTITY_NO_SAMPLES, /* time without samples, so of no known procedure */
	QZ_IDENTITY_COST,	/* of instrumentation, taken out of the procedures */
	QZ_IDENTITY_OBJECT,	/* a second attribution, as are threads */
	QZ_IDENTITY_THREADS,	/* that were started with one procedure */
	QZ_IDENTITY_WAITS,	/* for one cause: they have blocked time alone */
	QZ_IDENTITY_CLASS, /* a class of costs, or work: what processor time was for, core/costs/cost_code.h */
	QZ_IDENTITY_MARKER, /* no row: a marker on stacks, such as [thread] */
	QZ_IDENTITY_KINDS,
};

/* Names are as their owners chose them: escape them. They live as long as the table. */
struct qz_identity {
	enum qz_identity_kind kind;
	const char *name;
	const char *module; /* file name, "" for none and for that of the program; ends at ':' */
	int module_length;
};

struct qz_module_builds;

/* All zero is an empty table. */
struct qz_identities {
	struct qz_string_table keys, modules;
	struct qz_module_builds *builds; /* by module */
	uint32_t nprofiles;
};

/*
 * Registers a profile. To be called for all profiles before any identity is asked for. 0, -ENOMEM or -E2BIG; the functions
 * below fail in the same way.
 */
int qz_identities__add_profile(struct qz_identities *e, const struct qz_profile *p);

/*
 * The identity of a procedure of p, whose executable is the file `program` ("" where it is not known). Returns its index or
 * -errno.
 */
int64_t qz_identities__procedure(struct qz_identities *e, const struct qz_profile *p,
				 const char *program, uint32_t procedure);

/* An identity of another kind, by its name alone. Its index or -errno. */
int64_t qz_identities__other(struct qz_identities *e, enum qz_identity_kind kind, const char *name);

struct qz_identity qz_identities__get(const struct qz_identities *e, uint32_t index);
void qz_identities__free(struct qz_identities *e);

/* The path of the executable of a profile of one scope; "" where there is none. Borrowed. NULL with ENOMEM. */
const char *qz_identities__program(const struct qz_profile *p);

#endif
