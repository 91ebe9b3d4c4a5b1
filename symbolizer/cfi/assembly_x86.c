/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64. A procedure is assumed to begin where nothing comes before, after padding, or at a
 * multiple of 16 that no code leads to; its return address is at the stack pointer then. The
 * assumption is checked: where the procedure returns, its return address must be at the stack
 * pointer again. Code after an indirect jump may be a part of the procedure, with registers on the
 * stack; how many, the way to its return shows. The same holds for aligned code after a call, which
 * may not return.
 */
#include "symbolizer/cfi/assembly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/cfi/stack_effect.h"

#define WINDOW	    (1U << 20) /* bytes that are analyzed together */
#define ALIGNMENT   16
#define NO_REGISTER 0xff
#define RBP_LOST    INT16_MIN

enum form {
	UNREACHED,
	BY_RSP,	   /* CFA = rsp + offset */
	BY_KEEPER, /* CFA = keeper + kept; rsp is unknown */
	BY_SLOT,   /* CFA = the word at rsp + slot, + kept */
	LOST,
};

/* Where the caller's frame is, before an instruction. */
struct frame {
	uint8_t form;
	uint8_t length; /* of the instruction */
	uint8_t behind; /* form of an unreached instruction if the call before it returns */
	uint8_t keeper; /* a register with an earlier value of the stack pointer, or NO_REGISTER */
	bool outermost; /* rbp was cleared and not saved: the ABI marks the outermost frame so */
	int16_t rbp;	/* position of the caller's rbp, in words from the CFA; 0: in rbp */
	int32_t offset, slot, kept;
};

struct start {
	uint32_t at;
	struct frame frame;
};

struct walk {
	const uint8_t *bytes;
	uint32_t size;
	uint64_t address; /* of bytes[0] */
	uint32_t *budget;
	struct frame *frames; /* indexed by byte */

	struct start *pending;
	uint32_t npending, room;
	uint32_t *reached; /* in the run */
	uint32_t nreached, reached_room;
	bool wrong;	       /* the run contradicts itself, or what was found before */
	int32_t missing;       /* how much more must have been on the stack, if that is why */
	int16_t restored_rbp;  /* where the run restored an rbp that it has not saved; 0: nowhere */
	bool returns;	       /* the run returns from a frame that was called outermost */
	struct frame indirect; /* the frame at an indirect jump of the procedure */
};

static const struct frame entry = {.form = BY_RSP, .keeper = NO_REGISTER, .offset = 8};

/* ---- what instructions do ---- */

static void lose(struct frame *f)
{
	f->form = f->keeper == NO_REGISTER || f->form == LOST ? LOST : BY_KEEPER;
}

static void move(struct frame *f, int32_t bytes)
{
	if (f->form == BY_RSP)
		f->offset -= bytes;
	else if (f->form == BY_SLOT)
		f->slot -= bytes;
}

static void save_rbp(struct frame *f, int32_t at)
{
	if (f->rbp != 0)
		return;
	f->rbp = f->form == BY_RSP ? (int16_t)((at - f->offset) / 8) : RBP_LOST;
}

static void restore_rbp(struct walk *w, struct frame *f, int32_t at)
{
	int16_t place = (int16_t)((at - f->offset) / 8);

	if (f->form != BY_RSP)
		return;
	if (f->rbp == 0)
		w->restored_rbp = place;
	else if (f->rbp == place)
		f->rbp = 0;
}

static void pop(struct walk *w, struct frame *f, uint8_t reg)
{
	if (reg == STACK_RBP)
		restore_rbp(w, f, 0);
	if (reg == f->keeper) {
		f->keeper = NO_REGISTER;
		if (f->form == BY_KEEPER)
			f->form = LOST;
	}
	move(f, 8);
}

/* Makes reg the keeper, unless the frame pointer is. */
static void keep(struct frame *f, uint8_t reg, int32_t offset)
{
	if (f->form == BY_RSP && f->keeper != STACK_RBP) {
		f->keeper = reg;
		f->kept = f->offset - offset;
	} else if (reg == f->keeper && f->form != BY_SLOT) {
		f->keeper = NO_REGISTER;
		if (f->form == BY_KEEPER)
			f->form = LOST;
	}
}

static void return_to(struct frame *f, uint8_t reg, int32_t offset)
{
	if (reg != f->keeper || f->form == LOST) {
		lose(f);
		return;
	}
	f->form = BY_RSP;
	f->offset = f->kept - offset;
}

