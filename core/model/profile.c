/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/model/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/fields.h"
#include "core/util/vec.h"
#include "core/model/profile_index.h"
#include "core/model/timeline.h"
#include "core/model/what_if.h"

/* Where so many were to be expected, not one is a fault. */
#define MANY_SAMPLES 16

static char *const marker_names[QZ_PROCEDURE_KINDS] = {
	[QZ_PROCEDURE] = "",
	[QZ_THREAD_START] = "[thread]",
	[QZ_PROCESS_START] = "[process]",
	[QZ_TRUNCATED] = "[truncated]",
	[QZ_UNATTRIBUTED] = "[unattributed]",
	[QZ_INSTRUMENTATION] = "[instrumentation]",
};

/* ---- life ---- */

static void procedure_clear(struct qz_procedure *proc)
{
	free(proc->name);
	free(proc->module);
	free(proc->file);
}

static void mapping_clear(struct qz_mapping *map)
{
	free(map->path);
	free(map->build_id);
}

static void index_free(struct qz_index *index)
{
	if (!index)
		return;
	qz_hash_table__free(&index->procedures);
	qz_hash_table__free(&index->parts);
	qz_hash_table__free(&index->mappings);
	qz_hash_table__free(&index->locations);
	qz_hash_table__free(&index->nodes);
	qz_hash_table__free(&index->samples);
	qz_hash_table__free(&index->polled);
	qz_hash_table__free(&index->causes);
	qz_hash_table__free(&index->objects);
	qz_hash_table__free(&index->waits);
	qz_hash_table__free(&index->wakings);
	qz_hash_table__free(&index->calls);
	qz_hash_table__free(&index->rounds);
	free(index);
}

static void entities_free(struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++)
		qz_fields__free(&p->scopes[i], qz_scope_fields);
	for (uint32_t i = 0; i < p->nthreads; i++)
		qz_fields__free(&p->threads[i], qz_thread_fields);
	for (uint32_t i = 0; i < p->nmappings; i++)
		mapping_clear(&p->mappings[i]);
	for (uint32_t i = 0; i < p->nprocedures; i++)
		procedure_clear(&p->procedures[i]);
	for (uint32_t i = 0; i < p->nparts; i++)
		free(p->parts[i].file);
	for (uint32_t i = 0; i < p->nlocations; i++)
		free(p->locations[i].lines);
	for (uint32_t i = 0; i < p->ncauses; i++)
		free(p->causes[i]);
	for (uint32_t i = 0; i < p->nobjects; i++)
		qz_fields__free(&p->objects[i], qz_object_fields);
	free(p->scopes);
	free(p->threads);
	free(p->mappings);
	free(p->procedures);
	free(p->parts);
	free(p->locations);
	free(p->nodes);
	free(p->samples);
	free(p->polled);
	free(p->causes);
	free(p->objects);
	free(p->waits);
	free(p->open);
	free(p->wakings);
	free(p->calls);
	for (uint32_t i = 0; i < p->nrounds; i++)
		free(p->rounds[i].members);
	free(p->rounds);
}

void qz_profile__clear_what_ifs(struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nwhat_ifs; i++)
		qz_fields__free(&p->what_ifs[i], qz_what_if_fields);
	free(p->what_ifs);
	p->what_ifs = NULL;
	p->nwhat_ifs = 0;
}

void qz_profile__free(struct qz_profile *p)
{
	if (!p)
		return;
	qz_fields__free(p, qz_run_fields);
	qz_fields__free(&p->ledger, qz_ledger_fields);
	entities_free(p);
	index_free(p->index);
	qz_timeline__free(p->timeline);
	qz_profile__clear_what_ifs(p);
	free(p);
}

int qz_profile__set_string(char **field, const char *s)
{
	char *copy = strdup(s ? s : "");

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

struct qz_profile *qz_profile__new(void)
{
	struct qz_profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->index = calloc(1, sizeof(*p->index));
	p->nodes = calloc(1, sizeof(*p->nodes));
	if (!p->index || !p->nodes || qz_profile__set_string(&p->quartz_version, "") ||
	    qz_profile__set_string(&p->kernel, "") || qz_profile__set_string(&p->machine, "") ||
	    qz_profile__set_string(&p->event, "")) {
		qz_profile__free(p);
		errno = ENOMEM;
		return NULL;
	}
	p->nodes[0].location = QZ_NONE;
	p->nnodes = 1;
	return p;
}

/* ---- procedures ---- */

static uint32_t procedure_hash(const struct qz_procedure *proc)
{
	uint32_t hash = qz_hash_table__hash_string(proc->kind, proc->name);

	return qz_hash_table__hash_string(qz_hash_table__hash_string(hash, proc->module),
					  proc->file);
}

static bool procedure_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_procedure *a = &p->procedures[index], *b = key;

	return a->kind == b->kind && !strcmp(a->name, b->name) && !strcmp(a->module, b->module) &&
	       !strcmp(a->file, b->file);
}

