// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "daemon/attribution/shm_sets.h"

#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#define LAST_SEALS (F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

#define CHUNK	       4096
#define SEGMENT_CHUNKS (QZ_SEGMENT_SIZE / CHUNK)
#define SLOTS_IN_CHUNK (CHUNK / sizeof(struct qz_slot))

static_assert(SEGMENT_CHUNKS == 16, "one bit each in struct segment");

/* Segments beyond the first one of each page set. */
#define MAX_MORE (MAX_SEGMENTS - MAX_PAGES)

/*
 * A sampling thread's counter of rounds: odd while the thread uses page sets. In a cache line of
 * its own.
 */
struct round {
	uint64_t n;
	char pad[56];
};

struct shm_sets {
	pthread_mutex_t lock; /* taken by the server's thread and the main thread */
	int deaths;	      /* epoll of all pidfds, whose data is the index */
	struct page *all[MAX_PAGES];
	uint32_t limit;
	uint64_t refused;
	struct round rounds[MAX_POLLERS];
};

struct shm_sets *shm_sets__new(void)
{
	struct shm_sets *sets = calloc(1, sizeof(*sets));

	if (!sets)
		return NULL;
	sets->deaths = epoll_create1(EPOLL_CLOEXEC);
	if (sets->deaths < 0) {
		free(sets);
		return NULL;
	}
	pthread_mutex_init(&sets->lock, NULL);
	return sets;
}

/* ---- shares ---- */

struct use {
	uint32_t pages, more; /* more: segments beyond the first ones */
};

static void count_in(struct use *use, const struct page *page)
{
	use->pages++;
	use->more += page->nsegments - 1;
}

static void count_use(const struct shm_sets *sets, uid_t uid, struct use *own, struct use *users,
		      struct use *all)
{
	*own = *users = *all = (struct use) {0};
	for (uint32_t i = 0; i < sets->limit; i++) {
		const struct page *page = sets->all[i];

		if (!page)
			continue;
		count_in(all, page);
		if (page->uid)
			count_in(users, page);
		if (page->uid == uid)
			count_in(own, page);
	}
}

/* Whether a user may take one more of `room` items. */
static bool may_take(uid_t uid, uint32_t own, uint32_t users, uint32_t all, uint32_t room)
{
	uint32_t for_users = room / 5 * 4;

	if (all >= room)
		return false;
	return !uid || (users < for_users && own < for_users - users);
}

static bool may_have_page(const struct shm_sets *sets, uid_t uid)
{
	struct use own, users, all;

	count_use(sets, uid, &own, &users, &all);
	return may_take(uid, own.pages, users.pages, all.pages, MAX_PAGES);
}

static bool may_have_more(const struct shm_sets *sets, uid_t uid)
{
	struct use own, users, all;

	count_use(sets, uid, &own, &users, &all);
	return may_take(uid, own.more, users.more, all.more, MAX_MORE);
}

/* ---- memory ---- */

/* Memory of zeros, sealed against changes of its size, so that reading it never raises SIGBUS. */
static int make_memory(const char *name, size_t size, int seals)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)size) && !fcntl(fd, F_ADD_SEALS, SIZE_SEALS | seals))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void shm_sets__refuse(struct shm_sets *sets)
{
	__atomic_fetch_add(&sets->refused, 1, __ATOMIC_RELAXED);
}

uint64_t shm_sets__refused(const struct shm_sets *sets)
{
	return __atomic_load_n(&sets->refused, __ATOMIC_RELAXED);
}

