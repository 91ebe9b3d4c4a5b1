/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/format/pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/model/executable.h"
#include "core/util/gzip.h"
#include "core/model/objects.h"
#include "core/format/snapshot_meta.h"
#include "core/format/pprof_types.h"
#include "core/format/profile.pb-c.h"
#include "core/util/string_table.h"
#include "core/util/hash_table.h"
#include "core/util/systemd_unit.h"
#include "core/util/utf8.h"

struct thread_labels {
	uint32_t thread, comm, pid; /* strings */
};

/*
 * Concatenated protobuf messages are one message with the fields of all. So the
 * file is written in pieces, one for each entity, and only the strings, which come last, are kept.
 */
struct writer {
	const struct qz_profile *p;
	gzFile gz;
	struct qz_string_table strings;
	uint8_t *buffer;
	size_t capacity;
	size_t ntypes;	 /* of values */
	uint32_t *order; /* of the mappings: index of each in the profile */
	uint32_t *ids;	 /* reverse of that: id of each in the file */
	struct thread_labels *threads;
	uint32_t *units, *object_labels, *cause_labels; /* string of each */
	/* of the piece in the making */
	uint64_t stack[QZ_MAX_DEPTH];
	Pprof__Line lines[QZ_MAX_INLINED], *line_pointers[QZ_MAX_INLINED];
};

static int64_t intern(struct writer *w, const char *s)
{
	char *stored = qz_utf8__store(s);
	int64_t number = stored ? qz_string_table__intern(&w->strings, stored) : -ENOMEM;

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
	const struct qz_mapping *map = &w->p->mappings[w->order[i]];
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
	/* All names were resolved while the process lived: readers need not open the file that is at the path now. */
	message.has_functions = message.has_filenames = message.has_line_numbers = true;
	piece.n_mapping = 1;
	piece.mapping = messages;
	return emit(w, &piece);
}

