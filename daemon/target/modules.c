// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "core/model/profile.h"
#include "core/util/hash_table.h"
#include "daemon/target/address_map.h"
#include "daemon/target/debug_files.h"
#include "daemon/target/modules.h"
#include "daemon/target/runtime_files.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/procfs.h"
#include "daemon/symbolizer/symbolizer.h"
#include "daemon/util/guard.h"
#include "daemon/util/limits.h"

/* Larger than any vDSO; it is read from our own memory. */
#define VDSO_MAX (64 * 1024)

/* Calls of modules__sleep_unused(), until a file that no process has mapped is closed; at once when so many are open. */
#define WAKEFUL	  30
#define MAX_AWAKE 256

/* Modules are kept in blocks, which stay where they are. */
#define BLOCK  256
#define BLOCKS 4096

#define LONGEST_TICK 10000000 /* ns; where the kernel has 100 in a second */

/* What makes two descriptors the same file with the same contents. */
struct identity {
	uint64_t device, inode, size;
	int64_t changed_s, changed_ns;
	int64_t written_s, written_ns;
};

struct entry {
	struct module module;
	struct identity identity;
	pid_t pid;		 /* of a JIT module */
	uint64_t start_boottime; /* of that process, 0: any */
	uint32_t looks;		 /* for a perf map that was not there */
	int fd;			 /* the file, or the perf map as it was read last; -1: none */
	uint32_t opened;	 /* how often there was another one */
	int map;		 /* perf map: kept open, to see it grow */
	dev_t map_device;	 /* which file that is, or was; 0: none was there */
	ino_t map_inode;
	bool asleep;	 /* its files are closed until it is mapped again */
	uint32_t unused; /* calls since it was last in use */

	/* of the thread that asks for names */
	int symbols;	/* number in the symbolizer, or -ENOENT */
	uint32_t given; /* which of the files it has */
	bool lacks;	/* a file with a part of what describes it, which was said */
};

/* What was at an inode at a time: what was mapped before, and not changed since, is the same. */
struct checked {
	struct identity id;
	int64_t at;
};

#define CHECKED 64 /* inodes, by number */

struct modules {
	struct symbolizer *symbolizer;
	pthread_mutex_t lock; /* of all below */
	struct entry *blocks[BLOCKS];
	uint32_t n; /* also read without the lock */
	struct qz_hash_table by_identity, by_path, by_pid;
	uint32_t vdso;
	struct checked checked[CHECKED];
};

struct modules *modules__new(struct symbolizer *symbolizer)
{
	struct modules *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->symbolizer = symbolizer;
	m->vdso = MODULE_NONE;
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

static struct entry *entry_at(const struct modules *m, uint32_t module)
{
	return &m->blocks[module / BLOCK][module % BLOCK];
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void modules__free(struct modules *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n; i++) {
		free(entry_at(m, i)->module.path);
		close_file(&entry_at(m, i)->fd);
		close_file(&entry_at(m, i)->map);
	}
	for (uint32_t i = 0; i < BLOCKS; i++)
		free(m->blocks[i]);
	qz_hash_table__free(&m->by_identity);
	qz_hash_table__free(&m->by_path);
	qz_hash_table__free(&m->by_pid);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* NULL: no such module. */
static struct entry *find_entry(const struct modules *m, uint32_t module)
{
	return module < __atomic_load_n(&m->n, __ATOMIC_ACQUIRE) ? entry_at(m, module) : NULL;
}

struct module *modules__get(const struct modules *m, uint32_t module)
{
	struct entry *e = find_entry(m, module);

	return e ? &e->module : NULL;
}

static struct entry *add_entry(struct modules *m, const char *path)
{
	struct entry **block = &m->blocks[m->n / BLOCK], *e;

	if (m->n == BLOCK * BLOCKS)
		return NULL;
	if (!*block)
		*block = calloc(BLOCK, sizeof(**block));
	if (!*block)
		return NULL;
	e = entry_at(m, m->n);
	*e = (struct entry) {
		.fd = -1, .map = -1, .symbols = -ENOENT, .module = {.mapping = QZ_NONE}};
	e->module.path = strdup(path);
	return e->module.path ? e : NULL;
}

/* Others see it from now on. Returns its number. */
static uint32_t enter(struct modules *m)
{
	__atomic_store_n(&m->n, m->n + 1, __ATOMIC_RELEASE);
	return m->n - 1;
}

/* ---- opening ---- */

static void identify(const struct statx *st, struct identity *id)
{
	*id = (struct identity) {makedev(st->stx_dev_major, st->stx_dev_minor),
				 st->stx_ino,
				 st->stx_size,
				 st->stx_ctime.tv_sec,
				 st->stx_ctime.tv_nsec,
				 st->stx_mtime.tv_sec,
				 st->stx_mtime.tv_nsec};
}

/* Of a regular file; no file system is asked for what the kernel does not know. */
static int read_identity(int fd, struct identity *id)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st))
		return -errno;
	if (!S_ISREG(st.stx_mode))
		return -EINVAL;
	identify(&st, id);
	return 0;
}

