/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * storm forks|execs RATE SECONDS: so many processes a second, eight at a time, which end at once, or run true(1)
 * before. Prints how many there were.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define AT_A_TIME 8

static void create(bool execs)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork", errno);
	if (!pid && execs)
		execl("/bin/true", "true", NULL);
	if (!pid)
		_exit(execs);
}

static void reap(void)
{
	if (wait(NULL) < 0)
		die("wait", errno);
}

/* Until the time of the n-th process, unless that is over. */
static void await(uint64_t start, uint64_t n, uint64_t rate)
{
	uint64_t at = start + n * 1000000000 / rate;
	struct timespec to = {(time_t)(at / 1000000000), (long)(at % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &to, NULL);
}

int main(int argc, char **argv)
{
	bool execs = argc > 1 && !strcmp(argv[1], "execs");
	uint64_t rate = (uint64_t)count_argument(argc, argv, 2, 1000);
	uint64_t seconds = (uint64_t)count_argument(argc, argv, 3, 5);
	uint64_t start = clock_ns(CLOCK_MONOTONIC), n = 0;

	if (!rate)
		die("storm", EINVAL);
	for (; clock_ns(CLOCK_MONOTONIC) - start < seconds * 1000000000; n += AT_A_TIME) {
		await(start, n, rate);
		for (int i = 0; i < AT_A_TIME; i++)
			create(execs);
		for (int i = 0; i < AT_A_TIME; i++)
			reap();
	}
	printf("%llu\n", (unsigned long long)n);
	return 0;
}