int64_t qz_profile__intern_procedure(struct qz_profile *p, const struct qz_procedure *proc)
{
	struct qz_procedure new = {.line = proc->line, .kind = proc->kind};
	int64_t index = -ENOMEM;
	uint32_t hash, found;

	if (proc->kind >= QZ_PROCEDURE_KINDS)
		return -EINVAL;
	hash = procedure_hash(proc);
	found = qz_hash_table__find(&p->index->procedures, hash, procedure_equal, p, proc);
	if (found != QZ_NONE)
		return found;
	if (!qz_profile__set_string(&new.name, proc->name) &&
	    !qz_profile__set_string(&new.module, proc->module) &&
	    !qz_profile__set_string(&new.file, proc->file))
		index = qz_hash_table__append(&p->index->procedures, hash, (void **)&p->procedures,
					      &p->nprocedures, &new, sizeof(new));
	if (index < 0)
		procedure_clear(&new);
	return index;
}

static bool part_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_procedure_part *a = &p->parts[index], *b = key;

	return a->procedure == b->procedure && !strcmp(a->file, b->file);
}

int64_t qz_profile__intern_part(struct qz_profile *p, const struct qz_procedure_part *part)
{
	struct qz_procedure_part new = {.procedure = part->procedure};
	uint32_t hash = qz_hash_table__hash_string(part->procedure, part->file), found;
	int64_t index = -ENOMEM;

	if (part->procedure >= p->nprocedures)
		return -EINVAL;
	found = qz_hash_table__find(&p->index->parts, hash, part_equal, p, part);
	if (found != QZ_NONE)
		return found;
	if (!qz_profile__set_string(&new.file, part->file))
		index = qz_hash_table__append(&p->index->parts, hash, (void **)&p->parts,
					      &p->nparts, &new, sizeof(new));
	if (index < 0)
		free(new.file);
	return index;
}

int qz_profile__place_line(struct qz_profile *p, struct qz_line *line, const char *file)
{
	const struct qz_procedure_part part = {line->procedure, (char *)file};
	int64_t index;

	line->part = 0;
	if (!*file || !strcmp(file, p->procedures[line->procedure].file))
		return 0;
	index = qz_profile__intern_part(p, &part);
	if (index < 0)
		return (int)index;
	line->part = (uint32_t)index + 1;
	return 0;
}

/* ---- mappings ---- */

static bool mapping_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_mapping *a = &p->mappings[index], *b = key;

	return a->start == b->start && a->offset == b->offset && !strcmp(a->path, b->path) &&
	       !strcmp(a->build_id, b->build_id);
}

int64_t qz_profile__intern_mapping(struct qz_profile *p, const struct qz_mapping *map)
{
	struct qz_mapping new = {.start = map->start, .limit = map->limit, .offset = map->offset};
	uint32_t hash =
		qz_hash_table__hash_string(qz_hash_table__hash_number(0, map->start), map->path);
	uint32_t found = qz_hash_table__find(&p->index->mappings, hash, mapping_equal, p, map);
	int64_t index = -ENOMEM;

	if (found != QZ_NONE)
		return found;
	if (!qz_profile__set_string(&new.path, map->path) &&
	    !qz_profile__set_string(&new.build_id, map->build_id))
		index = qz_hash_table__append(&p->index->mappings, hash, (void **)&p->mappings,
					      &p->nmappings, &new, sizeof(new));
	if (index < 0)
		mapping_clear(&new);
	return index;
}

/* ---- locations ---- */

static uint32_t location_hash(const struct qz_location *loc)
{
	uint32_t hash = qz_hash_table__hash_number(loc->mapping, loc->address);

	for (uint32_t i = 0; i < loc->nlines; i++)
		hash = qz_hash_table__hash_number(hash, (uint64_t)loc->lines[i].procedure << 32 |
								loc->lines[i].line);
	return hash;
}

