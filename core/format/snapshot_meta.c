/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/format/snapshot_meta.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "core/format/json_fields.h"
#include "core/format/rounds_meta.h"
#include "core/format/what_if_meta.h"
#include "core/format/timeline_meta.h"
#include "core/util/string_table.h"

#define SCHEMA	   "quartz.meta/v1"
#define MAX_LENGTH (64u << 20)
#define MAX_GROWTH                                                                                 \
	24 /* parsed; lists of small numbers take 20 times their length, what quartzd writes 13 */
#define SMALL (64u << 20)

/* ---- writing ---- */

struct writer {
	const struct qz_profile *p;
	FILE *out;
	bool failed;
};

static void put_fields(struct writer *w, char before, const struct qz_field *fields,
		       const void *base)
{
	w->failed = qz_json_fields__print(w->out, before, fields, base) || w->failed;
}

static void put_text(struct writer *w, const char *s)
{
	w->failed = qz_json_fields__print_text(w->out, s) || w->failed;
}

static void put_each(struct writer *w, const char *name, uint32_t n,
		     void put_one(struct writer *w, uint32_t i))
{
	fprintf(w->out, ",\"%s\":[", name);
	for (uint32_t i = 0; !w->failed && i < n; i++) {
		if (i)
			fputc(',', w->out);
		put_one(w, i);
	}
	fputc(']', w->out);
}

static void put_object_of(struct writer *w, const char *name, const struct qz_field *fields,
			  const void *base)
{
	fprintf(w->out, ",\"%s\":", name);
	put_fields(w, '{', fields, base);
	fputc('}', w->out);
}

static void put_scope(struct writer *w, uint32_t i)
{
	put_fields(w, '{', qz_scope_fields, &w->p->scopes[i]);
	fputc('}', w->out);
}

static void put_thread(struct writer *w, uint32_t i)
{
	put_fields(w, '{', qz_thread_fields, &w->p->threads[i]);
	fputc('}', w->out);
}

static void put_object(struct writer *w, uint32_t i)
{
	put_fields(w, '{', qz_object_fields, &w->p->objects[i]);
	fputc('}', w->out);
}

static void put_cause(struct writer *w, uint32_t i)
{
	put_text(w, w->p->causes[i]);
}

/* Two numbers for each procedure: of its module, and its kind. */
static void put_procedures(struct writer *w)
{
	struct qz_string_table modules = {0};

	fputs(",\"procedures\":[", w->out);
	for (uint32_t i = 0; !w->failed && i < w->p->nprocedures; i++) {
		int64_t module = qz_string_table__intern(&modules, w->p->procedures[i].module);

		w->failed = module < 0;
		fprintf(w->out, "%s%" PRId64 ",%u", i ? "," : "", module,
			(unsigned int)w->p->procedures[i].kind);
	}
	fputs("],\"modules\":[", w->out);
	for (uint32_t i = 0; !w->failed && i < modules.n; i++) {
		if (i)
			fputc(',', w->out);
		put_text(w, modules.all[i]);
	}
	fputc(']', w->out);
	qz_string_table__free(&modules);
}

/* The procedure of each. */
static void put_part(struct writer *w, uint32_t i)
{
	fprintf(w->out, "%u", w->p->parts[i].procedure);
}

/* Four numbers for each pair; an unknown caller is QZ_NONE. */
static void put_call(struct writer *w, uint32_t i)
{
	const struct qz_call_count *c = &w->p->calls[i];

	fprintf(w->out, "%u,%u,%u,%" PRIu64, c->scope, c->caller, c->callee, c->count);
}

