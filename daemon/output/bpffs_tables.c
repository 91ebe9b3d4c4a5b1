// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/quartz.skel.h"
#include "bpf/text_tables.skel.h"
#include "core/util/term_escape.h"
#include "daemon/kernel/program_loader.h"
#include "daemon/output/bpffs_tables.h"
#include "daemon/util/paths.h"

#define BPFFS	  "/sys/fs/bpf"
#define DIRECTORY BPFFS "/quartz"
#define LOCK	  BPFFS "/quartz-lock" /* a directory that root alone can open */

#define LOCK_TRIES 10 /* against those that end at the same time */

static const char *const tables[] = {"version", "parallelism", "threads", "procedures"};
#define NTABLES (sizeof(tables) / sizeof(tables[0]))

struct bpffs_tables {
	struct text_tables *skel;
	struct bpf_link *links[NTABLES];
	struct qz_text_procedure *procedures;
	uint32_t nprocedures, used;
	struct qz_text_thread *threads;
	uint32_t nthreads, threads_used;
	int lock; /* -1: none */
	bool pinned;
};

static bool is_bpffs(void)
{
	struct statfs fs;

	return !statfs(BPFFS, &fs) && fs.f_type == BPF_FS_MAGIC;
}

static bool is_table(const char *name)
{
	for (size_t i = 0; i < NTABLES; i++)
		if (!strcmp(name, tables[i]))
			return true;
	return false;
}

/* Removes our tables and nothing else; -ENOTEMPTY when there was anything else. */
static int sweep(void)
{
	DIR *d = opendir(DIRECTORY);
	struct dirent *e;
	int err = 0;

	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!is_table(e->d_name))
			err = -ENOTEMPTY;
		else if (unlinkat(dirfd(d), e->d_name, 0))
			err = -errno;
	}
	closedir(d);
	if (!err && rmdir(DIRECTORY))
		err = -errno;
	return err;
}

static int fail(int err, char *error, size_t size, const char *what, const char *remedy)
{
	snprintf(error, size, "%s: %s; %s", what, strerror(-err), remedy);
	return err;
}

static bool is_ours(const struct stat *st)
{
	return S_ISDIR(st->st_mode) && !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* A descriptor or -errno; -EAGAIN: its holder has removed it meanwhile. */
static int open_lock(void)
{
	struct stat st, now;
	int fd, err = 0;

	if (mkdir(LOCK, 0700) && errno != EEXIST)
		return -errno;
	fd = open(LOCK, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !is_ours(&st) || st.st_mode & 077)
		err = -EPERM;
	else if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (lstat(LOCK, &now) || now.st_ino != st.st_ino)
		err = -EAGAIN;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* The tables are the machine's, and runtime directories can be many: the first quartzd has them. */
static int lock_tables(struct bpffs_tables *t, char *error, size_t size)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		t->lock = open_lock();
		if (t->lock != -EAGAIN && t->lock != -ENOENT)
			break;
	}
	if (t->lock >= 0)
		return 0;
	return t->lock == -EBUSY
		       ? fail(-EBUSY, error, size, DIRECTORY,
			      "another quartzd has its text tables there, this one has none")
		       : fail(t->lock, error, size, LOCK, "without it there are no text tables");
}

static void unlock_tables(struct bpffs_tables *t)
{
	if (t->lock < 0)
		return;
	rmdir(LOCK);
	close(t->lock);
}

static int prepare_directory(struct bpffs_tables *t, char *error, size_t size)
{
	struct stat st;
	int err;

	if (!is_bpffs() && mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return fail(-errno, error, size, "cannot mount the BPF file system at " BPFFS,
			    "without it there are no text tables");
	err = lock_tables(t, error, size);
	if (err)
		return err;
	if (!lstat(DIRECTORY, &st) && !is_ours(&st))
		return fail(-EPERM, error, size, DIRECTORY " is not quartzd's own",
			    "remove it, it is not root's or others can write to it");
	err = sweep();
	if (err)
		return fail(err, error, size, "cannot replace " DIRECTORY,
			    "remove what is not quartzd's from it");
	if (mkdir(DIRECTORY, 0750) || chown(DIRECTORY, 0, paths__group()))
		return fail(-errno, error, size, "cannot make " DIRECTORY, "see bpffs permissions");
	return 0;
}

static int pin(struct bpffs_tables *t, size_t i, struct bpf_program *prog, struct bpf_map *map,
	       char *error, size_t size)
{
	union bpf_iter_link_info info = {.map.map_fd = map ? bpf_map__fd(map) : 0};
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = map ? &info : NULL,
		    .link_info_len = map ? sizeof(info) : 0);
	char path[64];

	snprintf(path, sizeof(path), DIRECTORY "/%s", tables[i]);
	t->links[i] = bpf_program__attach_iter(prog, &opts);
	if (!t->links[i] || bpf_link__pin(t->links[i], path) || chmod(path, 0440) ||
	    chown(path, 0, paths__group()))
		return fail(-errno, error, size, path, "cannot be pinned");
	return 0;
}

/* NULL with errno. */
static void *map_memory(const struct bpf_map *map, size_t size, uint32_t *n)
{
	void *memory = mmap(NULL, bpf_map__max_entries(map) * size, PROT_READ | PROT_WRITE,
			    MAP_SHARED, bpf_map__fd(map), 0);

	*n = bpf_map__max_entries(map);
	return memory == MAP_FAILED ? NULL : memory;
}

