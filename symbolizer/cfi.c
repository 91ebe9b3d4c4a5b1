/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/cfi.h"

#include <errno.h>
#include <stdlib.h>
#include <dwarf.h>
#include <elf.h>

#include "symbolizer/frame.h"
#include "symbolizer/go.h"

#define PAGE		 4096
#define MAX_ENTRIES	 (1U << 20)
#define MAX_INSTRUCTIONS (16U << 20) /* five times those of the largest libraries */
#define MAX_DEPTH	 16	     /* of remembered states; compilers use 1 */
#define ENTRY_SIZE	 64	     /* bytes of code at an entry point that are taken for it */

/* DWARF numbers of registers. */
enum {
	RBP = 6,
	RSP = 7,
	RIP = 16,
};

/* Offsets in the kernel's signal frame, arch/x86/include/uapi/asm/sigcontext.h. */
enum {
	SIGNAL_RBP = 120,
	SIGNAL_RSP = 160,
	SIGNAL_RIP = 168,
};

struct expression {
	enum {
		EXPRESSION_NONE,
		EXPRESSION_DEREF, /* *(register + offset) + added */
		EXPRESSION_PLT,	  /* rsp + 8, and 8 more where pc % 16 >= offset */
		EXPRESSION_OTHER,
	} form;
	uint64_t reg;
	int64_t offset;
	uint64_t added;
};

/* Where a register of the caller is. */
struct place {
	enum {
		PLACE_SAME,
		PLACE_UNDEFINED,
		PLACE_CFA,	/* in memory, at CFA + offset */
		PLACE_MEMORY,	/* in memory, at register + offset */
		PLACE_REGISTER, /* in another register */
		PLACE_OTHER,
	} form;
	uint64_t reg;
	int64_t offset;
};

/* The CFA is at register + offset, or given by an expression, which leaves those two as they are. */
struct state {
	uint64_t reg;
	int64_t offset;
	struct expression expression;
	struct place rbp, rip;
};

struct builder {
	struct cfi_table *table;
	uint32_t room;			  /* in table->rows */
	struct frame_section sections[2]; /* by enum frame_kind */
	struct go_functions go;
	uint64_t *entries; /* see add_entry */
	uint32_t nentries;
	uint32_t instructions; /* that may still be executed */
	uint64_t start;	       /* where the file is entered, UINT64_MAX when it is not */

	/* The CIE last met; neighbours mostly share one. */
	const struct frame_section *cie_section;
	size_t cie_at;
	struct frame_cie cie;
	struct state initial; /* after its instructions */
	bool cie_usable;

	struct state remembered[MAX_DEPTH]; /* by the entry that is being executed */
};

/* Executes the instructions of one entry. */
struct machine {
	struct builder *builder;
	const struct frame_cie *cie;
	struct state state;
	unsigned int depth; /* states in builder->remembered */
	uint64_t at, end;   /* the addresses still to be described */
};

/* ---- rows ---- */

static bool same_rules(const struct qz_unwind_row *a, const struct qz_unwind_row *b)
{
	return a->cfa == b->cfa && a->rbp == b->rbp && a->kind == b->kind;
}