static bool location_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_location *a = &p->locations[index], *b = key;

	if (a->address != b->address || a->mapping != b->mapping || a->nlines != b->nlines)
		return false;
	for (uint32_t i = 0; i < a->nlines; i++)
		if (a->lines[i].procedure != b->lines[i].procedure ||
		    a->lines[i].line != b->lines[i].line || a->lines[i].part != b->lines[i].part)
			return false;
	return true;
}

static int location_check(const struct qz_profile *p, const struct qz_location *loc)
{
	if (loc->mapping != QZ_NONE && loc->mapping >= p->nmappings)
		return -EINVAL;
	if (loc->nlines == 0)
		return -EINVAL;
	if (loc->nlines > QZ_MAX_INLINED)
		return -E2BIG;
	for (uint32_t i = 0; i < loc->nlines; i++)
		if (loc->lines[i].procedure >= p->nprocedures || loc->lines[i].part > p->nparts)
			return -EINVAL;
	return 0;
}

int64_t qz_profile__intern_location(struct qz_profile *p, const struct qz_location *loc)
{
	int err = location_check(p, loc);
	struct qz_location new = *loc;
	uint32_t hash, found;
	int64_t index;

	if (err)
		return err;
	hash = location_hash(loc);
	found = qz_hash_table__find(&p->index->locations, hash, location_equal, p, loc);
	if (found != QZ_NONE)
		return found;
	new.lines = malloc(loc->nlines * sizeof(*new.lines));
	if (!new.lines)
		return -ENOMEM;
	memcpy(new.lines, loc->lines, loc->nlines * sizeof(*new.lines));
	index = qz_hash_table__append(&p->index->locations, hash, (void **)&p->locations,
				      &p->nlocations, &new, sizeof(new));
	if (index < 0)
		free(new.lines);
	return index;
}

int qz_profile__rename_location(struct qz_profile *p, uint32_t location, uint32_t as)
{
	const struct qz_location *from = &p->locations[as];
	struct qz_location *to = &p->locations[location], new = *to;
	struct qz_line *lines = malloc(from->nlines * sizeof(*lines));

	if (!lines || qz_hash_table__reserve(&p->index->locations)) {
		free(lines);
		return -ENOMEM;
	}
	memcpy(lines, from->lines, from->nlines * sizeof(*lines));
	new.lines = lines;
	new.nlines = from->nlines;
	while (qz_hash_table__find(&p->index->locations, location_hash(&new), location_equal, p,
				   &new) != QZ_NONE)
		new.address++;
	qz_hash_table__remove(&p->index->locations, location_hash(to), location);
	free(to->lines);
	*to = new;
	qz_hash_table__insert(&p->index->locations, location_hash(to), location);
	return 0;
}

int64_t qz_profile__marker(struct qz_profile *p, enum qz_procedure_kind kind)
{
	struct qz_procedure proc = {.module = "", .file = "", .kind = kind};
	struct qz_line line = {0};
	int64_t index;

	if (kind <= QZ_PROCEDURE || kind >= QZ_PROCEDURE_KINDS)
		return -EINVAL;
	proc.name = marker_names[kind];
	index = qz_profile__intern_procedure(p, &proc);
	if (index < 0)
		return index;
	line.procedure = (uint32_t)index;
	return qz_profile__intern_location(
		p, &(struct qz_location) {.mapping = QZ_NONE, .nlines = 1, .lines = &line});
}

/* ---- stacks and samples ---- */

static bool node_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_node *a = &p->nodes[index], *b = key;

	return a->parent == b->parent && a->location == b->location;
}

int64_t qz_profile__intern_node(struct qz_profile *p, uint32_t parent, uint32_t location)
{
	struct qz_node key = {.parent = parent, .location = location};
	uint32_t hash, found;

	if (parent >= p->nnodes || location >= p->nlocations)
		return -EINVAL;
	hash = qz_hash_table__hash_number(0, (uint64_t)parent << 32 | location);
	found = qz_hash_table__find(&p->index->nodes, hash, node_equal, p, &key);
	if (found != QZ_NONE)
		return found;
	if (p->nodes[parent].depth >= QZ_MAX_DEPTH)
		return -E2BIG;
	key.depth = p->nodes[parent].depth + 1;
	return qz_hash_table__append(&p->index->nodes, hash, (void **)&p->nodes, &p->nnodes, &key,
				     sizeof(key));
}