static int map_rows(struct bpffs_tables *t, char *error, size_t size)
{
	t->procedures =
		map_memory(t->skel->maps.procedures, sizeof(*t->procedures), &t->nprocedures);
	t->threads = t->procedures
			     ? map_memory(t->skel->maps.living, sizeof(*t->threads), &t->nthreads)
			     : NULL;
	if (!t->threads)
		return fail(-errno, error, size, "tables of procedures and threads",
			    "cannot be mapped");
	return 0;
}

/* Of the maps and the configuration of the programs that measure. */
static int open_programs(struct bpffs_tables *t, struct bpf_runtime *bpf)
{
	struct quartz *from = bpf_runtime__skeleton(bpf);
	struct text_tables *s = t->skel = text_tables__open();
	int err;

	if (!s)
		return -errno;
	snprintf((char *)s->rodata->version, sizeof(s->rodata->version), "%s", QUARTZ_VERSION);
	s->rodata->level_stride = from->rodata->level_stride;
	err = bpf_map__reuse_fd(s->maps.control, bpf_map__fd(from->maps.control));
	err = err ?: bpf_map__reuse_fd(s->maps.scopes, bpf_map__fd(from->maps.scopes));
	return err ?: bpf_map__reuse_fd(s->maps.levels, bpf_map__fd(from->maps.levels));
}

static int load_programs(struct bpffs_tables *t, struct bpf_runtime *bpf, char *error, size_t size)
{
	struct program_loader *loader = NULL;
	const struct bpf_program *failed;
	int err = open_programs(t, bpf);

	err = err ?: program_loader__begin(&loader, t->skel->obj, NULL);
	err = err ?: text_tables__load(t->skel);
	failed = program_loader__failed(loader);
	if (err)
		snprintf(error, size,
			 "the kernel refused BPF program %s (%s): %s; without it there are no text "
			 "tables, see `quartzctl doctor`",
			 failed ? bpf_program__name(failed) : "text_tables",
			 failed ? bpf_program__section_name(failed) : "iter", strerror(-err));
	program_loader__free(loader);
	return err;
}

struct bpffs_tables *bpffs_tables__new(struct bpf_runtime *bpf, char *error, size_t size)
{
	struct bpffs_tables *t = calloc(1, sizeof(*t));
	struct text_tables *s;
	int err;

	if (!t) {
		snprintf(error, size, "out of memory; without it there are no text tables");
		return NULL;
	}
	t->lock = -1;
	err = load_programs(t, bpf, error, size);
	s = t->skel;
	err = err ?: prepare_directory(t, error, size);
	t->pinned = !err;
	err = err ?: pin(t, 0, s->progs.text_version, s->maps.control, error, size);
	err = err ?: pin(t, 1, s->progs.text_parallelism, s->maps.scopes, error, size);
	err = err ?: pin(t, 2, s->progs.text_threads, s->maps.living, error, size);
	err = err ?: pin(t, 3, s->progs.text_procedures, s->maps.procedures, error, size);
	err = err ?: map_rows(t, error, size);
	if (!err)
		return t;
	bpffs_tables__free(t);
	errno = -err;
	return NULL;
}

void bpffs_tables__free(struct bpffs_tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < NTABLES; i++)
		bpf_link__destroy(t->links[i]);
	if (t->pinned)
		sweep();
	unlock_tables(t);
	if (t->procedures)
		munmap(t->procedures, t->nprocedures * sizeof(*t->procedures));
	if (t->threads)
		munmap(t->threads, t->nthreads * sizeof(*t->threads));
	text_tables__destroy(t->skel);
	free(t);
}

void bpffs_tables__add(struct bpffs_tables *t, const struct qz_report *r, uint32_t nscopes)
{
	uint32_t most = (t->nprocedures - t->used) / nscopes;

	for (uint32_t i = 0; r && i < r->nrows && i < most; i++) {
		struct qz_text_procedure *row = &t->procedures[t->used++];
		const struct qz_row *from = &r->rows[i];

		row->total_norm_ns = from->total.norm_ns;
		row->self_norm_ns = from->self.norm_ns;
		row->self_cpu_ns = from->self.cpu_ns;
		row->samples = from->total.samples;
		row->scope = r->scope;
		qz_term_escape(row->name, sizeof(row->name),
			       r->profile->procedures[from->procedure].name);
		row->rank = i + 1;
	}
}

void bpffs_tables__add_thread(struct bpffs_tables *t, const struct qz_thread_event *e)
{
	if (t->threads_used == t->nthreads)
		return;
	t->threads[t->threads_used++] = (struct qz_text_thread) {
		.used = 1,
		.scope = e->scope,
		.pid = e->tgid,
		.tid = e->tid,
		.state = e->state,
		.running_ns = e->ns[QZ_RUNNING],
		.ready_ns = e->ns[QZ_READY],
		.blocked_ns = e->ns[QZ_BLOCKED],
	};
}

void bpffs_tables__end(struct bpffs_tables *t)
{
	while (t->threads_used < t->nthreads && t->threads[t->threads_used].used)
		t->threads[t->threads_used++].used = 0;
	t->threads_used = 0;
	while (t->used < t->nprocedures)
		t->procedures[t->used++].rank = 0;
	t->used = 0;
}
