/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/cfi/cfi.h"

#include <errno.h>
#include <stdlib.h>
#include <elf.h>

#include "symbolizer/cfi/assembly.h"
#include "symbolizer/cfi/cfi_machine.h"
#include "symbolizer/cfi/eh_frame.h"
#include "symbolizer/cfi/gopclntab.h"
#include "symbolizer/util/sort.h"

#define PAGE		 4096
#define MAX_ENTRIES	 (2U << 20)
#define MAX_INSTRUCTIONS (16U << 20) /* five times as many as the largest libraries have */
#define MAX_DERIVED	 (1U << 20)  /* instructions of assembly at a time */
#define ENTRY_SIZE	 64	     /* bytes at an entry point that count as its code */
#define INSTRUCTION_SIZE 15	     /* bytes, at most */
#define MAX_BARE	 (1U << 20)  /* bytes of code without entries that are analyzed at once */

struct builder {
	const struct elf_file *file;
	struct cfi_rows rows;
	struct eh_frame_section sections[2]; /* indexed by enum frame_kind */
	struct gopclntab_functions go;
	int32_t go_slot; /* of runtime.systemstack; 0: unknown */
	uint32_t go_creator;
	uint64_t *entries; /* see add_entry */
	uint32_t nentries;
	uint64_t start;	    /* entry point of the file; UINT64_MAX: none */
	uint64_t described; /* bytes of code with entries */
	bool bare;	    /* hardly any code has entries, as in musl */

	/* The last CIE; adjacent entries mostly share one. */
	const struct eh_frame_section *cie_section;
	size_t cie_at;
	struct eh_frame_cie cie;
	struct cfi_state initial; /* after its instructions */
	bool cie_usable;

	struct cfi_state remembered[CFI_MAX_DEPTH]; /* by the present entry */
};

/* ---- entries ---- */

static struct cfi_machine new_machine(struct builder *b)
{
	return (struct cfi_machine) {.rows = &b->rows,
				     .cie = &b->cie,
				     .initial = &b->initial,
				     .remembered = b->remembered};
}

static int use_cie(struct builder *b, const struct eh_frame_section *s, size_t at)
{
	struct cfi_machine m = new_machine(b);
	int err;

	if (b->cie_section == s && b->cie_at == at)
		return 0;
	b->cie_section = s;
	b->cie_at = at;
	b->cie_usable = eh_frame__cie(s, at, &b->cie) && b->cie.return_address == CFI_RA;
	b->initial = (struct cfi_state) {.expression.form = EXPRESSION_OTHER};
	if (!b->cie_usable)
		return 0;
	/* a CIE has no addresses, so it cannot advance: m.at == m.end */
	err = cfi_machine__run(&m, b->cie.instructions);
	b->initial = m.state;
	b->cie_usable = !err;
	return err == -EINVAL ? 0 : err;
}

/*
 * An entry is a number: from the highest bit on, the pc of its start, its source and its position
 * there. After sorting, the last one of those with the same start is taken.
 */
enum source {
	SOURCE_DEBUG,
	SOURCE_EH,
	SOURCE_GO,
};

#define SOURCE_SHIFT 30
#define ENTRY_AT     ((1U << SOURCE_SHIFT) - 1)

static enum source source_of(uint64_t key)
{
	return (key & UINT32_MAX) >> SOURCE_SHIFT;
}

static int add_entry(struct builder *b, enum source source, size_t at, uint64_t start)
{
	uint64_t key = (start - b->rows.table->base) << 32 | (uint64_t)source << SOURCE_SHIFT;

	if (b->nentries == MAX_ENTRIES)
		return -E2BIG;
	if ((b->nentries & (b->nentries - 1)) == 0) { /* the array is full at each power of two */
		uint32_t room = b->nentries ? 2 * b->nentries : 1;
		uint64_t *more = reallocarray(b->entries, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		b->entries = more;
	}
	b->entries[b->nentries++] = key | at;
	return 0;
}

static bool is_code(const struct cfi_table *t, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < t->nsegments; i++) {
		const struct elf_segment *s = &t->segments[i];

		if (start >= s->vaddr && start - s->vaddr < s->filesz)
			return end - s->vaddr <= s->filesz;
	}
	return false;
}

