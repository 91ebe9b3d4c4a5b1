// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "core/table.h"
#include "daemon/images.h"
#include "daemon/proc.h"

/* What was mapped by an exec before its image has a number. */
struct pending {
	pid_t pid;
	struct image image; /* only regions are used */
};

struct images {
	struct modules *modules;
	struct image *items;
	uint32_t n;
	struct qz_table by_number, by_pid, /* the latest image of a process, see find_current */
		by_regions;		   /* of those that were found, when they were read */
	uint32_t *latest;		   /* image of each scope, by index, or UINT32_MAX */
	uint32_t nscopes;
	struct pending *pending;
	uint32_t npending;
	uint64_t next_contents;
};

struct images *images__new(struct modules *modules)
{
	struct images *images = calloc(1, sizeof(*images));

	if (images)
		images->modules = modules;
	return images;
}

void images__free(struct images *images)
{
	if (!images)
		return;
	for (uint32_t i = 0; i < images->n; i++)
		regions__free(&images->items[i].regions);
	for (uint32_t i = 0; i < images->npending; i++)
		regions__free(&images->pending[i].image.regions);
	free(images->items);
	free(images->pending);
	free(images->latest);
	qz_table__free(&images->by_number);
	qz_table__free(&images->by_pid);
	qz_table__free(&images->by_regions);
	free(images);
}

static void map_region(struct images *images, struct image *image, const struct region *r)
{
	const struct region *known = regions__find(&image->regions, r->start);

	if (known && r->end <= known->end && known->module == r->module &&
	    known->offset + (r->start - known->start) == r->offset)
		return;
	if (!regions__map(&image->regions, r))
		image->contents = ++images->next_contents;
}

/* ---- finding images ---- */

static bool same_number(const void *context, uint32_t index, const void *key)
{
	const struct images *images = context;

	return images->items[index].number == *(const uint32_t *)key;
}

static uint32_t find_index(const struct images *images, uint32_t number)
{
	return qz_table__find(&images->by_number, qz_hash__number(1, number), same_number, images,
			      &number);
}

struct image *images__get(struct images *images, uint32_t number)
{
	uint32_t i = find_index(images, number);

	return i == UINT32_MAX ? NULL : &images->items[i];
}

static bool is_current(const void *context, uint32_t index, const void *key)
{
	const struct images *images = context;

	return images->items[index].pid == *(const pid_t *)key && !images->items[index].ended;
}

/* The image that a process has now. Earlier ones of the pid are marked as ended. */
static struct image *find_current(struct images *images, pid_t pid)
{
	uint32_t i =
		qz_table__find(&images->by_pid, qz_hash__number(1, pid), is_current, images, &pid);

	return i == UINT32_MAX ? NULL : &images->items[i];
}

static bool is_latest(const void *context, uint32_t index, const void *key)
{
	const struct images *images = context;

	return images->items[index].pid == *(const pid_t *)key && !images->items[index].superseded;
}

static uint32_t find_latest(const struct images *images, pid_t pid)
{
	return qz_table__find(&images->by_pid, qz_hash__number(1, pid), is_latest, images, &pid);
}

struct image *images__of_process(struct images *images, pid_t pid, uint64_t time)
{
	struct image *found = NULL;
	uint32_t i = find_latest(images, pid);

	for (; i != UINT32_MAX && (!found || found->seen > time); i = images->items[i].earlier)
		if (!images->items[i].launcher)
			found = &images->items[i];
	return found;
}

static struct pending *find_pending(struct images *images, pid_t pid)
{
	for (uint32_t i = 0; i < images->npending; i++)
		if (images->pending[i].pid == pid)
			return &images->pending[i];
	return NULL;
}

/* ---- feeding ---- */

struct reading {
	struct images *images;
	struct image *image;
	struct proc_dir *dir;
	bool add; /* only what is at places where nothing is known */
};

/* Memory without a file: "//anon" in the kernel's reports, nothing in /proc/PID/maps. */
static bool is_anonymous(const char *path)
{
	return !path[0] || !strncmp(path, "//anon", 6) || !strncmp(path, "[anon", 5);
}

static uint32_t module_of(struct images *images, const struct module_mapping *m)
{
	if (is_anonymous(m->path))
		return modules__of_jit(images->modules, m->dir);
	return modules__of_mapping(images->modules, m);
}

/* The last region that has any of the addresses, or NULL. */
static const struct region *overlapped(const struct image *image, uint64_t start, uint64_t end)
{
	uint32_t before = regions__before(&image->regions, end - 1);
	const struct region *r = before ? &image->regions.items[before - 1] : NULL;

	return r && r->end > start ? r : NULL;
}

static void read_mapping(void *context, const struct proc_mapping *p)
{
	struct reading *r = context;
	struct module_mapping m = {r->dir, p->start, p->end, p->inode, p->major, p->minor, p->path};
	struct region region = {.start = p->start, .end = p->end, .offset = p->offset};

	if (r->add && overlapped(r->image, p->start, p->end))
		return;
	region.module = module_of(r->images, &m);
	map_region(r->images, r->image, &region);
}

