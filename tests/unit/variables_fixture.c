/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Variables whose members the tests of names of objects know, in C.
 */
#include <pthread.h>
#include <semaphore.h>

struct item {
	long count;
	pthread_mutex_t m;
};

struct pool {
	char name[24];
	struct {
		int unnamed_before;
		pthread_mutex_t queue_lock;
	};
	union {
		char padding[256];
		struct item inner;
	} padded;
	pthread_cond_t ready;
	pthread_rwlock_t *elsewhere;
	unsigned int bits : 3;
	unsigned int word;
	struct item table[3][4];
};

typedef volatile struct pool renamed_pool;

pthread_mutex_t plain_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t local_semaphore;
struct item locks[32];
renamed_pool pool;
pthread_cond_t conditions[2];
int numbers[8];
__thread pthread_mutex_t of_thread = PTHREAD_MUTEX_INITIALIZER;
static const int constant = 5;

/* Each procedure has a variable of the same name. */
void *first_lock(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	return &lock;
}

/* Two procedures have a variable of the same name; so do two files, see variables_namesake.c. */
static pthread_mutex_t namesake = PTHREAD_MUTEX_INITIALIZER;
void *other_namesake(void);

int main(void)
{
	sem_init(&local_semaphore, 0, 0);
	pthread_mutex_lock(&of_thread);
	pthread_mutex_lock(first_lock());
	pthread_mutex_lock(&namesake);
	pthread_mutex_lock(other_namesake());
	pool.word = (unsigned int)numbers[constant];
	return 0;
}