/* The schema comes first, where qz_snapshot_meta__is_ours looks for it. */
static void put_meta(struct writer *w)
{
	const struct qz_profile *p = w->p;

	fputs("{\"schema\":\"" SCHEMA "\"", w->out);
	put_fields(w, ',', qz_run_fields, p);
	put_object_of(w, "ledger", qz_ledger_fields, &p->ledger);
	put_each(w, "scopes", p->nscopes, put_scope);
	put_each(w, "threads", p->nthreads, put_thread);
	put_each(w, "objects", p->nobjects, put_object);
	put_each(w, "causes", p->ncauses, put_cause);
	put_procedures(w);
	if (p->nparts)
		put_each(w, "parts", p->nparts, put_part);
	if (p->ncalls)
		put_each(w, "calls", p->ncalls, put_call);
	if (p->ceiling_ppm || qz_costs__sum(&p->costs))
		put_object_of(w, "costs", qz_cost_fields, p);
	if (p->instants.rate_hz)
		w->failed = qz_rounds_meta__print(w->out, p) || w->failed;
	if (p->nwhat_ifs)
		w->failed = qz_what_if_meta__print(w->out, p) || w->failed;
	if (p->timeline && p->timeline->n)
		qz_timeline_meta__print(w->out, p->timeline);
	fputs("}\n", w->out);
}

/* The text as it grows; open_memstream(3) takes up to three times as much. */
struct text {
	char *bytes;
	size_t size, room;
};

static ssize_t append(void *context, const char *bytes, size_t size)
{
	struct text *text = context;

	if (text->room - text->size < size) {
		size_t room = 2 * (text->room + size);
		char *grown = realloc(text->bytes, room);

		if (!grown)
			return 0;
		text->bytes = grown;
		text->room = room;
	}
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	return (ssize_t)size;
}

char *qz_snapshot_meta__write(const struct qz_profile *p)
{
	static const cookie_io_functions_t growing = {.write = append};
	struct writer w = {.p = p};
	struct text text = {0};

	w.out = fopencookie(&text, "w", growing);
	if (!w.out)
		return NULL;
	__fsetlocking(w.out, FSETLOCKING_BYCALLER);
	put_meta(&w);
	fputc('\0', w.out);
	w.failed = ferror(w.out) || w.failed;
	if (!fclose(w.out) && !w.failed)
		return text.bytes;
	free(text.bytes);
	errno = ENOMEM;
	return NULL;
}

/* ---- reading ---- */

bool qz_snapshot_meta__is_ours(const char *text)
{
	static const char start[] = "{\"schema\":\"quartz.meta/";

	return !strncmp(text, start, sizeof(start) - 1);
}

/*
 * About as many bytes as Jansson makes of it: what a value, array, object or half of a string takes that
 * is as small as can be. Such characters within a string count as well, which does no harm.
 */
static uint64_t parsed_size(const char *text, size_t length)
{
	uint64_t size = length;

	for (const char *c = text; *c; c++)
		size += *c == ',' ? 40 : *c == '[' ? 140 : *c == '{' ? 230 : *c == '"' ? 45 : 0;
	return size;
}

static bool too_large(const char *text)
{
	size_t length = strlen(text);
	uint64_t parsed = length > MAX_LENGTH ? UINT64_MAX : parsed_size(text, length);

	return parsed > SMALL && parsed / MAX_GROWTH > length;
}

json_t *qz_snapshot_meta__parse(const char *text)
{
	json_error_t error = {0};
	const char *schema;
	json_t *meta;

	if (too_large(text)) {
		errno = EFBIG;
		return NULL;
	}
	meta = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!meta) {
		enum json_error_code code = json_error_code(&error);

		/* Jansson does not always say that memory was short, but then it says nothing. */
		errno = code == json_error_out_of_memory || code == json_error_unknown ? ENOMEM
										       : EBADMSG;
		return NULL;
	}
	schema = json_string_value(json_object_get(meta, "schema"));
	if (!schema || strcmp(schema, SCHEMA) != 0) {
		json_decref(meta);
		errno = ENOTSUP;
		return NULL;
	}
	return meta;
}

