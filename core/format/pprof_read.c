/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/format/pprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/gzip.h"
#include "core/format/rounds_meta.h"
#include "core/format/what_if_meta.h"
#include "core/format/snapshot_meta.h"
#include "core/format/timeline_meta.h"
#include "core/format/pprof_size.h"
#include "core/format/pprof_types.h"
#include "core/format/profile.pb-c.h"
#include "core/util/utf8.h"

/*
 * No file that quartzd writes comes near these. A message that quartzd writes takes some ten times its size in
 * memory, others up to 40 times; a report takes a few numbers for each procedure and level.
 */
#define MAX_INFLATED  ((size_t)256 << 20)
#define MAX_UNPACKED  ((size_t)1 << 30)
#define MAX_GROWTH    20 /* of messages that take more than SMALL */
#define SMALL	      ((size_t)64 << 20)
#define MAX_CROSSINGS ((uint64_t)1 << 27) /* (procedures, threads, objects) * (levels, causes) */

static const char damaged[] = "not a whole gzip'd pprof file";
static const char bad_index[] = "damaged: something refers to what is not there";
static const char bad_number[] = "damaged: a number is out of range";
static const char bad_meta[] = "damaged: what Quartz noted about the run cannot be understood";
static const char twice[] = "damaged: the same thing stands there twice";
static const char foreign[] = "a pprof file that Quartz did not write";
static const char newer[] = "written by another version of Quartz";
static const char too_large[] = "larger than Quartz reads";
static const char no_memory[] = "memory is short";
static const char unreadable[] = "cannot be read";

struct reader {
	Pprof__Profile *m;
	struct qz_profile *p;
	json_t *meta;
	const char *why;
	int64_t sums[QZ_PPROF_TYPES]; /* of the values of all samples */
	int64_t squares;
};

/* Returns err, which is not 0, and notes why; memory and size need no other reason. */
static int fail(struct reader *r, int err, const char *why)
{
	r->why = err == -ENOMEM ? no_memory : err == -EFBIG || err == -E2BIG ? too_large : why;
	return err == -EINVAL ? -EBADMSG : err == -E2BIG ? -EFBIG : err;
}

/* An entity must get the index that it has in the file, so that indices can be used as they are. */
static int check_index(struct reader *r, int64_t index, size_t expected)
{
	if (index < 0)
		return fail(r, (int)index, bad_index);
	return (uint64_t)index == expected ? 0 : fail(r, -EBADMSG, twice);
}

static int string_at(struct reader *r, int64_t number, char **s)
{
	if (number < 0 || (uint64_t)number >= r->m->n_string_table)
		return fail(r, -EBADMSG, bad_index);
	*s = r->m->string_table[number];
	return 0;
}

static int number_in(struct reader *r, int64_t number, int64_t max, uint64_t *value)
{
	if (number < 0 || number > max)
		return fail(r, -EBADMSG, bad_number);
	*value = (uint64_t)number;
	return 0;
}

/* Takes an id, from 1 to n, to an index. */
static int id_in(struct reader *r, uint64_t id, uint32_t n, uint32_t *index)
{
	if (id == 0 || id > n)
		return fail(r, -EBADMSG, bad_index);
	*index = (uint32_t)(id - 1);
	return 0;
}

/* ---- entities ---- */

static int read_mapping(struct reader *r, size_t i)
{
	const Pprof__Mapping *m = r->m->mapping[i];
	struct qz_mapping map = {
		.start = m->memory_start, .limit = m->memory_limit, .offset = m->file_offset};
	int err = string_at(r, m->filename, &map.path);

	err = err ? err : string_at(r, m->build_id, &map.build_id);
	if (err)
		return err;
	if (m->id != i + 1)
		return fail(r, -EBADMSG, bad_index);
	return check_index(r, qz_profile__intern_mapping(r->p, &map), i);
}

static int read_part(struct reader *r, size_t i, char *file)
{
	struct qz_procedure_part part = {.file = file};
	size_t index = i - r->p->nprocedures;
	int err = qz_snapshot_meta__part(r->meta, index, &part);

	if (err)
		return fail(r, err, bad_meta);
	return check_index(r, qz_profile__intern_part(r->p, &part), index);
}

