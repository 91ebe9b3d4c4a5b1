/* SPDX-License-Identifier: GPL-2.0-only */
/* Two threads that count what they do: the first argument is where. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TURNS 200000000

static _Alignas(64) uint64_t words[8]; /* of one line */
static _Alignas(64) uint64_t apart[2][16];
static char how;
static volatile uint64_t sink;

static uint64_t work(uint64_t x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}

/* As of counters that others read at any time. */
static uint64_t add_atomically(uint64_t x, uint64_t *to)
{
	for (int i = 0; i < TURNS; i++) {
		x = work(x);
		__atomic_fetch_add(to, x >> 63, __ATOMIC_RELAXED);
	}
	return x;
}

/* That nobody else reads meanwhile. */
static uint64_t own_word(uint64_t x, volatile uint64_t *own)
{
	for (int i = 0; i < TURNS; i++) {
		x = work(x);
		*own += x >> 63;
	}
	return x;
}

static void *run(void *argument)
{
	uintptr_t number = (uintptr_t)argument;
	uint64_t *beside = &words[number];

	if (how == 'w' || how == 'b')
		sink = add_atomically(number, how == 'b' ? beside : words);
	else if (how == 'l')
		sink = add_atomically(number, apart[number]);
	else
		sink = own_word(number, how == 'n' ? beside : apart[number]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	how = argc > 1 ? argv[1][0] : 'w'; /* word, neighbours, apart; atomically: beside, lines */
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
