/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cache lines that threads of one process use, from samples that show for which memory a thread waited. A line is shared
 * while two of its users run and one of them writes there: the processors then take it from each other. Pure.
 *
 * Lines are kept as long as they are sampled again and again, up to a bound for each process and for all.
 */
#ifndef QUARTZ_DAEMON_SHARED_LINES_H
#define QUARTZ_DAEMON_SHARED_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_BYTES 64
#define LINE_USERS                                                                                 \
	8 /* threads that are kept separately; a later one takes the place of the first */
#define LINE_NONE UINT32_MAX

/* One thread. Bit n of a mask: the byte n of the line. */
struct line_user {
	uint32_t serial;
	uint64_t read, written;
};

struct shared_line {
	uint64_t address; /* of the line */
	uint32_t image;
	uint32_t nusers; /* ever */
	struct line_user users[LINE_USERS];
	uint32_t samples;	/* since the last check whether it is kept */
	uint32_t shared;	/* samples while it was shared */
	uint32_t object, scope; /* for the caller; the object is LINE_NONE at first */
	/* Since the caller has set them to 0 */
	uint64_t same;		  /* shared, by two that use the same bytes */
	uint64_t alone;		  /* samples there, while no other user ran */
	uint64_t elsewhere_alone; /* of its threads at other places, while no other user ran */
	/*
	 * Shared, and of its threads at other places while another one of them ran; of those alone that were taken
	 * first: a processor that takes a sample does not run its thread, and leaves the line to the others meanwhile.
	 */
	uint64_t there, elsewhere;
};

struct shared_lines;

/* NULL with errno ENOMEM. */
struct shared_lines *shared_lines__new(void);
void shared_lines__free(struct shared_lines *l);

/* Before the samples of a buffer: forgets lines, whose numbers others may get, when many are kept. */
void shared_lines__begin(struct shared_lines *l);

/* A memory access of a thread. */
struct line_access {
	uint64_t address;
	uint32_t image, serial;
	uint8_t size; /* bytes; what is after the line does not count */
	bool read, written;
};

/* Takes it in. The number of the line; LINE_NONE: there is no room. */
uint32_t shared_lines__use(struct shared_lines *l, const struct line_access *access);

/* What one thread did at an instant. */
struct line_answer {
	uint32_t image, serial;
	uint32_t line; /* that it used, or LINE_NONE */
	uint32_t time; /* in any unit of a microsecond or so, 30 bits that start anew */
	bool counts;   /* it is a sample, and works */
	bool spins; /* it waits in a loop: of the lines that it has used before it uses none now */
	bool is_shared; /* result: the line was shared */
};

/* After all uses of the buffer: the threads that ran at one instant, n of them. */
void shared_lines__judge(struct shared_lines *l, struct line_answer *answers, size_t n);

/* A line by its number, until the next begin(). */
struct shared_line *shared_lines__get(struct shared_lines *l, uint32_t line);

/* Where the lowest and the highest of its users begins to write; one that only reads, to read. */
void shared_line__words(const struct shared_line *line, uint64_t *first, uint64_t *last);

#endif
