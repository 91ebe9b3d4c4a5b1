/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/names/module.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <elfutils/libdwelf.h>

#include "symbolizer/names/procedure_table.h"
#include "symbolizer/names/lines.h"
#include "symbolizer/names/perf_map.h"
#include "symbolizer/names/data_symbols.h"

/* Largest DWARF that is read into memory only for names of variables, bytes. */
#define VARIABLES_DWARF_MAX (128U << 20)

/* Largest debug file whose checksum is computed, which takes a second. */
#define CHECKED_MAX (512 << 20)

struct module {
	char label[256];
	struct elf_file *file, *debug; /* file: NULL for a perf map; debug: may be NULL */
	struct elf_file *shared;       /* with entries shared by `lines`, or NULL */
	char link[256];		       /* .gnu_debuglink: name and checksum of the debug file */
	uint32_t link_sum;
	struct address_table *table; /* sorted by virtual address */
	char *text;		     /* names of a perf map */
	struct lines *lines;
	bool inlines;
	struct data_symbols *variables; /* NULL until they are needed */
	struct elf_file *described_by;	/* the file that was opened for dwarf, or NULL */
	Dwarf *dwarf;			/* for variables, if `lines` has none */
};

static int load_perf_map(struct module *m, int fd)
{
	struct perf_map map;
	int err = perf_map__read(&map, fd);

	close(fd);
	if (err) {
		perf_map__free(&map);
		return err;
	}
	m->table = map.table;
	m->text = map.text;
	return 0;
}

static void read_link(struct module *m)
{
	GElf_Word sum;
	const char *name = m->file->has_sections ? dwelf_elf_gnu_debuglink(m->file->elf, &sum)
						 : NULL;

	if (!name || strchr(name, '/') || strlen(name) >= sizeof(m->link))
		return;
	strcpy(m->link, name);
	m->link_sum = sum;
}

static bool has_sum(int fd, uint32_t expected)
{
	uLong sum = crc32(0, NULL, 0);
	uint8_t bytes[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0 && at < CHECKED_MAX) {
		sum = crc32(sum, bytes, (uInt)n);
		at += n;
	}
	return n == 0 && sum == expected;
}

/*
 * Whether a debug file fits: by its build-id, or, without one, by the checksum that is stored with
 * its name.
 */
static bool describes(const struct module *m, const struct elf_file *debug)
{
	const struct elf_file *file = m->file;

	if (file->build_id_size)
		return debug->build_id_size == file->build_id_size &&
		       !memcmp(debug->build_id, file->build_id, file->build_id_size);
	return m->link[0] && has_sum(debug->fd, m->link_sum);
}

/* Opens a debug file; ignores one of another build, or one that cannot be read. */
static struct elf_file *open_debug(const struct module *m, int fd)
{
	struct elf_file *debug = fd >= 0 ? elf_file__open(fd) : NULL;

	if (debug && !describes(m, debug)) {
		elf_file__close(debug);
		return NULL;
	}
	return debug;
}

static void close_files(const struct module_files *files)
{
	if (files->fd >= 0)
		close(files->fd);
	if (files->debug >= 0)
		close(files->debug);
	if (files->shared >= 0)
		close(files->shared);
}

/*
 * Takes ownership of the descriptor. Ignores a file of another build; then procedures inlined from
 * it have no names.
 */
static void load_lines(struct module *m, int shared)
{
	if (m->debug)
		m->lines = lines__new(m->debug);
	if (!m->lines)
		m->lines = lines__new(m->file);
	m->shared = shared >= 0 ? elf_file__open(shared) : NULL;
	if (!m->shared)
		return;
	if (m->lines)
		lines__share(m->lines, m->shared);
	elf_file__detach(m->shared);
}

/* Reads at once all that will be needed, because many modules must not keep many files open. */
static int load_elf(struct module *m, uint32_t flags, struct module_files files)
{
	m->file = elf_file__open(files.fd);
	files.fd = -1;
	if (!m->file) {
		int err = -errno;

		close_files(&files);
		return err;
	}
	read_link(m);
	m->debug = open_debug(m, files.debug);
	files.debug = -1;
	m->table = procedure_table__new(m->file, m->debug);
	if (m->table && flags & (LOAD_LINES | LOAD_INLINES)) {
		load_lines(m, files.shared);
		files.shared = -1;
	}
	close_files(&files);
	if (!m->table)
		return -errno;
	elf_file__detach(m->file);
	if (m->debug)
		elf_file__detach(m->debug);
	return 0;
}

struct module *module__load(uint32_t kind, uint32_t flags, const struct module_files *files,
			    const char *label)
{
	struct module *m = calloc(1, sizeof(*m));
	int err;

	if (!m) {
		close_files(files);
		errno = ENOMEM;
		return NULL;
	}
	snprintf(m->label, sizeof(m->label), "%s", label);
	m->inlines = flags & LOAD_INLINES;
	err = kind == MODULE_ELF ? load_elf(m, flags, *files) : load_perf_map(m, files->fd);
	if (err) {
		module__free(m);
		errno = -err;
		return NULL;
	}
	return m;
}

void module__free(struct module *m)
{
	if (!m)
		return;
	data_symbols__free(m->variables);
	dwarf_end(m->dwarf);
	elf_file__close(m->described_by);
	lines__free(m->lines);
	elf_file__close(m->shared);
	address_table__free(m->table);
	free(m->text);
	elf_file__close(m->debug);
	elf_file__close(m->file);
	free(m);
}

