/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables of earlier runs, as files in a directory of root's that all running quartzd share. Where a table is found,
 * the image is not read, and no child is asked.
 *
 * A table is found by what the kernel says of the image (device, inode, size, times of its contents and of its last
 * change) and of quartz-symbolizer, which made it. That is as good as the contents only where root alone can change either,
 * so tables are kept of no others: the image is root's, others may not write it, it is on a file system of a disk, which
 * gives each file a number of its own and sets the time of change itself, and that is mounted so that set-user-ID programs
 * of root's on it are root's. Who could forge an image there could as well become root. Of other users' images none are
 * kept: to read and hash all of such a file takes longer than to make its table. The vDSO is found by its contents, which
 * are the kernel's.
 *
 * A file may take over the child that reads it, for which file systems of containers have images of root's that root has
 * not written; so rows are kept that are from a child that was given files of one file system only
 * (daemon/symbolizer/symbolizer_table.c).
 *
 * An error of the directory is printed once; its only effect is that tables are made again. One thread at a time.
 */
#ifndef QUARTZ_DAEMON_TABLE_CACHE_H
#define QUARTZ_DAEMON_TABLE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "include/quartz/symbolizer.h"

struct table_cache;

/* A file with its contents, as the kernel tells it. No padding: it is compared as bytes. */
struct table_cache_file {
	uint64_t file_system, device, inode, size;
	int64_t written_s, written_ns; /* contents */
	int64_t changed_s, changed_ns; /* contents, or what is known of the file */
};

/* The key of rows: the file, and either all its call frame information, or the code at [from, to) without such information. */
struct table_cache_key {
	struct table_cache_file file;
	uint64_t from, to;
};

/*
 * Opens the directory of paths__cache(), which is made if need be; `most`: bytes of all files. NULL: it cannot be used, and
 * a message was printed.
 */
struct table_cache *table_cache__open(uint64_t most);

/*
 * Opens a directory. `program`: that makes tables. NULL with errno: ENOMEM, EPERM where it is not the user's own or others
 * may write it, or why it cannot be opened.
 */
struct table_cache *table_cache__new(const char *directory, const char *program, uint64_t most);
void table_cache__free(struct table_cache *c);

/*
 * Describes the file of a descriptor (O_PATH suffices). False: no tables are kept of it, also if it was changed just now,
 * since the time of a further change could be the same then. Without a cache (NULL) there are none.
 */
bool table_cache__describe(const struct table_cache *c, int fd, struct table_cache_file *file);

/* Describes a copy of the vDSO, which may be read and is as it was made. False as above. */
bool table_cache__describe_vdso(const struct table_cache *c, int fd, struct table_cache_file *file);

/*
 * Finds rows: the answer of quartz-symbolizer, and the rows, which are malloc'ed and the caller's. False: there are none. They
 * are to be checked as if the symbolizer had sent them.
 */
bool table_cache__find(struct table_cache *c, const struct table_cache_key *key,
		       struct table_answer *answer, struct qz_unwind_row **rows);

/* Whether there are rows of the key, as far as that can be told without reading them. */
bool table_cache__has(const struct table_cache *c, const struct table_cache_key *key);

/*
 * Keeps rows, of which there are as many as the answer says. The file must have been the same before they were asked
 * for and after they have come.
 */
void table_cache__keep(struct table_cache *c, const struct table_cache_key *key,
		       const struct table_answer *answer, const struct qz_unwind_row *rows);

#endif
