/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/gzip.h"
#include "core/objects.h"
#include "core/pprof_meta.h"
#include "core/pprof_types.h"
#include "core/profile.pb-c.h"
#include "core/strings.h"
#include "core/utf8.h"

/*
 * Protobuf messages that stand one behind the other are one message with the fields of all. So the
 * file is written in pieces, one for each entity, and only the strings, which come last, are kept.
 */
struct writer {
	const struct qz_profile *p;
	struct qz_gzip *gz;
	struct qz_strings strings;
	uint8_t *buffer;
	size_t capacity;
	size_t ntypes;						/* of values */
	uint32_t *thread_labels, *object_labels, *cause_labels; /* string of each */
	/* of the piece in the making */
	uint64_t stack[QZ_MAX_DEPTH];
	Pprof__Line lines[QZ_MAX_INLINED], *line_pointers[QZ_MAX_INLINED];
};

/* The strings that each file has, in the order of their numbers. */
enum word {
	EMPTY,
	SAMPLES,
	COUNT,
	CPU,
	NORM_CPU,
	SPIN,
	WAITS,
	BLOCKED,
	READY,
	WAKES,
	WOKEN,
	NANOSECONDS,
	KIND,
	WAIT,
	WAKING,
	THREAD,
	TID,
	SCOPE,
	THREAD_INDEX,
	LEVEL,
	BUSY,
	SPINNING,
	OBJECT,
	OBJECT_INDEX,
	CAUSE,
	CAUSE_INDEX,
	NOMINAL,
	INDEX,
	MACHINE_WORDS, /* only where there is a scope of the machine */
	MACHINE_SAMPLES = MACHINE_WORDS,
	MACHINE_CPU,
	MACHINE_NORM_CPU,
	MACHINE_SPIN,
	WORDS,
};

static const char *const words[WORDS] = {
	[EMPTY] = "",
	[SAMPLES] = "samples",
	[COUNT] = "count",
	[CPU] = "cpu",
	[NORM_CPU] = "norm_cpu",
	[SPIN] = "spin",
	[WAITS] = "waits",
	[BLOCKED] = "blocked",
	[READY] = "ready",
	[WAKES] = "wakes",
	[WOKEN] = "woken",
	[MACHINE_SAMPLES] = "machine_samples",
	[MACHINE_CPU] = "machine_cpu",
	[MACHINE_NORM_CPU] = "machine_norm_cpu",
	[MACHINE_SPIN] = "machine_spin",
	[NANOSECONDS] = "nanoseconds",
	[KIND] = "kind",
	[WAIT] = "wait",
	[WAKING] = "waking",
	[THREAD] = "thread",
	[TID] = "tid",
	[SCOPE] = "scope",
	[THREAD_INDEX] = "thread_index",
	[LEVEL] = "level",
	[BUSY] = "busy",
	[SPINNING] = "spinning",
	[OBJECT] = "object",
	[OBJECT_INDEX] = "object_index",
	[CAUSE] = "cause",
	[CAUSE_INDEX] = "cause_index",
	[NOMINAL] = "nominal",
	[INDEX] = "index",
};

static const struct {
	enum word type, unit;
} type_words[QZ_PPROF_TYPES] = {
	[QZ_PPROF_SAMPLES] = {SAMPLES, COUNT},
	[QZ_PPROF_CPU] = {CPU, NANOSECONDS},
	[QZ_PPROF_NORM_CPU] = {NORM_CPU, NANOSECONDS},
	[QZ_PPROF_SPIN] = {SPIN, NANOSECONDS},
	[QZ_PPROF_WAITS] = {WAITS, COUNT},
	[QZ_PPROF_BLOCKED] = {BLOCKED, NANOSECONDS},
	[QZ_PPROF_READY] = {READY, NANOSECONDS},
	[QZ_PPROF_WAKES] = {WAKES, COUNT},
	[QZ_PPROF_WOKEN] = {WOKEN, NANOSECONDS},
	[QZ_PPROF_MACHINE_SAMPLES] = {MACHINE_SAMPLES, COUNT},
	[QZ_PPROF_MACHINE_CPU] = {MACHINE_CPU, NANOSECONDS},
	[QZ_PPROF_MACHINE_NORM_CPU] = {MACHINE_NORM_CPU, NANOSECONDS},
	[QZ_PPROF_MACHINE_SPIN] = {MACHINE_SPIN, NANOSECONDS},
};

static int64_t intern(struct writer *w, const char *s)
{
	char *stored = qz_utf8__store(s);
	int64_t number = stored ? qz_strings__intern(&w->strings, stored) : -ENOMEM;

	free(stored);
	return number;
}

