/* SPDX-License-Identifier: GPL-2.0-only */
/* late_map SECONDS: computes in code that it makes, and writes what it is called (/tmp/perf-PID.map) only when it ends. */
#include <sys/mman.h>
#include <unistd.h>

#include "tests/programs/truth.h"

/* push rbp; mov rbp, rsp; again: dec rdi; jnz again; pop rbp; ret */
static const unsigned char loop[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff,
				     0xcf, 0x75, 0xfb, 0x5d, 0xc3};

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 1);
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*made)(uint64_t);
	char path[64];
	FILE *map;

	if (code == MAP_FAILED)
		die("mmap", errno);
	memcpy(code, loop, sizeof(loop));
	*(void **)&made = code;
	while (clock_ns(CLOCK_MONOTONIC) < end)
		made(100000);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		die(path, errno);
	fprintf(map, "%lx %zx made_late\n", (unsigned long)code, sizeof(loop));
	return fclose(map);
}
