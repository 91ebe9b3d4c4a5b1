// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "daemon/log.h"
#include "daemon/pool.h"
#include "daemon/proc.h"
#include "daemon/tables.h"

/* A walk takes microseconds; whoever was interrupted in one has surely been back by then. */
#define GRACE	1000000000ull
#define PAGE_KB 4

/*
 * An image of no more regions has all its tables built unasked, in some 50 ms. Of the hundreds that
 * others have, most are never executed: their tables would take longer and fill the memory. Of those
 * the first one, the program's own, is built.
 */
#define EAGER_REGIONS 32

#define MAX_ENDED 256 /* images that have ended are forgotten when there are so many */

/* The table of a module. */
struct table {
	bool known; /* it was tried to build one */
	uint32_t first, count;
	struct symbolizer_table layout;
};

/* The regions of images with equal contents. */
struct listing {
	uint64_t contents;
	struct qz_unwind_image image;
	uint32_t users; /* 0: free to be used anew */
	uint32_t
		unasked; /* how many of its regions, from the first one, are to be built unasked yet */
	uint32_t next; /* of those in use in its bucket, or of the free ones; NONE: the last one */
};

#define BUCKETS 4096
#define NONE	UINT32_MAX

struct tables {
	struct engine *engine;
	struct symbolizer *symbolizer;
	struct modules *modules;
	struct images *images;
	struct pool rows, regions;
	struct table *tables; /* by module */
	uint32_t ntables;
	struct listing *listings;
	uint32_t nlistings;
	uint32_t free;		   /* the first free listing */
	uint32_t buckets[BUCKETS]; /* the first one in use, by contents */
	uint64_t full;
	bool look;	/* for regions whose tables are wanted */
	bool complete;	/* nothing is to be built unasked */
	bool waiting;	/* an image has changed and is not published, or to be confirmed */
	uint32_t first; /* image that has not ended */
	uint32_t ended; /* images seen to have, by the last call of tables__publish() */
};

struct tables *tables__new(struct engine *engine, struct symbolizer *symbolizer,
			   struct modules *modules, struct images *images)
{
	struct tables *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->engine = engine;
	t->symbolizer = symbolizer;
	t->modules = modules;
	t->images = images;
	t->free = NONE;
	memset(t->buckets, 0xff, sizeof(t->buckets));
	if (pool__init(&t->rows, engine__unwind_rows(engine), GRACE) ||
	    pool__init(&t->regions, engine__unwind_regions(engine, NULL), GRACE)) {
		tables__free(t);
		return NULL;
	}
	return t;
}

void tables__free(struct tables *t)
{
	if (!t)
		return;
	pool__free(&t->rows);
	pool__free(&t->regions);
	free(t->tables);
	free(t->listings);
	free(t);
}

void tables__look(struct tables *t)
{
	t->look = true;
}

uint64_t tables__full(const struct tables *t)
{
	return t->full;
}

/* ---- tables of modules ---- */

static struct table *table_slot(struct tables *t, uint32_t module)
{
	if (module >= t->ntables) {
		uint32_t n = module + 64;
		struct table *more = reallocarray(t->tables, n, sizeof(*more));

		if (!more)
			return NULL;
		memset(&more[t->ntables], 0, (n - t->ntables) * sizeof(*more));
		t->tables = more;
		t->ntables = n;
	}
	return &t->tables[module];
}

static bool is_used(const struct tables *t, uint32_t first)
{
	struct qz_unwind_region *regions;

	engine__unwind_regions(t->engine, &regions);
	for (uint32_t i = 0; i < t->nlistings; i++) {
		const struct listing *l = &t->listings[i];

		for (uint32_t k = 0; l->users && k < l->image.count; k++)
			if (regions[l->image.first + k].count &&
			    regions[l->image.first + k].first == first)
				return true;
	}
	return false;
}

/* Tables that no living image has mapped make room; they are built again when they are needed. */
static void evict(struct tables *t, uint64_t now)
{
	for (uint32_t i = 0; i < t->ntables; i++) {
		struct table *table = &t->tables[i];

		if (!table->count || is_used(t, table->first))
			continue;
		pool__give(&t->rows, table->first, table->count, now);
		*table = (struct table) {0};
	}
}

