/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * leader_exits [SECONDS [N]]: the main thread ends by pthread_exit after it started N workers, which
 * compute on. The process lives as a zombie leader with living threads.
 */
#include <pthread.h>

#include "tests/programs/truth.h"

static double work_seconds;

PROCEDURE static void *orphan_work(void *arg)
{
	struct truth start = truth_now();

	compute_seconds(work_seconds);
	truth_since("orphan_work", start);
	return NULL;
}

int main(int argc, char **argv)
{
	long workers = count_argument(argc, argv, 2, 2);
	pthread_t thread;

	work_seconds = seconds_argument(argc, argv, 1, 1);
	for (long i = 0; i < workers; i++) {
		check("pthread_create", pthread_create(&thread, NULL, orphan_work, NULL));
		pthread_detach(thread);
	}
	pthread_exit(NULL);
}