/* Those that the metadata has no procedure for are parts of procedures, in other files. */
static int read_function(struct reader *r, size_t i)
{
	const Pprof__Function *m = r->m->function[i];
	struct qz_procedure proc = {0};
	uint64_t line = 0;
	int err = string_at(r, m->name, &proc.name);

	err = err ? err : string_at(r, m->filename, &proc.file);
	err = err ? err : number_in(r, m->start_line, UINT32_MAX, &line);
	if (err)
		return err;
	if (m->id != i + 1)
		return fail(r, -EBADMSG, bad_index);
	if (i >= qz_snapshot_meta__procedures(r->meta))
		return read_part(r, i, proc.file);
	proc.line = (uint32_t)line;
	err = qz_snapshot_meta__procedure(r->meta, i, &proc);
	if (err)
		return fail(r, err, bad_meta);
	err = check_index(r, qz_profile__intern_procedure(r->p, &proc), i);
	free(proc.module);
	return err;
}

static int read_lines(struct reader *r, const Pprof__Location *m, struct qz_line *lines)
{
	uint64_t line;

	if (m->n_line > QZ_MAX_INLINED)
		return fail(r, -EFBIG, NULL);
	for (size_t i = 0; i < m->n_line; i++) {
		uint32_t function;

		if (id_in(r, m->line[i]->function_id, r->p->nprocedures + r->p->nparts,
			  &function) ||
		    number_in(r, m->line[i]->line, UINT32_MAX, &line))
			return -EBADMSG;
		lines[i] = (struct qz_line) {.procedure = function, .line = (uint32_t)line};
		if (function >= r->p->nprocedures) {
			lines[i].part = function - r->p->nprocedures + 1;
			lines[i].procedure = r->p->parts[lines[i].part - 1].procedure;
		}
	}
	return 0;
}

static int read_location(struct reader *r, size_t i)
{
	const Pprof__Location *m = r->m->location[i];
	struct qz_line lines[QZ_MAX_INLINED];
	struct qz_location loc = {.address = m->address, .mapping = QZ_NONE, .lines = lines};
	int err = read_lines(r, m, lines);

	if (err)
		return err;
	if (m->id != i + 1)
		return fail(r, -EBADMSG, bad_index);
	loc.nlines = (uint32_t)m->n_line;
	if (m->mapping_id != 0) {
		if (id_in(r, m->mapping_id, r->p->nmappings, &loc.mapping))
			return -EBADMSG;
		loc.address +=
			r->p->mappings[loc.mapping].offset - r->p->mappings[loc.mapping].start;
	}
	return check_index(r, qz_profile__intern_location(r->p, &loc), i);
}

/* ---- samples ---- */

static int read_stack(struct reader *r, const Pprof__Sample *m, uint32_t *leaf)
{
	uint32_t node = 0;

	for (size_t i = m->n_location_id; i-- > 0;) {
		uint32_t location;
		int64_t next;

		if (id_in(r, m->location_id[i], r->p->nlocations, &location))
			return -EBADMSG;
		next = qz_profile__intern_node(r->p, node, location);
		if (next < 0)
			return fail(r, (int)next, bad_index);
		node = (uint32_t)next;
	}
	*leaf = node;
	return 0;
}

enum row_kind { SAMPLE, WAIT, WAKING };

/* What the labels and values of one pprof sample say. */
struct row {
	enum row_kind kind;
	uint32_t scope, level, busy, thread, object, cause, nominal, spinning, halvings, below,
		seen, in_block;
	uint64_t variance, handed, values[QZ_PPROF_TYPES];
};

