/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unwind/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAX_ITEMS (1U << 20)

static const char magic[8] = "QZSTOPS2";

struct header {
	char magic[8];
	uint32_t nregions, nrows, nstops, zero;
};

/* As struct qz_unwind_region: rows that were left out are in no index. */
struct region {
	uint64_t start, end, bias;
	uint32_t first, count;
};

/* As in struct unwinder_stack, with nframes frames behind it and then nblocks blocks. */
struct stop_header {
	struct unwinder_start start;
	uint32_t depth, end, nframes, guessed;
	uint32_t nblocks, zero;
};

static bool get(gzFile file, void *bytes, size_t size)
{
	return gzread(file, bytes, (unsigned int)size) == (int)size;
}

/* An array of n items; NULL also when there is too little memory or file. */
static void *get_array(gzFile file, uint32_t n, size_t size)
{
	void *items = n <= MAX_ITEMS ? calloc(n + 1UL, size) : NULL;

	if (items && get(file, items, n * size))
		return items;
	free(items);
	return NULL;
}

static struct qz_unwind_region *get_regions(gzFile file, uint32_t n)
{
	struct region *from = get_array(file, n, sizeof(*from));
	struct qz_unwind_region *to = from ? calloc(n + 1UL, sizeof(*to)) : NULL;

	for (uint32_t i = 0; to && i < n; i++)
		to[i] = (struct qz_unwind_region) {.start = from[i].start,
						   .end = from[i].end,
						   .bias = from[i].bias,
						   .first = from[i].first,
						   .count = from[i].count};
	free(from);
	return to;
}

static bool get_stop(gzFile file, struct recording_stop *stop)
{
	struct stop_header h;

	if (!get(file, &h, sizeof(h)) || h.nframes > QZ_USER_FRAMES)
		return false;
	stop->start = h.start;
	stop->stack.depth = h.depth;
	stop->stack.end = h.end;
	stop->stack.nframes = h.nframes;
	stop->stack.guessed = h.guessed;
	stop->nblocks = h.nblocks;
	if (!get(file, stop->stack.frames, h.nframes * sizeof(uint64_t)))
		return false;
	stop->blocks = get_array(file, h.nblocks, sizeof(*stop->blocks));
	return stop->blocks;
}

int recording__read(struct recording *r, const char *path)
{
	gzFile file = gzopen(path, "rb");
	struct header h;
	bool good;

	if (!file)
		return -errno;
	*r = (struct recording) {0};
	good = get(file, &h, sizeof(h)) && memcmp(h.magic, magic, sizeof(magic)) == 0 &&
	       h.nstops <= MAX_ITEMS;
	if (good) {
		r->nregions = h.nregions;
		r->nrows = h.nrows;
		r->regions = get_regions(file, h.nregions);
		r->rows = get_array(file, h.nrows, sizeof(*r->rows));
		r->stops = calloc(h.nstops + 1UL, sizeof(*r->stops));
		good = r->regions && r->rows && r->stops;
	}
	for (uint32_t i = 0; good && i < h.nstops; i++, r->nstops++)
		good = get_stop(file, &r->stops[i]);
	gzclose(file);
	if (good)
		return 0;
	recording__free(r);
	return -EBADMSG;
}

static bool put(gzFile file, const void *bytes, size_t size)
{
	return size == 0 || gzwrite(file, bytes, (unsigned int)size) == (int)size;
}

static bool put_regions(gzFile file, const struct qz_unwind_region *regions, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct qz_unwind_region *r = &regions[i];
		const struct region to = {r->start, r->end, r->bias, r->first, r->count};

		if (!put(file, &to, sizeof(to)))
			return false;
	}
	return true;
}

static bool put_stop(gzFile file, const struct recording_stop *stop)
{
	const struct stop_header h = {
		.start = stop->start,
		.depth = stop->stack.depth,
		.end = stop->stack.end,
		.nframes = stop->stack.nframes,
		.guessed = stop->stack.guessed,
		.nblocks = stop->nblocks,
	};

	return put(file, &h, sizeof(h)) &&
	       put(file, stop->stack.frames, h.nframes * sizeof(uint64_t)) &&
	       put(file, stop->blocks, stop->nblocks * sizeof(*stop->blocks));
}

int recording__write(const struct recording *r, const char *path)
{
	struct header h = {.nregions = r->nregions, .nrows = r->nrows, .nstops = r->nstops};
	gzFile file = gzopen(path, "wb9");
	bool good;

	if (!file)
		return -errno;
	memcpy(h.magic, magic, sizeof(magic));
	good = put(file, &h, sizeof(h)) && put_regions(file, r->regions, r->nregions) &&
	       put(file, r->rows, r->nrows * sizeof(*r->rows));
	for (uint32_t i = 0; good && i < r->nstops; i++)
		good = put_stop(file, &r->stops[i]);
	return gzclose(file) == Z_OK && good ? 0 : -EIO;
}

void recording__free(struct recording *r)
{
	for (uint32_t i = 0; r->stops && i < r->nstops; i++)
		free(r->stops[i].blocks);
	free(r->stops);
	free(r->regions);
	free(r->rows);
	*r = (struct recording) {0};
}

static const struct recording_block *find_block(const struct recording_stop *stop, uint64_t address)
{
	for (uint32_t i = 0; i < stop->nblocks; i++)
		if (address - stop->blocks[i].address < RECORDING_BLOCK)
			return &stop->blocks[i];
	return NULL;
}

bool recording__read_memory(void *arg, uint64_t address, void *to, size_t size)
{
	const struct recording_stop *stop = arg;
	uint8_t *byte = to;

	for (size_t i = 0; i < size; i++) {
		const struct recording_block *block = find_block(stop, address + i);

		if (!block)
			return false;
		byte[i] = block->bytes[(address + i) % RECORDING_BLOCK];
	}
	return true;
}
