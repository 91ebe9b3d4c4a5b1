// SPDX-License-Identifier: GPL-2.0-only
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "daemon/collect/self_overhead.h"
#include "daemon/privsep/opener.h"

#define PERIOD	100000ull /* ns */
#define PERIODS 31
/* How the kernel comes to a program and back. */
#define DISPATCH 40ull /* ns */

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The longest gap in each period is the interrupt; what else interrupted is not in the median. */
static uint64_t median_gap(void)
{
	uint64_t gaps[PERIODS] = {0}, last = bpf_runtime__now();

	for (int i = 0; i < PERIODS; i++) {
		/* from now on: others may have had the processor for many periods */
		for (uint64_t until = last + PERIOD; last < until;) {
			uint64_t now = bpf_runtime__now();

			if (now - last > gaps[i])
				gaps[i] = now - last;
			last = now;
		}
	}
	qsort(gaps, PERIODS, sizeof(gaps[0]), compare);
	return gaps[PERIODS / 2];
}

static uint64_t measure_interrupt(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t ns;

	if (fd < 0)
		return 0;
	ns = median_gap();
	close(fd);
	return ns;
}

uint64_t self_overhead__of_interrupt(void)
{
	static bool known;
	static uint64_t ns;

	if (!known)
		ns = measure_interrupt();
	known = true;
	return ns;
}

/* How often the sampler was called, not counting idle processors. */
static uint64_t samples_of(const struct qz_cpu_state *cpu)
{
	uint64_t n = cpu->accepted + cpu->filtered;

	for (int i = 0; i < QZ_LOSSES; i++)
		n += cpu->lost[i];
	return n;
}

struct qz_costs self_overhead__read(const struct bpf_runtime *bpf, struct symbolizer *symbolizer,
				    struct unwind_worker *worker, uint64_t interrupt_ns)
{
	const struct qz_cpu_state *cpus = bpf_runtime__cpus(bpf);
	struct unwind_worker_figures figures = unwind_worker__figures(worker);
	struct qz_costs costs = {0};

	costs.daemon_ns = qz_clock__read(CLOCK_PROCESS_CPUTIME_ID) +
			  symbolizer__cpu_ns(symbolizer) + figures.child_ns + opener__cpu_ns();
	for (uint32_t i = 0; i < bpf_runtime__processors(bpf); i++) {
		costs.accounting_ns += cpus[i].accounting_ns + cpus[i].calls * DISPATCH;
		costs.sampling_ns += cpus[i].sampling_ns + samples_of(&cpus[i]) * interrupt_ns;
		costs.walking_ns += cpus[i].walking_ns;
	}
	return costs;
}