static const struct {
	enum qz_pprof_word key;
	size_t field;
	uint32_t max;
} number_labels[] = {
	{QZ_WORD_SCOPE, offsetof(struct row, scope), UINT32_MAX - 1},
	{QZ_WORD_LEVEL, offsetof(struct row, level), UINT32_MAX - 1},
	{QZ_WORD_BUSY, offsetof(struct row, busy), UINT32_MAX - 1},
	{QZ_WORD_SPINNING, offsetof(struct row, spinning), 1},
	{QZ_WORD_RATE_HALVINGS, offsetof(struct row, halvings), QZ_MAX_HALVINGS},
	{QZ_WORD_THREAD_INDEX, offsetof(struct row, thread), UINT32_MAX - 1},
	{QZ_WORD_OBJECT_INDEX, offsetof(struct row, object), UINT32_MAX - 1},
	{QZ_WORD_CAUSE_INDEX, offsetof(struct row, cause), UINT32_MAX - 1},
	{QZ_WORD_NOMINAL, offsetof(struct row, nominal), UINT32_MAX - 1},
	{QZ_WORD_BELOW, offsetof(struct row, below), UINT32_MAX - 1},
	{QZ_WORD_SEEN, offsetof(struct row, seen), UINT32_MAX - 1},
	{QZ_WORD_IN_BLOCK, offsetof(struct row, in_block), UINT32_MAX - 1},
};

static int read_number(struct reader *r, const Pprof__Label *label, const char *key,
		       struct row *row)
{
	if (!strcmp(key, qz_pprof_words[QZ_WORD_VARIANCE]))
		return number_in(r, label->num, INT64_MAX, &row->variance) ? -EBADMSG : 0;
	if (!strcmp(key, qz_pprof_words[QZ_WORD_HANDED]))
		return number_in(r, label->num, INT64_MAX, &row->handed) ? -EBADMSG : 0;
	for (size_t i = 0; i < sizeof(number_labels) / sizeof(*number_labels); i++) {
		uint64_t number;

		if (strcmp(key, qz_pprof_words[number_labels[i].key]))
			continue;
		if (number_in(r, label->num, number_labels[i].max, &number))
			return -EBADMSG;
		*(uint32_t *)((char *)row + number_labels[i].field) = (uint32_t)number;
	}
	return 0;
}

static int read_kind(struct reader *r, const Pprof__Label *label, struct row *row)
{
	char *kind;

	if (string_at(r, label->str, &kind))
		return -EBADMSG;
	if (!strcmp(kind, qz_pprof_words[QZ_WORD_WAIT]))
		row->kind = WAIT;
	else if (!strcmp(kind, qz_pprof_words[QZ_WORD_WAKING]))
		row->kind = WAKING;
	else
		return fail(r, -EBADMSG, bad_index);
	return 0;
}

/* A label that is missing leaves its number as it is. */
static int read_labels(struct reader *r, const Pprof__Sample *m, struct row *row)
{
	for (size_t i = 0; i < m->n_label; i++) {
		char *key;

		if (string_at(r, m->label[i]->key, &key))
			return -EBADMSG;
		if (strcmp(key, qz_pprof_words[QZ_WORD_KIND])
			    ? read_number(r, m->label[i], key, row)
			    : read_kind(r, m->label[i], row))
			return -EBADMSG;
	}
	return 0;
}

static int read_values(struct reader *r, const Pprof__Sample *m, struct row *row)
{
	if (m->n_value != r->m->n_sample_type)
		return fail(r, -EBADMSG, bad_number);
	for (size_t i = 0; i < m->n_value; i++)
		if (number_in(r, m->value[i], INT64_MAX, &row->values[i]) ||
		    __builtin_add_overflow(r->sums[i], m->value[i], &r->sums[i]))
			return fail(r, -EBADMSG, bad_number);
	return 0;
}

/* Each of these adds one entity, which must be new. */

static int take_sample(struct reader *r, const struct row *row, uint32_t node)
{
	bool machine = row->scope < r->p->nscopes &&
		       r->p->scopes[row->scope].kind == QZ_SCOPE_MACHINE;
	struct qz_sample s = {
		.scope = row->scope,
		.thread = row->thread,
		.node = node,
		.level = row->level,
		.busy = row->busy == QZ_NONE ? row->level : row->busy,
		.object = row->object,
		.spinning = row->spinning,
		.halvings = (uint8_t)row->halvings,
		.below = row->below,
		.seen = row->seen,
		.in_block = row->in_block,
		.count = row->values[machine ? QZ_PPROF_MACHINE_SAMPLES : QZ_PPROF_SAMPLES],
		.cpu_ns = row->values[machine ? QZ_PPROF_MACHINE_CPU : QZ_PPROF_CPU],
		.norm_ns = row->values[machine ? QZ_PPROF_MACHINE_NORM_CPU : QZ_PPROF_NORM_CPU],
	};
	uint32_t before = r->p->nsamples;
	int64_t index = qz_profile__intern_sample(r->p, &s), square;
	int err = check_index(r, index, before);

	/* reports add up the weights of single samples, squared */
	if (__builtin_mul_overflow((int64_t)s.count, (int64_t)1 << 2 * s.halvings, &square) ||
	    __builtin_add_overflow(r->squares, square, &r->squares))
		return fail(r, -EBADMSG, bad_number);
	if (!err)
		r->p->samples[index] = s;
	return err;
}

