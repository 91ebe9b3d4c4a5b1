/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/symbolizer/symbolizer_private.h"

/* Addresses per request. */
#define BATCH	    512
#define BATCH_LINES 32

/* The frames and strings of one message. */
struct answer_block {
	struct answer_block *next;
	struct symbolizer_frame *frames;
	char *text;
};

void symbolizer__drop_answers(struct symbolizer *s)
{
	while (s->blocks) {
		struct answer_block *block = s->blocks;

		s->blocks = block->next;
		free(block->frames);
		free(block->text);
		free(block);
	}
}

/* Whether the arrays of the answer are as long as it says, and as long as the message is. */
static bool sizes_valid(const struct resolve_answer *a, size_t length, size_t asked)
{
	size_t rest;

	if (length < sizeof(*a) || a->error || a->n == 0 || a->n > asked)
		return false;
	rest = length - sizeof(*a);
	if (rest < a->n * sizeof(struct answer_record))
		return false;
	rest -= a->n * sizeof(struct answer_record);
	if (a->nframes > rest / sizeof(struct frame_record))
		return false;
	rest -= a->nframes * sizeof(struct frame_record);
	return rest == a->text_size;
}

/* Copies frames and text. NULL when something in them is out of range, or without memory. */
static struct answer_block *copy_frames(const struct resolve_answer *a,
					const struct frame_record *frames, const char *text)
{
	struct answer_block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->frames = calloc(a->nframes + 1UL, sizeof(*block->frames));
	block->text = malloc(a->text_size ? a->text_size : 1);
	if (!block->frames || !block->text)
		goto fail;
	memcpy(block->text, text, a->text_size);
	if (a->text_size && block->text[a->text_size - 1] != '\0')
		goto fail;
	for (uint32_t i = 0; i < a->nframes; i++) {
		if (!symbolizer__text_valid(block->text, a->text_size, frames[i].name) ||
		    !symbolizer__text_valid(block->text, a->text_size, frames[i].file) ||
		    !symbolizer__text_valid(block->text, a->text_size, frames[i].line_file))
			goto fail;
		block->frames[i] = (struct symbolizer_frame) {
			.name = block->text + frames[i].name,
			.file = block->text + frames[i].file,
			.line_file = block->text + frames[i].line_file,
			.decl_line = frames[i].decl_line,
			.line = frames[i].line,
		};
	}
	return block;
fail:
	free(block->frames);
	free(block->text);
	free(block);
	return NULL;
}

/* Turns a message into answers. Their number, or -EBADMSG. */
static ssize_t take_answers(struct symbolizer *s, size_t length, size_t asked, void *all,
			    size_t done)
{
	struct symbolizer_answer *answers = (struct symbolizer_answer *)all + done;
	const struct resolve_answer *a = &s->answer.resolve;
	const struct answer_record *records = (const struct answer_record *)(a + 1);
	const struct frame_record *frames;
	struct answer_block *block;
	uint32_t used = 0;

	if (!sizes_valid(a, length, asked))
		return -EBADMSG;
	frames = (const struct frame_record *)(records + a->n);
	block = copy_frames(a, frames, (const char *)(frames + a->nframes));
	if (!block)
		return -EBADMSG;
	block->next = s->blocks;
	s->blocks = block;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct answer_record *record = &records[i];
		bool found = record->flags & ANSWER_FOUND;

		if (record->nframes > a->nframes - used || found != (record->nframes > 0))
			return -EBADMSG;
		answers[i] = (struct symbolizer_answer) {
			.start = record->start,
			.found = found,
			.unnamed = record->flags & ANSWER_UNNAMED,
			.outermost = record->flags & ANSWER_OUTERMOST,
			.nframes = record->nframes,
			.frames = block->frames + used,
		};
		used += record->nframes;
	}
	return a->n;
}

int symbolizer__resolve(struct symbolizer *s, int module, const uint64_t *addresses, size_t n,
			struct symbolizer_answer *answers)
{
	const struct symbolizer_question q = {
		.type = MESSAGE_RESOLVE,
		.batch = s->options.lines || s->options.inlines ? BATCH_LINES : BATCH,
		.addresses = addresses,
		.n = n,
		.take = take_answers,
		.answers = answers,
	};

	symbolizer__drop_answers(s);
	return symbolizer__ask(s, module, &q);
}
