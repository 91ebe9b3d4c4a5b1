/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lines HOW MILLISECONDS: two threads that count, each for so long, of processor time.
 *
 * word: atomically, in one word. neighbours: each in its own word, of one cache line. apart, each in a line of its own:
 * atomically. read: both read one word that no thread writes. turns: as word, one after the other.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURNS 100000

static struct {
	_Alignas(128) long word;
	long next;
	_Alignas(128) long own[2][16];
} counters;

static enum { WORD, NEIGHBOURS, APART, READ, TURNS_OF_ONE } how;
static long long wanted_ns;

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static __attribute__((noinline)) void count_atomically(long *word)
{
	for (int i = 0; i < TURNS; i++)
		__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
}

static __attribute__((noinline)) void count_plainly(volatile long *word)
{
	for (int i = 0; i < TURNS; i++)
		++*word;
}

static __attribute__((noinline)) long add_up(const volatile long *word)
{
	long sum = 0;

	for (int i = 0; i < TURNS; i++)
		sum += *word;
	return sum;
}

static void *run(void *argument)
{
	long number = (long)argument;
	long long end = cpu_ns() + wanted_ns;

	while (cpu_ns() < end)
		switch (how) {
		case NEIGHBOURS:
			count_plainly(number ? &counters.next : &counters.word);
			break;
		case APART:
			count_atomically(counters.own[number]);
			break;
		case READ:
			add_up(&counters.word);
			break;
		default:
			count_atomically(&counters.word);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"word", "neighbours", "apart", "read", "turns"};
	pthread_t threads[2];

	for (int i = 0; argc > 2 && i < 5; i++)
		if (!strcmp(argv[1], names[i]))
			how = i;
	wanted_ns = argc > 2 ? atoll(argv[2]) * 1000000 : 0;
	for (long i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, run, (void *)i);
		if (how == TURNS_OF_ONE)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < 2 && how != TURNS_OF_ONE; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
