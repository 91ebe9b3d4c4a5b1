/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/symbolizer/table_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "core/util/save_file.h"
#include "daemon/symbolizer/cache_directory.h"
#include "daemon/symbolizer/symbolizer.h"
#include "daemon/util/log.h"
#include "daemon/util/own_files.h"
#include "daemon/util/paths.h"

#define SETTLED	  2	/* s: file systems note times that are so far apart, and kernels ticks */
#define UNTOUCHED 86400 /* s, until a file that is used is marked as used once more */

#define MOST_VDSO (64 << 10)

/* What rows mean, and the layout of the files. It changes with either. */
#define VERSION 5

static const char magic[8] = "QZTABLE";

/* At the beginning of each file; the rows follow. */
struct kept_header {
	char magic[sizeof(magic)];
	uint32_t check; /* CRC-32 of all that follows */
	uint32_t version;
	struct table_cache_file maker;
	struct table_cache_key key;
	struct table_answer answer;
};

_Static_assert(sizeof(struct kept_header) ==
		       16 + 2 * sizeof(struct table_cache_file) + 16 + sizeof(struct table_answer),
	       "no padding");

struct table_cache {
	char *path;
	int dir;
	struct table_cache_file maker;
	uint64_t most; /* bytes of all files */
	uint64_t room; /* bytes that may be kept until the directory is looked through again */
	bool failed;   /* nothing can be written */
	bool said;     /* that a file is damaged */
};

static void describe(const struct stat *st, const struct statfs *fs, struct table_cache_file *file)
{
	*file = (struct table_cache_file) {
		.device = st->st_dev,
		.inode = st->st_ino,
		.size = (uint64_t)st->st_size,
		.written_s = st->st_mtim.tv_sec,
		.written_ns = st->st_mtim.tv_nsec,
		.changed_s = st->st_ctim.tv_sec,
		.changed_ns = st->st_ctim.tv_nsec,
	};
	memcpy(&file->file_system, &fs->f_fsid, sizeof(file->file_system));
}

struct table_cache *table_cache__new(const char *directory, const char *program, uint64_t most)
{
	struct table_cache *c = calloc(1, sizeof(*c));
	struct statfs fs;
	struct stat st;
	int err = ENOMEM;

	if (!c)
		goto fail_early;
	c->path = strdup(directory);
	c->dir = own_files__directory(directory);
	if (c->dir < 0)
		err = -c->dir;
	if (c->dir < 0 || !c->path)
		goto fail;
	if (stat(program, &st) || statfs(program, &fs)) {
		err = errno;
		goto fail;
	}
	describe(&st, &fs, &c->maker);
	c->most = most;
	return c;
fail:
	table_cache__free(c);
fail_early:
	errno = err;
	return NULL;
}

static struct table_cache *open_directory(const char *path, const char *program, uint64_t most)
{
	int err = paths__make_for(path, 0700, 0);

	if (!err)
		return table_cache__new(path, program, most);
	errno = -err;
	return NULL;
}

struct table_cache *table_cache__open(uint64_t most)
{
	const char *path = paths__cache();
	char *program = symbolizer__program();
	struct table_cache *c = program ? open_directory(path, program, most) : NULL;

	if (program && !c)
		log_warning("%s: unwind tables cannot be kept there: %s; they are made in each run "
			    "(quartzctl doctor; --cache-size 0: none are kept)",
			    path,
			    errno == EPERM ? "it must be root's own, where root alone can write"
					   : strerror(errno));
	free(program);
	return c;
}

void table_cache__free(struct table_cache *c)
{
	if (!c)
		return;
	if (c->dir >= 0)
		close(c->dir);
	free(c->path);
	free(c);
}

/* ---- which images ---- */

/*
 * Those of disks, as far as inodes keep their numbers and changes set their times. Memory has no times of changes
 * by mappings, images of read-only file systems may all have one time, and those of FUSE and network file systems come from
 * another process or machine.
 */
static bool is_of_disk(const struct statfs *fs)
{
	return fs->f_type == EXT4_SUPER_MAGIC || fs->f_type == XFS_SUPER_MAGIC ||
	       fs->f_type == BTRFS_SUPER_MAGIC || fs->f_type == F2FS_SUPER_MAGIC ||
	       fs->f_type == OVERLAYFS_SUPER_MAGIC;
}

bool table_cache__describe(const struct table_cache *c, int fd, struct table_cache_file *file)
{
	struct timespec now;
	struct statfs fs;
	struct stat st;

	if (!c || fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid ||
	    st.st_mode & (S_IWGRP | S_IWOTH) || fstatfs(fd, &fs) || !is_of_disk(&fs) ||
	    fs.f_flags & ST_NOSUID)
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	describe(&st, &fs, file);
	return file->changed_s + SETTLED < now.tv_sec;
}

/* As if it were beside quartz-symbolizer: both are what root has installed. */
bool table_cache__describe_vdso(const struct table_cache *c, int fd, struct table_cache_file *file)
{
	Bytef bytes[MOST_VDSO];
	ssize_t n = c ? pread(fd, bytes, sizeof(bytes), 0) : -1;

	if (n <= 0 || n == sizeof(bytes))
		return false;
	*file = (struct table_cache_file) {
		.device = c->maker.device,
		.inode = (uint64_t)crc32_z(0, bytes, (size_t)n) << 32 |
			 adler32_z(1, bytes, (size_t)n),
		.size = (uint64_t)n,
	};
	return true;
}

