// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/target/debug_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/privsep/opener.h"
#include "daemon/symbolizer/symbolizer.h"
#include "daemon/util/limits.h"
#include "daemon/util/log.h"

#define READING (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define SHARED	"/usr/lib/debug/.dwz/"

static int open_by_build_id(const char *build_id)
{
	char path[256];

	if (strlen(build_id) < 3 || strlen(build_id) > 128)
		return -1;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id,
		 build_id + 2);
	return limits__spare(open(path, READING));
}

/*
 * The file that debug files of a package share, or -1. Its name is in one of them: none but those of root's in one place,
 * where packages have them, are opened.
 */
static int open_shared(const char *name)
{
	if (strncmp(name, SHARED, sizeof(SHARED) - 1) != 0 || strstr(name, "/.."))
		return -1;
	return limits__spare(open(name, READING));
}

/* With the owner's rights: see OPENER_COMPANION. */
static int open_companion(int of, const char *path)
{
	struct opener_request r = {.what = OPENER_COMPANION};

	if (strlen(path) >= sizeof(r.path))
		return -ENAMETOOLONG;
	strcpy(r.path, path);
	return limits__spare(opener__file(of, r));
}

/* The directory of a file by its present name, whatever name it was started by. Not terminated. -1: it has none. */
static int directory_of(int fd, char path[OPENER_PATH])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, OPENER_PATH);
	while (n > 0 && path[n - 1] != '/')
		n--;
	return n > 0 && path[0] == '/' ? (int)n - 1 : -1;
}

/* By the name that is in the file, without directories, where debuggers look for it. */
static int open_by_link(int of, const char *link)
{
	static const char *const places[][2] = {{"", ""}, {"", "/.debug"}, {"/usr/lib/debug", ""}};
	char path[OPENER_PATH], name[OPENER_PATH];
	int length = directory_of(of, path), fd = -ENOENT;

	if (length < 0 || !link[0] || strchr(link, '/'))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0; i++) {
		int n = snprintf(name, sizeof(name), "%s%.*s%s/%s", places[i][0], length, path,
				 places[i][1], link);

		fd = (size_t)n < sizeof(name) ? open_companion(of, name) : -ENAMETOOLONG;
	}
	return fd;
}

/* What names them is only known to the symbolizer. of: the file itself. */
static void find(struct symbolizer *s, int module, int of)
{
	const char *name;
	int fd;

	if (symbolizer__build_id(s, module, &name))
		return;
	fd = open_by_build_id(name);
	if (fd < 0 && !symbolizer__link(s, module, &name))
		fd = open_by_link(of, name);
	if (fd >= 0)
		symbolizer__describe(s, module, fd);
	if (access(SHARED, F_OK) || symbolizer__shared(s, module, &name))
		return;
	fd = open_shared(name);
	if (fd >= 0)
		symbolizer__share(s, module, fd);
}

static const char *reason(int err)
{
	return err == -ESTALE	 ? "it is of another build"
	       : err == -EPERM	 ? "it is not the program's owner's"
	       : err == -EINVAL	 ? "that is no path of a .dwo file"
	       : err == -EFBIG	 ? "it is too large"
	       : err == -ENOEXEC ? "it cannot be read"
				 : strerror(-err);
}

/* The file that was wanted last. */
struct wanted {
	char name[OPENER_PATH];
	int fd; /* or -errno */
};

static void look_for(struct wanted *w, int of, const char *name)
{
	snprintf(w->name, sizeof(w->name), "%s", name);
	w->fd = open_companion(of, name);
}

/* Closes it, and tells whether it was what was wanted. */
static bool check(const struct wanted *w, int error, const char *path, bool say)
{
	int err = w->fd < 0 ? w->fd : error;

	if (w->fd >= 0)
		close(w->fd);
	if (err && say)
		log_warning("%s: its inlined procedures are in %s: %s; keep .dwo files where they "
			    "were built (.dwp files are not read), or build it with "
			    "-gno-split-dwarf",
			    path, w->name, reason(err));
	return !err;
}

bool debug_files__complete(struct symbolizer *s, int module, int of, const uint64_t *addresses,
			   size_t n, const char *path, bool say)
{
	struct wanted w = {.fd = -1};
	struct symbolizer_split next;
	bool whole = true, more = true;

	/* each address wants one at most */
	for (size_t i = 0; i <= n && more; i++) {
		more = !symbolizer__complete(s, module, w.fd, addresses, n, &next) && next.name[0];
		if (i)
			whole &= check(&w, next.error, path, say && whole);
		if (more)
			look_for(&w, of, next.name);
	}
	if (more && w.fd >= 0)
		close(w.fd);
	return whole;
}

int debug_files__add(struct symbolizer *s, int fd, const char *path)
{
	int of = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	int module = symbolizer__add_module(s, SYMBOLIZER_ELF, fd, -1, path);

	if (module >= 0 && of >= 0)
		find(s, module, of);
	if (of >= 0)
		close(of);
	return module;
}
