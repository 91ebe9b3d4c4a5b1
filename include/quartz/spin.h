/* SPDX-License-Identifier: GPL-2.0-only */
/* Spinning: a thread that runs and only waits. */
#ifndef QUARTZ_SPIN_H
#define QUARTZ_SPIN_H

/*
 * Why code at an address is taken for waiting. By name: a rule of spin-symbols. The others are
 * shapes of the loop around the address.
 */
enum qz_spin_class {
	QZ_SPIN_NONE = 0,
	QZ_SPIN_KNOWN = 1,   /* a known wait function */
	QZ_SPIN_PAUSE = 2,   /* every turn pauses the processor, or yields it */
	QZ_SPIN_PURE = 3,    /* ends only when somebody else changes memory */
	QZ_SPIN_ATOMIC = 4,  /* likewise, but it tries with an atomic instruction */
	QZ_SPIN_COUNTED = 5, /* likewise, but for at most so many turns */
	QZ_SPIN_CLASSES,
};

#define QZ_SPIN_NAMES                                                                              \
	{                                                                                          \
		"none", "known", "pause", "pure", "atomic", "counted"                              \
	}

/* In the place of a register's number, as instructions have them: what is watched is at a fixed place. */
#define QZ_SPIN_FIXED 16

#endif
