// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"
#include "core/util/hash_table.h"
#include "daemon/kernel/kernel_names.h"
#include "daemon/util/log.h"
#include "daemon/attribution/address_cache.h"

#define BATCH	     256
#define MOST_UNKNOWN 32768 /* addresses that are told apart: as many more nodes at least */

struct address_cache {
	struct symbolizer *symbolizer;
	struct modules *modules;
	struct qz_profile *profile;
	struct bpf_runtime *bpf;
	bool expects_late; /* maps */
	bool met_32_bits;  /* which was said */
	uint32_t nunknown; /* addresses that were told apart */
	uint32_t *named;   /* locations of these that have a name now */
	uint32_t nnamed;
	uint32_t looked; /* the module whose map was looked at last, in this round */
	struct cached_address *items;
	uint32_t n;
	uint32_t *wanted; /* indices of items */
	uint32_t nwanted;
	struct qz_hash_table table;
};

struct address_cache *address_cache__new(struct symbolizer *symbolizer, struct modules *modules,
					 struct bpf_runtime *bpf, struct qz_profile *profile)
{
	struct address_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->symbolizer = symbolizer;
	cache->modules = modules;
	cache->bpf = bpf;
	cache->profile = profile;
	cache->looked = MODULE_NONE;
	return cache;
}

void address_cache__free(struct address_cache *cache)
{
	if (!cache)
		return;
	free(cache->items);
	free(cache->wanted);
	free(cache->named);
	qz_hash_table__free(&cache->table);
	free(cache);
}

struct modules *address_cache__modules(const struct address_cache *cache)
{
	return cache->modules;
}

/* ---- the table ---- */

static uint32_t find(const struct address_cache *cache, uint32_t module, uint64_t address)
{
	struct cached_address key = {.module = module, .address = address};

	return QZ_FIND(&cache->table, cache->items, &key, module);
}

/*
 * Where code is made at run time, a name may come later, and other code be put where that was: its map has
 * grown then. Also when the symbolizer is back.
 */
static bool is_final(const struct address_cache *cache, const struct cached_address *cached)
{
	const struct module *m = modules__get(cache->modules, cached->module);

	if (m && m->jit)
		return cached->found && cached->read == m->read;
	return cached->found || !cached->later;
}

static void look_at_map(struct address_cache *cache, uint32_t module, bool at_once)
{
	const struct module *m = modules__get(cache->modules, module);

	if (!m || !m->jit || cache->looked == module)
		return;
	modules__look(cache->modules, module, at_once);
	cache->looked = module;
}

int address_cache__want(struct address_cache *cache, uint32_t module, uint64_t address)
{
	const struct cached_address new = {
		.module = module, .address = address, .location = QZ_NONE};
	uint32_t i = find(cache, module, address);

	look_at_map(cache, module, false);
	if (qz_array__reserve((void **)&cache->wanted, cache->nwanted, sizeof(*cache->wanted)))
		return -ENOMEM;
	if (i == UINT32_MAX) {
		i = cache->n;
		if (QZ_INTERN(&cache->table, &cache->items, &cache->n, &new, module) < 0)
			return -ENOMEM;
	} else if (is_final(cache, &cache->items[i])) {
		return 0;
	}
	cache->wanted[cache->nwanted++] = i;
	return 0;
}

const struct cached_address *address_cache__get(const struct address_cache *cache, uint32_t module,
						uint64_t address)
{
	uint32_t i = find(cache, module, address);

	return i == UINT32_MAX || cache->items[i].location == QZ_NONE ? NULL : &cache->items[i];
}

int64_t address_cache__procedure(struct qz_profile *profile, const struct cached_address *cached)
{
	const struct qz_procedure unknown = {
		.name = QZ_NAME_UNKNOWN, .module = "", .file = "", .kind = QZ_PROCEDURE};

	return cached && cached->location != QZ_NONE
		       ? profile->locations[cached->location].lines[0].procedure
		       : qz_profile__intern_procedure(profile, &unknown);
}

uint32_t address_cache__count(const struct address_cache *cache)
{
	return cache->n;
}

const struct cached_address *address_cache__at(const struct address_cache *cache, uint32_t index)
{
	return cache->items[index].location == QZ_NONE ? NULL : &cache->items[index];
}

/* ---- naming ---- */

/* symbols: its number in the symbolizer, or -errno. */
static uint32_t mapping_of(struct address_cache *cache, struct module *m, int symbols)
{
	struct qz_mapping mapping = {.path = m->path, .build_id = (char *)"", .limit = 1ull << 47};
	const char *build_id;
	int64_t index;
	int err = symbols;

	if (m->mapping != QZ_NONE || m->jit)
		return m->mapping;
	if (symbols >= 0)
		err = symbolizer__build_id(cache->symbolizer, symbols, &build_id);
	if (symbolizer__is_passing(err))
		return QZ_NONE;
	if (!err)
		mapping.build_id = (char *)build_id;
	index = qz_profile__intern_mapping(cache->profile, &mapping);
	m->mapping = index < 0 ? QZ_NONE : index;
	return m->mapping;
}

