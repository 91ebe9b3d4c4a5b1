/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unwinder: from the user registers of a thread to the return addresses of its frames, by the
 * tables of include/quartz/unwind.h. Uses nothing but map look-ups and reads of user memory, so that
 * it can be compiled as ordinary C and tested on recorded stacks.
 *
 * A step is a global function, which the verifier checks once and not once per frame: that is what
 * makes 127 frames possible on Linux 5.15, which has no bpf_loop.
 */
#ifndef QUARTZ_UNWIND_BPF_H
#define QUARTZ_UNWIND_BPF_H

/* Frames that are walked at all. Recursion deeper than this is cut at the outer end. */
#define MAX_DEPTH   32768
#define DEPTH_BLOCK 8
#define MARK_BLOCK                                                                                 \
	128 /* as many blocks: the verifier follows a turn for each frame of one, and one for each */

/*
 * Of a deep stack, the frames between the inner and the outer ones are not kept, and the outer ones hardly change. Once a
 * walk of a thread has reached the end, the next ones go from the inner frames at once to a frame that it has marked near the
 * end, and on from there. That is so as long as the return address is still at its place: who would walk all of the frames a
 * thousand times a second would take longer than the thread.
 */
#define MARK_FROM QZ_USER_FRAMES	       /* the frame from which a walk may go there */
#define MARK_DEEP (MARK_FROM + 2 * MARK_BLOCK) /* the fewest frames of a stack that is worth it */
#define MARK_SPAN (16ull << 20)		       /* bytes between: further away is another stack */

/*
 * Stack below the return address that assembly without a description may use: x264's trellis takes
 * more than 4 KiB. The scan reads it in blocks of so many words. Each block lies in one page: a page that was never touched
 * cannot be read.
 */
#define SCAN_WORDS  128
#define SCAN_BLOCKS 8
/* What is as near to the stack pointer as this is taken for an address of the stack. */
#define STACK_SPAN (1ull << 20)

#define REGION_STEPS 17 /* of a binary search over all regions that there can be */
#define ROW_STEPS    24 /* the same for all rows */
#define ROW_BLOCK    4

/* Of a system call that makes a thread or process. */
enum unwind_clone {
	UNWIND_NO_CLONE,
	UNWIND_CLONE,	  /* it is the system call, or the new process on a copy of the stack */
	UNWIND_NEW_STACK, /* it is the new thread or process, on a stack that has no frame yet */
};

/* Frames that can be kept: of C, and after them of Python. A power of two. */
#define QZ_ALL_FRAMES (QZ_USER_FRAMES + QZ_PYTHON_FRAMES)

/* See python.bpf.h. The verifier knows no exact bound of an offset into `raw` and `code`: they are a power of two long. */
struct python_walk {
	struct qz_python_layout layout;
	u64 thread;	 /* its state; or, odd, when there was none; 0: not known */
	u64 interpreter; /* whose threads are searched next */
	u64 frame;	 /* the next one */
	u64 outermost;	 /* of Ruby: it is none */
	u32 image, zero;
	u64 raw[16];
	u64 code[32];
	struct qz_python_code told;
};

/* See unwind__creators. */
struct goroutine_walk {
	u64 creator, ancestors;	  /* as in its g: the next one, 0: none; where the slice is */
	u64 ancestor, nancestors; /* as in the slice: the next one */
	u64 awaited; /* is among the addresses that are read: those after it are kept; 0: it was found */
	u64 pcs; /* the next of these */
	u32 npcs, zero;
};

struct unwinding {
	u64 ip, sp, bp;
	u32 depth; /* frames walked */
	u32 end;   /* enum qz_unwind_end */
	struct qz_unwind_image image;
	u64 age;	    /* see image__age */
	u32 region;	    /* where the last frame was, or any */
	u32 low, count;	    /* rows that are searched */
	u32 at_clone;	    /* enum unwind_clone */
	u32 guessed;	    /* the innermost caller was found by unwind__scan */
	u32 derived;	    /* frames left by rows that were derived from code */
	u32 unready;	    /* a table that is not there yet was wanted */
	u32 asked;	    /* rows for code that nothing describes were */
	u64 thread_pointer; /* fs base */
	u64 registers;	    /* where the kernel has those of the innermost frame, 0: not known */
	u64 probe; /* of unwind__leads_on: where its word was found, and the word of the next frame */
	u64 place; /* of unwind__scan_word: where its word was found */
	u32 at_python; /* the last region of Python's interpreter that a frame was in, + 1; 0: none was */
	u32 npython; /* frames of Python walked */
	u32 led;     /* the last frame that was not reached by a return address in a row's place */
	struct qz_unwind_mark mark;	/* of the thread: by the last deep walk, or by this one */
	struct qz_unwind_mark marks[2]; /* of the last blocks of frames, in turn */
	u32 blocks;			/* that were begun */
	u32 creators; /* the last frames of C are so many of who has started the goroutine */
	struct goroutine_walk go;
	u64 frames[QZ_ALL_FRAMES];
	u64 scan[SCAN_WORDS];
	struct python_walk python;
};

