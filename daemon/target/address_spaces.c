// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "core/util/vec.h"
#include "core/util/hash_table.h"
#include "daemon/target/address_spaces.h"
#include "daemon/privsep/procfs.h"
#include "daemon/util/guard.h"

/*
 * What a process has mapped whose image has no number yet: between an exec and its report, and all that processes map
 * of which quartzd has not been told (bpf/tell.bpf.h), most of which will never have one.
 */
struct pending {
	pid_t pid; /* 0: free */
	bool exec; /* there was one: nothing of what was mapped before is left */
	uint64_t since;
	struct address_map map;
};

/* A power of two: a process replaces the one whose PID was lower by so many. */
#define PENDING 4096

struct address_spaces {
	struct modules *modules;
	pthread_mutex_t lock; /* of all below */
	struct image **items;
	uint32_t n;
	struct image **live;
	uint32_t nlive;
	struct qz_hash_table by_number,
		by_pid,	       /* the latest image of a process, see find_current */
		by_map;	       /* of those that were found, when they were read */
	struct image **latest; /* image of each scope, or NULL */
	uint32_t nscopes;
	struct pending *pending;
	bool keeps_all; /* also of processes of which nothing is known yet */
	uint64_t next_contents;
	uint64_t changes; /* also read without the lock */
};

struct address_spaces *address_spaces__new(struct modules *modules)
{
	struct address_spaces *spaces = calloc(1, sizeof(*spaces));

	if (!spaces)
		return NULL;
	spaces->modules = modules;
	spaces->pending = calloc(PENDING, sizeof(*spaces->pending));
	if (!spaces->pending) {
		free(spaces);
		errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_init(&spaces->lock, NULL);
	return spaces;
}

void address_spaces__keep_all(struct address_spaces *spaces)
{
	spaces->keeps_all = true;
}

static void free_image(struct image *image)
{
	address_map__free(&image->map);
	past__free(&image->past);
	free(image);
}

void address_spaces__free(struct address_spaces *spaces)
{
	if (!spaces)
		return;
	for (uint32_t i = 0; i < spaces->nlive; i++)
		if (spaces->live[i]->forgotten)
			free_image(spaces->live[i]);
	for (uint32_t i = 0; i < spaces->n; i++)
		free_image(spaces->items[i]);
	for (uint32_t i = 0; i < PENDING; i++)
		address_map__free(&spaces->pending[i].map);
	free(spaces->items);
	free(spaces->live);
	free(spaces->pending);
	free(spaces->latest);
	qz_hash_table__free(&spaces->by_number);
	qz_hash_table__free(&spaces->by_pid);
	qz_hash_table__free(&spaces->by_map);
	pthread_mutex_destroy(&spaces->lock);
	free(spaces);
}

void address_spaces__lock(struct address_spaces *spaces)
{
	pthread_mutex_lock(&spaces->lock);
}

void address_spaces__unlock(struct address_spaces *spaces)
{
	pthread_mutex_unlock(&spaces->lock);
}

static void change(struct address_spaces *spaces)
{
	__atomic_store_n(&spaces->changes, spaces->changes + 1, __ATOMIC_RELEASE);
}

uint64_t address_spaces__changes(const struct address_spaces *spaces)
{
	return __atomic_load_n(&spaces->changes, __ATOMIC_ACQUIRE);
}

static void map_region(struct address_spaces *spaces, struct image *image, const struct region *r)
{
	const struct region *known = address_map__find(&image->map, r->start);

	if (known && r->end <= known->end && known->module == r->module &&
	    known->offset + (r->start - known->start) == r->offset)
		return;
	if (address_map__map(&image->map, r))
		return;
	image->contents = ++spaces->next_contents;
	change(spaces);
}

/* ---- finding images ---- */

static bool same_number(const void *context, uint32_t index, const void *key)
{
	const struct address_spaces *spaces = context;

	return spaces->items[index]->number == *(const uint32_t *)key;
}

static struct image *find_image(const struct address_spaces *spaces, uint32_t number)
{
	uint32_t i = qz_hash_table__find(&spaces->by_number, qz_hash_table__hash_number(1, number),
					 same_number, spaces, &number);

	return i == UINT32_MAX ? NULL : spaces->items[i];
}

struct image *address_spaces__get(struct address_spaces *spaces, uint32_t number)
{
	GUARD(&spaces->lock);

