/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dlopen_swap [SECONDS [TURNS]]: opens one library, computes in it, closes it, and does the same with another,
 * 4 or so many times in all. Says "same place" when all of them were mapped at the same address.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>

#include "tests/programs/truth.h"

typedef double (*work_fn)(double seconds);

static const char *const names[] = {"first", "second"};
static char directory[PATH_MAX];

static void *open_library(const char *name, uintptr_t *base)
{
	struct link_map *map;
	char path[PATH_MAX + 32];
	void *library;

	snprintf(path, sizeof(path), "%s/library/%s.so", directory, name);
	library = dlopen(path, RTLD_NOW);
	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map)) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*base = map->l_addr;
	return library;
}

PROCEDURE static uint64_t compute(void *library, double seconds)
{
	uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	work_fn work;

	*(void **)&work = dlsym(library, "work");
	if (!work || work(seconds) < 0)
		exit(1);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 1);
	int turns = argc > 2 ? atoi(argv[2]) : 4;
	uint64_t cpu_ns[2] = {0};
	uintptr_t first = 0;
	bool same = true;

	snprintf(directory, sizeof(directory), "%s", argv[0]);
	dirname(directory);
	for (int i = 0; i < turns; i++) {
		uintptr_t base;
		void *library = open_library(names[i % 2], &base);

		first = i ? first : base;
		same &= base == first;
		cpu_ns[i % 2] += compute(library, seconds);
		dlclose(library);
	}
	for (int i = 0; i < 2; i++)
		truth_print(i ? "second_work" : "first_work", cpu_ns[i], cpu_ns[i]);
	puts(same ? "same place" : "different places");
	return 0;
}
