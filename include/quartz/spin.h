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
	 * Code of this shape may also pass without waiting: it counts when two successive samples of a thread are
	 * in the loop, and all registers but those that it writes are equal; or when its counter shows that it has
	 * made QZ_SPIN_MANY_TURNS, or _PAUSES.
	 */
	QZ_SPIN_CONFIRM = 1,
	/*
	 * The address is in a small procedure without effects, such as one that reads a flag, and its class is
	 * NONE: what counts is its return address, as it stands on the stack.
	 */
	QZ_SPIN_BY_CALLER = 2,
	/* Each turn of the loop loads from one place only. */
	QZ_SPIN_WATCHES = 4,
};

#define QZ_SPIN_BASE(flags) ((flags) >> 8)

/*
 * A loop that has gone round so often without effect waits: in each turn it has done the same. A search through a
 * short array of which it looks at one word only would not come so far.
 */
#define QZ_SPIN_MANY_TURNS 256

/* One that has paused so often in a row does, whatever it looks for. */
#define QZ_SPIN_MANY_PAUSES 16

/* Whether a counter that began with `first` has come so far from it; many: what QZ_SPIN_MANY_TURNS add to it. */
static inline int qz_spin__has_turned(unsigned long long counter, int first, int many)
{
	int way = (int)((unsigned int)counter - (unsigned int)first);

	return many > 0 ? way >= many : many < 0 && way <= many;
}

/* In the place of a register's number, as instructions have them: what is watched is at a fixed place. */
#define QZ_SPIN_FIXED 16

#endif
