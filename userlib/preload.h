/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libquartz-preload: wrappers of the C library's functions that wait, for unchanged programs. Each
 * returns what the real function returns. Locks are tried first, and only a wait is reported, so
 * that locking and unlocking a free lock costs one store each.
 */
#ifndef QUARTZ_USERLIB_PRELOAD_H
#define QUARTZ_USERLIB_PRELOAD_H

#include <stddef.h>

#include "userlib/quartz.h"

#define exported __attribute__((visibility("default")))

/*
 * The C library's own function. Ends the program if there is none: it could not have been linked
 * then.
 */
void *preload__real(const char *name, const char *version);

#define real(name) real_version(name, NULL)
#define real_version(name, version)                                                                \
	({                                                                                         \
		static __typeof__(name) *real_##name;                                              \
		__typeof__(name) *found_ = __atomic_load_n(&real_##name, __ATOMIC_RELAXED);        \
                                                                                                   \
		if (__builtin_expect(!found_, 0)) {                                                \
			found_ = (__typeof__(name) *)preload__real(#name, version);                \
			__atomic_store_n(&real_##name, found_, __ATOMIC_RELAXED);                  \
		}                                                                                  \
		found_;                                                                            \
	})

/* Ends a wait, also when the thread is cancelled. */
static inline void preload__end(struct quartz_slot_ **slot)
{
	if (*slot)
		__atomic_store_n(&(*slot)->wait, 0, __ATOMIC_RELAXED);
}

/* Reports a wait until the end of the block. */
#define WAITING(state, object)                                                                     \
	struct quartz_slot_ *waiting_ __attribute__((cleanup(preload__end))) = quartz_slot_();     \
	quartz_wait_(waiting_, state, object)

enum { SPINNING = 1, BLOCKED = 2 };

/* Records the last lock taken; NULL: released. Returns err. */
static inline int preload__hold(const void *lock, int err)
{
	struct quartz_slot_ *slot = quartz_slot_();

	if (slot)
		__atomic_store_n(&slot->held, (uintptr_t)lock, __ATOMIC_RELAXED);
	return err;
}

#endif
