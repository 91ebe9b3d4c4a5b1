/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/names/lines.h"

#include <stdlib.h>
#include <string.h>
#include <dwarf.h>

#define UNIT_RANGES_MAX (4U << 20)

/* A range of addresses and the compilation unit that has them. */
struct unit_range {
	uint64_t start, end;
	Dwarf_Off unit;
};

struct lines {
	Dwarf *dwarf;
	struct unit_range *ranges;
	size_t n, room;
};

static bool add_range(struct lines *l, uint64_t start, uint64_t end, Dwarf_Off unit)
{
	if (l->n >= UNIT_RANGES_MAX)
		return false;
	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 64;
		struct unit_range *bigger = reallocarray(l->ranges, room, sizeof(*bigger));

		if (!bigger)
			return false;
		l->ranges = bigger;
		l->room = room;
	}
	l->ranges[l->n++] = (struct unit_range) {start, end, unit};
	return true;
}

static bool add_unit(struct lines *l, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (dwarf_tag(die) != DW_TAG_compile_unit)
		return true;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start < end && !add_range(l, start, end, dwarf_dieoffset(die)))
			return false;
	return true;
}

static int range_order(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Not .debug_aranges: clang writes none, and a file may be a mixture. */
static bool index_units(struct lines *l)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (dwarf_get_units(l->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		if (!add_unit(l, &die))
			return false;
	if (l->n)
		qsort(l->ranges, l->n, sizeof(*l->ranges), range_order);
	return l->n;
}

struct lines *lines__new(const struct elf_file *file)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!l->dwarf || !index_units(l)) {
		lines__free(l);
		return NULL;
	}
	return l;
}

void lines__free(struct lines *l)
{
	if (!l)
		return;
	dwarf_end(l->dwarf);
	free(l->ranges);
	free(l);
}

Dwarf *lines__dwarf(const struct lines *l)
{
	return l->dwarf;
}

static bool find_unit(struct lines *l, uint64_t vaddr, Dwarf_Die *unit)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->ranges[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && vaddr < l->ranges[low - 1].end &&
	       dwarf_offdie(l->dwarf, l->ranges[low - 1].unit, unit);
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (!name)
		name = dwarf_diename(die);
	return name ? name : "";
}

static uint32_t call_line(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) ||
	    line > INT32_MAX)
		return 0;
	return (uint32_t)line;
}

/* elfutils 0.188 takes file 0 for none, which in DWARF 5 (clang) is the unit's own source file. */
static const char *decl_file(Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	Dwarf_Attribute attribute;
	Dwarf_Half version;
	Dwarf_Files *files;
	Dwarf_Word index;
	Dwarf_Die unit;
	size_t n;

	if (file ||
	    dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &index) ||
	    index != 0 ||
	    dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) == NULL ||
	    version < 5 || dwarf_getsrcfiles(&unit, &files, &n))
		return file;
	return dwarf_filesrc(files, 0, NULL, NULL);
}

static void fill(struct module_frame *frame, Dwarf_Die *die, uint32_t line)
{
	const char *file = decl_file(die);
	int decl_line = 0;

	name__set(&frame->file, file ? file : "");
	name__set(&frame->name, "");
	frame->decl_line = dwarf_decl_line(die, &decl_line) == 0 ? (uint32_t)decl_line : 0;
	frame->line = line;
}

/* From the innermost scope outwards; each inlined one has the line of its caller. */
static uint32_t walk(Dwarf_Die *scopes, int nscopes, uint32_t line, bool inlines,
		     struct module_frame *frames, uint32_t max)
{
	uint32_t n = 0;

	for (int i = 0; i < nscopes; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram) {
			fill(&frames[n], &scopes[i], line);
			return n + 1;
		}
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		if (inlines && n + 1 < max) {
			fill(&frames[n], &scopes[i], line);
			name__demangle(&frames[n].name, die_name(&scopes[i]));
			n++;
		}
		line = call_line(&scopes[i]);
	}
	return 0;
}

uint32_t lines__resolve(struct lines *l, uint64_t vaddr, bool inlines, struct module_frame *frames,
			uint32_t max)
{
	Dwarf_Die unit, *innermost = NULL, *scopes = NULL;
	int line_number = 0, nscopes = 0;
	const char *file = NULL;
	Dwarf_Line *line;
	uint32_t n = 0;

	if (!find_unit(l, vaddr, &unit))
		return 0;
	line = dwarf_getsrc_die(&unit, vaddr);
	if (line) {
		dwarf_lineno(line, &line_number);
		file = dwarf_linesrc(line, NULL, NULL);
	}
	/* The scopes of an address go over into those of the inlined procedure's definition. */
	if (dwarf_getscopes(&unit, vaddr, &innermost) > 0)
		nscopes = dwarf_getscopes_die(&innermost[0], &scopes);
	if (nscopes > 0)
		n = walk(scopes, nscopes, (uint32_t)line_number, inlines, frames, max);
	free(innermost);
	free(scopes);
	if (n == 0 && file) {
		frames[0] = (struct module_frame) {.line = (uint32_t)line_number};
		n = 1;
	}
	if (n > 0 && frames[0].file.length == 0 && file)
		name__set(&frames[0].file, file);
	return n;
}
