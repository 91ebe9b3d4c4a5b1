/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deleted_exe [SECONDS]: copies itself to a temporary file, becomes that copy, removes it, and
 * computes in compute_deleted while no path leads to its code any more.
 */
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/programs/truth.h"

PROCEDURE static void compute_deleted(double seconds)
{
	struct truth start = truth_now();

	compute_seconds(seconds);
	truth_since("compute_deleted", start);
}

/* The descriptors must be closed before exec: a file open for writing is "text file busy". */
static void copy_to(int to)
{
	int from = open("/proc/self/exe", O_RDONLY);
	ssize_t n;

	if (from < 0)
		die("/proc/self/exe", errno);
	while ((n = sendfile(to, from, NULL, 1 << 20)) > 0)
		;
	if (n < 0 || fchmod(to, 0700) || close(to))
		die("copy", errno);
	close(from);
}

static void become_copy(char **argv, char *seconds)
{
	char path[PATH_MAX], *next[] = {argv[0], seconds, "copy", NULL};
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/deleted_exe.XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		die(path, errno);
	copy_to(fd);
	execv(path, next);
	unlink(path);
	die(path, errno);
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 1);
	char path[PATH_MAX];
	ssize_t n;

	if (argc < 3)
		become_copy(argv, argc > 1 ? argv[1] : "1");
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n < 0)
		die("/proc/self/exe", errno);
	path[n] = '\0';
	if (unlink(path))
		die(path, errno);
	compute_deleted(seconds);
	return 0;
}