	return find_image(spaces, number);
}

static bool is_latest(const void *context, uint32_t index, const void *key)
{
	const struct address_spaces *spaces = context;

	return spaces->items[index]->pid == *(const pid_t *)key &&
	       !spaces->items[index]->superseded;
}

static struct image *find_latest(const struct address_spaces *spaces, pid_t pid)
{
	uint32_t i = qz_hash_table__find(&spaces->by_pid, qz_hash_table__hash_number(1, pid),
					 is_latest, spaces, &pid);

	return i == UINT32_MAX ? NULL : spaces->items[i];
}

/* The image that a process has now. */
static struct image *find_current(struct address_spaces *spaces, pid_t pid)
{
	struct image *image = find_latest(spaces, pid);

	return image && !image->ended ? image : NULL;
}

struct image *address_spaces__of_process(struct address_spaces *spaces, pid_t pid, uint64_t time)
{
	GUARD(&spaces->lock);
	struct image *found = NULL, *image = find_latest(spaces, pid);

	for (; image && (!found || found->seen > time); image = image->earlier)
		if (!image->launcher)
			found = image;
	return found;
}

static struct pending *pending_of(const struct address_spaces *spaces, pid_t pid)
{
	return &spaces->pending[(uint32_t)pid & (PENDING - 1)];
}

static struct pending *find_pending(struct address_spaces *spaces, pid_t pid)
{
	struct pending *p = pending_of(spaces, pid);

	return p->pid == pid ? p : NULL;
}

uint32_t address_spaces__count(const struct address_spaces *spaces)
{
	return spaces->n;
}

struct image *address_spaces__at(struct address_spaces *spaces, uint32_t index)
{
	return spaces->items[index];
}

struct image *const *address_spaces__live(const struct address_spaces *spaces, uint32_t *n)
{
	*n = spaces->nlive;
	return spaces->live;
}

void address_spaces__withdrawn(struct address_spaces *spaces, uint32_t i)
{
	spaces->live[i]->live = false;
	if (spaces->live[i]->forgotten)
		free_image(spaces->live[i]);
	spaces->live[i] = spaces->live[--spaces->nlive];
}

/* ---- what is mapped ---- */

/*
 * Code made at run time is in memory without a file ("//anon" in the kernel's reports, nothing in
 * /proc/PID/maps), or in a memfd or file that is shared: it is written by another mapping of that. Programs and libraries
 * are not mapped so.
 */
static bool is_generated(const char *path, bool shared)
{
	return !path[0] || !strncmp(path, "//anon", 6) || !strncmp(path, "[anon", 5) || shared;
}

static uint32_t module_of(struct address_spaces *spaces, const struct module_mapping *m,
			  bool shared)
{
	if (is_generated(m->path, shared))
		return modules__of_jit(spaces->modules, m->dir);
	return modules__of_mapping(spaces->modules, m);
}

/* The last region that has any of the addresses, or NULL. */
static const struct region *overlapped(const struct address_map *map, uint64_t start, uint64_t end)
{
	uint32_t before = address_map__before(map, end - 1);
	const struct region *r = before ? &map->items[before - 1] : NULL;

	return r && r->end > start ? r : NULL;
}

/* /proc/PID/maps, into the regions of an image. */
struct reading {
	struct address_spaces *spaces;
	uint32_t image;
	struct procfs_dir *dir;
	bool add;			 /* only what is at places where nothing is known */
	struct procfs_mapping below;	 /* the mapping before, of a file; start 0: of none */
	struct procfs_mapping generated; /* code that is mapped from no file, or all zero */
	char path[PATH_MAX];		 /* of below */
};

static struct module_mapping mapping_of(struct procfs_dir *dir, const struct procfs_mapping *p)
{
	return (struct module_mapping) {dir,	  p->start, p->end,  p->inode,
					p->major, p->minor, p->path, 0};
}

/* The image, where the mapping is of use; with the lock held. NULL: it is not. */
static struct image *find_room(const struct reading *r, const struct procfs_mapping *p)
{
	struct image *image = find_image(r->spaces, r->image);