static int collect(struct builder *b, const struct eh_frame_section *s)
{
	struct eh_frame_entry entry;
	struct eh_frame_fde fde;
	int err = 0;

	b->rows.table->stats.bytes += (uint32_t)s->size;
	for (size_t at = 0; !err && eh_frame__entry(s, at, &entry); at = entry.next) {
		if (entry.is_cie)
			continue;
		err = use_cie(b, s, entry.cie);
		if (err)
			break;
		if (b->cie_usable && eh_frame__fde(s, &entry, &b->cie, &fde) &&
		    is_code(b->rows.table, fde.start, fde.end)) {
			b->described += fde.end - fde.start;
			err = add_entry(b, s->kind == FRAME_EH ? SOURCE_EH : SOURCE_DEBUG, entry.at,
					fde.start);
		} else {
			b->rows.table->stats.left_out++;
		}
	}
	return err;
}

/* Writes the rows of an entry up to its end, which *end is set to, but at most up to the limit. */
static int describe(struct builder *b, uint64_t key, uint64_t limit, uint64_t *end)
{
	const struct eh_frame_section *s =
		&b->sections[source_of(key) == SOURCE_EH ? FRAME_EH : FRAME_DEBUG];
	struct cfi_machine m = new_machine(b);
	struct eh_frame_entry entry;
	struct eh_frame_fde fde;
	int err;

	eh_frame__entry(s, key & ENTRY_AT, &entry);
	err = use_cie(b, s, entry.cie);
	if (err)
		return err;
	eh_frame__fde(s, &entry, &b->cie, &fde);
	*end = fde.end < limit ? fde.end : limit;
	m.state = b->initial;
	m.at = fde.start;
	m.end = *end;
	err = cfi_machine__run(&m, fde.instructions);
	if ((err && err != -EINVAL) || m.at == m.end)
		return err == -EINVAL ? 0 : err;
	return cfi_rows__emit(&b->rows, m.at,
			      err ? cfi_row__unsupported(QZ_UNSUPPORTED_BROKEN)
				  : cfi_row__make(&m.state));
}

/* ---- functions of Go ---- */

static int collect_go(struct builder *b)
{
	struct gopclntab_function fn;
	int err = 0;

	if (gopclntab__find(b->go.file, &b->go))
		return 0;
	b->rows.table->stats.bytes += (uint32_t)b->go.size;
	for (uint32_t i = 0; i < b->go.n && i < ENTRY_AT && !err; i++)
		if (gopclntab__function(&b->go, i, &fn) &&
		    is_code(b->rows.table, fn.start, fn.end)) {
			b->described += fn.end - fn.start;
			b->go_slot = b->go_slot ?: fn.slot;
			b->go_creator = b->go_creator ?: fn.creator;
			err = add_entry(b, SOURCE_GO, i, fn.start);
		} else {
			b->rows.table->stats.left_out++;
		}
	return err;
}

/* The row of a function that changes the stack pointer by itself; `only`: it never has a frame. */
static struct qz_unwind_row framed_row(int64_t delta, bool only)
{
	if (only)
		return cfi_row__unsupported(QZ_UNSUPPORTED_REGISTER);
	if (delta == 0)
		return (struct qz_unwind_row) {.kind = QZ_CFA_RSP, .cfa = 1};
	return (struct qz_unwind_row) {
		.kind = QZ_UNWIND_KIND(QZ_CFA_FRAME, QZ_RBP_CFA), .cfa = 2, .rbp = -2};
}

static struct qz_unwind_row plain_row(int64_t delta)
{
	if (!cfi_row__in_words(delta, 0, INT16_MAX - 1))
		return cfi_row__unsupported(QZ_UNSUPPORTED_OFFSET);
	return (struct qz_unwind_row) {.kind = QZ_CFA_RSP, .cfa = (int16_t)(delta / 8 + 1)};
}

/* Whether the function has a single range of addresses, without a frame. */
static bool has_no_frame(struct gopclntab_function fn)
{
	struct gopclntab_delta delta = {fn.start, -1};

	return gopclntab__next(&fn, &delta) && delta.bytes == 0 && !gopclntab__next(&fn, &delta);
}

