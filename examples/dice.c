/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dice [MILLIONS [THREADS]]: threads roll dice, and the sum is printed. For examples/try.
 *
 * rand() takes a lock, since all threads share one sequence. So more threads make this slower. The sum is the same each time, whichever
 * thread gets which number.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_THREADS 64

struct player {
	pthread_t thread;
	long rolls, sum;
};

static void *play(void *context)
{
	struct player *p = context;

	for (long i = 0; i < p->rolls; i++)
		p->sum += rand() % 6 + 1;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct player players[MOST_THREADS];
	long rolls = argc > 1 ? atol(argv[1]) * 1000000 : 10000000;
	int threads = argc > 2 ? atoi(argv[2]) : 4;
	long sum = 0;

	if (rolls < 1 || threads < 1 || threads > MOST_THREADS) {
		fputs("usage: dice [MILLIONS [THREADS]]\n", stderr);
		return 2;
	}
	for (int i = 0; i < threads; i++) {
		players[i].rolls = rolls / threads;
		if (pthread_create(&players[i].thread, NULL, play, &players[i])) {
			perror("pthread_create");
			return 1;
		}
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(players[i].thread, NULL);
		sum += players[i].sum;
	}
	printf("%ld\n", sum);
	return 0;
}