static void store(struct tables *t, struct table *table, const struct qz_unwind_row *rows,
		  uint32_t n)
{
	uint64_t now = engine__now();
	uint32_t first = pool__take(&t->rows, n, now);

	if (first == UINT32_MAX) {
		evict(t, now);
		t->full++;
		return;
	}
	if (engine__store_rows(t->engine, first, rows, n)) {
		pool__give(&t->rows, first, n, now);
		return;
	}
	table->first = first;
	table->count = n;
}

/* NULL: there can be none. */
static struct table *table_of(struct tables *t, uint32_t module)
{
	const struct module *m = modules__get(t->modules, module);

	return m && !m->jit && m->symbols >= 0 ? table_slot(t, module) : NULL;
}

void tables__build_module(struct tables *t, uint32_t module)
{
	struct table *table = table_of(t, module);
	struct qz_unwind_row *rows;
	uint32_t n;

	if (!table || table->known)
		return;
	table->known = true;
	if (symbolizer__unwind_table(t->symbolizer, modules__get(t->modules, module)->symbols,
				     &rows, &n, &table->layout))
		return;
	store(t, table, rows, n);
	free(rows);
}

/* ---- regions of images ---- */

/*
 * By what is built. The unwinder may be reading the region: the rows are counted last. One whose table
 * cannot be built, or for which there is no room, is walked by frame pointers.
 */
static void fill_region(struct tables *t, const struct region *r, struct qz_unwind_region *to)
{
	const struct table *table = table_of(t, r->module);
	const struct module *m = modules__get(t->modules, r->module);
	uint64_t vaddr;

	to->start = r->start;
	to->end = r->end;
	if (table && !table->known) {
		to->first = QZ_UNWIND_PENDING;
		return;
	}
	if (!table || !table->count ||
	    !symbolizer_table__vaddr(&table->layout, r->offset, &vaddr)) {
		to->first = m && m->jit ? QZ_UNWIND_GENERATED : 0;
		return;
	}
	to->bias = r->start - (vaddr - table->layout.base);
	to->first = table->first;
	__atomic_store_n(&to->count, table->count, __ATOMIC_RELEASE);
}

/* Where the listing of these contents is named, or where the bucket ends. */
static uint32_t *find_link(struct tables *t, uint64_t contents)
{
	uint32_t *link = &t->buckets[contents % BUCKETS];

	while (*link != NONE && t->listings[*link].contents != contents)
		link = &t->listings[*link].next;
	return link;
}

static struct listing *find_listing(struct tables *t, uint64_t contents)
{
	uint32_t i = *find_link(t, contents);

	return i == NONE ? NULL : &t->listings[i];
}

/* Nothing of its contents is listed yet. */
static struct listing *add_listing(struct tables *t, uint64_t contents)
{
	uint32_t *bucket = &t->buckets[contents % BUCKETS], i = t->free;

	if (i == NONE) {
		if (qz_array__reserve((void **)&t->listings, t->nlistings, sizeof(*t->listings)))
			return NULL;
		i = t->nlistings++;
	} else {
		t->free = t->listings[i].next;
	}
	t->listings[i] = (struct listing) {.contents = contents, .users = 1, .next = *bucket};
	*bucket = i;
	return &t->listings[i];
}

static void release(struct tables *t, uint64_t contents)
{
	uint32_t *link = find_link(t, contents), i = *link;
	struct listing *l = i == NONE ? NULL : &t->listings[i];

	if (!l || --l->users)
		return;
	pool__give(&t->regions, l->image.first, l->image.count, engine__now());
	*link = l->next;
	l->next = t->free;
	t->free = i;
}

static bool has_jit(const struct tables *t, const struct image *image)
{
	for (uint32_t i = 0; i < image->regions.n; i++) {
		const struct module *m = modules__get(t->modules, image->regions.items[i].module);

		if (m && m->jit)
			return true;
	}
	return false;
}

/*
 * Pages of code that the process has, as mm->exec_vm counts them: VmExe + VmLib. 0 for one that
 * makes code as it runs, where the number changes all the time and tells nothing.
 */
