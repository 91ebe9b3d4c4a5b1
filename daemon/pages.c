// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/pages.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Rounds of a sampling thread, odd while it uses page sets; on a cache line of its own. */
struct round {
	uint64_t n;
	char pad[56];
};

struct pages {
	pthread_mutex_t lock; /* between the server's thread and the main thread */
	int deaths;	      /* epoll of all pidfds, by index */
	struct page *all[MAX_PAGES];
	uint32_t limit, segments;
	uint64_t refused;
	struct round rounds[MAX_POLLERS];
};

struct pages *pages__new(void)
{
	struct pages *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->deaths = epoll_create1(EPOLL_CLOEXEC);
	if (p->deaths < 0) {
		free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

/* ---- memory ---- */

/* All zero, of a size that nobody can change: reading it never ends in a signal. */
static int make_memory(const char *name, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)size) && !fcntl(fd, F_ADD_SEALS, SEALS))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void pages__refuse(struct pages *p)
{
	__atomic_fetch_add(&p->refused, 1, __ATOMIC_RELAXED);
}

uint64_t pages__refused(const struct pages *p)
{
	return __atomic_load_n(&p->refused, __ATOMIC_RELAXED);
}

/* Places of all segments side by side; what is not mapped takes no memory. */
static void *reserve_slots(void)
{
	void *place = mmap(NULL, QZ_SEGMENTS * QZ_SEGMENT_SIZE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return place == MAP_FAILED ? NULL : place;
}

/* Maps a new segment behind those that are there. Its descriptor, or -errno. */
static int add_segment(struct pages *p, struct page *page)
{
	char *at = (char *)page->slots + page->nsegments * QZ_SEGMENT_SIZE;
	int fd, err;

	if (p->segments >= MAX_SEGMENTS)
		return -EAGAIN;
	fd = make_memory("quartz-slots", QZ_SEGMENT_SIZE);
	if (fd < 0)
		return fd;
	if (mmap(at, QZ_SEGMENT_SIZE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
		err = -errno;
		close(fd);
		return err;
	}
	p->segments++;
	__atomic_store_n(&page->nsegments, page->nsegments + 1, __ATOMIC_RELEASE);
	return fd;
}

static void free_page(struct page *page)
{
	if (page->slots)
		munmap((void *)page->slots, QZ_SEGMENTS * QZ_SEGMENT_SIZE);
	if (page->tables >= 0)
		close(page->tables);
	if (page->pidfd >= 0)
		close(page->pidfd);
	free(page);
}

void pages__free(struct pages *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->limit; i++)
		if (p->all[i])
			free_page(p->all[i]);
	close(p->deaths);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- making ---- */

static int write_header(int fd, uint32_t generation)
{
	struct qz_page_header header = {
		.magic = QZ_PAGE_MAGIC, .version = QZ_PAGE_VERSION, .generation = generation};

	return pwrite(fd, &header, sizeof(header), 0) == sizeof(header) ? 0 : -errno;
}

static int make_page(struct pages *p, struct page *page, uint32_t generation,
		     struct page_memory *memory)
{
	int err;

	page->tables = make_memory("quartz-tables", QZ_TABLES_SIZE);
	if (page->tables < 0)
		return page->tables;
	err = write_header(page->tables, generation);
	page->slots = err ? NULL : reserve_slots();
	if (!page->slots)
		return err ?: -ENOMEM;
	memory->tables = fcntl(page->tables, F_DUPFD_CLOEXEC, 0);
	if (memory->tables < 0)
		return -errno;
	memory->segment = add_segment(p, page);
	if (memory->segment >= 0)
		return 0;
	close(memory->tables);
	return memory->segment;
}

/* Ends those that the process has had; gives a free index, or MAX_PAGES when there is no room. */
static uint32_t find_room(struct pages *p, pid_t pid, uid_t uid)
{
	uint32_t room = MAX_PAGES, same = 0;

	for (uint32_t i = 0; i < p->limit; i++) {
		struct page *page = p->all[i];

		if (!page && room == MAX_PAGES)
			room = i;
		if (!page)
			continue;
		same += page->uid == uid;
		if (page->pid == pid)
			pages__end(page);
	}
	if (uid && same >= MAX_PAGES_PER_USER)
		return MAX_PAGES;
	return room == MAX_PAGES ? p->limit : room;
}

static void publish(struct pages *p, struct page *page, int pidfd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = page->index};

	page->pidfd = pidfd;
	epoll_ctl(p->deaths, EPOLL_CTL_ADD, pidfd, &event);
	if (page->index == p->limit)
		__atomic_store_n(&p->limit, page->index + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&p->all[page->index], page, __ATOMIC_RELEASE);
}

static struct page *new_page(uint32_t image, pid_t pid, uid_t uid)
{
	struct page *page = calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	page->image = image;
	page->pid = pid;
	page->uid = uid;
	page->pidfd = page->tables = -1;
	return page;
}

static int place_page(struct pages *p, struct page *page)
{
	page->index = find_room(p, page->pid, page->uid);
	return page->index < MAX_PAGES ? 0 : -EAGAIN;
}

/* Publishes a new page, or frees it, and gives the lock back. */
static int settle(struct pages *p, struct page *page, int err, int pidfd, uint32_t *index)
{
	if (!err)
		publish(p, page, pidfd);
	*index = page->index;
	pthread_mutex_unlock(&p->lock);
	if (err) {
		pages__refuse(p);
		free_page(page);
	}
	return err;
}

int pages__open(struct pages *p, uint32_t image, pid_t pid, uid_t uid, int pidfd,
		uint32_t generation, struct page_memory *memory, uint32_t *index)
{
	struct page *page = new_page(image, pid, uid);
	int err;

	if (!page) {
		pages__refuse(p);
		return -ENOMEM;
	}
	pthread_mutex_lock(&p->lock);
	err = place_page(p, page);
	err = err ?: make_page(p, page, generation, memory);
	return settle(p, page, err, pidfd, index);
}

/* ---- those of the device ---- */

/* Whoever counts no slots is told of none: reading what was never touched makes memory of it. */
static int map_slots(struct pages *p, struct page *page, int memory, off_t slots)
{
	void *place;

	if (p->segments >= MAX_SEGMENTS)
		return -EAGAIN;
	place = mmap(NULL, QZ_SEGMENTS * QZ_SEGMENT_SIZE, PROT_READ, MAP_SHARED, memory, slots);
	if (place == MAP_FAILED)
		return -errno;
	page->slots = place;
	page->whole = true;
	page->nsegments = 1;
	p->segments++;
	return 0;
}

int pages__adopt(struct pages *p, uint32_t image, pid_t pid, uid_t uid, int pidfd, int memory,
		 off_t slots, uint32_t *index)
{
	struct page *page = new_page(image, pid, uid);
	int err;

	if (!page) {
		pages__refuse(p);
		return -ENOMEM;
	}
	pthread_mutex_lock(&p->lock);
	err = place_page(p, page);
	err = err ?: map_slots(p, page, memory, slots);
	if (!err)
		page->tables = memory;
	return settle(p, page, err, pidfd, index);
}

static void count_segments(struct pages *p, struct page *page, uint32_t wanted)
{
	uint32_t n;

	pthread_mutex_lock(&p->lock);
	for (n = page->nsegments; n < wanted && n < QZ_SEGMENTS; n++) {
		if (p->segments >= MAX_SEGMENTS)
			break;
		p->segments++;
	}
	__atomic_store_n(&page->nsegments, n, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&p->lock);
}

uint32_t pages__slots(struct pages *p, struct page *page, uint32_t wanted)
{
	uint32_t slots = __atomic_load_n(&page->nsegments, __ATOMIC_ACQUIRE) * QZ_SEGMENT_SLOTS;

	if (slots >= wanted || !page->whole)
		return slots;
	count_segments(p, page, (wanted + QZ_SEGMENT_SLOTS - 1) / QZ_SEGMENT_SLOTS);
	return __atomic_load_n(&page->nsegments, __ATOMIC_ACQUIRE) * QZ_SEGMENT_SLOTS;
}

static int grow_locked(struct pages *p, struct page *page, uint32_t number)
{
	int fd;

	if (!page || __atomic_load_n(&page->over, __ATOMIC_ACQUIRE))
		return -ENOENT;
	if (page->whole || number != page->nsegments || number >= QZ_SEGMENTS)
		return -EINVAL;
	fd = add_segment(p, page);
	if (fd < 0)
		pages__refuse(p);
	return fd;
}

int pages__grow(struct pages *p, uint32_t image, uint32_t number, int *segment)
{
	int fd;

	pthread_mutex_lock(&p->lock);
	fd = grow_locked(p, pages__of_image(p, image), number);
	pthread_mutex_unlock(&p->lock);
	*segment = fd;
	return fd < 0 ? fd : 0;
}

/* ---- finding ---- */

struct page *pages__at(const struct pages *p, uint32_t index)
{
	return index < MAX_PAGES ? __atomic_load_n(&p->all[index], __ATOMIC_ACQUIRE) : NULL;
}

struct page *pages__of_image(const struct pages *p, uint32_t image)
{
	uint32_t limit = pages__limit(p);
	struct page *found = NULL;

	for (uint32_t i = 0; i < limit; i++) {
		struct page *page = pages__at(p, i);

		if (!page || page->image != image)
			continue;
		found = page;
		if (!__atomic_load_n(&page->over, __ATOMIC_ACQUIRE))
			break;
	}
	return found;
}

uint32_t pages__limit(const struct pages *p)
{
	return __atomic_load_n(&p->limit, __ATOMIC_ACQUIRE);
}

/* ---- ending ---- */

void pages__end(struct page *page)
{
	__atomic_store_n(&page->over, true, __ATOMIC_RELEASE);
}

void pages__reap(struct pages *p)
{
	struct epoll_event events[64];
	int n;

	do {
		n = epoll_wait(p->deaths, events, 64, 0);
		for (int i = 0; i < n; i++) {
			struct page *page = pages__at(p, events[i].data.u32);

			if (!page)
				continue;
			epoll_ctl(p->deaths, EPOLL_CTL_DEL, page->pidfd, NULL);
			pages__end(page);
		}
	} while (n == 64);
}

void pages__enter(struct pages *p, uint32_t poller)
{
	__atomic_fetch_add(&p->rounds[poller].n, 1, __ATOMIC_SEQ_CST);
}

void pages__leave(struct pages *p, uint32_t poller)
{
	__atomic_fetch_add(&p->rounds[poller].n, 1, __ATOMIC_RELEASE);
}

/* Until each sampling thread has left the round that it was in: some microseconds. */
static void await_rounds(struct pages *p)
{
	uint64_t seen[MAX_POLLERS];

	for (int i = 0; i < MAX_POLLERS; i++)
		seen[i] = __atomic_load_n(&p->rounds[i].n, __ATOMIC_SEQ_CST);
	for (int i = 0; i < MAX_POLLERS; i++)
		while (seen[i] & 1 && __atomic_load_n(&p->rounds[i].n, __ATOMIC_ACQUIRE) == seen[i])
			usleep(10);
}

void pages__collect(struct pages *p, pages_call *call, void *context)
{
	struct page *over[64];
	uint32_t n = 0, limit = pages__limit(p);

	for (uint32_t i = 0; i < limit && n < 64; i++) {
		struct page *page = pages__at(p, i);

		if (!page || !__atomic_load_n(&page->over, __ATOMIC_ACQUIRE))
			continue;
		if (call(context, page))
			over[n++] = page;
	}
	if (!n)
		return;
	pthread_mutex_lock(&p->lock);
	for (uint32_t i = 0; i < n; i++) {
		__atomic_store_n(&p->all[over[i]->index], NULL, __ATOMIC_SEQ_CST);
		p->segments -= over[i]->nsegments;
	}
	pthread_mutex_unlock(&p->lock);
	await_rounds(p);
	for (uint32_t i = 0; i < n; i++)
		free_page(over[i]);
}
