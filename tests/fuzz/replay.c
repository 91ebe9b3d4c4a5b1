/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NAME PATH...: runs a fuzz target on files, and on the files of directories, each in a process of
 * its own, with a verdict for each. Takes the place of the fuzzer in ordinary test runs.
 */
#include <dirent.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANGS_AFTER_SECONDS 120

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int passed, failed;

static void run(const char *path)
{
	FILE *file = fopen(path, "r");
	struct stat st;
	uint8_t *data;

	if (!file || fstat(fileno(file), &st))
		err(1, "%s", path);
	data = malloc((size_t)st.st_size);
	if (st.st_size && (!data || fread(data, (size_t)st.st_size, 1, file) != 1))
		err(1, "%s", path);
	fclose(file);
	alarm(HANGS_AFTER_SECONDS);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	free(data);
	exit(0);
}

static void replay_file(const char *path)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (child == 0)
		run(path);
	if (waitpid(child, &status, 0) != child)
		err(1, "waitpid");
	if (status == 0) {
		passed++;
		printf("ok %s\n", path);
		return;
	}
	failed++;
	printf("%s: %s %d\nFAIL %s\n", path, WIFSIGNALED(status) ? "signal" : "exit status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), path);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay(const char *path)
{
	struct dirent **entries;
	char *name;
	int n = scandir(path, &entries, is_visible, alphasort);

	if (n < 0) {
		replay_file(path);
		return;
	}
	for (int i = 0; i < n; i++) {
		if (asprintf(&name, "%s/%s", path, entries[i]->d_name) < 0)
			err(1, "%s", path);
		replay_file(name);
		free(name);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	if (passed + failed == 0)
		errx(1, "nothing to replay");
	return failed ? 1 : 0;
}
