/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/pprof_meta.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "core/fields.h"
#include "core/fields_profile.h"
#include "core/moments_meta.h"
#include "core/strings.h"

#define SCHEMA	   "quartz.meta/v1"
#define MAX_LENGTH (64u << 20) /* parsed JSON takes some 20 times its length */

static const struct qz_field run_fields[] = {
	QZ_FIELD(TEXT, qz_profile, quartz_version), QZ_FIELD(TEXT, qz_profile, kernel),
	QZ_FIELD(TEXT, qz_profile, machine),	    QZ_FIELD(TEXT, qz_profile, event),
	QZ_FIELD(U32, qz_profile, rate_hz),	    QZ_FIELD(U32, qz_profile, processors),
	QZ_FIELD(BOOL, qz_profile, live),	    {0},
};

static const struct qz_field scope_fields[] = {
	QZ_FIELD(U32, qz_scope, kind),	     QZ_FIELD(I32, qz_scope, pid),
	QZ_FIELD(TEXT, qz_scope, comm),	     QZ_FIELD(TEXT, qz_scope, command),
	QZ_FIELD(U64, qz_scope, start_ns),   QZ_FIELD(U64, qz_scope, elapsed_ns),
	QZ_FIELD(U64, qz_scope, cpu_ns),     QZ_FIELD(U64, qz_scope, runnable_ns),
	QZ_FIELD(U64, qz_scope, samples),    QZ_FIELD(U64, qz_scope, truncated),
	QZ_FIELD(U64, qz_scope, unresolved), QZ_FIELD(U64, qz_scope, threads_seen),
	QZ_FIELD(U64, qz_scope, creations),  QZ_FIELD(U64, qz_scope, creations_lost),
	QZ_FIELD(BOOL, qz_scope, ended),     {0},
};

static const struct qz_field thread_fields[] = {
	QZ_FIELD(U32, qz_thread, scope),
	QZ_FIELD(I32, qz_thread, tid),
	QZ_FIELD(I32, qz_thread, pid),
	QZ_FIELD(TEXT, qz_thread, comm),
	QZ_FIELD(TEXT, qz_thread, name),
	QZ_FIELD(U64, qz_thread, start_ns),
	QZ_FIELD(U64, qz_thread, end_ns),
	QZ_FIELD(U64, qz_thread, cpu_ns),
	QZ_FIELD(U64, qz_thread, running_ns),
	QZ_FIELD(U64, qz_thread, ready_ns),
	QZ_FIELD(U64, qz_thread, blocked_ns),
	QZ_FIELD(U64, qz_thread, unknown_ns),
	QZ_FIELD(BOOL, qz_thread, ended),
	QZ_FIELD(BOOL, qz_thread, merged),
	{0},
};

static const struct qz_field object_fields[] = {
	QZ_FIELD(U32, qz_object, scope),
	QZ_FIELD(U32, qz_object, kind),
	QZ_FIELD(I32, qz_object, pid),
	QZ_FIELD(I64, qz_object, address), /* all 64 bits of it */
	QZ_FIELD(TEXT, qz_object, name),
	QZ_FIELD(TEXT, qz_object, module),
	QZ_FIELD(U32, qz_object, grouped),
	QZ_FIELD(U64, qz_object, waits),
	QZ_FIELD(U64, qz_object, wakes),
	QZ_FIELD(U64, qz_object, wait_ns),
	{0},
};

/* ---- writing ---- */

static json_t *write_ledger(const struct qz_ledger *l)
{
	json_t *object = qz_fields__object(qz_ledger_fields, l);
	bool failed =
		json_object_set_new(object, "losses", qz_fields__losses(l->losses, l->nlosses)) ||
		json_object_set_new(object, "events", qz_fields__losses(l->events, l->nevents));

	return qz_fields__unless(failed, object);
}

static json_t *write_modules(const struct qz_strings *modules)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < modules->n; i++)
		failed = json_array_append_new(array, qz_fields__text(modules->all[i])) != 0;
	return qz_fields__unless(failed, array);
}