/* ---- files of the directory ---- */

/*
 * One for each image, or piece of its code that nothing describes, so that what is kept of a file that was changed takes the
 * place of what was before. What else must be the same is in the file.
 */
static void name_file(const struct table_cache_key *key, char name[NAME_MAX])
{
	int n = snprintf(name, NAME_MAX, "%" PRIx64 "-%" PRIx64, key->file.device, key->file.inode);

	if (key->to)
		snprintf(name + n, NAME_MAX - n, "-%" PRIx64 "-%" PRIx64, key->from, key->to);
}

static uint32_t check_of(const struct kept_header *h, const struct qz_unwind_row *rows)
{
	const size_t begin = offsetof(struct kept_header, version);
	uLong check = crc32_z(0, (const Bytef *)h + begin, sizeof(*h) - begin);

	if (h->answer.n) /* for no bytes at NULL it would begin anew */
		check = crc32_z(check, (const Bytef *)rows, h->answer.n * sizeof(*rows));
	return (uint32_t)check;
}

enum found { FOUND, OTHER, DAMAGED };

/* OTHER: of another image, another symbolizer or another version. */
static enum found read_header(const struct table_cache *c, int fd,
			      const struct table_cache_key *key, struct kept_header *h)
{
	const size_t begin = offsetof(struct kept_header, maker);

	if (!own_files__read(fd, h, begin) || memcmp(h->magic, magic, sizeof(magic)))
		return DAMAGED;
	if (h->version != VERSION) /* which may be shorter */
		return OTHER;
	if (!own_files__read(fd, &h->maker, sizeof(*h) - begin))
		return DAMAGED;
	return !memcmp(&h->key, key, sizeof(*key)) &&
			       !memcmp(&h->maker, &c->maker, sizeof(c->maker))
		       ? FOUND
		       : OTHER;
}

/* Also OTHER if there is no memory for it. */
static enum found read_file(const struct table_cache *c, int fd, const struct table_cache_key *key,
			    struct kept_header *h, struct qz_unwind_row **rows)
{
	enum found found;
	struct stat st;
	size_t size;

	if (!own_files__is_own(fd, &st))
		return DAMAGED;
	found = read_header(c, fd, key, h);
	if (found != FOUND)
		return found;
	size = h->answer.n * sizeof(**rows);
	if (h->answer.n > TABLE_MAX_ROWS || (uint64_t)st.st_size != sizeof(*h) + size)
		return DAMAGED;
	*rows = malloc(size ? size : 1);
	if (!*rows)
		return OTHER;
	if (own_files__read(fd, *rows, size) && check_of(h, *rows) == h->check)
		return FOUND;
	free(*rows);
	return DAMAGED;
}

/* So that the time of the last change tells, to a day, when it was used. */
static void touch(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && st.st_mtim.tv_sec + UNTOUCHED < time(NULL))
		futimens(fd, NULL);
}

bool table_cache__find(struct table_cache *c, const struct table_cache_key *key,
		       struct table_answer *answer, struct qz_unwind_row **rows)
{
	struct kept_header h;
	enum found found;
	char name[NAME_MAX];
	int fd;

	name_file(key, name);
	fd = own_files__open(c->dir, name);
	if (fd < 0)
		return false;
	found = read_file(c, fd, key, &h, rows);
	if (found == FOUND) {
		*answer = h.answer;
		touch(fd);
	}
	close(fd);
	if (found == DAMAGED && !c->said) {
		c->said = true;
		log_warning("%s/%s: damaged; the unwind table is made anew, as are others that are",
			    c->path, name);
	}
	return found == FOUND;
}

bool table_cache__has(const struct table_cache *c, const struct table_cache_key *key)
{
	struct kept_header h;
	char name[NAME_MAX];
	bool has;
	int fd;

	name_file(key, name);
	fd = own_files__open(c->dir, name);
	if (fd < 0)
		return false;
	has = read_header(c, fd, key, &h) == FOUND;
	close(fd);
	return has;
}

/* ---- keeping ---- */

struct contents {
	const struct kept_header *header;
	const struct qz_unwind_row *rows;
};

static int write_contents(void *context, int fd)
{
	const struct contents *contents = context;
	const struct kept_header *h = contents->header;

	return own_files__write(fd, h, sizeof(*h))
		       ?: own_files__write(fd, contents->rows,
					   h->answer.n * sizeof(*contents->rows));
}

void table_cache__keep(struct table_cache *c, const struct table_cache_key *key,
		       const struct table_answer *answer, const struct qz_unwind_row *rows)
{
	struct kept_header h = {
		.version = VERSION, .maker = c->maker, .key = *key, .answer = *answer};
	const struct contents contents = {&h, rows};
	uint64_t size = sizeof(h) + answer->n * sizeof(*rows);
	char name[NAME_MAX];
	int err;

	if (c->failed || size > c->most / 8)
		return;
	memcpy(h.magic, magic, sizeof(magic));
	h.check = check_of(&h, rows);
	if (size > c->room) {
		cache_directory__trim(c->dir, c->most / 8 * 7);
		c->room = c->most / 8;
	}
	c->room -= size;
	name_file(key, name);
	err = qz_save_file__at(c->dir, name, 0600, false, write_contents, (void *)&contents);
	if (!err)
		return;
	c->failed = true;
	log_warning("%s: unwind tables cannot be kept there: %s; they are made in each run "
		    "(quartzctl doctor; --cache-size 0: none are kept)",
		    c->path, strerror(-err));
}