/* The parts come after the procedures: to readers, a function is in one file. */
static int emit_function(struct writer *w, uint32_t i)
{
	const struct qz_procedure_part *part =
		i < w->p->nprocedures ? NULL : &w->p->parts[i - w->p->nprocedures];
	const struct qz_procedure *proc = &w->p->procedures[part ? part->procedure : i];
	Pprof__Function message = PPROF__FUNCTION__INIT, *messages[] = {&message};
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	message.id = i + 1;
	message.name = message.system_name = intern(w, proc->name);
	message.filename = intern(w, part ? part->file : proc->file);
	message.start_line = part ? 0 : proc->line;
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
		message.mapping_id = w->ids[loc->mapping];
		message.address += map->start - map->offset;
	}
	for (uint32_t j = 0; j < loc->nlines; j++) {
		pprof__line__init(&w->lines[j]);
		w->lines[j].function_id = loc->lines[j].part
						  ? (uint64_t)w->p->nprocedures + loc->lines[j].part
						  : (uint64_t)loc->lines[j].procedure + 1;
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

#define MAX_LABELS 16 /* a sample has 16 at most, a wait 13 */

struct row {
	int64_t values[QZ_PPROF_TYPES];
	Pprof__Label labels[MAX_LABELS];
	size_t nlabels;
};

/* Without a unit, some readers drop a label whose number is 0. */
static void add_number(struct row *row, int64_t key, int64_t number, enum qz_pprof_word unit)
{
	Pprof__Label *label = &row->labels[row->nlabels++];

	pprof__label__init(label);
	label->key = key;
	label->num = number;
	label->num_unit = unit;
}

static void add_string(struct row *row, enum qz_pprof_word key, uint32_t string)
{
	Pprof__Label *label = &row->labels[row->nlabels++];

	pprof__label__init(label);
	label->key = key;
	label->str = string;
}

/* Whose it is. Of the machine only the thread says that, which is of another scope. */
static void add_owner(const struct writer *w, struct row *row, uint32_t scope, uint32_t thread)
{
	if (thread != QZ_NONE) {
		const struct thread_labels *labels = &w->threads[thread];

		scope = w->p->threads[thread].scope;
		add_number(row, QZ_WORD_THREAD_INDEX, thread, QZ_WORD_INDEX);
		add_number(row, QZ_WORD_TID, w->p->threads[thread].tid, QZ_WORD_EMPTY);
		add_string(row, QZ_WORD_THREAD, labels->thread);
		if (labels->comm != QZ_WORD_EMPTY)
			add_string(row, QZ_WORD_COMM, labels->comm);
		if (labels->pid != QZ_WORD_EMPTY)
			add_string(row, QZ_WORD_PID, labels->pid);
	}
	if (w->units[scope] != QZ_WORD_EMPTY)
		add_string(row, QZ_WORD_UNIT, w->units[scope]);
}

static void add_object(const struct writer *w, struct row *row, uint32_t object)
{
	if (object == QZ_NONE)
		return;
	add_number(row, QZ_WORD_OBJECT_INDEX, object, QZ_WORD_INDEX);
	add_string(row, QZ_WORD_OBJECT, w->object_labels[object]);
}

/* Few files have any, and the others no string for it. */
static int add_rare(struct writer *w, struct row *row, enum qz_pprof_word word, int64_t number)
{
	int64_t key = intern(w, qz_pprof_words[word]);

	if (key < 0)
		return (int)key;
	add_number(row, key, number, QZ_WORD_COUNT);
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

/* Of polled samples. */
static int add_seen(struct writer *w, struct row *row, const struct qz_sample *s)
{
	uint64_t seen = s->seen < UINT32_MAX ? s->seen : UINT32_MAX - 1;

	if (!s->seen)
		return 0;
	if (s->below && add_rare(w, row, QZ_WORD_BELOW, s->below))
		return -ENOMEM;
	return add_rare(w, row, QZ_WORD_SEEN, (int64_t)seen);
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
	add_number(&row, QZ_WORD_SCOPE, s->scope, QZ_WORD_INDEX);
	add_number(&row, QZ_WORD_LEVEL, s->level, QZ_WORD_COUNT);
	add_owner(w, &row, s->scope, s->thread);
	if (s->busy != s->level)
		add_number(&row, QZ_WORD_BUSY, s->busy, QZ_WORD_COUNT);
	if (s->spinning)
		add_number(&row, QZ_WORD_SPINNING, 1, QZ_WORD_COUNT);
	add_object(w, &row, s->object);
	if (s->halvings && add_rare(w, &row, QZ_WORD_RATE_HALVINGS, s->halvings))
		return -ENOMEM;
	if (add_seen(w, &row, s) ||
	    (s->in_block && add_rare(w, &row, QZ_WORD_IN_BLOCK, (int64_t)s->in_block)))
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
	add_string(&row, QZ_WORD_KIND, QZ_WORD_WAIT);
	add_number(&row, QZ_WORD_SCOPE, wait->scope, QZ_WORD_INDEX);
	add_number(&row, QZ_WORD_CAUSE_INDEX, wait->cause, QZ_WORD_INDEX);
	add_string(&row, QZ_WORD_CAUSE, w->cause_labels[wait->cause]);
	add_number(&row, QZ_WORD_NOMINAL, wait->nominal, QZ_WORD_COUNT);
	add_owner(w, &row, wait->scope, wait->thread);
	add_object(w, &row, wait->object);
	if (wait->variance && add_rare(w, &row, QZ_WORD_VARIANCE, (int64_t)wait->variance))
		return -ENOMEM;
	if (wait->handed && add_rare(w, &row, QZ_WORD_HANDED, (int64_t)wait->handed))
		return -ENOMEM;
	return emit_row(w, &row, wait->node);
}

static int emit_waking(struct writer *w, uint32_t i)
{
	const struct qz_waking *waking = &w->p->wakings[i];
	struct row row = {0};

	row.values[QZ_PPROF_WAKES] = (int64_t)waking->count;
	row.values[QZ_PPROF_WOKEN] = (int64_t)waking->woken_ns;
	add_string(&row, QZ_WORD_KIND, QZ_WORD_WAKING);
	add_number(&row, QZ_WORD_SCOPE, waking->scope, QZ_WORD_INDEX);
	add_owner(w, &row, waking->scope, waking->thread);
	add_object(w, &row, waking->object);
	return emit_row(w, &row, waking->node);
}

/* For readers in other tools. */
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
		types[i].type = qz_pprof_types[i].name;
		types[i].unit = qz_pprof_types[i].unit;
		pointers[i] = &types[i];
	}
	period.type = QZ_WORD_CPU;
	period.unit = QZ_WORD_NANOSECONDS;

	piece.n_sample_type = w->ntypes;
	piece.sample_type = pointers;
	piece.time_nanos = (int64_t)w->p->wall_start_ns;
	piece.duration_nanos = (int64_t)w->p->window_ns;
	piece.period_type = &period;
	piece.period = w->p->rate_hz ? 1000000000 / w->p->rate_hz : 0;
	piece.n_comment = 1;
	piece.comment = &comment;
	/* Of the times of several scopes, which ran side by side, only the machine's add up. */
	piece.default_sample_type = w->ntypes == QZ_PPROF_TYPES ? QZ_WORD_MACHINE_NORM_CPU
								: QZ_WORD_NORM_CPU;
	return emit(w, &piece);
}