/* Frames in u->frames. */
static __always_inline u32 unwind__frames(const struct unwinding *u)
{
	return u->depth < QZ_USER_FRAMES ? u->depth : QZ_USER_FRAMES;
}

/* Without those of who has started a goroutine. */
static __always_inline u32 unwind__own_frames(const struct unwinding *u)
{
	return u->depth < QZ_USER_FRAMES ? u->depth - u->creators : QZ_USER_FRAMES;
}

/* Frames of Python after them. */
static __always_inline u32 unwind__python_frames(const struct unwinding *u)
{
	return u->npython < QZ_PYTHON_FRAMES ? u->npython : QZ_PYTHON_FRAMES;
}

/* Where the i-th frame is kept: the first QZ_INNER_FRAMES stay, the rest is a ring of the last ones. See qz_kept_frame(). */
static __always_inline u32 unwind__place(u32 i)
{
	return i < QZ_INNER_FRAMES ? i : QZ_INNER_FRAMES + i % QZ_OUTER_FRAMES;
}

static __always_inline void unwind__store(struct unwinding *u)
{
	u->frames[unwind__place(u->depth) & (QZ_USER_FRAMES - 1)] = u->ip;
	u->depth++;
}

static __always_inline struct qz_unwind_region *region__get(u32 index)
{
	return bpf_map_lookup_elem(&unwind_regions, &index);
}

static __always_inline bool region__holds(const struct qz_unwind_region *r, u64 pc)
{
	return r && pc >= r->start && pc < r->end;
}

/*
 * One step of a binary search: `before` is -1 when what is searched for comes before the middle, else 0.
 * Without a branch, each of which the verifier would follow at each step.
 */
static __always_inline void unwind__halve(u32 *low, u32 *count, u32 half, u32 before)
{
	*low += ~before & (half + 1);
	*count = (before & half) | (~before & (*count - half - 1));
}

/* Whether a region holds the pc, which is u->region then. A function of its own, as the next one: the verifier follows it once. */
__noinline int unwind__search_regions(struct unwinding *u, u64 pc)
{
	struct qz_unwind_region *r;
	u32 low, count;

	if (!u)
		return false;
	low = u->image.first;
	count = u->image.count;
	for (int i = 0; i < REGION_STEPS && count; i++) {
		u32 half = count / 2;

		r = region__get(low + half);
		if (!r)
			break;
		unwind__halve(&low, &count, half, (s64)(pc - r->end) >> 63);
	}
	if (low - u->image.first >= u->image.count || !region__holds(region__get(low), pc))
		return false;
	u->region = low;
	return true;
}

static __always_inline struct qz_unwind_region *unwind__find_region(struct unwinding *u, u64 pc)
{
	struct qz_unwind_region *r = region__get(u->region);

	if (region__holds(r, pc))
		return r;
	return unwind__search_regions(u, pc) ? region__get(u->region) : NULL;
}

/* A row, or a block of an index; NULL: there is none. */
static __always_inline void *unwind__row(u32 at)
{
	u32 piece = at / QZ_UNWIND_PIECE, place = at % QZ_UNWIND_PIECE;
	void *rows = bpf_map_lookup_elem(&unwind_rows, &piece);

	return rows ? bpf_map_lookup_elem(rows, &place) : NULL;
}

/* Some steps of a search among the `count` rows from `low` on. Whether no more are needed. */
__noinline int unwind__search_rows(struct unwinding *u, u64 wanted)
{
	u32 low, count;

	if (!u)
		return true;
	low = u->low;
	count = u->count;
	for (int i = 0; i < ROW_BLOCK && count; i++) {
		u32 half = count / 2, at = low + half;
		struct qz_unwind_row *row = unwind__row(at);

		if (!row)
			return true;
		unwind__halve(&low, &count, half, (s64)(wanted - row->pc) >> 63);
	}
	u->low = low;
	u->count = count;
	return !count;
}

/*
 * By the index, the part of the table that is to be searched: the rows before `low` begin before `wanted`, and
 * those behind the next `count` after it. In the whole of it, half of the steps wait for memory.
 */
