/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * two_waits [SECONDS]: one thread that waits in turn in poll and at a futex, each 3 ms or so, for times that chance
 * says. Tells how long it took for each, which is what it waited and a little more.
 */
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define POLL_NS	 8000000
#define FUTEX_NS 4000000

static struct timespec up_to(long ns)
{
	return (struct timespec) {.tv_nsec = 1 + random() % ns};
}

PROCEDURE static void wait_poll(void)
{
	struct timespec t = up_to(POLL_NS);

	ppoll(NULL, 0, &t, NULL);
}

PROCEDURE static void wait_futex(void)
{
	static uint32_t word;
	struct timespec t = up_to(FUTEX_NS);

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
}

static uint64_t timed(void (*wait)(void))
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	wait();
	return clock_ns(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 3);
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9), polled = 0, slept = 0;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		polled += timed(wait_poll);
		slept += timed(wait_futex);
	}
	truth_print("poll", 0, polled);
	truth_print("futex", 0, slept);
	return 0;
}