static uint32_t sample_hash(const void *row)
{
	const struct qz_sample *s = row;
	uint32_t hash = qz_hash_table__hash_number(s->scope, (uint64_t)s->thread << 32 | s->node);

	hash = qz_hash_table__hash_number(hash, (uint64_t)s->level << 32 | s->busy);
	hash = qz_hash_table__hash_number(hash, (uint64_t)s->object << 1 | s->spinning);
	return s->halvings ? qz_hash_table__hash_number(hash, s->halvings) : hash;
}

static bool same_sample(const struct qz_sample *a, const struct qz_sample *b)
{
	return a->scope == b->scope && a->thread == b->thread && a->node == b->node &&
	       a->level == b->level && a->busy == b->busy && a->object == b->object &&
	       a->spinning == b->spinning && a->halvings == b->halvings;
}

static bool sample_equal(const void *context, uint32_t index, const void *key)
{
	return same_sample(&((const struct qz_profile *)context)->samples[index], key);
}

static bool polled_equal(const void *context, uint32_t index, const void *key)
{
	return same_sample(&((const struct qz_profile *)context)->polled[index], key);
}

const struct qz_rows qz_sample_rows = QZ_ROWS(samples, nsamples, samples, struct qz_sample,
					      .hash = sample_hash, .equal = sample_equal,
					      .figures = qz_sample_fields);
const struct qz_rows qz_polled_rows = QZ_ROWS(polled, npolled, polled, struct qz_sample,
					      .hash = sample_hash, .equal = polled_equal,
					      .figures = qz_sample_fields);

static bool sample_valid(const struct qz_profile *p, const struct qz_sample *s)
{
	if (s->scope >= p->nscopes || s->node >= p->nnodes)
		return false;
	if (s->level == 0 || s->level >= p->scopes[s->scope].nlevels || s->busy > s->level)
		return false;
	if (s->spinning ? s->busy == s->level : s->busy == 0)
		return false;
	if (s->halvings > QZ_MAX_HALVINGS)
		return false;
	return qz_profile__thread_of(p, s->thread, s->scope) &&
	       qz_profile__object_of(p, s->object, s->scope);
}

int64_t qz_profile__intern_sample(struct qz_profile *p, const struct qz_sample *key)
{
	struct qz_sample new = *key;

	if (!sample_valid(p, key))
		return -EINVAL;
	new.cpu_ns = new.norm_ns = 0;
	new.below = 0;
	return qz_rows__intern(p, &qz_sample_rows, &new);
}

int qz_profile__add_samples(struct qz_profile *p, const struct qz_sample *samples)
{
	int64_t index = qz_profile__intern_sample(p, samples);

	if (index < 0)
		return (int)index;
	p->samples[index].count += samples->count;
	p->samples[index].seen += samples->seen;
	p->samples[index].in_block += samples->in_block;
	p->samples[index].below = samples->below;
	return 0;
}

int qz_profile__add_polled(struct qz_profile *p, const struct qz_sample *samples)
{
	return sample_valid(p, samples) ? qz_rows__add(p, &qz_polled_rows, samples) : -EINVAL;
}

static bool is_instrumentation(const struct qz_profile *p, const struct qz_sample *s)
{
	const struct qz_location *l = &p->locations[p->nodes[s->node].location];

	return s->node && !s->count && l->nlines &&
	       p->procedures[l->lines[0].procedure].kind == QZ_INSTRUMENTATION;
}

bool qz_sample__is_unattributed(const struct qz_profile *p, const struct qz_sample *s)
{
	return (s->thread == QZ_NONE && s->count == 0) || is_instrumentation(p, s);
}

static bool is_attributed(void *context, void *row)
{
	return !qz_sample__is_unattributed(context, row);
}

static bool has_samples(void *context, void *row)
{
	(void)context;
	return ((const struct qz_sample *)row)->count != 0;
}

void qz_profile__drop_unattributed(struct qz_profile *p)
{
	qz_rows__change(p, &qz_sample_rows, is_attributed, p);
}

void qz_profile__drop_empty_samples(struct qz_profile *p)
{
	qz_rows__change(p, &qz_sample_rows, has_samples, p);
}

/* ---- scopes and threads ---- */

bool qz_scope__is_measured(const struct qz_profile *p, uint32_t scope)
{
	const struct qz_scope *s = &p->scopes[scope];
	double expected = (double)qz_scope__running_ns(s) / 1e9 * p->rate_hz;

	return s->samples || !p->rate_hz || (s->elapsed_ns && expected < MANY_SAMPLES);
}

uint32_t qz_profile__machine(const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++)
		if (p->scopes[i].kind == QZ_SCOPE_MACHINE)
			return i;
	return QZ_NONE;
}