static void store(struct frame *f, uint8_t reg, int32_t at)
{
	if (f->form == BY_KEEPER && reg == f->keeper && reg != STACK_RBP) {
		f->form = BY_SLOT;
		f->slot = at;
	} else if (reg == STACK_RBP && f->keeper != STACK_RBP) {
		save_rbp(f, at);
	}
}

static void apply(struct walk *w, struct frame *f, const struct stack_effect *e)
{
	switch (e->kind) {
	case STACK_PUSH:
		move(f, -8);
		if (e->reg == STACK_RBP)
			save_rbp(f, 0);
		break;
	case STACK_POP:
		pop(w, f, e->reg);
		break;
	case STACK_MOVE:
		move(f, e->value);
		break;
	case STACK_LOSE:
		lose(f);
		break;
	case STACK_KEEP:
		keep(f, e->reg, e->value);
		break;
	case STACK_RETURN_TO:
		return_to(f, e->reg, e->value);
		break;
	case STACK_STORE:
		store(f, e->reg, e->value);
		break;
	case STACK_LOAD:
		if (e->reg == STACK_RBP)
			restore_rbp(w, f, e->value);
		if (e->reg != STACK_RSP)
			break;
		if (f->form == BY_SLOT && e->value == f->slot) {
			f->form = BY_RSP;
			f->offset = f->kept;
		} else {
			f->form = LOST;
		}
		break;
	case STACK_LEAVE:
		return_to(f, STACK_RBP, 0);
		pop(w, f, STACK_RBP);
		break;
	case STACK_CLEAR:
		f->outermost |= e->reg == STACK_RBP && f->rbp == 0 && f->keeper != STACK_RBP;
		break;
	case STACK_NOTHING:
		break;
	}
}

/* ---- one run: what is reached from one address ---- */

static int grow(void **all, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room ? 2 * *room : 256;
	void *bigger;

	if (n < *room)
		return 0;
	bigger = reallocarray(*all, more, size);
	if (!bigger)
		return -ENOMEM;
	*all = bigger;
	*room = more;
	return 0;
}

static int add_pending(struct walk *w, int64_t at, const struct frame *f)
{
	if (at < 0 || at >= w->size)
		return 0;
	if (grow((void **)&w->pending, w->npending, &w->room, sizeof(*w->pending)))
		return -ENOMEM;
	w->pending[w->npending++] = (struct start) {(uint32_t)at, *f};
	return 0;
}

static int set_frame(struct walk *w, uint32_t at, const struct frame *f)
{
	if (grow((void **)&w->reached, w->nreached, &w->reached_room, sizeof(*w->reached)))
		return -ENOMEM;
	w->reached[w->nreached++] = at;
	w->frames[at] = *f;
	return 0;
}

/* The frame must be this far from the stack pointer here. */
static void expect(struct walk *w, const struct frame *f, int32_t offset)
{
	if (f->form == BY_RSP && f->offset == offset)
		return;
	w->wrong = true;
	if (f->form == BY_RSP && !w->missing)
		w->missing = offset - f->offset;
}

static void meet(struct walk *w, const struct frame *f, const struct frame *other)
{
	w->returns |= f->outermost && !other->outermost;
	if (other->form == BY_RSP)
		expect(w, f, other->offset);
	else if (other->form != f->form && other->form != LOST)
		w->wrong = true;
}

static bool decode(struct walk *w, uint32_t at, struct stack_instruction *in)
{
	if (*w->budget == 0)
		return false;
	(*w->budget)--;
	return stack_effect__read(w->bytes + at, w->size - at, in);
}

/*
 * Whether another procedure may begin after the call that ends at an offset, because the callee
 * does not return. Compilers align loops, too; then the code that leads there decides.
 */
static bool may_end(struct walk *w, uint32_t at, const struct frame *f)
{
	uint32_t padding;

	while (at < w->size && (padding = stack_effect__padding(w->bytes + at, w->size - at)))
		at += padding;
	if ((w->address + at) % ALIGNMENT)
		return false;
	if (at < w->size && w->frames[at].form == UNREACHED) {
		w->frames[at] = *f;
		w->frames[at].form = UNREACHED;
		w->frames[at].behind = f->form;
	}
	return true;
}

