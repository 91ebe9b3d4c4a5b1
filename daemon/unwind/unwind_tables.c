// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/vec.h"
#include "daemon/util/log.h"
#include "daemon/kernel/bpf_rows.h"
#include "daemon/privsep/procfs.h"
#include "daemon/unwind/range_alloc.h"
#include "daemon/unwind/unwind_index.h"
#include "daemon/unwind/unwind_tables.h"
#include "daemon/unwind/unwind_windows.h"

/* A walk takes microseconds; whoever was interrupted in one has surely been back by then. */
#define GRACE	1000000000ull
#define PAGE_KB 4
#define RETRY	500000000ull /* ns, after there was no room for regions */

/*
 * An image of no more regions has all its tables built unasked, in some 50 ms. Of the hundreds that
 * others have, most are never executed: their tables would take longer and fill the memory. Of those
 * the first one, the program's own, is built, and what any program executes. An image that runs quartzd's own
 * program will be a command, which has no other tables in common with it.
 */
#define EAGER_REGIONS 32

/* Bytes of code of a module that are analyzed. */
#define ANALYZED_MAX (16u << 20)
#define ALIGNMENT    16 /* of procedures, mostly: what is less only aligns the next one */

/* The table of a module. */
struct table {
	bool known; /* it was tried to build one */
	bool later; /* and is to be tried again */
	uint32_t
		asked; /* its number in the symbolizer and one, as long as it may be tried; 0: none */
	uint32_t count; /* rows */
	struct unwind_windows place;
	uint32_t analyzed; /* bytes of code that nothing describes; ANALYZED_MAX: no more can be */
	struct symbolizer_table layout;
	uint32_t python; /* as in struct qz_unwind_region */
};

/* The regions of images with equal contents. */
struct listing {
	uint64_t contents;
	struct qz_unwind_image image;
	uint32_t users; /* 0: free to be used anew */
	uint32_t eager; /* how many of its regions, from the first one, have tables built unasked */
	bool built;	/* those that are to be built unasked are */
	uint32_t next;	/* of those in use in its bucket, or of the free ones; NONE: the last one */
};

#define BUCKETS 4096
#define NONE	UINT32_MAX

struct unwind_tables {
	struct bpf_runtime *bpf;
	struct symbolizer *symbolizer;
	struct modules *modules;
	struct address_spaces *spaces;
	struct qz_unwind_region *shared;  /* with the unwinder */
	struct range_alloc rows, regions; /* which of them are free */
	struct table *tables;		  /* by module */
	uint32_t ntables;
	struct listing *listings;
	uint32_t nlistings;
	uint32_t free;		   /* the first free listing */
	uint32_t buckets[BUCKETS]; /* the first one in use, by contents */
	uint64_t full;
	uint64_t refused;   /* contents for whose regions there was no room last */
	uint32_t nlater;    /* tables to be tried again */
	bool look;	    /* for regions whose tables are wanted */
	bool complete;	    /* nothing is to be built unasked */
	bool waiting;	    /* an image has changed and is not published, or to be confirmed */
	uint64_t retry_at;  /* for one there was no room; 0: there was for all */
	char own[PATH_MAX]; /* quartzd's program */
};

struct unwind_tables *unwind_tables__new(struct bpf_runtime *bpf, struct symbolizer *symbolizer,
					 struct modules *modules, struct address_spaces *spaces)
{
	struct unwind_tables *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->bpf = bpf;
	t->symbolizer = symbolizer;
	t->modules = modules;
	t->spaces = spaces;
	t->free = NONE;
	if (readlink("/proc/self/exe", t->own, sizeof(t->own) - 1) < 0)
		t->own[0] = '\0';
	memset(t->buckets, 0xff, sizeof(t->buckets));
	if (range_alloc__init(&t->rows, bpf_rows__number(bpf), GRACE) ||
	    range_alloc__init(&t->regions, bpf_runtime__unwind_regions(bpf, &t->shared), GRACE)) {
		unwind_tables__free(t);
		return NULL;
	}
	return t;
}