static const struct qz_entities scope_entities =
	QZ_ENTITIES(scopes, nscopes, vacant_scopes, first_scope, struct qz_scope);
static const struct qz_entities thread_entities =
	QZ_ENTITIES(threads, nthreads, vacant_threads, first_thread, struct qz_thread);

int64_t qz_profile__add_scope(struct qz_profile *p, const struct qz_scope *scope)
{
	struct qz_scope new = *scope;
	int64_t row = -ENOMEM;

	if (scope->kind >= QZ_SCOPE_KINDS || scope->nlevels == 0)
		return -EINVAL;
	if (scope->nlevels > QZ_MAX_LEVELS)
		return -E2BIG;
	new.comm = new.command = new.cgroup = new.cpuset = new.quota_cgroup = NULL;
	new.stack_ends = NULL;
	new.nstack_ends = 0;
	new.level_ns = calloc(scope->nlevels, sizeof(*new.level_ns));
	if (new.level_ns && !qz_profile__set_string(&new.comm, scope->comm) &&
	    !qz_profile__set_string(&new.command, scope->command) &&
	    !qz_profile__set_string(&new.cgroup, scope->cgroup) &&
	    !qz_profile__set_string(&new.cpuset, scope->cpuset) &&
	    !qz_profile__set_string(&new.quota_cgroup, scope->quota_cgroup))
		row = qz_entities__room(p, &scope_entities);
	if (row < 0) {
		qz_fields__free(&new, qz_scope_fields);
		return row;
	}
	if (scope->level_ns)
		memcpy(new.level_ns, scope->level_ns, scope->nlevels * sizeof(*new.level_ns));
	if (row < p->nscopes)
		qz_fields__free(&p->scopes[row], qz_scope_fields);
	return qz_entities__put(p, &scope_entities, row, &new);
}

int64_t qz_profile__add_thread(struct qz_profile *p, const struct qz_thread *thread)
{
	struct qz_thread new = *thread;
	int64_t row = -ENOMEM;

	if (thread->scope >= p->nscopes)
		return -EINVAL;
	new.comm = new.name = new.cpus = NULL;
	if (!qz_profile__set_string(&new.comm, thread->comm) &&
	    !qz_profile__set_string(&new.name, thread->name) &&
	    !qz_profile__set_string(&new.cpus, thread->cpus))
		row = qz_entities__room(p, &thread_entities);
	if (row < 0) {
		qz_fields__free(&new, qz_thread_fields);
		return row;
	}
	if (row < p->nthreads)
		qz_fields__free(&p->threads[row], qz_thread_fields);
	return qz_entities__put(p, &thread_entities, row, &new);
}