static int emit(struct builder *b, uint64_t vaddr, struct qz_unwind_row row)
{
	struct cfi_table *t = b->table;

	row.pc = (uint32_t)(vaddr - t->base);
	if (t->n && t->rows[t->n - 1].pc == row.pc)
		t->n--;
	if (t->n && same_rules(&t->rows[t->n - 1], &row))
		return 0;
	if (t->n == TABLE_MAX_ROWS)
		return -E2BIG;
	if (t->n == b->room) {
		uint32_t room = b->room ? 2 * b->room : 1024;
		struct qz_unwind_row *more = reallocarray(t->rows, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->rows = more;
		b->room = room;
	}
	t->rows[t->n++] = row;
	return 0;
}

static struct qz_unwind_row unsupported(enum qz_unwind_unsupported why)
{
	return (struct qz_unwind_row) {.kind = QZ_CFA_UNSUPPORTED, .cfa = (int16_t)why};
}

static bool in_words(int64_t offset, int64_t min, int64_t max)
{
	return offset % 8 == 0 && offset / 8 >= min && offset / 8 <= max;
}

/* The same for every program, so that it needs no other mark. */
static bool is_signal_frame(const struct state *s)
{
	const struct expression *cfa = &s->expression;

	return cfa->form == EXPRESSION_DEREF && cfa->reg == RSP && cfa->offset == SIGNAL_RSP &&
	       cfa->added == 0 && s->rip.form == PLACE_MEMORY && s->rip.reg == RSP &&
	       s->rip.offset == SIGNAL_RIP && s->rbp.form == PLACE_MEMORY && s->rbp.reg == RSP &&
	       s->rbp.offset == SIGNAL_RBP;
}

/*
 * glibc's vfork keeps its return address in a register, because the stack belongs to the child too:
 * it pops it before the system call and pushes it again behind. Either way it is still in the word
 * where it has been.
 */
static bool return_is_copied(const struct state *s)
{
	return s->rip.form == PLACE_REGISTER && s->expression.form == EXPRESSION_NONE &&
	       s->reg == RSP && (s->offset == 0 || s->offset == 8);
}

/* The row of a CFA, without rbp; of kind QZ_CFA_UNSUPPORTED when a row cannot hold it. */
static struct qz_unwind_row cfa_row(const struct state *s)
{
	const struct expression *e = &s->expression;
	bool is_plain = e->form == EXPRESSION_NONE;
	uint64_t reg = is_plain ? s->reg : e->reg;
	int64_t offset = is_plain ? s->offset : e->offset;
	struct qz_unwind_row row = {.cfa = (int16_t)(offset / 8)};

	if (e->form == EXPRESSION_PLT)
		return (struct qz_unwind_row) {.kind = QZ_CFA_PLT, .cfa = (int16_t)offset};
	if (e->form == EXPRESSION_OTHER)
		return unsupported(QZ_UNSUPPORTED_EXPRESSION);
	if (reg != RSP && reg != RBP)
		return unsupported(QZ_UNSUPPORTED_REGISTER);
	if (!in_words(offset, INT16_MIN, INT16_MAX))
		return unsupported(QZ_UNSUPPORTED_OFFSET);
	if (is_plain)
		row.kind = reg == RSP ? QZ_CFA_RSP : QZ_CFA_RBP;
	else if (reg == RSP && e->added == 8)
		row.kind = QZ_CFA_RSP_DEREF;
	else if (reg == RBP && e->added == 0)
		row.kind = QZ_CFA_RBP_DEREF;
	else
		return unsupported(QZ_UNSUPPORTED_EXPRESSION);
	return row;
}

static bool rbp_kind(const struct place *rbp, enum qz_rbp_kind *kind)
{
	switch (rbp->form) {
	case PLACE_SAME:
	case PLACE_UNDEFINED: /* nobody will miss it */
		*kind = QZ_RBP_SAME;
		return true;
	case PLACE_CFA:
		*kind = QZ_RBP_CFA;
		return in_words(rbp->offset, INT8_MIN, INT8_MAX);
	case PLACE_MEMORY:
		*kind = QZ_RBP_RBP;
		return rbp->reg == RBP && in_words(rbp->offset, INT8_MIN, INT8_MAX);
	default:
		return false;
	}
}

static struct qz_unwind_row make_row(const struct state *s)
{
	struct qz_unwind_row row;
	enum qz_rbp_kind rbp;

	if (s->rip.form == PLACE_UNDEFINED)
		return (struct qz_unwind_row) {.kind = QZ_CFA_END};
	if (is_signal_frame(s))
		return (struct qz_unwind_row) {.kind = QZ_CFA_SIGNAL};
	row = cfa_row(s);
	if (row.kind == QZ_CFA_UNSUPPORTED)
		return row;
	if (!(s->rip.form == PLACE_CFA && s->rip.offset == -8) && !return_is_copied(s))
		return unsupported(QZ_UNSUPPORTED_RETURN);
	if (!rbp_kind(&s->rbp, &rbp))
		return unsupported(QZ_UNSUPPORTED_RBP);
	row.kind = QZ_UNWIND_KIND(row.kind, rbp);
	if (rbp != QZ_RBP_SAME)
		row.rbp = (int8_t)(s->rbp.offset / 8);
	return row;
}

/* ---- expressions: recognized by their form ---- */

static bool read_block(struct reader *r, struct reader *block)
{
	uint64_t size;

	if (!reader__uleb128(r, &size))
		return false;
	block->at = r->at;
	if (!reader__skip(r, size))
		return false;
	block->end = r->at;
	return true;
}

static bool read_register_offset(struct reader *r, uint64_t *reg, int64_t *offset)
{
	uint8_t op;

	if (!reader__bytes(r, &op, 1) || op < DW_OP_breg0 || op > DW_OP_breg31)
		return false;
	*reg = op - DW_OP_breg0;
	return reader__sleb128(r, offset);
}

/* rsp + 8 + ((rip & 15) >= n) << 3: GNU ld's and LLD's description of lazy PLT entries. */
static bool is_plt(struct reader r, int64_t *n)
{
	static const uint8_t before[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and};
	static const uint8_t behind[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	const uint8_t *p = r.at;

	if (reader__left(&r) != sizeof(before) + 1 + sizeof(behind) ||
	    memcmp(p, before, sizeof(before)) != 0 ||
	    memcmp(p + sizeof(before) + 1, behind, sizeof(behind)) != 0)
		return false;
	*n = (int64_t)p[sizeof(before)] - DW_OP_lit0;
	return *n >= 0 && *n < 16;
}

static struct expression read_cfa_expression(struct reader r)
{
	struct expression other = {.form = EXPRESSION_OTHER}, e = {.form = EXPRESSION_DEREF};
	uint8_t op;

	if (is_plt(r, &e.offset)) {
		e.form = EXPRESSION_PLT;
		return e;
	}
	if (!read_register_offset(&r, &e.reg, &e.offset) || !reader__bytes(&r, &op, 1) ||
	    op != DW_OP_deref)
		return other;
	if (reader__left(&r) == 0)
		return e;
	if (!reader__bytes(&r, &op, 1) || op != DW_OP_plus_uconst ||
	    !reader__uleb128(&r, &e.added) || reader__left(&r))
		return other;
	return e;
}

static struct place read_place_expression(struct reader r)
{
	struct place place = {.form = PLACE_MEMORY};

	if (!read_register_offset(&r, &place.reg, &place.offset) || reader__left(&r))
		return (struct place) {.form = PLACE_OTHER};
	return place;
}

/* ---- instructions ---- */

static int64_t scale(int64_t number, int64_t factor)
{
	return (int64_t)((uint64_t)number * (uint64_t)factor);
}

static void set_place(struct machine *m, uint64_t reg, struct place place)
{
	if (reg == RBP)
		m->state.rbp = place;
	else if (reg == m->cie->return_address)
		m->state.rip = place;
}

static void set_offset(struct machine *m, uint64_t reg, int64_t number)
{
	struct place place = {PLACE_CFA, 0, scale(number, m->cie->data_factor)};

	set_place(m, reg, place);
}

static void restore(struct machine *m, uint64_t reg)
{
	const struct state *initial = &m->builder->initial;

	set_place(m, reg, reg == RBP ? initial->rbp : initial->rip);
}

/* Writes the row of the addresses up to the end, or to the new one when that comes first. */
static int advance(struct machine *m, uint64_t delta)
{
	uint64_t distance, left = m->end - m->at;
	int err;

	if (__builtin_mul_overflow(delta, m->cie->code_factor, &distance) || distance > left)
		distance = left;
	if (distance == 0)
		return 0;
	err = emit(m->builder, m->at, make_row(&m->state));
	m->at += distance;
	return err;
}

static int advance_by(struct machine *m, struct reader *r, size_t size)
{
	uint64_t delta;

	return reader__number(r, size, &delta) ? advance(m, delta) : -EINVAL;
}

static int remember(struct machine *m)
{
	if (m->depth == MAX_DEPTH)
		return -EINVAL;
	m->builder->remembered[m->depth++] = m->state;
	return 0;
}

static int recall(struct machine *m)
{
	if (m->depth == 0)
		return -EINVAL;
	m->state = m->builder->remembered[--m->depth];
	return 0;
}

static bool change_offset(struct machine *m, struct reader *r, bool factored)
{
	struct state *s = &m->state;

	if (!factored)
		return reader__uleb128(r, (uint64_t *)&s->offset);
	if (!reader__sleb128(r, &s->offset))
		return false;
	s->offset = scale(s->offset, m->cie->data_factor);
	return true;
}

/*
 * A register that is set after an expression is used with the offset from before it, as libgcc and
 * gdb do; libgcrypt counts on it. An offset that is set does not end an expression.
 */
static bool change_cfa(struct machine *m, uint8_t op, struct reader *r)
{
	struct state *s = &m->state;
	struct reader block;

	switch (op) {
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		s->expression.form = EXPRESSION_NONE;
		return reader__uleb128(r, &s->reg) && change_offset(m, r, op == DW_CFA_def_cfa_sf);
	case DW_CFA_def_cfa_register:
		s->expression.form = EXPRESSION_NONE;
		return reader__uleb128(r, &s->reg);
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		return change_offset(m, r, op == DW_CFA_def_cfa_offset_sf);
	case DW_CFA_def_cfa_expression:
		if (!read_block(r, &block))
			return false;
		s->expression = read_cfa_expression(block);
		return true;
	default:
		return false;
	}
}

/* The instructions that name a register whose place they change. */
static bool change_place(struct machine *m, uint8_t op, struct reader *r)
{
	struct place place = {.form = PLACE_OTHER};
	struct reader block;
	uint64_t reg, number;
	int64_t factored;

	if (!reader__uleb128(r, &reg))
		return false;
	switch (op) {
	case DW_CFA_offset_extended:
	case DW_CFA_GNU_negative_offset_extended:
		if (!reader__uleb128(r, &number))
			return false;
		set_offset(m, reg,
			   op == DW_CFA_offset_extended ? (int64_t)number : -(int64_t)number);
		return true;
	case DW_CFA_offset_extended_sf:
		if (!reader__sleb128(r, &factored))
			return false;
		set_offset(m, reg, factored);
		return true;
	case DW_CFA_restore_extended:
		restore(m, reg);
		return true;
	case DW_CFA_undefined:
		place.form = PLACE_UNDEFINED;
		break;
	case DW_CFA_same_value:
		place.form = PLACE_SAME;
		break;
	case DW_CFA_register:
		place.form = PLACE_REGISTER;
		if (!reader__uleb128(r, &place.reg))
			return false;
		break;
	case DW_CFA_expression:
		if (!read_block(r, &block))
			return false;
		place = read_place_expression(block);
		break;
	case DW_CFA_val_expression:
		if (!read_block(r, &block))
			return false;
		break;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		if (!reader__uleb128(r, &number))
			return false;
		break;
	default:
		return false;
	}
	set_place(m, reg, place);
	return true;
}

/* -EINVAL: makes no sense. */
static int execute(struct machine *m, uint8_t op, struct reader *r)
{
	uint64_t number;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(m, op & 0x3f);
	case DW_CFA_offset:
		if (!reader__uleb128(r, &number))
			return -EINVAL;
		set_offset(m, op & 0x3f, (int64_t)number);
		return 0;
	case DW_CFA_restore:
		restore(m, op & 0x3f);
		return 0;
	}
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_GNU_window_save: /* aarch64: how the return address is signed */
		return 0;
	case DW_CFA_advance_loc1:
		return advance_by(m, r, 1);
	case DW_CFA_advance_loc2:
		return advance_by(m, r, 2);
	case DW_CFA_advance_loc4:
		return advance_by(m, r, 4);
	case DW_CFA_remember_state:
		return remember(m);
	case DW_CFA_restore_state:
		return recall(m);
	case DW_CFA_GNU_args_size:
		return reader__uleb128(r, &number) ? 0 : -EINVAL;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		return change_cfa(m, op, r) ? 0 : -EINVAL;
	default:
		return change_place(m, op, r) ? 0 : -EINVAL;
	}
}