static int emit(struct writer *w, const Pprof__Profile *piece)
{
	size_t size = pprof__profile__get_packed_size(piece);

	if (size > w->capacity) {
		uint8_t *buffer = realloc(w->buffer, size);

		if (!buffer)
			return -ENOMEM;
		w->buffer = buffer;
		w->capacity = size;
	}
	pprof__profile__pack(piece, w->buffer);
	return qz_gzip__write(w->gz, w->buffer, size);
}

/* ---- pieces ---- */

static int emit_mapping(struct writer *w, uint32_t i)
{
	const struct qz_mapping *map = &w->p->mappings[i];
	Pprof__Mapping message = PPROF__MAPPING__INIT, *messages[] = {&message};
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	message.id = i + 1;
	message.memory_start = map->start;
	message.memory_limit = map->limit;
	message.file_offset = map->offset;
	message.filename = intern(w, map->path);
	message.build_id = intern(w, map->build_id);
	if (message.filename < 0 || message.build_id < 0)
		return -ENOMEM;
	/* All was resolved while the process lived: nobody need look into what is at path now. */
	message.has_functions = message.has_filenames = message.has_line_numbers = true;
	piece.n_mapping = 1;
	piece.mapping = messages;
	return emit(w, &piece);
}

static int emit_function(struct writer *w, uint32_t i)
{
	const struct qz_procedure *proc = &w->p->procedures[i];
	Pprof__Function message = PPROF__FUNCTION__INIT, *messages[] = {&message};
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	message.id = i + 1;
	message.name = message.system_name = intern(w, proc->name);
	message.filename = intern(w, proc->file);
	message.start_line = proc->line;
	if (message.name < 0 || message.filename < 0)
		return -ENOMEM;
	piece.n_function = 1;
	piece.function = messages;
	return emit(w, &piece);
}

static int emit_location(struct writer *w, uint32_t i)
{
	const struct qz_location *loc = &w->p->locations[i];
	Pprof__Location message = PPROF__LOCATION__INIT, *messages[] = {&message};
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	message.id = i + 1;
	message.address = loc->address;
	if (loc->mapping != QZ_NONE) {
		const struct qz_mapping *map = &w->p->mappings[loc->mapping];

		/* Readers expect an address of memory. */
		message.mapping_id = (uint64_t)loc->mapping + 1;
		message.address += map->start - map->offset;
	}
	for (uint32_t j = 0; j < loc->nlines; j++) {
		pprof__line__init(&w->lines[j]);
		w->lines[j].function_id = (uint64_t)loc->lines[j].procedure + 1;
		w->lines[j].line = loc->lines[j].line;
		w->line_pointers[j] = &w->lines[j];
	}
	message.n_line = loc->nlines;
	message.line = w->line_pointers;
	piece.n_location = 1;
	piece.location = messages;
	return emit(w, &piece);
}

/* ---- samples, waits and wake-ups: one pprof sample each ---- */

#define MAX_LABELS 11

struct row {
	int64_t values[QZ_PPROF_TYPES];
	Pprof__Label labels[MAX_LABELS];
	size_t nlabels;
};

/* Without a unit, some readers drop a label whose number is 0. */
static void add_number(struct row *row, int64_t key, int64_t number, enum word unit)
{
	Pprof__Label *label = &row->labels[row->nlabels++];

	pprof__label__init(label);
	label->key = key;
	label->num = number;
	label->num_unit = unit;
}

static void add_string(struct row *row, enum word key, uint32_t string)
{
	Pprof__Label *label = &row->labels[row->nlabels++];

	pprof__label__init(label);
	label->key = key;
	label->str = string;
}

static void add_thread(const struct writer *w, struct row *row, uint32_t thread)
{
	if (thread == QZ_NONE)
		return;
	add_number(row, THREAD_INDEX, thread, INDEX);
	add_number(row, TID, w->p->threads[thread].tid, EMPTY);
	add_string(row, THREAD, w->thread_labels[thread]);
}

static void add_object(const struct writer *w, struct row *row, uint32_t object)
{
	if (object == QZ_NONE)
		return;
	add_number(row, OBJECT_INDEX, object, INDEX);
	add_string(row, OBJECT, w->object_labels[object]);
}

/* Few files have any, and the others no string for it. */
static int add_halvings(struct writer *w, struct row *row, uint8_t halvings)
{
	int64_t key = intern(w, "rate_halvings");

	if (key < 0)
		return (int)key;
	add_number(row, EMPTY, halvings, COUNT);
	row->labels[row->nlabels - 1].key = key;
	return 0;
}