static void read_mappings(struct images *images, struct image *image, bool add)
{
	struct proc_dir dir = {.pid = image->pid, .start_boottime = image->start_boottime};
	struct reading r = {images, image, &dir, add};

	if (proc_dir__fd(&dir) >= 0)
		proc__mappings(dir.fd, read_mapping, &r);
	proc_dir__close(&dir);
}

static uint32_t hash_regions(const struct regions *r)
{
	uint32_t hash = 1;

	for (uint32_t i = 0; i < r->n; i++) {
		hash = qz_hash__number(hash, r->items[i].start);
		hash = qz_hash__number(hash, r->items[i].offset);
		hash = qz_hash__number(hash, r->items[i].module);
	}
	return hash;
}

static bool same_regions(const void *context, uint32_t index, const void *key)
{
	const struct images *images = context;

	return regions__equal(&images->items[index].regions, key);
}

/* Who was found and maps what another one does, a fork of the same process, has equal contents. */
static void share_contents(struct images *images, struct image *image)
{
	uint32_t hash = hash_regions(&image->regions), i;

	i = qz_table__find(&images->by_regions, hash, same_regions, images, &image->regions);
	if (i != UINT32_MAX)
		image->contents = images->items[i].contents;
	else if (!qz_table__reserve(&images->by_regions))
		qz_table__insert(&images->by_regions, hash, image - images->items);
}

static int reserve_scope(struct images *images, uint32_t scope)
{
	if (scope == QZ_NO_SCOPE)
		return -EINVAL;
	while (images->nscopes <= scope) {
		if (qz_array__reserve((void **)&images->latest, images->nscopes,
				      sizeof(*images->latest)))
			return -ENOMEM;
		images->latest[images->nscopes++] = UINT32_MAX;
	}
	return 0;
}

/* It becomes the latest of its pid, and of its scope. There is room in the tables. */
static void enter(struct images *images, uint32_t index)
{
	struct image *image = &images->items[index];

	image->superseded = false;
	image->earlier = find_latest(images, image->pid);
	if (image->earlier != UINT32_MAX)
		images->items[image->earlier].superseded = true;
	image->sibling = images->latest[image->scope];
	images->latest[image->scope] = index;
	qz_table__insert(&images->by_number, qz_hash__number(1, image->number), index);
	qz_table__insert(&images->by_pid, qz_hash__number(1, image->pid), index);
}

static struct image *add_image(struct images *images, const struct qz_process_event *event)
{
	struct image *more, *image;

	more = qz_array__room(images->items, images->n, sizeof(*more));
	if (!more)
		return NULL;
	images->items = more;
	if (qz_table__reserve(&images->by_number) || qz_table__reserve(&images->by_pid) ||
	    reserve_scope(images, event->scope))
		return NULL;
	image = &images->items[images->n];
	memset(image, 0, sizeof(*image));
	image->number = event->image;
	image->scope = event->scope;
	image->pid = event->tgid;
	image->start_boottime = event->start_boottime;
	image->seen = event->event.time;
	image->found = event->cause == QZ_IMAGE_FOUND;
	memcpy(image->comm, event->comm, sizeof(image->comm) - 1);
	enter(images, images->n);
	images->n++;
	return image;
}

static void inherit(struct image *to, const struct image *from)
{
	if (from && !regions__copy(&to->regions, &from->regions))
		to->contents = from->contents;
}

/* Regions that were reported between the exec and its event go over to the image. */
static void take_pending(struct images *images, struct image *image)
{
	struct pending *p = find_pending(images, image->pid);

	if (!p)
		return;
	image->regions = p->image.regions;
	image->contents = p->image.contents;
	*p = images->pending[--images->npending];
}

int images__process(struct images *images, const struct qz_process_event *event)
{
	struct image *before = find_current(images, event->tgid), *image;

	if (before)
		before->ended = true;
	image = add_image(images, event);
	if (!image)
		return -ENOMEM;
	if (event->cause == QZ_IMAGE_EXEC)
		take_pending(images, image);
	else if (event->cause == QZ_IMAGE_FORK)
		inherit(image, images__get(images, event->parent));
	if (!image->regions.n)
		read_mappings(images, image, false);
	if (image->found && image->regions.n)
		share_contents(images, image);
	return 0;
}

static void begin_pending(struct images *images, pid_t pid)
{
	struct pending *p = find_pending(images, pid), *more;

	if (p) {
		p->image.regions.n = 0;
		return;
	}
	more = qz_array__room(images->pending, images->npending, sizeof(*more));
	if (!more)
		return;
	images->pending = more;
	p = &images->pending[images->npending++];
	memset(p, 0, sizeof(*p));
	p->pid = pid;
	p->image.pid = pid;
}