static __always_inline void region__narrow(const struct qz_unwind_region *r, u64 wanted, u32 *low,
					   u32 *count)
{
	u64 number = QZ_UNWIND_BLOCK(wanted) - r->block;
	u32 at = r->first - r->blocks + (u32)number;
	const struct qz_unwind_block *block;
	u64 both;

	if (number >= r->blocks)
		return;
	block = unwind__row(at);
	if (!block)
		return;
	both = *(volatile u64 *)block; /* quartzd may just lead it elsewhere */
	*low += (u32)both;
	*count = both >> 32;
}

/*
 * The row that holds for pc: the last one that does not begin after it. None if quartzd has replaced the rows during the
 * search, see fill_region() in daemon/unwind/unwind_tables.c.
 */
static __always_inline struct qz_unwind_row *
unwind__find_row(struct unwinding *u, const struct qz_unwind_region *r, u64 pc)
{
	u64 wanted = pc - r->bias;
	u32 n = *(volatile u32 *)&r->count, low, first, count = n;

	if (wanted >> 32)
		return NULL;
	asm volatile("" ::: "memory");
	low = first = r->first;
	region__narrow(r, wanted, &low, &count);
	u->low = low;
	u->count = count;
	for (int i = 0; i < ROW_STEPS / ROW_BLOCK; i++)
		if (unwind__search_rows(u, wanted))
			break;
	low = u->low;
	asm volatile("" ::: "memory");
	if (low == first || *(volatile u32 *)&r->count != n)
		return NULL;
	return unwind__row(low - 1);
}

/* Whether code has a table, or will have one. */
static __always_inline bool region__is_described(const struct qz_unwind_region *r)
{
	return r->count || r->first >= QZ_UNWIND_WANTED;
}

/* Asks for the table of a region that has none. */
static __always_inline void unwind__want(struct unwinding *u, struct qz_unwind_region *r)
{
	if (r->first < QZ_UNWIND_WANTED)
		return;
	__sync_val_compare_and_swap(&r->first, QZ_UNWIND_PENDING, QZ_UNWIND_WANTED);
	u->unready = 1;
}

/*
 * Asks for what the code of a frame tells, which nothing describes; of clone it is known. Where it is is read anew: the
 * stack has no room to keep it.
 */
static __always_inline void unwind__want_derived(struct unwinding *u, struct qz_unwind_region *r)
{
	if (!r->derived || (u->depth == 1 && u->at_clone))
		return;
	__sync_val_compare_and_swap(&r->derived, QZ_UNWIND_PENDING,
				    (u32)(u->ip - (u->depth > 1) - r->bias));
	u->asked = 1;
}

static __always_inline int unwind__stop(struct unwinding *u, u32 why)
{
	u->end = why;
	return 1;
}

/* The caller's frame begins at cfa, and its code is at ip. */
static __always_inline int unwind__enter(struct unwinding *u, u64 cfa, u64 ip)
{
	if (!ip)
		return unwind__stop(u, QZ_UNWIND_OUTERMOST);
	/* vfork has popped its return address at the system call: its caller's frame begins there. */
	if (cfa < u->sp || (cfa == u->sp && u->depth > 1))
		return unwind__stop(u, QZ_UNWIND_BACKWARDS);
	u->sp = cfa;
	u->ip = ip;
	return 0;
}

/* Code without a table: it is taken to keep frame pointers, as JIT compilers and Go do. */
static __always_inline int unwind__by_frame_pointer(struct unwinding *u)
{
	u64 saved[2], bp = u->bp;

	if (!bp)
		return unwind__stop(u, QZ_UNWIND_OUTERMOST);
	if (bp < u->sp || bp & 7)
		return unwind__stop(u, QZ_UNWIND_BACKWARDS);
	if (bpf_probe_read_user(saved, sizeof(saved), (void *)bp))
		return unwind__stop(u, QZ_UNWIND_FAULT);
	u->led = u->depth;
	u->bp = saved[0];
	return unwind__enter(u, bp + 16, saved[1]);
}

/* The return address that a probe has replaced at a place of the stack, where that can be known. */
#ifndef UNWIND_REPLACED
#define UNWIND_REPLACED(place) 0
#endif

/* Whether the caller's code cannot be read: so in a copy of a stack. */
#ifndef UNWIND_NO_CODE
#define UNWIND_NO_CODE false
#endif

#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
#include "bpf/unwind_x86.bpf.h"
#else
#error "no bpf/unwind_*.bpf.h for this architecture"
#endif

static __always_inline bool unwind__is_described(struct unwinding *u, u64 word)
{
	struct qz_unwind_region *r;

	if (word < 4096 || word >> 47)
		return false;
	r = unwind__find_region(u, word - 1);
	return r && region__is_described(r);
}