/* Follows the code from an offset until it ends. */
static int follow(struct walk *w, uint32_t at, struct frame f)
{
	while (at < w->size) {
		struct stack_instruction in;

		if (w->frames[at].form != UNREACHED) {
			meet(w, &f, &w->frames[at]);
			return 0;
		}
		if (!decode(w, at, &in)) {
			w->wrong = true;
			return 0;
		}
		f.length = (uint8_t)in.length;
		if (set_frame(w, at, &f))
			return -ENOMEM;
		apply(w, &f, &in.effect);
		at += in.length;
		if (in.flow == STACK_RETURNS) {
			expect(w, &f, 8);
			w->returns |= f.outermost;
		} else if (in.flow == STACK_LEAVES) {
			w->indirect = f;
		}
		if ((in.flow == STACK_BRANCHES || in.flow == STACK_JUMPS) &&
		    add_pending(w, (int64_t)at + in.target, &f))
			return -ENOMEM;
		if (in.flow != STACK_GOES_ON && in.flow != STACK_BRANCHES &&
		    (in.flow != STACK_CALLS || may_end(w, at, &f)))
			return 0;
	}
	return 0;
}

static int run(struct walk *w, uint32_t at, const struct frame *from)
{
	int err = 0;

	w->npending = w->nreached = 0;
	w->wrong = w->returns = false;
	w->missing = 0;
	w->restored_rbp = 0;
	err = add_pending(w, at, from);
	while (!err && w->npending) {
		struct start start = w->pending[--w->npending];

		err = follow(w, start.at, start.frame);
	}
	return err;
}

static void forget(struct walk *w)
{
	for (uint32_t i = 0; i < w->nreached; i++)
		w->frames[w->reached[i]] = (struct frame) {.form = UNREACHED};
}

static void give_up(struct walk *w)
{
	for (uint32_t i = 0; i < w->nreached; i++)
		w->frames[w->reached[i]].form = LOST;
}

/* A procedure that returns has a caller; its rbp was lost, or saved unseen. */
static void has_caller(struct walk *w)
{
	for (uint32_t i = 0; i < w->nreached; i++)
		w->frames[w->reached[i]].outermost = false;
}

/* Runs from an address, and again with what the first run has found. */
static int attempt(struct walk *w, uint32_t at, struct frame from)
{
	struct frame before = w->indirect;
	int err = run(w, at, &from);
	bool again = w->wrong ? w->missing > 0 : w->restored_rbp != 0 && from.rbp == 0;

	if (err)
		return err;
	if (again) {
		from.offset += w->missing;
		if (w->restored_rbp)
			from.rbp = (int16_t)(w->restored_rbp - w->missing / 8);
		w->indirect = before;
		forget(w);
		err = run(w, at, &from);
	}
	return err;
}

/* Runs from an address with one frame; if that contradicts itself, with the other one, if any. */
static int explore(struct walk *w, uint32_t at, struct frame from, struct frame other)
{
	struct frame before = w->indirect;
	int err = attempt(w, at, from);

	if (!err && w->wrong && other.form != UNREACHED) {
		w->indirect = before;
		forget(w);
		err = attempt(w, at, other);
	}
	if (!err && w->returns)
		has_caller(w);
	if (!err && w->wrong)
		give_up(w);
	return err;
}

/* Runs from the next unreached code. After padding, it most likely begins a procedure. */
static int explore_next(struct walk *w, uint32_t at, bool padded)
{
	bool begins = padded || (w->address + at) % ALIGNMENT == 0;
	struct frame from = entry, behind = w->frames[at];

	if (padded)
		w->indirect.form = UNREACHED;
	if (!begins && w->indirect.form != UNREACHED)
		from = w->indirect;
	behind.form = behind.behind;
	behind.behind = UNREACHED;
	return padded || behind.form == UNREACHED ? explore(w, at, from, behind)
						  : explore(w, at, behind, from);
}

/* ---- all of it ---- */

static int explore_all(struct walk *w)
{
	bool padded = true;
	uint32_t at = 0;
	int err = 0;

	while (!err && at < w->size && *w->budget) {
		uint32_t padding = stack_effect__padding(w->bytes + at, w->size - at);

		if (w->frames[at].form != UNREACHED) {
			at += w->frames[at].length;
			padded = false;
		} else if (padding) {
			at += padding;
			padded = true;
		} else {
			err = explore_next(w, at, padded);
			if (w->frames[at].form == UNREACHED) /* cannot be decoded */
				at++;
		}
	}
	return err;
}

/* The DWARF number of a register. The first registers have other numbers in instructions. */
static uint64_t dwarf_number(uint8_t reg)
{
	static const uint8_t first[] = {0, 2, 1, 3, 7, 6, 4, 5};

	return reg < sizeof(first) ? first[reg] : reg;
}

