/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/names/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <dwarf.h>
#include <elfutils/libdwelf.h>

#include "core/util/vec.h"
#include "symbolizer/names/split_file.h"

#define UNIT_RANGES_MAX (4U << 20)
#define MAX_SCOPES	64 /* nested */

/*
 * Bytes of the files of split units, in all modules: libdw keeps in memory what it reads of them.
 */
#define SPLIT_MAX (128U << 20)

static uint64_t split_size;

/* A range of addresses of a compilation unit. */
struct unit_range {
	uint64_t start, end;
	Dwarf_Off unit;
};

/* A unit whose procedures are in another file. */
struct split_unit {
	Dwarf_Off unit;
	Dwarf_Die procedures; /* in that file; addr NULL: missing */
	bool asked;
};

struct lines {
	Dwarf *dwarf, *shared; /* shared: another file that dwarf refers to, or NULL */
	struct unit_range *ranges;
	uint32_t n;
	struct split_unit *splits,
		*wanted; /* by_unit; wanted: the one whose file was asked for last, or NULL */
	uint32_t nsplits;
	uint64_t split_size;
};

static bool add_range(struct lines *l, uint64_t start, uint64_t end, Dwarf_Off unit)
{
	if (l->n >= UNIT_RANGES_MAX ||
	    qz_array__reserve((void **)&l->ranges, l->n, sizeof(*l->ranges)))
		return false;
	l->ranges[l->n++] = (struct unit_range) {start, end, unit};
	return true;
}

static bool is_split(Dwarf_Die *unit)
{
	return dwarf_tag(unit) == DW_TAG_skeleton_unit || dwarf_hasattr(unit, DW_AT_GNU_dwo_name);
}

static bool add_split(struct lines *l, Dwarf_Off unit)
{
	if (qz_array__reserve((void **)&l->splits, l->nsplits, sizeof(*l->splits)))
		return false;
	l->splits[l->nsplits++] = (struct split_unit) {.unit = unit};
	return true;
}

static bool add_unit(struct lines *l, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (dwarf_tag(die) != DW_TAG_compile_unit && dwarf_tag(die) != DW_TAG_skeleton_unit)
		return true;
	if (is_split(die) && !add_split(l, dwarf_dieoffset(die)))
		return false;
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

/*
 * Indexes the ranges of all units. .debug_aranges is not used: clang does not write it, and a file
 * may have units of several compilers.
 */
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
	if (file->has_sections)
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
	dwarf_end(l->shared);
	split_size -= l->split_size;
	free(l->splits);
	free(l->ranges);
	free(l);
}

bool lines__are_split(const struct lines *l)
{
	return l->nsplits;
}

const char *lines__shared(const struct lines *l)
{
	const char *name;
	const void *build_id;

	return dwelf_dwarf_gnu_debugaltlink(l->dwarf, &name, &build_id) > 0 ? name : NULL;
}

void lines__share(struct lines *l, const struct elf_file *file)
{
	const char *name;
	const void *build_id;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(l->dwarf, &name, &build_id);

	if (size <= 0 || (size_t)size != file->build_id_size ||
	    memcmp(build_id, file->build_id, file->build_id_size) != 0)
		return;
	l->shared = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (l->shared)
		dwarf_setalt(l->dwarf, l->shared);
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

/* ---- files and lines ---- */

/* A line and its file; NULL: unknown. */
struct place {
	const char *file,
		*directory; /* directory: which the file's name may be relative to, or NULL */
	uint32_t line;
};

static const char *directory_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

/* The place of an address by the line table. */
static struct place place_of(Dwarf_Die *unit, uint64_t vaddr)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, vaddr);
	struct place place = {0};
	int number = 0;

	if (line && dwarf_lineno(line, &number) == 0 && number > 0)
		place = (struct place) {dwarf_linesrc(line, NULL, NULL), directory_of(unit),
					(uint32_t)number};
	return place;
}

/* The value of an attribute; 0: it has none. */
static uint32_t number_of(Dwarf_Attribute *attribute)
{
	Dwarf_Word number;

	return dwarf_formudata(attribute, &number) || number > INT32_MAX ? 0 : (uint32_t)number;
}

/*
 * The place given by two attributes, whose values refer to their unit. Before DWARF 5, file 0 is
 * none.
 */
static struct place place_by(Dwarf_Attribute *file, Dwarf_Attribute *line)
{
	struct place place = {.line = number_of(line)};
	Dwarf_Half version;
	Dwarf_Files *files;
	Dwarf_Word index;
	Dwarf_Die unit;
	size_t n;

	if (dwarf_formudata(file, &index) ||
	    !dwarf_cu_die(file->cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
	    (index == 0 && version < 5) || dwarf_getsrcfiles(&unit, &files, &n) || index >= n)
		return place;
	place.file = dwarf_filesrc(files, index, NULL, NULL);
	place.directory = directory_of(&unit);
	return place;
}

static struct place call_of(Dwarf_Die *die)
{
	Dwarf_Attribute file, line;

	return place_by(dwarf_attr(die, DW_AT_call_file, &file),
			dwarf_attr(die, DW_AT_call_line, &line));
}

static struct place declaration_of(Dwarf_Die *die)
{
	Dwarf_Attribute file, line;

