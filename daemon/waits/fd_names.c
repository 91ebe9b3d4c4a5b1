// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/waits/fd_names.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/procfs.h"

/* Of a table of sockets; in a longer one, those beyond it have no names. */
#define MAX_TABLE (256 * 1024)

/* The inode number of an open descriptor, from "ino:" of its fdinfo; 0 when it is closed. */
static uint64_t inode_of(int dir, int fd)
{
	char text[1024], *line;

	if (opener__text(dir, OPENER_FDINFO, fd, text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "\nino:");
	return line ? strtoull(line + 5, NULL, 10) : 0;
}

/* ---- sockets ---- */

struct end {
	uint32_t words[4]; /* as /proc has them: in the host's order of bytes */
	uint32_t port;
};

static void write_end(const struct end *e, bool v6, char *to, size_t size)
{
	char address[INET6_ADDRSTRLEN] = "?";
	static const uint32_t mapped[3] = {0, 0, 0xffff0000};

	if (!v6)
		inet_ntop(AF_INET, e->words, address, sizeof(address));
	else if (!memcmp(e->words, mapped, sizeof(mapped)))
		inet_ntop(AF_INET, &e->words[3], address, sizeof(address));
	else
		inet_ntop(AF_INET6, e->words, address, sizeof(address));
	snprintf(to, size, strchr(address, ':') ? "tcp [%s]:%" PRIu32 : "tcp %s:%" PRIu32, address,
		 e->port);
}

static bool read_end(const char *text, bool v6, struct end *e)
{
	if (v6)
		return sscanf(text, "%8" SCNx32 "%8" SCNx32 "%8" SCNx32 "%8" SCNx32 ":%" SCNx32,
			      &e->words[0], &e->words[1], &e->words[2], &e->words[3],
			      &e->port) == 5;
	return sscanf(text, "%8" SCNx32 ":%" SCNx32, &e->words[0], &e->port) == 2;
}

/* "sl: LOCAL REMOTE state queues timer retransmits uid timeout INODE …" */
static bool is_tcp(const char *line, bool v6, uint64_t inode, char *to, size_t size)
{
	char ends[2][48];
	struct end local, remote;
	uint64_t found;

	if (sscanf(line, " %*s %47s %47s %*s %*s %*s %*s %*s %*s %" SCNu64, ends[0], ends[1],
		   &found) != 3 ||
	    found != inode || !read_end(ends[0], v6, &local) || !read_end(ends[1], v6, &remote))
		return false;
	write_end(remote.port && remote.port < local.port ? &remote : &local, v6, to, size);
	return true;
}

static bool is_tcp4(const char *line, uint64_t inode, char *to, size_t size)
{
	return is_tcp(line, false, inode, to, size);
}

static bool is_tcp6(const char *line, uint64_t inode, char *to, size_t size)
{
	return is_tcp(line, true, inode, to, size);
}

/* "num refcount protocol flags type state INODE path", without a path for most clients. */
static bool is_unix(const char *line, uint64_t inode, char *to, size_t size)
{
	uint64_t found;
	int path = 0;

	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %n", &found, &path) != 1 ||
	    found != inode || !path || !line[path])
		return false;
	snprintf(to, size, "unix %s", line + path);
	return true;
}

typedef bool line_fn(const char *line, uint64_t inode, char *to, size_t size);

static bool search(int dir, const char *table, line_fn *fits, uint64_t inode, char *to, size_t size)
{
	char *text = malloc(MAX_TABLE), *rest = text, *line;
	bool found = false;

	if (text && procfs__read(dir, table, text, MAX_TABLE) > 0)
		while (!found && (line = strsep(&rest, "\n")))
			found = fits(line, inode, to, size);
	free(text);
	return found;
}

static bool name_socket(int dir, uint64_t inode, char *to, size_t size)
{
	return search(dir, "net/tcp", is_tcp4, inode, to, size) ||
	       search(dir, "net/tcp6", is_tcp6, inode, to, size) ||
	       search(dir, "net/unix", is_unix, inode, to, size);
}

int fd_names__name(int dir, int fd, uint64_t inode, char *to, size_t size)
{
	char target[512];
	ssize_t n = opener__text(dir, OPENER_FD, fd, target, sizeof(target));

	/* in this order: what has the number now had it when its name was read, or is younger */
	if (n <= 0 || inode_of(dir, fd) != inode)
		return -ENOENT;
	if (!strncmp(target, "socket:", 7) && name_socket(dir, inode, to, size))
		return 0;
	snprintf(to, size, "%s", target);
	return 0;
}