static __always_inline bool unwind__is_return_address(struct unwinding *u, u64 word)
{
	return unwind__is_described(u, word) && follows_call(word);
}

/*
 * Whether the address of a frame, which is in described code, follows upon no call. A function that makes the stack of a
 * coroutine, as makecontext does, stores there the address to run on return; above it the stack has what the memory held
 * before.
 */
__noinline int unwind__was_put(struct unwinding *u, u32 frame)
{
	u64 word, ip;

	if (!u)
		return false;
	ip = u->frames[unwind__place(frame) & (QZ_USER_FRAMES - 1)];
	return frame > u->led && unwind__is_described(u, ip + 1) &&
	       !bpf_probe_read_user(&word, sizeof(word), (void *)(ip - sizeof(word))) &&
	       !follows_call(ip);
}

struct unwind_scan {
	struct unwinding *u;
	u64 from;
};

/* Whether the search ends, at the i-th word, which is at `place`. The return address is at u->place. */
__noinline int unwind__guess_by_word(struct unwinding *u, u32 i, u64 place)
{
	u64 word;

	if (!u || u->bp - u->place < STACK_SPAN || place >= u->place)
		return true;
	word = u->scan[i & (SCAN_WORDS - 1)];
	if (place >= u->sp && word - u->place < STACK_SPAN && !(word & 7))
		u->bp = word;
	return false;
}

/* As a turn of a loop. */
static long unwind__guess_turn(u32 i, struct unwind_scan *scan)
{
	return unwind__guess_by_word(scan->u, i, scan->from + i * 8) != 0;
}

/*
 * Whether a word, found at u->probe, can be the return address: its code says where the one of the
 * next frame is. What earlier calls have left in a large frame leads nowhere. True where the
 * code does not tell.
 */
static __always_inline bool unwind__leads_on(struct unwinding *u, u64 word)
{
	struct qz_unwind_region *r;
	struct qz_unwind_row *row;
	u64 slot;

	r = region__get(u->region); /* where it was just found to be */
	row = region__holds(r, word - 1) && r->count ? unwind__find_row(u, r, word - 1) : NULL;
	if (!row || QZ_UNWIND_CFA(row->kind) != QZ_CFA_RSP)
		return true;
	slot = u->probe + (s64)row->cfa * 8;
	return !bpf_probe_read_user(&u->probe, sizeof(u->probe), (void *)slot) &&
	       unwind__is_return_address(u, u->probe);
}

/* Whether the i-th of the words, which is at an address, is the return address. */
static __always_inline bool unwind__finds_word(struct unwinding *u, u32 i, u64 at)
{
	u64 word;

	if (at < u->sp)
		return false;
	word = u->scan[i & (SCAN_WORDS - 1)];
	if (!unwind__is_return_address(u, word))
		return false;
	u->probe = at;
	if (!unwind__leads_on(u, word))
		return false;
	u->place = at;
	return true;
}

/* As a turn of a loop. */
static long unwind__scan_turn(u32 i, struct unwind_scan *scan)
{
	return unwind__finds_word(scan->u, i, scan->from + i * 8);
}

/* Of a loop of its own: a call more in each turn is one too many where there are others. */
__noinline int unwind__scan_word(struct unwinding *u, u32 i, u64 at)
{
	return u && unwind__finds_word(u, i, at);
}

/* Whether the return address is among the words from an address on; then the frame is left. */
__noinline int unwind__scan_block(struct unwinding *u, u64 from)
{
	struct unwind_scan scan = {u, from};

	if (!u || bpf_probe_read_user(u->scan, sizeof(u->scan), (void *)from))
		return false;
	u->place = 0;
	if (HAS_BPF_LOOP)
		bpf_loop(SCAN_WORDS, unwind__scan_turn, &scan, 0);
	for (int i = 0; !HAS_BPF_LOOP && i < SCAN_WORDS; i++)
		if (unwind__scan_word(u, i, from + i * 8))
			break;
	if (!u->place)
		return false;
	/* rbp as the caller had it: unchanged, or pushed below the return address */
	LOOP(SCAN_WORDS, unwind__guess_turn, &scan);
	u->ip = u->scan[(u->place - from) / 8 & (SCAN_WORDS - 1)];
	u->sp = u->place + 8;
	u->guessed++;
	return true;
}

/*
 * The innermost frames are in hand-written assembly without call frame information, of a codec for instance:
 * leaves that have pushed a few registers, or keep a table on the stack. The first word on the stack
 * that is the address after a call, in described code, is taken for its return address. 0 when there
 * is one.
 */
