/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * phases [--time|--work] [--pool|--spawn] N[l]:AMOUNT,...: knows its own normalized times. Phases
 * run one after the other, each by N threads in a procedure of its own, phase_N, or with "l" in the
 * procedure leaf below it; N = 0 sleeps. AMOUNT is in seconds, with --work in millions of turns for
 * each thread (0: in seconds all the same).
 *
 * From a phase's first start to its last end some processor works in its procedure and none in any
 * other: that span is the procedure's normalized time, however many processors there are. Figures
 * are printed at the end, so that printing disturbs no phase:
 *
 *	phase NAME threads N elapsed_ns N cpu_ns N	NAME is phase_N, phase_N/leaf or idle
 *	{"thread": TID, "phase": NAME, "cpu_ns": N}
 *	{"procedure": NAME, "self_norm_ns": N, "total_norm_ns": N, "cpu_ns": N}
 *	{"run": "phases", "elapsed_ns": N, "idle_ns": N}
 */
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define MAX_PHASES  64
#define MAX_THREADS 16
#define MAX_AMOUNT  100000
#define TURNS	    20000 /* between two looks at the clock: 20 us, 1 ms on a slow virtual machine */

/* One thread's part of a phase: written by that thread alone, read when the phase is over. */
struct part {
	pid_t tid;
	uint64_t begin_ns, end_ns, cpu_ns;
};

struct phase {
	int threads;
	bool in_leaf;
	double amount;
	char name[16];
	uint64_t elapsed_ns, cpu_ns;
	struct part parts[MAX_THREADS];
};

static struct phase phases[MAX_PHASES];
static int phase_count;
static bool by_work, spawns;

/*
 * The main thread is the first of each phase. The others wait at `start` for a phase of more than
 * one thread, and in a pool at `done` for its end; between them they read what main wrote.
 */
static pthread_barrier_t start, done;

void leaf(void);

PROCEDURE void leaf(void)
{
	compute_turns(TURNS);
}

/* Part of its caller, so that the time is the caller's own or the leaf's. */
static inline __attribute__((always_inline)) void work(const struct phase *phase)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(phase->amount * 1e9);
	uint64_t left = (uint64_t)(phase->amount * 1e6 / TURNS);

	while (by_work ? left-- > 0 : clock_ns(CLOCK_MONOTONIC) < end) {
		if (phase->in_leaf)
			leaf();
		else
			compute_turns(TURNS);
	}
}

#define PHASE(n)                                                                                   \
	void phase_##n(const struct phase *phase);                                                 \
	PROCEDURE void phase_##n(const struct phase *phase)                                        \
	{                                                                                          \
		work(phase);                                                                       \
	}

PHASE(1)
PHASE(2)
PHASE(3)
PHASE(4)
PHASE(5)
PHASE(6)
PHASE(7)
PHASE(8)
PHASE(16)

static void (*const procedures[MAX_THREADS + 1])(const struct phase *phase) = {
	[1] = phase_1, [2] = phase_2, [3] = phase_3, [4] = phase_4,   [5] = phase_5,
	[6] = phase_6, [7] = phase_7, [8] = phase_8, [16] = phase_16,
};

static void take_part(struct phase *phase, int index)
{
	struct part *part = &phase->parts[index];
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	part->tid = gettid();
	part->begin_ns = clock_ns(CLOCK_MONOTONIC);
	procedures[phase->threads](phase);
	part->end_ns = clock_ns(CLOCK_MONOTONIC);
	part->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
}

static void *pool_thread(void *arg)
{
	int index = (int)(intptr_t)arg;

	for (struct phase *phase = phases; phase < phases + phase_count; phase++) {
		if (phase->threads < 2)
			continue;
		pthread_barrier_wait(&start);
		if (index < phase->threads)
			take_part(phase, index);
		pthread_barrier_wait(&done);
	}
	return NULL;
}

/* What a thread of one phase must know. */
struct seat {
	struct phase *phase;
	int index;
};

static void *spawned_thread(void *arg)
{
	const struct seat *seat = arg;

	pthread_barrier_wait(&start);
	take_part(seat->phase, seat->index);
	return NULL;
}

static void spawn_phase(struct phase *phase)
{
	pthread_t threads[MAX_THREADS];
	struct seat seats[MAX_THREADS];

	check("barrier", pthread_barrier_init(&start, NULL, phase->threads));
	for (int i = 1; i < phase->threads; i++) {
		seats[i] = (struct seat) {phase, i};
		check("pthread_create",
		      pthread_create(&threads[i], NULL, spawned_thread, &seats[i]));
	}
	pthread_barrier_wait(&start);
	take_part(phase, 0);
	for (int i = 1; i < phase->threads; i++)
		check("pthread_join", pthread_join(threads[i], NULL));
	pthread_barrier_destroy(&start);
}

static void pool_phase(struct phase *phase)
{
	pthread_barrier_wait(&start);
	take_part(phase, 0);
	pthread_barrier_wait(&done);
}

