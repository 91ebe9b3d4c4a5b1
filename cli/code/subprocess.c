/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/code/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE 65536

extern char **environ;

static int spawn(const char *const *argv, int out, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return -err;
	err = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	err = err ? err : posix_spawn_file_actions_adddup2(&actions, out, 1);
	err = err ? err : posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	err = err ? err : posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

static int collect(int fd, size_t limit, char **text)
{
	size_t n = 0, room = 0;

	for (;;) {
		ssize_t got;

		if (room - n <= 1) {
			char *more = realloc(*text, room + PIECE);

			if (!more)
				return -ENOMEM;
			*text = more;
			room += PIECE;
		}
		got = read(fd, *text + n, room - n - 1);
		if (got < 0 && errno != EINTR)
			return -errno;
		n += got > 0 ? (size_t)got : 0;
		if (n > limit)
			return -EFBIG;
		if (!got)
			break;
	}
	(*text)[n] = 0;
	return 0;
}

int subprocess__read(const char *const *argv, size_t limit, char **text)
{
	int ends[2], status = 0, err;
	pid_t pid;

	*text = NULL;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	err = spawn(argv, ends[1], &pid);
	close(ends[1]);
	if (err) {
		close(ends[0]);
		return err;
	}
	err = collect(ends[0], limit, text);
	close(ends[0]);
	if (err)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!err && (!WIFEXITED(status) || WEXITSTATUS(status)))
		err = WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -ENOENT : -EIO;
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}
