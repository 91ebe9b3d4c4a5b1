// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/privsep/sample_event.h"

int sample_event__open(const struct sample_event *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = event->period,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.mmap = event->reports,
		.mmap2 = event->reports,
		.comm = event->reports,
		.comm_exec = event->reports,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark =
			SAMPLE_EVENT_PAGES / 2 * 4096, /* no thread waits: do not wake at each */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, event->cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

bool sample_event__wants_admin(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = 0;
	bool read = f && fscanf(f, "%d", &level) == 1;

	if (f)
		fclose(f);
	return read && level > 2;
}
