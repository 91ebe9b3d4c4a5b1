/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asks quartz.ko what all processors are doing at one instant, so many times per second, in a thread
 * of its own, which sleeps while they answer.
 */
#ifndef QUARTZ_DAEMON_MODULE_ROUNDS_H
#define QUARTZ_DAEMON_MODULE_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/kernel/bpf_runtime.h"
#include "quartz/device.h"

struct module_rounds;

/* Which processes are sampled. Reference-counted, and constant. */
struct aim {
	uint32_t refs;	      /* guarded by the lock of instants */
	bool every_processor; /* so many that every processor is asked, whatever it runs */
	uint32_t npids;
	int32_t pids[];
};

struct instant {
	struct instant *next;
	struct aim *aim;
	uint64_t begun;	 /* CLOCK_MONOTONIC */
	uint32_t missed; /* processors */
	uint32_t ncaptures;
	struct qz_capture captures[];
};

/* Opens the device, for the processors that bpf knows. NULL with errno: of open(2), or ENOMEM. */
struct module_rounds *module_rounds__new(uint32_t rate, const struct bpf_runtime *bpf);

/* Begins to take instants, in a thread. 0 or -errno. */
int module_rounds__start(struct module_rounds *m);

/* No instant is taken any more when this returns. */
void module_rounds__stop(struct module_rounds *m);
void module_rounds__free(struct module_rounds *m); /* stops it first; accepts NULL */

/* Without processes, with room for so many, or NULL. */
struct aim *aim__new(uint32_t pids);

/* Aims at these from now on; takes the aim over. With no pids, no instant is taken. */
void module_rounds__aim(struct module_rounds *m, struct aim *aim);

/*
 * The instants begun before `horizon`, oldest first, in a list; each is given back by
 * module_rounds__release. One thread at a time.
 */
struct instant *module_rounds__take(struct module_rounds *m, uint64_t horizon);
void module_rounds__release(struct module_rounds *m, struct instant *instant);

struct module_rounds_figures {
	uint64_t dropped; /* there was no room until the collector took some */
	uint64_t failed;  /* calls that the module refused */
};
void module_rounds__figures(struct module_rounds *m, struct module_rounds_figures *figures);

#endif