static int run(struct machine *m, struct reader r)
{
	uint8_t op;
	int err;

	while (reader__bytes(&r, &op, 1)) {
		if (m->builder->instructions == 0)
			return -E2BIG;
		m->builder->instructions--;
		err = execute(m, op, &r);
		if (err)
			return err;
	}
	return 0;
}

/* ---- entries ---- */

static int use_cie(struct builder *b, const struct frame_section *s, size_t at)
{
	struct machine m = {.builder = b, .cie = &b->cie};
	int err;

	if (b->cie_section == s && b->cie_at == at)
		return 0;
	b->cie_section = s;
	b->cie_at = at;
	b->cie_usable = frame__cie(s, at, &b->cie) && b->cie.return_address == RIP;
	b->initial = (struct state) {.expression.form = EXPRESSION_OTHER};
	if (!b->cie_usable)
		return 0;
	/* What has no address yet cannot advance: m.at == m.end. */
	err = run(&m, b->cie.instructions);
	b->initial = m.state;
	b->cie_usable = !err;
	return err == -EINVAL ? 0 : err;
}

/*
 * Entries are kept as the pc of their start, their source and where they are in it, in this order
 * from the highest bit: sorted as numbers, the last one of those that start together is taken.
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
	uint64_t key = (start - b->table->base) << 32 | (uint64_t)source << SOURCE_SHIFT;

	if (b->nentries == MAX_ENTRIES)
		return -E2BIG;
	if ((b->nentries & (b->nentries - 1)) == 0) { /* full at each power of two */
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