void unwind_tables__free(struct unwind_tables *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->ntables; i++)
		unwind_windows__drop(&t->tables[i].place, &t->rows);
	range_alloc__free(&t->rows);
	range_alloc__free(&t->regions);
	free(t->tables);
	free(t->listings);
	free(t);
}

void unwind_tables__look(struct unwind_tables *t)
{
	t->look = true;
}

uint64_t unwind_tables__full(const struct unwind_tables *t)
{
	return t->full;
}

/* ---- tables of modules ---- */

static struct table *table_slot(struct unwind_tables *t, uint32_t module)
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

static bool is_used(const struct unwind_tables *t, uint32_t first)
{
	for (uint32_t i = 0; i < t->nlistings; i++) {
		const struct listing *l = &t->listings[i];

		for (uint32_t k = 0; l->users && k < l->image.count; k++)
			if (t->shared[l->image.first + k].count &&
			    t->shared[l->image.first + k].first == first)
				return true;
	}
	return false;
}

/* Tables that no living image has mapped make room; they are built again when they are needed. */
static void evict(struct unwind_tables *t, uint64_t now)
{
	for (uint32_t i = 0; i < t->ntables; i++) {
		struct table *table = &t->tables[i];

		if (!table->count || is_used(t, table->place.first))
			continue;
		unwind_windows__drop(&table->place, &t->rows);
		range_alloc__give(&t->rows, table->place.first - table->place.blocks,
				  table->place.blocks + table->count, now);
		*table = (struct table) {0};
	}
}

/* n rows, after an index. */
static void store(struct unwind_tables *t, struct table *table, const struct qz_unwind_row *rows,
		  uint32_t blocks, uint32_t n)
{
	uint64_t now = bpf_runtime__now();
	uint32_t first = range_alloc__take(&t->rows, blocks + n, now);

	if (first == UINT32_MAX) {
		evict(t, now);
		t->full++;
		return;
	}
	if (bpf_rows__store(t->bpf, first, rows, blocks + n)) {
		t->full++;
		range_alloc__give(&t->rows, first, blocks + n, now);
		return;
	}
	table->count = n;
	table->place = (struct unwind_windows) {
		.first = first + blocks,
		.blocks = blocks,
		.block = QZ_UNWIND_BLOCK(rows[blocks].pc),
	};
}

/* NULL: there can be none. */
static struct table *table_of(struct unwind_tables *t, uint32_t module)
{
	const struct module *m = modules__get(t->modules, module);

	return m && !m->jit && modules__has_file(t->modules, module) ? table_slot(t, module) : NULL;
}

/* The symbolizer has the file until there is no more to ask. 0 or -errno. */
static int give_file(struct unwind_tables *t, struct table *table, uint32_t module)
{
	bool is_vdso = modules__is_vdso(t->modules, module);
	int fd, number;

	if (table->asked)
		return 0;
	fd = modules__open(t->modules, module);
	if (fd < 0)
		return fd;
	number = symbolizer__add_module(t->symbolizer, is_vdso ? SYMBOLIZER_VDSO : SYMBOLIZER_ELF,
					fd, -1, modules__get(t->modules, module)->path);
	if (number < 0)
		return number;
	table->asked = (uint32_t)number + 1;
	return 0;
}

static void take_file(struct unwind_tables *t, struct table *table)
{
	if (table->asked)
		symbolizer__remove_module(t->symbolizer, (int)table->asked - 1);
	table->asked = 0;
}

static bool is_passing(int err)
{
	return err == -EMFILE || err == -ENFILE || symbolizer__is_passing(err);
}

void unwind_tables__build_module(struct unwind_tables *t, uint32_t module)
{
	struct table *table = table_of(t, module);
	struct qz_unwind_row *rows;
	uint32_t n, blocks;
	int err;

	if (!table || table->known)
		return;
	table->known = true;
	err = give_file(t, table, module);
	err = err
		      ?: symbolizer__unwind_table(t->symbolizer, (int)table->asked - 1, &rows, &n,
						  &table->layout);
	table->later = is_passing(err);
	t->nlater += table->later;
	if (!table->later)
		take_file(t, table);
	if (err)
		return;
	table->python = bpf_python__layout(t->bpf, &table->layout.python);
	blocks = unwind_index__add(&rows, n, symbolizer_table__end(&table->layout));
	store(t, table, rows, blocks, n);
	free(rows);
}