static int take_wait(struct reader *r, const struct row *row, uint32_t node)
{
	uint32_t before = r->p->nwaits;
	int err =
		qz_waits__add(r->p, &(struct qz_wait) {.scope = row->scope,
						       .thread = row->thread,
						       .node = node,
						       .cause = row->cause,
						       .object = row->object,
						       .nominal = row->nominal,
						       .count = row->values[QZ_PPROF_WAITS],
						       .blocked_ns = row->values[QZ_PPROF_BLOCKED],
						       .ready_ns = row->values[QZ_PPROF_READY],
						       .variance = row->variance,
						       .handed = row->handed});

	return check_index(r, err ? err : (int64_t)r->p->nwaits - 1, before);
}

static int take_waking(struct reader *r, const struct row *row, uint32_t node)
{
	uint32_t before = r->p->nwakings;
	int err = qz_waits__add_waking(
		r->p, &(struct qz_waking) {.scope = row->scope,
					   .thread = row->thread,
					   .node = node,
					   .object = row->object,
					   .count = row->values[QZ_PPROF_WAKES],
					   .woken_ns = row->values[QZ_PPROF_WOKEN]});

	return check_index(r, err ? err : (int64_t)r->p->nwakings - 1, before);
}

static int read_sample(struct reader *r, size_t i)
{
	const Pprof__Sample *m = r->m->sample[i];
	struct row row = {.thread = QZ_NONE, .object = QZ_NONE, .busy = QZ_NONE, .cause = QZ_NONE};
	uint32_t node = 0;
	int err = read_stack(r, m, &node);

	err = err ? err : read_labels(r, m, &row);
	err = err ? err : read_values(r, m, &row);
	if (err)
		return err;
	switch (row.kind) {
	case WAIT:
		return take_wait(r, &row, node);
	case WAKING:
		return take_waking(r, &row, node);
	default:
		return take_sample(r, &row, node);
	}
}

/* ---- the message ---- */

static int read_each(struct reader *r, size_t n, int (*read_one)(struct reader *r, size_t i))
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = read_one(r, i);
	return err;
}

static int find_meta(struct reader *r)
{
	size_t n = r->m->n_string_table;

	if (n == 0 || !qz_snapshot_meta__is_ours(r->m->string_table[n - 1]))
		return fail(r, -ENOTSUP, foreign);
	r->meta = qz_snapshot_meta__parse(r->m->string_table[n - 1]);
	return r->meta ? 0 : fail(r, -errno, errno == ENOTSUP ? newer : bad_meta);
}

/* Snapshots of the first version have the first types only. */
static int check_sample_types(struct reader *r)
{
	size_t n = r->m->n_sample_type;

	if (n != QZ_PPROF_FIRST_TYPES && n != QZ_PPROF_LAST_TYPES && n != QZ_PPROF_TYPES)
		return fail(r, -ENOTSUP, foreign);
	for (size_t i = 0; i < n; i++) {
		char *name;

		if (string_at(r, r->m->sample_type[i]->type, &name))
			return -EBADMSG;
		if (strcmp(name, qz_pprof_words[qz_pprof_types[i].name]) != 0)
			return fail(r, -ENOTSUP, foreign);
	}
	return 0;
}

static int check_crossings(struct reader *r)
{
	uint64_t rows = (uint64_t)r->m->n_function + r->p->nthreads + r->p->nobjects;

	for (uint32_t i = 0; i < r->p->nscopes; i++)
		if (((uint64_t)r->p->scopes[i].nlevels + r->p->ncauses) * rows > MAX_CROSSINGS)
			return fail(r, -EFBIG, NULL);
	return 0;
}

