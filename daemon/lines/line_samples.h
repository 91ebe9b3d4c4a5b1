/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples at shared cache lines: from registers and code to memory, and from there to objects of the profile.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_LINE_SAMPLES_H
#define QUARTZ_DAEMON_LINE_SAMPLES_H

#include "daemon/attribution/stacks.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/lines/shared_lines.h"
#include "daemon/spin/spin_tracker.h"
#include "daemon/waits/object_naming.h"

struct line_samples;

/* Borrows all. NULL with errno ENOMEM. */
struct line_samples *line_samples__new(const struct bpf_runtime *bpf, struct spin_tracker *tracker,
				       const struct stack_context *context,
				       struct object_naming_context *names);
void line_samples__free(struct line_samples *l);

/* A buffer begins. */
void line_samples__begin(struct line_samples *l);

/* The line that the thread of a sample waited for, by its registers, whose code the tracker has resolved; or LINE_NONE. */
uint32_t line_samples__use(struct line_samples *l, const struct bpf_runtime_buffer *buffer,
			   const struct qz_sample_record *record);

/* See shared_lines__judge: of one instant, after all uses. */
void line_samples__judge(struct line_samples *l, struct line_answer *answers, size_t n);

/*
 * The object of the profile for a line that is shared, of a scope of the profile and used at a node. QZ_NONE: it was
 * seldom sampled, or there are enough.
 */
uint32_t line_samples__object(struct line_samples *l, uint32_t line, uint32_t scope, uint32_t node);

/* After the samples of a buffer: adds the figures of lines that have objects, of samples with so many halvings. */
void line_samples__settle(struct line_samples *l, uint32_t halvings);

#endif
