/* SPDX-License-Identifier: GPL-2.0-only */
/* Spinning: a thread that runs and only waits. */
#ifndef QUARTZ_SPIN_H
#define QUARTZ_SPIN_H

/*
 * Why code at an address counts as waiting. KNOWN: a rule of spin-symbols has its name. The others are shapes of the loop
 * around the address.
 */
enum qz_spin_class {
	QZ_SPIN_NONE = 0,
	QZ_SPIN_KNOWN = 1,   /* a known wait function */
	QZ_SPIN_PAUSE = 2,   /* every turn pauses the processor, or yields it */
	QZ_SPIN_PURE = 3,    /* ends only when another thread changes memory */
	QZ_SPIN_ATOMIC = 4,  /* as PURE, but it tries with an atomic instruction */
	QZ_SPIN_COUNTED = 5, /* as PURE, but for at most so many turns */
	QZ_SPIN_CLASSES,
};

#define QZ_SPIN_NAMES                                                                              \
	{                                                                                          \
		"none", "known", "pause", "pure", "atomic", "counted"                              \
	}

enum qz_spin_flags {
	/*
	 * Code of this shape may also pass without waiting. A sample counts only if the thread's next sample is in the same
	 * loop, and all registers that the loop does not write are equal; or if the loop's counter shows
	 * QZ_SPIN_MANY_TURNS, or _PAUSES.
	 */
	QZ_SPIN_CONFIRM = 1,
	/*
	 * The address is in a small procedure without effects, such as one that reads a flag, and its class is
	 * NONE: the class of its return address, on the stack, applies.
	 */
	QZ_SPIN_BY_CALLER = 2,
	/* Each turn of the loop loads from one place only. */
	QZ_SPIN_WATCHES = 4,
};

#define QZ_SPIN_BASE(flags) ((flags) >> 8)

/*
 * A loop that has made so many turns without effect waits: each turn did the same. A search through a short array, of which
 * the loop reads one word, would end earlier.
 */
#define QZ_SPIN_MANY_TURNS 256

/* A loop that has paused so often in a row waits. */
#define QZ_SPIN_MANY_PAUSES 16

/* Whether a counter that began with `first` shows QZ_SPIN_MANY_TURNS turns; many: what these add to it, may be negative. */
static inline int qz_spin__has_turned(unsigned long long counter, int first, int many)
{
	int way = (int)((unsigned int)counter - (unsigned int)first);

	return many > 0 ? way >= many : many < 0 && way <= many;
}

/* In place of a register's number: the watched word is at a fixed address. */
#define QZ_SPIN_FIXED 16

#endif
