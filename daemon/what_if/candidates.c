// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/what_if/candidates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/what_if.h"
#include "core/replay/log_profile.h"
#include "core/report/report.h"
#include "core/util/vec.h"
#include "daemon/kernel/bpf_candidates.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/waits/objects.h"
#include "daemon/what_if/candidate_names.h"

#define CHOOSE_AFTER 1000000000ull /* ns of the run that "auto" uses */

_Static_assert(REPLAY_SPEEDS == QZ_WHAT_IF_SPEEDS, "the profile has the speeds of the replay");

/* A procedure of a candidate, in a file: from and to which offset. */
struct code {
	uint32_t module, candidate;
	uint64_t start, end;
};

/* What is known of a scope that ended at a time. */
struct ended {
	uint64_t when;
	struct replay_what_if figures;
};

struct candidates {
	struct candidates_context context;
	struct live *live; /* NULL: not yet */
	struct candidate_names names;
	bool automatic;
	uint64_t began;
	uint32_t checked; /* addresses */
	struct code *code;
	uint32_t ncode;
	uint32_t news; /* candidates with code that no image was told of, a bit each */
	enum qz_what_if_kind kinds[QZ_CANDIDATES];
	uint8_t objects[QZ_OBJECT_SLOTS + 1]; /* by number: candidate + 1 that was told */
	struct ended *ended;		      /* by scope in BPF */
};

struct candidates *candidates__new(const struct candidates_context *context, const char *names)
{
	struct candidates *c = calloc(1, sizeof(*c));
	int err = 0;

	if (!c)
		return NULL;
	c->context = *context;
	c->began = bpf_runtime__now();
	c->automatic = !strcmp(names, "auto");
	c->ended = calloc(bpf_runtime__max_scopes(context->bpf), sizeof(*c->ended));
	if (!c->ended)
		err = -ENOMEM;
	else if (!c->automatic)
		err = candidate_names__parse(&c->names, names);
	if (!err)
		return c;
	candidates__free(c);
	errno = -err;
	return NULL;
}

void candidates__free(struct candidates *c)
{
	if (!c)
		return;
	candidate_names__free(&c->names);
	free(c->code);
	free(c->ended);
	free(c);
}

void candidates__use_log(struct candidates *c, struct live *live)
{
	c->live = live;
}

/* ---- code ---- */

/* The candidate that a procedure is, or QZ_CANDIDATES. */
static uint32_t candidate_of(const struct candidates *c, const struct qz_procedure *proc)
{
	for (uint32_t i = 0; i < c->names.n; i++)
		if (proc->kind == QZ_PROCEDURE && qz_procedure__is_called(proc, c->names.items[i]))
			return i;
	return QZ_CANDIDATES;
}

static bool is_known(const struct candidates *c, uint32_t module, uint64_t address)
{
	for (uint32_t i = 0; i < c->ncode; i++)
		if (c->code[i].module == module && address >= c->code[i].start &&
		    address < c->code[i].end)
			return true;
	return false;
}

/* From where to where the procedure at an address is. False where that is not known, as of code made at run time. */
static bool find_extent(struct candidates *c, const struct cached_address *cached,
			struct code *code)
{
	int symbols = modules__symbols(c->context.modules, cached->module);
	struct spin_record record;

	if (symbols < 0 ||
	    symbolizer__classify(c->context.symbolizer, symbols, &cached->address, 1, &record))
		return false;
	code->start = record.procedure_start;
	code->end = record.procedure_end;
	return cached->address >= code->start && cached->address < code->end;
}

static int look(struct candidates *c, const struct cached_address *cached)
{
	const struct qz_profile *p = c->context.profile;
	const struct qz_location *l = &p->locations[cached->location];
	struct code code = {.module = cached->module};

	code.candidate = candidate_of(c, &p->procedures[l->lines[l->nlines - 1].procedure]);
	if (code.candidate == QZ_CANDIDATES || cached->module == MODULE_KERNEL ||
	    is_known(c, cached->module, cached->address))
		return 0;
	c->kinds[code.candidate] = QZ_WHAT_IF_PROCEDURE;
	if (!find_extent(c, cached, &code))
		return 0;
	if (qz_array__reserve((void **)&c->code, c->ncode, sizeof(*c->code)))
		return -ENOMEM;
	c->code[c->ncode++] = code;
	c->news |= 1u << code.candidate;
	return 0;
}

static int check_addresses(struct candidates *c)
{
	uint32_t n = address_cache__count(c->context.addresses);
	int err = 0;

	for (; !err && c->checked < n; c->checked++) {
		const struct cached_address *cached =
			address_cache__at(c->context.addresses, c->checked);

		if (cached)
			err = look(c, cached);
	}
	return err;
}

/* ---- where it is ---- */

