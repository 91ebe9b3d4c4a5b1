/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/elf/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <gelf.h>

#include "symbolizer/util/sort.h"

/* In procedure.flags until one of the aliases is chosen. */
enum symbol_flags {
	SYMBOL_WEAK = 0x4000,
	SYMBOL_LOCAL = 0x8000,
};

int symbols__add(struct symbols *s, const struct procedure *p)
{
	if (s->n >= TABLE_MAX)
		return -EFBIG;
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 256;
		struct procedure *bigger = reallocarray(s->all, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		s->all = bigger;
		s->room = room;
	}
	s->all[s->n++] = *p;
	return 0;
}

/* The part of a string section in which all strings are terminated. */
static const char *load_strings(Elf *elf, size_t index, size_t *size)
{
	Elf_Data *data = elf_getdata(elf_getscn(elf, index), NULL);
	const char *last;

	if (!data || !data->d_buf)
		return NULL;
	last = memrchr(data->d_buf, '\0', data->d_size);
	*size = last ? (size_t)(last - (const char *)data->d_buf) : 0;
	return data->d_buf;
}

/*
 * Procedures, and labels of assembly that have a size or are global. Local labels without a size
 * are jump targets; so is the symbol that marks the kind of code on some architectures ($x).
 */
static bool is_code(const GElf_Sym *sym)
{
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return sym->st_size || GELF_ST_BIND(sym->st_info) != STB_LOCAL;
	default:
		return false;
	}
}

static bool to_procedure(const struct elf_file *file, const GElf_Sym *sym, struct procedure *p)
{
	const struct elf_code *code;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || !is_code(sym))
		return false;
	code = elf_file__code(file, sym->st_value);
	if (!code)
		return false;
	p->start = sym->st_value;
	p->end = sym->st_size > code->end - p->start ? code->end : p->start + sym->st_size;
	p->rank = sym->st_size && GELF_ST_TYPE(sym->st_info) != STT_NOTYPE ? SYMBOL_SIZED
									   : SYMBOL_UNSIZED;
	p->flags = 0;
	if (GELF_ST_BIND(sym->st_info) == STB_LOCAL)
		p->flags |= SYMBOL_LOCAL;
	if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
		p->flags |= SYMBOL_WEAK;
	return true;
}

/*
 * Whether a symbol is a variable. Thread-local ones have no address; those in sections of code are
 * constants or jump tables.
 */
static bool to_variable(const struct elf_file *file, const GElf_Sym *sym, struct procedure *p)
{
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || sym->st_shndx == SHN_COMMON ||
	    GELF_ST_TYPE(sym->st_info) != STT_OBJECT || sym->st_size == 0 ||
	    sym->st_value + sym->st_size < sym->st_value || elf_file__code(file, sym->st_value))
		return false;
	p->start = sym->st_value;
	p->end = sym->st_value + sym->st_size;
	p->rank = SYMBOL_SIZED;
	p->flags = GELF_ST_BIND(sym->st_info) == STB_LOCAL ? SYMBOL_LOCAL : 0;
	if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
		p->flags |= SYMBOL_WEAK;
	return true;
}

typedef bool take_fn(const struct elf_file *file, const GElf_Sym *sym, struct procedure *p);

/* A symbol table. */
struct table {
	Elf_Data *data;
	const char *strings;
	size_t n, strings_size; /* n is 0: there is none */
};

/* 0, also if the table is missing or invalid, or -EFBIG. */
static int open_table(const struct elf_file *file, uint32_t type, struct table *t)
{
	Elf_Scn *section = elf_file__section_by_type(file, type);
	GElf_Shdr sh;
	size_t n;

	*t = (struct table) {0};
	if (!section || !gelf_getshdr(section, &sh) || sh.sh_entsize != sizeof(Elf64_Sym))
		return 0;
	n = sh.sh_size / sh.sh_entsize;
	if (n > TABLE_MAX)
		return -EFBIG;
	t->strings = load_strings(file->elf, sh.sh_link, &t->strings_size);
	t->data = t->strings ? elf_getdata(section, NULL) : NULL;
	t->n = t->data ? n : 0;
	return 0;
}

