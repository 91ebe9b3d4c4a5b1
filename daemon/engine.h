/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF side as the rest of quartzd sees it: programs loaded and attached, scopes opened, threads
 * found, shared memory mapped. The only file that knows libbpf's skeleton, besides text.c.
 *
 * One thread at a time. Functions give 0 or -errno and do not print; engine__error() has one line
 * about the last failure that names the object, the reason and the remedy.
 */
#ifndef QUARTZ_DAEMON_ENGINE_H
#define QUARTZ_DAEMON_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quartz/records.h"
#include "quartz/unwind.h"

struct engine;
struct quartz;

struct engine_options {
	uint32_t max_scopes;
	bool every_process;    /* each process of the machine is a scope of its own */
	bool woken;	       /* the time until woken is wanted */
	bool sampled_by_timer; /* the sampler runs in interrupts that no switch is interrupted by */
};

/* What an event of the ring buffer is given to; the record is valid during the call only. */
typedef void engine_event(void *context, const struct qz_event *event, size_t size);
/* What the dump of threads is given to. */
typedef void engine_thread(void *context, const struct qz_thread_event *thread);

/* NULL with errno ENOMEM. */
struct engine *engine__new(const struct engine_options *opts);

/* Closing detaches everything: no link is pinned. */
void engine__free(struct engine *e);

const char *engine__error(const struct engine *e);

/* Loads the programs and maps their memory. -ENOSYS no BTF, -EPERM no privilege, or of bpf(2). */
int engine__load(struct engine *e);

/* Attaches the accounting. No scope is open yet, so nothing is counted. */
int engine__attach(struct engine *e);

/* When the clock stopped by itself, since quartzd did not run for a minute; 0: it did not. */
uint64_t engine__left_alone(const struct engine *e);

/*
 * Stops the clock: what the programs account stands still from now on, and of a thread that ends
 * they only tell how it stood. What was written by then can be read at leisure. Gives the time since
 * when it stands.
 */
uint64_t engine__freeze(struct engine *e);

/* Detaches the accounting; the memory stays readable. Idempotent. */
void engine__detach(struct engine *e);

/*
 * Opens a scope for a process, and for its descendants when `follows`; its clock starts
 * when its first thread is found. Gives its number or -ENOSPC.
 */
int engine__open_scope(struct engine *e, int pid, bool follows);

/* Finds and settles the threads of all open scopes (bpf/attach.bpf.h). To be called once. */
int engine__adopt(struct engine *e);

/*
 * Starts the clock of a scope anew. Only while none of its threads is running: for a command that
 * waits to be let go.
 */
void engine__restart_scope(struct engine *e, uint32_t scope);

/* For a processor that is offline: it went in its idle task, and from then on that is no idle time. */
void engine__forget_idle(struct engine *e, int cpu);

/* Sets the mark of a processor that has come online. */
int engine__mark_processor(struct engine *e, int cpu);

/* Whether all threads of a scope have ended and the last one has left its processor. */
bool engine__scope_ended(const struct engine *e, uint32_t scope);

/* Whether a scope that was there at a time has threads. Any thread may ask. */
bool engine__scope_lives(const struct engine *e, uint32_t scope, uint64_t since);

/* The process of a scope of which nothing else is known. */
int engine__scope_pid(const struct engine *e, uint32_t scope);

/* Gives a scope number back whose figures were read. every_process only. */
int engine__recycle_scope(struct engine *e, uint32_t scope);

/* Hands all waiting events to `call`. Gives their number. */
int engine__consume(struct engine *e, engine_event *call, void *context);

/* A descriptor for poll(2): readable when the events should be consumed before the next tick. */
int engine__event_fd(const struct engine *e);

/* Calls `call` for each thread that is followed and lives. */
int engine__dump(struct engine *e, engine_thread *call, void *context);

/* Descriptor of the program for perf events. */
int engine__sampler_fd(const struct engine *e);