static int read_calls(struct reader *r)
{
	int err = qz_snapshot_meta__calls(r->meta, r->p);

	err = err ? err : qz_rounds_meta__read(json_object_get(r->meta, "instants"), r->p);
	err = err ? err : qz_what_if_meta__read(json_object_get(r->meta, "what_ifs"), r->p);

	return err ? fail(r, err, bad_meta) : 0;
}

/* Once all is there that it has to add up to. */
static int read_timeline(struct reader *r)
{
	int err = qz_timeline_meta__read(json_object_get(r->meta, "timeline"), r->p);

	return err ? fail(r, err, bad_meta) : 0;
}

static int read_message(struct reader *r)
{
	int err = check_sample_types(r);

	for (size_t i = 0; i < r->m->n_string_table; i++)
		qz_utf8__restore(r->m->string_table[i]);
	err = err ? err : find_meta(r);
	if (err)
		return err;
	err = qz_snapshot_meta__fill(r->meta, r->p);
	if (err)
		return fail(r, err, bad_meta);
	err = check_crossings(r);
	err = err ? err : number_in(r, r->m->time_nanos, INT64_MAX, &r->p->wall_start_ns);
	err = err ? err : number_in(r, r->m->duration_nanos, INT64_MAX, &r->p->window_ns);
	err = err ? err : read_each(r, r->m->n_mapping, read_mapping);
	err = err ? err : read_each(r, r->m->n_function, read_function);
	err = err ? err : read_calls(r);
	err = err ? err : read_each(r, r->m->n_location, read_location);
	err = err ? err : read_each(r, r->m->n_sample, read_sample);
	return err ? err : read_timeline(r);
}

/* ---- unpacking ---- */

/* What unpacking may still allocate, and why it could not. */
struct budget {
	size_t left;
	int err;
};

static void *budget_alloc(void *data, size_t size)
{
	struct budget *b = data;
	void *memory = NULL;

	if (size > b->left) {
		b->err = -EFBIG;
		return NULL;
	}
	b->left -= size;
	memory = malloc(size);
	if (!memory)
		b->err = -ENOMEM;
	return memory;
}

static void budget_free(void *data, void *memory)
{
	free(memory);
}

/* Before anything is allocated. */
static int check_size(const void *data, size_t size)
{
	size_t unpacked = qz_pprof__unpacked_size(data, size);

	if (unpacked == SIZE_MAX)
		return -EBADMSG;
	return unpacked > MAX_UNPACKED || (unpacked > SMALL && unpacked / MAX_GROWTH > size)
		       ? -EFBIG
		       : 0;
}

struct qz_profile *qz_pprof__parse(const void *data, size_t size, const char **why)
{
	struct budget budget = {.left = MAX_UNPACKED, .err = -EBADMSG};
	ProtobufCAllocator allocator = {
		.alloc = budget_alloc, .free = budget_free, .allocator_data = &budget};
	struct reader r = {.p = qz_profile__new()};
	int err = check_size(data, size);

	r.m = err ? NULL : pprof__profile__unpack(&allocator, size, data);
	if (err)
		err = fail(&r, err, damaged);
	else if (!r.m)
		err = fail(&r, budget.err, damaged);
	else if (!r.p)
		err = fail(&r, -ENOMEM, NULL);
	else
		err = read_message(&r);
	json_decref(r.meta);
	if (r.m)
		pprof__profile__free_unpacked(r.m, &allocator);
	if (!err)
		return r.p;
	qz_profile__free(r.p);
	*why = r.why;
	errno = -err;
	return NULL;
}

struct qz_profile *qz_pprof__read(int fd, const char **why)
{
	struct qz_profile *p;
	uint8_t *data;
	size_t size;
	int err = qz_gzip__read(fd, MAX_INFLATED, &data, &size);

	if (err) {
		*why = err == -EBADMSG	? damaged
		       : err == -EFBIG	? too_large
		       : err == -ENOMEM ? no_memory
					: unreadable;
		errno = -err;
		return NULL;
	}
	p = qz_pprof__parse(data, size, why);
	err = errno;
	free(data);
	errno = err;
	return p;
}
