/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/symbolizer/symbolizer_private.h"
#include "daemon/symbolizer/table_cache.h"

#define TABLE_MS 5000
#define PAGE	 4096

static bool is_answer(const struct table_answer *a)
{
	return a->error <= 0 && a->nsegments <= TABLE_MAX_SEGMENTS && a->n <= TABLE_MAX_ROWS &&
	       (a->error || a->n) && qz_python_layout__is_valid(&a->python);
}

static int request_table(struct symbolizer *s, uint32_t number)
{
	const struct table_answer *a = &s->answer.table;
	struct symbolizer_request r = {
		.bytes = &s->request.table,
		.length = sizeof(s->request.table),
		.type = MESSAGE_TABLE,
		.fds = &s->modules[number]->fd,
		.nfds = 1,
		.deadline_ms = TABLE_MS,
	};
	ssize_t length;

	s->given = s->given == GIVEN_NONE || s->given == s->giving ? s->giving : GIVEN_OTHERS;
	length = symbolizer__exchange(s, &r, number);
	if (length < 0)
		return (int)length;
	if (length != sizeof(*a) || !is_answer(a))
		return symbolizer__accident(s, number, -EBADMSG);
	return a->error;
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
		.python = a->python,
	};
	for (uint32_t i = 0; i < a->nsegments; i++)
		table->segments[i] = (struct symbolizer_segment) {
			a->segments[i].vaddr, a->segments[i].offset, a->segments[i].size};
}

/* As symbolizer__load(): a child whose memory is full of others is replaced. */
static int open_table(struct symbolizer *s, uint32_t number, const struct table_request *request)
{
	if (!symbolizer__may_ask(s, (int)number))
		return -EAGAIN;
	s->request.table = *request;
	return symbolizer__try(s, number, request_table);
}

/* Asks the child. *answer is undefined on failure, but for its error. */
static int ask_rows(struct symbolizer *s, uint32_t number, const struct table_request *request,
		    struct table_answer *answer, struct qz_unwind_row **rows)
{
	int err = open_table(s, number, request);

	*rows = NULL;
	*answer = (struct table_answer) {.error = err};
	if (err)
		return err;
	*answer = s->answer.table;
	answer->header = (struct message_header) {0};
	*rows = malloc(answer->n * sizeof(**rows));
	if (!*rows) {
		symbolizer__stop_child(s); /* the rows under way have no taker */
		return -ENOMEM;
	}
	return take_rows(s, number, *rows, answer->n);
}

/* ---- rows of earlier runs ---- */

static bool describe(const struct symbolizer *s, const struct symbolizer_module *m,
		     struct table_cache_file *file)
{
	return m->kind == SYMBOLIZER_VDSO
		       ? table_cache__describe_vdso(s->options.tables, m->fd, file)
		       : table_cache__describe(s->options.tables, m->fd, file);
}

/* Whether an answer is one for as long as the file is the same. */
static bool stays(int err)
{
	return !err || err == -ENODATA || err == -E2BIG || err == -ENOEXEC;
}

/* The files are root's, but bits may change by themselves. */
static bool find_kept(const struct symbolizer *s, const struct table_cache_key *key,
		      struct table_answer *answer, struct qz_unwind_row **rows)
{
	uint64_t next = 0;

	if (!table_cache__find(s->options.tables, key, answer, rows))
		return false;
	if (is_answer(answer) && stays(answer->error) && rows_valid(*rows, answer->n, &next))
		return true;
	free(*rows);
	*rows = NULL;
	return false;
}

/*
 * Rows that are to be kept are made by a child that was given no file which could have taken it over, except for one of
 * the same file system. key is NULL where none are kept.
 */
static int make_rows(struct symbolizer *s, uint32_t number, const struct table_request *request,
		     const struct table_cache_key *key, struct table_answer *answer,
		     struct qz_unwind_row **rows)
{
	struct symbolizer_module *m = s->modules[number];
	struct table_cache_file now;
	int err;

	s->giving = key ? key->file.device : GIVEN_OTHERS;
	if (key && s->given != GIVEN_NONE && s->given != s->giving)
		symbolizer__stop_child(s);
	err = ask_rows(s, number, request, answer, rows);
	if (key && s->given == s->giving && stays(err) && describe(s, m, &now) &&
	    !memcmp(&now, &key->file, sizeof(now)))
		table_cache__keep(s->options.tables, key, answer, *rows);
	return err;
}

/* The error of an answer about a module: of one that is no good, for ever. */
static int judge(struct symbolizer *s, struct symbolizer_module *m, int err)
{
	if (!err && symbolizer__was_written(s, m))
		return -ESTALE;
	if (!err || err == -ENODATA || err == -E2BIG || err == -ENOMEM || m->error ||
	    symbolizer__is_passing(err))
		return err;
	symbolizer__refuse(s, m, -ENOEXEC);
	return -ENOEXEC;
}

/* Of what the request is for; table may be NULL. */
static int get_rows(struct symbolizer *s, int module, uint64_t from, uint64_t to,
		    struct qz_unwind_row **rows, uint32_t *n, struct symbolizer_table *table)
{
	const struct table_request request = {.module = (uint32_t)module, .from = from, .to = to};
	struct symbolizer_module *m = symbolizer__find_module(s, module);
	struct table_cache_key key = {.from = from, .to = to};
	struct qz_unwind_row *all = NULL;
	struct table_answer answer;
	bool kept;
	int err;

	if (!m || m->error)
		return m ? m->error : -EINVAL;
	kept = describe(s, m, &key.file);
	if (kept && find_kept(s, &key, &answer, &all))
		err = answer.error;
	else
		err = make_rows(s, (uint32_t)module, &request, kept ? &key : NULL, &answer, &all);
	err = judge(s, m, err);
	if (err) {
		free(all);
		return err;
	}
	*rows = all;
	*n = answer.n;
	if (table)
		keep_layout(table, &answer);
	return 0;
}

int symbolizer__unwind_table(struct symbolizer *s, int module, struct qz_unwind_row **rows,
			     uint32_t *n, struct symbolizer_table *table)
{
	return get_rows(s, module, 0, 0, rows, n, table);
}

int symbolizer__derive(struct symbolizer *s, int module, uint64_t from, uint64_t to,
		       struct qz_unwind_row **rows, uint32_t *n)
{
	return from < to ? get_rows(s, module, from, to, rows, n, NULL) : -EINVAL;
}

uint64_t symbolizer_table__end(const struct symbolizer_table *table)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < table->nsegments; i++) {
		uint64_t at = table->segments[i].vaddr + table->segments[i].size - table->base;

		if (at > end)
			end = at;
	}
	return end;
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
