/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/symbolizer_private.h"

#define JUDGE_MS 2000

/* Addresses per request, so that a request ends in a small part of its time. */
#define BATCH 128

/* Whether the arrays of the answer are as long as it says, and as long as the message is. */
static bool sizes_valid(const struct verdicts_answer *a, size_t length, size_t asked)
{
	size_t rest;

	if (length < sizeof(*a) || a->error || a->n == 0 || a->n > asked)
		return false;
	rest = length - sizeof(*a);
	if (rest < a->n * sizeof(struct verdict_record))
		return false;
	return rest - a->n * sizeof(struct verdict_record) == a->text_size;
}

static bool text_valid(const char *text, uint32_t size, uint32_t at)
{
	return at < size && strnlen(text + at, PROTOCOL_MAX_TEXT) < PROTOCOL_MAX_TEXT;
}

static bool record_valid(const struct verdict_record *record)
{
	return record->spin < QZ_SPIN_CLASSES && record->base <= QZ_SPIN_FIXED &&
	       record->start <= record->end && record->procedure_start <= record->procedure_end;
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

/* Turns a message into verdicts, whose names are offsets yet. Their number, -EBADMSG or -ENOMEM. */
static ssize_t take_verdicts(struct symbolizer *s, size_t length, size_t asked, struct texts *texts,
			     struct symbolizer_verdict *verdicts, size_t *names)
{
	const struct verdicts_answer *a = &s->answer.verdicts;
	const struct verdict_record *records = (const struct verdict_record *)(a + 1);
	const char *text;

	if (!sizes_valid(a, length, asked))
		return -EBADMSG;
	text = (const char *)(records + a->n);
	if (a->text_size && text[a->text_size - 1] != '\0')
		return -EBADMSG;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct verdict_record *record = &records[i];

		if (!record_valid(record) || !text_valid(text, a->text_size, record->name))
			return -EBADMSG;
		verdicts[i] = (struct symbolizer_verdict) {
			.spin = record->spin,
			.confirm = record->flags & VERDICT_CONFIRM,
			.by_caller = record->flags & VERDICT_BY_CALLER,
			.start = record->start,
			.end = record->end,
			.written = record->written,
			.watches = record->flags & VERDICT_WATCHES,
			.base = record->base,
			.at = record->at,
			.procedure_start = record->procedure_start,
			.procedure_end = record->procedure_end,
		};
		names[i] = texts->size + record->name;
	}
	return keep_text(texts, text, a->text_size) ? -ENOMEM : (ssize_t)a->n;
}

/* Asks for up to n addresses; gives how many were answered. */
static ssize_t judge_some(struct symbolizer *s, uint32_t module, const uint64_t *addresses,
			  size_t n, struct texts *texts, struct symbolizer_verdict *verdicts,
			  size_t *names)
{
	struct symbolizer_request r = {
		.type = MESSAGE_VERDICTS,
		.fds = &s->modules[module]->fd,
		.nfds = 1,
		.deadline_ms = JUDGE_MS,
	};
	ssize_t length, answered;

	if (n > BATCH)
		n = BATCH;
	length = symbolizer__ask(s, &r, module, addresses, n);
	if (length < 0)
		return length;
	answered = take_verdicts(s, (size_t)length, n, texts, verdicts, names);
	return answered == -EBADMSG ? symbolizer__accident(s, module, -EBADMSG) : answered;
}

int symbolizer__judge(struct symbolizer *s, int module, const uint64_t *addresses, size_t n,
		      struct symbolizer_verdict *verdicts)
{
	struct texts texts = {0};
	size_t done = 0, *names;
	int err;

	if (!symbolizer__find_module(s, module))
		return -EINVAL;
	names = calloc(n + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	err = symbolizer__load(s, (uint32_t)module);
	while (!err && done < n) {
		ssize_t some = judge_some(s, (uint32_t)module, addresses + done, n - done, &texts,
					  verdicts + done, names + done);

		if (some < 0)
			err = (int)some;
		else
			done += (size_t)some;
	}
	for (size_t i = 0; i < n && !err; i++)
		verdicts[i].procedure = texts.bytes + names[i];
	free(names);
	free(s->verdict_text);
	s->verdict_text = texts.bytes;
	return err;
}