/* The text as it grows: a value is freed as soon as it stands there, of thousands of scopes each. */
struct writer {
	const struct qz_profile *p;
	FILE *out;
	bool failed;
};

static void put(struct writer *w, json_t *value, size_t flags)
{
	w->failed = json_dumpf(value, w->out, JSON_COMPACT | JSON_ENCODE_ANY | flags) || w->failed;
	json_decref(value);
}

static void put_member(struct writer *w, const char *name, json_t *value)
{
	fprintf(w->out, ",\"%s\":", name);
	put(w, value, 0);
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

static uint64_t bounded(uint64_t value)
{
	return value < INT64_MAX ? value : INT64_MAX;
}

/*
 * Of what there are thousands, numbers are printed: a JSON object of each would take as much time as all
 * else that is done for a process that comes and goes.
 */
static void put_number(struct writer *w, const char *name, uint64_t value)
{
	fprintf(w->out, ",\"%s\":%" PRIu64, name, bounded(value));
}

static void put_numbers(struct writer *w, const char *name, const uint64_t *values, uint32_t n)
{
	fprintf(w->out, ",\"%s\":[", name);
	for (uint32_t i = 0; i < n; i++)
		fprintf(w->out, "%s%" PRIu64, i ? "," : "", bounded(values[i]));
	fputc(']', w->out);
}

static void put_field(struct writer *w, const struct qz_field *f, const char *at)
{
	switch (f->type) {
	case QZ_FIELD_U64:
		return put_number(w, f->name, *(const uint64_t *)at);
	case QZ_FIELD_U32:
		return put_number(w, f->name, *(const uint32_t *)at);
	case QZ_FIELD_I64:
		fprintf(w->out, ",\"%s\":%" PRId64, f->name, *(const int64_t *)at);
		break;
	case QZ_FIELD_I32:
		fprintf(w->out, ",\"%s\":%" PRId32, f->name, *(const int32_t *)at);
		break;
	case QZ_FIELD_BOOL:
		fprintf(w->out, ",\"%s\":%s", f->name, *(const bool *)at ? "true" : "false");
		break;
	case QZ_FIELD_TEXT:
		put_member(w, f->name, qz_fields__text(*(char *const *)at));
		break;
	}
}

/* Begins an object, of which the first field is a number of 32 bits. */
static void begin(struct writer *w, const struct qz_field *fields, const void *base)
{
	const char *start = base;

	fprintf(w->out, "{\"%s\":%" PRIu32, fields->name,
		*(const uint32_t *)(start + fields->offset));
	for (const struct qz_field *f = fields + 1; f->name; f++)
		put_field(w, f, start + f->offset);
}

static void put_scope(struct writer *w, uint32_t i)
{
	const struct qz_scope *scope = &w->p->scopes[i];

	begin(w, scope_fields, scope);
	put_numbers(w, "level_ns", scope->level_ns, scope->nlevels);
	put_member(w, "stack_ends", qz_fields__losses(scope->stack_ends, scope->nstack_ends));
	put_number(w, "spin_turns", scope->spin_turns);
	if (scope->limited)
		put_number(w, "limited", scope->limited);
	if (*scope->cgroup)
		put_member(w, "cgroup", qz_fields__text(scope->cgroup));
	fputc('}', w->out);
}

static void put_thread(struct writer *w, uint32_t i)
{
	begin(w, thread_fields, &w->p->threads[i]);
	fputc('}', w->out);
}

static void put_object(struct writer *w, uint32_t i)
{
	const struct qz_object *o = &w->p->objects[i];

	begin(w, object_fields, o);
	put_numbers(w, "queue_ns", o->queue_ns, QZ_QUEUE_LENGTHS);
	put_numbers(w, "arrivals", o->arrivals, QZ_QUEUE_LENGTHS);
	fputc('}', w->out);
}

static void put_cause(struct writer *w, uint32_t i)
{
	put(w, qz_fields__text(w->p->causes[i]), 0);
}

/* Two numbers for each procedure: of its module, and its kind. */
static void put_procedures(struct writer *w, struct qz_strings *modules)
{
	fprintf(w->out, ",\"procedures\":[");
	for (uint32_t i = 0; !w->failed && i < w->p->nprocedures; i++) {
		int64_t module = qz_strings__intern(modules, w->p->procedures[i].module);

		w->failed = module < 0;
		fprintf(w->out, "%s%" PRId64 ",%u", i ? "," : "", module,
			(unsigned int)w->p->procedures[i].kind);
	}
	fputc(']', w->out);
}

/* Four numbers for each pair; an unknown caller is QZ_NONE. */
static void put_calls(struct writer *w)
{
	fprintf(w->out, ",\"calls\":[");
	for (uint32_t i = 0; i < w->p->ncalls; i++) {
		const struct qz_call_count *c = &w->p->calls[i];

		fprintf(w->out, "%s%u,%u,%u,%" PRIu64, i ? "," : "", c->scope, c->caller, c->callee,
			c->count);
	}
	fputc(']', w->out);
}

/* The schema comes first, where qz_meta__is_ours looks for it. */
static void put_run(struct writer *w)
{
	json_t *run = json_object();
	bool failed = json_object_set_new(run, "schema", json_string(SCHEMA)) ||
		      qz_fields__write(run, run_fields, w->p);

	put(w, qz_fields__unless(failed, run), JSON_EMBED);
}

static void put_meta(struct writer *w, struct qz_strings *modules)
{
	const struct qz_profile *p = w->p;

	fputc('{', w->out);
	put_run(w);
	put_member(w, "ledger", write_ledger(&p->ledger));
	put_each(w, "scopes", p->nscopes, put_scope);
	put_each(w, "threads", p->nthreads, put_thread);
	put_each(w, "objects", p->nobjects, put_object);
	put_each(w, "causes", p->ncauses, put_cause);
	put_procedures(w, modules);
	put_member(w, "modules", write_modules(modules));
	if (p->ncalls)
		put_calls(w);
	if (p->ceiling_ppm)
		put_member(w, "costs", qz_fields__object(qz_cost_fields, p));
	if (p->wakes_sampled)
		put_member(w, "wakes_sampled", json_true());
	if (p->instants.rate_hz)
		put_member(w, "instants", qz_moments__write(p));
	fputs("}\n", w->out);
}

char *qz_meta__write(const struct qz_profile *p)
{
	struct qz_strings modules = {0};
	struct writer w = {.p = p};
	char *text = NULL;
	size_t size;

	w.out = open_memstream(&text, &size);
	if (!w.out)
		return NULL;
	__fsetlocking(w.out, FSETLOCKING_BYCALLER);
	put_meta(&w, &modules);
	qz_strings__free(&modules);
	w.failed = ferror(w.out) || w.failed;
	if (!fclose(w.out) && !w.failed)
		return text;
	free(text);
	errno = ENOMEM;
	return NULL;
}

/* ---- reading ---- */

bool qz_meta__is_ours(const char *text)
{
	static const char start[] = "{\"schema\":\"quartz.meta/";

	return !strncmp(text, start, sizeof(start) - 1);
}

json_t *qz_meta__parse(const char *text)
{
	json_error_t error = {0};
	const char *schema;
	json_t *meta;

	if (strlen(text) > MAX_LENGTH) {
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

static int read_losses(json_t *object, struct qz_loss **losses, uint32_t *nlosses)
{
	int err = json_is_object(object) ? 0 : -EBADMSG;
	uint64_t n;

	for (void *i = json_object_iter(object); !err && i; i = json_object_iter_next(object, i)) {
		err = qz_fields__get_integer(json_object_iter_value(i), INT64_MAX, &n);
		if (!err)
			err = qz_losses__add(losses, nlosses, json_object_iter_key(i), n);
	}
	return err;
}

static int read_ledger(const json_t *object, struct qz_ledger *l)
{
	int err = qz_fields__read(object, qz_ledger_fields, l);

	if (!err)
		err = read_losses(json_object_get(object, "losses"), &l->losses, &l->nlosses);
	if (!err)
		err = read_losses(json_object_get(object, "events"), &l->events, &l->nevents);
	return err;
}

/* The estimator multiplies level times by their level, and reports add them up. */
static int read_levels(const json_t *array, struct qz_scope *scope)
{
	int64_t cpu_ns = 0, sum_ns = 0;

	if (json_array_size(array) == 0)
		return -EBADMSG;
	if (json_array_size(array) > QZ_MAX_LEVELS)
		return -EFBIG;
	scope->nlevels = (uint32_t)json_array_size(array);
	scope->level_ns = calloc(scope->nlevels, sizeof(*scope->level_ns));
	if (!scope->level_ns)
		return -ENOMEM;
	for (uint32_t n = 0; n < scope->nlevels; n++) {
		int64_t product;

		if (qz_fields__get_integer(json_array_get(array, n), INT64_MAX,
					   &scope->level_ns[n]) ||
		    __builtin_mul_overflow(scope->level_ns[n], n, &product) ||
		    __builtin_add_overflow(cpu_ns, product, &cpu_ns) ||
		    __builtin_add_overflow(sum_ns, scope->level_ns[n], &sum_ns))
			return -EBADMSG;
	}
	return 0;
}

/* Snapshots of earlier versions have none of these. */
static int read_later(const json_t *object, struct qz_scope *scope)
{
	json_t *ends = json_object_get(object, "stack_ends");
	json_t *turns = json_object_get(object, "spin_turns");
	json_t *cgroup = json_object_get(object, "cgroup");
	json_t *limited = json_object_get(object, "limited");
	int err = cgroup ? qz_fields__get_text(cgroup, &scope->cgroup) : 0;

	if (err)
		return err;
	if (turns && qz_fields__get_integer(turns, INT64_MAX, &scope->spin_turns))
		return -EBADMSG;
	if (limited && qz_fields__get_integer(limited, INT64_MAX, &scope->limited))
		return -EBADMSG;
	return ends ? read_losses(ends, &scope->stack_ends, &scope->nstack_ends) : 0;
}

static int read_scope(const json_t *object, struct qz_profile *p)
{
	struct qz_scope scope = {0};
	int err = qz_fields__read(object, scope_fields, &scope);

	if (!err)
		err = read_levels(json_object_get(object, "level_ns"), &scope);
	if (!err) {
		int64_t index = qz_profile__add_scope(p, &scope);

		err = index < 0 ? (int)index : read_later(object, &p->scopes[index]);
	}
	free(scope.level_ns);
	qz_fields__clear(scope_fields, &scope);
	return err;
}

static int read_thread(const json_t *object, struct qz_profile *p)
{
	struct qz_thread thread = {0};
	int err = qz_fields__read(object, thread_fields, &thread);

	if (!err) {
		int64_t index = qz_profile__add_thread(p, &thread);

		err = index < 0 ? (int)index : 0;
	}
	qz_fields__clear(thread_fields, &thread);
	return err;
}

static int read_queue(const json_t *array, uint64_t *values)
{
	int err = json_array_size(array) == QZ_QUEUE_LENGTHS ? 0 : -EBADMSG;

	for (size_t i = 0; !err && i < QZ_QUEUE_LENGTHS; i++)
		err = qz_fields__get_integer(json_array_get(array, i), INT64_MAX, &values[i]);
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
	int64_t waits = 0, wakes = 0, wait_ns = 0, grouped = 0;
	int64_t queue_ns = 0, arrivals = 0;

	for (uint32_t i = 0; i < p->nobjects; i++) {
		const struct qz_object *o = &p->objects[i];
		bool exceeds = sum_exceeds(&waits, o->waits) || sum_exceeds(&wakes, o->wakes) ||
			       sum_exceeds(&wait_ns, o->wait_ns) ||
			       sum_exceeds(&grouped, o->grouped);

		for (int k = 0; !exceeds && k < QZ_QUEUE_LENGTHS; k++)
			exceeds = sum_exceeds(&queue_ns, o->queue_ns[k]) ||
				  sum_exceeds(&arrivals, o->arrivals[k]);
		if (exceeds)
			return -EBADMSG;
	}
	return 0;
}

/* Takes over what is not part of the key. */
static void copy_figures(struct qz_object *to, const struct qz_object *from)
{
	to->grouped = from->grouped;
	to->waits = from->waits;
	to->wakes = from->wakes;
	to->wait_ns = from->wait_ns;
	memcpy(to->queue_ns, from->queue_ns, sizeof(to->queue_ns));
	memcpy(to->arrivals, from->arrivals, sizeof(to->arrivals));
}

static int read_object(const json_t *json, struct qz_profile *p)
{
	struct qz_object o = {0};
	uint32_t before = p->nobjects;
	int err = qz_fields__read(json, object_fields, &o);

	err = err ? err : read_queue(json_object_get(json, "queue_ns"), o.queue_ns);
	err = err ? err : read_queue(json_object_get(json, "arrivals"), o.arrivals);
	if (!err) {
		int64_t index = qz_profile__intern_object(p, &o);

		err = index < 0 ? (int)index : index == before ? 0 : -EBADMSG;
	}
	if (!err)
		copy_figures(&p->objects[before], &o);
	qz_fields__clear(object_fields, &o);
	return err;
}

static int read_cause(const json_t *text, struct qz_profile *p)
{
	uint32_t before = p->ncauses;
	char *name = NULL;
	int err = qz_fields__get_text(text, &name);

	if (!err) {
		int64_t index = qz_profile__intern_cause(p, name);

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

int qz_meta__fill(const json_t *meta, struct qz_profile *p)
{
	const json_t *costs = json_object_get(meta, "costs");
	int err = qz_fields__read(meta, run_fields, p);

	if (!err && costs)
		err = qz_fields__read(costs, qz_cost_fields, p);
	if (!err && p->halvings > QZ_MAX_HALVINGS)
		err = -EBADMSG;
	p->wakes_sampled = json_is_true(json_object_get(meta, "wakes_sampled"));
	if (!err)
		err = read_ledger(json_object_get(meta, "ledger"), &p->ledger);
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

int qz_meta__procedure(const json_t *meta, size_t index, struct qz_procedure *proc)
{
	const json_t *procedures = json_object_get(meta, "procedures");
	const json_t *modules = json_object_get(meta, "modules");
	uint64_t module, kind;

	if (qz_fields__get_integer(json_array_get(procedures, 2 * index), UINT32_MAX, &module) ||
	    qz_fields__get_integer(json_array_get(procedures, 2 * index + 1),
				   QZ_PROCEDURE_KINDS - 1, &kind))
		return -EBADMSG;
	proc->kind = (uint32_t)kind;
	return qz_fields__get_text(json_array_get(modules, module), &proc->module);
}

/* The count of the pair whose numbers begin at `at`. -EBADMSG for one that was there before. */
static int read_call(const json_t *array, size_t at, struct qz_profile *p, int64_t *sum)
{
	uint64_t scope, caller, callee, count;
	uint32_t before = p->ncalls;
	int64_t index;

	if (qz_fields__get_integer(json_array_get(array, at), UINT32_MAX, &scope) ||
	    qz_fields__get_integer(json_array_get(array, at + 1), UINT32_MAX, &caller) ||
	    qz_fields__get_integer(json_array_get(array, at + 2), UINT32_MAX, &callee) ||
	    qz_fields__get_integer(json_array_get(array, at + 3), INT64_MAX, &count) ||
	    sum_exceeds(sum, count))
		return -EBADMSG;
	index = qz_profile__intern_call(p, &(struct qz_call_count) {scope, caller, callee, 0});
	if (index < 0)
		return index == -EINVAL ? -EBADMSG : index == -E2BIG ? -EFBIG : (int)index;
	if (index != before)
		return -EBADMSG;
	p->calls[index].count = count;
	return 0;
}

int qz_meta__calls(const json_t *meta, struct qz_profile *p)
{
	const json_t *array = json_object_get(meta, "calls");
	size_t n = json_array_size(array);
	int64_t sum = 0;
	int err = array && (!json_is_array(array) || n % 4) ? -EBADMSG : 0;

	for (size_t i = 0; !err && i < n; i += 4)
		err = read_call(array, i, p, &sum);
	return err;
}
