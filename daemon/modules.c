// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/array.h"
#include "core/profile.h"
#include "core/table.h"
#include "daemon/modules.h"
#include "daemon/opener.h"
#include "daemon/proc.h"

/* Larger than any vDSO; it is read from our own memory. */
#define VDSO_MAX (64 * 1024)

/* Calls of modules__sleep_unused(), until what nobody has mapped is closed; at once when so many are open. */
#define WAKEFUL	  30
#define MAX_AWAKE 256

/* What makes two descriptors the same file with the same contents. */
struct identity {
	uint64_t device, inode, size;
	int64_t changed_s, changed_ns;
};

struct entry {
	struct module module;
	struct identity identity;
	pid_t pid;	 /* of a JIT module */
	int map;	 /* perf map: kept open, to see it grow */
	bool asleep;	 /* its files are closed until it is mapped again */
	uint32_t unused; /* calls since it was last in use */
};

struct modules {
	struct symbolizer *symbolizer;
	bool names;
	struct entry *entries;
	uint32_t n;
	struct qz_table by_identity, by_path, by_pid;
	uint32_t vdso;
};

struct modules *modules__new(struct symbolizer *symbolizer, bool names)
{
	struct modules *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->symbolizer = symbolizer;
	m->names = names;
	m->vdso = MODULE_NONE;
	return m;
}

void modules__free(struct modules *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n; i++) {
		free(m->entries[i].module.path);
		if (m->entries[i].map >= 0)
			close(m->entries[i].map);
	}
	free(m->entries);
	qz_table__free(&m->by_identity);
	qz_table__free(&m->by_path);
	qz_table__free(&m->by_pid);
	free(m);
}

struct module *modules__get(struct modules *m, uint32_t module)
{
	return module < m->n ? &m->entries[module].module : NULL;
}

static struct entry *add_entry(struct modules *m, const char *path)
{
	struct entry *more, *e;

	more = qz_array__room(m->entries, m->n, sizeof(*more));
	if (!more)
		return NULL;
	m->entries = more;
	e = &m->entries[m->n];
	*e = (struct entry) {.map = -1, .module = {.symbols = -ENOENT, .mapping = QZ_NONE}};
	e->module.path = strdup(path);
	if (!e->module.path)
		return NULL;
	m->n++;
	return e;
}

/* ---- opening ---- */

static void identify(const struct statx *st, struct identity *id)
{
	*id = (struct identity) {makedev(st->stx_dev_major, st->stx_dev_minor), st->stx_ino,
				 st->stx_size, st->stx_ctime.tv_sec, st->stx_ctime.tv_nsec};
}

/* Of a regular file; no file system is asked for what the kernel does not know. */
static int look_at(int fd, struct identity *id)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st))
		return -errno;
	if (!S_ISREG(st.stx_mode))
		return -EINVAL;
	identify(&st, id);
	return 0;
}