/*
 * Whether a file may have been written, or its inode used again, after it was mapped: it then has other
 * code. The kernel notes changes with the time of its last tick.
 */
static bool may_have_changed(const struct module_mapping *mapping, const struct identity *id)
{
	/* file systems report any time */
	__int128 changed = (__int128)id->changed_s * 1000000000 + id->changed_ns;
	int64_t offset = (int64_t)(qz_clock__read(CLOCK_REALTIME) - qz_clock__now());

	return mapping->time && changed - offset + LONGEST_TICK >= mapping->time;
}

/* In a storm of execs the same few files are mapped again and again: one look answers for all of a batch of reports. */
static bool was_checked(struct modules *m, const struct module_mapping *mapping,
			struct identity *id)
{
	const struct checked *c = &m->checked[mapping->inode % CHECKED];
	GUARD(&m->lock);

	*id = c->id;
	return mapping->time && (int64_t)mapping->time <= c->at && id->inode == mapping->inode &&
	       id->device == makedev(mapping->major, mapping->minor) &&
	       !may_have_changed(mapping, id);
}

static void note_checked(struct modules *m, const struct identity *id, int64_t at)
{
	GUARD(&m->lock);

	m->checked[id->inode % CHECKED] = (struct checked) {*id, at};
}

/* By name (O_PATH), as far as the kernel has the way there cached, and only the inode that was mapped. */
static int open_by_name(const struct module_mapping *mapping, struct identity *id)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED};
	int fd = syscall(SYS_openat2, AT_FDCWD, mapping->path, &how, sizeof(how));

	if (fd < 0)
		return -errno;
	if (read_identity(fd, id) || id->inode != mapping->inode ||
	    id->device != makedev(mapping->major, mapping->minor) ||
	    may_have_changed(mapping, id)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* What is mapped at the place now. */
static int open_mapped(const struct module_mapping *mapping, struct identity *id)
{
	const struct opener_request file = {.what = OPENER_FILE,
					    .start = mapping->start,
					    .end = mapping->end,
					    .inode = mapping->inode,
					    .major = mapping->major,
					    .minor = mapping->minor};
	int dir = procfs_dir__fd(mapping->dir);
	int fd = dir < 0 ? -ESRCH : opener__file(dir, file);

	if (fd >= 0 && read_identity(fd, id)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/* Turns a path descriptor into one to read from; closes the former. */
static int reopen(int path_fd)
{
	int fd = opener__file(path_fd, (struct opener_request) {.what = OPENER_REOPEN});

	close(path_fd);
	return limits__spare(fd);
}

/*
 * by_name: a path descriptor of the file, or -errno; closed. Where it may not be read, it may still be
 * as it is mapped. In a container on a file system that shows other numbers in stat(2) than in
 * mappings, what is mapped at the place is all that there is.
 */
static int open_readable(const struct module_mapping *mapping, int by_name,
			 const struct identity *named, struct identity *id)
{
	int fd = by_name < 0 ? by_name : reopen(by_name);

	*id = *named;
	if (fd >= 0)
		return fd;
	fd = limits__spare(open_mapped(mapping, id));
	if (fd < 0 || by_name < 0 || !memcmp(id, named, sizeof(*id)))
		return fd;
	close(fd);
	return -ESTALE;
}

/* ---- files that are there ---- */

/* Whether there is other code in the file now. Names and links of it may have changed. */
static bool was_written(const struct entry *e)
{
	struct identity id;

	if (!e->identity.inode) /* the vDSO, or a perf map */
		return false;
	return read_identity(e->fd, &id) || id.size != e->identity.size ||
	       id.written_s != e->identity.written_s || id.written_ns != e->identity.written_ns;
}

/* With the lock held. */
static int duplicate(const struct entry *e)
{
	int fd;

	if (e->fd < 0)
		return -ENOENT;
	if (was_written(e))
		return -ESTALE;
	fd = fcntl(e->fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : limits__spare(fd);
}

/* With the lock held. Takes the file. */
static void set_file(struct entry *e, int fd)
{
	close_file(&e->fd);
	e->fd = fd;
	e->module.read = ++e->opened;
	e->asleep = false;
	e->unused = 0;
}

bool modules__has_file(struct modules *m, uint32_t module)
{
	struct entry *e = find_entry(m, module);
	GUARD(&m->lock);

	return e && e->fd >= 0;
}

bool modules__is_vdso(struct modules *m, uint32_t module)
{
	GUARD(&m->lock);

	return module != MODULE_NONE && module == m->vdso;
}

int modules__open(struct modules *m, uint32_t module)
{
	struct entry *e = find_entry(m, module);
	GUARD(&m->lock);

	return e ? duplicate(e) : -ENOENT;
}

static int add_symbols(struct modules *m, struct entry *e, int fd)
{
	char path[64];

	if (!e->module.jit)
		return debug_files__add(m->symbolizer, fd, e->module.path);
	snprintf(path, sizeof(path), "perf-%d.map", e->pid);
	return symbolizer__add_module(m->symbolizer, SYMBOLIZER_PERF_MAP, fd, -1, path);
}

static void remove_symbols(struct modules *m, struct entry *e)
{
	if (e->symbols >= 0)
		symbolizer__remove_module(m->symbolizer, e->symbols);
	e->symbols = -ENOENT;
}

/* A file that the symbolizer has refused stays refused; of a perf map there may be more by now. */
int modules__symbols(struct modules *m, uint32_t module)
{
	struct entry *e = find_entry(m, module);
	uint32_t opened;
	int fd = -ENOENT;

	if (!e)
		return -ENOENT;
	if (e->symbols >= 0 && !e->module.jit && symbolizer__refused(m->symbolizer, e->symbols))
		return e->symbols;
	pthread_mutex_lock(&m->lock);
	opened = e->opened;
	if (e->symbols < 0 || e->given != opened)
		fd = duplicate(e);
	pthread_mutex_unlock(&m->lock);
	if (fd == -ENOENT)
		return e->symbols;
	if (fd < 0)
		return fd == -ESTALE ? fd : -EAGAIN;
	remove_symbols(m, e);
	e->given = opened;
	e->symbols = add_symbols(m, e, fd);
	return e->symbols;
}

void modules__complete(struct modules *m, uint32_t module, const uint64_t *addresses, size_t n)
{
	struct entry *e = find_entry(m, module);
	int of;

	if (!e || e->symbols < 0 || e->module.jit ||
	    !symbolizer__is_split(m->symbolizer, e->symbols))
		return;
	of = modules__open(m, module);
	if (of < 0)
		return;
	e->lacks |= !debug_files__complete(m->symbolizer, e->symbols, of, addresses, n,
					   e->module.path, !e->lacks);
	close(of);
}

/* ---- look-up ---- */

static bool same_identity(const void *context, uint32_t index, const void *key)
{
	const struct modules *m = context;

	return !memcmp(&entry_at(m, index)->identity, key, sizeof(struct identity));
}

static bool same_path(const void *context, uint32_t index, const void *key)
{
	const struct modules *m = context;

	return !strcmp(entry_at(m, index)->module.path, key);
}

static bool same_pid(const void *context, uint32_t index, const void *key)
{
	const struct modules *m = context;

	return entry_at(m, index)->pid == *(const pid_t *)key;
}

static uint32_t hash_identity(const struct identity *id)
{
	uint32_t h = qz_hash_table__hash_number(1, id->device);

	h = qz_hash_table__hash_number(h, id->inode);
	h = qz_hash_table__hash_number(h, id->size);
	return qz_hash_table__hash_number(h, id->changed_s ^ id->changed_ns);
}

static uint32_t find_identity(const struct modules *m, const struct identity *id)
{
	return qz_hash_table__find(&m->by_identity, hash_identity(id), same_identity, m, id);
}

/* Whether it is known and open. */
static bool is_awake(struct modules *m, const struct identity *id, uint32_t *module)
{
	GUARD(&m->lock);

	*module = find_identity(m, id);
	if (*module == UINT32_MAX || entry_at(m, *module)->asleep)
		return false;
	entry_at(m, *module)->unused = 0;
	return true;
}

/* Takes the file. */
static uint32_t add_opened(struct modules *m, int fd, const struct identity *id, const char *path)
{
	GUARD(&m->lock);
	uint32_t index = find_identity(m, id);
	struct entry *e;

	if (index != UINT32_MAX) {
		if (entry_at(m, index)->asleep)
			set_file(entry_at(m, index), fd);
		else
			close(fd);
		return index;
	}
	e = qz_hash_table__reserve(&m->by_identity) ? NULL : add_entry(m, path);
	if (!e) {
		close(fd);
		return MODULE_NONE;
	}
	e->identity = *id;
	set_file(e, fd);
	qz_hash_table__insert(&m->by_identity, hash_identity(id), m->n);
	return enter(m);
}

/* A module that has a name and nothing else. */
static uint32_t add_unopened(struct modules *m, const char *path)
{
	uint32_t hash = qz_hash_table__hash_string(1, path), index;
	GUARD(&m->lock);

	index = qz_hash_table__find(&m->by_path, hash, same_path, m, path);
	if (index != UINT32_MAX)
		return index;
	if (qz_hash_table__reserve(&m->by_path) || !add_entry(m, path))
		return MODULE_NONE;
	qz_hash_table__insert(&m->by_path, hash, m->n);
	return enter(m);
}

/* Its section headers are at its end. What is mapped after it is the process's own. */
static size_t vdso_size(const char *image)
{
	Elf64_Ehdr eh;
	size_t size;

	memcpy(&eh, image, sizeof(eh));
	size = eh.e_shoff + (size_t)eh.e_shnum * eh.e_shentsize;
	return eh.e_shoff && size < VDSO_MAX ? size : VDSO_MAX;
}

/* The vDSO of all processes is the one that is mapped here. */
static uint32_t find_vdso(struct modules *m)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	GUARD(&m->lock);
	struct entry *e;
	int fd;

	if (m->vdso != MODULE_NONE || !image)
		return m->vdso;
	e = add_entry(m, "[vdso]");
	if (!e)
		return MODULE_NONE;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	/* it ends with a page that is there: the write stops where the mapping does */
	if (fd >= 0 && write(fd, image, vdso_size(image)) > 0)
		set_file(e, fd);
	else if (fd >= 0)
		close(fd);
	m->vdso = enter(m);
	return m->vdso;
}

/* Cuts the mark that the kernel appends to the name of a file that is no longer there. */
static void copy_path(char *to, size_t size, const char *path)
{
	static const char mark[] = " (deleted)";
	size_t n;

	snprintf(to, size, "%s", path);
	n = strlen(to);
	if (n > sizeof(mark) - 1 && !strcmp(to + n - (sizeof(mark) - 1), mark))
		to[n - (sizeof(mark) - 1)] = '\0';
}

uint32_t modules__of_mapping(struct modules *m, const struct module_mapping *mapping)
{
	struct identity named = {0}, id;
	int64_t now = (int64_t)qz_clock__now();
	uint32_t known;
	char path[4096];
	int fd;

	if (!strcmp(mapping->path, "[vdso]"))
		return find_vdso(m);
	if (mapping->path[0] != '/' || !strncmp(mapping->path, "//anon", 6))
		return MODULE_NONE;
	if (was_checked(m, mapping, &named) && is_awake(m, &named, &known))
		return known;
	copy_path(path, sizeof(path), mapping->path);
	fd = open_by_name(mapping, &named);
	if (fd >= 0)
		note_checked(m, &named, now);
	if (fd >= 0 && is_awake(m, &named, &known)) {
		close(fd);
		return known;
	}
	fd = open_readable(mapping, fd, &named, &id);
	return fd < 0 ? add_unopened(m, path) : add_opened(m, fd, &id, path);
}

uint32_t modules__of_replaced(struct modules *m)
{
	return add_unopened(m, "[replaced]");
}

uint32_t modules__of_file(struct modules *m, int fd, const char *path)
{
	struct identity id;

	if (read_identity(fd, &id)) {
		close(fd);
		return MODULE_NONE;
	}
	fd = reopen(fd);
	return fd < 0 ? MODULE_NONE : add_opened(m, fd, &id, path);
}

/* ---- code made at run time ---- */

static int open_perf_map(struct procfs_dir *dir)
{
	const struct opener_request map = {.what = OPENER_PERF_MAP, .number = dir->pid};
	int fd = procfs_dir__fd(dir);

	return fd < 0 ? -1 : opener__file(fd, map);
}

/* NULL without memory. */
static struct entry *add_jit(struct modules *m, pid_t pid, uint64_t start_boottime, uint32_t *index,
			     bool *opened)
{
	uint32_t hash = qz_hash_table__hash_number(1, pid);
	GUARD(&m->lock);
	struct entry *e;

	*index = qz_hash_table__find(&m->by_pid, hash, same_pid, m, &pid);
	if (*index == UINT32_MAX) {
		e = qz_hash_table__reserve(&m->by_pid) ? NULL : add_entry(m, "[jit]");
		if (!e)
			return NULL;
		e->pid = pid;
		e->start_boottime = start_boottime;
		e->module.jit = true;
		qz_hash_table__insert(&m->by_pid, hash, m->n);
		*index = enter(m);
	}
	e = entry_at(m, *index);
	e->unused = 0;
	*opened = e->map >= 0;
	return e;
}

/* Takes the map. A path descriptor of it when there is more in it than was read, or -1. */
static int see_growth(struct modules *m, struct entry *e, int map)
{
	GUARD(&m->lock);
	struct identity id;

	if (e->map < 0 && !e->asleep)
		e->map = map;
	else
		close_file(&map);
	if (e->map < 0 || read_identity(e->map, &id))
		return -1;
	e->map_device = id.device;
	e->map_inode = id.inode;
	if (id.size == e->identity.size)
		return -1;
	e->identity.size = id.size;
	return fcntl(e->map, F_DUPFD_CLOEXEC, 3);
}

static void read_perf_map(struct modules *m, struct entry *e, int path_fd)
{
	int fd = reopen(path_fd);
	GUARD(&m->lock);

	if (fd >= 0)
		set_file(e, fd);
}

/* dir: where the map is looked for, NULL where it is open already. */
static void update_perf_map(struct modules *m, struct entry *e, struct procfs_dir *dir)
{
	int grown = see_growth(m, e, dir ? open_perf_map(dir) : -1);

	if (grown >= 0)
		read_perf_map(m, e, grown);
}

uint32_t modules__of_jit(struct modules *m, struct procfs_dir *dir)
{
	uint32_t index;
	bool opened;
	struct entry *e = add_jit(m, dir->pid, dir->start_boottime, &index, &opened);

	if (!e)
		return MODULE_NONE;
	update_perf_map(m, e, opened ? NULL : dir);
	return index;
}

static bool wrote_map(void *modules, pid_t pid)
{
	struct modules *m = modules;

	for (uint32_t i = 0; i < m->n; i++)
		if (entry_at(m, i)->map_inode && entry_at(m, i)->pid == pid)
			return true;
	return false;
}

void modules__remove_maps(struct modules *m, struct runtime_directory *directory)
{
	int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	GUARD(&m->lock);

	for (uint32_t i = 0; tmp >= 0 && i < m->n; i++) {
		const struct entry *e = entry_at(m, i);

		if (e->map_inode)
			runtime_files__remove_map(tmp, e->pid, e->map_device, e->map_inode);
	}
	close_file(&tmp);
	runtime_directory__remove_logs(directory, wrote_map, m);
}

/*
 * The process of a module whose map is wanted, and not there so far: the longer that is so, the more rarely it is looked
 * for, if not at once.
 */
static bool wants_map(struct modules *m, struct entry *e, bool at_once, struct procfs_dir *dir)
{
	GUARD(&m->lock);

	if (e->map >= 0 || e->asleep)
		return false;
	e->looks++;
	*dir = (struct procfs_dir) {.pid = e->pid, .start_boottime = e->start_boottime};
	return at_once || !(e->looks & (e->looks - 1)) || e->looks % 16 == 0;
}

void modules__reread_map(struct modules *m, uint32_t module, bool at_once)
{
	struct entry *e = find_entry(m, module);
	struct procfs_dir dir;

	if (!e || !e->module.jit)
		return;
	if (wants_map(m, e, at_once, &dir)) {
		update_perf_map(m, e, &dir);
		procfs_dir__close(&dir);
	} else {
		update_perf_map(m, e, NULL);
	}
}

/* ---- files that no process has mapped ---- */

void modules__use(struct modules *m, const struct address_map *map)
{
	GUARD(&m->lock);

	for (uint32_t i = 0; i < map->n; i++)
		if (map->items[i].module < m->n)
			entry_at(m, map->items[i].module)->unused = 0;
}

/* True: it goes to sleep; the next process of this pid has other code. */
static bool close_unused(struct modules *m, uint32_t module, uint32_t wakeful)
{
	GUARD(&m->lock);
	struct entry *e = entry_at(m, module);

	if (e->asleep || module == m->vdso || e->unused++ <= wakeful)
		return false;
	close_file(&e->fd);
	close_file(&e->map);
	e->pid = 0;
	e->asleep = true;
	return true;
}

static uint32_t count_awake(struct modules *m)
{
	GUARD(&m->lock);
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n; i++)
		n += !entry_at(m, i)->asleep;
	return n;
}

void modules__sleep_unused(struct modules *m)
{
	uint32_t wakeful = count_awake(m) > MAX_AWAKE ? 0 : WAKEFUL;
	struct entry *e;

	for (uint32_t i = 0; (e = find_entry(m, i)); i++)
		if (close_unused(m, i, wakeful) &&
		    (e->symbols < 0 || !symbolizer__refused(m->symbolizer, e->symbols)))
			remove_symbols(m, e);
}