static int add_levels(struct qz_scope *to, const struct qz_scope *from)
{
	if (qz_levels__reach(&to->level_ns, &to->nlevels, from->nlevels - 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < from->nlevels; i++)
		to->level_ns[i] += from->level_ns[i];
	return 0;
}

int qz_scope__add_those(struct qz_scope *to, const struct qz_scope *from, unsigned int uses)
{
	int err = add_levels(to, from);

	qz_fields__add_those(to, from, qz_scope_fields, uses);
	to->threads_alive += from->threads_alive;
	for (uint32_t i = 0; !err && i < from->nstack_ends; i++)
		err = qz_losses__add(&to->stack_ends, &to->nstack_ends, from->stack_ends[i].cause,
				     from->stack_ends[i].count);
	return err;
}

int qz_scope__add(struct qz_scope *to, const struct qz_scope *from)
{
	return qz_scope__add_those(to, from, QZ_ADDS);
}

void qz_thread__add(struct qz_thread *to, const struct qz_thread *from)
{
	if (!to->start_ns || (from->start_ns && from->start_ns < to->start_ns))
		to->start_ns = from->start_ns;
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
	if (from->loop.longest_ns > to->loop.longest_ns)
		to->loop.longest_ns = from->loop.longest_ns;
	qz_fields__add(to, from, qz_thread_fields);
}

/* ---- vacant rows ---- */

bool qz_profile__has_vacant_rows(const struct qz_profile *p)
{
	return p->vacant_scopes || p->vacant_threads || p->vacant_objects;
}

void qz_profile__empty_string(char **field)
{
	char *less;

	(*field)[0] = '\0';
	less = realloc(*field, 1);
	if (less)
		*field = less;
}

void qz_scope__vacate(struct qz_profile *p, uint32_t scope)
{
	struct qz_scope *s = &p->scopes[scope], empty = {.pid = -1, .ended = true, .nlevels = 1};
	uint64_t *level = realloc(s->level_ns, sizeof(*level));

	qz_losses__free(s->stack_ends, s->nstack_ends);
	empty.comm = s->comm;
	empty.command = s->command;
	empty.cgroup = s->cgroup;
	empty.cpuset = s->cpuset;
	empty.quota_cgroup = s->quota_cgroup;
	qz_profile__empty_string(&empty.comm);
	qz_profile__empty_string(&empty.command);
	qz_profile__empty_string(&empty.cgroup);
	qz_profile__empty_string(&empty.cpuset);
	qz_profile__empty_string(&empty.quota_cgroup);
	empty.level_ns = level ? level : s->level_ns;
	empty.level_ns[0] = 0;
	*s = empty;
	qz_entities__vacate(p, &scope_entities, scope);
}

void qz_thread__vacate(struct qz_profile *p, uint32_t thread, uint32_t scope)
{
	struct qz_thread *t = &p->threads[thread], empty = {.scope = scope, .merged = true};

	empty.comm = t->comm;
	empty.name = t->name;
	empty.cpus = t->cpus;
	qz_profile__empty_string(&empty.comm);
	qz_profile__empty_string(&empty.name);
	qz_profile__empty_string(&empty.cpus);
	*t = empty;
	qz_entities__vacate(p, &thread_entities, thread);
}

/* ---- ledger ---- */

int qz_losses__add(struct qz_loss **losses, uint32_t *n, const char *cause, uint64_t count)
{
	struct qz_loss new = {.count = count};
	int err;

	for (uint32_t i = 0; i < *n; i++) {
		if (!strcmp((*losses)[i].cause, cause)) {
			(*losses)[i].count += count;
			return 0;
		}
	}
	if (*n >= QZ_MAX_CAUSES)
		return -E2BIG;
	err = qz_array__reserve((void **)losses, *n, sizeof(new));
	err = err ?: qz_profile__set_string(&new.cause, cause);
	if (!err)
		(*losses)[(*n)++] = new;
	return err;
}

int qz_ledger__add_loss(struct qz_ledger *l, const char *cause, uint64_t n)
{
	return qz_losses__add(&l->losses, &l->nlosses, cause, n);
}

int qz_ledger__add_event(struct qz_ledger *l, const char *cause, uint64_t n)
{
	return qz_losses__add(&l->events, &l->nevents, cause, n);
}

int qz_ledger__add_outside(struct qz_ledger *l, const char *program, uint64_t n)
{
	return qz_losses__add(&l->outside, &l->noutside, program, n);
}

void qz_ledger__clear(struct qz_ledger *l)
{
	l->expected = 0;
	l->accepted = 0;
	l->filtered = 0;
	l->unaccounted = 0;
	for (uint32_t i = 0; i < l->nlosses; i++)
		l->losses[i].count = 0;
	for (uint32_t i = 0; i < l->nevents; i++)
		l->events[i].count = 0;
	for (uint32_t i = 0; i < l->noutside; i++)
		l->outside[i].count = 0;
}

int qz_ledger__add(struct qz_ledger *to, const struct qz_ledger *from)
{
	int err = 0;

	qz_fields__add(to, from, qz_ledger_fields);
	to->unaccounted += from->unaccounted;
	for (uint32_t i = 0; !err && i < from->nlosses; i++)
		err = qz_ledger__add_loss(to, from->losses[i].cause, from->losses[i].count);
	for (uint32_t i = 0; !err && i < from->nevents; i++)
		err = qz_ledger__add_event(to, from->events[i].cause, from->events[i].count);
	for (uint32_t i = 0; !err && i < from->noutside; i++)
		err = qz_ledger__add_outside(to, from->outside[i].cause, from->outside[i].count);
	return err;
}

uint64_t qz_ledger__lost(const struct qz_ledger *l)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->nlosses; i++)
		sum += l->losses[i].count;
	return sum;
}

uint64_t qz_ledger__event(const struct qz_ledger *l, const char *cause)
{
	for (uint32_t i = 0; i < l->nevents; i++)
		if (!strcmp(l->events[i].cause, cause))
			return l->events[i].count;
	return 0;
}

void qz_ledger__close(struct qz_ledger *l)
{
	l->unaccounted = (int64_t)(l->expected - l->accepted - l->filtered - qz_ledger__lost(l));
}