/* Makes the rows of a gap, which are the caller's. 0 or -errno. */
static int read_derived(struct unwind_tables *t, struct table *table, uint32_t module,
			const struct unwind_window *gap, struct qz_unwind_row **rows, uint32_t *n)
{
	uint64_t base = table->layout.base;
	int err = gap->to - gap->from < ALIGNMENT ? -ENODATA : give_file(t, table, module);

	if (!err)
		err = symbolizer__derive(t->symbolizer, (int)table->asked - 1, base + gap->from,
					 base + gap->to, rows, n);
	take_file(t, table);
	return err;
}

/*
 * Analyzes what nothing describes around a pc. Whatever is in the way of that, it is not asked for again: such code is
 * walked by a search of the stack.
 */
static int analyze(struct unwind_tables *t, struct table *table, uint32_t module, uint32_t pc)
{
	struct qz_unwind_row *rows = NULL;
	struct unwind_window window;
	uint32_t n = 0;
	int err = unwind_windows__read(&table->place, t->bpf, pc, &window);

	if (!err) {
		read_derived(t, table, module, &window, &rows, &n);
		log_debug("unwind table of %s, a walk came to %u bytes of code that nothing "
			  "describes: %u rows",
			  modules__get(t->modules, module)->path, window.to - window.from, n);
		err = unwind_windows__replace(&table->place, t->bpf, &t->rows, &window, rows, n);
		table->analyzed += window.to - window.from;
	}
	free(rows);
	free(window.rows);
	return err;
}

static void derive(struct unwind_tables *t, uint32_t module, uint32_t pc)
{
	struct table *table = table_of(t, module);
	int err = table && table->analyzed < ANALYZED_MAX ? analyze(t, table, module, pc) : 0;

	if (err && err != -ENODATA)
		table->analyzed = ANALYZED_MAX;
}

/* ---- regions of images ---- */

/* Whether more rows of code that nothing describes can be asked for, as struct qz_unwind_region has it. */
static uint32_t more_derived(const struct table *table)
{
	return table && table->count && table->analyzed < ANALYZED_MAX ? QZ_UNWIND_PENDING : 0;
}

/*
 * By what is built. The unwinder may be reading the region: the rows are counted last, and those that are there
 * already are counted out first. One whose table cannot be built, or for which there is no room, is walked by frame
 * pointers.
 */
static void fill_region(struct unwind_tables *t, const struct region *r,
			struct qz_unwind_region *to)
{
	const struct table *table = table_of(t, r->module);
	const struct module *m = modules__get(t->modules, r->module);
	uint64_t vaddr;

	__atomic_store_n(&to->count, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	to->start = r->start;
	to->end = r->end;
	to->derived = more_derived(table);
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
	to->first = table->place.first;
	to->blocks = table->place.blocks;
	to->block = table->place.block;
	to->python = table->python;
	__atomic_store_n(&to->count, table->count, __ATOMIC_RELEASE);
}

/* Where the listing of these contents is named, or where the bucket ends. */
static uint32_t *find_link(struct unwind_tables *t, uint64_t contents)
{
	uint32_t *link = &t->buckets[contents % BUCKETS];

	while (*link != NONE && t->listings[*link].contents != contents)
		link = &t->listings[*link].next;
	return link;
}

static struct listing *find_listing(struct unwind_tables *t, uint64_t contents)
{
	uint32_t i = *find_link(t, contents);