static int set_location(struct address_cache *cache, struct cached_address *cached,
			uint32_t mapping, uint64_t start, const struct symbolizer_frame *frames,
			uint32_t n, const char *module)
{
	struct qz_line lines[64];
	struct qz_location location = {.address = start, .mapping = mapping, .lines = lines};
	int64_t index;

	if (n > sizeof(lines) / sizeof(lines[0]))
		n = sizeof(lines) / sizeof(lines[0]);
	for (uint32_t i = 0; i < n; i++) {
		struct qz_procedure procedure = {
			.name = (char *)frames[i].name,
			.module = (char *)module,
			.file = (char *)frames[i].file,
			.line = frames[i].decl_line,
		};

		index = qz_profile__intern_procedure(cache->profile, &procedure);
		if (index < 0)
			return index;
		lines[i] = (struct qz_line) {.procedure = index, .line = frames[i].line};
		index = qz_profile__place_line(cache->profile, &lines[i], frames[i].line_file);
		if (index < 0)
			return index;
	}
	location.nlines = n;
	index = qz_profile__intern_location(cache->profile, &location);
	if (index < 0)
		return index;
	cached->location = index;
	return 0;
}

/* err: why it has no name; 0: nothing has one for it. */
static int set_unknown(struct address_cache *cache, struct cached_address *cached, uint32_t mapping,
		       const char *module, int err)
{
	struct symbolizer_frame frame = {
		.name = err == -ENOTSUP ? QZ_NAME_32_BITS : QZ_NAME_UNKNOWN,
		.file = "",
		.line_file = "",
	};
	const struct module *m = modules__get(cache->modules, cached->module);
	uint32_t before = cache->profile->nlocations;

	if (cached->unknown)
		return 0;
	if (cache->expects_late && m && m->jit && cache->nunknown < MOST_UNKNOWN) {
		err = set_location(cache, cached, mapping, cached->address, &frame, 1, module);
		/* not if it is that of another process */
		cached->unknown = !err && cached->location == before;
		cache->nunknown += cached->unknown;
		if (err || cached->unknown)
			return err;
	}
	return set_location(cache, cached, mapping, 0, &frame, 1, module);
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/* The C library's way into the kernel when a thread or process is made. */
static bool is_creator(const char *name)
{
	static const char *const names[] = {
		"clone",	 "__clone",	   "clone3",
		"__clone3",	 "fork",	   "__fork",
		"_Fork",	 "__libc_fork",	   "vfork",
		"__vfork",	 "__libc_vfork",   "__clone_internal",
		"create_thread", "pthread_create", "__pthread_create_2_1",
		"arch_fork",	 "posix_spawn",	   "__posix_spawn",
		"__spawnix",	 "__spawni",	   NULL,
	};

	return is_one_of(name, names);
}

/* Where the stack of a goroutine ends, whichever thread runs it. */
static bool is_task(const char *name)
{
	static const char *const names[] = {"runtime.goexit", "runtime.goexit.abi0", NULL};

	return is_one_of(name, names);
}

static int resolve_kernel(struct address_cache *cache, struct cached_address *cached)
{
	struct symbolizer_frame frame = {.file = "", .line_file = ""};
	struct kernel_code code;

	if (!kernel_names__find(cache->bpf, cached->address, &code))
		return set_unknown(cache, cached, QZ_NONE, "[kernel]", 0);
	frame.name = code.name;
	cached->found = true;
	return set_location(cache, cached, QZ_NONE, code.start, &frame, 1, "[kernel]");
}

/* What stands in the profile for the address alone has the name that was found. */
static int name_unknown(struct address_cache *cache, struct cached_address *cached,
			uint32_t unknown)
{
	if (qz_array__reserve((void **)&cache->named, cache->nnamed, sizeof(*cache->named)))
		return -ENOMEM;
	cached->unknown = false;
	cache->named[cache->nnamed++] = unknown;
	return qz_profile__rename_location(cache->profile, unknown, cached->location);
}

static int take_answer(struct address_cache *cache, struct cached_address *cached, struct module *m,
		       uint32_t mapping, const struct symbolizer_answer *answer)
{
	uint64_t start = answer->start;
	uint32_t unknown = cached->unknown ? cached->location : QZ_NONE;
	int err;

	if (!answer->found || !answer->nframes)
		return set_unknown(cache, cached, mapping, m->path, 0);
	cached->found = true;
	cached->outermost = answer->outermost;
	cached->creator = is_creator(answer->frames[answer->nframes - 1].name);
	cached->task = is_task(answer->frames[answer->nframes - 1].name);
	if (cache->profile->addresses_sampled && !m->jit)
		start = cached->address;
	err = set_location(cache, cached, mapping, start, answer->frames, answer->nframes, m->path);
	return err || unknown == QZ_NONE ? err : name_unknown(cache, cached, unknown);
}

/* Names n wanted addresses of one module. */
static int resolve_batch(struct address_cache *cache, uint32_t module, const uint32_t *indices,
			 uint32_t n)
{
	struct module *m = modules__get(cache->modules, module);
	uint64_t addresses[BATCH];
	struct symbolizer_answer answers[BATCH];
	int symbols = modules__symbols(cache->modules, module), err = symbols;
	uint32_t mapping = m ? mapping_of(cache, m, symbols) : QZ_NONE;

	for (uint32_t i = 0; i < n; i++)
		addresses[i] = cache->items[indices[i]].address;
	if (symbols >= 0) {
		modules__complete(cache->modules, module, addresses, n);
		err = symbolizer__resolve(cache->symbolizer, symbols, addresses, n, answers);
	}
	if (err == -ENOTSUP && !cache->met_32_bits) {
		cache->met_32_bits = true;
		log_warning("%s is code of 32 bits: its procedures and locks have no names, and "
			    "their callers are not known",
			    m->path);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct cached_address *cached = &cache->items[indices[i]];
		int failed;

		cached->later = symbolizer__is_passing(err);
		cached->read = m ? m->read : 0;
		if (err)
			failed = set_unknown(cache, cached, mapping, m ? m->path : "", err);
		else
			failed = take_answer(cache, cached, m, mapping, &answers[i]);
		if (failed)
			return failed;
	}
	return 0;
}

void address_cache__expect_late_maps(struct address_cache *cache)
{
	cache->expects_late = true;
}

/* Asks for all that are told apart, once each map was looked at. */
static int want_unknown(struct address_cache *cache)
{
	int err = 0;

	cache->looked = MODULE_NONE;
	for (uint32_t i = 0; i < cache->n; i++)
		if (cache->items[i].unknown)
			look_at_map(cache, cache->items[i].module, true);
	for (uint32_t i = 0; i < cache->n && !err; i++) {
		const struct cached_address *cached = &cache->items[i];
		const struct module *m = modules__get(cache->modules, cached->module);

		if (cached->unknown && cached->read != m->read)
			err = address_cache__want(cache, cached->module, cached->address);
	}
	return err;
}

/* Samples whose innermost frame was named after they were counted. */
static int count_named(struct address_cache *cache)
{
	struct qz_profile *p = cache->profile;
	bool *named;

	if (!cache->nnamed)
		return 0;
	named = calloc(p->nlocations + 1UL, sizeof(*named));
	if (!named)
		return -ENOMEM;
	for (uint32_t i = 0; i < cache->nnamed; i++)
		named[cache->named[i]] = true;
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		uint64_t *unresolved = &p->scopes[s->scope].unresolved;

		/* one without a stack is at the root, which is no location */
		if (s->node && named[p->nodes[s->node].location])
			*unresolved -= s->count < *unresolved ? s->count : *unresolved;
	}
	free(named);
	return 0;
}

