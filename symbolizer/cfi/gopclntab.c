/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/cfi/gopclntab.h"
#include "symbolizer/cfi/go_switch.h"

#include <errno.h>
#include <gelf.h>

/* Magic numbers, by the first version of Go that writes them. */
enum {
	GO_1_16 = 0xfffffffaU,
	GO_1_18 = 0xfffffff0U,
	GO_1_20 = 0xfffffff1U,
};

#define HEADER_SIZE   72 /* of the longest header */
#define FLAG_SP_WRITE 2	 /* since Go 1.17: the function changes the stack pointer itself */

static bool read_at(const struct gopclntab_functions *t, uint64_t offset, size_t size,
		    uint64_t *value)
{
	struct byte_reader r = {t->bytes, t->bytes + t->size};

	return byte_reader__skip(&r, offset) && byte_reader__number(&r, size, value);
}

/* ---- finding it ---- */

static Elf_Scn *find_section(const struct elf_file *f)
{
	Elf_Scn *section = elf_file__section_by_name(f, ".gopclntab");

	return section ? section : elf_file__section_by_name(f, ".data.rel.ro.gopclntab");
}

/* The value that the dynamic linker writes to an address; 0: none. */
static uint64_t relocated(const struct elf_file *f, uint64_t address)
{
	Elf_Scn *section = elf_file__section_by_type(f, SHT_RELA);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t n = data ? data->d_size / sizeof(Elf64_Rela) : 0;
	GElf_Rela rela;

	for (size_t i = 0; i < n && i <= INT32_MAX && gelf_getrela(data, (int)i, &rela); i++)
		if (rela.r_offset == address && GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
			return (uint64_t)rela.r_addend;
	return 0;
}

static uint64_t start_of_text(const struct elf_file *f)
{
	Elf_Scn *section = elf_file__section_by_name(f, ".text");
	GElf_Shdr sh;

	return section && gelf_getshdr(section, &sh) ? sh.sh_addr : 0;
}

/* Entries are relative to the start of the text, which newer versions of Go no longer store. */
static bool read_header(struct gopclntab_functions *t, uint64_t vaddr)
{
	uint64_t magic, shape, n, at = 16;

	if (!read_at(t, 0, 4, &magic) || !read_at(t, 4, 4, &shape) || !read_at(t, 8, 8, &n) ||
	    shape != 0x08010000 || n > UINT32_MAX / 16)
		return false;
	t->n = (uint32_t)n;
	t->wide = magic == GO_1_16;
	if (!t->wide && magic != GO_1_18 && magic != GO_1_20)
		return false;
	if (!t->wide) {
		at += 8;
		if (!read_at(t, at, 8, &t->text))
			return false;
		if (!t->text)
			t->text = relocated(t->file, vaddr + at);
		if (!t->text)
			t->text = start_of_text(t->file);
	}
	return read_at(t, at + 8, 8, &t->names) && read_at(t, at + 32, 8, &t->deltas) &&
	       read_at(t, at + 40, 8, &t->index) && t->names < t->size && t->deltas < t->size &&
	       t->index < t->size;
}

int gopclntab__find(const struct elf_file *f, struct gopclntab_functions *functions)
{
	Elf_Scn *section = find_section(f);
	Elf_Data *data;
	GElf_Shdr sh;

	*functions = (struct gopclntab_functions) {.file = f};
	if (!section)
		return -ENODATA;
	if (!gelf_getshdr(section, &sh))
		return -ENOEXEC;
	if (sh.sh_size > GO_MAX_SIZE)
		return -E2BIG;
	data = elf_rawdata(section, NULL);
	if (!data)
		return -ENOEXEC;
	if (!data->d_buf || data->d_size < HEADER_SIZE)
		return -ENODATA;
	functions->bytes = data->d_buf;
	functions->size = data->d_size;
	return read_header(functions, sh.sh_addr) ? 0 : -ENODATA;
}

/* ---- functions ---- */

/* The positions in a record about a function. */
struct layout {
	size_t entry; /* size */
	size_t name, deltas, flag;
};

static struct layout layout_of(const struct gopclntab_functions *t)
{
	uint64_t magic;

	if (t->wide)
		return (struct layout) {8, 8, 20, 41};
	read_at(t, 0, 4, &magic);
	return (struct layout) {4, 4, 16, magic == GO_1_18 ? 37 : 41};
}

static bool read_entry(const struct gopclntab_functions *t, uint32_t i, uint64_t *start,
		       uint64_t *record)
{
	size_t size = t->wide ? 8 : 4;
	uint64_t at = t->index + (uint64_t)i * 2 * size;

	if (!read_at(t, at, size, start) || !read_at(t, at + size, size, record))
		return false;
	*start += t->text;
	*record += t->index;
	return *record < t->size;
}

/* Functions that begin stacks, and so never return to a caller. */
static bool is_outermost(const char *name)
{
	static const char *const names[] = {
		"mstart", "rt0_go",	"mcall",       "morestack",	  "morestack_noctxt",
		"gogo",	  "asmcgocall", "cgocallback", "asmcgocall_no_g",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static enum go_kind kind_of(const struct gopclntab_functions *t, struct gopclntab_function *fn,
			    uint64_t flags)
{
	static const char runtime[] = "runtime.";

	if (strncmp(fn->name, runtime, sizeof(runtime) - 1) == 0) {
		const char *rest = fn->name + sizeof(runtime) - 1;

		if (strcmp(rest, "systemstack") == 0)
			return go_switch__find(t->file, fn->start, &fn->slot) ? GO_SWITCH
									      : GO_OUTERMOST;
		if (strcmp(rest, "goexit") == 0)
			return GO_GOROUTINE;
		if (strcmp(rest, "printcreatedby") == 0)
			fn->creator = go_switch__creator(t->file, fn->start);
		if (strncmp(rest, "sigreturn", strlen("sigreturn")) == 0)
			return GO_SIGNAL;
		if (is_outermost(rest))
			return GO_OUTERMOST;
		if (strcmp(rest, "clone") == 0) /* only the child is on another stack */
			return GO_PLAIN;
	}
	if (fn->start == t->file->entry)
		return GO_OUTERMOST;
	return flags & FLAG_SP_WRITE ? GO_FRAMED : GO_PLAIN;
}

/* The name at an offset; NULL: it is not terminated. */
static const char *name_at(const struct gopclntab_functions *t, uint64_t offset)
{
	const uint8_t *name = t->bytes + offset;

	if (offset >= t->size || !memchr(name, 0, t->size - offset))
		return NULL;
	return (const char *)name;
}

bool gopclntab__function(const struct gopclntab_functions *t, uint32_t i,
			 struct gopclntab_function *fn)
{
	struct layout layout = layout_of(t);
	uint64_t record, name, deltas, flags;

	if (i >= t->n || !read_entry(t, i, &fn->start, &record))
		return false;
	/* after the last function comes its end */
	if (!read_at(t, t->index + (uint64_t)(i + 1) * 2 * layout.entry, layout.entry, &fn->end))
		return false;
	fn->end += t->text;
	if (!read_at(t, record + layout.name, 4, &name) ||
	    !read_at(t, record + layout.deltas, 4, &deltas) ||
	    !read_at(t, record + layout.flag, 1, &flags))
		return false;
	fn->name = name_at(t, t->names + name);
	if (!fn->name || fn->end <= fn->start || t->deltas + deltas >= t->size)
		return false;
	fn->slot = 0;
	fn->creator = 0;
	fn->kind = kind_of(t, fn, flags);
	fn->deltas = (struct byte_reader) {t->bytes + t->deltas + deltas, t->bytes + t->size};
	if (!deltas) /* none are known */
		fn->deltas.at = fn->deltas.end;
	return true;
}

/* Pairs of differences. The first of a pair is signed, with its sign in the lowest bit. */
bool gopclntab__next(struct gopclntab_function *fn, struct gopclntab_delta *delta)
{
	uint64_t folded, distance;
	bool first = delta->end == fn->start;

	if (!byte_reader__uleb128(&fn->deltas, &folded) || (!folded && !first) ||
	    !byte_reader__uleb128(&fn->deltas, &distance) || distance > fn->end - delta->end)
		return false;
	delta->bytes += (int64_t)(folded >> 1 ^ -(folded & 1));
	delta->end += distance;
	return true;
}
