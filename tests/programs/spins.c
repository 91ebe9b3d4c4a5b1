/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spins KIND:SECONDS,...: phases in which one thread computes, in compute_KIND, while another waits
 * for it in wait_KIND without giving its processor away. KIND is how it waits:
 *
 *	pause	a loop with PAUSE
 *	plain	a loop that reads a flag and does nothing else
 *	yield	a loop with sched_yield
 *	lock	pthread_spin_lock, which the computing thread holds
 *	tas	an atomic exchange, again and again
 *	bounded	a loop that reads a flag up to a million times, then a mutex that is free, again and again
 *	backoff	a loop that reads a flag, with a delay between that grows
 *	progress	a loop that looks at several places for what has come, and counts how often; nothing comes
 *	sockets	a loop that asks two sockets, a poll of two more and some words for what has come, until one has
 *	bytes	none of it: a loop that takes bytes from a socket, one each call, while the other thread computes and sends
 *	turns	both, in 100 turns each of some 0.2 ms, whatever SECONDS is
 *
 * At the end, for each phase: "truth compute_KIND cpu_ns N elapsed_ns N" and the same of wait_KIND, as
 * in truth.h; elapsed is from the phase's begin to its end.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "tests/programs/truth.h"

#define MAX_PHASES 32
#define TURNS	   100

static atomic_int done;	 /* the phases that are over */
static atomic_int begun; /* that the waiter has come to */
static atomic_int ended; /* that it is through with */
static volatile int flag;
static atomic_int taken;
static atomic_int turn;
static pthread_spinlock_t lock;
static double seconds;

#define SOCKETS 4
static int sockets[SOCKETS][2];
static char bytes[512];

/* ---- computing ---- */

#define COMPUTE(kind)                                                                              \
	static PROCEDURE void compute_##kind(void)                                                 \
	{                                                                                          \
		compute_seconds(seconds);                                                          \
	}

COMPUTE(pause)
COMPUTE(plain)
COMPUTE(yield)
COMPUTE(lock)
COMPUTE(tas)
COMPUTE(bounded)
COMPUTE(backoff)
COMPUTE(progress)

static void tell(int socket, const char *data, size_t size)
{
	if (send(sockets[socket][0], data, size, MSG_NOSIGNAL) < 0)
		check("send", errno);
}

static PROCEDURE void compute_sockets(void)
{
	compute_seconds(seconds);
	tell(1, "x", 1);
}

static PROCEDURE void compute_bytes(void)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(seconds * 1e9);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
		compute_turns(TURNS_PER_LOOK);
		tell(0, bytes, sizeof(bytes) - 1);
	}
	bytes[0] = 1; /* the last one */
	tell(0, bytes, 1);
}

static PROCEDURE void compute_turn(void)
{
	compute_turns(TURNS_PER_LOOK);
}

static inline __attribute__((always_inline)) void take_turns(int parity)
{
	for (int i = 0; i < TURNS; i++) {
		while (atomic_load(&turn) % 2 != parity)
			__builtin_ia32_pause();
		compute_turn();
		atomic_fetch_add(&turn, 1);
	}
}

static PROCEDURE void compute_turns_(void)
{
	take_turns(0);
}

/* ---- waiting ---- */

static PROCEDURE void wait_pause(void)
{
	while (!flag)
		__builtin_ia32_pause();
}

static PROCEDURE void wait_plain(void)
{
	while (!flag)
		;
}

static PROCEDURE void wait_yield(void)
{
	while (!flag)
		sched_yield();
}

static PROCEDURE void wait_lock(void)
{
	pthread_spin_lock(&lock);
	pthread_spin_unlock(&lock);
}

static PROCEDURE void wait_tas(void)
{
	while (atomic_exchange(&taken, 1))
		;
}

static PROCEDURE void wait_bounded(void)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

	while (!flag) {
		for (int i = 0; i < 1000000; i++)
			if (flag)
				break;
		pthread_mutex_lock(&gate);
		pthread_mutex_unlock(&gate);
	}
}

static PROCEDURE void wait_backoff(void)
{
	int delay = 1;

	while (!flag) {
		for (int i = 0; i < delay; i++)
			__asm__ volatile("");
		if (delay < 1024)
			delay *= 2;
	}
}

#define PLACES 8

static struct place {
	int (*look)(struct place *);
	volatile long head, tail, looks;
} places[PLACES];

static PROCEDURE int look_at(struct place *place)
{
	place->looks++;
	return place->head != place->tail;
}

/* As the progress engines of communication libraries do: whatever its shape, it waits for others. */
static PROCEDURE int make_progress(void)
{
	int came = 0;

	for (int i = 0; i < PLACES; i++) {
		places[i].look = look_at;
		came += places[i].look(&places[i]);
	}
	return came;
}

static PROCEDURE void wait_progress(void)
{
	while (!flag)
		make_progress();
}

