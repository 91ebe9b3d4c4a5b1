/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables in the maps of the BPF unwinder: those of each module once, however many processes
 * have it mapped, and for each image the list of its regions.
 *
 * One thread at a time: that of unwind_worker.h.
 */
#ifndef QUARTZ_DAEMON_UNWIND_TABLES_H
#define QUARTZ_DAEMON_UNWIND_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/kernel/bpf_python.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/target/address_spaces.h"
#include "daemon/target/modules.h"
#include "daemon/symbolizer/symbolizer.h"

struct unwind_tables;

struct unwind_tables *unwind_tables__new(struct bpf_runtime *bpf, struct symbolizer *symbolizer,
					 struct modules *modules, struct address_spaces *spaces);
void unwind_tables__free(struct unwind_tables *t);

/*
 * Publishes every image whose regions have changed, with the tables that are built, and takes back what
 * ended ones had. `known`: all that was mapped before is in the address spaces.
 */
void unwind_tables__publish(struct unwind_tables *t, uint64_t known);

/* Whether unwind_tables__publish() is to be made again although nothing more has been reported. */
bool unwind_tables__waits(const struct unwind_tables *t);

/*
 * Builds one table of the images published: one that the unwinder asks for, else one of an image of few
 * modules. False: there is nothing to do.
 */
bool unwind_tables__build(struct unwind_tables *t);

/* Tries tables again that could not be built before, where enough time has passed. */
void unwind_tables__retry(struct unwind_tables *t);

/* The unwinder has met code without a table: the next call above looks which. */
void unwind_tables__look(struct unwind_tables *t);

/* Builds the table of a module, if that was not tried yet. */
void unwind_tables__build_module(struct unwind_tables *t, uint32_t module);

/* Modules and images so far for which there was no room. */
uint64_t unwind_tables__full(const struct unwind_tables *t);

#endif
