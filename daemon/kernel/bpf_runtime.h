/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of quartzd to the BPF programs: loads and attaches them, and maps their memory. bpf_scopes.h has the scopes
 * whose time they account.
 *
 * One thread at a time. Functions give 0 or -errno and do not print; bpf_runtime__error() has one line
 * about the last failure that names the object, the reason and the remedy.
 */
#ifndef QUARTZ_DAEMON_BPF_RUNTIME_H
#define QUARTZ_DAEMON_BPF_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quartz/records.h"
#include "quartz/unwind.h"

struct bpf_runtime;
struct quartz;

struct bpf_runtime_options {
	uint32_t max_scopes;
	uint32_t rate;		/* of samples per second and processor */
	uint32_t pid_namespace; /* see daemon/target/pid_namespace.h */
	bool every_process;	/* each process that can be seen is a scope of its own */
	bool finds_command;	/* nothing runs already but a command that waits to be let go */
	bool woken;		/* the time until woken is wanted */
	bool lines;		/* of Python are wanted */
	bool what_if;		/* samples record which candidates they met */
	bool keep_types;	/* keep the kernel types that programs need, for later runs */
};

/* What an event of the ring buffer is given to; the record is valid during the call only. */
typedef void bpf_runtime_event(void *context, const struct qz_event *event, size_t size);

/* NULL with errno ENOMEM. */
struct bpf_runtime *bpf_runtime__new(const struct bpf_runtime_options *opts);

/* Closing detaches everything: no link is pinned. */
void bpf_runtime__free(struct bpf_runtime *bpf);

const char *bpf_runtime__error(const struct bpf_runtime *bpf);

/* Is it in a pid namespace below the initial one, as in a container? */
bool bpf_runtime__is_contained(const struct bpf_runtime *bpf);

/* Does it follow every process that it can see? */
bool bpf_runtime__follows_all(const struct bpf_runtime *bpf);

/* Takes out, of each process of no scope, the samples that found it since the last call. */
typedef void bpf_runtime_outside(void *context, uint32_t pid, const struct qz_outside *what);
void bpf_runtime__take_outside(struct bpf_runtime *bpf, bpf_runtime_outside *call, void *context);

/*
 * Makes and maps the memory, and begins to load the programs. -ENOSYS no BTF, -EPERM no privilege, or of bpf(2).
 * Threads do the rest, with the privileges that there are now.
 */
int bpf_runtime__load(struct bpf_runtime *bpf);

/* Waits until the programs are loaded and the threads have ended. Result as above. To be called once. */
int bpf_runtime__await_programs(struct bpf_runtime *bpf);

/* Attaches the accounting. No scope is open yet, so nothing is counted. */
int bpf_runtime__attach(struct bpf_runtime *bpf);

/* When the watchdog stopped the clock, because quartzd had not run for too long; 0: it did not. */
uint64_t bpf_runtime__left_alone(const struct bpf_runtime *bpf);

/* How long that is: a minute, or QUARTZ_WATCHDOG_SECONDS: more for emulated machines, less for tests. */
unsigned int bpf_runtime__watchdog_seconds(void);

/*
 * Stops the clock: nothing is accounted from now on, and a thread that ends is reported with its state at that time. So
 * figures that belong together can be read one after the other. Returns the time of the stop.
 */
uint64_t bpf_runtime__freeze(struct bpf_runtime *bpf);

/* How long before that call the watchdog had stopped the clock, in ns; 0: it had not, or there was no call yet. */
uint64_t bpf_runtime__alone_ns(const struct bpf_runtime *bpf);

/* Detaches the accounting; the memory stays readable. Idempotent. */
void bpf_runtime__detach(struct bpf_runtime *bpf);

/* Sets the mark of a processor that has come online. */
int bpf_runtime__mark_processor(struct bpf_runtime *bpf, int cpu);

/* Hands all waiting events to `call`. Returns their number. */
int bpf_runtime__consume(struct bpf_runtime *bpf, bpf_runtime_event *call, void *context);

/* A descriptor for poll(2): readable when the events should be consumed before the next tick. */
int bpf_runtime__event_fd(const struct bpf_runtime *bpf);

/* Descriptor of the program for perf events. */
int bpf_runtime__sampler_fd(const struct bpf_runtime *bpf);

/*
 * The state of a process' leader, by its pidfd: 0, -ENOENT when it is not followed, or -errno. These
 * two may be called by any thread.
 */
int bpf_runtime__thread_of(const struct bpf_runtime *bpf, int pidfd, struct qz_thread_state *state);

