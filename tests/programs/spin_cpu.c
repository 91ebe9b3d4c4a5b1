/* SPDX-License-Identifier: GPL-2.0-only */
/* spin_cpu [N]: N million turns of a loop in fixed_work, the same work whatever the machine does. */
#include "tests/programs/truth.h"

PROCEDURE static void fixed_work(uint64_t turns)
{
	compute_turns(turns);
}

int main(int argc, char **argv)
{
	uint64_t turns = (uint64_t)number_argument(argc, argv, 1, 1000, 1e9) * 1000000;
	struct truth start = truth_now();

	fixed_work(turns);
	truth_since("fixed_work", start);
	return 0;
}