	return image && r->add && overlapped(&image->map, p->start, p->end) ? NULL : image;
}

static bool is_wanted(const struct reading *r, const struct procfs_mapping *p)
{
	GUARD(&r->spaces->lock);

	return find_room(r, p);
}

/* Whether a region that overlaps another one has other code. JIT compilers map parts of theirs anew, which tells nothing. */
static bool is_other(const struct address_spaces *spaces, const struct region *a,
		     const struct region *b)
{
	const struct module *m = modules__get(spaces->modules, a->module);

	return a->module != b->module ||
	       (!(m && m->jit) && a->start - a->offset != b->start - b->offset);
}

/*
 * A region takes the place of what is there, at `time`. Of code that was read, it is not known since when it is there: a report may
 * come later that is older.
 */
static void keep_past(const struct address_spaces *spaces, struct image *image,
		      const struct region *region, uint64_t time)
{
	for (uint32_t i = address_map__before(&image->map, region->end - 1); i-- > 0;) {
		const struct region *r = &image->map.items[i];

		if (r->end <= region->start)
			break;
		if (!is_other(spaces, r, region))
			continue;
		if (region->read || (r->read && time < image->read))
			past__forget(&image->past, region->start, region->end, time);
		else
			past__add(&image->past, r, time);
	}
}

static void add_region(const struct reading *r, const struct procfs_mapping *p,
		       const struct region *region)
{
	GUARD(&r->spaces->lock);
	struct image *image = find_room(r, p);

	if (!image)
		return;
	keep_past(r->spaces, image, region, qz_clock__now());
	map_region(r->spaces, image, region);
}

static void read_code(const struct reading *r, const struct procfs_mapping *p)
{
	struct module_mapping m = mapping_of(r->dir, p);
	struct region region = {
		.start = p->start, .end = p->end, .offset = p->offset, .read = true};

	if (!is_wanted(r, p))
		return;
	region.module = module_of(r->spaces, &m, p->shared);
	add_region(r, p, &region);
}

static bool is_same_file(const struct procfs_mapping *a, const struct procfs_mapping *b)
{
	return a->start && a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

/*
 * Code in memory without a file, where a file that is mapped below and above it has its own: the program has copied
 * its text there, for huge pages. It is that file's.
 */
static void read_generated(struct reading *r, const struct procfs_mapping *above)
{
	struct procfs_mapping p = r->generated;
	const struct procfs_mapping *below = &r->below;
	struct module_mapping m;
	struct region region = {.start = p.start, .end = p.end, .read = true};

	if (!p.end)
		return;
	r->generated = (struct procfs_mapping) {0};
	if (!above || !is_same_file(below, above) ||
	    above->start - below->start != above->offset - below->offset) {
		read_code(r, &p);
		return;
	}
	if (!is_wanted(r, &p))
		return;
	m = mapping_of(r->dir, below);
	region.offset = below->offset + (p.start - below->start);
	region.module = modules__of_mapping(r->spaces->modules, &m);
	add_region(r, &p, &region);
}

static void read_mapping(void *context, const struct procfs_mapping *p)
{
	struct reading *r = context;
	bool generated = p->code && !p->shared && !p->path[0];

	read_generated(r, p);
	if (generated && r->below.start) {
		r->generated = *p;
		r->generated.path = "";
		return;
	}
	if (p->code)
		read_code(r, p);
	r->below.start = 0;
	if (p->path[0] != '/')
		return;
	snprintf(r->path, sizeof(r->path), "%s", p->path);
	r->below = *p;
	r->below.path = r->path;
}

static void was_read(struct address_spaces *spaces, uint32_t number)
{
	GUARD(&spaces->lock);
	struct image *image = find_image(spaces, number);

	if (image)
		image->read = qz_clock__now();
}

static void read_mappings(struct address_spaces *spaces, const struct image *image, bool add)
{
	struct procfs_dir dir = {.pid = image->pid, .start_boottime = image->start_boottime};
	struct reading r = {.spaces = spaces, .image = image->number, .dir = &dir, .add = add};

	if (procfs_dir__fd(&dir) >= 0)
		procfs__mappings(dir.fd, read_mapping, &r);
	read_generated(&r, NULL);
	was_read(spaces, image->number);
	procfs_dir__close(&dir);
}

static uint32_t hash_regions(const struct address_map *map)
{
	uint32_t hash = 1;

	for (uint32_t i = 0; i < map->n; i++) {
		hash = qz_hash_table__hash_number(hash, map->items[i].start);
		hash = qz_hash_table__hash_number(hash, map->items[i].offset);
		hash = qz_hash_table__hash_number(hash, map->items[i].module);
	}
	return hash;
}

static bool same_regions(const void *context, uint32_t index, const void *key)
{
	const struct address_spaces *spaces = context;

	return address_map__equal(&spaces->items[index]->map, key);
}

/* An image found with the same mappings as another one, a fork of the same process, shares their tables. It was added last. */
static void share_contents(struct address_spaces *spaces, struct image *image)
{
	GUARD(&spaces->lock);
	uint32_t hash = hash_regions(&image->map), i;

	if (!image->map.n)
		return;
	i = qz_hash_table__find(&spaces->by_map, hash, same_regions, spaces, &image->map);
	if (i != UINT32_MAX)
		image->contents = spaces->items[i]->contents;
	else if (!qz_hash_table__reserve(&spaces->by_map))
		qz_hash_table__insert(&spaces->by_map, hash, spaces->n - 1);
}

/* ---- feeding ---- */

static int reserve_scope(struct address_spaces *spaces, uint32_t scope)
{
	if (scope == QZ_NO_SCOPE)
		return -EINVAL;
	while (spaces->nscopes <= scope) {
		if (qz_array__reserve((void **)&spaces->latest, spaces->nscopes,
				      sizeof(*spaces->latest)))
			return -ENOMEM;
		spaces->latest[spaces->nscopes++] = NULL;
	}
	return 0;
}

/* There is room in the tables. It becomes the latest of its pid, and of its scope. */
static void enter(struct address_spaces *spaces, struct image *image)
{
	image->superseded = false;
	image->earlier = find_latest(spaces, image->pid);
	if (image->earlier)
		image->earlier->superseded = true;
	image->sibling = spaces->latest[image->scope];
	spaces->latest[image->scope] = image;
	qz_hash_table__insert(&spaces->by_number, qz_hash_table__hash_number(1, image->number),
			      spaces->n);
	qz_hash_table__insert(&spaces->by_pid, qz_hash_table__hash_number(1, image->pid),
			      spaces->n);
	spaces->items[spaces->n++] = image;
}

static struct image *add_image(struct address_spaces *spaces, const struct qz_process_event *event)
{
	struct image *image;

	if (qz_array__reserve((void **)&spaces->items, spaces->n, sizeof(*spaces->items)) ||
	    qz_array__reserve((void **)&spaces->live, spaces->nlive, sizeof(*spaces->live)) ||
	    qz_hash_table__reserve(&spaces->by_number) || qz_hash_table__reserve(&spaces->by_pid) ||
	    reserve_scope(spaces, event->scope))
		return NULL;
	image = calloc(1, sizeof(*image));
	if (!image)
		return NULL;
	image->number = event->image;
	image->scope = event->scope;
	image->pid = event->tgid;
	image->start_boottime = event->start_boottime;
	image->seen = event->event.time;
	image->found = event->cause == QZ_IMAGE_FOUND;
	enter(spaces, image);
	image->live = true;
	spaces->live[spaces->nlive++] = image;
	change(spaces);
	return image;
}

static void inherit(struct image *to, const struct image *from)
{
	if (from && !address_map__copy(&to->map, &from->map))
		to->contents = from->contents;
}

/*
 * Regions that were reported before the image was go over to it: those since its exec, or those that a forked process
 * has mapped besides its parent's. One that is executing something is a forked one still, and has them later.
 */
static void take_pending(struct address_spaces *spaces, struct image *image,
			 const struct qz_process_event *event)
{
	struct pending *p = find_pending(spaces, image->pid);
	bool wanted = p && p->since >= event->began;

	if (!p || (wanted && p->exec && event->cause == QZ_IMAGE_FORK))
		return;
	if (wanted && p->exec) {
		image->map = p->map;
		p->map = (struct address_map) {0};
	}
	for (uint32_t i = 0; wanted && i < p->map.n; i++)
		address_map__map(&image->map, &p->map.items[i]);
	image->contents = ++spaces->next_contents;
	p->pid = 0;
}

/* *complete: nothing is to be read. NULL without memory. */
static struct image *begin_image(struct address_spaces *spaces,
				 const struct qz_process_event *event, bool *complete)
{
	GUARD(&spaces->lock);
	struct image *before = find_current(spaces, event->tgid), *image;

	if (before)
		before->ended = true;
	image = add_image(spaces, event);
	if (!image)
		return NULL;
	if (event->cause == QZ_IMAGE_FORK)
		inherit(image, find_image(spaces, event->parent));
	take_pending(spaces, image, event);
	*complete = image->map.n > 0;
	return image;
}

int address_spaces__process(struct address_spaces *spaces, const struct qz_process_event *event)
{
	bool complete;
	struct image *image = begin_image(spaces, event, &complete);

	if (!image)
		return -ENOMEM;
	if (!complete)
		read_mappings(spaces, image, false);
	if (image->found)
		share_contents(spaces, image);
	return 0;
}

static struct pending *begin_pending(struct address_spaces *spaces,
				     const struct perf_sampler_mapping *mapping)
{
	struct pending *p = pending_of(spaces, mapping->pid);

	p->pid = mapping->pid;
	p->exec = mapping->exec;
	p->since = mapping->time;
	p->map.n = 0;
	return p;
}

/* JIT compilers protect and unprotect their code all the time, which says nothing new. */
static bool is_known_jit(const struct address_spaces *spaces, const struct address_map *map,
			 const struct perf_sampler_mapping *mapping)
{
	const struct region *known = address_map__find(map, mapping->start);
	const struct module *m = known ? modules__get(spaces->modules, known->module) : NULL;

	return m && m->jit && mapping->end <= known->end &&
	       is_generated(mapping->path, mapping->shared);
}

/* Also where the same was mapped before: it may have been gone meanwhile. */
static void map(struct address_spaces *spaces, struct image *image, const struct region *region,
		uint64_t time)
{
	map_region(spaces, image, region);
	image->contents = ++spaces->next_contents;
	image->mapped = time;
	change(spaces);
}

/* Whether a file's text at a place is still that of the file, a part of which is mapped next to it. */
struct text {
	struct address_spaces *spaces;
	struct procfs_dir *dir;
	struct region region;
	bool is_mapped;
};

static void find_neighbour(void *context, const struct procfs_mapping *p)
{
	struct text *t = context;
	struct module_mapping m = mapping_of(t->dir, p);

	if (!t->is_mapped && p->path[0] == '/' && p->start <= t->region.end &&
	    p->end >= t->region.start)
		t->is_mapped = modules__of_mapping(t->spaces->modules, &m) == t->region.module;
}

/* The code that a followed process has at a place, of a file. */
static bool find_text(struct address_spaces *spaces, const struct perf_sampler_mapping *mapping,
		      struct region *region)
{
	GUARD(&spaces->lock);
	struct image *image = find_current(spaces, mapping->pid);
	const struct region *r = image ? overlapped(&image->map, mapping->start, mapping->end)
				       : NULL;
	const struct module *m = r ? modules__get(spaces->modules, r->module) : NULL;

	if (m && !m->jit)
		*region = *r;
	return m && !m->jit;
}

/* Whether memory without a file, over a file's text, has a copy of that, as in read_generated(): the rest of the file is still mapped. */
static bool keeps_text(struct address_spaces *spaces, const struct perf_sampler_mapping *mapping,
		       struct procfs_dir *dir)
{
	struct text t = {.spaces = spaces, .dir = dir};

	if (mapping->shared || !is_generated(mapping->path, false) ||
	    !find_text(spaces, mapping, &t.region) || procfs_dir__fd(dir) < 0)
		return false;
	procfs__mappings(dir->fd, find_neighbour, &t);
	return t.is_mapped;
}

/* The process whose mapping it is: one that is followed, or the image that an exec has begun. False: neither. */
static bool find_mapped(struct address_spaces *spaces, const struct perf_sampler_mapping *mapping,
			struct procfs_dir *dir)
{
	GUARD(&spaces->lock);
	struct image *current = find_current(spaces, mapping->pid);
	struct pending *p;

	*dir = (struct procfs_dir) {.pid = mapping->pid,
				    .start_boottime = current ? current->start_boottime : 0};
	p = find_pending(spaces, mapping->pid);
	if (mapping->exec ? current || spaces->keeps_all : !p && !current && spaces->keeps_all)
		p = begin_pending(spaces, mapping);
	if (mapping->exec || (!p && !current))
		return false;
	return !is_known_jit(spaces, p ? &p->map : &current->map, mapping);
}

static void take_region(struct address_spaces *spaces, const struct perf_sampler_mapping *mapping,
			const struct region *region)
{
	GUARD(&spaces->lock);
	struct pending *p = find_pending(spaces, mapping->pid);
	struct image *image = find_current(spaces, mapping->pid);

	if (p) {
		address_map__map(&p->map, region);
	} else if (image) {
		keep_past(spaces, image, region, mapping->time);
		map(spaces, image, region, mapping->time);
	}
}

void address_spaces__mapping(struct address_spaces *spaces,
			     const struct perf_sampler_mapping *mapping)
{
	struct region region = {mapping->start, mapping->end, mapping->offset, MODULE_NONE, false};
	struct procfs_dir dir;
	struct module_mapping m = {&dir,	   mapping->start, mapping->end,  mapping->inode,
				   mapping->major, mapping->minor, mapping->path, mapping->time};
	bool kept;

	if (!find_mapped(spaces, mapping, &dir))
		return;
	kept = keeps_text(spaces, mapping, &dir);
	if (!kept)
		region.module = module_of(spaces, &m, mapping->shared);
	procfs_dir__close(&dir);
	if (!kept)
		take_region(spaces, mapping, &region);
}

void address_spaces__distrust(struct address_spaces *spaces)
{
	struct image *all; /* who they are, as they may be forgotten meanwhile */
	uint32_t n = 0;

	address_spaces__lock(spaces);
	all = calloc(spaces->nlive, sizeof(*all));
	for (uint32_t i = 0; all && i < spaces->nlive; i++)
		if (!spaces->live[i]->ended)
			all[n++] = *spaces->live[i];
	address_spaces__unlock(spaces);
	for (uint32_t i = 0; i < n; i++)
		read_mappings(spaces, &all[i], false);
	free(all);
}

void address_spaces__end(struct address_spaces *spaces, uint32_t scope, uint64_t time)
{
	GUARD(&spaces->lock);
	struct image *image = scope < spaces->nscopes ? spaces->latest[scope] : NULL;

	for (; image; image = image->sibling)
		if (image->seen <= time)
			image->ended = true;
	change(spaces);
}

/* ---- the main thread ---- */

const struct region *address_spaces__find(const struct image *image, uint64_t address,
					  uint64_t time)
{
	return past__find(&image->past, address, time) ?: address_map__find(&image->map, address);
}

/* The contents of an image have so many bits; above is how much of its past a copy has. */
#define CONTENTS_BITS 48

struct address_map address_spaces__copy(struct address_spaces *spaces, const struct image *image,
					uint64_t time, uint64_t *contents)
{
	GUARD(&spaces->lock);
	struct address_map to = {0};

	address_map__copy(&to, &image->map);
	*contents = image->contents;
	for (uint32_t i = image->past.n; i-- > 0;) {
		if (image->past.items[i].until <= time)
			continue;
		address_map__map(&to, &image->past.items[i].region);
		*contents += 1ull << CONTENTS_BITS;
	}
	return to;
}

static bool look_up(struct address_spaces *spaces, const struct image *image, uint64_t address,
		    uint64_t time, struct region *region, bool *ended)
{
	GUARD(&spaces->lock);
	const struct region *r = address_spaces__find(image, address, time);

	if (r)
		*region = *r;
	*ended = image->ended;
	return r;
}

static bool find(struct address_spaces *spaces, struct image *image, uint64_t address,
		 uint64_t time, struct region *region)
{
	bool ended;

	if (look_up(spaces, image, address, time, region, &ended))
		return true;
	if (ended || image->reread)
		return false;
	image->reread = true;
	read_mappings(spaces, image, true);
	return look_up(spaces, image, address, time, region, &ended);
}

bool address_spaces__locate(struct address_spaces *spaces, struct image *image, uint64_t address,
			    uint64_t time, uint32_t *module, uint64_t *offset)
{
	const struct module *m = NULL;
	struct region r;

	if (find(spaces, image, address, time, &r))
		m = modules__get(spaces->modules, r.module);
	if (!m)
		return false;
	*module = r.module;
	*offset = m->jit ? address : address - r.start + r.offset;
	return true;
}

void address_spaces__refresh(struct address_spaces *spaces)
{
	GUARD(&spaces->lock);

	for (uint32_t i = 0; i < spaces->n; i++)
		spaces->items[i]->reread = false;
}

static void forget(struct image *image)
{
	if (!image->live)
		free_image(image);
	else
		image->ended = image->forgotten = true;
}

void address_spaces__forget(struct address_spaces *spaces, const bool *marked)
{
	uint32_t n;

	address_spaces__lock(spaces);
	n = spaces->n;
	spaces->n = 0;
	qz_hash_table__clear(&spaces->by_number);
	qz_hash_table__clear(&spaces->by_pid);
	qz_hash_table__clear(&spaces->by_map); /* no other thread searches at the same time */
	for (uint32_t i = 0; i < spaces->nscopes; i++)
		spaces->latest[i] = NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct image *image = spaces->items[i];

		if (marked[image->scope]) {
			forget(image);
			continue;
		}
		enter(spaces, image);
		modules__use(spaces->modules, &image->map);
	}
	spaces->n = qz_array__shrink((void **)&spaces->items, n, spaces->n, sizeof(*spaces->items));
	change(spaces);
	address_spaces__unlock(spaces);
	modules__sleep_unused(spaces->modules);
}