static void idle(struct phase *phase)
{
	struct timespec time = {
		.tv_sec = (time_t)phase->amount,
		.tv_nsec = (long)((phase->amount - (double)(time_t)phase->amount) * 1e9),
	};

	phase->parts[0].begin_ns = clock_ns(CLOCK_MONOTONIC);
	check("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL));
	phase->parts[0].end_ns = clock_ns(CLOCK_MONOTONIC);
}

static void run_phase(struct phase *phase)
{
	if (phase->threads == 0)
		idle(phase);
	else if (phase->threads == 1)
		take_part(phase, 0);
	else if (spawns)
		spawn_phase(phase);
	else
		pool_phase(phase);
}

static int most_threads(void)
{
	int most = 1;

	for (int i = 0; i < phase_count; i++)
		if (phases[i].threads > most)
			most = phases[i].threads;
	return most;
}

static void run(void)
{
	pthread_t pool[MAX_THREADS];
	int size = spawns ? 1 : most_threads();

	if (!spawns) {
		check("barrier", pthread_barrier_init(&start, NULL, size));
		check("barrier", pthread_barrier_init(&done, NULL, size));
	}
	for (int i = 1; i < size; i++)
		check("pthread_create",
		      pthread_create(&pool[i], NULL, pool_thread, (void *)(intptr_t)i));
	for (int i = 0; i < phase_count; i++)
		run_phase(&phases[i]);
	for (int i = 1; i < size; i++)
		check("pthread_join", pthread_join(pool[i], NULL));
}

static void sum_parts(struct phase *phase)
{
	uint64_t begin_ns = phase->parts[0].begin_ns, end_ns = phase->parts[0].end_ns;

	for (int i = 0; i < phase->threads; i++) {
		const struct part *part = &phase->parts[i];

		begin_ns = part->begin_ns < begin_ns ? part->begin_ns : begin_ns;
		end_ns = part->end_ns > end_ns ? part->end_ns : end_ns;
		phase->cpu_ns += part->cpu_ns;
	}
	phase->elapsed_ns = end_ns - begin_ns;
}

static void print_phase(const struct phase *phase)
{
	printf("phase %s threads %d elapsed_ns %" PRIu64 " cpu_ns %" PRIu64 "\n", phase->name,
	       phase->threads, phase->elapsed_ns, phase->cpu_ns);
	for (int i = 0; i < phase->threads; i++)
		printf("{\"thread\": %d, \"phase\": \"%s\", \"cpu_ns\": %" PRIu64 "}\n",
		       phase->parts[i].tid, phase->name, phase->parts[i].cpu_ns);
}

static void print_procedure(const char *name, uint64_t self_ns, uint64_t total_ns, uint64_t cpu_ns)
{
	if (total_ns > 0)
		printf("{\"procedure\": \"%s\", \"self_norm_ns\": %" PRIu64
		       ", \"total_norm_ns\": %" PRIu64 ", \"cpu_ns\": %" PRIu64 "}\n",
		       name, self_ns, total_ns, cpu_ns);
}

/* phase_N over all phases of N threads; its processor time is its own, without the leaf's. */
static void print_phase_procedure(int threads)
{
	uint64_t self_ns = 0, total_ns = 0, cpu_ns = 0;
	char name[16];

	for (int i = 0; i < phase_count; i++) {
		if (phases[i].threads != threads)
			continue;
		total_ns += phases[i].elapsed_ns;
		self_ns += phases[i].in_leaf ? 0 : phases[i].elapsed_ns;
		cpu_ns += phases[i].in_leaf ? 0 : phases[i].cpu_ns;
	}
	snprintf(name, sizeof(name), "phase_%d", threads);
	print_procedure(name, self_ns, total_ns, cpu_ns);
}

static void print_truth(uint64_t elapsed_ns)
{
	uint64_t leaf_ns = 0, leaf_cpu_ns = 0, idle_ns = 0;

	for (int i = 0; i < phase_count; i++) {
		sum_parts(&phases[i]);
		print_phase(&phases[i]);
		leaf_ns += phases[i].in_leaf ? phases[i].elapsed_ns : 0;
		leaf_cpu_ns += phases[i].in_leaf ? phases[i].cpu_ns : 0;
		idle_ns += phases[i].threads == 0 ? phases[i].elapsed_ns : 0;
	}
	for (int threads = 1; threads <= MAX_THREADS; threads++)
		print_phase_procedure(threads);
	print_procedure("leaf", leaf_ns, leaf_ns, leaf_cpu_ns);
	printf("{\"run\": \"phases\", \"elapsed_ns\": %" PRIu64 ", \"idle_ns\": %" PRIu64 "}\n",
	       elapsed_ns, idle_ns);
}

static bool parse_phase(const char *word, struct phase *phase)
{
	char *end;
	long threads = strtol(word, &end, 10);

	if (end == word || threads < 0 || threads > MAX_THREADS ||
	    (threads > 0 && !procedures[threads]))
		return false;
	phase->threads = (int)threads;
	phase->in_leaf = threads > 0 && *end == 'l';
	word = end + phase->in_leaf;
	if (*word++ != ':')
		return false;
	phase->amount = strtod(word, &end);
	if (end == word || *end || !(phase->amount >= 0 && phase->amount <= MAX_AMOUNT))
		return false;
	if (threads == 0)
		strcpy(phase->name, "idle");
	else
		snprintf(phase->name, sizeof(phase->name), "phase_%d%s", phase->threads,
			 phase->in_leaf ? "/leaf" : "");
	return true;
}

static bool parse_phases(char *list)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ","))
		if (phase_count == MAX_PHASES || !parse_phase(word, &phases[phase_count++]))
			return false;
	return phase_count > 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"time", no_argument, NULL, 't'}, {"work", no_argument, NULL, 'w'},
		{"pool", no_argument, NULL, 'p'}, {"spawn", no_argument, NULL, 's'},
		{NULL, no_argument, NULL, 0},
	};
	uint64_t begin_ns;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			return 2;
		if (option == 't' || option == 'w')
			by_work = option == 'w';
		else
			spawns = option == 's';
	}
	if (optind != argc - 1 || !parse_phases(argv[optind])) {
		fprintf(stderr, "usage: phases [--time|--work] [--pool|--spawn] N[l]:AMOUNT,...\n");
		return 2;
	}
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	run();
	print_truth(clock_ns(CLOCK_MONOTONIC) - begin_ns);
	return 0;
}
