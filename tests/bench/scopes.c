/* SPDX-License-Identifier: GPL-2.0-only */
/* scopes N: N calls of a procedure with a scope; prints the processor time that they took, in ns. */
#include "tests/programs/truth.h"
#include "userlib/quartz.h"

PROCEDURE static void work(void)
{
	QUARTZ_SCOPE("work");

	compute_turns(300);
}

int main(int argc, char **argv)
{
	long n = count_argument(argc, argv, 1, 1000000);
	uint64_t start;

	QUARTZ_SCOPE("main");
	for (long i = 0; i < 10000; i++)
		work();
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (long i = 0; i < n; i++)
		work();
	printf("%" PRIu64 "\n", clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
	return 0;
}