static int collect(struct builder *b, const struct frame_section *s)
{
	struct frame_entry entry;
	struct frame_fde fde;
	int err = 0;

	b->table->stats.bytes += (uint32_t)s->size;
	for (size_t at = 0; !err && frame__entry(s, at, &entry); at = entry.next) {
		if (entry.is_cie)
			continue;
		err = use_cie(b, s, entry.cie);
		if (err)
			break;
		if (b->cie_usable && frame__fde(s, &entry, &b->cie, &fde) &&
		    is_code(b->table, fde.start, fde.end))
			err = add_entry(b, s->kind == FRAME_EH ? SOURCE_EH : SOURCE_DEBUG, entry.at,
					fde.start);
		else
			b->table->stats.left_out++;
	}
	return err;
}

/* Writes the rows of an entry up to its end, at most up to the limit. *end: where that is. */
static int describe(struct builder *b, uint64_t key, uint64_t limit, uint64_t *end)
{
	const struct frame_section *s =
		&b->sections[source_of(key) == SOURCE_EH ? FRAME_EH : FRAME_DEBUG];
	struct machine m = {.builder = b, .cie = &b->cie};
	struct frame_entry entry;
	struct frame_fde fde;
	int err;

	frame__entry(s, key & ENTRY_AT, &entry);
	err = use_cie(b, s, entry.cie);
	if (err)
		return err;
	frame__fde(s, &entry, &b->cie, &fde);
	*end = fde.end < limit ? fde.end : limit;
	m.state = b->initial;
	m.at = fde.start;
	m.end = *end;
	err = run(&m, fde.instructions);
	if ((err && err != -EINVAL) || m.at == m.end)
		return err == -EINVAL ? 0 : err;
	return emit(b, m.at, err ? unsupported(QZ_UNSUPPORTED_BROKEN) : make_row(&m.state));
}

