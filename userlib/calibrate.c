// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Measures the library's own cost: the minimum of several runs, because disturbances only add time.
 */
#include <time.h>

#include "userlib/library.h"

#define RUNS  8
#define CALLS 256

uint64_t calibrate__now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

uint32_t calibrate__cost(uint64_t ns, uint32_t calls)
{
	uint64_t ps = ns * 1000 / calls;

	return ps < UINT32_MAX ? ps : UINT32_MAX;
}

static uint64_t scopes(struct quartz_procedure *procedure)
{
	uint64_t start = calibrate__now();

	for (int i = 0; i < CALLS; i++)
		quartz_leave(quartz_enter(procedure));
	return calibrate__now() - start;
}

static uint64_t events(void)
{
	uint64_t start = calibrate__now();

	for (int i = 0; i < CALLS; i++)
		quartz_event(i);
	return calibrate__now() - start;
}

/* Only one thread at a time calls this. */
void calibrate__run(uint32_t generation)
{
	static struct quartz_call_ calls[QUARTZ_CALLS_];
	struct quartz_procedure procedure = {.name = "calibration", .id_ = 1};
	struct qz_page_header *header = &library.tables->header;
	const struct quartz_thread_ saved = quartz_thread_;
	uint64_t scope = UINT64_MAX, event = UINT64_MAX;
	struct quartz_slot_ slot = {0};

	quartz_thread_.slot = &slot;
	quartz_thread_.calls = calls;
	quartz_thread_.generation = generation;
	for (int i = 0; i < RUNS; i++) {
		uint64_t s = scopes(&procedure), e = events();

		scope = s < scope ? s : scope;
		event = e < event ? e : event;
	}
	quartz_thread_ = saved;
	header->cost_scope_ps = calibrate__cost(scope, CALLS);
	header->cost_event_ps = calibrate__cost(event, CALLS);
	store(&header->calibrated, calibrate__now());
}
