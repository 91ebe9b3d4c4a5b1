// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Read-write locks. The timed functions check the time first, so there is no trylock before them.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "userlib/preload.h"

static int held(const void *lock, int err)
{
	return err ? err : preload__hold(lock, 0);
}

exported int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	int err;

	if (!quartz_slot_())
		return real(pthread_rwlock_rdlock)(lock);
	err = real(pthread_rwlock_tryrdlock)(lock);
	if (err == EBUSY) {
		WAITING(BLOCKED, lock);
		err = real(pthread_rwlock_rdlock)(lock);
	}
	return held(lock, err);
}

exported int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	int err;

	if (!quartz_slot_())
		return real(pthread_rwlock_wrlock)(lock);
	err = real(pthread_rwlock_trywrlock)(lock);
	if (err == EBUSY) {
		WAITING(BLOCKED, lock);
		err = real(pthread_rwlock_wrlock)(lock);
	}
	return held(lock, err);
}

exported int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	return held(lock, real(pthread_rwlock_tryrdlock)(lock));
}

exported int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	return held(lock, real(pthread_rwlock_trywrlock)(lock));
}

exported int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	WAITING(BLOCKED, lock);
	return real(pthread_rwlock_timedrdlock)(lock, until);
}

exported int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	WAITING(BLOCKED, lock);
	return real(pthread_rwlock_timedwrlock)(lock, until);
}

exported int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
					const struct timespec *until)
{
	WAITING(BLOCKED, lock);
	return real(pthread_rwlock_clockrdlock)(lock, clock, until);
}

exported int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
					const struct timespec *until)
{
	WAITING(BLOCKED, lock);
	return real(pthread_rwlock_clockwrlock)(lock, clock, until);
}

exported int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	int err = real(pthread_rwlock_unlock)(lock);

	return err ? err : preload__hold(NULL, 0);
}