static PROCEDURE int ask_socket(int i)
{
	char data[64];

	return recv(sockets[i][1], data, sizeof(data), MSG_DONTWAIT) > 0;
}

static PROCEDURE int ask_poll(void)
{
	struct pollfd fds[] = {{sockets[2][1], POLLIN, 0}, {sockets[3][1], POLLIN, 0}};

	return poll(fds, 2, 0);
}

/* Of a program's own: neither a name nor a shape tells that it waits. */
static PROCEDURE void wait_sockets(void)
{
	while (!(make_progress() + ask_socket(0) + ask_socket(1) + ask_poll()))
		;
}

/* The same call, of which each has something or sleeps. */
static PROCEDURE void wait_bytes(void)
{
	char byte = 0;

	while (!byte && recv(sockets[0][1], &byte, 1, 0) > 0)
		;
}

static PROCEDURE void wait_turns(void)
{
	take_turns(1);
}

/* ---- phases ---- */

struct kind {
	const char *name;
	void (*compute)(void);
	void (*wait)(void);
};

static const struct kind kinds[] = {
	{"pause", compute_pause, wait_pause},
	{"plain", compute_plain, wait_plain},
	{"yield", compute_yield, wait_yield},
	{"lock", compute_lock, wait_lock},
	{"tas", compute_tas, wait_tas},
	{"bounded", compute_bounded, wait_bounded},
	{"backoff", compute_backoff, wait_backoff},
	{"progress", compute_progress, wait_progress},
	{"sockets", compute_sockets, wait_sockets},
	{"bytes", compute_bytes, wait_bytes},
	{"turns", compute_turns_, wait_turns},
};

struct phase {
	const struct kind *kind;
	double seconds;
	struct truth computed, waited; /* differences */
};

static struct phase phases[MAX_PHASES];
static int nphases;

static struct truth since(struct truth start)
{
	struct truth now = truth_now();

	return (struct truth) {now.cpu_ns - start.cpu_ns, now.elapsed_ns - start.elapsed_ns};
}

/* Asleep between phases: what waits outside of them would be spinning as well. */
static void sleep_until(atomic_int *what, int value)
{
	while (atomic_load(what) < value)
		nanosleep(&(struct timespec) {.tv_nsec = 200000}, NULL);
}

static void *run_waiter(void *unused)
{
	for (int i = 0; i < nphases; i++) {
		struct truth start;

		sleep_until(&done, i);
		start = truth_now();
		atomic_store(&begun, i + 1);
		phases[i].kind->wait();
		phases[i].waited = since(start);
		atomic_store(&ended, i + 1);
	}
	return unused;
}

static void run_phases(void)
{
	for (int i = 0; i < nphases; i++) {
		struct truth start;

		flag = 0;
		atomic_store(&taken, 1);
		atomic_store(&turn, 0);
		seconds = phases[i].seconds;
		pthread_spin_lock(&lock);
		atomic_store(&done, i);
		sleep_until(&begun, i + 1);
		start = truth_now();
		phases[i].kind->compute();
		phases[i].computed = since(start);
		flag = 1;
		atomic_store(&taken, 0);
		pthread_spin_unlock(&lock);
		sleep_until(&ended, i + 1);
	}
}

static bool parse_phase(char *word)
{
	char *colon = strchr(word, ':'), *end;

	if (!colon || nphases == MAX_PHASES)
		return false;
	*colon = '\0';
	phases[nphases].seconds = strtod(colon + 1, &end);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, word))
			phases[nphases].kind = &kinds[i];
	return !*end && phases[nphases].seconds <= 3600 && phases[nphases++].kind;
}

int main(int argc, char **argv)
{
	pthread_t waiter;
	char name[32];

	for (char *word = argc == 2 ? strtok(argv[1], ",") : NULL; word; word = strtok(NULL, ","))
		if (!parse_phase(word))
			nphases = 0, argc = 0;
	if (!nphases) {
		fprintf(stderr, "usage: spins "
				"pause|plain|yield|lock|tas|bounded|backoff|turns:SECONDS,...\n");
		return 2;
	}
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	atomic_store(&done, -1);
	for (int i = 0; i < SOCKETS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]))
			check("socketpair", errno);
	check("pthread_create", pthread_create(&waiter, NULL, run_waiter, NULL));
	run_phases();
	check("pthread_join", pthread_join(waiter, NULL));
	for (int i = 0; i < nphases; i++) {
		const struct phase *p = &phases[i];

		snprintf(name, sizeof(name), "compute_%s", p->kind->name);
		truth_print(name, p->computed.cpu_ns, p->computed.elapsed_ns);
		snprintf(name, sizeof(name), "wait_%s", p->kind->name);
		truth_print(name, p->waited.cpu_ns, p->waited.elapsed_ns);
	}
	return 0;
}
