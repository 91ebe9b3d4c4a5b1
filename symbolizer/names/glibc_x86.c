/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known about their positions, from glibc 2.34 on (which moved libpthread into libc):
 * __libc_start_call_main is a static function in the source file of __libc_start_main, which calls
 * it directly, and is immediately before it. start_thread is a static function in the file of
 * pthread_create. Its address is taken once, to be passed to clone: in create_thread, a static
 * function of the same file, or, inlined, in pthread_create. All of them are adjacent. So each is
 * identified twice: by its position, and by the instruction that refers to it.
 */
#include "symbolizer/names/glibc.h"

#include <string.h>

#define NEIGHBOURS 4 /* static functions between start_thread and pthread_create */
#define CODE_MAX   (64 << 10)

/* The first bytes of an instruction with a 32-bit operand relative to its end. */
struct pattern {
	uint8_t mask[3], value[3];
	size_t length;
};

static const struct pattern call = {{0xff}, {0xe8}, 1};
static const struct pattern lea = {{0xfb, 0xff, 0xc7}, {0x48, 0x8d, 0x05}, 3};

static bool matches(const struct pattern *p, const uint8_t *code)
{
	for (size_t i = 0; i < p->length; i++)
		if ((code[i] & p->mask[i]) != p->value[i])
			return false;
	return true;
}

/* Whether the code at vaddr has such an instruction that refers to target. */
static bool refers_to(const uint8_t *code, size_t size, uint64_t vaddr, const struct pattern *p,
		      uint64_t target)
{
	size_t length = p->length + 4;

	for (size_t i = 0; i + length <= size; i++) {
		int32_t displacement;

		if (!matches(p, code + i))
			continue;
		memcpy(&displacement, code + i + p->length, 4);
		if (vaddr + i + length + (uint64_t)(int64_t)displacement == target)
			return true;
	}
	return false;
}

/*
 * The one FDE, of up to `neighbours` before the procedure at `at`, that the code from there to the
 * end of that procedure refers to. NULL: none, or several.
 */
static const struct fde *find_neighbour(const struct elf_file *f, const struct fde *fdes, size_t n,
					uint64_t at, size_t neighbours, const struct pattern *p)
{
	const struct fde *last = at ? fde__at(fdes, n, at) : NULL, *first, *found = NULL;
	const uint8_t *code;
	size_t size;

	if (!last || last == fdes)
		return NULL;
	first = (size_t)(last - fdes) < neighbours ? fdes : last - neighbours;
	if (last->end - first->start > CODE_MAX)
		return NULL;
	code = elf_file__bytes(f, first->start, last->end - first->start, &size);
	for (const struct fde *fde = first; code && fde < last; fde++) {
		if (!refers_to(code, size, first->start, p, fde->start))
			continue;
		if (found)
			return NULL;
		found = fde;
	}
	return found;
}

static int add(struct symbols *symbols, const struct fde *fde, const char *name)
{
	struct procedure p = {.rank = SYMBOL_UNSIZED, .name = name};

	if (!fde)
		return 0;
	p.start = fde->start;
	p.end = fde->end;
	return symbols__add(symbols, &p);
}

int glibc__add_thread_starts(const struct elf_file *f, const struct fde *fdes, size_t nfdes,
			     uint64_t start_main, uint64_t create, struct symbols *symbols)
{
	const struct fde *fde;
	int err;

	if (f->machine != EM_X86_64 || !start_main || !create)
		return 0;
	fde = find_neighbour(f, fdes, nfdes, start_main, 1, &call);
	err = add(symbols, fde, "__libc_start_call_main");
	if (err)
		return err;
	fde = find_neighbour(f, fdes, nfdes, create, NEIGHBOURS, &lea);
	return add(symbols, fde, "start_thread");
}

/* Bytes of _start up to its call of __libc_start_main. */
#define START_MAX 64

/* The address that the code loads into rdi: lea rdi, [rip + d] or mov rdi, imm32; 0: none. */
static uint64_t first_argument(const uint8_t *code, size_t size, uint64_t vaddr)
{
	static const uint8_t lea_rdi[] = {0x48, 0x8d, 0x3d}, mov_rdi[] = {0x48, 0xc7, 0xc7};
	int32_t operand;

	for (size_t i = 0; i + 7 <= size; i++) {
		memcpy(&operand, code + i + 3, sizeof(operand));
		if (!memcmp(code + i, lea_rdi, sizeof(lea_rdi)))
			return vaddr + i + 7 + (uint64_t)(int64_t)operand;
		if (!memcmp(code + i, mov_rdi, sizeof(mov_rdi)))
			return (uint64_t)(int64_t)operand;
	}
	return 0;
}

int glibc__add_main(const struct elf_file *f, const struct fde *fdes, size_t nfdes,
		    struct symbols *symbols)
{
	const struct fde *fde;
	const uint8_t *code;
	uint64_t main_at;
	size_t size;

	if (f->machine != EM_X86_64 || !f->is_program)
		return 0;
	code = elf_file__bytes(f, f->entry, START_MAX, &size);
	main_at = code ? first_argument(code, size, f->entry) : 0;
	fde = main_at ? fde__at(fdes, nfdes, main_at) : NULL;
	if (!fde || fde->start != main_at)
		return 0;
	return add(symbols, fde, "main");
}