static struct qz_unwind_row row_of(const struct frame *f)
{
	const struct qz_unwind_row none = {.kind = QZ_CFA_NONE | QZ_UNWIND_DERIVED};
	struct qz_unwind_row row = {0};
	int32_t at = f->form == BY_RSP ? f->offset : f->kept;

	if (f->form == UNREACHED || f->form == LOST)
		return none;
	if (f->outermost)
		return (struct qz_unwind_row) {.kind = QZ_CFA_END | QZ_UNWIND_DERIVED};
	if (!cfi_row__in_words(at, 1, INT16_MAX))
		return none;
	if (f->rbp < INT8_MIN)
		return cfi_row__unsupported(QZ_UNSUPPORTED_RBP);
	row.kind = QZ_CFA_RSP;
	row.cfa = (int16_t)(at / 8);
	row.rbp = (int8_t)f->rbp;
	if (f->form == BY_KEEPER) {
		if (f->keeper == STACK_RBP) {
			row.kind = QZ_CFA_RBP;
		} else {
			row = cfi_row__by_register(dwarf_number(f->keeper), at);
			if (row.kind == QZ_CFA_UNSUPPORTED)
				return row;
			row.rbp = (int8_t)f->rbp;
		}
	} else if (f->form == BY_SLOT) {
		if (!cfi_row__in_words(f->slot, 0, QZ_UNWIND_SLOT_MAX) ||
		    at / 8 > QZ_UNWIND_SLOT_ADDED_MAX)
			return cfi_row__unsupported(QZ_UNSUPPORTED_OFFSET);
		row.kind = QZ_CFA_RSP_SLOT;
		row.cfa = (int16_t)QZ_UNWIND_SLOT(f->slot / 8, at / 8);
	}
	row.kind = QZ_UNWIND_KIND(row.kind, f->rbp ? QZ_RBP_CFA : QZ_RBP_SAME) | QZ_UNWIND_DERIVED;
	return row;
}

static int emit_rows(const struct walk *w, struct cfi_rows *rows)
{
	int err = 0;

	for (uint32_t at = 0; !err && at < w->size;) {
		struct qz_unwind_row row = row_of(&w->frames[at]);

		err = cfi_rows__emit(rows, w->address + at, row);
		at += w->frames[at].form == UNREACHED ? 1 : w->frames[at].length;
	}
	return err ? err
		   : cfi_rows__emit(rows, w->address + w->size,
				    (struct qz_unwind_row) {.kind = QZ_CFA_NONE});
}

static int derive_window(struct walk *w, struct cfi_rows *rows)
{
	int err;

	w->frames = calloc(w->size, sizeof(*w->frames));
	if (!w->frames)
		return -ENOMEM;
	w->indirect = (struct frame) {.form = UNREACHED};
	err = explore_all(w);
	err = err ? err : emit_rows(w, rows);
	free(w->frames);
	free(w->pending);
	free(w->reached);
	return err;
}

int assembly__derive(struct cfi_rows *rows, const uint8_t *bytes, size_t size, uint64_t from,
		     uint32_t *budget)
{
	int err = 0;

	size_t begin = 0;
	uint32_t padding;

	/* most gaps are only padding */
	while ((padding = stack_effect__padding(bytes + begin, size - begin)))
		begin += padding;
	for (size_t at = begin; !err && at < size && *budget; at += WINDOW) {
		struct walk w = {.bytes = bytes + at,
				 .size = (uint32_t)(size - at < WINDOW ? size - at : WINDOW),
				 .address = from + at,
				 .budget = budget};

		err = derive_window(&w, rows);
	}
	return err;
}

/*
 * The end is after an instruction that does not continue, if no jump has led beyond it. Farther
 * jumps are tail calls.
 */
size_t assembly__extent(const uint8_t *bytes, size_t size)
{
	size_t at = 0, furthest = 0;

	while (at < size) {
		struct stack_instruction in;
		bool is_short;

		if (!stack_effect__read(bytes + at, size - at, &in))
			return size;
		at += in.length;
		is_short = in.flow == STACK_BRANCHES || in.length == 2;
		if ((in.flow == STACK_BRANCHES || in.flow == STACK_JUMPS) && is_short &&
		    in.target > 0 && at + (size_t)in.target > furthest)
			furthest = at + (size_t)in.target;
		if (in.flow != STACK_GOES_ON && in.flow != STACK_BRANCHES &&
		    in.flow != STACK_CALLS && at > furthest)
			return at;
	}
	return size;
}
