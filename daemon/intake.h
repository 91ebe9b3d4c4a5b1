/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel and the BPF programs report, for the two threads that need it: the main thread, which
 * may be busy with names for a second, and the one that makes unwind tables (builder.h), which may be
 * busy with one of them. Whichever comes first empties the rings, and puts a copy aside for the other
 * one.
 *
 * What is put aside is bounded: when it is too much the rings are left alone until the other one has
 * come, and what then finds no room in them is counted there.
 *
 * Any thread, but each reader is one at a time.
 */
#ifndef QUARTZ_DAEMON_INTAKE_H
#define QUARTZ_DAEMON_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/engine.h"
#include "daemon/reports.h"
#include "daemon/sampler.h"

enum intake_reader {
	INTAKE_MAIN,
	INTAKE_TABLES, /* is given mappings, and events of processes and scopes; none before intake__open() */
	INTAKE_READERS,
};

/* What has come for a reader beside its reports. */
struct intake_news {
	uint64_t mapped;   /* when anything was last mapped, forked or executed; 0: not since */
	bool unknown_code; /* the unwinder has met some */
	bool lost; /* reports of mappings: regions can no longer be trusted to be complete */
};

struct intake;

/* Borrows both. NULL with errno ENOMEM or EMFILE. */
struct intake *intake__new(struct engine *engine, struct sampler *sampler);
void intake__free(struct intake *in);

/* From here on, and until then, reports are put aside for the thread that makes tables. */
void intake__open(struct intake *in);
void intake__close(struct intake *in);

/*
 * Empties the rings, adds what there is for the reader to its reports, and tells the news since the last
 * call. Gives a time (CLOCK_MONOTONIC, ns): of each process, all that was reported before is among them.
 */
uint64_t intake__take(struct intake *in, enum intake_reader reader, struct reports *to,
		      struct intake_news *news);

/* Readable when another thread has put an event aside for the main thread. */
int intake__fd(const struct intake *in);

/* Reports that were dropped for want of memory, so far. */
uint64_t intake__dropped(struct intake *in);

#endif