static uint64_t read_exec_vm(const struct tables *t, const struct image *image)
{
	bool compared = !engine__sees_mappings(t->engine) && !has_jit(t, image);
	int dir = !compared ? -1 : proc__open(image->pid, image->start_boottime);
	uint64_t kb = 0;
	char value[64];

	if (dir < 0)
		return 0;
	if (!proc__status(dir, "VmExe", value, sizeof(value)))
		kb += strtoull(value, NULL, 10);
	if (!proc__status(dir, "VmLib", value, sizeof(value)))
		kb += strtoull(value, NULL, 10);
	close(dir);
	return kb / PAGE_KB;
}

/* With its first user. */
static struct listing *make_listing(struct tables *t, const struct image *image)
{
	uint32_t first = pool__take(&t->regions, image->regions.n, engine__now());
	struct qz_unwind_region *regions;
	struct listing *l;

	if (first == UINT32_MAX) {
		t->full++;
		return NULL;
	}
	l = add_listing(t, image->contents);
	if (!l) {
		pool__give(&t->regions, first, image->regions.n, 0);
		return NULL;
	}
	engine__unwind_regions(t->engine, &regions);
	memset(&regions[first], 0, image->regions.n * sizeof(*regions));
	l->image = (struct qz_unwind_image) {first, image->regions.n, read_exec_vm(t, image), 0};
	l->unasked = image->regions.n <= EAGER_REGIONS ? image->regions.n : 1;
	for (uint32_t i = 0; i < image->regions.n; i++)
		fill_region(t, &image->regions.items[i], &regions[first + i]);
	return l;
}

/* The unwinder uses the regions of the listing, which hold what was mapped up to `known`. */
static void hand_over(struct tables *t, const struct image *image, const struct listing *l,
		      uint64_t known)
{
	struct qz_unwind_image regions = l->image;

	regions.known = known;
	engine__set_unwind_image(t->engine, image->number, &regions);
}

/* What the process has now. The regions of a module are neighbours: it is counted once. */
static void tell(const struct tables *t, const struct image *image, const struct listing *l)
{
	struct qz_unwind_region *regions;
	uint32_t modules = 0;
	uint64_t rows = 0;

	if (!log__prints(LOG_DEBUG))
		return;
	engine__unwind_regions(t->engine, &regions);
	regions += l->image.first;
	for (uint32_t i = 0; i < l->image.count; i++) {
		if (!regions[i].count || (i && regions[i].first == regions[i - 1].first))
			continue;
		modules++;
		rows += regions[i].count;
	}
	log_debug("unwind tables of process %d: %u regions, %u modules, %llu rows, %llu bytes, "
		  "%.1f ms after it was seen",
		  image->pid, l->image.count, modules, (unsigned long long)rows,
		  (unsigned long long)(rows * sizeof(struct qz_unwind_row) +
				       l->image.count * sizeof(*regions)),
		  (engine__now() - image->seen) / 1e6);
}

static void publish(struct tables *t, struct image *image, uint64_t known)
{
	uint64_t before = image->published;
	struct listing *l = find_listing(t, image->contents);

	if (l)
		l->users++;
	else
		l = make_listing(t, image);
	image->published = image->contents;
	t->complete = false;
	if (l) {
		hand_over(t, image, l, known);
		tell(t, image, l);
	}
	release(t, before);
}

/*
 * What was mapped over other code is known only some time after it was reported: until then the image
 * is handed over again and again.
 */
static void confirm(struct tables *t, struct image *image, uint64_t known)
{
	const struct listing *l = find_listing(t, image->published);

	if (l)
		hand_over(t, image, l, known);
	if (known > image->mapped + QZ_UNWIND_MARGIN)
		image->mapped = 0;
}

static void withdraw(struct tables *t, struct image *image)
{
	engine__set_unwind_image(t->engine, image->number, NULL);
	release(t, image->published);
	image->published = 0;
}

/* ---- building ---- */