static int describe_frames(struct builder *b, struct gopclntab_function *fn, uint64_t *end)
{
	struct gopclntab_delta delta = {fn->start, -1};
	bool framed = fn->kind == GO_FRAMED, only = framed && has_no_frame(*fn);
	int err = 0;

	*end = fn->start;
	while (!err && gopclntab__next(fn, &delta)) {
		if (b->rows.instructions == 0)
			return -E2BIG;
		b->rows.instructions--;
		if (delta.end == *end)
			continue;
		err = cfi_rows__emit(&b->rows, *end,
				     framed ? framed_row(delta.bytes, only)
					    : plain_row(delta.bytes));
		*end = delta.end;
	}
	return err;
}

/*
 * Go looks up the function of a return address - 1, and so does Quartz. A signal handler returns to
 * the first address of a function.
 */
static int describe_go(struct builder *b, uint32_t i, uint64_t limit, uint64_t *end)
{
	struct qz_unwind_row row = {.kind = QZ_CFA_END};
	struct gopclntab_function fn;

	gopclntab__function(&b->go, i, &fn);
	if (fn.end > limit)
		fn.end = limit;
	if (fn.kind == GO_PLAIN || fn.kind == GO_FRAMED)
		return describe_frames(b, &fn, end);
	*end = fn.end;
	if (fn.kind == GO_SWITCH)
		row = (struct qz_unwind_row) {.kind = QZ_CFA_GO, .cfa = (int16_t)(fn.slot / 8)};
	if (fn.kind == GO_GOROUTINE && b->go_slot && b->go_creator)
		row = (struct qz_unwind_row) {.kind = QZ_CFA_GOROUTINE,
					      .cfa = (int16_t)(b->go_slot / 8),
					      .rbp = (int8_t)(b->go_creator / 8)};
	if (fn.kind == GO_SIGNAL)
		row.kind = QZ_CFA_SIGNAL;
	return cfi_rows__emit(&b->rows, fn.kind == GO_SIGNAL ? fn.start - 1 : fn.start, row);
}

/* ---- code without entries ---- */

/*
 * Derives rows for a part of one section, which is not empty. Reads no more than may be analyzed.
 */
static int derive(struct cfi_rows *rows, const struct elf_file *f, uint64_t from, uint64_t to)
{
	uint32_t budget = MAX_DERIVED;
	uint64_t most = (uint64_t)MAX_DERIVED * INSTRUCTION_SIZE;
	size_t size = to - from < most ? to - from : most;
	uint8_t *bytes = malloc(size);
	int err = 0;

	if (!bytes)
		return -ENOMEM;
	if (elf_file__read(f, from, bytes, size))
		err = assembly__derive(rows, bytes, size, from, &budget);
	free(bytes);
	return err;
}

/* Derives rows for all code at [from, to). */
static int derive_range(struct cfi_rows *rows, const struct elf_file *f, uint64_t from, uint64_t to)
{
	int err = 0;

	for (size_t i = 0; i < f->ncode && !err; i++) {
		uint64_t start = f->code[i].start > from ? f->code[i].start : from;
		uint64_t end = f->code[i].end < to ? f->code[i].end : to;

		if (start < end && is_code(rows->table, start, end))
			err = derive(rows, f, start, end);
	}
	return err;
}

/*
 * Whether code without entries is worth the analysis. Most programs have some assembly, which
 * stacks rarely contain; but in some files all code lacks entries.
 */
static bool is_bare(const struct builder *b)
{
	uint64_t all = 0;

	for (size_t i = 0; i < b->file->ncode; i++)
		all += b->file->code[i].end - b->file->code[i].start;
	return all / 2 > b->described && all - b->described <= MAX_BARE;
}

static int leave_gap(struct builder *b, uint64_t from, uint64_t to)
{
	const struct qz_unwind_row none = {.kind = QZ_CFA_NONE};
	int err = cfi_rows__emit(&b->rows, from, none);

	return err || !b->bare ? err : derive_range(&b->rows, b->file, from, to);
}

/*
 * Fills addresses without entries. The dynamic linker's entry point is among them: it is outermost,
 * since nothing calls it.
 */