	return i == NONE ? NULL : &t->listings[i];
}

/* Nothing of its contents is listed yet. */
static struct listing *add_listing(struct unwind_tables *t, uint64_t contents)
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

static void release(struct unwind_tables *t, uint64_t contents)
{
	uint32_t *link = find_link(t, contents), i = *link;
	struct listing *l = i == NONE ? NULL : &t->listings[i];

	if (!l || --l->users)
		return;
	range_alloc__give(&t->regions, l->image.first, l->image.count, bpf_runtime__now());
	*link = l->next;
	l->next = t->free;
	t->free = i;
}

static bool has_jit(const struct unwind_tables *t, const struct image *image)
{
	for (uint32_t i = 0; i < image->map.n; i++) {
		const struct module *m = modules__get(t->modules, image->map.items[i].module);

		if (m && m->jit)
			return true;
	}
	return false;
}

/*
 * Pages of code that the process has, as mm->exec_vm counts them: VmExe + VmLib. 0 for one that
 * makes code as it runs, where the number changes all the time and tells nothing.
 */
static uint64_t read_exec_vm(const struct unwind_tables *t, const struct image *image)
{
	bool compared = !bpf_runtime__sees_mappings(t->bpf) && !has_jit(t, image);
	int dir = !compared ? -1 : procfs__open(image->pid, image->start_boottime);
	uint64_t kb = 0;
	char value[64];

	if (dir < 0)
		return 0;
	if (!procfs__status(dir, "VmExe", value, sizeof(value)))
		kb += strtoull(value, NULL, 10);
	if (!procfs__status(dir, "VmLib", value, sizeof(value)))
		kb += strtoull(value, NULL, 10);
	close(dir);
	return kb / PAGE_KB;
}

static bool runs_own_program(const struct unwind_tables *t, const struct image *image)
{
	const struct module *m = modules__get(t->modules, image->map.items[0].module);

	return m && !strcmp(m->path, t->own);
}

/* With its first user. */
static struct listing *make_listing(struct unwind_tables *t, const struct image *image)
{
	uint32_t first = range_alloc__take(&t->regions, image->map.n, bpf_runtime__now());
	struct listing *l;

	if (first == UINT32_MAX) {
		t->full += t->refused != image->contents;
		t->refused = image->contents;
		return NULL;
	}
	l = add_listing(t, image->contents);
	if (!l) {
		range_alloc__give(&t->regions, first, image->map.n, 0);
		return NULL;
	}
	memset(&t->shared[first], 0, image->map.n * sizeof(*t->shared));
	l->image = (struct qz_unwind_image) {first, image->map.n, read_exec_vm(t, image), 0};
	l->eager = runs_own_program(t, image)	   ? 0
		   : image->map.n <= EAGER_REGIONS ? image->map.n
						   : 1;
	for (uint32_t i = 0; i < image->map.n; i++)
		fill_region(t, &image->map.items[i], &t->shared[first + i]);
	return l;
}

/* The unwinder uses the regions of the listing, which hold what was mapped up to `known`. */
static void hand_over(struct unwind_tables *t, const struct image *image, const struct listing *l,
		      uint64_t known)
{
	struct qz_unwind_image regions = l->image;

	regions.known = known;
	bpf_runtime__set_unwind_image(t->bpf, image->number, &regions);
}

/* What the process has now. The regions of a module are neighbours: it is counted once. */
static void publish_regions(const struct unwind_tables *t, const struct image *image,
			    const struct listing *l)
{
	const struct qz_unwind_region *regions = &t->shared[l->image.first];
	uint32_t modules = 0;
	uint64_t rows = 0;

	if (!log__prints(LOG_DEBUG))
		return;
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
		  (bpf_runtime__now() - image->seen) / 1e6);
}

/* False: there is no room for its regions before others have gone. Until then the unwinder has those of before. */
static bool publish(struct unwind_tables *t, struct image *image, uint64_t known)
{
	uint64_t before = image->published;
	struct listing *l = find_listing(t, image->contents);

	if (l)
		l->users++;
	else
		l = make_listing(t, image);
	if (!l)
		return false;
	image->published = image->contents;
	t->complete = false;
	hand_over(t, image, l, known);
	publish_regions(t, image, l);
	release(t, before);
	return true;
}

/*
 * What was mapped over other code is known only some time after it was reported: until then the image
 * is handed over again and again.
 */
