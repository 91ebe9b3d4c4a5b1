/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * who_rw0 and who_rw1: see who.h. Each process executes the file who_rw of the current directory, which
 * it writes before: as a copy of the one or the other, by bit 6 of its pid. Their procedures stand at the
 * same addresses. In turn a file takes its place, or it is written over; that cannot be while it runs.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "tests/programs/who.h"

#define FILE_NAME "who_rw"
#define LOCK_NAME "who_rw.lock"

static int source_of(int version)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 1)
		die("/proc/self/exe", errno);
	path[n] = '\0';
	path[n - 1] = (char)('0' + version);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int copy(int version, const char *to, int flags)
{
	int from = source_of(version), fd = open(to, flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	struct stat st;
	ssize_t n = -1;

	if (from < 0 || fd < 0)
		return -1;
	if (!fstat(from, &st))
		n = sendfile(fd, from, NULL, (size_t)st.st_size);
	close(from);
	close(fd);
	return n > 0 && n == st.st_size ? 0 : -1;
}

static void write_file(int version, int pid, bool over)
{
	char new[64];

	if (over && !copy(version, FILE_NAME, O_TRUNC))
		return;
	snprintf(new, sizeof(new), FILE_NAME ".%d", pid);
	if (copy(version, new, O_EXCL) || rename(new, FILE_NAME))
		die(new, errno);
}

/* The lock is let go by the exec. */
static pid_t create(long number)
{
	char *argv[] = {FILE_NAME, "work", NULL};
	pid_t pid = fork();
	int lock, me;

	if (pid)
		return pid;
	me = who_pid();
	lock = open(LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock < 0 || flock(lock, LOCK_EX))
		die(LOCK_NAME, errno);
	write_file(me >> 6 & 1, me, number % 2);
	execv(FILE_NAME, argv);
	die(FILE_NAME, errno);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "work") && (who_pid() >> 6 & 1) != VERSION)
		return 3; /* the test itself is wrong */
	return who_main(argc, argv, create);
}
