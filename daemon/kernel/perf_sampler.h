/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf events of each online processor: several timers (cpu-clock), which are in phase with those of all
 * other processors. Each runs the sampling program at every period, writes
 * nothing of its own samples, and reports through its ring what is mapped, executed and renamed on
 * that processor. Its running time gives how many samples there should have been.
 *
 * One thread at a time, but perf_sampler__consume() may run in another one beside what others do between
 * start and free. 0 or -errno; perf_sampler__error() has one line about the last failure.
 */
#ifndef QUARTZ_DAEMON_PERF_SAMPLER_H
#define QUARTZ_DAEMON_PERF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/kernel/timer_phase.h"

struct perf_sampler;

/* The name of its events. */
#define PERF_SAMPLER_EVENT "cpu-clock"

/* A change of an address space, as the kernel reports it. Times as bpf_ktime_get_ns. */
struct perf_sampler_mapping {
	uint64_t time;
	pid_t pid; /* process */
	bool exec; /* the address space is new, mapped by nothing yet; the rest is unset */
	uint64_t start, end, offset;
	uint32_t major, minor;
	uint64_t inode;
	bool shared;	  /* MAP_SHARED */
	const char *path; /* as the kernel names it; valid during the call */
};

typedef void sampler_call(void *context, const struct perf_sampler_mapping *mapping);

/* NULL with ENOMEM. */
struct perf_sampler *perf_sampler__new(void);
void perf_sampler__free(struct perf_sampler *s);
const char *perf_sampler__error(const struct perf_sampler *s);

/*
 * Opens and starts events on all online processors at `rate` Hz, running the program prog_fd. The processors were idle
 * for idle_ns in all up to now.
 */
int perf_sampler__start(struct perf_sampler *s, uint32_t processors, int prog_fd, uint32_t rate,
			uint64_t idle_ns);

/* Stops all events and remembers what was expected of them. Idempotent. */
void perf_sampler__stop(struct perf_sampler *s);

/*
 * Follows hotplug: opens events on processors that have come, closes those that have gone. Returns
 * the number that came, their numbers in came (room for all possible ones). To be called at most once
 * a second, so that the time of a working event has moved on.
 */
int perf_sampler__follow_hotplug(struct perf_sampler *s, int *came);

/* Whether it has found a processor that was not present when it began, and has no room for it. */
bool perf_sampler__is_outgrown(const struct perf_sampler *s);

/* Hands all waiting reports to `call`, in the order of each processor. Returns the reports lost. */
uint64_t perf_sampler__consume(struct perf_sampler *s, sampler_call *call, void *context);

/*
 * Divides the requested rate by 2^halvings from now on. idle_ns: the idle time of all processors so far. The first sample
 * at the new rate comes a whole period later.
 */
void perf_sampler__set_halvings(struct perf_sampler *s, uint32_t halvings, uint64_t idle_ns);

/* When samples are taken, at the rate in force. */
const struct timer_schedule *perf_sampler__schedule(const struct perf_sampler *s);

/*
 * Some timers are out of phase: the next perf_sampler__set_halvings() restarts them; it should come soon, with the same
 * number if need be. Timers of a processor that has come online are out of phase, too.
 */
void perf_sampler__restart(struct perf_sampler *s);
bool perf_sampler__wants_restart(const struct perf_sampler *s);

/*
 * How many samples all events together should have given so far, at the instants that there were, when the
 * processors were idle for idle_ns in all: an idle processor is not sampled.
 */
uint64_t perf_sampler__expected(const struct perf_sampler *s, uint64_t idle_ns);

/* Reports that the kernel threw away because a ring was full, so far. */
uint64_t perf_sampler__reports_lost(const struct perf_sampler *s);

bool perf_sampler__samples(const struct perf_sampler *s, uint32_t cpu); /* whether it is online */
uint32_t perf_sampler__online(const struct perf_sampler *s); /* processors being sampled */

#endif
