// SPDX-License-Identifier: LGPL-2.1-only
/* The memory of the page set: private at first, then quartzd's, mapped over it. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "userlib/library.h"

#define SLOTS_SIZE   (QZ_SEGMENTS * QZ_SEGMENT_SIZE)
#define SET_SIZE     (QZ_TABLES_SIZE + SLOTS_SIZE)
#define SHADOWS_SIZE (sizeof(struct shadow) * QZ_SLOT_STACK * QZ_SLOTS)

/* A new page set keeps the symbols, names and tasks of the old one. */
#define KEPT_SIZE offsetof(struct qz_tables, calls)

#define MAX_PAUSES 200

static void *map_private(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Sparse. */
	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

static bool map_over(void *address, size_t size, int fd)
{
	struct stat st;

	/* a file that is too small would cause SIGBUS later */
	if (fstat(fd, &st) || (size_t)st.st_size < size)
		return false;
	return mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
	       MAP_FAILED;
}

/* The first thread publishes the memory; every thread publishes the derived addresses. */
static bool publish(struct qz_tables *tables)
{
	store(&library.slots, (struct qz_slot *)((char *)tables + QZ_TABLES_SIZE));
	store(&library.shadows, (struct shadow(*)[QZ_SLOT_STACK])((char *)tables + SET_SIZE));
	return true;
}

bool memory__reserve(void)
{
	struct qz_tables *tables, *there = NULL;

	if (likely(load(&library.shadows)))
		return true;
	tables = map_private(SET_SIZE + SHADOWS_SIZE);
	if (!tables)
		return false;
	tables->header.text_used = 1;
	if (replace(&library.tables, &there, tables))
		return publish(tables);
	munmap(tables, SET_SIZE + SHADOWS_SIZE);
	return publish(there);
}

static bool all_zero(const char *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE_BYTES - 1);
}

/* Copies only existing pages: reading a missing page of shared memory would allocate it. */
static void copy_pages(char *to, char *from, size_t size)
{
	unsigned char there[KEPT_SIZE / PAGE_BYTES];
	bool known = !mincore(from, size, there);

	for (size_t i = 0; i < size / PAGE_BYTES; i++)
		if ((!known || there[i] & 1) && !all_zero(from + i * PAGE_BYTES))
			memcpy(to + i * PAGE_BYTES, from + i * PAGE_BYTES, PAGE_BYTES);
}

/* All but what quartzd has written. */
static void copy_header(struct qz_page_header *to, const struct qz_page_header *from)
{
	size_t own = offsetof(struct qz_page_header, pid);

	memcpy((char *)to + own, (const char *)from + own, sizeof(*to) - own);
	to->calls_used = 0;
	to->calls_refused = 0;
	to->segments = 0;
}

static void copy_tables(struct qz_tables *to, struct qz_tables *from)
{
	size_t rest = offsetof(struct qz_tables, symbols);

	copy_pages((char *)to + rest, (char *)from + rest, KEPT_SIZE - rest);
	copy_header(&to->header, &from->header);
}

/* Copies the used slots of a segment to its new memory, and maps that over it. */
static int copy_slots(uint32_t segment, int fd)
{
	struct qz_slot *from = library.slots + (size_t)segment * QZ_SEGMENT_SLOTS, *to;
	struct stat st;

	if (fstat(fd, &st) || (size_t)st.st_size < QZ_SEGMENT_SIZE)
		return -EPROTO;
	to = mmap(NULL, QZ_SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (to == MAP_FAILED)
		return -errno;
	for (unsigned i = 0; i < QZ_SEGMENT_SLOTS; i++)
		if (load(&library.used[segment]) >> i & 1)
			to[i] = from[i];
	munmap(to, QZ_SEGMENT_SIZE);
	return map_over(from, QZ_SEGMENT_SIZE, fd) ? 0 : -EPROTO;
}

static int replace_tables(int fd)
{
	struct qz_tables *to;
	struct stat st;
	int err = 0;

	if (fstat(fd, &st) || (size_t)st.st_size < QZ_TABLES_SIZE)
		return -EPROTO;
	to = mmap(NULL, QZ_TABLES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (to == MAP_FAILED)
		return -errno;
	if (to->header.magic != QZ_PAGE_MAGIC || to->header.version != QZ_PAGE_VERSION)
		err = -EPROTO;
	else
		copy_tables(to, library.tables);
	munmap(to, QZ_TABLES_SIZE);
	if (!err && !map_over(library.tables, QZ_TABLES_SIZE, fd))
		err = -EPROTO;
	return err;
}

/*
 * Waits until no thread is interning. That takes no time, unless this is a signal handler that has
 * interrupted the interning, or the interning was left by a jump; then it is ignored.
 */
static void stop_interning(void)
{
	const struct timespec pause = {.tv_nsec = 100000};

	store(&library.moving, 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (int i = 0; i < MAX_PAUSES && load(&library.interning); i++)
		nanosleep(&pause, NULL);
	store(&library.interning, 0);
}

int memory__replace(int tables, const int *slots, uint32_t segments)
{
	int err;

	stop_interning();
	err = replace_tables(tables);
	store(&library.moving, 0);
	for (uint32_t i = 0; !err && i < segments; i++)
		err = copy_slots(i, slots[i]);
	return err;
}

int memory__add_segment(int fd)
{
	char *at = (char *)library.slots + library.segments * QZ_SEGMENT_SIZE;

	return map_over(at, QZ_SEGMENT_SIZE, fd) ? 0 : -EPROTO;
}

void memory__make_private(uint32_t slot, const struct qz_slot *contents)
{
	struct qz_tables *tables = map_private(SET_SIZE);

	/* Without memory, the child has no page set, and must not keep the parent's. */
	if (!tables) {
		mmap(library.tables, SET_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		return;
	}
	copy_tables(tables, library.tables);
	if (slot < QZ_SLOTS)
		((struct qz_slot *)((char *)tables + QZ_TABLES_SIZE))[slot] = *contents;
	mremap(tables, SET_SIZE, SET_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, library.tables);
}
