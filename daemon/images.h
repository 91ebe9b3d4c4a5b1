/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Images: which process had what mapped. An image is a process between two execs; an address means
 * something only together with one. Fed, in order of time, with what BPF tells of processes and
 * what the kernel reports of mappings.
 */
#ifndef QUARTZ_DAEMON_IMAGES_H
#define QUARTZ_DAEMON_IMAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/modules.h"
#include "daemon/regions.h"
#include "daemon/sampler.h"
#include "quartz/records.h"

struct image {
	uint32_t number;
	uint32_t scope; /* of the engine */
	pid_t pid;
	uint64_t start_boottime;
	uint64_t seen; /* when it was found or began; CLOCK_MONOTONIC */
	bool found;    /* ran already when it was first seen: its threads' creators are unknown */
	bool launcher; /* waits to become a command: runs quartzd's own code until then */
	uint32_t node; /* below which the threads found belong, see creation__unseen */
	char comm[QZ_COMM_LEN];
	struct regions regions;
	uint64_t contents;  /* changes with the regions; equal in a forked copy */
	uint64_t published; /* contents that the unwinder has, see tables.h */
	uint64_t mapped;    /* when something was last mapped; 0 when tables.h knows of it */
	bool ended;
	bool superseded;  /* there is a later image of this pid */
	uint32_t earlier; /* index of the one before of this pid, or UINT32_MAX */
	uint32_t sibling; /* likewise, of this scope */
	uint64_t
		replaced; /* when code was last mapped in place of other code; 0: tables.h has published that */
	bool reread; /* /proc/PID/maps was read for an address that no region covered */
};

struct images;

struct images *images__new(struct modules *modules);
void images__free(struct images *images);

/* Takes in a new image. 0 or -ENOMEM. */
int images__process(struct images *images, const struct qz_process_event *event);

/* Whether a mapping puts code at a place where an image has other code. */
bool images__replaces(struct images *images, const struct sampler_mapping *mapping);

/* Takes in a mapping or an exec of any process; those of others are ignored. */
void images__mapping(struct images *images, const struct sampler_mapping *mapping);

/* Reports were lost: regions can no longer be trusted to be complete. */
void images__distrust(struct images *images);

/* All images, in the order in which they came. */
uint32_t images__count(const struct images *images);
struct image *images__at(struct images *images, uint32_t index);

/* Reads anew what a process has mapped, forgetting what it has no longer. At most once a drain. */
void images__reload(struct images *images, struct image *image);

/* NULL when there is no image of this number. Valid until the next call that adds one. */
struct image *images__get(struct images *images, uint32_t number);

/*
 * The image that a process was at a time; its first one, for a time before. NULL when none is known that
 * is not a launcher. Valid as long.
 */
struct image *images__of_process(struct images *images, pid_t pid, uint64_t time);

/*
 * The region that holds an address, or NULL. Where none does, the process' mappings are read once
 * again if it lives; what they have at places that are known is left to the reports, whose time tells
 * which samples it concerns.
 */
const struct region *images__find(struct images *images, struct image *image, uint64_t address);

/* The images of a scope of the engine that were there at a time have ended. */
void images__end(struct images *images, uint32_t scope, uint64_t time);

/* Forgets the images of the scopes that are marked, by number of the engine, or with NULL all ended ones. */
void images__forget(struct images *images, const bool *marked);

/* Allows one more reading for each image. Called once a drain. */
void images__refresh(struct images *images);

#endif