/* Sets where an image has its page set (quartz/page.h); NULL: it has none. 0 or -errno. */
int bpf_runtime__set_page(const struct bpf_runtime *bpf, uint32_t image,
			  const struct qz_page_place *place);

struct quartz *bpf_runtime__skeleton(struct bpf_runtime *bpf); /* for bpffs_tables.c */

/* ---- shared memory ---- */

uint32_t
bpf_runtime__processors(const struct bpf_runtime *bpf); /* that can come online: entries of cpus */
uint32_t bpf_runtime__max_scopes(const struct bpf_runtime *bpf);
struct qz_control *bpf_runtime__control(const struct bpf_runtime *bpf);
struct qz_cpu_state *bpf_runtime__cpus(const struct bpf_runtime *bpf);

/* A number that no thread has had. */
uint32_t bpf_runtime__next_serial(const struct bpf_runtime *bpf);

/* One buffer of the sampler. */
struct bpf_runtime_buffer {
	struct qz_stack_slot *stacks;
	uint64_t *frames;
	const struct qz_sample_record *records; /* see bpf_runtime__records */
	uint32_t which;
	uint32_t nstacks, nframes;
};

/*
 * Switches the sampler to the other buffer and waits until none is left in the one that it had, which is
 * given in *buffer. It must be emptied with bpf_runtime__clear before the next swap.
 */
int bpf_runtime__swap_buffers(struct bpf_runtime *bpf, struct bpf_runtime_buffer *buffer);
void bpf_runtime__clear(struct bpf_runtime *bpf, struct bpf_runtime_buffer *buffer);

/* The samples of a processor in a buffer, *n of them, in the order of time. */
const struct qz_sample_record *bpf_runtime__records(const struct bpf_runtime *bpf,
						    const struct bpf_runtime_buffer *buffer,
						    uint32_t cpu, uint32_t *n);

/* The registers of one of them; NULL: it has none. */
const struct qz_register_set *bpf_runtime__registers(const struct bpf_runtime *bpf,
						     const struct bpf_runtime_buffer *buffer,
						     const struct qz_sample_record *record);

/* One of them, by its number; NULL: there is none. The level of a new one is 0 where there is a log. */
struct qz_sample_record *bpf_runtime__sample(const struct bpf_runtime *bpf, uint32_t which,
					     uint32_t cpu, uint32_t number);

/* How full the buffer in use is, in percent of its fullest table. */
unsigned int bpf_runtime__fill(const struct bpf_runtime *bpf);

/* The tables of waits, see struct qz_wait_stack; the numbers are powers of two. */
struct bpf_runtime_waits {
	struct qz_wait_stack *stacks;
	uint64_t *frames;
	uint32_t nstacks, nframes;
	uint64_t *used_stacks; /* bits; who frees one clears its bit before */
};

/* The objects that threads wait for: QZ_OBJECT_SLOTS slots and a bit for each, see used_stacks. */
struct qz_object_slot *bpf_runtime__objects(const struct bpf_runtime *bpf);
uint64_t *bpf_runtime__used_objects(const struct bpf_runtime *bpf);
struct qz_object_figures *bpf_runtime__object_figures(const struct bpf_runtime *bpf);

const struct bpf_runtime_waits *bpf_runtime__waits(const struct bpf_runtime *bpf);

/* How many regions there is room for; their memory in *regions unless that is NULL. */
uint32_t bpf_runtime__unwind_regions(const struct bpf_runtime *bpf,
				     struct qz_unwind_region **regions);

/* The sampler's table of code that waits, QZ_SPIN_ADDRESSES slots of shared memory. */
struct qz_spin_address *bpf_runtime__spin_addresses(const struct bpf_runtime *bpf);

/*
 * Whether the unwinder itself notices that addresses of code are reused. If not, it compares qz_unwind_image.exec_vm.
 */
bool bpf_runtime__sees_mappings(const struct bpf_runtime *bpf);

/* Lets the unwinder use the regions of an image, or no longer (NULL). */
int bpf_runtime__set_unwind_image(struct bpf_runtime *bpf, uint32_t image,
				  const struct qz_unwind_image *regions);

/* CLOCK_MONOTONIC now, as bpf_ktime_get_ns gives it. */
uint64_t bpf_runtime__now(void);

/* Reads a count of a BPF program in shared memory, and sets it to 0. */
static inline uint64_t bpf_runtime__take(__u64 *figure)
{
	return __atomic_load_n(figure, __ATOMIC_RELAXED)
		       ? __atomic_exchange_n(figure, 0, __ATOMIC_SEQ_CST)
		       : 0;
}

#endif
