// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/bpf_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "daemon/kernel/bpf_runtime_private.h"

/* 24 and 64 MiB: a library has some 30,000 rows, the largest programs 2.8 million. */
#define PROGRAM_PIECES 12
#define SYSTEM_PIECES  32

#define PIECE_BYTES (QZ_UNWIND_PIECE * sizeof(uint64_t))

/* Returns a descriptor, or -errno. */
static int create(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_piece", sizeof(uint32_t),
				sizeof(uint64_t), QZ_UNWIND_PIECE, &opts);

	return fd < 0 ? -errno : fd;
}

/* The first piece tells the verifier what all are like. */
int bpf_rows__set_sizes(struct bpf_runtime *bpf)
{
	struct bpf_map *map = bpf->skel->maps.unwind_rows;
	int err;

	bpf_rows__free(bpf); /* of programs that the kernel has refused */
	bpf->nrow_pieces = bpf->opts.every_process ? SYSTEM_PIECES : PROGRAM_PIECES;
	bpf->row_pieces = calloc(bpf->nrow_pieces, sizeof(*bpf->row_pieces));
	if (!bpf->row_pieces)
		return -ENOMEM;
	bpf->row_pieces[0] = create();
	if (bpf->row_pieces[0] < 0)
		return bpf->row_pieces[0];
	err = bpf_map__set_max_entries(map, bpf->nrow_pieces);
	return err ?: bpf_map__set_inner_map_fd(map, bpf->row_pieces[0]);
}

/* Lets the unwinder see a piece. */
static int publish(struct bpf_runtime *bpf, uint32_t piece)
{
	int map = bpf_map__fd(bpf->skel->maps.unwind_rows);

	return bpf_map_update_elem(map, &piece, &bpf->row_pieces[piece], BPF_ANY) ? -errno : 0;
}

int bpf_rows__make(struct bpf_runtime *bpf)
{
	int err = publish(bpf, 0);

	return err ? bpf_runtime__fail(bpf, err, "cannot make room for unwind tables: %s",
				       strerror(-err))
		   : 0;
}

void bpf_rows__free(struct bpf_runtime *bpf)
{
	for (uint32_t i = 0; bpf->row_pieces && i < bpf->nrow_pieces; i++)
		if (bpf->row_pieces[i] > 0)
			close(bpf->row_pieces[i]);
	free(bpf->row_pieces);
	bpf->row_pieces = NULL;
}

uint32_t bpf_rows__number(const struct bpf_runtime *bpf)
{
	return bpf->nrow_pieces * QZ_UNWIND_PIECE;
}

/* Returns a descriptor, or -errno. */
static int ensure_piece(struct bpf_runtime *bpf, uint32_t piece)
{
	int err;

	if (bpf->row_pieces[piece])
		return bpf->row_pieces[piece];
	bpf->row_pieces[piece] = create();
	err = bpf->row_pieces[piece] < 0 ? bpf->row_pieces[piece] : publish(bpf, piece);
	if (!err)
		return bpf->row_pieces[piece];
	if (bpf->row_pieces[piece] > 0)
		close(bpf->row_pieces[piece]);
	bpf->row_pieces[piece] = 0;
	return err;
}

/*
 * A part of a piece, mapped for as long as it takes: the kernel counts what is mapped of a map as memory in use. Each row is copied
 * as one word: the unwinder may be reading what leads to others.
 */
static int copy_part(int piece, uint32_t first, struct qz_unwind_row *to,
		     const struct qz_unwind_row *from, uint32_t n)
{
	size_t page = sysconf(_SC_PAGESIZE), at = (size_t)first * sizeof(uint64_t);
	size_t before = at % page, size = n * sizeof(uint64_t);
	uint64_t *rows, word;
	char *memory;

	if (piece < 0)
		return piece;
	memory = mmap(NULL, before + size, PROT_READ | PROT_WRITE, MAP_SHARED, piece, at - before);
	if (memory == MAP_FAILED)
		return -errno;
	rows = (uint64_t *)(memory + before);
	for (uint32_t i = 0; to && i < n; i++)
		memcpy(&to[i], &rows[i], sizeof(*to));
	for (uint32_t i = 0; from && i < n; i++) {
		memcpy(&word, &from[i], sizeof(word));
		__atomic_store_n(&rows[i], word, __ATOMIC_RELEASE);
	}
	munmap(memory, before + size);
	return 0;
}

static int copy_rows(struct bpf_runtime *bpf, uint32_t first, struct qz_unwind_row *to,
		     const struct qz_unwind_row *from, uint32_t n)
{
	int err = 0;

	if (first > bpf_rows__number(bpf) || n > bpf_rows__number(bpf) - first)
		return -EINVAL;
	while (n && !err) {
		uint32_t at = first % QZ_UNWIND_PIECE;
		uint32_t part = n < QZ_UNWIND_PIECE - at ? n : QZ_UNWIND_PIECE - at;

		err = copy_part(ensure_piece(bpf, first / QZ_UNWIND_PIECE), at, to, from, part);
		first += part;
		n -= part;
		if (to)
			to += part;
		if (from)
			from += part;
	}
	return err;
}

int bpf_rows__store(struct bpf_runtime *bpf, uint32_t first, const struct qz_unwind_row *rows,
		    uint32_t n)
{
	return copy_rows(bpf, first, NULL, rows, n);
}

int bpf_rows__read(struct bpf_runtime *bpf, uint32_t first, struct qz_unwind_row *rows, uint32_t n)
{
	return copy_rows(bpf, first, rows, NULL, n);
}
