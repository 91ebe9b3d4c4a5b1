/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread that makes unwind tables: it follows what is mapped, with images, modules and a symbolizer
 * of its own, so that no table waits for names, nor names for tables. All that it shares with the main
 * thread is the intake of reports and the few words below.
 */
#ifndef QUARTZ_DAEMON_BUILDER_H
#define QUARTZ_DAEMON_BUILDER_H

#include <stdint.h>

#include "daemon/engine.h"
#include "daemon/intake.h"

struct builder;

/* Borrows both. NULL with errno ENOMEM or EMFILE. */
struct builder *builder__new(struct engine *engine, struct intake *intake);
void builder__free(struct builder *b);

/* Starts the thread; the sampler must be. 0 or -errno. */
int builder__start(struct builder *b);

/* Ends it, when it has built the table at which it is. Idempotent; before the engine is detached. */
void builder__stop(struct builder *b);

/*
 * Waits until all that was reported before has been taken in and the tables built that are built
 * unasked, and that of a file that will be executed: a descriptor (O_PATH suffices), which is closed, or
 * -1. At most two seconds.
 */
void builder__prepare(struct builder *b, int fd, const char *path);

/*
 * What was sampled before a time (CLOCK_MONOTONIC, ns) has got its names: code that took the place of
 * other code before may have tables.
 */
void builder__named(struct builder *b, uint64_t until);

/* How often the rates are halved: so much more rarely it looks for what is mapped, unless it is called. */
void builder__set_halvings(struct builder *b, uint32_t halvings);

/* An image may have something mapped that was not reported. */
void builder__complete(struct builder *b, uint32_t image);

/* As in tables.h and symbolizer.h. */
struct builder_figures {
	uint64_t full, killed, refused;
	uint64_t child_ns; /* processor time of its symbolizer */
};

void builder__figures(const struct builder *b, struct builder_figures *figures);

#endif