/* The table of a region, for all its regions of the listing. */
static void build(struct tables *t, const struct image *image, const struct listing *l, uint32_t at)
{
	uint32_t module = image->regions.items[at].module;
	struct qz_unwind_region *regions;

	tables__build_module(t, module);
	engine__unwind_regions(t->engine, &regions);
	for (uint32_t i = 0; i < l->image.count; i++) {
		struct qz_unwind_region *r = &regions[l->image.first + i];

		if (image->regions.items[i].module == module && !r->count &&
		    r->first >= QZ_UNWIND_WANTED)
			fill_region(t, &image->regions.items[i], r);
	}
}

/* Builds the table of the first of n regions, at most, that stands at `state`. False: there is none. */
static bool build_first(struct tables *t, const struct image *image, const struct listing *l,
			uint32_t n, uint32_t state)
{
	struct qz_unwind_region *regions;

	engine__unwind_regions(t->engine, &regions);
	regions += l->image.first;
	for (uint32_t i = 0; i < n && i < l->image.count; i++) {
		if (regions[i].count || regions[i].first != state)
			continue;
		build(t, image, l, i);
		tell(t, image, l);
		return true;
	}
	return false;
}

/* The listing that the unwinder has of an image, when it is that of its present regions. */
static struct listing *current_listing(struct tables *t, const struct image *image)
{
	struct listing *l = !image->ended && image->published == image->contents
				    ? find_listing(t, image->published)
				    : NULL;

	return l && l->image.count == image->regions.n ? l : NULL;
}

static bool build_wanted(struct tables *t)
{
	for (uint32_t i = t->first; i < images__count(t->images); i++) {
		const struct image *image = images__at(t->images, i);
		const struct listing *l = current_listing(t, image);

		if (l && build_first(t, image, l, UINT32_MAX, QZ_UNWIND_WANTED))
			return true;
	}
	return false;
}

static bool build_unasked(struct tables *t)
{
	for (uint32_t i = t->first; i < images__count(t->images); i++) {
		const struct image *image = images__at(t->images, i);
		struct listing *l = current_listing(t, image);

		if (!l || !l->unasked)
			continue;
		if (build_first(t, image, l, l->unasked, QZ_UNWIND_PENDING))
			return true;
		l->unasked = 0;
	}
	return false;
}

bool tables__build(struct tables *t)
{
	if (t->look && build_wanted(t))
		return true;
	t->look = false;
	if (t->complete)
		return false;
	t->complete = !build_unasked(t);
	return !t->complete;
}

/* ---- images ---- */

void tables__replaced(struct tables *t, pid_t pid, uint64_t time)
{
	for (uint32_t i = images__count(t->images); i-- > t->first;) {
		struct image *image = images__at(t->images, i);

		if (image->pid != pid || image->ended)
			continue;
		image->replaced = time;
		return;
	}
}

/*
 * One whose code has taken the place of other code is not published before what was sampled in that
 * has its names: until then its stacks are told apart by their stale tables. True: not yet.
 */
static bool is_held_back(struct image *image, uint64_t named)
{
	if (image->replaced > named)
		return true;
	image->replaced = 0;
	return false;
}

static void end(struct tables *t, struct image *image)
{
	t->ended++;
	if (image->published)
		withdraw(t, image);
	regions__free(&image->regions);
}

/* True: it is to be looked at again. */
static bool update(struct tables *t, struct image *image, uint64_t known)
{
	if (image->regions.n && image->published != image->contents)
		publish(t, image, known);
	else if (image->mapped)
		confirm(t, image, known);
	return image->mapped;
}

/* Ended images have nothing in the maps any more. */
static void forget_ended(struct tables *t)
{
	if (t->ended < MAX_ENDED)
		return;
	images__forget(t->images, NULL);
	t->first = 0;
}

void tables__publish(struct tables *t, uint64_t known, uint64_t named)
{
	t->waiting = false;
	t->ended = t->first;
	for (uint32_t i = t->first; i < images__count(t->images); i++) {
		struct image *image = images__at(t->images, i);

		if (image->ended) {
			end(t, image);
			t->first += t->first == i;
			continue;
		}
		if (is_held_back(image, named) || update(t, image, known))
			t->waiting = true;
	}
	forget_ended(t);
}

bool tables__waits(const struct tables *t)
{
	return t->waiting;
}
