/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * periodic PERIOD_US SECONDS: computes in early and then in late, for a quarter of each period each, and sleeps until
 * the next period begins, by the clock. A sampler whose period is in resonance with this one sees more of one of them.
 *
 * At the end: "truth early cpu_ns N elapsed_ns N", and the same of late.
 */
#include "tests/programs/truth.h"

static uint64_t turns; /* of compute_turns, a quarter of a period */

static PROCEDURE void early(void)
{
	compute_turns(turns);
}

static PROCEDURE void late(void)
{
	compute_turns(turns);
}

/* Of compute_turns, in a ns. */
static double speed(void)
{
	double best = 0;

	for (int i = 0; i < 10; i++) {
		uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		double ns;

		compute_turns(2000000);
		ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
		best = 2000000 / ns > best ? 2000000 / ns : best;
	}
	return best;
}

static struct truth add(struct truth to, struct truth start, struct truth end)
{
	to.cpu_ns += end.cpu_ns - start.cpu_ns;
	to.elapsed_ns += end.elapsed_ns - start.elapsed_ns;
	return to;
}

int main(int argc, char **argv)
{
	uint64_t period = (uint64_t)(1000 * number_argument(argc, argv, 1, 1000, 1e6));
	uint64_t end = (uint64_t)(1e9 * seconds_argument(argc, argv, 2, 3));
	struct truth first = {0}, second = {0};
	uint64_t next;

	turns = (uint64_t)(speed() * (double)period / 4);
	next = clock_ns(CLOCK_MONOTONIC) + period;
	end += next;
	for (; next < end; next += period) {
		struct timespec t = {(time_t)(next / 1000000000), (long)(next % 1000000000)};
		struct truth began, between;

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
		began = truth_now();
		early();
		between = truth_now();
		late();
		first = add(first, began, between);
		second = add(second, between, truth_now());
	}
	truth_print("early", first.cpu_ns, first.elapsed_ns);
	truth_print("late", second.cpu_ns, second.elapsed_ns);
	return 0;
}