static int read_table(struct symbols *s, const struct elf_file *file, const struct elf_file *from,
		      uint32_t table, take_fn *take)
{
	struct table t;
	GElf_Sym sym;
	int err = open_table(from, table, &t);

	for (size_t i = 1; i < t.n && !err; i++) {
		struct procedure p;

		if (!gelf_getsym(t.data, (int)i, &sym))
			break;
		/* the name last, since it is not in the processor's cache yet */
		if (sym.st_name >= t.strings_size || !take(file, &sym, &p) ||
		    t.strings[sym.st_name] == '\0')
			continue;
		p.name = t.strings + sym.st_name;
		err = symbols__add(s, &p);
	}
	return err;
}

int symbols__read(struct symbols *s, const struct elf_file *file, const struct elf_file *from,
		  uint32_t table)
{
	return read_table(s, file, from, table, to_procedure);
}

int symbols__read_data(struct symbols *s, const struct elf_file *file, const struct elf_file *from,
		       uint32_t table)
{
	return read_table(s, file, from, table, to_variable);
}

bool symbols__look_up(const struct elf_file *file, const char *name, struct symbol_value *found)
{
	struct table t;
	GElf_Sym sym;

	if (open_table(file, SHT_DYNSYM, &t))
		return false;
	for (size_t i = 1; i < t.n && gelf_getsym(t.data, (int)i, &sym); i++) {
		if (sym.st_shndx == SHN_UNDEF || sym.st_name >= t.strings_size ||
		    strcmp(t.strings + sym.st_name, name))
			continue;
		*found = (struct symbol_value) {sym.st_value, sym.st_size};
		return true;
	}
	return false;
}

void symbols__find(const struct symbols *s, const char *const *names, size_t n, uint64_t *starts)
{
	memset(starts, 0, n * sizeof(*starts));
	for (size_t i = 0; i < s->n; i++) {
		const char *name = s->all[i].name;

		for (size_t k = 0; k < n; k++)
			if (*name == *names[k] && !starts[k] && strcmp(name, names[k]) == 0)
				starts[k] = s->all[i].start;
	}
}

/* "write" is a better name than "__write", "memcpy" than "memcpy@@GLIBC_2.14". */
static int name_order(const struct procedure *a, const struct procedure *b)
{
	size_t x = strspn(a->name, "_"), y = strspn(b->name, "_");
	bool versioned_x = strchr(a->name, '@'), versioned_y = strchr(b->name, '@');

	if (x != y)
		return x < y ? -1 : 1;
	if (versioned_x != versioned_y)
		return versioned_x ? 1 : -1;
	return 0;
}

/* Orders the symbols at one address, the best first, whatever order the file has them in. */
static int symbol_order(const void *x, const void *y)
{
	const struct procedure *a = x, *b = y;
	int order;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if ((a->flags ^ b->flags) & SYMBOL_LOCAL)
		return a->flags & SYMBOL_LOCAL ? 1 : -1;
	order = name_order(a, b);
	if (order)
		return order;
	if ((a->flags ^ b->flags) & SYMBOL_WEAK)
		return a->flags & SYMBOL_WEAK ? 1 : -1;
	if (strlen(a->name) != strlen(b->name))
		return strlen(a->name) < strlen(b->name) ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Sorts by address, then by symbol_order. */
static int sort_symbols(struct symbols *s)
{
	int err = sort__by_number(s->all, s->n, sizeof(*s->all));

	for (size_t i = 0, end; !err && i < s->n; i = end) {
		for (end = i + 1; end < s->n && s->all[end].start == s->all[i].start; end++)
			;
		if (end - i > 1)
			qsort(&s->all[i], end - i, sizeof(*s->all), symbol_order);
	}
	return err;
}

int symbols__sort(struct symbols *s)
{
	size_t n = 0;
	int err = sort_symbols(s);

	if (err)
		return err;
	for (size_t i = 0; i < s->n; i++) {
		if (n && s->all[n - 1].start == s->all[i].start) {
			if (s->all[n - 1].end < s->all[i].end)
				s->all[n - 1].end = s->all[i].end;
			continue;
		}
		s->all[n] = s->all[i];
		s->all[n++].flags &= (uint16_t) ~(SYMBOL_WEAK | SYMBOL_LOCAL);
	}
	s->n = n;
	return 0;
}

void symbols__free(struct symbols *s)
{
	free(s->all);
}
