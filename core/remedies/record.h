/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often the predicted ranges held: documents of the schema quartz.try/v1, added up by rule. Of several remedies for one
 * rule in a try, the one that gained most counts, since the range covers all of the rule's loss.
 */
#ifndef QUARTZ_CORE_RECORD_H
#define QUARTZ_CORE_RECORD_H

#include <jansson.h>
#include <stdint.h>

struct qz_record_row {
	char rule[32];
	uint32_t tries;		       /* with a verdict */
	uint32_t within, below, above; /* of these, the measured interval and the predicted range */
	double low, high, gain;	       /* sums, of the elapsed time */
};

struct qz_record {
	uint32_t tries;	     /* documents */
	int64_t first, last; /* when, seconds; 0: never */
	uint32_t n;
	struct qz_record_row *rows;
};

/* Adds a document. An all-zero record is empty. 0; -EBADMSG: it is not such a document, and nothing was added; -ENOMEM. */
int qz_record__add(struct qz_record *r, const json_t *document);

/* Sorts the rows, by the number of tries. */
void qz_record__sort(struct qz_record *r);

void qz_record__free(struct qz_record *r);

#endif
