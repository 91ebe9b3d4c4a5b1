/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/names/procedure_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/cfi/assembly.h"
#include "symbolizer/cfi/fde.h"
#include "symbolizer/names/glibc.h"
#include "symbolizer/cfi/gopclntab.h"
#include "symbolizer/names/plt.h"
#include "symbolizer/elf/symbols.h"

/*
 * glibc ends the FDE of clone before the system call, and begins the next one in the child's part.
 * The few instructions in between belong to the first.
 */
#define GAP_MAX 16

#define EXTENT_MAX 4096 /* bytes of assembly without a size */

struct sources {
	const struct elf_file *file;
	struct symbols symbols;
	struct fde *fdes;
	size_t nfdes;
	bool is_libc; /* or libpthread, or a statically linked program */
	bool is_ada;  /* a program in Ada, or Ada's library */
	bool is_stripped;
};

static int add_entry_point(struct sources *s)
{
	struct procedure p = {.rank = SYMBOL_UNSIZED, .name = "_start"};

	if (!s->file->is_program || !elf_file__code(s->file, s->file->entry))
		return 0;
	p.start = p.end = s->file->entry;
	return symbols__add(&s->symbols, &p);
}

/* Adds functions of Go, whose names stripped programs keep. */
static int add_go_functions(struct sources *s, bool has_symbols)
{
	struct gopclntab_functions go;
	struct gopclntab_function fn;
	int err = 0;

	if (has_symbols || gopclntab__find(s->file, &go))
		return 0;
	for (uint32_t i = 0; i < go.n && !err; i++) {
		struct procedure p = {.rank = SYMBOL_SIZED};

		if (!gopclntab__function(&go, i, &fn) || !elf_file__code(s->file, fn.start))
			continue;
		p.start = fn.start;
		p.end = fn.end;
		p.name = fn.name;
		err = symbols__add(&s->symbols, &p);
	}
	return err;
}

static int collect(struct sources *s, const struct elf_file *debug)
{
	enum { MAIN, GO_MAIN, CREATE, START_MAIN, ADA_INIT, GNAT_INIT, NAMES };
	static const char *const names[NAMES] = {
		"main",		  "runtime.main",
		"pthread_create", "__libc_start_main",
		"adainit",	  "__gnat_runtime_initialize",
	};
	uint64_t at[NAMES];
	int err = debug ? symbols__read(&s->symbols, s->file, debug, SHT_SYMTAB) : 0;

	if (!err)
		err = symbols__read(&s->symbols, s->file, s->file, SHT_SYMTAB);
	if (!err)
		err = symbols__read(&s->symbols, s->file, s->file, SHT_DYNSYM);
	if (!err)
		err = fde__read_all(s->file, &s->fdes, &s->nfdes);
	if (err)
		return err;
	s->is_stripped = !debug && !elf_file__section_by_type(s->file, SHT_SYMTAB);
	symbols__find(&s->symbols, names, NAMES, at);
	s->is_libc = at[CREATE] || at[START_MAIN];
	s->is_ada = at[ADA_INIT] || at[GNAT_INIT];
	err = add_go_functions(s, at[GO_MAIN]);
	if (!err)
		err = add_entry_point(s);
	if (!err && !at[MAIN])
		err = glibc__add_main(s->file, s->fdes, s->nfdes, &s->symbols);
	if (!err)
		err = glibc__add_thread_starts(s->file, s->fdes, s->nfdes, at[START_MAIN],
					       at[CREATE], &s->symbols);
	return err;
}

/*
 * The end of the code that begins at an address, at most `end`. In a stripped file, the next symbol
 * may be far away: in musl, all assembly for threads comes after memset.
 */
static uint64_t end_by_code(const struct sources *s, uint64_t start, uint64_t end)
{
	uint8_t bytes[EXTENT_MAX];
	size_t size = end - start < sizeof(bytes) ? end - start : sizeof(bytes);
	size_t extent;

	if (!elf_file__read(s->file, start, bytes, size))
		return end;
	extent = assembly__extent(bytes, size);
	return extent < size ? start + extent : end;
}

/*
 * The end of a symbol without a size: the end of its FDE; without one, the start of the next
 * symbol, FDE or section, or the end of its code.
 */