int address_cache__name_late(struct address_cache *cache)
{
	int err = want_unknown(cache) ?: address_cache__resolve(cache);

	return err ?: count_named(cache);
}

static int by_module(const void *a, const void *b, void *context)
{
	const struct address_cache *cache = context;
	const struct cached_address *x = &cache->items[*(const uint32_t *)a];
	const struct cached_address *y = &cache->items[*(const uint32_t *)b];

	return x->module < y->module ? -1 : x->module > y->module;
}

int address_cache__resolve(struct address_cache *cache)
{
	uint32_t i = 0, n;
	int err = 0;

	cache->looked = MODULE_NONE;
	if (!cache->nwanted)
		return 0;
	qsort_r(cache->wanted, cache->nwanted, sizeof(*cache->wanted), by_module, cache);
	while (i < cache->nwanted && !err) {
		uint32_t module = cache->items[cache->wanted[i]].module;

		for (n = 1; n < BATCH && i + n < cache->nwanted; n++)
			if (cache->items[cache->wanted[i + n]].module != module)
				break;
		if (module != MODULE_KERNEL)
			err = resolve_batch(cache, module, &cache->wanted[i], n);
		for (uint32_t k = 0; k < n && module == MODULE_KERNEL && !err; k++)
			err = resolve_kernel(cache, &cache->items[cache->wanted[i + k]]);
		i += n;
	}
	cache->nwanted = 0;
	return err;
}