	return place_by(dwarf_attr_integrate(die, DW_AT_decl_file, &file),
			dwarf_attr_integrate(die, DW_AT_decl_line, &line));
}

static void set_file(struct name *name, const struct place *place)
{
	const char *file = place->file ? place->file : "";

	if (!*file || *file == '/' || !place->directory) {
		name__set(name, file);
		return;
	}
	file += strncmp(file, "./", 2) ? 0 : 2;
	name__set(name, place->directory);
	name__append(name, "/", 1);
	name__append(name, file, strlen(file));
}

/* ---- split units ---- */

static int unit_order(const void *a, const void *b)
{
	const struct split_unit *x = a, *y = b;

	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* NULL: the unit is whole. */
static struct split_unit *find_split(const struct lines *l, Dwarf_Die *unit)
{
	const struct split_unit key = {.unit = dwarf_dieoffset(unit)};

	return l->nsplits ? bsearch(&key, l->splits, l->nsplits, sizeof(key), unit_order) : NULL;
}

bool lines__lack(struct lines *l, uint64_t vaddr, struct name *file)
{
	struct split_unit *split;
	struct place place = {0};
	Dwarf_Attribute name;
	Dwarf_Die unit;

	split = find_unit(l, vaddr, &unit) ? find_split(l, &unit) : NULL;
	if (!split || split->asked)
		return false;
	split->asked = true;
	l->wanted = split;
	if (dwarf_attr(&unit, DW_AT_dwo_name, &name) ||
	    dwarf_attr(&unit, DW_AT_GNU_dwo_name, &name))
		place = (struct place) {dwarf_formstring(&name), directory_of(&unit), 0};
	set_file(file, &place);
	return true;
}

static int check_split(int fd, uint64_t *size)
{
	struct stat st;

	if (!elf_file__is_sound(fd) || fstat(fd, &st))
		return -ENOEXEC;
	*size = (uint64_t)st.st_size;
	return *size > SPLIT_MAX - split_size ? -EFBIG : 0;
}

int lines__complete(struct lines *l, int fd)
{
	struct split_unit *split = l->wanted;
	uint64_t size;
	int err = split && fd >= 0 ? check_split(fd, &size) : -ENOEXEC;
	Dwarf_Die unit;

	l->wanted = NULL;
	split_file__offer(fd);
	if (!err && dwarf_offdie(l->dwarf, split->unit, &unit))
		dwarf_cu_info(unit.cu, NULL, NULL, NULL, &split->procedures, NULL, NULL, NULL);
	split_file__offer(-1);
	if (err || !split->procedures.addr)
		return err ?: -ESTALE;
	l->split_size += size;
	split_size += size;
	return 0;
}

/* ---- scopes ---- */

/* The scopes that contain an address, outermost first. */
struct scopes {
	uint64_t vaddr;
	bool nested; /* search procedures inside procedures, too, which have addresses of their own */
	uint32_t n;
	Dwarf_Die all[MAX_SCOPES];
};

static bool has_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Whether an entry can contain procedures, which clang and Rust put into several kinds. */
static bool has_procedures(const struct scopes *s, int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type ||
	       (s->nested && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block));
}

/*
 * Replaces dwarf_getscopes, which does not search namespaces, nor the definition of what was
 * inlined from another unit, as gcc -flto does.
 */
static bool find_scopes(struct scopes *s, Dwarf_Die *parent, uint32_t depth)
{
	Dwarf_Die die;

	if (depth == MAX_SCOPES || dwarf_child(parent, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (has_code(tag) && dwarf_haspc(&die, s->vaddr) > 0) {
			s->all[s->n++] = die;
			find_scopes(s, &die, depth + 1);
			return true;
		}
		if (has_procedures(s, tag) && find_scopes(s, &die, depth + 1))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
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

static void fill(struct module_frame *frame, const char *name, const struct place *declaration,
		 const struct place *place)
{
	name__demangle(&frame->name, name);
	set_file(&frame->file, declaration);
	set_file(&frame->line_file, place->line ? place : &(struct place) {0});
	frame->decl_line = declaration->line;
	frame->line = place->line;
}

/* Writes the frames, innermost first; each inlined one has the line of its caller. */
static uint32_t unfold(struct scopes *s, struct place place, const struct place *start,
		       bool inlines, struct module_frame *frames, uint32_t max)
{
	struct place declaration = {0};
	uint32_t n = 0;

	for (uint32_t i = s->n; i-- > 0;) {
		int tag = dwarf_tag(&s->all[i]);

		if (tag == DW_TAG_subprogram) {
			declaration = declaration_of(&s->all[i]);
			break;
		}
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		if (inlines && n + 1 < max) {
			struct place inlined = declaration_of(&s->all[i]);

			fill(&frames[n++], die_name(&s->all[i]), &inlined, &place);
		}
		place = call_of(&s->all[i]);
	}
	fill(&frames[n], "", declaration.file ? &declaration : start, &place);
	return n + 1;
}

uint32_t lines__resolve(struct lines *l, uint64_t vaddr, uint64_t start, bool inlines,
			struct module_frame *frames, uint32_t max)
{
	struct scopes s = {.vaddr = vaddr};
	const struct split_unit *split;
	struct place place, first;
	Dwarf_Die unit;

	if (!find_unit(l, vaddr, &unit))
		return 0;
	place = place_of(&unit, vaddr);
	first = place_of(&unit, start);
	split = find_split(l, &unit);
	if (split && split->procedures.addr)
		unit = split->procedures;
	if (!find_scopes(&s, &unit, 0)) {
		s.nested = true;
		find_scopes(&s, &unit, 0);
	}
	if (s.n == 0 && !place.file)
		return 0;
	return unfold(&s, place, &first, inlines, frames, max);
}
