/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address ranges of an image where code replaced other code, and the time for which it is not known to which code a sample
 * there belongs. Times are those of bpf_ktime_get_ns. Pure.
 */
#ifndef QUARTZ_DAEMON_DISPUTES_H
#define QUARTZ_DAEMON_DISPUTES_H

#include <stdbool.h>
#include <stdint.h>

/* A range of addresses that had other code before. */
struct dispute {
	uint64_t start, end;
	uint64_t settled; /* when tables of the code that is there were published; 0: not yet */
	/* The same of the code before, if that had replaced other code: UINT64_MAX: never. 0: it had not. */
	uint64_t earlier;
	uint64_t
		unnamed; /* until when samples of the code before were not named in time; 0: all were */
};

/* All zero is none. */
struct disputes {
	struct dispute *items;
	uint32_t n;
};

void disputes__free(struct disputes *d);

/* Other code takes its place there. 0 or -ENOMEM. */
int disputes__replaced(struct disputes *d, uint64_t start, uint64_t end);

/* The unwinder has tables of all that is mapped, from `now` on. */
void disputes__settle(struct disputes *d, uint64_t now);

/* It has been mapped there, at `now`, before the samples of the code before had their names. */
void disputes__unnamed(struct disputes *d, uint64_t start, uint64_t end, uint64_t now);

/*
 * Whether a sample at an address may be of either code, among those that were taken since `began`. Samples that
 * met stale tables are of code that had replaced other code; of the others it is known, if they are named in time.
 */
bool disputes__has(const struct disputes *d, uint64_t address, bool stale, uint64_t began);

#endif