static int fill_gap(struct builder *b, uint64_t from, uint64_t to)
{
	const struct qz_unwind_row outermost = {.kind = QZ_CFA_END};
	int err;

	if (b->start < from || b->start >= to)
		return leave_gap(b, from, to);
	err = leave_gap(b, from, b->start);
	err = err ? err : cfi_rows__emit(&b->rows, b->start, outermost);
	if (err || to - b->start <= ENTRY_SIZE)
		return err;
	return leave_gap(b, b->start + ENTRY_SIZE, to);
}

/* The lowest address of code. */
static uint64_t lowest(const struct cfi_table *t)
{
	uint64_t vaddr = t->segments[0].vaddr;

	for (uint32_t i = 1; i < t->nsegments; i++)
		if (t->segments[i].vaddr < vaddr)
			vaddr = t->segments[i].vaddr;
	return vaddr;
}

static int describe_all(struct builder *b)
{
	uint64_t base = b->rows.table->base, end = lowest(b->rows.table);
	int err = sort__by_number(b->entries, b->nentries, sizeof(*b->entries));

	b->bare = is_bare(b);
	for (uint32_t i = 0; i < b->nentries && !err; i++) {
		uint64_t start = base + (b->entries[i] >> 32), limit = UINT64_MAX;

		if (i + 1 < b->nentries)
			limit = base + (b->entries[i + 1] >> 32);
		if (start == limit)
			continue;
		if (end < start)
			err = fill_gap(b, end, start);
		if (!err)
			err = source_of(b->entries[i]) == SOURCE_GO
				      ? describe_go(b, b->entries[i] & ENTRY_AT, limit, &end)
				      : describe(b, b->entries[i], limit, &end);
		b->rows.table->stats.entries++;
	}
	return err ? err : fill_gap(b, end, UINT64_MAX);
}

/* ---- files ---- */

static int take_segments(const struct elf_file *f, struct cfi_table *t)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < f->nsegments; i++)
		if (f->segments[i].vaddr < lowest)
			lowest = f->segments[i].vaddr;
	t->base = lowest & ~(uint64_t)(PAGE - 1);
	for (size_t i = 0; i < f->nsegments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (!s->executable || !s->filesz)
			continue;
		if (t->nsegments == TABLE_MAX_SEGMENTS ||
		    s->vaddr + s->filesz - t->base > UINT32_MAX)
			return -E2BIG;
		t->segments[t->nsegments++] = *s;
	}
	return t->nsegments ? 0 : -ENODATA;
}

static void count_unsupported(struct cfi_table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->rows[i].kind == QZ_CFA_UNSUPPORTED)
			t->stats.unsupported[t->rows[i].cfa]++;
}

int cfi__build(const struct elf_file *f, struct cfi_table *t)
{
	struct builder b = {
		.file = f, .rows = {.table = t, .instructions = MAX_INSTRUCTIONS}, .go.file = f};
	int err;

	*t = (struct cfi_table) {0};
	if (f->machine != CFI_MACHINE)
		return -ENODATA;
	err = take_segments(f, t);
	b.start = f->entry && is_code(t, f->entry, f->entry + ENTRY_SIZE) ? f->entry : UINT64_MAX;
	for (int kind = FRAME_EH; kind <= FRAME_DEBUG && !err; kind++) {
		err = eh_frame__find(f, kind, &b.sections[kind]);
		if (!err)
			err = collect(&b, &b.sections[kind]);
		else if (err == -ENODATA || b.nentries)
			err = 0;
	}
	if (!err)
		err = collect_go(&b);
	if (!err)
		err = b.nentries ? describe_all(&b) : -ENODATA;
	if (!err)
		count_unsupported(t);
	free(b.entries);
	return err;
}

int cfi__derive(const struct elf_file *f, uint64_t from, uint64_t to, struct cfi_table *t)
{
	struct cfi_rows rows = {.table = t};
	int err;

	*t = (struct cfi_table) {0};
	err = f->machine == CFI_MACHINE ? take_segments(f, t) : -ENODATA;
	err = err ? err : derive_range(&rows, f, from, to);
	return err ? err : t->n ? 0 : -ENODATA;
}

void cfi__free(struct cfi_table *t)
{
	free(t->rows);
	t->rows = NULL;
	t->n = 0;
}
