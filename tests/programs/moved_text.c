/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * moved_text SECONDS: copies its code into memory without a file, at the same addresses, as programs do for huge pages, and
 * computes in inner, which middle calls, until it is ended or SECONDS are over.
 */
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/programs/truth.h"

PROCEDURE static void inner(double seconds)
{
	struct truth start = truth_now();

	compute_seconds(seconds);
	truth_since("inner", start);
}

PROCEDURE static void middle(double seconds)
{
	inner(seconds);
	__asm__ volatile("");
}

static inline __attribute__((always_inline)) long call(long number, long a, long b, long c, long d,
						       long e)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = 0;
	long result = number;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* Runs elsewhere: while it does, there is no code at the place. */
PROCEDURE static void put(char *to, const char *copy, size_t size)
{
	call(SYS_mmap, (long)to, (long)size, PROT_READ | PROT_WRITE | PROT_EXEC,
	     MAP_FIXED | MAP_ANONYMOUS | MAP_PRIVATE, -1);
	for (size_t i = 0; i < size; i++)
		((volatile char *)to)[i] = copy[i];
	call(SYS_mprotect, (long)to, (long)size, PROT_READ | PROT_EXEC, 0, 0);
}

PROCEDURE static void put_end(void)
{
}

static void *map_code(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED)
		die("mmap", errno);
	return at;
}

static int move(struct dl_phdr_info *info, size_t size, void *context)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		char *at = (char *)((info->dlpi_addr + ph->p_vaddr) & -4096ul), *copy, *code;
		size_t bytes;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		bytes = ((size_t)(info->dlpi_addr + ph->p_vaddr + ph->p_memsz - (uintptr_t)at) +
			 4095) &
			-4096ul;
		copy = map_code(bytes);
		memcpy(copy, at, bytes);
		code = map_code(4096);
		memcpy(code, (const void *)put, (size_t)((char *)put_end - (char *)put));
		((void (*)(char *, const char *, size_t))code)(at, copy, bytes);
	}
	return 1; /* the program alone, which is the first one */
}

int main(int argc, char **argv)
{
	dl_iterate_phdr(move, NULL);
	puts("moved");
	fflush(stdout);
	middle(seconds_argument(argc, argv, 1, 1));
	return 0;
}