/* Reserves address space for all segments in a row; what is not mapped takes no memory. */
static void *reserve_slots(void)
{
	void *place = mmap(NULL, QZ_SEGMENTS * QZ_SEGMENT_SIZE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return place == MAP_FAILED ? NULL : place;
}

/* Maps a new segment after the others. Returns its descriptor, or -errno. */
static int add_segment(struct page *page)
{
	char *at = (char *)page->slots + page->nsegments * QZ_SEGMENT_SIZE;
	int fd = make_memory("quartz-slots", QZ_SEGMENT_SIZE, 0), own, err;

	if (fd < 0)
		return fd;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0 ||
	    mmap(at, QZ_SEGMENT_SIZE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
		err = -errno;
		if (own >= 0)
			close(own);
		close(fd);
		return err;
	}
	page->segments[page->nsegments].fd = own;
	__atomic_store_n(&page->nsegments, page->nsegments + 1, __ATOMIC_RELEASE);
	return fd;
}

static void free_page(struct page *page)
{
	if (!page)
		return;
	for (uint32_t i = 0; i < QZ_SEGMENTS; i++)
		if (page->segments[i].fd >= 0)
			close(page->segments[i].fd);
	if (page->slots)
		munmap((void *)page->slots, QZ_SEGMENTS * QZ_SEGMENT_SIZE);
	if (page->tables >= 0)
		close(page->tables);
	if (page->pidfd >= 0)
		close(page->pidfd);
	free(page);
}

void shm_sets__free(struct shm_sets *sets)
{
	if (!sets)
		return;
	for (uint32_t i = 0; i < sets->limit; i++)
		if (sets->all[i])
			free_page(sets->all[i]);
	close(sets->deaths);
	pthread_mutex_destroy(&sets->lock);
	free(sets);
}

/* ---- making ---- */

static int write_header(int fd, uint32_t generation)
{
	struct qz_page_header header = {
		.magic = QZ_PAGE_MAGIC, .version = QZ_PAGE_VERSION, .generation = generation};

	return pwrite(fd, &header, sizeof(header), 0) == sizeof(header) ? 0 : -errno;
}

static int fill_memory(struct page *page, struct page_memory *memory)
{
	int err;

	page->tables = make_memory("quartz-tables", QZ_TABLES_SIZE, F_SEAL_SEAL);
	if (page->tables < 0)
		return page->tables;
	err = write_header(page->tables, memory->generation);
	page->slots = err ? NULL : reserve_slots();
	if (!page->slots)
		return err ?: -ENOMEM;
	memory->tables = fcntl(page->tables, F_DUPFD_CLOEXEC, 0);
	if (memory->tables < 0)
		return -errno;
	memory->segment = add_segment(page);
	if (memory->segment >= 0)
		return 0;
	close(memory->tables);
	return memory->segment;
}

/* Ends the page sets that the process had. Returns a free index; MAX_PAGES: there is no room. */
static uint32_t find_room(struct shm_sets *sets, pid_t pid, uid_t uid)
{
	uint32_t room = MAX_PAGES;

	for (uint32_t i = 0; i < sets->limit; i++) {
		struct page *page = sets->all[i];

		if (!page && room == MAX_PAGES)
			room = i;
		if (page && page->pid == pid)
			shm_sets__end(page);
	}
	if (!may_have_page(sets, uid))
		return MAX_PAGES;
	return room == MAX_PAGES ? sets->limit : room;
}

static void publish(struct shm_sets *sets, struct page *page, int pidfd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = page->index};

	page->pidfd = pidfd;
	epoll_ctl(sets->deaths, EPOLL_CTL_ADD, pidfd, &event);
	if (page->index == sets->limit)
		__atomic_store_n(&sets->limit, page->index + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&sets->all[page->index], page, __ATOMIC_RELEASE);
}

static struct page *new_page(const struct page_owner *owner)
{
	struct page *page = calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	page->image = owner->image;
	page->pid = owner->pid;
	page->uid = owner->uid;
	page->pidfd = page->tables = -1;
	for (uint32_t i = 0; i < QZ_SEGMENTS; i++)
		page->segments[i].fd = -1;
	return page;
}

static int place(struct shm_sets *sets, struct page *page, int pidfd, struct page_memory *memory)
{
	int err;

	page->index = find_room(sets, page->pid, page->uid);
	if (page->index == MAX_PAGES)
		return -EAGAIN;
	err = fill_memory(page, memory);
	if (!err)
		publish(sets, page, pidfd);
	return err;
}

int shm_sets__open(struct shm_sets *sets, const struct page_owner *owner,
		   struct page_memory *memory, uint32_t *index)
{
	struct page *page = new_page(owner);
	int err = -ENOMEM;

	if (page) {
		pthread_mutex_lock(&sets->lock);
		err = place(sets, page, owner->pidfd, memory);
		*index = page->index;
		pthread_mutex_unlock(&sets->lock);
	}
	if (err) {
		shm_sets__refuse(sets);
		free_page(page);
	}
	return err;
}

/* ---- reading slots ---- */

/*
 * Seals a segment so that the process can punch no holes into what it has written. The process must
 * have mapped it before, and says so.
 */
