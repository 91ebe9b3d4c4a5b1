/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * semantics: what the wrapped functions return in all sorts of cases, one per line. The output must
 * be the same with libquartz-preload and without.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void result(const char *what, int err)
{
	printf("%s: %s\n", what, strerrorname_np(err) ?: "?");
}

#define try(call) result(#call, call)
#define try_errno(call)                                                                            \
	do {                                                                                       \
		errno = 0;                                                                         \
		result(#call, (call) ? errno : 0);                                                 \
		result("errno after " #call, errno);                                               \
	} while (0)

static const struct timespec past = {1, 0}, invalid = {1, -1};

static struct timespec soon(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_nsec += 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

static void in_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;
	void *value;
	int err = pthread_create(&thread, NULL, run, argument);

	/* Said when the thread has said all that it has to. */
	try(pthread_join(thread, &value));
	result("pthread_create", err);
	printf("joined: %s\n", value == PTHREAD_CANCELED ? "cancelled" : value ? "value" : "none");
}

/* ---- mutexes ---- */

static void *lock_elsewhere(void *mutex)
{
	struct timespec ts = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);

	try(pthread_mutex_trylock(mutex));
	try(pthread_mutex_timedlock(mutex, &ts));
	try(pthread_mutex_timedlock(mutex, &past));
	try(pthread_mutex_timedlock(mutex, &invalid));
	try(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &mono));
	try(pthread_mutex_clocklock(mutex, 99, &mono));
	try(pthread_mutex_unlock(mutex));
	return mutex;
}

static void mutex_of_type(int type, const char *name)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;

	printf("-- %s\n", name);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutex_init(&mutex, &attr);
	try(pthread_mutex_lock(&mutex));
	if (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE) {
		try(pthread_mutex_lock(&mutex));
		try(pthread_mutex_timedlock(&mutex, &past));
		in_thread(lock_elsewhere, &mutex);
		try(pthread_mutex_unlock(&mutex));
		try(pthread_mutex_unlock(&mutex));
		try(pthread_mutex_unlock(&mutex));
		try(pthread_mutex_unlock(&mutex));
	} else {
		try(pthread_mutex_trylock(&mutex));
		try(pthread_mutex_timedlock(&mutex, &past));
		try(pthread_mutex_unlock(&mutex));
	}
	try(pthread_mutex_timedlock(&mutex, &invalid));
	try(pthread_mutex_unlock(&mutex));
	try(pthread_mutex_clocklock(&mutex, 99, &past));
	try(pthread_mutex_destroy(&mutex));
}

static void *die_with(void *mutex)
{
	try(pthread_mutex_lock(mutex));
	return NULL;
}

static void robust_mutex(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;

	puts("-- robust");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attr);
	in_thread(die_with, &mutex);
	try(pthread_mutex_lock(&mutex));
	try(pthread_mutex_consistent(&mutex));
	try(pthread_mutex_unlock(&mutex));
	in_thread(die_with, &mutex);
	try(pthread_mutex_timedlock(&mutex, &past));
	try(pthread_mutex_unlock(&mutex));
	try(pthread_mutex_lock(&mutex));
	try(pthread_mutex_trylock(&mutex));
}

/* ---- read-write locks, spin locks ---- */

static void *rwlock_elsewhere(void *lock)
{
	struct timespec ts = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);

	try(pthread_rwlock_tryrdlock(lock));
	try(pthread_rwlock_trywrlock(lock));
	try(pthread_rwlock_timedrdlock(lock, &ts));
	try(pthread_rwlock_timedwrlock(lock, &past));
	try(pthread_rwlock_clockrdlock(lock, CLOCK_MONOTONIC, &mono));
	try(pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &mono));
	return NULL;
}

