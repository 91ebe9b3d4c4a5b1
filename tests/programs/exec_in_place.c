/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exec_in_place [leader|thread [SECONDS]]: computes in before_exec, then becomes itself anew by
 * exec, from the main thread or from another one, and computes in after_exec.
 */
#include <pthread.h>
#include <unistd.h>

#include "tests/programs/truth.h"

PROCEDURE static void before_exec(double seconds)
{
	struct truth start = truth_now();

	compute_seconds(seconds);
	truth_since("before_exec", start);
}

PROCEDURE static void after_exec(double seconds)
{
	struct truth start = truth_now();

	compute_seconds(seconds);
	truth_since("after_exec", start);
}

/* argv of the second life: NAME after SECONDS. */
static void *become(void *argv)
{
	execv("/proc/self/exe", argv);
	die("/proc/self/exe", errno);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "leader";
	double seconds = seconds_argument(argc, argv, 2, 1);
	char text[32], *next[] = {argv[0], "after", text, NULL};
	pthread_t thread;

	if (!strcmp(mode, "after")) {
		after_exec(seconds);
		return 0;
	}
	snprintf(text, sizeof(text), "%f", seconds);
	before_exec(seconds);
	if (!strcmp(mode, "leader"))
		become(next);
	if (strcmp(mode, "thread"))
		die(mode, EINVAL);
	check("pthread_create", pthread_create(&thread, NULL, become, next));
	pthread_join(thread, NULL);
	return 1;
}
