/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/symbolizer/symbolizer_private.h"

#define CLASSIFY_MS 2000

/* Addresses per request, so that a request ends in a small part of its time. */
#define BATCH 128

/* Whether the arrays of the answer are as long as it says, and as long as the message is. */
static bool sizes_valid(const struct spin_answer *a, size_t length, size_t asked)
{
	size_t rest;

	if (length < sizeof(*a) || a->error || a->n == 0 || a->n > asked)
		return false;
	rest = length - sizeof(*a);
	if (rest < a->n * sizeof(struct spin_record))
		return false;
	return rest - a->n * sizeof(struct spin_record) == a->text_size;
}

static bool record_valid(const struct spin_record *r)
{
	return r->code.class < QZ_SPIN_CLASSES && r->code.base <= QZ_SPIN_FIXED &&
	       r->code.counter < 16 && r->code.start <= r->code.end &&
	       r->procedure_start <= r->procedure_end;
}

/* The texts of all answers to one question, which are kept together. */
struct texts {
	char *bytes;
	size_t size, room;
};

static int keep_text(struct texts *texts, const char *text, size_t size)
{
	size_t room = texts->room ? texts->room : 4096;
	char *bigger;

	while (room < texts->size + size)
		room *= 2;
	if (room != texts->room) {
		bigger = realloc(texts->bytes, room);
		if (!bigger)
			return -ENOMEM;
		texts->bytes = bigger;
		texts->room = room;
	}
	memcpy(texts->bytes + texts->size, text, size);
	texts->size += size;
	return 0;
}

/* Their number, -EBADMSG or -ENOMEM. */
static ssize_t take_codes(struct symbolizer *s, size_t length, size_t asked, struct texts *texts,
			  struct spin_record *codes)
{
	const struct spin_answer *a = &s->answer.spin;
	const struct spin_record *records = (const struct spin_record *)(a + 1);
	const char *text;

	if (!sizes_valid(a, length, asked))
		return -EBADMSG;
	text = (const char *)(records + a->n);
	if (a->text_size && text[a->text_size - 1] != '\0')
		return -EBADMSG;
	for (uint32_t i = 0; i < a->n; i++) {
		codes[i] = records[i];
		if (!record_valid(&codes[i]) ||
		    !symbolizer__text_valid(text, a->text_size, codes[i].name))
			return -EBADMSG;
		codes[i].name += (uint32_t)texts->size;
	}
	return keep_text(texts, text, a->text_size) ? -ENOMEM : (ssize_t)a->n;
}

/* Asks for up to n addresses; gives how many were answered. */
static ssize_t classify_some(struct symbolizer *s, uint32_t module, const uint64_t *addresses,
			     size_t n, struct texts *texts, struct spin_record *codes)
{
	struct symbolizer_request r = {
		.type = MESSAGE_SPIN,
		.fds = &s->modules[module]->fd,
		.nfds = 1,
		.deadline_ms = CLASSIFY_MS,
	};
	ssize_t length, answered;

	if (n > BATCH)
		n = BATCH;
	length = symbolizer__ask(s, &r, module, addresses, n);
	if (length < 0)
		return length;
	answered = take_codes(s, (size_t)length, n, texts, codes);
	return answered == -EBADMSG ? symbolizer__accident(s, module, -EBADMSG) : answered;
}

int symbolizer__classify(struct symbolizer *s, int module, const uint64_t *addresses, size_t n,
			 struct spin_record *codes)
{
	struct texts texts = {0};
	size_t done = 0;
	int err;

	if (!symbolizer__find_module(s, module))
		return -EINVAL;
	err = symbolizer__load(s, (uint32_t)module);
	while (!err && done < n) {
		ssize_t some = classify_some(s, (uint32_t)module, addresses + done, n - done,
					     &texts, codes + done);

		if (some < 0)
			err = (int)some;
		else
			done += (size_t)some;
	}
	free(s->spin_text);
	s->spin_text = texts.bytes;
	return err;
}

const char *symbolizer__procedure(const struct symbolizer *s, const struct spin_record *code)
{
	return s->spin_text + code->name;
}