/* ---- functions of Go ---- */

static int collect_go(struct builder *b)
{
	struct go_function fn;
	int err = 0;

	if (go__find(b->go.file, &b->go))
		return 0;
	b->table->stats.bytes += (uint32_t)b->go.size;
	for (uint32_t i = 0; i < b->go.n && i < ENTRY_AT && !err; i++)
		if (go__function(&b->go, i, &fn) && is_code(b->table, fn.start, fn.end))
			err = add_entry(b, SOURCE_GO, i, fn.start);
		else
			b->table->stats.left_out++;
	return err;
}

/* Of one that has its own ways with the stack pointer; `only`: it has no frame anywhere. */
static struct qz_unwind_row framed_row(int64_t delta, bool only)
{
	if (only)
		return unsupported(QZ_UNSUPPORTED_REGISTER);
	if (delta == 0)
		return (struct qz_unwind_row) {.kind = QZ_CFA_RSP, .cfa = 1};
	return (struct qz_unwind_row) {
		.kind = QZ_UNWIND_KIND(QZ_CFA_FRAME, QZ_RBP_CFA), .cfa = 2, .rbp = -2};
}

static struct qz_unwind_row plain_row(int64_t delta)
{
	if (!in_words(delta, 0, INT16_MAX - 1))
		return unsupported(QZ_UNSUPPORTED_OFFSET);
	return (struct qz_unwind_row) {.kind = QZ_CFA_RSP, .cfa = (int16_t)(delta / 8 + 1)};
}