static uint64_t end_of(const struct sources *s, size_t i)
{
	const struct procedure *p = &s->symbols.all[i];
	const struct elf_code *code = elf_file__code(s->file, p->start);
	uint64_t end = code ? code->end : p->start;
	size_t next = fde__up_to(s->fdes, s->nfdes, p->start);

	if (p->end > p->start)
		return p->end;
	if (next > 0 && s->fdes[next - 1].start == p->start)
		return s->fdes[next - 1].end;
	if (next < s->nfdes && s->fdes[next].start < end)
		end = s->fdes[next].start;
	if (i + 1 < s->symbols.n && s->symbols.all[i + 1].start < end)
		end = s->symbols.all[i + 1].start;
	return s->is_stripped && end > p->start ? end_by_code(s, p->start, end) : end;
}

/*
 * Names of procedures in which libc begins processes and threads. Other modules may use these names
 * otherwise: a program's own "start_thread" is an ordinary procedure.
 */
static bool is_libc_start(const char *name)
{
	static const char *const names[] = {
		"clone",	"clone3",	 "__clone",	 "__clone3",
		"__GI___clone", "__GI___clone3", "start_thread", "__libc_start_call_main",
	};
	static const char start_main[] = "__libc_start_main"; /* also with _impl and versions */
	size_t length = strcspn(name, "@");

	if (strncmp(name, start_main, sizeof(start_main) - 1) == 0)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && memcmp(name, names[i], length) == 0)
			return true;
	return false;
}

/* The code that starts the first goroutine. */
static bool is_go_start(const char *name)
{
	return strcmp(name, "runtime.newproc") == 0 || strcmp(name, "runtime.newproc.abi0") == 0 ||
	       strcmp(name, "runtime.rt0_go") == 0 || strcmp(name, "runtime.rt0_go.abi0") == 0;
}

static bool is_outermost(const struct sources *s, const struct procedure *p)
{
	const struct fde *fde = fde__at(s->fdes, s->nfdes, p->start);

	return (fde && fde->outermost) || strcmp(p->name, "_start") == 0 ||
	       strcmp(p->name, "_dl_start_user") == 0 || is_go_start(p->name) ||
	       (s->is_libc && is_libc_start(p->name));
}

static int add_symbols(struct address_table *t, struct sources *s)
{
	int err = 0;

	for (size_t i = 0; i < s->symbols.n && !err; i++) {
		struct procedure p = s->symbols.all[i];

		p.end = end_of(s, i);
		if (s->is_ada)
			p.flags |= PROCEDURE_ADA;
		if (is_outermost(s, &p))
			p.flags |= PROCEDURE_OUTERMOST;
		err = address_table__add(t, &p);
	}
	return err;
}

static int add_fdes(struct address_table *t, const struct sources *s)
{
	int err = 0;

	for (size_t i = 0; i < s->nfdes && !err; i++) {
		const struct fde *fde = &s->fdes[i];
		struct procedure p = {
			.start = fde->start,
			.end = fde->end,
			.rank = SYMBOL_RANKS,
			.flags = fde->outermost ? PROCEDURE_OUTERMOST : 0,
		};

		if (i + 1 < s->nfdes && fde[1].start > p.end && fde[1].start - p.end < GAP_MAX)
			p.end = fde[1].start;
		err = address_table__add(t, &p);
	}
	return err;
}

struct address_table *procedure_table__new(const struct elf_file *file,
					   const struct elf_file *debug)
{
	struct sources s = {.file = file};
	struct address_table *t = address_table__new();
	int err = t ? collect(&s, debug) : -ENOMEM;

	if (err)
		goto out;
	err = symbols__sort(&s.symbols);
	if (!err)
		err = add_symbols(t, &s);
	if (!err)
		err = plt__add_stubs(file, t, SYMBOL_UNSIZED);
	if (!err)
		err = add_fdes(t, &s);
	if (!err)
		err = address_table__build(t);
out:
	symbols__free(&s.symbols);
	free(s.fdes);
	if (err) {
		address_table__free(t);
		errno = -err;
		return NULL;
	}
	return t;
}