static __always_inline int unwind__scan(struct unwinding *u)
{
	u64 from = u->sp & -sizeof(u->scan);

	for (int i = 0; i < SCAN_BLOCKS; i++)
		if (unwind__scan_block(u, from + i * sizeof(u->scan)))
			return 0;
	return 1;
}

/*
 * Code of a module that describes its other code. glibc's description of clone and clone3 ends
 * before the system call. Else it is assembly, or was made by a compiler of its own that keeps frame pointers, such as V8's builtins.
 * unsupported: a row describes it, of a frame that hangs from another register, as assembly's do.
 */
static __always_inline int unwind__undescribed(struct unwinding *u, bool unsupported)
{
	if (!unsupported && u->depth == 1 && u->at_clone)
		return unwind__at_clone(u);
	if (!unsupported && unwind__was_put(u, u->depth - 1)) {
		u->depth--;
		return unwind__stop(u, QZ_UNWIND_OUTERMOST);
	}
	if ((unsupported || u->depth == u->guessed + u->derived + 1) && !unwind__scan(u))
		return 0;
	if (unsupported)
		return unwind__stop(u, QZ_UNWIND_UNSUPPORTED);
	if (unwind__by_frame_pointer(u))
		return unwind__stop(u, QZ_UNWIND_NO_ROW);
	return 0;
}

/* By the frame pointer, to an address after a call in code that is known. */
static __always_inline bool unwind__to_known_code(struct unwinding *u)
{
	return !unwind__by_frame_pointer(u) && unwind__search_regions(u, u->ip - 1) &&
	       follows_call(u->ip);
}

/*
 * The innermost frame is in code that quartzd has not seen yet, since it was made or mapped a moment ago. The caller is where
 * the frame pointer leads, or the first word on the stack that looks like a return address: whichever is nearer, since code
 * that keeps no frame pointers has that of a caller further out.
 */
static __always_inline int unwind__unseen(struct unwinding *u)
{
	u64 ip, sp, bp, nearest = 0, nearest_sp = 0, nearest_bp = 0;

	if (u->depth != 1)
		return unwind__stop(u, QZ_UNWIND_NO_REGION);
	u->asked = 1;
	ip = u->ip;
	sp = u->sp;
	bp = u->bp;
	if (!unwind__scan(u)) {
		if (u->sp <= bp + 16)
			return 0;
		nearest = u->ip;
		nearest_sp = u->sp;
		nearest_bp = u->bp;
		u->ip = ip;
		u->sp = sp;
		u->bp = bp;
	}
	if (unwind__to_known_code(u)) {
		u->guessed = 1;
		return 0;
	}
	if (!nearest)
		return unwind__stop(u, QZ_UNWIND_NO_REGION);
	u->end = QZ_UNWIND_TOO_DEEP;
	u->ip = nearest;
	u->sp = nearest_sp;
	u->bp = nearest_bp;
	return 0;
}

/* Finds the goroutine that the thread runs, 0: none, and its m. Not 0: memory cannot be read. */
static __always_inline long unwind__find_goroutine(const struct unwinding *u,
						   const struct qz_unwind_row *row, u64 *g, u64 *m)
{
	return bpf_probe_read_user(g, sizeof(*g),
				   (void *)(u->thread_pointer + (s64)row->cfa * 8)) ||
	       bpf_probe_read_user(m, sizeof(*m), (void *)(*g + QZ_GO_G_M)) ||
	       bpf_probe_read_user(g, sizeof(*g), (void *)(*m + QZ_GO_M_CURG));
}

/* The end of a goroutine's stack. What has started it is to be walked. */
static __always_inline int unwind__end_goroutine(struct unwinding *u,
						 const struct qz_unwind_row *row)
{
	struct goroutine_walk *go = &u->go;
	u64 g, m;

	if (!unwind__find_goroutine(u, row, &g, &m) && g &&
	    !bpf_probe_read_user(&go->creator, 16, (void *)(g + (s64)row->rbp * 8)) &&
	    (!go->ancestors || bpf_probe_read_user(&go->ancestor, 16, (void *)go->ancestors)))
		go->nancestors = 0;
	return unwind__stop(u, QZ_UNWIND_OUTERMOST);
}

static __always_inline void unwind__store_creator(struct unwinding *u, u64 address)
{
	u->ip = address;
	unwind__store(u);
	u->creators++;
}