/* Whether the function has one range of addresses, which has no frame. */
static bool has_no_frame(struct go_function fn)
{
	struct go_delta delta = {fn.start, -1};

	return go__next(&fn, &delta) && delta.bytes == 0 && !go__next(&fn, &delta);
}

static int describe_frames(struct builder *b, struct go_function *fn, uint64_t *end)
{
	struct go_delta delta = {fn->start, -1};
	bool framed = fn->kind == GO_FRAMED, only = framed && has_no_frame(*fn);
	int err = 0;

	*end = fn->start;
	while (!err && go__next(fn, &delta)) {
		if (b->instructions == 0)
			return -E2BIG;
		b->instructions--;
		if (delta.end == *end)
			continue;
		err = emit(b, *end,
			   framed ? framed_row(delta.bytes, only) : plain_row(delta.bytes));
		*end = delta.end;
	}
	return err;
}

/*
 * Go takes one off a return address before it looks for its function, and so do we; a signal handler
 * returns to the very start of one.
 */
static int describe_go(struct builder *b, uint32_t i, uint64_t limit, uint64_t *end)
{
	struct qz_unwind_row row = {.kind = QZ_CFA_END};
	struct go_function fn;

	go__function(&b->go, i, &fn);
	if (fn.end > limit)
		fn.end = limit;
	if (fn.kind == GO_PLAIN || fn.kind == GO_FRAMED)
		return describe_frames(b, &fn, end);
	*end = fn.end;
	if (fn.kind == GO_SWITCH)
		row = (struct qz_unwind_row) {.kind = QZ_CFA_GO, .cfa = (int16_t)(fn.slot / 8)};
	if (fn.kind == GO_SIGNAL)
		row.kind = QZ_CFA_SIGNAL;
	return emit(b, fn.kind == GO_SIGNAL ? fn.start - 1 : fn.start, row);
}

static int number_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Addresses that no entry describes. The dynamic linker is entered in such ones: nobody has called
 * what is there.
 */
static int fill_gap(struct builder *b, uint64_t from, uint64_t to)
{
	const struct qz_unwind_row none = {.kind = QZ_CFA_NONE}, outermost = {.kind = QZ_CFA_END};
	int err = b->table->n ? emit(b, from, none) : 0;

	if (err || b->start < from || b->start >= to)
		return err;
	err = emit(b, b->start, outermost);
	if (!err && to - b->start > ENTRY_SIZE)
		err = emit(b, b->start + ENTRY_SIZE, none);
	return err;
}

static int describe_all(struct builder *b)
{
	uint64_t base = b->table->base, end = base;
	int err = 0;

	qsort(b->entries, b->nentries, sizeof(*b->entries), number_order);
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
		b->table->stats.entries++;
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
	struct builder b = {.table = t, .instructions = MAX_INSTRUCTIONS, .go.file = f};
	int err;

	*t = (struct cfi_table) {0};
	if (f->machine != EM_X86_64)
		return -ENODATA;
	err = take_segments(f, t);
	b.start = f->entry && is_code(t, f->entry, f->entry + ENTRY_SIZE) ? f->entry : UINT64_MAX;
	for (int kind = FRAME_EH; kind <= FRAME_DEBUG && !err; kind++) {
		err = frame__find(f, kind, &b.sections[kind]);
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

void cfi__free(struct cfi_table *t)
{
	free(t->rows);
	t->rows = NULL;
	t->n = 0;
}