static int emit_row(struct writer *w, struct row *row, uint32_t leaf)
{
	Pprof__Sample message = PPROF__SAMPLE__INIT, *messages[] = {&message};
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Label *pointers[MAX_LABELS];

	for (uint32_t node = leaf; node != 0; node = w->p->nodes[node].parent)
		w->stack[message.n_location_id++] = (uint64_t)w->p->nodes[node].location + 1;
	message.location_id = w->stack;
	message.n_value = w->ntypes;
	message.value = row->values;
	for (size_t j = 0; j < row->nlabels; j++)
		pointers[j] = &row->labels[j];
	message.n_label = row->nlabels;
	message.label = pointers;
	piece.n_sample = 1;
	piece.sample = messages;
	return emit(w, &piece);
}

/* Words of profiles with polled samples alone. */
static int add_seen(struct writer *w, struct row *row, const struct qz_sample *s)
{
	int64_t below = intern(w, "below"), seen = intern(w, "seen");

	if (below < 0 || seen < 0)
		return -ENOMEM;
	if (s->below)
		add_number(row, below, s->below, COUNT);
	add_number(row, seen, s->seen < UINT32_MAX ? s->seen : UINT32_MAX - 1, COUNT);
	return 0;
}

static int emit_sample(struct writer *w, uint32_t i)
{
	const struct qz_sample *s = &w->p->samples[i];
	bool machine = w->p->scopes[s->scope].kind == QZ_SCOPE_MACHINE;
	struct row row = {0};

	row.values[machine ? QZ_PPROF_MACHINE_SAMPLES : QZ_PPROF_SAMPLES] = (int64_t)s->count;
	row.values[machine ? QZ_PPROF_MACHINE_CPU : QZ_PPROF_CPU] = (int64_t)s->cpu_ns;
	row.values[machine ? QZ_PPROF_MACHINE_NORM_CPU : QZ_PPROF_NORM_CPU] = (int64_t)s->norm_ns;
	row.values[machine ? QZ_PPROF_MACHINE_SPIN : QZ_PPROF_SPIN] =
		s->spinning ? (int64_t)s->cpu_ns : 0;
	add_number(&row, SCOPE, s->scope, INDEX);
	add_number(&row, LEVEL, s->level, COUNT);
	add_thread(w, &row, s->thread);
	if (s->busy != s->level)
		add_number(&row, BUSY, s->busy, COUNT);
	if (s->spinning)
		add_number(&row, SPINNING, 1, COUNT);
	add_object(w, &row, s->object);
	if (s->halvings && add_halvings(w, &row, s->halvings))
		return -ENOMEM;
	if (s->seen && add_seen(w, &row, s))
		return -ENOMEM;
	return emit_row(w, &row, s->node);
}

static int emit_wait(struct writer *w, uint32_t i)
{
	const struct qz_wait *wait = &w->p->waits[i];
	struct row row = {0};

	row.values[QZ_PPROF_WAITS] = (int64_t)wait->count;
	row.values[QZ_PPROF_BLOCKED] = (int64_t)wait->blocked_ns;
	row.values[QZ_PPROF_READY] = (int64_t)wait->ready_ns;
	add_string(&row, KIND, WAIT);
	add_number(&row, SCOPE, wait->scope, INDEX);
	add_number(&row, CAUSE_INDEX, wait->cause, INDEX);
	add_string(&row, CAUSE, w->cause_labels[wait->cause]);
	add_number(&row, NOMINAL, wait->nominal, COUNT);
	add_thread(w, &row, wait->thread);
	add_object(w, &row, wait->object);
	return emit_row(w, &row, wait->node);
}

static int emit_waking(struct writer *w, uint32_t i)
{
	const struct qz_waking *waking = &w->p->wakings[i];
	struct row row = {0};

	row.values[QZ_PPROF_WAKES] = (int64_t)waking->count;
	row.values[QZ_PPROF_WOKEN] = (int64_t)waking->woken_ns;
	add_string(&row, KIND, WAKING);
	add_number(&row, SCOPE, waking->scope, INDEX);
	add_thread(w, &row, waking->thread);
	add_object(w, &row, waking->object);
	return emit_row(w, &row, waking->node);
}

/* For those who look at the profile with other tools. */
static int64_t describe_run(struct writer *w)
{
	const struct qz_profile *p = w->p;
	int64_t number;
	char *text;

	if (asprintf(&text, "Quartz %s: %s at %" PRIu32 " Hz on %" PRIu32 " processors of %s",
		     p->quartz_version, p->event, p->rate_hz, p->processors, p->machine) < 0)
		return -ENOMEM;
	number = intern(w, text);
	free(text);
	return number;
}