/* The estimator multiplies level times by their level, and reports add them up. */
static int check_levels(const struct qz_scope *scope)
{
	int64_t cpu_ns = 0, sum_ns = 0;

	for (uint32_t n = 0; n < scope->nlevels; n++) {
		int64_t product;

		if (__builtin_mul_overflow(scope->level_ns[n], n, &product) ||
		    __builtin_add_overflow(cpu_ns, product, &cpu_ns) ||
		    __builtin_add_overflow(sum_ns, scope->level_ns[n], &sum_ns))
			return -EBADMSG;
	}
	return 0;
}

static int read_scope(const json_t *object, struct qz_profile *p)
{
	struct qz_scope scope = {0};
	int err = qz_json_fields__read(object, qz_scope_fields, &scope);

	err = err ? err : check_levels(&scope);
	if (!err) {
		int64_t index = qz_profile__add_scope(p, &scope);

		err = index < 0 ? (int)index : 0;
	}
	if (!err) {
		struct qz_scope *added = &p->scopes[p->nscopes - 1];

		added->stack_ends = scope.stack_ends;
		added->nstack_ends = scope.nstack_ends;
		scope.stack_ends = NULL;
		scope.nstack_ends = 0;
	}
	qz_fields__free(&scope, qz_scope_fields);
	return err;
}

static int read_thread(const json_t *object, struct qz_profile *p)
{
	struct qz_thread thread = {0};
	int err = qz_json_fields__read(object, qz_thread_fields, &thread);

	if (!err) {
		int64_t index = qz_profile__add_thread(p, &thread);

		err = index < 0 ? (int)index : 0;
	}
	qz_fields__free(&thread, qz_thread_fields);
	return err;
}

/* Adds value to a sum that must stay below 2^63. */
static bool sum_exceeds(int64_t *sum, uint64_t value)
{
	return __builtin_add_overflow(*sum, (int64_t)value, sum);
}

/* Reports add up the figures of all objects. */
static int check_sums(const struct qz_profile *p)
{
	for (const struct qz_field *f = qz_object_fields; f->name; f++) {
		int64_t sum = 0;

		for (uint32_t i = 0; f->uses & QZ_ADDS && i < p->nobjects; i++) {
			const void *at = (const char *)&p->objects[i] + f->at;

			for (uint32_t k = 0; k < f->n; k++)
				if (sum_exceeds(&sum, ((const uint64_t *)at)[k]))
					return -EBADMSG;
		}
	}
	return 0;
}

static int read_object(const json_t *json, struct qz_profile *p)
{
	struct qz_object o = {0};
	uint32_t before = p->nobjects;
	int err = qz_json_fields__read(json, qz_object_fields, &o);

	if (!err) {
		int64_t index = qz_waits__intern_object(p, &o);

		err = index < 0 ? (int)index : index == before ? 0 : -EBADMSG;
	}
	if (!err) {
		p->objects[before].grouped = o.grouped;
		qz_fields__add(&p->objects[before], &o, qz_object_fields);
	}
	qz_fields__free(&o, qz_object_fields);
	return err;
}

static int read_cause(const json_t *text, struct qz_profile *p)
{
	uint32_t before = p->ncauses;
	char *name = NULL;
	int err = qz_json_fields__get_text(text, &name);

	if (!err) {
		int64_t index = qz_waits__intern_cause(p, name);

		err = index < 0 ? (int)index : index == before ? 0 : -EBADMSG;
	}
	free(name);
	return err;
}

static int read_each(const json_t *array, struct qz_profile *p,
		     int (*read_one)(const json_t *object, struct qz_profile *p))
{
	int err = json_is_array(array) ? 0 : -EBADMSG;

	for (size_t i = 0; !err && i < json_array_size(array); i++)
		err = read_one(json_array_get(array, i), p);
	return err;
}

/* Snapshots of earlier versions have neither causes nor objects. */
static int read_waiting(const json_t *meta, struct qz_profile *p)
{
	const json_t *causes = json_object_get(meta, "causes");
	const json_t *objects = json_object_get(meta, "objects");
	int err = causes ? read_each(causes, p, read_cause) : 0;

	if (!err && objects)
		err = read_each(objects, p, read_object);
	return err ? err : check_sums(p);
}

