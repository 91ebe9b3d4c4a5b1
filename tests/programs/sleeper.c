/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sleeper [WAIT [SECONDS]]: one thread that sleeps until SIGUSR1 comes or WAIT seconds are over,
 * then computes alone.
 */
#include <signal.h>
#include <unistd.h>

#include "tests/programs/truth.h"

PROCEDURE static void compute_alone(double seconds)
{
	struct truth start = truth_now();

	compute_seconds(seconds);
	truth_since("compute_alone", start);
}

int main(int argc, char **argv)
{
	double wait = seconds_argument(argc, argv, 1, 10);
	double seconds = seconds_argument(argc, argv, 2, 1);
	struct timespec timeout = {
		.tv_sec = (time_t)wait,
		.tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9),
	};
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	printf("asleep %d\n", getpid());
	fflush(stdout);
	if (sigtimedwait(&signals, NULL, &timeout) < 0 && errno != EAGAIN)
		die("sigtimedwait", errno);
	compute_alone(seconds);
	return 0;
}
