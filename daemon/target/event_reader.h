/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the reports of the kernel and the BPF programs from their rings, in order of time, into the address spaces. The
 * first thread that comes reads for both: the main thread, which may be busy with names for a second, or that of the unwind
 * tables, which may be busy with a table. Reports for the main thread are queued for it.
 *
 * The queue is bounded: when it is full, the rings are not read until the main thread has come, and reports that find no
 * room in them then are counted.
 *
 * Any thread.
 */
#ifndef QUARTZ_DAEMON_EVENT_READER_H
#define QUARTZ_DAEMON_EVENT_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/kernel/perf_sampler.h"
#include "daemon/target/address_spaces.h"
#include "daemon/target/reorder_buffer.h"

struct event_reader;

/* Borrows all. NULL with errno ENOMEM or EMFILE. */
struct event_reader *event_reader__new(struct bpf_runtime *bpf, struct perf_sampler *sampler,
				       struct address_spaces *spaces);
void event_reader__free(struct event_reader *r);

/* Empties the rings. Returns a time (CLOCK_MONOTONIC, ns): the address spaces have all that was reported before. */
uint64_t event_reader__read(struct event_reader *r);

/*
 * The same for the main thread, which is given what was put aside for it: of each process, all that was reported
 * before the time is among it. *news: the other thread is to be woken, as something was mapped, forked, executed, or
 * met without a table.
 */
uint64_t event_reader__take(struct event_reader *r, struct reorder_buffer *to, bool *news);

/* Readable when another thread has put an event aside for the main thread. */
int event_reader__fd(const struct event_reader *r);

/* Whether the unwinder has met code without a table since the last call. */
bool event_reader__met_unknown_code(struct event_reader *r);

/*
 * After how many ms the main thread is to come again, and the other one, if it is not woken: soon, if something waits to
 * be done, or was mapped, forked or executed just now, so that more is coming. Not while reports are lost again and
 * again; less soon on a machine, where something is mapped all the time, and at lower rates.
 */
int event_reader__tick_ms(struct event_reader *r, uint32_t halvings);
int event_reader__patience_ms(struct event_reader *r, bool waits, uint32_t halvings);

/* Reports that were dropped for want of memory, so far. */
uint64_t event_reader__dropped(struct event_reader *r);

#endif