static void add_range(struct qz_candidate_code *to, const struct region *r, const struct code *code)
{
	uint64_t from = code->start > r->offset ? code->start : r->offset;
	uint64_t until = r->offset + (r->end - r->start);

	if (until > code->end)
		until = code->end;
	if (code->module != r->module || from >= until || to->n == QZ_CANDIDATE_RANGES)
		return;
	to->ranges[to->n++] = (struct qz_candidate_range) {
		.start = r->start + (from - r->offset),
		.end = r->start + (until - r->offset),
		.candidate = code->candidate,
	};
}

/* With the lock of the address spaces held. */
static void publish_image(struct candidates *c, struct image *image)
{
	const struct address_map *map = &image->map;
	struct qz_candidate_code told = {0};

	for (uint32_t i = 0; i < map->n; i++)
		for (uint32_t k = 0; k < c->ncode; k++)
			add_range(&told, &map->items[i], &c->code[k]);
	if (told.n)
		bpf_candidates__set_image(c->context.bpf, image->number, &told);
}

/* Contents that are told are not 0. */
static uint64_t contents_of(const struct image *image)
{
	return image->contents + 1;
}

/* Samples know from now on what they meet. */
static int tell_news(struct candidates *c)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < c->names.n; i++)
		if (c->news >> i & 1)
			err = live__know_candidate(c->live, i);
	c->news = 0;
	return err;
}

int candidates__publish(struct candidates *c)
{
	struct address_spaces *spaces = c->context.spaces;
	uint32_t n;

	if (!c->ncode || !c->live)
		return 0;
	address_spaces__lock(spaces);
	n = address_spaces__count(spaces);
	for (uint32_t i = 0; i < n; i++) {
		struct image *image = address_spaces__at(spaces, i);

		if (image->ended || (!c->news && image->candidates == contents_of(image)))
			continue;
		image->candidates = contents_of(image);
		publish_image(c, image);
	}
	address_spaces__unlock(spaces);
	return tell_news(c);
}

/* ---- objects ---- */

static uint32_t candidate_of_object(const struct candidates *c, uint32_t index)
{
	for (uint32_t i = 0; index != QZ_NONE && i < c->names.n; i++)
		if (qz_what_if__is_object(c->names.items[i], &c->context.profile->objects[index]))
			return i;
	return QZ_CANDIDATES;
}

static int check_objects(struct candidates *c)
{
	const struct objects *objects = wait_drain__objects(c->context.waits);
	int err = 0;

	for (uint32_t number = 1; !err && number <= QZ_OBJECT_SLOTS; number++) {
		uint32_t index = objects__peek(objects, number);
		uint32_t candidate = candidate_of_object(c, index);
		uint8_t told = candidate < QZ_CANDIDATES ? candidate + 1 : 0;

		if (told == c->objects[number])
			continue;
		c->objects[number] = told;
		live__set_candidate_object(c->live, number, candidate);
		if (!told)
			continue;
		if (c->kinds[candidate] != QZ_WHAT_IF_OBJECT)
			err = live__know_candidate(c->live, candidate);
		c->kinds[candidate] = QZ_WHAT_IF_OBJECT;
	}
	return err;
}

/* ---- drains ---- */

static int choose(struct candidates *c)
{
	int err;

	if (bpf_runtime__now() - c->began < CHOOSE_AFTER)
		return 0;
	err = candidate_names__choose(&c->names, c->context.profile);
	if (c->names.n)
		c->automatic = false;
	return err;
}

int candidates__learn(struct candidates *c)
{
	int err = c->automatic ? choose(c) : 0;

	if (err || c->automatic || !c->live)
		return err;
	err = check_addresses(c);
	err = err ?: check_objects(c);
	return err ?: c->news ? candidates__publish(c) : 0;
}

/* ---- results ---- */

static int add(struct candidates *c, uint32_t row, const struct replay_what_if *figures)
{
	struct qz_profile *p = c->context.profile;
	int err = 0;

	for (uint32_t i = 0; !err && i < c->names.n; i++) {
		struct qz_what_if w = {
			.scope = row, .kind = c->kinds[i], .name = c->names.items[i]};

		log_profile__fill_what_if(figures, i, p->scopes[row].cpu_ns, &w);
		err = qz_what_ifs__add(p, &w);
	}
	return err;
}

/* What takes seconds to work out is kept: nothing changes after the end. */
static int add_scope(struct candidates *c, uint32_t scope, uint32_t row)
{
	struct ended *e = &c->ended[scope];
	uint64_t end = bpf_scopes__state(c->context.bpf, scope)->ended;
	int err = 0;

	if (!c->context.profile->scopes[row].ended || !c->live)
		return 0;
	if (e->when != end)
		err = live__what_if(c->live, scope, &e->figures);
	if (err)
		return err == -ENOENT ? 0 : err;
	e->when = end;
	return add(c, row, &e->figures);
}

int candidates__refresh(struct candidates *c, const uint32_t *scopes, uint32_t nscopes)
{
	int err = 0;

	qz_profile__clear_what_ifs(c->context.profile);
	for (uint32_t i = 0; !err && i < nscopes; i++)
		if (scopes[i] != QZ_NONE)
			err = add_scope(c, i, scopes[i]);
	return err;
}
