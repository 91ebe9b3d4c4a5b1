// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/util/suffix.h"
#include "daemon/privsep/fd_ipc.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/opener_worker.h"
#include "daemon/privsep/shm_wake.h"
#include "daemon/privsep/procfs.h"

#define PAGE	 4096
#define MAX_MAPS (64u << 20)
#define READING	 (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* ---- text and memory ---- */

static int copy_all(int from, int to)
{
	char buffer[16 * 1024];
	size_t size = 0;
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0 && size < MAX_MAPS) {
		if (write(to, buffer, n) != n)
			return -ENOMEM;
		size += n;
	}
	return n < 0 ? -errno : 0;
}

static int copy_maps(int dir)
{
	int from = opener__maps(dir), to, err;

	if (from < 0)
		return from;
	to = memfd_create("maps", MFD_CLOEXEC);
	err = to < 0 ? -errno : copy_all(from, to);
	close(from);
	if (!err && lseek(to, 0, SEEK_SET) >= 0)
		return to;
	if (to >= 0)
		close(to);
	return err ?: -EIO;
}

static int read_memory(int dir, uint64_t start, char *to, size_t size)
{
	size_t have = 0, page = PAGE - start % PAGE;
	int fd = openat(dir, "mem", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (; have < size; page = PAGE) {
		size_t wanted = page < size - have ? page : size - have;

		if (pread(fd, to + have, wanted, (off_t)(start + have)) != (ssize_t)wanted)
			break;
		have += wanted;
	}
	close(fd);
	return (int)have;
}

static int read_link(int dir, int number, char *to)
{
	char name[64];
	ssize_t n;

	snprintf(name, sizeof(name), "fd/%d", number);
	n = readlinkat(dir, name, to, PAGE);
	return n < 0 ? -errno : (int)n;
}

/* ---- files ---- */

/* Returns a descriptor to read from of a regular file, given by one of any kind. */
static int reopen(int fd)
{
	char name[32];
	struct stat st;
	int again;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	again = open(name, READING);
	return again < 0 ? -errno : again;
}

struct place {
	const struct opener_request *wanted;
	uint64_t start, end; /* end 0: not found */
};

static void find_part(void *context, const struct procfs_mapping *m)
{
	struct place *p = context;
	const struct opener_request *r = p->wanted;

	if (p->end || m->start < r->start || m->end > r->end || m->inode != r->inode ||
	    m->major != r->major || m->minor != r->minor)
		return;
	p->start = m->start;
	p->end = m->end;
}

/* What has this path now, whether it was mapped or not. */
static int open_at(int dir, uint64_t start, uint64_t end)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, start, end);
	fd = openat(dir, name, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * A file whose code comes first is mapped whole as code, before its other segments are mapped over that
 * or the rest is taken away: then a part of it is at the place, under other addresses.
 */
static int open_file(int dir, const struct opener_request *r)
{
	struct place p = {.wanted = r};
	int path_fd = open_at(dir, r->start, r->end), fd;

	if (path_fd == -ENOENT && !procfs__mappings(dir, find_part, &p) && p.end)
		path_fd = open_at(dir, p.start, p.end);
	if (path_fd < 0)
		return path_fd;
	fd = reopen(path_fd);
	close(path_fd);
	return fd;
}

/*
 * In the /tmp of the process, as it sees files, and no link on the way: where that leads is up to who made it. One that has
 * ended, and was not waited for yet, has no root any more: if it was in no namespace of numbers of its own, its map is looked
 * for in ours.
 */
static int find_perf_map(int dir, const char *name, bool own_numbers)
{
	int root = openat(dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int tmp;

	if (root < 0 && errno == ENOENT && !own_numbers)
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	tmp = root < 0 ? -1 : openat(root, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int fd = tmp < 0 ? -errno : openat(tmp, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd == -1)
		fd = -errno;
	if (tmp >= 0)
		close(tmp);
	if (root >= 0)
		close(root);
	return fd;
}

/*
 * Written by the process's own user, or by root for everybody, or it could name others' code; and nothing
 * that this user could not read himself, as it is shown to him: the process may have got the number of
 * another one, and a second name (a hard link) can be given to a file by a third user.
 */
static bool may_be_believed(int fd, uid_t user)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 || fstatfs(fd, &fs) ||
	    fs.f_type == FUSE_SUPER_MAGIC)
		return false;
	if (st.st_uid == user)
		return st.st_mode & S_IRUSR;
	return !st.st_uid && st.st_mode & S_IROTH;
}

/* The user is the one that files are opened as: of a setuid program not the one who started it. */
static int open_perf_map(int dir, pid_t pid)
{
	char name[64], nspid[128], uids[128], *own, *user;
	int path_fd, fd = -EPERM;

	if (procfs__status(dir, "NStgid", nspid, sizeof(nspid)) ||
	    procfs__status(dir, "Uid", uids, sizeof(uids)))
		return -ESRCH;
	own = strrchr(nspid, '\t'); /* the outermost number is first */
	user = strrchr(uids, '\t');
	if (!user)
		return -ESRCH;
	snprintf(name, sizeof(name), "perf-%d.map", own ? atoi(own + 1) : pid);
	path_fd = find_perf_map(dir, name, own);
	if (path_fd < 0)
		return path_fd;
	if (may_be_believed(path_fd, strtoul(user + 1, NULL, 10)))
		fd = reopen(path_fd);
	close(path_fd);
	return fd;
}

/* No more than everybody has, or the asker himself. */
static int open_again(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st))
		return -errno;
	if (flags & O_PATH ? !(st.st_mode & S_IROTH) : (flags & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	return reopen(fd);
}

/*
 * The file's own bytes have named it, and may name any: so only what is called like a file that describes another one,
 * stands there without a link, and belongs to who owns that file, or to root and everybody may read it.
 */
static int open_companion(int of, const char *path)
{
	int path_fd, fd = -EPERM;
	struct stat st;

	if (path[0] != '/' || strnlen(path, OPENER_PATH) == OPENER_PATH ||
	    !(qz_suffix__is(path, ".dwo") || qz_suffix__is(path, ".debug")))
		return -EINVAL;
	if (fstat(of, &st))
		return -errno;
	path_fd = openat(AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (path_fd < 0)
		return -errno;
	if (may_be_believed(path_fd, st.st_uid))
		fd = reopen(path_fd);
	close(path_fd);
	return fd;
}

/* ---- requests ---- */

static bool is_process(int dir)
{
	struct statfs fs;
	struct stat st;

	return !fstatfs(dir, &fs) && fs.f_type == PROC_SUPER_MAGIC && !fstat(dir, &st) &&
	       S_ISDIR(st.st_mode);
}

static int give(int fd, int *given)
{
	*given = fd;
	return fd < 0 ? fd : 0;
}

static int carry_out(const struct opener_request *r, int fd, struct opener_reply *reply, int *given)
{
	char name[64];

	if (r->what == OPENER_REOPEN)
		return give(open_again(fd), given);
	if (r->what == OPENER_COMPANION)
		return give(open_companion(fd, r->path), given);
	if (!is_process(fd))
		return -EINVAL;
	switch (r->what) {
	case OPENER_MAPS:
		return give(copy_maps(fd), given);
	case OPENER_MEMORY:
		return r->size > OPENER_BYTES ? -EINVAL
					      : read_memory(fd, r->start, reply->bytes, r->size);
	case OPENER_FILE:
		return give(open_file(fd, r), given);
	case OPENER_FD:
		return read_link(fd, r->number, reply->bytes);
	case OPENER_FDINFO:
		snprintf(name, sizeof(name), "fdinfo/%d", r->number);
		return (int)procfs__read(fd, name, reply->bytes, PAGE);
	case OPENER_SYSCALL:
		snprintf(name, sizeof(name), "task/%d/syscall", r->number);
		return (int)procfs__read(fd, name, reply->bytes, PAGE);
	case OPENER_PERF_MAP:
		return give(open_perf_map(fd, r->number), given);
	case OPENER_WAKE:
		shm_wake__call(fd);
		return 0;
	default:
		return -ENOSYS;
	}
}

void opener_worker__do(const struct opener_request *request, int fd, struct opener_reply *reply,
		       int *given)
{
	*given = -1;
	reply->result = fd < 0 ? -EBADF : carry_out(request, fd, reply, given);
	if (*given < 0)
		*given = -1;
}

void opener_worker__serve(int socket, bool waker)
{
	struct opener_request request;
	static struct opener_reply reply;
	int fds[MESSAGE_FDS], given[MESSAGE_FDS] = NO_FDS;
	size_t size;
	ssize_t n;

	while ((n = fd_ipc__receive(socket, &request, sizeof(request), fds, FD_IPC_NEVER)) > 0) {
		if (n != sizeof(request) || waker != (request.what == OPENER_WAKE))
			break;
		opener_worker__do(&request, fds[0], &reply, &given[0]);
		size = offsetof(struct opener_reply, bytes) +
		       (reply.result > 0 ? (size_t)reply.result : 0);
		fd_ipc__close(fds);
		if (fd_ipc__send(socket, &reply, size, given, FD_IPC_NEVER))
			break;
		fd_ipc__close(given);
	}
}