/* By name (O_PATH), as far as the kernel has the way there cached, and only the inode that was mapped. */
static int open_by_name(const struct module_mapping *mapping, struct identity *id)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED};
	int fd = syscall(SYS_openat2, AT_FDCWD, mapping->path, &how, sizeof(how));

	if (fd < 0)
		return -errno;
	if (look_at(fd, id) || id->inode != mapping->inode ||
	    id->device != makedev(mapping->major, mapping->minor)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* What is mapped at the place now. */
static int open_mapped(const struct module_mapping *mapping, struct identity *id)
{
	const struct opener_file file = {mapping->start, mapping->end, mapping->inode,
					 mapping->major, mapping->minor};
	int dir = proc_dir__fd(mapping->dir);
	int fd = dir < 0 ? -ESRCH : opener__file(dir, &file);

	if (fd >= 0 && look_at(fd, id)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/* Turns a path descriptor into one to read from; closes the former. */
static int reopen(int path_fd)
{
	int fd = opener__reopen(path_fd);

	close(path_fd);
	return fd;
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
	fd = open_mapped(mapping, id);
	if (fd < 0 || by_name < 0 || !memcmp(id, named, sizeof(*id)))
		return fd;
	close(fd);
	return -ESTALE;
}

/* The separate debug file for a build-id, or -1. Never by name: the file would choose the path. */
static int open_debug(const char *build_id)
{
	char path[256];

	if (strlen(build_id) < 3 || strlen(build_id) > 128)
		return -1;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id,
		 build_id + 2);
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/*
 * Gives the file to the symbolizer. Its build-id, which names the debug file, is only known to the
 * symbolizer; where there are debug files the module is given once more with its own.
 */
static int add_symbols(struct modules *m, int fd, const char *path)
{
	bool look = m->names && !access("/usr/lib/debug/.build-id", F_OK);
	int copy = look ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1, debug = -1, again;
	int symbols = symbolizer__add_module(m->symbolizer, SYMBOLIZER_ELF, fd, -1, path);
	const char *build_id;

	if (symbols >= 0 && copy >= 0 && !symbolizer__build_id(m->symbolizer, symbols, &build_id))
		debug = open_debug(build_id);
	if (debug < 0) {
		if (copy >= 0)
			close(copy);
		return symbols;
	}
	again = symbolizer__add_module(m->symbolizer, SYMBOLIZER_ELF, copy, debug, path);
	if (again < 0)
		return symbols;
	symbolizer__remove_module(m->symbolizer, symbols);
	return again;
}

/* ---- look-up ---- */

static bool same_identity(const void *context, uint32_t index, const void *key)
{
	const struct modules *m = context;

	return !memcmp(&m->entries[index].identity, key, sizeof(struct identity));
}

static bool same_path(const void *context, uint32_t index, const void *key)
{
	const struct modules *m = context;

	return !strcmp(m->entries[index].module.path, key);
}

static bool same_pid(const void *context, uint32_t index, const void *key)
{
	const struct modules *m = context;

	return m->entries[index].pid == *(const pid_t *)key;
}

static uint32_t hash_identity(const struct identity *id)
{
	uint32_t h = qz_hash__number(1, id->device);

	h = qz_hash__number(h, id->inode);
	h = qz_hash__number(h, id->size);
	return qz_hash__number(h, id->changed_s ^ id->changed_ns);
}

static uint32_t find_identity(const struct modules *m, const struct identity *id)
{
	return qz_table__find(&m->by_identity, hash_identity(id), same_identity, m, id);
}

/* Mapped again. */
static void wake(struct modules *m, struct entry *e, int fd)
{
	e->asleep = false;
	e->unused = 0;
	e->module.symbols = add_symbols(m, fd, e->module.path);
}

static uint32_t add_opened(struct modules *m, int fd, const struct identity *id, const char *path)
{
	uint32_t hash = hash_identity(id), index = find_identity(m, id);
	struct entry *e;

	if (index != UINT32_MAX) {
		if (m->entries[index].asleep)
			wake(m, &m->entries[index], fd);
		else
			close(fd);
		return index;
	}
	e = qz_table__reserve(&m->by_identity) ? NULL : add_entry(m, path);
	if (!e) {
		close(fd);
		return MODULE_NONE;
	}
	e->identity = *id;
	qz_table__insert(&m->by_identity, hash, m->n - 1);
	e->module.symbols = add_symbols(m, fd, path);
	return m->n - 1;
}

/* A module that has a name and nothing else. */
static uint32_t add_unopened(struct modules *m, const char *path)
{
	uint32_t hash = qz_hash__string(1, path), index;

	index = qz_table__find(&m->by_path, hash, same_path, m, path);
	if (index != UINT32_MAX)
		return index;
	if (qz_table__reserve(&m->by_path) || !add_entry(m, path))
		return MODULE_NONE;
	qz_table__insert(&m->by_path, hash, m->n - 1);
	return m->n - 1;
}

/* The vDSO of all processes is the one that is mapped here. */
static uint32_t find_vdso(struct modules *m)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	struct entry *e;
	int fd;

	if (m->vdso != MODULE_NONE || !image)
		return m->vdso;
	e = add_entry(m, "[vdso]");
	if (!e)
		return MODULE_NONE;
	m->vdso = m->n - 1;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	/* it ends with a page that is there: the write stops where the mapping does */
	if (fd >= 0 && write(fd, image, VDSO_MAX) > 0)
		e->module.symbols =
			symbolizer__add_module(m->symbolizer, SYMBOLIZER_ELF, fd, -1, "[vdso]");
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
	uint32_t known;
	char path[4096];
	int fd;

	if (!strcmp(mapping->path, "[vdso]"))
		return find_vdso(m);
	if (mapping->path[0] != '/' || !strncmp(mapping->path, "//anon", 6))
		return MODULE_NONE;
	copy_path(path, sizeof(path), mapping->path);
	fd = open_by_name(mapping, &named);
	known = fd < 0 ? UINT32_MAX : find_identity(m, &named);
	if (known != UINT32_MAX && !m->entries[known].asleep) {
		close(fd);
		return known;
	}
	fd = open_readable(mapping, fd, &named, &id);
	return fd < 0 ? add_unopened(m, path) : add_opened(m, fd, &id, path);
}

uint32_t modules__of_file(struct modules *m, int fd, const char *path)
{
	struct identity id;

	if (look_at(fd, &id)) {
		close(fd);
		return MODULE_NONE;
	}
	fd = reopen(fd);
	return fd < 0 ? MODULE_NONE : add_opened(m, fd, &id, path);
}

/* ---- code made at run time ---- */

static void read_perf_map(struct modules *m, struct entry *e)
{
	struct identity id;
	char path[64];
	int fd;

	if (look_at(e->map, &id) || id.size == e->identity.size)
		return;
	e->identity.size = id.size;
	fd = opener__reopen(e->map);
	if (fd < 0)
		return;
	if (e->module.symbols >= 0)
		symbolizer__remove_module(m->symbolizer, e->module.symbols);
	snprintf(path, sizeof(path), "perf-%d.map", e->pid);
	e->module.symbols =
		symbolizer__add_module(m->symbolizer, SYMBOLIZER_PERF_MAP, fd, -1, path);
}

static int open_perf_map(struct proc_dir *dir)
{
	int fd = proc_dir__fd(dir);

	return fd < 0 ? -1 : opener__perf_map(fd, dir->pid);
}

uint32_t modules__of_jit(struct modules *m, struct proc_dir *dir)
{
	pid_t pid = dir->pid;
	uint32_t hash = qz_hash__number(1, pid), index;
	struct entry *e;

	index = qz_table__find(&m->by_pid, hash, same_pid, m, &pid);
	if (index == UINT32_MAX) {
		e = qz_table__reserve(&m->by_pid) ? NULL : add_entry(m, "[jit]");
		if (!e)
			return MODULE_NONE;
		e->pid = pid;
		e->module.jit = true;
		index = m->n - 1;
		qz_table__insert(&m->by_pid, hash, index);
	}
	e = &m->entries[index];
	if (!m->names)
		return index;
	if (e->map < 0)
		e->map = open_perf_map(dir);
	if (e->map >= 0)
		read_perf_map(m, e);
	return index;
}

/* ---- those that nobody has mapped ---- */

void modules__use(struct modules *m, uint32_t module)
{
	if (module < m->n)
		m->entries[module].unused = 0;
}

/* A refused one has no files, and stays refused. The next process of this pid has other code. */
static void put_to_sleep(struct modules *m, struct entry *e)
{
	if (e->module.symbols >= 0) {
		if (symbolizer__refused(m->symbolizer, e->module.symbols))
			return;
		symbolizer__remove_module(m->symbolizer, e->module.symbols);
		e->module.symbols = -ENOENT;
	}
	if (e->map >= 0)
		close(e->map);
	e->map = -1;
	e->pid = 0;
	e->asleep = true;
}

void modules__sleep_unused(struct modules *m)
{
	uint32_t nawake = 0, wakeful;

	for (uint32_t i = 0; i < m->n; i++)
		nawake += !m->entries[i].asleep;
	wakeful = nawake > MAX_AWAKE ? 0 : WAKEFUL;
	for (uint32_t i = 0; i < m->n; i++) {
		struct entry *e = &m->entries[i];

		if (!e->asleep && i != m->vdso && e->unused++ > wakeful)
			put_to_sleep(m, e);
	}
}
