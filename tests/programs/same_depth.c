/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * same_depth [SECONDS]: one thread that waits some 100 us at a time, in one call that two procedures with frames of one
 * size make, as chance says: `often` three times where `seldom` waits once. Tells how long it took in each, which is what it
 * waited and a little more.
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define LONGEST_NS 100000

PROCEDURE static void wait_here(void)
{
	static uint32_t word;
	struct timespec t = {.tv_nsec = 1 + random() % LONGEST_NS};

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
}

PROCEDURE static void often(void)
{
	wait_here();
	__asm__ volatile(""); /* no tail call */
}

PROCEDURE static void seldom(void)
{
	wait_here();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 2);
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9), ns[2] = {0}, start;

	while ((start = clock_ns(CLOCK_MONOTONIC)) < end) {
		int rare = random() % 4 == 0;

		(rare ? seldom : often)();
		ns[rare] += clock_ns(CLOCK_MONOTONIC) - start;
	}
	truth_print("often", 0, ns[0]);
	truth_print("seldom", 0, ns[1]);
	return 0;
}