int qz_snapshot_meta__fill(const json_t *meta, struct qz_profile *p)
{
	const json_t *costs = json_object_get(meta, "costs");
	int err = qz_json_fields__read(meta, qz_run_fields, p);

	if (!err && costs)
		err = qz_json_fields__read(costs, qz_cost_fields, p);
	if (!err && p->halvings > QZ_MAX_HALVINGS)
		err = -EBADMSG;
	if (!err)
		err = qz_json_fields__read(json_object_get(meta, "ledger"), qz_ledger_fields,
					   &p->ledger);
	if (!err)
		err = read_each(json_object_get(meta, "scopes"), p, read_scope);
	if (!err)
		err = read_each(json_object_get(meta, "threads"), p, read_thread);
	if (!err)
		err = read_waiting(meta, p);
	if (err == -EINVAL)
		return -EBADMSG;
	return err == -E2BIG ? -EFBIG : err;
}

int qz_snapshot_meta__procedure(const json_t *meta, size_t index, struct qz_procedure *proc)
{
	const json_t *procedures = json_object_get(meta, "procedures");
	const json_t *modules = json_object_get(meta, "modules");
	uint64_t module, kind;

	if (qz_json_fields__get_integer(json_array_get(procedures, 2 * index), UINT32_MAX,
					&module) ||
	    qz_json_fields__get_integer(json_array_get(procedures, 2 * index + 1),
					QZ_PROCEDURE_KINDS - 1, &kind))
		return -EBADMSG;
	proc->kind = (uint32_t)kind;
	return qz_json_fields__get_text(json_array_get(modules, module), &proc->module);
}

/* The count of the pair whose numbers begin at `at`. -EBADMSG for one that was there before. */
static int read_call(const json_t *array, size_t at, struct qz_profile *p, int64_t *sum)
{
	uint64_t scope, caller, callee, count;
	uint32_t before = p->ncalls;
	int64_t index;

	if (qz_json_fields__get_integer(json_array_get(array, at), UINT32_MAX, &scope) ||
	    qz_json_fields__get_integer(json_array_get(array, at + 1), UINT32_MAX, &caller) ||
	    qz_json_fields__get_integer(json_array_get(array, at + 2), UINT32_MAX, &callee) ||
	    qz_json_fields__get_integer(json_array_get(array, at + 3), INT64_MAX, &count) ||
	    sum_exceeds(sum, count))
		return -EBADMSG;
	index = qz_call_counts__intern(p, &(struct qz_call_count) {scope, caller, callee, 0});
	if (index < 0)
		return index == -EINVAL ? -EBADMSG : index == -E2BIG ? -EFBIG : (int)index;
	if (index != before)
		return -EBADMSG;
	p->calls[index].count = count;
	return 0;
}

int qz_snapshot_meta__calls(const json_t *meta, struct qz_profile *p)
{
	const json_t *array = json_object_get(meta, "calls");
	size_t n = json_array_size(array);
	int64_t sum = 0;
	int err = array && (!json_is_array(array) || n % 4) ? -EBADMSG : 0;

	for (size_t i = 0; !err && i < n; i += 4)
		err = read_call(array, i, p, &sum);
	return err;
}

size_t qz_snapshot_meta__procedures(const json_t *meta)
{
	return json_array_size(json_object_get(meta, "procedures")) / 2;
}

int qz_snapshot_meta__part(const json_t *meta, size_t index, struct qz_procedure_part *part)
{
	const json_t *parts = json_object_get(meta, "parts");
	uint64_t procedure;

	if (qz_json_fields__get_integer(json_array_get(parts, index), UINT32_MAX - 1, &procedure))
		return -EBADMSG;
	part->procedure = (uint32_t)procedure;
	return 0;
}
