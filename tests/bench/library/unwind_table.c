/* SPDX-License-Identifier: GPL-2.0-only */
/* unwind_table FILE: a real program, the interpreter of call frame information of quartz-symbolizer,
 * over one file. Prints the processor time in ms of one pass. */
#include <fcntl.h>
#include <unistd.h>

#include "symbolizer/cfi/cfi.h"
#include "tests/bench/library/bench.h"

static void build(const char *path)
{
	struct elf_file *f = elf_file__open(open(path, O_RDONLY | O_CLOEXEC));
	struct cfi_table t;

	if (!f || cfi__build(f, &t))
		exit(1);
	cfi__free(&t);
	elf_file__close(f);
}

int UNTOLD main(int argc, char **argv)
{
	double least = 1e18;

	for (int i = 0; argc > 1 && i < 5; i++) {
		double start = bench_now();

		build(argv[1]);
		start = bench_now() - start;
		least = start < least ? start : least;
	}
	printf("%.1f\n", least / 1e6);
	return 0;
}