static int emit_run(struct writer *w)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType types[QZ_PPROF_TYPES], *pointers[QZ_PPROF_TYPES];
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
	int64_t comment = describe_run(w);

	if (comment < 0)
		return (int)comment;
	for (size_t i = 0; i < w->ntypes; i++) {
		types[i] = period;
		types[i].type = type_words[i].type;
		types[i].unit = type_words[i].unit;
		pointers[i] = &types[i];
	}
	period.type = CPU;
	period.unit = NANOSECONDS;

	piece.n_sample_type = w->ntypes;
	piece.sample_type = pointers;
	piece.time_nanos = (int64_t)w->p->wall_start_ns;
	piece.duration_nanos = (int64_t)w->p->window_ns;
	piece.period_type = &period;
	piece.period = w->p->rate_hz ? 1000000000 / w->p->rate_hz : 0;
	piece.n_comment = 1;
	piece.comment = &comment;
	piece.default_sample_type = NORM_CPU;
	return emit(w, &piece);
}

/* ---- the file ---- */

static int intern_words(struct writer *w)
{
	int n = w->ntypes == QZ_PPROF_TYPES ? WORDS : MACHINE_WORDS;

	for (int i = 0; i < n; i++)
		if (intern(w, words[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* Interns a text that asprintf made, and frees it. */
static int take_label(struct writer *w, int length, char *text, uint32_t *label)
{
	int64_t number = -ENOMEM;

	if (length >= 0) {
		number = intern(w, text);
		free(text);
	}
	if (number < 0)
		return (int)number;
	*label = (uint32_t)number;
	return 0;
}

static int intern_thread_labels(struct writer *w)
{
	w->thread_labels = calloc((size_t)w->p->nthreads + 1, sizeof(*w->thread_labels));
	if (!w->thread_labels)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->p->nthreads; i++) {
		const struct qz_thread *thread = &w->p->threads[i];
		char *label;
		int length = asprintf(&label, "%s %" PRId32, thread->comm, thread->tid);
		int err = take_label(w, length, label, &w->thread_labels[i]);

		if (err)
			return err;
	}
	return 0;
}

static int intern_object_labels(struct writer *w)
{
	w->object_labels = calloc((size_t)w->p->nobjects + 1, sizeof(*w->object_labels));
	if (!w->object_labels)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->p->nobjects; i++) {
		char *label = qz_object__label(&w->p->objects[i]);
		int err = take_label(w, label ? 0 : -1, label, &w->object_labels[i]);

		if (err)
			return err;
	}
	return 0;
}

static int intern_cause_labels(struct writer *w)
{
	w->cause_labels = calloc((size_t)w->p->ncauses + 1, sizeof(*w->cause_labels));
	if (!w->cause_labels)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->p->ncauses; i++) {
		int64_t number = intern(w, w->p->causes[i]);

		if (number < 0)
			return (int)number;
		w->cause_labels[i] = (uint32_t)number;
	}
	return 0;
}

static int emit_each(struct writer *w, uint32_t n, int (*emit_one)(struct writer *w, uint32_t i))
{
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++)
		err = emit_one(w, i);
	return err;
}

static int emit_text(struct writer *w, char *text)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	piece.n_string_table = 1;
	piece.string_table = &text;
	return emit(w, &piece);
}

static int emit_string(struct writer *w, uint32_t i)
{
	return emit_text(w, w->strings.all[i]);
}

/* It must be the last of the strings, even where another one is equal to it. */
static int emit_meta(struct writer *w)
{
	char *meta = qz_meta__write(w->p);
	char *stored = meta ? qz_utf8__store(meta) : NULL;
	int err = stored ? emit_text(w, stored) : -ENOMEM;

	free(stored);
	free(meta);
	return err;
}

static int emit_all(struct writer *w)
{
	int err;

	w->ntypes = qz_profile__machine(w->p) == QZ_NONE ? QZ_PPROF_LAST_TYPES : QZ_PPROF_TYPES;
	err = intern_words(w);
	err = err ? err : intern_thread_labels(w);
	err = err ? err : intern_object_labels(w);
	err = err ? err : intern_cause_labels(w);
	err = err ? err : emit_run(w);
	err = err ? err : emit_each(w, w->p->nmappings, emit_mapping);
	err = err ? err : emit_each(w, w->p->nprocedures, emit_function);
	err = err ? err : emit_each(w, w->p->nlocations, emit_location);
	err = err ? err : emit_each(w, w->p->nsamples, emit_sample);
	err = err ? err : emit_each(w, w->p->nwaits, emit_wait);
	err = err ? err : emit_each(w, w->p->nwakings, emit_waking);
	err = err ? err : emit_each(w, w->strings.n, emit_string);
	err = err ? err : emit_meta(w);
	return err ? err : qz_gzip__finish(w->gz);
}

int qz_pprof__write(const struct qz_profile *p, int fd)
{
	struct writer *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->p = p;
	w->gz = qz_gzip__new(fd);
	if (w->gz)
		err = emit_all(w);
	qz_gzip__free(w->gz);
	qz_strings__free(&w->strings);
	free(w->thread_labels);
	free(w->object_labels);
	free(w->cause_labels);
	free(w->buffer);
	free(w);
	return err;
}