static void confirm(struct unwind_tables *t, struct image *image, uint64_t known)
{
	const struct listing *l = find_listing(t, image->published);

	if (l)
		hand_over(t, image, l, known);
	if (known > image->mapped + QZ_UNWIND_MARGIN)
		image->mapped = 0;
}

static void withdraw(struct unwind_tables *t, struct image *image)
{
	bpf_runtime__set_unwind_image(t->bpf, image->number, NULL);
	release(t, image->published);
	image->published = 0;
}

/* ---- building ---- */

/* The listing that the unwinder has of an image, when it is that of its present regions. */
static struct listing *current_listing(struct unwind_tables *t, const struct image *image)
{
	struct listing *l = !image->ended && image->published == image->contents
				    ? find_listing(t, image->published)
				    : NULL;

	return l && l->image.count == image->map.n ? l : NULL;
}

/* What is to be built, in this order. */
enum task {
	TASK_ASKED,   /* a table that the unwinder asks for */
	TASK_DERIVE,  /* the same for rows of code without call frame information */
	TASK_UNASKED, /* a table that it will ask for */
	TASKS,
};

/* The C library and the loader, by their names: what else is called so costs one table too many. */
static bool is_executed_by_all(const struct unwind_tables *t, uint32_t module)
{
	const struct module *m = modules__get(t->modules, module);
	const char *name = m ? strrchr(m->path, '/') : NULL;

	return name && (!strncmp(name, "/ld-", 4) || !strncmp(name, "/libc.so", 8) ||
			!strncmp(name, "/libc-2.", 8));
}

static bool is_wanted(const struct qz_unwind_region *r, enum task task)
{
	if (task == TASK_DERIVE)
		return r->count && r->derived && r->derived != QZ_UNWIND_PENDING;
	return !r->count && r->first == (task == TASK_ASKED ? QZ_UNWIND_WANTED : QZ_UNWIND_PENDING);
}

/* The module of the first region that has the task, or MODULE_NONE. *pc: of what is to be derived. */
static uint32_t find_region(struct unwind_tables *t, const struct image *image,
			    const struct listing *l, enum task task, uint32_t *pc)
{
	const struct qz_unwind_region *regions = &t->shared[l->image.first];

	for (uint32_t i = 0; i < l->image.count; i++) {
		uint32_t module = image->map.items[i].module;

		if (is_wanted(&regions[i], task) &&
		    (task != TASK_UNASKED || i < l->eager || is_executed_by_all(t, module))) {
			*pc = regions[i].derived;
			return module;
		}
	}
	return MODULE_NONE;
}

/* The module of any image that has the task, or MODULE_NONE. */
static uint32_t find_module(struct unwind_tables *t, enum task task, uint32_t *pc)
{
	uint32_t n, module = MODULE_NONE;
	struct image *const *live = address_spaces__live(t->spaces, &n);

	for (uint32_t i = 0; i < n && module == MODULE_NONE; i++) {
		struct listing *l = current_listing(t, live[i]);

		if (!l || (task == TASK_UNASKED && l->built))
			continue;
		module = find_region(t, live[i], l, task, pc);
		l->built |= task == TASK_UNASKED && module == MODULE_NONE;
	}
	return module;
}

/* TASKS: there is nothing to do. */
static enum task find_next(struct unwind_tables *t, uint32_t *module, uint32_t *pc)
{
	for (enum task task = 0; task < TASKS; task++) {
		if (task == TASK_UNASKED ? t->complete : !t->look)
			continue;
		*module = find_module(t, task, pc);
		if (*module != MODULE_NONE)
			return task;
		if (task == TASK_DERIVE)
			t->look = false;
		t->complete |= task == TASK_UNASKED;
	}
	return TASKS;
}

/* All regions of a module have what was built. */
static void fill_regions(struct unwind_tables *t, uint32_t module)
{
	uint32_t n;
	struct image *const *live = address_spaces__live(t->spaces, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct listing *l = current_listing(t, live[i]);
		bool filled = false;

		for (uint32_t k = 0; l && k < l->image.count; k++) {
			struct qz_unwind_region *r = &t->shared[l->image.first + k];
			const struct region *from = &live[i]->map.items[k];

			if (from->module != module || r->count || r->first < QZ_UNWIND_WANTED)
				continue;
			fill_region(t, from, r);
			filled = true;
		}
		if (filled)
			publish_regions(t, live[i], l);
	}
}

