/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nested_threads [SECONDS]: main calls spawn_all, which calls create_mid; that starts thread mid,
 * which calls create_leaf; that starts thread leaf, which calls leaf_work. Four procedures compute
 * SECONDS each, one after the other.
 */
#include <pthread.h>

#include "tests/programs/truth.h"

static double work_seconds;

PROCEDURE static void leaf_work(void)
{
	struct truth start = truth_now();

	compute_seconds(work_seconds);
	truth_since("leaf_work", start);
}

PROCEDURE static void *leaf(void *arg)
{
	leaf_work();
	return NULL;
}

PROCEDURE static pthread_t create_leaf(void)
{
	struct truth start = truth_now();
	pthread_t thread;

	compute_seconds(work_seconds);
	truth_since("create_leaf", start);
	check("pthread_create", pthread_create(&thread, NULL, leaf, NULL));
	return thread;
}

PROCEDURE static void *mid(void *arg)
{
	struct truth start = truth_now();

	compute_seconds(work_seconds);
	truth_since("mid", start);
	check("pthread_join", pthread_join(create_leaf(), NULL));
	return NULL;
}

PROCEDURE static pthread_t create_mid(void)
{
	struct truth start = truth_now();
	pthread_t thread;

	compute_seconds(work_seconds);
	truth_since("create_mid", start);
	check("pthread_create", pthread_create(&thread, NULL, mid, NULL));
	return thread;
}

PROCEDURE static void spawn_all(void)
{
	check("pthread_join", pthread_join(create_mid(), NULL));
}

int main(int argc, char **argv)
{
	work_seconds = seconds_argument(argc, argv, 1, 1);
	spawn_all();
	return 0;
}
