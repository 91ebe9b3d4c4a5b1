/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timer HZ: interrupts every processor so many times a second, as a sampling profiler does where
 * there is no PMU, and does nothing there. What a machine asks for the interrupt alone. Prints
 * "ready", and goes on until a signal ends it.
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/truth.h"

static void interrupt(int processor, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period,
	};

	if (syscall(SYS_perf_event_open, &attr, -1, processor, -1, PERF_FLAG_FD_CLOEXEC) < 0)
		die("perf_event_open", errno);
}

int main(int argc, char **argv)
{
	long rate = count_argument(argc, argv, 1, 999);

	for (int i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
		interrupt(i, 1000000000 / (uint64_t)(rate ? rate : 1));
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
