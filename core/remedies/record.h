/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often the predicted ranges held, by rule: sums over documents of the schema quartz.try/v1. If
 * a try had several remedies for one rule, the one that gained most counts, since the range covers
 * all of the rule's loss.
 */
#ifndef QUARTZ_CORE_RECORD_H
#define QUARTZ_CORE_RECORD_H

#include <jansson.h>
#include <stdint.h>

struct qz_record_row {
	char rule[32];
	uint32_t tries; /* tries with a verdict */
	uint32_t within, below,
		above; /* of these, where the measured interval is relative to the predicted range */
	double low, high, gain; /* sums of shares of the elapsed time */
};

struct qz_record {
	uint32_t tries;	     /* documents */
	int64_t first, last; /* times of the tries, seconds since 1970; 0: none */
	uint32_t n;
	struct qz_record_row *rows;
};

/*
 * Adds a document. An all-zero record is empty. Returns 0, -ENOMEM, or -EBADMSG: it is no such
 * document, and nothing was added.
 */
int qz_record__add(struct qz_record *r, const json_t *document);

/* Sorts the rows by number of tries, the largest first. */
void qz_record__sort(struct qz_record *r);

void qz_record__free(struct qz_record *r);

#endif
