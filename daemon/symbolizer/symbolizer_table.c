/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/symbolizer/symbolizer_private.h"

#define TABLE_MS 5000
#define PAGE	 4096

static int request(struct symbolizer *s, uint32_t number, uint32_t flags)
{
	const struct table_answer *a = &s->answer.table;
	struct table_request request = {.module = number, .flags = flags};
	struct symbolizer_request r = {
		.bytes = &request,
		.length = sizeof(request),
		.type = MESSAGE_TABLE,
		.fds = &s->modules[number]->fd,
		.nfds = 1,
		.deadline_ms = TABLE_MS,
	};
	ssize_t length = symbolizer__exchange(s, &r, number);

	if (length < 0)
		return (int)length;
	if (length != sizeof(*a) || a->error > 0 || a->nsegments > TABLE_MAX_SEGMENTS ||
	    a->n > TABLE_MAX_ROWS || (!a->error && a->n == 0))
		return symbolizer__accident(s, number, -EBADMSG);
	return a->error;
}

static int request_table(struct symbolizer *s, uint32_t number)
{
	return request(s, number, 0);
}

static int request_derived(struct symbolizer *s, uint32_t number)
{
	return request(s, number, TABLE_DERIVED);
}

/* Whether the rows have an order and kinds that exist; *next is the lowest pc that may follow. */
static bool rows_valid(const struct qz_unwind_row *rows, size_t n, uint64_t *next)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].pc < *next || QZ_UNWIND_CFA(rows[i].kind) >= QZ_CFA_KINDS ||
		    QZ_UNWIND_RBP(rows[i].kind) > QZ_RBP_RBP)
			return false;
		*next = (uint64_t)rows[i].pc + 1;
	}
	return true;
}

/* Receives the n rows that were announced. */
static int take_rows(struct symbolizer *s, uint32_t module, struct qz_unwind_row *rows, uint32_t n)
{
	uint64_t next = 0;

	for (uint32_t done = 0; done < n;) {
		ssize_t length = symbolizer_child__more(&s->child, MESSAGE_ROWS, &s->answer);
		size_t some, size = (size_t)length - sizeof(struct rows_message);

		if (length < 0)
			return symbolizer__accident(s, module, (int)length);
		some = size / sizeof(*rows);
		if (some == 0 || size % sizeof(*rows) || some > n - done ||
		    !rows_valid(s->answer.rows.rows, some, &next))
			return symbolizer__accident(s, module, -EBADMSG);
		memcpy(rows + done, s->answer.rows.rows, size);
		done += (uint32_t)some;
	}
	return 0;
}

static void keep_layout(struct symbolizer_table *table, const struct table_answer *a)
{
	*table = (struct symbolizer_table) {
		.base = a->base,
		.nsegments = a->nsegments,
		.stats = a->stats,
	};
	for (uint32_t i = 0; i < a->nsegments; i++)
		table->segments[i] = (struct symbolizer_segment) {
			a->segments[i].vaddr, a->segments[i].offset, a->segments[i].size};
}

/* As symbolizer__load(): a child whose memory is full of others is replaced, a file that is none refused. */
static int open_table(struct symbolizer *s, uint32_t number, bool derived)
{
	struct symbolizer_module *m = s->modules[number];
	int err = m->error;

	if (!err && !symbolizer__may_ask(s, (int)number))
		err = -EAGAIN;
	if (err)
		return err;
	err = symbolizer__try(s, number, derived ? request_derived : request_table);
	if (err && err != -ENODATA && err != -E2BIG && err != -ENOMEM && !m->error &&
	    !symbolizer__is_passing(err)) {
		err = -ENOEXEC;
		symbolizer__refuse(s, m, err);
	}
	return err;
}

int symbolizer__unwind_table(struct symbolizer *s, int module, bool derived,
			     struct qz_unwind_row **rows, uint32_t *n,
			     struct symbolizer_table *table)
{
	struct symbolizer_table layout;
	struct qz_unwind_row *all;
	uint32_t count;
	int err;

	if (!symbolizer__find_module(s, module))
		return -EINVAL;
	err = open_table(s, (uint32_t)module, derived);
	if (err)
		return err;
	keep_layout(&layout, &s->answer.table);
	count = s->answer.table.n;
	all = malloc(count * sizeof(*all));
	if (!all) {
		symbolizer__stop_child(s); /* the rows under way have no taker */
		return -ENOMEM;
	}
	err = take_rows(s, (uint32_t)module, all, count);
	if (!err && symbolizer__was_written(s, s->modules[module]))
		err = -ESTALE;
	if (err) {
		free(all);
		return err;
	}
	*rows = all;
	*n = count;
	*table = layout;
	return 0;
}

bool symbolizer_table__vaddr(const struct symbolizer_table *table, uint64_t offset, uint64_t *vaddr)
{
	for (uint32_t i = 0; i < table->nsegments; i++) {
		const struct symbolizer_segment *s = &table->segments[i];
		uint64_t start = s->offset & ~(uint64_t)(PAGE - 1);

		if (offset >= start && offset - start < s->size + (s->offset - start)) {
			*vaddr = s->vaddr + offset - s->offset;
			return true;
		}
	}
	return false;
}