/*
 * The state of a process' leader, by its pidfd: 0, -ENOENT when it is not followed, or -errno. These
 * two may be called by any thread.
 */
int engine__thread_of(const struct engine *e, int pidfd, struct qz_thread_state *state);

/* Tells where an image has its page set (quartz/page.h), or that it has none (NULL). 0 or -errno. */
int engine__set_page(const struct engine *e, uint32_t image, const struct qz_page_place *place);

struct quartz *engine__skeleton(struct engine *e); /* for text.c */

/* ---- shared memory ---- */

uint32_t engine__processors(const struct engine *e); /* possible ones: entries of cpus */
uint32_t engine__level_stride(const struct engine *e);
uint32_t engine__max_scopes(const struct engine *e);
struct qz_control *engine__control(const struct engine *e);
/* What a scope has, see enum qz_share. */
void engine__set_share(struct engine *e, uint32_t scope, enum qz_share what, uint32_t n);

/* See core/governor.h; for what has a rate besides the samples. */
void engine__set_halvings(struct engine *e, uint32_t halvings);

struct qz_cpu_state *engine__cpus(const struct engine *e);

/* A copy of a scope and its exact level times up to `until`; levels has level_stride entries. */
void engine__read_scope(const struct engine *e, uint32_t scope, uint64_t until,
			struct qz_scope_state *state, uint64_t *level_ns);

/* How many threads of a scope run at this moment; any thread may ask. */
/* The level and since when, as the BPF programs keep it: the same twice means that it was so in between. */
uint64_t engine__running(const struct engine *e, uint32_t scope);
uint32_t engine__level(const struct engine *e, uint32_t scope);

/* One half of the sampler's tables. */
struct engine_half {
	struct qz_stack_slot *stacks;
	uint64_t *frames;
	struct qz_sample_slot *samples;
	uint32_t nstacks, nframes, nsamples;
};

/*
 * Turns the sampler to the other half and waits until none is left in the one that it had, which is
 * given in *half. It must be emptied with engine__clear before the next turn.
 */
int engine__turn(struct engine *e, struct engine_half *half);
void engine__clear(struct engine *e, struct engine_half *half);

/* How full the half in use is, in percent of its fullest table. */
unsigned int engine__fill(const struct engine *e);

/* The tables of waits, see struct qz_wait_stack; the numbers are powers of two. */
struct engine_waits {
	struct qz_wait_stack *stacks;
	uint64_t *frames;
	struct qz_wait_slot *slots;
	uint32_t nstacks, nframes, nslots;
};

/* The objects that threads wait for: QZ_OBJECT_SLOTS slots and as many figures. */
struct qz_object_slot *engine__objects(const struct engine *e);
struct qz_object_figures *engine__object_figures(const struct engine *e);

const struct engine_waits *engine__waits(const struct engine *e);

/* How many rows of unwind tables there is room for, and writing n of them from `first` on. */
uint32_t engine__unwind_rows(const struct engine *e);
int engine__store_rows(struct engine *e, uint32_t first, const struct qz_unwind_row *rows,
		       uint32_t n);

/* How many regions there is room for; their memory in *regions unless that is NULL. */
uint32_t engine__unwind_regions(const struct engine *e, struct qz_unwind_region **regions);

/* The sampler's table of code that waits, QZ_SPIN_ADDRESSES slots of shared memory. */
struct qz_spin_address *engine__spin_addresses(const struct engine *e);

/*
 * Whether the unwinder itself notices that places of code are used again. Where it does not, it
 * compares qz_unwind_image.exec_vm.
 */
bool engine__sees_mappings(const struct engine *e);

/* Lets the unwinder use the regions of an image, or no longer (NULL). */
int engine__set_unwind_image(struct engine *e, uint32_t image,
			     const struct qz_unwind_image *regions);

/* CLOCK_MONOTONIC now, as bpf_ktime_get_ns gives it. */
uint64_t engine__now(void);

#endif