/* One address of an ancestor's stack, or the beginning of the next one. Not 0: there are no more. The caller bounds their number. */
__noinline int unwind__creator(struct unwinding *u)
{
	u64 word, info[QZ_GO_ANCESTOR / 8];
	struct goroutine_walk *go;

	if (!u)
		return 1;
	go = &u->go;
	if (go->npcs) {
		if (bpf_probe_read_user(&word, sizeof(word), (void *)go->pcs))
			return 1;
		go->pcs += sizeof(word);
		go->npcs--;
		if (!go->awaited)
			unwind__store_creator(u, word);
		else if (word == go->awaited)
			go->awaited = 0;
		return 0;
	}
	if (!go->creator)
		return 1;
	unwind__store_creator(u, go->creator);
	if (!go->nancestors || bpf_probe_read_user(info, sizeof(info), (void *)go->ancestor))
		return 1;
	go->nancestors--;
	go->ancestor += sizeof(info);
	go->awaited = go->creator;
	go->pcs = info[0];
	go->npcs = info[1] < QZ_GO_ANCESTOR_PCS ? info[1] : QZ_GO_ANCESTOR_PCS;
	go->creator = info[4];
	return 0;
}

/* Whether the end was reached within so many. */
__noinline int unwind__creators(struct unwinding *u)
{
	for (int i = 0; i < DEPTH_BLOCK; i++)
		if (unwind__creator(u))
			return true;
	return false;
}

/* As a turn of a loop. */
static long unwind__creators_turn(u32 i, struct unwinding **u)
{
	(void)i;
	return unwind__creators(*u) != 0;
}

/*
 * From a thread's own stack to that of the goroutine on whose behalf it runs there. It stands where
 * the goroutine called runtime.systemstack, which keeps nothing on the stack. Without a goroutine
 * this is where the stack begins.
 */
static __always_inline int unwind__goroutine(struct unwinding *u, const struct qz_unwind_row *row)
{
	u64 g, m, back, saved[(QZ_GO_G_BP - QZ_GO_G_SP) / 8 + 1], ip;

	if (unwind__find_goroutine(u, row, &g, &m))
		return unwind__stop(u, QZ_UNWIND_FAULT);
	if (!g)
		return unwind__stop(u, QZ_UNWIND_OUTERMOST);
	if (bpf_probe_read_user(&back, sizeof(back), (void *)(g + QZ_GO_G_M)) ||
	    bpf_probe_read_user(saved, sizeof(saved), (void *)(g + QZ_GO_G_SP)) ||
	    bpf_probe_read_user(&ip, sizeof(ip), (void *)saved[0]))
		return unwind__stop(u, QZ_UNWIND_FAULT);
	if (back != m || !ip)
		return unwind__stop(u, QZ_UNWIND_OUTERMOST);
	u->led = u->depth;
	u->sp = saved[0] + 8;
	u->bp = saved[(QZ_GO_G_BP - QZ_GO_G_SP) / 8];
	u->ip = ip;
	return 0;
}

/* A frame that may be on another stack than the one it has led to. */
static __always_inline int unwind__frame(struct unwinding *u)
{
	u64 saved[2], bp = u->bp;

	if (!bp || bp & 7 || bpf_probe_read_user(saved, sizeof(saved), (void *)bp))
		return unwind__stop(u, QZ_UNWIND_FAULT);
	u->bp = saved[0];
	u->sp = bp + 16;
	u->ip = saved[1];
	return 0;
}

/* Those that are neither stack nor frame pointer, of the innermost frame. Outer ones may have saved theirs anywhere. */
static __always_inline bool unwind__knows_registers(const struct unwinding *u)
{
	return u->depth == 1 && u->registers;
}

static __always_inline u64 unwind__cfa_by_register(const struct unwinding *u, u32 cfa)
{
	u64 value;

	if (!unwind__knows_registers(u) ||
	    bpf_probe_read_kernel(&value, sizeof(value),
				  (void *)(u->registers + QZ_UNWIND_REGISTER_AT(cfa) * 8)))
		return 0;
	return value + QZ_UNWIND_REGISTER_ADDED(cfa) * 8;
}

/* The canonical frame address by a row, or 0 when memory cannot be read. */
static __always_inline u64 unwind__cfa(const struct unwinding *u, const struct qz_unwind_row *row)
{
	u32 kind = QZ_UNWIND_CFA(row->kind);
	s64 offset = (s64)row->cfa * 8;
	u64 cfa;

	if (kind == QZ_CFA_RSP)
		return u->sp + offset;
	if (kind == QZ_CFA_RBP)
		return u->bp + offset;
	if (kind == QZ_CFA_PLT)
		return u->sp + 8 + ((s64)(u->ip & 15) >= row->cfa ? 8 : 0);
	if (kind == QZ_CFA_RSP_SLOT) {
		cfa = u->sp + QZ_UNWIND_SLOT_AT(row->cfa) * 8;
		if (bpf_probe_read_user(&cfa, sizeof(cfa), (void *)cfa))
			return 0;
		return cfa + QZ_UNWIND_SLOT_ADDED(row->cfa) * 8;
	}
	if (kind == QZ_CFA_REGISTER)
		return unwind__cfa_by_register(u, row->cfa);
	cfa = (kind == QZ_CFA_RSP_DEREF ? u->sp : u->bp) + offset;
	if (bpf_probe_read_user(&cfa, sizeof(cfa), (void *)cfa))
		return 0;
	return kind == QZ_CFA_RSP_DEREF ? cfa + 8 : cfa;
}

