/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asks quartz.ko what all processors are doing at one instant, so many times per second, in a thread
 * of its own, which sleeps while they answer.
 */
#ifndef QUARTZ_DAEMON_INSTANTS_H
#define QUARTZ_DAEMON_INSTANTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/engine.h"
#include "quartz/device.h"

struct instants;

/* Whom to look at. Belongs to whoever holds a reference; what is in it does not change. */
struct aim {
	uint32_t refs;	/* guarded by the lock of instants */
	bool everybody; /* so many that every processor is asked, whatever it runs */
	uint32_t npids, nscopes;
	int32_t *pids;
	uint32_t *scopes; /* of the engine: each that has a process among them */
};

#define LEVEL_UNKNOWN UINT32_MAX

struct instant {
	struct instant *next;
	struct aim *aim;
	uint64_t begun; /* CLOCK_MONOTONIC */
	uint64_t skew_ns;
	uint32_t missed; /* processors */
	uint32_t
		level; /* of the aim's only scope, all the time; LEVEL_UNKNOWN: it changed, or there are more */
	uint32_t ncaptures;
	struct qz_capture captures[];
};

/* Opens the device. Borrows the engine. NULL with errno: of open(2), or ENOMEM. */
struct instants *instants__new(uint32_t rate, const struct engine *engine);

/* Begins to take instants, in a thread. 0 or -errno. */
int instants__start(struct instants *i);

/* No instant is taken any more when this returns. */
void instants__stop(struct instants *i);
void instants__free(struct instants *i); /* stops it first; accepts NULL */

/* An aim with room for so many, each 0, or NULL. */
struct aim *aim__new(uint32_t pids, uint32_t scopes);

/* Aims at these from now on; takes the aim over. With no pids, no instant is taken. */
void instants__aim(struct instants *i, struct aim *aim);

/*
 * The instants begun before `horizon`, oldest first, in a list; each is given back by
 * instants__release. One thread at a time.
 */
struct instant *instants__take(struct instants *i, uint64_t horizon);
void instants__release(struct instants *i, struct instant *instant);

struct instants_figures {
	uint64_t taken;
	uint64_t dropped; /* of these, there was no room until somebody took them */
	uint64_t failed;  /* calls that the module refused; the last errno */
	int error;
};
void instants__figures(struct instants *i, struct instants_figures *figures);

#endif
