/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a thread that executes at an address waits: the procedure that it is in, for rules that go
 * by name, and what the shape of the code says.
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
	uint16_t machine;  /* that it knows */
	bool unable;	   /* there can be none */
};

/*
 * Writes records of the first of n addresses, at least one, as many as take up to `room` bytes.
 * fd: the file of the module, of which only code near the addresses is read.
 */
void spin_answer__write(struct spin_answer_writer *w, const struct module *m, int fd,
			const uint64_t *addresses, uint32_t n, size_t room);

#endif