__noinline int unwind__by_row(struct unwinding *u, struct qz_unwind_row *row)
{
	u64 cfa, saved[2], at;
	u32 rbp;

	if (!u || !row)
		return 1;
	rbp = QZ_UNWIND_RBP(row->kind);
	cfa = unwind__cfa(u, row);
	if (!cfa)
		return unwind__stop(u, QZ_UNWIND_FAULT);
	if (rbp == QZ_RBP_CFA && row->rbp == -2) { /* next to the return address: one read */
		if (bpf_probe_read_user(saved, sizeof(saved), (void *)(cfa - 16)))
			return unwind__stop(u, QZ_UNWIND_FAULT);
		u->bp = saved[0];
		return unwind__enter(u, cfa, saved[1]);
	}
	at = (rbp == QZ_RBP_RBP ? u->bp : cfa) + (s64)row->rbp * 8;
	if (rbp != QZ_RBP_SAME && bpf_probe_read_user(&u->bp, sizeof(u->bp), (void *)at))
		return unwind__stop(u, QZ_UNWIND_FAULT);
	if (bpf_probe_read_user(saved, 8, (void *)(cfa - 8)))
		return unwind__stop(u, QZ_UNWIND_FAULT);
	return unwind__enter(u, cfa, saved[0]);
}

/*
 * Whether a row that was derived from code has led to the caller. A return address is after a call: else
 * the row is wrong, and the frame is to be left as one that nothing is known of.
 */
__noinline int unwind__by_derived_row(struct unwinding *u, struct qz_unwind_row *row)
{
	u64 ip, sp, bp;

	if (!u || !row)
		return false;
	ip = u->ip;
	sp = u->sp;
	bp = u->bp;
	if (!unwind__by_row(u, row) && (UNWIND_NO_CODE ? unwind__is_described(u, u->ip)
						       : unwind__is_return_address(u, u->ip))) {
		u->derived++;
		return true;
	}
	u->ip = ip;
	u->sp = sp;
	u->bp = bp;
	u->end = QZ_UNWIND_TOO_DEEP;
	return false;
}

/* Whether a derived row says what to do, which is done then; *end: what the step comes to. */
static __always_inline bool unwind__derived(struct unwinding *u, struct qz_unwind_row *row,
					    int *end)
{
	u32 kind = QZ_UNWIND_CFA(row->kind);

	*end = 0;
	if (kind == QZ_CFA_NONE)
		return false;
	if (kind != QZ_CFA_END)
		return unwind__by_derived_row(u, row);
	/* the outermost function calls with a frame pointer of 0 */
	if (u->bp)
		return false;
	*end = unwind__stop(u, QZ_UNWIND_OUTERMOST);
	return true;
}

/* Stores the frame and goes to its caller. Not 0: the end, u->end tells why. */
__noinline int unwind__step(struct unwinding *u)
{
	struct qz_unwind_region *r;
	struct qz_unwind_row *row;
	u64 pc, replaced;
	int end;
	u32 kind;

	if (!u)
		return 1;
	pc = u->depth ? u->ip - 1 : u->ip;
	r = unwind__find_region(u, pc);
	if (!r && u->depth && (replaced = UNWIND_REPLACED(u->sp - 8)) && replaced != u->ip) {
		u->ip = replaced; /* which the next step takes */
		return 0;
	}
	unwind__store(u);
	/* glibc has put there what is to be called, which is no caller */
	if (u->at_clone == UNWIND_NEW_STACK)
		return unwind__stop(u, QZ_UNWIND_OUTERMOST);
	if (!r)
		return unwind__unseen(u);
	if (r->python)
		u->at_python = u->region + 1;
	if (!r->count) {
		unwind__want(u, r);
		return unwind__by_frame_pointer(u);
	}
	row = unwind__find_row(u, r, pc);
	if (!row || row->kind == QZ_CFA_NONE)
		unwind__want_derived(u, r);
	if (row && row->kind & QZ_UNWIND_DERIVED) {
		if (unwind__derived(u, row, &end))
			return end;
		row = NULL;
	}
	kind = row ? QZ_UNWIND_CFA(row->kind) : QZ_CFA_NONE;
	if (kind == QZ_CFA_REGISTER && !unwind__knows_registers(u))
		kind = QZ_CFA_UNSUPPORTED;
	if (!row || kind == QZ_CFA_NONE || kind == QZ_CFA_UNSUPPORTED)
		return unwind__undescribed(u, kind == QZ_CFA_UNSUPPORTED);
	switch (kind) {
	case QZ_CFA_SIGNAL:
		return unwind__signal(u);
	case QZ_CFA_END:
		return unwind__stop(u, QZ_UNWIND_OUTERMOST);
	case QZ_CFA_FRAME:
		return unwind__frame(u);
	case QZ_CFA_GO:
		return unwind__goroutine(u, row);
	case QZ_CFA_GOROUTINE:
		return unwind__end_goroutine(u, row);
	default:
		return unwind__by_row(u, row);
	}
}

