/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers whether a thread at an address waits: its procedure, for rules by name, and the result
 * for the form of its code.
 */
#ifndef QUARTZ_SYMBOLIZER_SPIN_ANSWER_H
#define QUARTZ_SYMBOLIZER_SPIN_ANSWER_H

#include "symbolizer/names/module.h"
#include "include/quartz/symbolizer.h"
#include "symbolizer/spin/spin.h"

/* Collects records until a message is full. */
struct spin_answer_writer {
	struct spin_record records[PROTOCOL_MAX_MESSAGE / sizeof(struct spin_record)];
	char text[PROTOCOL_MAX_MESSAGE];
	uint32_t n, text_size;
	struct name name;
	struct spin *spin; /* NULL: none yet */
	uint16_t machine;  /* of `spin` */
	bool unable;	   /* the machine has no decoder */
};

/*
 * Writes records for the first of n addresses: at least one, and as many as fit into `room` bytes.
 * fd: the file of the module, of which only code near the addresses is read.
 */
void spin_answer__write(struct spin_answer_writer *w, const struct module *m, int fd,
			const uint64_t *addresses, uint32_t n, size_t room);

#endif
