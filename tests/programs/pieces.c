/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pieces NUMBER: makes so many pieces of code, one after the other, each in a mapping of its own, and runs each once, as
 * soon as it is there. Every other one keeps no frame pointer.
 */
#include <sys/mman.h>

#include "tests/programs/truth.h"

/* push rbp; mov rbp, rsp; again: dec rdi; jnz again; pop rbp; ret */
static const unsigned char with_frame[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff,
					   0xcf, 0x75, 0xfb, 0x5d, 0xc3};
/* again: dec rdi; jnz again; ret */
static const unsigned char without_frame[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};

__attribute__((noinline)) static void run_piece(void (*piece)(uint64_t))
{
	piece(500000);
	__asm__ volatile("" ::: "memory"); /* not a jump */
}

/* The page in front of each is not to be used, so that pieces are not neighbours. */
static void make_and_run(const unsigned char *code, size_t size)
{
	char *pages = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*piece)(uint64_t);

	if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE))
		die("mmap", errno);
	memcpy(pages + 4096, code, size);
	if (mprotect(pages + 4096, 4096, PROT_READ | PROT_EXEC))
		die("mprotect", errno);
	*(void **)&piece = pages + 4096;
	run_piece(piece);
}

int main(int argc, char **argv)
{
	long pieces = count_argument(argc, argv, 1, 1000);

	for (long i = 0; i < pieces; i++)
		if (i % 2)
			make_and_run(with_frame, sizeof(with_frame));
		else
			make_and_run(without_frame, sizeof(without_frame));
	return 0;
}