const char *module__shared(const struct module *m)
{
	const char *name = m->lines ? lines__shared(m->lines) : NULL;

	return name ? name : "";
}

const char *module__link(const struct module *m)
{
	return m->debug ? "" : m->link;
}

bool module__is_split(const struct module *m)
{
	return m->lines && lines__are_split(m->lines);
}

bool module__lacks(struct module *m, uint64_t address, struct name *file)
{
	uint64_t vaddr;

	return m->lines && elf_file__vaddr(m->file, address, &vaddr) &&
	       lines__lack(m->lines, vaddr, file);
}

int module__complete(struct module *m, int fd)
{
	if (m->lines)
		return lines__complete(m->lines, fd);
	if (fd >= 0)
		close(fd);
	return -ENOEXEC;
}

const struct elf_file *module__file(const struct module *m)
{
	return m->file;
}

const struct procedure *module__procedure(const struct module *m, uint64_t vaddr)
{
	return address_table__find(m->table, vaddr);
}

/* ---- variables ---- */

static uint64_t dwarf_size(const struct elf_file *f)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;
	size_t strings;

	if (!f->has_sections || elf_getshdrstrndx(f->elf, &strings))
		return 0;
	while ((section = elf_file__next_section(f, section))) {
		GElf_Shdr sh;
		GElf_Chdr ch;
		const char *name;

		if (!gelf_getshdr(section, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(f->elf, strings, sh.sh_name);
		if (name && strncmp(name, ".debug_", 7) == 0)
			sum += gelf_getchdr(section, &ch) ? ch.ch_size : sh.sh_size;
	}
	return sum;
}

/* Opens the module's file, or its debug file, again, since lines of a module close theirs. */
static void open_dwarf(struct module *m, int fd)
{
	uint64_t size;

	m->described_by = m->debug ? open_debug(m, fd) : elf_file__open(fd);
	if (!m->described_by)
		return;
	size = dwarf_size(m->described_by);
	if (size && size <= VARIABLES_DWARF_MAX)
		m->dwarf = dwarf_begin_elf(m->described_by->elf, DWARF_C_READ, NULL);
	if (m->dwarf) {
		elf_file__detach(m->described_by);
		return;
	}
	elf_file__close(m->described_by);
	m->described_by = NULL;
}

static int load_variables(struct module *m, int fd)
{
	if (m->variables || m->lines)
		close(fd);
	if (m->variables)
		return 0;
	if (!m->lines)
		open_dwarf(m, fd);
	m->variables =
		data_symbols__new(m->file, m->debug, m->lines ? lines__dwarf(m->lines) : m->dwarf);
	return m->variables ? 0 : -errno;
}

int module__variable(struct module *m, int fd, uint64_t code, int64_t distance, uint32_t beyond,
		     struct module_variable *out)
{
	uint64_t vaddr, low, high, address;
	int err;

	if (!m->file || !elf_file__vaddr(m->file, code, &vaddr)) {
		close(fd);
		return -ENOEXEC;
	}
	err = load_variables(m, fd);
	if (err)
		return err;
	elf_file__extent(m->file, &low, &high);
	address = vaddr + (uint64_t)distance;
	out->low = (int64_t)(low - vaddr);
	out->high = (int64_t)(high - vaddr);
	out->found = address >= low && address < high &&
		     data_symbols__name(m->variables, address, beyond, &out->name);
	return 0;
}

size_t module__size(const struct module *m)
{
	return address_table__size(m->table);
}

void module__name(const struct module *m, const struct procedure *p, struct name *name)
{
	int length;

	if (!p->name) {
		length = snprintf(name->text, sizeof(name->text), "%s+0x%" PRIx64, m->label,
				  p->start);
		name->length = (size_t)length;
		return;
	}
	if (p->flags & PROCEDURE_ADA)
		name__demangle_ada(name, p->name);
	else if (m->file)
		name__demangle(name, p->name);
	else
		name__set(name, p->name);
	if (p->flags & PROCEDURE_PLT)
		name__append(name, "@plt", 4);
}

void module__resolve(struct module *m, uint64_t address, struct module_answer *answer)
{
	const struct procedure *p = NULL;
	uint64_t vaddr = address;

	answer->start = address;
	answer->flags = 0;
	answer->nframes = 0;
	if (!m->file || elf_file__vaddr(m->file, address, &vaddr))
		p = address_table__find(m->table, vaddr);
	if (!p)
		return;
	answer->start = address - (vaddr - p->start);
	answer->flags = ANSWER_FOUND | (p->name ? 0 : ANSWER_UNNAMED) |
			(p->flags & PROCEDURE_OUTERMOST ? ANSWER_OUTERMOST : 0);
	if (m->lines)
		answer->nframes = lines__resolve(m->lines, vaddr, p->start, m->inlines,
						 answer->frames, MODULE_MAX_FRAMES);
	if (answer->nframes == 0) {
		answer->frames[0].decl_line = answer->frames[0].line = 0;
		name__set(&answer->frames[0].file, "");
		name__set(&answer->frames[0].line_file, "");
		answer->nframes = 1;
	}
	module__name(m, p, &answer->frames[answer->nframes - 1].name);
}