static void rwlock(void)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

	puts("-- rwlock");
	try(pthread_rwlock_wrlock(&lock));
	try(pthread_rwlock_wrlock(&lock));
	try(pthread_rwlock_rdlock(&lock));
	in_thread(rwlock_elsewhere, &lock);
	try(pthread_rwlock_unlock(&lock));
	try(pthread_rwlock_rdlock(&lock));
	try(pthread_rwlock_rdlock(&lock));
	try(pthread_rwlock_unlock(&lock));
	try(pthread_rwlock_unlock(&lock));
	try(pthread_rwlock_timedrdlock(&lock, &invalid));
	try(pthread_rwlock_timedwrlock(&lock, &invalid));
	try(pthread_rwlock_clockwrlock(&lock, 99, &past));
	try(pthread_rwlock_timedwrlock(&lock, &past));
}

static void spin(void)
{
	pthread_spinlock_t lock;

	puts("-- spin lock");
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	try(pthread_spin_lock(&lock));
	try(pthread_spin_trylock(&lock));
	try(pthread_spin_unlock(&lock));
	try(pthread_spin_trylock(&lock));
}

/* ---- semaphores, conditions, barriers ---- */

static void semaphore(void)
{
	struct timespec ts = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);
	sem_t sem;

	puts("-- semaphore");
	sem_init(&sem, 0, 2);
	try_errno(sem_wait(&sem));
	try_errno(sem_timedwait(&sem, &invalid));
	try_errno(sem_timedwait(&sem, &past));
	try_errno(sem_timedwait(&sem, &ts));
	try_errno(sem_clockwait(&sem, CLOCK_MONOTONIC, &mono));
	try_errno(sem_clockwait(&sem, 99, &mono));
}

static void condition(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec ts = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);

	puts("-- condition");
	try(pthread_mutex_lock(&mutex));
	try(pthread_cond_timedwait(&cond, &mutex, &ts));
	try(pthread_mutex_trylock(&mutex));
	try(pthread_cond_timedwait(&cond, &mutex, &invalid));
	try(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &mono));
	try(pthread_cond_clockwait(&cond, &mutex, 99, &mono));
	try(pthread_mutex_unlock(&mutex));
}

static void barrier_of_one(void)
{
	pthread_barrier_t barrier;

	puts("-- barrier");
	pthread_barrier_init(&barrier, NULL, 1);
	printf("serial: %d\n", pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
}

/* ---- cancellation ---- */

static pthread_mutex_t unlocked_last = PTHREAD_MUTEX_INITIALIZER;

static void unlock(void *mutex)
{
	try(pthread_mutex_unlock(mutex));
}

static void *be_cancelled_in_cond(void *unused)
{
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	pthread_cancel(pthread_self());
	pthread_mutex_lock(&unlocked_last);
	pthread_cleanup_push(unlock, &unlocked_last);
	pthread_cond_wait(&cond, &unlocked_last);
	pthread_cleanup_pop(0);
	return NULL;
}

/* Even where there is no need to wait. */
static void *be_cancelled_in_sem(void *sem)
{
	pthread_cancel(pthread_self());
	sem_wait(sem);
	return NULL;
}

static void *be_not_cancelled_in_mutex(void *unused)
{
	pthread_cancel(pthread_self());
	pthread_mutex_lock(&unlocked_last);
	pthread_mutex_unlock(&unlocked_last);
	return &unlocked_last;
}

static void cancellation(void)
{
	sem_t sem;
	int value;

	puts("-- cancellation");
	in_thread(be_cancelled_in_cond, NULL);
	sem_init(&sem, 0, 1);
	in_thread(be_cancelled_in_sem, &sem);
	sem_getvalue(&sem, &value);
	printf("semaphore: %d\n", value);
	in_thread(be_not_cancelled_in_mutex, NULL);
}

int main(void)
{
	mutex_of_type(PTHREAD_MUTEX_NORMAL, "normal");
	mutex_of_type(PTHREAD_MUTEX_ERRORCHECK, "error-checking");
	mutex_of_type(PTHREAD_MUTEX_RECURSIVE, "recursive");
	mutex_of_type(PTHREAD_MUTEX_ADAPTIVE_NP, "adaptive");
	robust_mutex();
	rwlock();
	spin();
	semaphore();
	condition();
	barrier_of_one();
	cancellation();
	return 0;
}
