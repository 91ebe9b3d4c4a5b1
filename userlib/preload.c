// SPDX-License-Identifier: LGPL-2.1-only
/* Mutexes, condition variables, barriers, spin locks, semaphores. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "userlib/preload.h"

void *preload__real(const char *name, const char *version)
{
	void *f = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

	f = f ?: dlsym(RTLD_NEXT, name);
	if (!f)
		abort();
	return f;
}

/* ---- mutexes ---- */

/* A robust mutex whose last owner has died is held, too. */
static int is_held(int err)
{
	return !err || err == EOWNERDEAD;
}

/*
 * Bits of glibc's __kind: robust, priority inheritance, priority protection. A trylock can change
 * the result of a later lock for these: glibc 2.36 then keeps an unrecoverable mutex locked.
 */
#define SPECIAL_KINDS (16 | 32 | 64)

/* Tries to lock without waiting. EBUSY: wait. */
static int try_first(pthread_mutex_t *mutex)
{
	if (__atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) & SPECIAL_KINDS)
		return EBUSY;
	return real(pthread_mutex_trylock)(mutex);
}

exported int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int err;

	if (!quartz_slot_())
		return real(pthread_mutex_lock)(mutex);
	err = try_first(mutex);
	if (err == EBUSY) {
		WAITING(BLOCKED, mutex);
		err = real(pthread_mutex_lock)(mutex);
	}
	return is_held(err) ? preload__hold(mutex, err) : err;
}

exported int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int err = real(pthread_mutex_trylock)(mutex);

	return is_held(err) ? preload__hold(mutex, err) : err;
}

exported int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	int err;

	if (!quartz_slot_())
		return real(pthread_mutex_timedlock)(mutex, until);
	err = try_first(mutex);
	if (err == EBUSY) {
		WAITING(BLOCKED, mutex);
		err = real(pthread_mutex_timedlock)(mutex, until);
	}
	return is_held(err) ? preload__hold(mutex, err) : err;
}

exported int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				     const struct timespec *until)
{
	int err;

	/* The real function checks the clock first. */
	if (!quartz_slot_() || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
		return real(pthread_mutex_clocklock)(mutex, clock, until);
	err = try_first(mutex);
	if (err == EBUSY) {
		WAITING(BLOCKED, mutex);
		err = real(pthread_mutex_clocklock)(mutex, clock, until);
	}
	return is_held(err) ? preload__hold(mutex, err) : err;
}

exported int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int err = real(pthread_mutex_unlock)(mutex);

	return err ? err : preload__hold(NULL, 0);
}

/* ---- condition variables ---- */

/* Older versions have another layout; no program for x86-64 uses them. */
#define COND_VERSION "GLIBC_2.3.2"

exported int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	WAITING(BLOCKED, cond);
	return real_version(pthread_cond_wait, COND_VERSION)(cond, mutex);
}

exported int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				    const struct timespec *until)
{
	WAITING(BLOCKED, cond);
	return real_version(pthread_cond_timedwait, COND_VERSION)(cond, mutex, until);
}

exported int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
				    const struct timespec *until)
{
	WAITING(BLOCKED, cond);
	return real(pthread_cond_clockwait)(cond, mutex, clock, until);
}

/* ---- barriers and spin locks ---- */

exported int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	WAITING(BLOCKED, barrier);
	return real(pthread_barrier_wait)(barrier);
}

exported int pthread_spin_lock(pthread_spinlock_t *lock)
{
	int err;

	if (!quartz_slot_())
		return real(pthread_spin_lock)(lock);
	err = real(pthread_spin_trylock)(lock);
	if (err == EBUSY) {
		WAITING(SPINNING, (const void *)lock);
		err = real(pthread_spin_lock)(lock);
	}
	return err ? err : preload__hold((const void *)lock, 0);
}

exported int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	int err = real(pthread_spin_trylock)(lock);

	return err ? err : preload__hold((const void *)lock, 0);
}

exported int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	int err = real(pthread_spin_unlock)(lock);

	return err ? err : preload__hold(NULL, 0);
}

/* ---- semaphores, with errors in errno ---- */

exported int sem_wait(sem_t *sem)
{
	int saved = errno;

	if (!quartz_slot_())
		return real(sem_wait)(sem);
	/* The real function is a cancellation point even if it does not wait. */
	pthread_testcancel();
	if (!real(sem_trywait)(sem))
		return 0;
	errno = saved;
	WAITING(BLOCKED, sem);
	return real(sem_wait)(sem);
}

/* The real functions check the time first, so there is no trywait. */
exported int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	WAITING(BLOCKED, sem);
	return real(sem_timedwait)(sem, until);
}

exported int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
	WAITING(BLOCKED, sem);
	return real(sem_clockwait)(sem, clock, until);
}
