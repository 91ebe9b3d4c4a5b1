/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/knobs/knob_page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/util/clock.h"
#define LINK	  "/memfd:" QZ_KNOBS_FILE " (deleted)"
#define PAUSE_MS  2
#define SECOND	  1000000000ull
#define NEEDED	  (F_SEAL_SHRINK | F_SEAL_GROW)
#define LETTERS	  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
#define MOST_LINK 65536 /* that are read: a process can have any number of descriptors */

/* ---- its contents ---- */

static bool is_name(const char *name, size_t room)
{
	size_t length = strnlen(name, room);

	return length && length < room && strspn(name, LETTERS) == length;
}

bool knob_page__allows(const struct qz_knob *k, int64_t value)
{
	return value >= k->least && value <= k->most &&
	       ((uint64_t)value - (uint64_t)k->least) % (uint64_t)k->step == 0;
}

const char *knob_page__value(const struct qz_knob *k, int64_t value, char text[KNOB_VALUE])
{
	if (value >= 0 && value < (int64_t)k->choices)
		return k->choice[value];
	snprintf(text, KNOB_VALUE, "%" PRId64, value);
	return text;
}

static bool is_valid(const struct qz_knob *k)
{
	if (!is_name(k->name, sizeof(k->name)) || k->role >= QZ_KNOB_ROLES || k->step < 1 ||
	    k->least > k->most || k->choices > QZ_KNOB_CHOICES ||
	    (k->choices && (k->least || k->step != 1 || k->most != (int64_t)k->choices - 1)) ||
	    !knob_page__allows(k, k->value))
		return false;
	for (uint32_t i = 0; i < k->choices; i++)
		if (!is_name(k->choice[i], sizeof(k->choice[i])))
			return false;
	return true;
}

bool knob_page__is_valid(const struct qz_knobs *copy)
{
	if (copy->magic != QZ_KNOBS_MAGIC || copy->version != QZ_KNOBS_VERSION ||
	    copy->used > QZ_KNOBS)
		return false;
	for (uint32_t i = 0; i < copy->used; i++)
		if (!is_valid(&copy->knobs[i]))
			return false;
	return true;
}

int knob_page__read(struct knob_page *p)
{
	ssize_t n = pread(p->fd, &p->copy, sizeof(p->copy), 0);

	if (n < 0)
		return -errno;
	if (n != sizeof(p->copy) || !knob_page__is_valid(&p->copy))
		return -EPROTO;
	return p->copy.used ? 0 : -ENOENT;
}

const struct qz_knob *knob_page__find(const struct knob_page *p, const char *name)
{
	for (uint32_t i = 0; i < p->copy.used; i++)
		if (!strcmp(p->copy.knobs[i].name, name))
			return &p->copy.knobs[i];
	return NULL;
}

/* ---- the file ---- */

/*
 * Any file can have this name. Only a memory file is opened for more than a look, without waiting for a lease, and what
 * cannot shrink can be mapped.
 */