static bool is_sealed(struct shm_sets *sets, struct page *page, uint32_t number)
{
	struct segment *segment = &page->segments[number];
	int fd = __atomic_load_n(&segment->fd, __ATOMIC_ACQUIRE);
	uint32_t mapped = 0;

	if (fd < 0)
		return true;
	if (pread(page->tables, &mapped, sizeof(mapped),
		  offsetof(struct qz_page_header, segments)) != sizeof(mapped) ||
	    mapped <= number || pthread_mutex_trylock(&sets->lock))
		return false;
	if (segment->fd >= 0 && !fcntl(segment->fd, F_ADD_SEALS, LAST_SEALS)) {
		close(segment->fd);
		__atomic_store_n(&segment->fd, -1, __ATOMIC_RELEASE);
	}
	fd = segment->fd;
	pthread_mutex_unlock(&sets->lock);
	return fd < 0;
}

/*
 * Asks the kernel which chunks were written. quartzd may, since the file is root's, or everybody's.
 */
static uint16_t find_touched(const struct page *page, uint32_t number)
{
	const char *at = (const char *)page->slots + number * QZ_SEGMENT_SIZE;
	const size_t page_size = sysconf(_SC_PAGESIZE);
	unsigned char there[SEGMENT_CHUNKS] = {0};
	uint16_t touched = 0;

	if (page_size > QZ_SEGMENT_SIZE || mincore((void *)at, QZ_SEGMENT_SIZE, there))
		return 0;
	for (uint32_t i = 0; i < SEGMENT_CHUNKS; i++)
		touched |= (there[i * CHUNK / page_size] & 1) << i;
	return touched;
}

/* The time in quarters of a second; never 0. */
static uint16_t this_moment(void)
{
	return (uint16_t)(qz_clock__read(CLOCK_MONOTONIC_COARSE) / 250000000) ?: 1;
}

/*
 * The chunks that were written. If the kernel had nothing new, it is not asked again in the same
 * quarter of a second; otherwise a process that claims slots without writing to them would keep the
 * sampling threads busy. Other processes write to a slot before they claim it.
 */
static uint16_t touched_of(struct shm_sets *sets, struct page *page, uint32_t number, bool now)
{
	struct segment *segment = &page->segments[number];
	uint16_t touched = __atomic_load_n(&segment->touched, __ATOMIC_RELAXED), found;
	uint16_t moment = this_moment();

	if (number >= __atomic_load_n(&page->nsegments, __ATOMIC_ACQUIRE) ||
	    (!now && __atomic_load_n(&segment->in_vain, __ATOMIC_RELAXED) == moment) ||
	    !is_sealed(sets, page, number))
		return touched;
	found = find_touched(page, number);
	if (!(found & ~touched))
		__atomic_store_n(&segment->in_vain, moment, __ATOMIC_RELAXED);
	return __atomic_or_fetch(&segment->touched, found, __ATOMIC_RELAXED);
}

/* Those from this chunk of a segment on; 0: none. */
static uint16_t touched_from(struct shm_sets *sets, struct page *page, uint32_t number,
			     uint32_t chunk, bool now)
{
	uint16_t touched = __atomic_load_n(&page->segments[number].touched, __ATOMIC_RELAXED);

	if (!(touched >> chunk & 1))
		touched = touched_of(sets, page, number, now);
	return touched >> chunk;
}

const struct qz_slot *shm_sets__slot(struct shm_sets *sets, struct page *page, uint32_t slot)
{
	if (slot >= QZ_SLOTS || !(touched_from(sets, page, slot / QZ_SEGMENT_SLOTS,
					       slot % QZ_SEGMENT_SLOTS / SLOTS_IN_CHUNK, false) &
				  1))
		return NULL;
	return &page->slots[slot];
}

uint32_t shm_sets__next_slot(struct shm_sets *sets, struct page *page, uint32_t from, uint32_t end,
			     bool now)
{
	uint32_t slot = from;

	while (slot < end && slot < QZ_SLOTS) {
		uint32_t number = slot / QZ_SEGMENT_SLOTS;
		uint32_t chunk = slot % QZ_SEGMENT_SLOTS / SLOTS_IN_CHUNK;
		uint16_t touched = touched_from(sets, page, number, chunk, now);

		if (touched & 1)
			return slot;
		chunk = touched ? chunk + __builtin_ctz(touched) : SEGMENT_CHUNKS;
		slot = number * QZ_SEGMENT_SLOTS + chunk * SLOTS_IN_CHUNK;
	}
	return end;
}

