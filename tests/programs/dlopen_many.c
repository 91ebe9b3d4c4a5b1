/* SPDX-License-Identifier: GPL-2.0-only */
/* dlopen_many DIRECTORY N SECONDS: opens the libraries 1.so to N.so of a directory, and computes in the last one. */
#include <dlfcn.h>
#include <limits.h>

#include "tests/programs/truth.h"

typedef double (*work_fn)(double seconds);

static void *open_library(const char *directory, int i)
{
	char path[PATH_MAX];
	void *library;

	snprintf(path, sizeof(path), "%s/%d.so", directory, i);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return library;
}

PROCEDURE static double compute(void *library, double seconds)
{
	work_fn work;

	*(void **)&work = dlsym(library, "work");
	return work ? work(seconds) : -1;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;
	double seconds = seconds_argument(argc, argv, 3, 1);
	void *library = NULL;

	for (int i = 1; i <= n; i++)
		library = open_library(argv[1], i);
	return !library || compute(library, seconds) < 0;
}