/* Regions of a module that have asked for what is at the pc may ask for more; or none of them, if there is no more. */
static void answer(struct unwind_tables *t, uint32_t module, uint32_t pc)
{
	uint32_t more = more_derived(table_of(t, module)), n;
	struct image *const *live = address_spaces__live(t->spaces, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct listing *l = current_listing(t, live[i]);

		for (uint32_t k = 0; l && k < l->image.count; k++) {
			struct qz_unwind_region *r = &t->shared[l->image.first + k];

			if (live[i]->map.items[k].module == module && r->count &&
			    (!more || r->derived == pc))
				__atomic_store_n(&r->derived, more, __ATOMIC_RELAXED);
		}
	}
}

/* Regions of the module are walked by frame pointers until they have the table. */
static void want_again(struct unwind_tables *t, uint32_t module)
{
	uint32_t n;
	struct image *const *live = address_spaces__live(t->spaces, &n);

	for (uint32_t i = 0; i < n; i++) {
		struct listing *l = current_listing(t, live[i]);

		for (uint32_t k = 0; l && k < l->image.count; k++) {
			struct qz_unwind_region *r = &t->shared[l->image.first + k];

			if (live[i]->map.items[k].module != module || r->count)
				continue;
			r->first = QZ_UNWIND_PENDING;
			l->eager = l->image.count;
			l->built = false;
			t->complete = false;
		}
	}
}

static bool may_build(const struct unwind_tables *t, const struct table *table)
{
	return table->later &&
	       (!table->asked || symbolizer__may_ask(t->symbolizer, (int)table->asked - 1));
}

void unwind_tables__retry(struct unwind_tables *t)
{
	if (!t->nlater)
		return;
	address_spaces__lock(t->spaces);
	for (uint32_t i = 0; i < t->ntables; i++) {
		if (!may_build(t, &t->tables[i]))
			continue;
		t->tables[i].known = t->tables[i].later = false;
		t->nlater--;
		want_again(t, i);
	}
	address_spaces__unlock(t->spaces);
}

bool unwind_tables__build(struct unwind_tables *t)
{
	uint32_t module, pc;
	enum task task;

	address_spaces__lock(t->spaces);
	task = find_next(t, &module, &pc);
	address_spaces__unlock(t->spaces);
	if (task == TASKS)
		return false;
	if (task == TASK_DERIVE)
		derive(t, module, pc);
	else
		unwind_tables__build_module(t, module);
	address_spaces__lock(t->spaces);
	if (task == TASK_DERIVE)
		answer(t, module, pc);
	else
		fill_regions(t, module);
	address_spaces__unlock(t->spaces);
	return true;
}

/* ---- images ---- */

/* True: it is to be checked again. */
static bool update(struct unwind_tables *t, struct image *image, uint64_t known)
{
	if (image->map.n && image->published != image->contents) {
		if (!publish(t, image, known)) {
			t->retry_at = bpf_runtime__now() + RETRY;
			return false;
		}
	} else if (image->mapped) {
		confirm(t, image, known);
	}
	return image->mapped;
}

void unwind_tables__publish(struct unwind_tables *t, uint64_t known)
{
	struct image *const *live;
	uint32_t n;

	t->waiting = false;
	t->retry_at = 0;
	address_spaces__lock(t->spaces);
	live = address_spaces__live(t->spaces, &n);
	for (uint32_t i = n; i-- > 0;) {
		if (!live[i]->ended) {
			t->waiting |= update(t, live[i], known);
			continue;
		}
		if (live[i]->published)
			withdraw(t, live[i]);
		address_spaces__withdrawn(t->spaces, i);
	}
	address_spaces__unlock(t->spaces);
}

bool unwind_tables__waits(const struct unwind_tables *t)
{
	return t->waiting || (t->retry_at && bpf_runtime__now() >= t->retry_at);
}
