/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slots [SLOTS [DEPTH]]: how many slots of threads one processor copies, validates and counts in a
 * second, by the code of quartzd's pollers; of processor time.
 */
#include <sys/mman.h>

#include "daemon/shm/poll_table.h"
#include "tests/programs/truth.h"

#define SECONDS	       1.0
#define SLOTS_PER_LOOK 100000 /* at the clock, which is a system call */

static uint64_t round_of(const struct qz_slot *slots, long n, struct poll_buffer *buffer)
{
	uint64_t counted = 0;
	struct page_slot slot;

	for (long i = 0; i < n; i++) {
		struct poll_key key = {.scope = 1, .image = 1, .serial = i % 64, .level = 1};

		if (shm_slot__copy(&slots[i], &slot) != PAGE_SLOT_GOOD)
			continue;
		key.busy = 1;
		counted += poll_buffer__count(buffer, &key, slot.ids, slot.n);
	}
	return counted;
}

int main(int argc, char **argv)
{
	long n = count_argument(argc, argv, 1, 1000), depth = count_argument(argc, argv, 2, 8);
	struct poll_buffer *buffer = calloc(1, sizeof(*buffer));
	struct qz_slot *slots = mmap(NULL, n * sizeof(*slots), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), counted = 0, now;

	if (!buffer || slots == MAP_FAILED || depth >= QZ_SLOT_STACK)
		die("slots", ENOMEM);
	for (long i = 0; i < n; i++) {
		slots[i].tid = i + 1;
		slots[i].depth = depth;
		for (long k = 1; k <= depth; k++)
			slots[i].stack[k] = k;
	}
	do {
		for (long i = 0; i < SLOTS_PER_LOOK; i += n)
			counted += round_of(slots, n, buffer);
		now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	} while (now - start < SECONDS * 1e9);
	printf("%ld slots of depth %ld: %.1f million a second, %.1f ns each\n", n, depth,
	       counted * 1e3 / (now - start), (double)(now - start) / counted);
	return 0;
}