/* Goes to the frame that is marked if that is still there. */
static __always_inline void unwind__go_to_mark(struct unwinding *u)
{
	u64 word;

	if (!u->mark.ip || u->mark.sp - u->sp > MARK_SPAN ||
	    bpf_probe_read_user(&word, sizeof(word), (void *)(u->mark.sp - 8)) ||
	    word != u->mark.ip)
		return;
	u->ip = u->mark.ip;
	u->sp = u->mark.sp;
	u->bp = u->mark.bp;
}

/* Between blocks of frames. */
static __always_inline void unwind__mark(struct unwinding *u)
{
	struct qz_unwind_mark *m = &u->marks[u->blocks & 1];

	if (u->blocks == MARK_FROM / MARK_BLOCK)
		unwind__go_to_mark(u);
	u->blocks++;
	m->ip = u->ip;
	m->sp = u->sp;
	m->bp = u->bp;
}

/* Whether the end was reached within so many frames. */
__noinline int unwind__steps(struct unwinding *u)
{
	if (!u)
		return true;
	unwind__mark(u);
	for (int i = 0; i < MARK_BLOCK; i++)
		if (unwind__step(u))
			return true;
	return false;
}

/* As a turn of a loop of the kernel's. */
static long unwind__turn(u32 i, struct unwinding **u)
{
	if (!(i % MARK_BLOCK))
		unwind__mark(*u);
	return unwind__step(*u) != 0;
}

static __always_inline void unwind__frames_to_end(struct unwinding *u)
{
	if (HAS_BPF_LOOP) {
		bpf_loop(MAX_DEPTH, unwind__turn, &u, 0);
		return;
	}
	for (int i = 0; i < MAX_DEPTH / MARK_BLOCK; i++)
		if (unwind__steps(u))
			break;
}

/* Of a stack that leads nowhere: whether it begins at one of its last two frames. */
__noinline int unwind__begins(struct unwinding *u)
{
	if (!u)
		return 0;
	for (u32 back = 2; back > 0; back--)
		if (u->depth > back && unwind__was_put(u, u->depth - back)) {
			u->depth -= back;
			u->end = QZ_UNWIND_OUTERMOST;
			break;
		}
	return 0;
}

/*
 * Walks from u->ip, u->sp, u->bp in u->image to the end. Global functions as well: a loop is then followed once, and not
 * in each state in which the verifier comes to it; of one loop in another, no turn of the inner one twice.
 */
__noinline int unwind__walk(struct unwinding *u)
{
	if (!u)
		return 0;
	u->depth = 0;
	u->guessed = 0;
	u->derived = 0;
	u->unready = 0;
	u->at_python = 0;
	u->npython = 0;
	u->led = 0;
	u->blocks = 0;
	u->creators = 0;
	u->go.creator = 0;
	u->go.npcs = 0;
	u->go.nancestors = 0;
	u->end = QZ_UNWIND_TOO_DEEP;
	u->region = u->image.first;
	unwind__frames_to_end(u);
	if (u->end != QZ_UNWIND_OUTERMOST && u->end != QZ_UNWIND_TOO_DEEP && !u->unready)
		unwind__begins(u);
	/* after the older one is more than a block: all outer frames that are kept */
	if (u->end != QZ_UNWIND_OUTERMOST)
		u->mark.ip = 0;
	else if (u->depth >= MARK_DEEP)
		u->mark = u->marks[u->blocks & 1];
	LOOP(QZ_GO_ANCESTORS * (QZ_GO_ANCESTOR_PCS + 1) / DEPTH_BLOCK, unwind__creators_turn, &u);
	if (u->guessed && u->end == QZ_UNWIND_OUTERMOST)
		u->end = QZ_UNWIND_GUESSED;
	if (u->unready)
		u->end = QZ_UNWIND_NOT_READY;
	return 0;
}

#endif
