/* SPDX-License-Identifier: GPL-2.0-only */
/* threads_churn [N [K]]: creates and ends N threads, with at most K of them alive. */
#include <pthread.h>

#include "tests/programs/truth.h"

PROCEDURE static void *churn_worker(void *arg)
{
	compute_turns(5000);
	return (void *)clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t end_thread(pthread_t thread)
{
	void *cpu_ns;

	check("pthread_join", pthread_join(thread, &cpu_ns));
	return (uint64_t)cpu_ns;
}

int main(int argc, char **argv)
{
	long total = count_argument(argc, argv, 1, 1000);
	long limit = count_argument(argc, argv, 2, 4);
	pthread_t *alive = calloc((size_t)limit, sizeof(*alive));
	uint64_t start = clock_ns(CLOCK_MONOTONIC), cpu_ns = 0;
	long created = 0, ended = 0;

	if (!alive || !limit)
		die("threads_churn", alive ? EINVAL : ENOMEM);
	while (created < total) {
		if (created - ended == limit)
			cpu_ns += end_thread(alive[ended++ % limit]);
		check("pthread_create",
		      pthread_create(&alive[created % limit], NULL, churn_worker, NULL));
		created++;
	}
	while (ended < created)
		cpu_ns += end_thread(alive[ended++ % limit]);

	printf("threads created %ld ended %ld\n", created, ended);
	truth_print("churn_worker", cpu_ns, clock_ns(CLOCK_MONOTONIC) - start);
	free(alive);
	return 0;
}
