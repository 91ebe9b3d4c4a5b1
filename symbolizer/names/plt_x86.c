/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each stub has one "jmp *slot(%rip)", whatever else the linker adds, and a relocation says whose
 * address the slot gets.
 */
#include "symbolizer/names/plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <gelf.h>

#define JUMP_LENGTH 6

struct slot {
	uint64_t address;
	const char *name;
};

struct slots {
	struct slot *all;
	size_t n;
};

static int slot_order(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The terminated name of symbol i, or NULL. */
static const char *symbol_name(Elf *elf, Elf_Data *symbols, size_t strings, size_t i)
{
	GElf_Sym sym;

	if (i == 0 || i > INT32_MAX || !gelf_getsym(symbols, (int)i, &sym))
		return NULL;
	return elf_strptr(elf, strings, sym.st_name);
}

static int read_slots(const struct elf_file *f, Elf_Scn *section, const GElf_Shdr *sh,
		      struct slots *slots)
{
	Elf_Scn *linked = elf_getscn(f->elf, sh->sh_link);
	size_t n = sh->sh_size / sizeof(Elf64_Rela);
	Elf_Data *data, *symbols;
	struct slot *bigger;
	GElf_Shdr linked_sh;
	GElf_Rela rela;

	if (n > TABLE_MAX || !linked || !gelf_getshdr(linked, &linked_sh) ||
	    linked_sh.sh_type != SHT_DYNSYM)
		return 0;
	data = elf_getdata(section, NULL);
	symbols = elf_getdata(linked, NULL);
	if (!data || !symbols)
		return 0;
	bigger = reallocarray(slots->all, slots->n + n + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	slots->all = bigger;
	for (size_t i = 0; i < n && gelf_getrela(data, (int)i, &rela); i++) {
		uint32_t type = GELF_R_TYPE(rela.r_info);
		const char *name;

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		name = symbol_name(f->elf, symbols, linked_sh.sh_link, GELF_R_SYM(rela.r_info));
		if (name && *name)
			slots->all[slots->n++] = (struct slot) {rela.r_offset, name};
	}
	return 0;
}

/* The slot that the code of one stub jumps through; 0: it does not jump. */
static uint64_t jump_slot(const uint8_t *code, size_t size, uint64_t vaddr)
{
	for (size_t i = 0; i + JUMP_LENGTH <= size; i++) {
		int32_t displacement;

		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&displacement, code + i + 2, sizeof(displacement));
		return vaddr + i + JUMP_LENGTH + (uint64_t)(int64_t)displacement;
	}
	return 0;
}

static int add_section(const struct elf_file *f, const char *name, const struct slots *slots,
		       struct address_table *t, uint16_t rank)
{
	Elf_Scn *section = elf_file__section_by_name(f, name);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	GElf_Shdr sh;
	size_t step;
	int err = 0;

	if (!data || !data->d_buf || !gelf_getshdr(section, &sh))
		return 0;
	step = sh.sh_entsize == 8 ? 8 : 16;
	for (size_t at = 0; at + step <= data->d_size && !err; at += step) {
		uint64_t vaddr = sh.sh_addr + at;
		struct slot key = {jump_slot((const uint8_t *)data->d_buf + at, step, vaddr), NULL};
		const struct slot *slot =
			bsearch(&key, slots->all, slots->n, sizeof(key), slot_order);
		struct procedure p = {.start = vaddr, .end = vaddr + step, .rank = rank};

		if (!slot)
			continue;
		p.name = slot->name;
		p.flags = PROCEDURE_PLT;
		err = address_table__add(t, &p);
	}
	return err;
}

int plt__add_stubs(const struct elf_file *f, struct address_table *t, uint16_t rank)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got"};
	struct slots slots = {0};
	Elf_Scn *section = NULL;
	GElf_Shdr sh;
	int err = 0;

	if (f->machine != EM_X86_64)
		return 0;
	while (!err && (section = elf_file__next_section(f, section)))
		if (gelf_getshdr(section, &sh) && sh.sh_type == SHT_RELA)
			err = read_slots(f, section, &sh, &slots);
	if (slots.n)
		qsort(slots.all, slots.n, sizeof(*slots.all), slot_order);
	for (size_t i = 0; i < 3 && slots.n && !err; i++)
		err = add_section(f, sections[i], &slots, t, rank);
	free(slots.all);
	return err;
}
