/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dlopen_work [SECONDS]: opens zlib only after it has started, and computes in its crc32, called from
 * call_library. The library's code is mapped when a profiler that attached early has already looked.
 */
#include <dlfcn.h>

#include "tests/programs/truth.h"

typedef unsigned long (*checksum_fn)(unsigned long crc, const unsigned char *buf, unsigned int len);

PROCEDURE static void call_library(checksum_fn checksum, double seconds)
{
	static unsigned char buffer[1 << 20];
	struct truth start = truth_now();
	uint64_t end = start.cpu_ns + (uint64_t)(seconds * 1e9);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		buffer[0] = (unsigned char)checksum(0, buffer, sizeof(buffer));
	truth_since("call_library", start);
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 1);
	void *library = dlopen("libz.so.1", RTLD_NOW);
	checksum_fn checksum;

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&checksum = dlsym(library, "crc32");
	if (!checksum) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	call_library(checksum, seconds);
	return 0;
}