static int open_link(const char *path)
{
	int look = open(path, O_PATH | O_CLOEXEC), fd, err;
	char self[64];
	struct statfs fs;
	struct stat st;

	if (look < 0)
		return -errno;
	if (fstat(look, &st) || fstatfs(look, &fs) || !S_ISREG(st.st_mode) || st.st_nlink ||
	    fs.f_type != TMPFS_MAGIC || (size_t)st.st_size != QZ_KNOBS_SIZE) {
		close(look);
		return -ENOENT;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", look);
	fd = open(self, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	err = -errno;
	close(look);
	if (fd < 0)
		return err;
	if ((fcntl(fd, F_GET_SEALS) & NEEDED) == NEEDED)
		return fd;
	close(fd);
	return -ENOENT;
}

struct owner {
	uint32_t pid; /* as the process sees itself: the last one of NSpid. 0: it has ended */
	uid_t uid;    /* whose files it makes */
};

static struct owner owner_of(pid_t pid)
{
	struct owner owner = {0, (uid_t)-1};
	char path[64], line[256], *last;
	unsigned int uid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Uid: %*u %*u %*u %u", &uid) == 1)
			owner.uid = uid;
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		owner.pid = last ? (uint32_t)strtoul(last, NULL, 10) : 0;
	}
	if (f)
		fclose(f);
	return owner;
}

/*
 * Another process may have passed its file on, with any number in it. A file of another user is not this process', unless
 * the process made it as root before it changed its user.
 */
static bool is_own(int fd, const struct owner *owner)
{
	uint32_t of = 0;
	struct stat st;

	return pread(fd, &of, sizeof(of), offsetof(struct qz_knobs, pid)) == sizeof(of) &&
	       of == owner->pid && !fstat(fd, &st) && (!st.st_uid || st.st_uid == owner->uid);
}

/* Looks for the name among the links of a directory. A descriptor, or -errno; -ENOENT: there is none. */
static int search(const char *directory, const struct owner *owner)
{
	DIR *d = opendir(directory);
	const struct dirent *e;
	int fd = -ENOENT;

	if (!d)
		return -errno;
	for (uint32_t i = 0; i < MOST_LINK && fd < 0 && (e = readdir(d)); i++) {
		char path[320], name[sizeof(LINK) + 1];
		ssize_t n;

		snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
		n = readlink(path, name, sizeof(name));
		if (n != sizeof(LINK) - 1 || memcmp(name, LINK, sizeof(LINK) - 1))
			continue;
		fd = open_link(path);
		if (fd >= 0 && !is_own(fd, owner)) {
			close(fd);
			fd = -ENOENT;
		}
	}
	closedir(d);
	return fd;
}

/* A process that has closed its descriptors still has the mapping, which only root may open. */
static int find_file(pid_t pid)
{
	struct owner owner = owner_of(pid);
	char path[64];
	int fd, mapped;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	fd = search(path, &owner);
	if (fd != -ENOENT)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/map_files", pid);
	mapped = search(path, &owner);
	return mapped >= 0 ? mapped : -ENOENT;
}

static int map_file(struct knob_page *p)
{
	p->map = mmap(NULL, QZ_KNOBS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (p->map == MAP_FAILED)
		return errno == EPERM ? -EPROTO : -errno;
	return knob_page__read(p);
}

int knob_page__open(struct knob_page *p, pid_t pid)
{
	int err;

	p->pid = pid;
	p->fd = -1;
	p->map = MAP_FAILED;
	p->process = pidfd_open(pid, 0);
	if (p->process < 0) /* EINVAL: a thread that is none's leader */
		return errno == EINVAL ? -ESRCH : -errno;
	p->fd = find_file(pid);
	err = p->fd < 0 ? p->fd : map_file(p);
	if (err)
		knob_page__close(p);
	return err;
}

void knob_page__close(struct knob_page *p)
{
	if (p->map != MAP_FAILED)
		munmap(p->map, QZ_KNOBS_SIZE);
	if (p->fd >= 0)
		close(p->fd);
	close(p->process);
}

/* ---- requests ---- */

/* Whether it ends before so much time is over. */
static bool ends_within(const struct knob_page *p, int ms)
{
	struct pollfd ended = {.fd = p->process, .events = POLLIN};

	return poll(&ended, 1, ms) > 0;
}

/* The process can hold the lock itself: no caller waits for it longer than for an answer. */
static int lock(const struct knob_page *p, uint64_t deadline)
{
	while (flock(p->fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			return -errno;
		if (ends_within(p, PAUSE_MS))
			return -ESRCH;
		if (qz_clock__now() >= deadline)
			return -EBUSY;
	}
	return 0;
}

/* Returns the number of the request. */
static uint32_t ask(struct qz_knobs *map, uint32_t *asked)
{
	uint32_t request = __atomic_add_fetch(asked, 1, __ATOMIC_ACQ_REL);

	__atomic_add_fetch(&map->asked, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, &map->asked, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return request;
}

static int await(const struct knob_page *p, const uint32_t *answered, uint32_t request,
		 uint64_t deadline)
{
	while (__atomic_load_n(answered, __ATOMIC_ACQUIRE) != request) {
		if (ends_within(p, PAUSE_MS))
			return -ESRCH;
		if (qz_clock__now() >= deadline)
			return -ETIMEDOUT;
	}
	return 0;
}

/* What the process says is believed only as far as it is one of these. */
static int status_of(const struct qz_knob *k)
{
	int status = __atomic_load_n(&k->status, __ATOMIC_RELAXED);

	return !status || status == -ERANGE || status == -EINVAL || status == -ECANCELED ? status
											 : -EPROTO;
}

int knob_page__set(struct knob_page *p, const struct qz_knob *knob, int64_t value,
		   uint64_t patience_ns)
{
	struct qz_knob *k = &p->map->knobs[knob - p->copy.knobs];
	uint64_t deadline = qz_clock__now() + patience_ns;
	int err = lock(p, deadline);

	if (err)
		return err;
	__atomic_store_n(&k->wanted, value, __ATOMIC_RELEASE);
	err = await(p, &k->answered, ask(p->map, &k->asked), deadline);
	flock(p->fd, LOCK_UN);
	return err ? err : status_of(k);
}

int knob_page__count(struct knob_page *p, struct knob_count *count, uint64_t patience_ns)
{
	uint64_t deadline = qz_clock__now() + patience_ns;
	int err = lock(p, deadline);

	if (err)
		return err;
	__atomic_store_n(&p->map->counting, 1, __ATOMIC_RELEASE);
	err = await(p, &p->map->count_answered, ask(p->map, &p->map->count_asked), deadline);
	count->events = __atomic_load_n(&p->map->events, __ATOMIC_RELAXED);
	count->at = __atomic_load_n(&p->map->events_at, __ATOMIC_RELAXED);
	flock(p->fd, LOCK_UN);
	return err;
}

void knob_page__stop_counting(struct knob_page *p)
{
	__atomic_store_n(&p->map->counting, 0, __ATOMIC_RELEASE);
	ask(p->map, &p->map->count_asked);
}
