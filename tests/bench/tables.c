/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables [FILE...]: what the unwind tables of these files cost to make, and what it costs to refuse
 * those of the floods that the unit tests have. Each in a process of its own.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolizer/cfi/cfi.h"
#include "tests/programs/truth.h"
#include "tests/unit/symbolizer/cfi_bytes.h"
#include "tests/unit/symbolizer/cfi_image.h"

static int build(const char *name, int fd)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), ran = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct elf_file *f = elf_file__open(fd);
	struct cfi_table t = {0};
	struct rusage used;
	int err;

	if (!f)
		return 1;
	err = cfi__build(f, &t);
	ran = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - ran;
	start = clock_ns(CLOCK_MONOTONIC) - start;
	getrusage(RUSAGE_SELF, &used);
	printf("%-44s %8u %8.1f %8.1f %8ld  %s\n", name, t.n, ran / 1e6, start / 1e6,
	       used.ru_maxrss, err ? strerror(-err) : "");
	return fflush(stdout) != 0;
}

static void row(const char *name, int fd)
{
	pid_t pid = fd < 0 ? -1 : fork();
	int status;

	if (pid == 0)
		_exit(build(name, fd));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		printf("%s: not measured\n", name);
	close(fd);
}

int main(int argc, char **argv)
{
	printf("%-44s %8s %8s %8s %8s\n%-44s %8s %8s %8s %8s\n", "tables of", "rows", "cpu", "wall",
	       "peak", "", "", "ms", "ms", "KB");
	fflush(stdout);
	for (int i = 1; i < argc; i++)
		row(argv[i], open(argv[i], O_RDONLY | O_CLOEXEC));
	for (int i = 0; i < CFI_FLOODS; i++) {
		struct cfi_bytes b = cfi_new_bytes();
		char name[64];
		int fd;

		cfi_floods[i].put(&b);
		fd = cfi_image__make(".eh_frame", b.at, b.n);
		free(b.at);
		snprintf(name, sizeof(name), "flood of %s", cfi_floods[i].name);
		row(name, fd);
	}
	return 0;
}