/* ---- the file ---- */

static int intern_words(struct writer *w)
{
	int n = w->ntypes == QZ_PPROF_TYPES ? QZ_WORD_RATE_HALVINGS : QZ_WORD_MACHINE_SAMPLES;

	for (int i = 0; i < n; i++)
		if (intern(w, qz_pprof_words[i]) < 0)
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

/* The first thread of a process, whose name is the program's. */
static bool is_leader(const void *context, uint32_t index, const void *key)
{
	const struct qz_thread *a = &((const struct qz_profile *)context)->threads[index], *b = key;

	return a->scope == b->scope && a->pid == b->pid;
}

static uint32_t hash_process(const struct qz_thread *thread)
{
	return qz_hash_table__hash_number(thread->scope, (uint32_t)thread->pid);
}

static int find_leaders(const struct qz_profile *p, struct qz_hash_table *leaders)
{
	for (uint32_t i = 0; i < p->nthreads; i++) {
		if (p->threads[i].tid != p->threads[i].pid)
			continue;
		if (qz_hash_table__reserve(leaders))
			return -ENOMEM;
		qz_hash_table__insert(leaders, hash_process(&p->threads[i]), i);
	}
	return 0;
}

/* Threads of the kernel have a name each, and are no process. */
static const char *comm_of(const struct qz_profile *p, const struct qz_hash_table *leaders,
			   const struct qz_thread *thread)
{
	const struct qz_scope *scope = &p->scopes[thread->scope];
	uint32_t leader;

	if (scope->kind == QZ_SCOPE_PROCESS)
		return scope->comm;
	leader = qz_hash_table__find(leaders, hash_process(thread), is_leader, p, thread);
	return leader == QZ_NONE ? thread->comm : p->threads[leader].comm;
}

static int intern_thread(struct writer *w, const struct qz_hash_table *leaders, uint32_t i)
{
	const struct qz_thread *thread = &w->p->threads[i];
	int64_t comm = intern(w, comm_of(w->p, leaders, thread));
	char *label;
	int length, err;

	if (comm < 0)
		return (int)comm;
	w->threads[i].comm = (uint32_t)comm;
	length = asprintf(&label, "%s %" PRId32, thread->comm, thread->tid);
	err = take_label(w, length, label, &w->threads[i].thread);
	if (err || thread->pid <= 0)
		return err;
	length = asprintf(&label, "%" PRId32, thread->pid);
	return take_label(w, length, label, &w->threads[i].pid);
}

static int intern_threads(struct writer *w)
{
	struct qz_hash_table leaders = {0};
	int err = find_leaders(w->p, &leaders);

	w->threads = calloc((size_t)w->p->nthreads + 1, sizeof(*w->threads));
	if (!w->threads)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < w->p->nthreads; i++)
		err = intern_thread(w, &leaders, i);
	qz_hash_table__free(&leaders);
	return err;
}

typedef int64_t intern_label(struct writer *w, uint32_t i);

static int64_t intern_unit(struct writer *w, uint32_t scope)
{
	char unit[QZ_UNIT_LENGTH];

	qz_systemd_unit__of_cgroup(w->p->scopes[scope].cgroup, unit);
	return intern(w, unit);
}

static int64_t intern_object(struct writer *w, uint32_t object)
{
	char *label = qz_objects__label(&w->p->objects[object]);
	int64_t number = label ? intern(w, label) : -ENOMEM;

	free(label);
	return number;
}

