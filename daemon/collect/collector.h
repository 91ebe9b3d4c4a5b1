/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes a profile of the reports of BPF programs and the kernel: puts reports in order of time, drains the sampler's
 * tables, and assigns everything to its thread, image and scope.
 *
 * One thread at a time. Functions give 0 or -errno.
 */
#ifndef QUARTZ_DAEMON_COLLECTOR_H
#define QUARTZ_DAEMON_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/profile.h"
#include "core/model/spin_rules.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/collect/module_rounds.h"
#include "daemon/attribution/shm_sets.h"
#include "daemon/shm/shm_sampler.h"
#include "daemon/kernel/perf_sampler.h"
#include "daemon/log/live.h"
#include "daemon/symbolizer/symbolizer.h"

struct collector;
struct runtime_directory;

/*
 * Borrows bpf, sampler and rules, which must outlive it. NULL with errno ENOMEM, EMFILE or ENFILE.
 */
struct collector *collector__new(struct bpf_runtime *bpf, struct perf_sampler *sampler,
				 const struct symbolizer_options *symbolizer,
				 const struct spin_rules *rules);
void collector__free(struct collector *c);

/* Also takes in the data of instrumented programs. Borrows the page sets. 0 or -ENOMEM. */
int collector__use_pages(struct collector *c, struct shm_sets *sets);

/* Also takes in the counts of the pollers. To be called after collector__use_pages. Borrows poller. 0 or -ENOMEM. */
int collector__use_poller(struct collector *c, struct shm_sampler *poller);

/*
 * Also takes in the rounds of the module: what all processors do at single instants, `rate` of them a second. To be
 * called before any scope is added. Borrows module_rounds, which must be stopped before collector__finish. 0 or -ENOMEM.
 */
int collector__use_instants(struct collector *c, struct module_rounds *module_rounds,
			    uint32_t rate);

/* The same from the samples, which are taken on all processors at one instant, at `rate` Hz. */
void collector__use_rounds(struct collector *c, uint32_t rate);

/*
 * Computes how long the run would have been without candidates, too. The text is "auto" or their names, separated by
 * commas. It must outlive the collector. 0, -ENOMEM, or -EINVAL: it names none, or too many.
 */
int collector__use_what_if(struct collector *c, const char *names);

/*
 * Takes the states of threads from the scheduler's log. To be called before threads are found. Borrowed until
 * collector__release.
 */
void collector__use_log(struct collector *c, struct live *live);

/* Adds a scope of BPF. To be called before its first event is drained. */
int collector__add_scope(struct collector *c, uint32_t scope, enum qz_scope_kind kind, int pid,
			 const char *comm, const char *command);

/* As unwind_worker__start_ahead(). */
void collector__start_ahead(struct collector *c, int fd);

/* Starts the thread that makes unwind tables; the sampler must be started. 0 or -errno. */
int collector__start(struct collector *c);

/* As unwind_worker__prepare() in unwind_worker.h: waits for the tables of all files reported before, and of a given file. */
void collector__prepare(struct collector *c, int fd, const char *path);

/* A descriptor for poll(2): readable when collector__tick() should be called before its time. */
int collector__event_fd(const struct collector *c);

/*
 * Adds the scopes of the machine and of the kernel's threads. Only where every process is a scope, and before any
 * other scope is added. 0 or -errno.
 */
int collector__add_own_scopes(struct collector *c);

/* Limits the memory of processes that have ended. To be called after collector__add_own_scopes. 0 or -ENOMEM. */
int collector__keep_ended(struct collector *c, uint64_t bytes);

/*
 * Registers functions to be called before and after scopes, threads and objects of the profile get other indices. `before`
 * may refresh the profile.
 */
void collector__on_fold(struct collector *c, void (*before)(void *context),
			void (*after)(void *context), void *context);

/* Takes in all reports; swaps the sampler's buffers about once a second. */
int collector__tick(struct collector *c);

/*
 * Asks for one drain of the tables soon after a time, which is less than a second away. collector__was_drained says when
 * they have been drained since, for whatever reason; collector__next_tick when the next tick should come, 0: at any time.
 */
void collector__drain_at(struct collector *c, uint64_t time);
bool collector__was_drained(struct collector *c);
uint64_t collector__next_tick(const struct collector *c);

/* Halves the rates so many times, from the next swap of the buffers on. See core/model/overhead_governor.h. */
void collector__set_halvings(struct collector *c, uint32_t halvings);

/* Trouble with the symbolizers, that for names and that for unwind tables together. */
struct collector_symbolizers {
	uint64_t ended;	  /* crashed, killed, silent or not by the protocol */
	uint64_t waiting; /* modules to be tried again */
	uint64_t refused; /* modules that are not */
};
struct collector_symbolizers collector__symbolizers(const struct collector *c);

/* The cost of Quartz so far; interrupt_ns: the time of an interrupt. */
struct qz_costs collector__costs(const struct collector *c, uint64_t interrupt_ns);

/*
 * Stops the clock, and keeps the state of all threads at that time, which is returned in *until. To
 * be called once, before BPF is detached.
 */
int collector__freeze(struct collector *c, uint64_t *until);

/* For how many ns before the last tick reports have not been processed yet; their content is missing. */
uint64_t collector__behind(const struct collector *c);

/*
 * After how many ms the next tick should come: soon, if something has just been mapped, which is code
 * without names and unwind tables until it is taken in.
 */
int collector__patience_ms(const struct collector *c);

/* Takes in the rest. BPF must be detached and the sampler stopped. */
int collector__finish(struct collector *c);

/* After that: see modules__remove_maps(). */
void collector__remove_maps(struct collector *c, struct runtime_directory *directory);

/*
 * Brings scopes, threads and ledger of the profile up to `until`; it is to be estimated. The
 * profile remains the collector's and changes with the next call.
 */
int collector__refresh(struct collector *c, uint64_t until);
struct qz_profile *collector__profile(struct collector *c);

/*
 * Frees everything but the profile, which cannot be refreshed any more. Only collector__profile, collector__samples and
 * collector__free may be called then.
 */
void collector__release(struct collector *c);

/* Whether all threads of all scopes have ended. */
bool collector__ended(const struct collector *c);

uint64_t collector__samples(const struct collector *c); /* accepted so far, drained */

#endif
