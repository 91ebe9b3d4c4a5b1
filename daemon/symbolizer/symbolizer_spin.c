/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/symbolizer/symbolizer_private.h"

/* Addresses per request. */
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
	const struct qz_operand *o = &r->code.operand;

	return o->base <= QZ_OPERAND_NONE && o->index <= QZ_OPERAND_NONE && o->scale <= 8 &&
	       o->flags < QZ_OPERAND_FLAGS && r->code.class < QZ_SPIN_CLASSES &&
	       r->code.base <= QZ_SPIN_FIXED && r->code.counter < 16 &&
	       r->code.start <= r->code.end && r->procedure_start <= r->procedure_end;
}

/* The answers to one question, whose texts are kept together: there are some, since each record has a name. */
struct codes {
	struct spin_record *records;
	char *text;
	size_t size;
};

static int keep_text(struct codes *codes, const char *text, size_t size)
{
	char *bigger = realloc(codes->text, codes->size + size);

	if (!bigger)
		return -ENOMEM;
	codes->text = bigger;
	memcpy(codes->text + codes->size, text, size);
	codes->size += size;
	return 0;
}

/* Their number, -EBADMSG or -ENOMEM. */
static ssize_t take_codes(struct symbolizer *s, size_t length, size_t asked, void *all, size_t done)
{
	const struct spin_answer *a = &s->answer.spin;
	const struct spin_record *records = (const struct spin_record *)(a + 1);
	struct codes *codes = all;
	const char *text;

	if (!sizes_valid(a, length, asked))
		return -EBADMSG;
	text = (const char *)(records + a->n);
	if (a->text_size && text[a->text_size - 1] != '\0')
		return -EBADMSG;
	for (uint32_t i = 0; i < a->n; i++) {
		struct spin_record *code = &codes->records[done + i];

		*code = records[i];
		if (!record_valid(code) || !symbolizer__text_valid(text, a->text_size, code->name))
			return -EBADMSG;
		code->name += (uint32_t)codes->size;
	}
	return keep_text(codes, text, a->text_size) ? -ENOMEM : (ssize_t)a->n;
}

int symbolizer__classify(struct symbolizer *s, int module, const uint64_t *addresses, size_t n,
			 struct spin_record *codes)
{
	struct codes all = {.records = codes};
	const struct symbolizer_question q = {
		.type = MESSAGE_SPIN,
		.batch = BATCH,
		.with_file = true,
		.addresses = addresses,
		.n = n,
		.take = take_codes,
		.answers = &all,
	};
	int err = symbolizer__ask(s, module, &q);

	free(s->spin_text);
	s->spin_text = all.text;
	return err;
}

const char *symbolizer__procedure(const struct symbolizer *s, const struct spin_record *code)
{
	return s->spin_text + code->name;
}
