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
	uint64_t replaced; /* when other code came, as it was reported */
	uint64_t settled;  /* when tables of it were published; 0: not yet */
	/* Until when the tables of the image were stale before it came. UINT64_MAX: they still are; 0: they never were. */
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

/* What the walk of a stack has found of the tables of its image. */
enum dispute_tables {
	TABLES_CURRENT, /* they were made for the code that was there */
	TABLES_STALE,	/* other code had come at some place */
	TABLES_LACKING, /* they did not have the code, or there were none */
};

/* Other code has taken its place there, at `time`. 0 or -ENOMEM. */
int disputes__replaced(struct disputes *d, uint64_t start, uint64_t end, uint64_t time);

/* The unwinder has tables of all that is mapped, from `now` on. */
void disputes__settle(struct disputes *d, uint64_t now);

/* It has been mapped there, at `now`, before the samples of the code before had their names. */
void disputes__unnamed(struct disputes *d, uint64_t start, uint64_t end, uint64_t now);

/*
 * Whether a sample at an address may be of either code, among those that were taken since `began`. If the tables were
 * current, it is of the code before, whose samples are named in time or are not. If they were stale, it is of the new code,
 * unless they had been stale already when that came. If they lacked the code, it may be of any that was there.
 */
bool disputes__has(const struct disputes *d, uint64_t address, enum dispute_tables tables,
		   uint64_t began);

#endif
