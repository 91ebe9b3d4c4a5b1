/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * indexer [PART]: the program of the demo and of the pictures in doc/: it looks like an indexer of texts, with a phase of each kind. Input is parsed by one
 * thread, four index documents in parallel, then they queue for one lock, and at last one thread writes with pauses.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define STEP	__attribute__((noinline))

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double sink;
static double part = 1; /* of its usual time */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static STEP void burn(int n)
{
	double x = 1;

	for (int i = 0; i < n; i++)
		x = x * 1.0000001 + 1e-9;
	sink = x;
}

static STEP void tokenize(void)
{
	burn(60000);
}

static STEP void decode_utf8(void)
{
	burn(25000);
}

static STEP void parse_input(double seconds)
{
	for (double end = now() + seconds; now() < end;) {
		tokenize();
		decode_utf8();
	}
}

static STEP void stem_words(void)
{
	burn(40000);
}

static STEP void score_terms(void)
{
	burn(50000);
}

static STEP void index_documents(double seconds)
{
	for (double end = now() + seconds; now() < end;) {
		stem_words();
		score_terms();
	}
}

static STEP void insert_postings(void)
{
	burn(45000);
}

static STEP void rehash_table(void)
{
	burn(20000);
}

static STEP void update_index(void)
{
	pthread_mutex_lock(&table_lock);
	insert_postings();
	rehash_table();
	pthread_mutex_unlock(&table_lock);
}

static STEP void merge_terms(double seconds)
{
	for (double end = now() + seconds; now() < end;) {
		stem_words();
		update_index();
		update_index();
	}
}

static STEP void write_segments(double seconds)
{
	for (double end = now() + seconds; now() < end;) {
		burn(80000);
		usleep(300);
	}
}

static void *worker(void *arg)
{
	index_documents(1.6 * part);
	merge_terms(2 * part);
	return NULL;
}

int main(int argc, char *argv[])
{
	pthread_t threads[THREADS];

	if (argc > 1)
		part = atof(argv[1]);
	parse_input(1.2 * part);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	write_segments(0.9 * part);
	return 0;
}
