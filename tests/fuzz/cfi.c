/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzzes the builder of unwind tables: an ELF file, or else the bytes of a section, .gopclntab when
 * the first one is G, else .debug_frame when it is odd.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "symbolizer/cfi/cfi.h"
#include "tests/unit/symbolizer/cfi_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int make_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

static void check(const struct cfi_table *t)
{
	if (t->n > TABLE_MAX_ROWS || t->nsegments > TABLE_MAX_SEGMENTS)
		abort();
	for (uint32_t i = 0; i < t->n; i++) {
		const struct qz_unwind_row *row = &t->rows[i];

		if ((i > 0 && t->rows[i - 1].pc >= row->pc) ||
		    QZ_UNWIND_CFA(row->kind) >= QZ_CFA_KINDS ||
		    QZ_UNWIND_RBP(row->kind) > QZ_RBP_RBP)
			abort();
	}
}

static const char *section_name(uint8_t first)
{
	if (first == 'G')
		return ".gopclntab";
	return first & 1 ? ".debug_frame" : ".eh_frame";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file *f;
	struct cfi_table t;

	if (size == 0)
		return 0;
	if (size >= 4 && memcmp(data, ELFMAG, 4) == 0)
		f = elf_file__open(make_file(data, size));
	else
		f = elf_file__open(cfi_image__make(section_name(data[0]), data + 1, size - 1));
	if (!f)
		return 0;
	cfi__build(f, &t);
	check(&t);
	cfi__free(&t);
	for (size_t i = 0; i < f->ncode; i++) {
		cfi__derive(f, f->code[i].start, f->code[i].end, &t);
		check(&t);
		cfi__free(&t);
	}
	elf_file__close(f);
	return 0;
}