/* ---- growing ---- */

static int grow_locked(struct shm_sets *sets, struct page *page, uint32_t number)
{
	int fd;

	if (!page || __atomic_load_n(&page->over, __ATOMIC_ACQUIRE))
		return -ENOENT;
	if (number != page->nsegments || number >= QZ_SEGMENTS)
		return -EINVAL;
	fd = may_have_more(sets, page->uid) ? add_segment(page) : -EAGAIN;
	if (fd < 0)
		shm_sets__refuse(sets);
	return fd;
}

int shm_sets__grow(struct shm_sets *sets, uint32_t image, uint32_t number, int *segment)
{
	int fd;

	pthread_mutex_lock(&sets->lock);
	fd = grow_locked(sets, shm_sets__of_image(sets, image), number);
	pthread_mutex_unlock(&sets->lock);
	*segment = fd;
	return fd < 0 ? fd : 0;
}

/* ---- finding ---- */

struct page *shm_sets__at(const struct shm_sets *sets, uint32_t index)
{
	return index < MAX_PAGES ? __atomic_load_n(&sets->all[index], __ATOMIC_ACQUIRE) : NULL;
}

struct page *shm_sets__of_image(const struct shm_sets *sets, uint32_t image)
{
	uint32_t limit = shm_sets__limit(sets);
	struct page *found = NULL;

	for (uint32_t i = 0; i < limit; i++) {
		struct page *page = shm_sets__at(sets, i);

		if (!page || page->image != image)
			continue;
		found = page;
		if (!__atomic_load_n(&page->over, __ATOMIC_ACQUIRE))
			break;
	}
	return found;
}

uint32_t shm_sets__limit(const struct shm_sets *sets)
{
	return __atomic_load_n(&sets->limit, __ATOMIC_ACQUIRE);
}

/* ---- ending ---- */

void shm_sets__end(struct page *page)
{
	__atomic_store_n(&page->over, true, __ATOMIC_RELEASE);
}

void shm_sets__reap(struct shm_sets *sets)
{
	struct epoll_event events[64];
	int n;

	do {
		n = epoll_wait(sets->deaths, events, 64, 0);
		for (int i = 0; i < n; i++) {
			struct page *page = shm_sets__at(sets, events[i].data.u32);

			if (!page)
				continue;
			epoll_ctl(sets->deaths, EPOLL_CTL_DEL, page->pidfd, NULL);
			shm_sets__end(page);
		}
	} while (n == 64);
}

void shm_sets__enter(struct shm_sets *sets, uint32_t poller)
{
	__atomic_fetch_add(&sets->rounds[poller].n, 1, __ATOMIC_SEQ_CST);
}

void shm_sets__leave(struct shm_sets *sets, uint32_t poller)
{
	__atomic_fetch_add(&sets->rounds[poller].n, 1, __ATOMIC_RELEASE);
}

/* Waits until each sampling thread has left its present round: some microseconds. */
static void await_rounds(struct shm_sets *sets)
{
	uint64_t seen[MAX_POLLERS];

	for (int i = 0; i < MAX_POLLERS; i++)
		seen[i] = __atomic_load_n(&sets->rounds[i].n, __ATOMIC_SEQ_CST);
	for (int i = 0; i < MAX_POLLERS; i++)
		while (seen[i] & 1 &&
		       __atomic_load_n(&sets->rounds[i].n, __ATOMIC_ACQUIRE) == seen[i])
			usleep(10);
}

void shm_sets__collect(struct shm_sets *sets, pages_call *call, void *context)
{
	struct page *over[64];
	uint32_t n = 0, limit = shm_sets__limit(sets);

	for (uint32_t i = 0; i < limit && n < 64; i++) {
		struct page *page = shm_sets__at(sets, i);

		if (!page || !__atomic_load_n(&page->over, __ATOMIC_ACQUIRE))
			continue;
		if (call(context, page))
			over[n++] = page;
	}
	if (!n)
		return;
	pthread_mutex_lock(&sets->lock);
	for (uint32_t i = 0; i < n; i++)
		__atomic_store_n(&sets->all[over[i]->index], NULL, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&sets->lock);
	await_rounds(sets);
	for (uint32_t i = 0; i < n; i++)
		free_page(over[i]);
}
