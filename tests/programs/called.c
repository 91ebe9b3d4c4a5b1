/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * called SECONDS N: built with -finstrument-functions. Knows how often each procedure called which,
 * and where the time went.
 */
#include "tests/programs/truth.h"

PROCEDURE static void leaf(uint64_t turns)
{
	compute_turns(turns);
}

PROCEDURE static void middle(uint64_t turns)
{
	leaf(turns);
	leaf(turns);
}

PROCEDURE static void loop(double seconds)
{
	compute_seconds(seconds);
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 0.3);
	long n = count_argument(argc, argv, 2, 1000);
	struct truth start = truth_now();

	loop(seconds);
	truth_since("loop", start);
	for (long i = 0; i < n; i++)
		middle(100);
	leaf(100);
	return 0;
}
