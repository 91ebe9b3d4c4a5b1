/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/names/data_symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/names/members.h"
#include "symbolizer/elf/symbols.h"
#include "symbolizer/util/address_table.h"

struct data_symbols {
	struct address_table *symbols;
	struct members *members; /* NULL: no DWARF */
};

static int read_symbols(struct symbols *s, const struct elf_file *file,
			const struct elf_file *debug)
{
	int err = debug ? symbols__read_data(s, file, debug, SHT_SYMTAB) : 0;

	if (!err)
		err = symbols__read_data(s, file, file, SHT_SYMTAB);
	if (!err)
		err = symbols__read_data(s, file, file, SHT_DYNSYM);
	return err;
}

static int by_name(const void *x, const void *y)
{
	const struct procedure *const *a = x, *const *b = y;

	return strcmp((*a)->name, (*b)->name);
}

/* Marks variables whose name is ambiguous: `lock` in each of several files. */
static int mark_namesakes(struct symbols *s)
{
	struct procedure **all = calloc(s->n + 1, sizeof(struct procedure *));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++)
		all[i] = &s->all[i];
	qsort(all, s->n, sizeof(*all), by_name);
	for (size_t i = 1; i < s->n; i++)
		if (strcmp(all[i - 1]->name, all[i]->name) == 0) {
			all[i - 1]->flags |= VARIABLE_NAMESAKE;
			all[i]->flags |= VARIABLE_NAMESAKE;
		}
	free(all);
	return 0;
}

static int build_table(struct address_table *t, const struct elf_file *file,
		       const struct elf_file *debug)
{
	struct symbols s = {0};
	int err = read_symbols(&s, file, debug);

	if (!err)
		err = symbols__sort(&s);
	if (!err)
		err = mark_namesakes(&s);
	for (size_t i = 0; i < s.n && !err; i++)
		err = address_table__add(t, &s.all[i]);
	symbols__free(&s);
	return err ? err : address_table__build(t);
}

struct data_symbols *data_symbols__new(const struct elf_file *file, const struct elf_file *debug,
				       Dwarf *dwarf)
{
	struct data_symbols *v = calloc(1, sizeof(*v));
	int err = -ENOMEM;

	if (!v)
		return NULL;
	v->symbols = address_table__new();
	if (v->symbols)
		err = build_table(v->symbols, file, debug);
	if (err) {
		data_symbols__free(v);
		errno = -err;
		return NULL;
	}
	if (dwarf)
		v->members = members__new(dwarf);
	return v;
}

void data_symbols__free(struct data_symbols *v)
{
	if (!v)
		return;
	address_table__free(v->symbols);
	members__free(v->members);
	free(v);
}

static void append_distance(struct name *out, uint64_t distance)
{
	char text[32];
	int length;

	if (distance == 0)
		return;
	length = snprintf(text, sizeof(text), "+0x%" PRIx64, distance);
	name__append(out, text, (size_t)length);
}

/*
 * Whether the symbol is the variable with a number: compilers call static variables of procedures
 * "lock.0".
 */
static bool is_numbered(const char *symbol, const char *variable)
{
	size_t length = strlen(variable);

	return strncmp(symbol, variable, length) == 0 && symbol[length] == '.';
}

/* Appends the source file of an ambiguous variable, or else its address. */
static void append_origin(struct name *out, uint64_t start, const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	char text[320];
	int length;

	if (file)
		length = snprintf(text, sizeof(text), " (%.300s)", slash ? slash + 1 : file);
	else
		length = snprintf(text, sizeof(text), " (0x%" PRIx64 ")", start);
	name__append(out, text, (size_t)length);
}

bool data_symbols__name(const struct data_symbols *v, uint64_t vaddr, uint32_t distance,
			struct name *out)
{
	const struct procedure *symbol = address_table__find(v->symbols, vaddr);
	struct member member;
	bool known = v->members && members__find(v->members, vaddr, &member);
	uint64_t rest;

	if (symbol && !(known && member.variable && is_numbered(symbol->name, member.variable)))
		name__demangle(out, symbol->name);
	else if (known && member.variable)
		name__set(out, member.variable);
	else
		return false;
	if (known) {
		name__append(out, member.path.text, member.path.length);
		rest = member.whole ? 0 : member.rest;
	} else {
		rest = vaddr - symbol->start;
	}
	append_distance(out, rest >= distance ? rest - distance : rest);
	if (symbol && symbol->flags & VARIABLE_NAMESAKE)
		append_origin(out, symbol->start, known ? member.file : NULL);
	return true;
}