static int64_t intern_cause(struct writer *w, uint32_t cause)
{
	return intern(w, w->p->causes[cause]);
}

/* The strings of n entities. */
static int intern_labels(struct writer *w, uint32_t **labels, uint32_t n, intern_label *intern_one)
{
	int64_t number = 0;

	*labels = calloc((size_t)n + 1, sizeof(**labels));
	if (!*labels)
		return -ENOMEM;
	for (uint32_t i = 0; number >= 0 && i < n; i++) {
		number = intern_one(w, i);
		(*labels)[i] = (uint32_t)number;
	}
	return number < 0 ? (int)number : 0;
}

/* Readers take the first mapping for the program's own; the others stay in their order. */
static int order_mappings(struct writer *w)
{
	uint32_t n = w->p->nmappings, first;
	int err = qz_profile__executable(w->p, &first);

	if (err)
		return err;
	w->order = calloc((size_t)n + 1, sizeof(*w->order));
	w->ids = calloc((size_t)n + 1, sizeof(*w->ids));
	if (!w->order || !w->ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = first == QZ_NONE || i > first ? i : i == first ? 0 : i + 1;

		w->order[at] = i;
		w->ids[i] = at + 1;
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

/* A piece on its way to the file. */
struct stream {
	ProtobufCBuffer base;
	gzFile gz;
	int err;
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
	struct stream *stream = (struct stream *)buffer;

	if (!stream->err)
		stream->err = qz_gzip__write(stream->gz, bytes, size);
}

/* It must be the last of the strings, even where another one is equal to it. It is the longest by far, and not copied. */
static int emit_meta(struct writer *w)
{
	struct stream stream = {.base.append = append, .gz = w->gz};
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	char *meta = qz_snapshot_meta__write(w->p), *stored = meta;

	if (meta && !qz_utf8__stays(meta)) {
		stored = qz_utf8__store(meta);
		free(meta);
	}
	if (!stored)
		return -ENOMEM;
	piece.n_string_table = 1;
	piece.string_table = &stored;
	pprof__profile__pack_to_buffer(&piece, &stream.base);
	free(stored);
	return stream.err;
}

static int emit_all(struct writer *w)
{
	int err;

	w->ntypes = qz_profile__machine(w->p) == QZ_NONE ? QZ_PPROF_LAST_TYPES : QZ_PPROF_TYPES;
	err = intern_words(w);
	err = err ? err : order_mappings(w);
	err = err ? err : intern_threads(w);
	err = err ? err : intern_labels(w, &w->units, w->p->nscopes, intern_unit);
	err = err ? err : intern_labels(w, &w->object_labels, w->p->nobjects, intern_object);
	err = err ? err : intern_labels(w, &w->cause_labels, w->p->ncauses, intern_cause);
	err = err ? err : emit_run(w);
	err = err ? err : emit_each(w, w->p->nmappings, emit_mapping);
	err = err ? err : emit_each(w, w->p->nprocedures + w->p->nparts, emit_function);
	err = err ? err : emit_each(w, w->p->nlocations, emit_location);
	err = err ? err : emit_each(w, w->p->nsamples, emit_sample);
	err = err ? err : emit_each(w, w->p->nwaits, emit_wait);
	err = err ? err : emit_each(w, w->p->nwakings, emit_waking);
	err = err ? err : emit_each(w, w->strings.n, emit_string);
	qz_string_table__free(&w->strings);
	return err ? err : emit_meta(w);
}

int qz_pprof__write(const struct qz_profile *p, int fd)
{
	struct writer *w = calloc(1, sizeof(*w));
	int err, closed;

	if (!w)
		return -ENOMEM;
	w->p = p;
	w->gz = qz_gzip__open(fd);
	err = w->gz ? emit_all(w) : -errno;
	closed = w->gz ? qz_gzip__close(w->gz) : 0;
	err = err ? err : closed;
	qz_string_table__free(&w->strings);
	free(w->order);
	free(w->ids);
	free(w->threads);
	free(w->units);
	free(w->object_labels);
	free(w->cause_labels);
	free(w->buffer);
	free(w);
	return err;
}