/* JIT compilers protect and unprotect their code all the time, which says nothing new. */
static bool is_known_jit(const struct images *images, const struct image *image,
			 const struct sampler_mapping *mapping)
{
	const struct region *known = regions__find(&image->regions, mapping->start);
	const struct module *m = known ? modules__get(images->modules, known->module) : NULL;

	return m && m->jit && mapping->end <= known->end && is_anonymous(mapping->path);
}

/* A mapping of the same part of the same file replaces nothing. */
bool images__replaces(struct images *images, const struct sampler_mapping *mapping)
{
	struct image *image =
		find_pending(images, mapping->pid) ? NULL : find_current(images, mapping->pid);
	const struct region *r;
	const struct module *m;

	if (!image || mapping->exec || is_known_jit(images, image, mapping))
		return false;
	if (is_anonymous(mapping->path))
		return false;
	r = overlapped(image, mapping->start, mapping->end);
	if (!r)
		return false;
	m = modules__get(images->modules, r->module);
	return r->start != mapping->start || r->end != mapping->end ||
	       r->offset != mapping->offset || !m || strcmp(m->path, mapping->path) != 0;
}

void images__mapping(struct images *images, const struct sampler_mapping *mapping)
{
	struct image *current = find_current(images, mapping->pid);
	struct pending *p = find_pending(images, mapping->pid);
	struct image *image = p ? &p->image : current;
	struct proc_dir dir = {.pid = mapping->pid,
			       .start_boottime = current ? current->start_boottime : 0};
	struct module_mapping m = {&dir,	   mapping->start, mapping->end, mapping->inode,
				   mapping->major, mapping->minor, mapping->path};
	struct region region = {mapping->start, mapping->end, mapping->offset, MODULE_NONE};

	if (mapping->exec) {
		if (current)
			begin_pending(images, mapping->pid);
		return;
	}
	if (!image || is_known_jit(images, image, mapping))
		return;
	region.module = module_of(images, &m);
	proc_dir__close(&dir);
	map_region(images, image, &region);
	/* Also where the same was mapped before: it may have been gone meanwhile. */
	image->contents = ++images->next_contents;
	image->mapped = mapping->time;
}

void images__distrust(struct images *images)
{
	for (uint32_t i = 0; i < images->n; i++)
		if (!images->items[i].ended)
			read_mappings(images, &images->items[i], false);
}

uint32_t images__count(const struct images *images)
{
	return images->n;
}

struct image *images__at(struct images *images, uint32_t index)
{
	return &images->items[index];
}

/* What was known stays when the process has ended meanwhile and can no longer be read. */
void images__reload(struct images *images, struct image *image)
{
	struct regions before = image->regions;
	uint64_t contents = image->contents;

	if (image->ended || image->reread)
		return;
	image->reread = true;
	image->regions = (struct regions) {0};
	read_mappings(images, image, false);
	if (image->regions.n) {
		regions__free(&before);
		return;
	}
	regions__free(&image->regions);
	image->regions = before;
	image->contents = contents;
}

void images__refresh(struct images *images)
{
	for (uint32_t i = 0; i < images->n; i++)
		images->items[i].reread = false;
}

const struct region *images__find(struct images *images, struct image *image, uint64_t address)
{
	const struct region *r = regions__find(&image->regions, address);

	if (r || image->ended || image->reread)
		return r;
	image->reread = true;
	read_mappings(images, image, true);
	return regions__find(&image->regions, address);
}

void images__end(struct images *images, uint32_t scope, uint64_t time)
{
	uint32_t i = scope < images->nscopes ? images->latest[scope] : UINT32_MAX;

	for (; i != UINT32_MAX; i = images->items[i].sibling)
		if (images->items[i].seen <= time)
			images->items[i].ended = true;
}

static void use_modules(struct images *images)
{
	for (uint32_t i = 0; i < images->n; i++) {
		const struct regions *r = &images->items[i].regions;

		for (uint32_t k = 0; k < r->n; k++)
			modules__use(images->modules, r->items[k].module);
	}
}

void images__forget(struct images *images, const bool *marked)
{
	uint32_t kept = 0;

	qz_table__clear(&images->by_number);
	qz_table__clear(&images->by_pid);
	qz_table__clear(&images->by_regions); /* nobody else is found at the same time */
	for (uint32_t i = 0; i < images->nscopes; i++)
		images->latest[i] = UINT32_MAX;
	for (uint32_t i = 0; i < images->n; i++) {
		struct image *image = &images->items[i];

		if (marked ? marked[image->scope] : image->ended) {
			regions__free(&image->regions);
			continue;
		}
		images->items[kept] = *image;
		enter(images, kept++);
	}
	images->n =
		qz_array__shrink((void **)&images->items, images->n, kept, sizeof(*images->items));
	use_modules(images);
	modules__sleep_unused(images->modules);
}
