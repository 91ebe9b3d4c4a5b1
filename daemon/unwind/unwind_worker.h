/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread that makes unwind tables, with a symbolizer of its own, so that no table waits for names, nor names for
 * tables. It shares the address spaces with the main thread.
 */
#ifndef QUARTZ_DAEMON_UNWIND_WORKER_H
#define QUARTZ_DAEMON_UNWIND_WORKER_H

#include <stdint.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/target/address_spaces.h"
#include "daemon/target/event_reader.h"
#include "daemon/target/modules.h"

struct unwind_worker;

struct table_cache;

/* Borrows all; `kept`: tables of earlier runs, or NULL. NULL with errno ENOMEM or EMFILE. */
struct unwind_worker *unwind_worker__new(struct bpf_runtime *bpf, struct event_reader *reader,
					 struct address_spaces *spaces, struct modules *modules,
					 struct table_cache *kept);
void unwind_worker__free(struct unwind_worker *worker);

/*
 * Before the thread is started: lets a symbolizer begin, which takes a moment, if one will be wanted at once for a program
 * (a descriptor, O_PATH suffices).
 */
void unwind_worker__start_ahead(struct unwind_worker *worker, int fd);

/* Starts the thread; the sampler must be. 0 or -errno. */
int unwind_worker__start(struct unwind_worker *worker);

/* Ends the thread, after the table that it is building. Idempotent. To be called before BPF is detached. */
void unwind_worker__stop(struct unwind_worker *worker);

/*
 * Waits until all that was reported before has been taken in and the tables built that are built
 * unasked, and that of a file that will be executed: a descriptor (O_PATH suffices), which is closed, or
 * -1. At most two seconds.
 */
void unwind_worker__prepare(struct unwind_worker *worker, int fd, const char *path);

/* How often the rates are halved: it looks for new mappings that much more rarely, unless it is woken. */
void unwind_worker__set_halvings(struct unwind_worker *worker, uint32_t halvings);

/* The main thread has changed what is mapped. */
void unwind_worker__wake(struct unwind_worker *worker);

/* As in unwind_tables.h and symbolizer.h. */
struct unwind_worker_figures {
	uint64_t full, killed, ended, refused, waiting;
	uint64_t child_ns; /* processor time of its symbolizer */
};

struct unwind_worker_figures unwind_worker__figures(struct unwind_worker *worker);

#endif
