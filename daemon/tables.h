/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables in the maps of the BPF unwinder: those of each module once, however many processes
 * have it mapped, and for each image the list of its regions.
 *
 * One thread at a time: that of builder.h.
 */
#ifndef QUARTZ_DAEMON_TABLES_H
#define QUARTZ_DAEMON_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/engine.h"
#include "daemon/images.h"
#include "daemon/modules.h"
#include "daemon/symbolizer.h"

struct tables;

struct tables *tables__new(struct engine *engine, struct symbolizer *symbolizer,
			   struct modules *modules, struct images *images);
void tables__free(struct tables *t);

/*
 * Publishes every image whose regions have changed, with the tables that are built, and takes back what
 * ended ones had, whose regions it frees. `known`: all that was mapped before is in the images; `named`:
 * what was sampled before has its names. One whose code has replaced other code later than that is left
 * for a later call.
 */
void tables__publish(struct tables *t, uint64_t known, uint64_t named);

/* A process has had code mapped in place of other code; to be called before images__mapping(). */
void tables__replaced(struct tables *t, pid_t pid, uint64_t time);

/* Whether tables__publish() is to be made again although nothing more has been reported. */
bool tables__waits(const struct tables *t);

/*
 * Builds one table of the images published: one that the unwinder asks for, else one of an image of few
 * modules. False: there is nothing to do.
 */
bool tables__build(struct tables *t);

/* The unwinder has met code without a table: the next call above looks which. */
void tables__look(struct tables *t);

/* Builds the table of a module, if that was not tried yet. */
void tables__build_module(struct tables *t, uint32_t module);

/* Modules and images so far for which there was no room. */
uint64_t tables__full(const struct tables *t);

#endif
