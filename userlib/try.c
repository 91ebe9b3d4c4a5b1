/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libquartz-try.so, preloaded by quartzctl advise --try: what only the process itself can set, and no variable of a library does.
 * Default mutexes become adaptive, as those of PTHREAD_MUTEX_ADAPTIVE_NP: who finds one locked spins a while before it sleeps.
 */
#include <dlfcn.h>
#include <pthread.h>

static int (*real_lock)(pthread_mutex_t *);

/* Constructors of other libraries may be first. All threads find the same. */
static int (*find_lock(void))(pthread_mutex_t *)
{
	int (*lock)(pthread_mutex_t *) = __atomic_load_n(&real_lock, __ATOMIC_RELAXED);

	if (!lock) {
		*(void **)&lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
		__atomic_store_n(&real_lock, lock, __ATOMIC_RELAXED);
	}
	return lock;
}

/*
 * Both kinds lock and unlock the same word in the same way, and glibc itself changes the kind of mutexes in use (elision), so that
 * it does not matter who has the mutex now.
 */
__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *m)
{
	int *kind = &m->__data.__kind;

	if (__atomic_load_n(kind, __ATOMIC_RELAXED) == PTHREAD_MUTEX_TIMED_NP)
		__atomic_store_n(kind, PTHREAD_MUTEX_ADAPTIVE_NP, __ATOMIC_RELAXED);
	return find_lock()(m);
}
