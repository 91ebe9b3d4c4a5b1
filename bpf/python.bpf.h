/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of Python (quartz/python.h) of a thread whose walk has come through the interpreter's code: after those of C in
 * unwinding.frames. Which of them belong to which frame of C is found by quartzd. Nothing that is read is believed: it is the
 * thread's own memory, each loop has its bound, and what is no frame ends the walk. As unwind.bpf.h, it is also ordinary C.
 */
#ifndef QUARTZ_PYTHON_BPF_H
#define QUARTZ_PYTHON_BPF_H

/* A search reads at most so many states of threads and interpreters. CPython puts a new one before the others. */
#define PYTHON_THREADS 128

#define PYTHON_DEPTH                                                                               \
	1024 /* frames that are walked; Python itself refuses more unless it is told otherwise */
/* When no state was the thread's, it may get one at once, as a thread that begins does, or never: the next walks search again, later ones seldom. */
#define PYTHON_VAIN   8
#define PYTHON_SELDOM 64

static __always_inline u64 python__read(u64 address)
{
	u64 word;

	return bpf_probe_read_user(&word, sizeof(word), (void *)address) ? 0 : word;
}

/* ---- the thread ---- */

/* pthread_self(), which is noted there, is the thread pointer (glibc and musl, on x86-64). */
static __always_inline bool python__is_thread(const struct unwinding *u)
{
	const struct python_walk *w = &u->python;
	u64 id;

	if (!w->thread || w->thread & 1)
		return false;
	id = python__read(w->thread + w->layout.thread_id);
	if (w->layout.thread_native)
		id = python__read(id + w->layout.thread_native);
	return id == u->thread_pointer;
}

/* Goes to the next thread, or the next interpreter and its first thread. Not 0: there are no more, or it is found. */
__noinline int python__next_state(struct unwinding *u)
{
	struct python_walk *w = &u->python;

	if (!u || python__is_thread(u))
		return 1;
	if (w->thread) {
		w->thread = python__read(w->thread + w->layout.thread_next);
		return 0;
	}
	if (!w->interpreter)
		return 1;
	w->thread = python__read(w->interpreter + w->layout.threads);
	w->interpreter = python__read(w->interpreter + w->layout.interpreter_next);
	return 0;
}

/* As a turn of a loop. */
static long python__state_turn(u32 i, struct unwinding **u)
{
	(void)i;
	return python__next_state(*u) != 0;
}

/* Finds the state of the thread, unless it was found. w->thread: that state, or, with its lowest bit set, how often it was searched in vain. */
__noinline int python__find_thread(struct unwinding *u, u64 runtime)
{
	struct python_walk *w;
	u64 vain;

	if (!u || python__is_thread(u))
		return u != NULL;
	w = &u->python;
	vain = w->thread & 1 ? (w->thread >> 1) + 1 : 0;
	if (vain >= PYTHON_VAIN && vain % PYTHON_SELDOM) {
		w->thread = vain << 1 | 1;
		return false;
	}
	w->thread = 0;
	w->interpreter = python__read(runtime + w->layout.interpreters);
	LOOP(PYTHON_THREADS, python__state_turn, &u);
	if (python__is_thread(u))
		return true;
	w->thread = vain << 1 | 1;
	return false;
}

/* ---- code ---- */

/* Whether the code with this hash was told. */
__noinline int python__knows(u64 hash)
{
	for (u32 i = 0; i < QZ_PYTHON_PROBES; i++) {
		u32 key = (first_slot(hash) + i) & (QZ_PYTHON_KNOWN - 1);
		u64 *slot = bpf_map_lookup_elem(&python_known, &key);

		if (slot && *slot == hash)
			return true;
	}
	return false;
}

/* Where all places are taken, the code there is told once more when it is met again. */
__noinline int python__learn(u64 hash)
{
	u32 key = (first_slot(hash) + (hash & (QZ_PYTHON_PROBES - 1))) & (QZ_PYTHON_KNOWN - 1);
	u64 *slot;

	for (u32 i = 0; i < QZ_PYTHON_PROBES; i++) {
		u32 other = (first_slot(hash) + i) & (QZ_PYTHON_KNOWN - 1);

		slot = bpf_map_lookup_elem(&python_known, &other);
		if (slot && !*slot) {
			*slot = hash;
			return 0;
		}
	}
	slot = bpf_map_lookup_elem(&python_known, &key);
	if (slot)
		*slot = hash;
	return 0;
}

/* Stores the length and the state of a string, and where its characters are. Returns the size of one, 0: it is no string. */
static __always_inline u32 python__string(const struct qz_python_layout *l,
					  struct qz_python_text *text, u64 object, u64 *start)
{
	u64 head[3]; /* length, hash, state */
	u32 ascii, width;

	if (bpf_probe_read_user(head, sizeof(head), (void *)(object + l->text)))
		return 0;
	text->length = head[0];
	text->state = (u32)head[2];
	width = qz_python_text__width(text->state, &ascii);
	*start = object + (ascii ? l->text_ascii : l->text_other);
	return width;
}

/* An object of Ruby begins with its flags and its class. The flags have the type, and what is the type's own. */
#define RUBY_WORDS	  5
#define RUBY_TYPE	  0x1f
#define RUBY_STRING	  5
#define RUBY_ARRAY	  7
#define RUBY_OWN	  (1 << 13) /* a string's characters are elsewhere; an array's elements are here */
#define RUBY_SHORT(flags) ((flags) >> 14 & 31)

/* As python__string. Of an array, its first element: some paths are in one, before the path without symbolic links. */
static __always_inline u32 ruby__string(const struct qz_python_layout *l,
					struct qz_python_text *text, u64 object, u64 *start)
{
	u64 words[RUBY_WORDS];

	if (bpf_probe_read_user(words, sizeof(words), (void *)object))
		return 0;
	if ((words[0] & RUBY_TYPE) == RUBY_ARRAY) {
		object = words[0] & RUBY_OWN ? words[2] : python__read(words[4]);
		if (bpf_probe_read_user(words, sizeof(words), (void *)object))
			return 0;
	}
	text->state = QZ_RUBY_TEXT;
	text->length = words[2];
	*start = words[3];
	if (!(words[0] & RUBY_OWN)) {
		*start = object + l->text_ascii;
		if (l->entry == QZ_RUBY_FLAG_OLD)
			text->length = RUBY_SHORT(words[0]);
	}
	return (words[0] & RUBY_TYPE) == RUBY_STRING;
}

/* Copies a string: its beginning, or its end if `end`. */
__noinline int python__text(struct unwinding *u, struct qz_python_text *text, u64 object, u32 end)
{
	const struct qz_python_layout *l;
	u64 start = 0;
	u32 width, size;

	if (!u || !text)
		return 0;
	l = &u->python.layout;
	text->length = 0;
	text->state = 0;
	text->size = 0;
	width = l->entry >= QZ_RUBY_FLAG_OLD ? ruby__string(l, text, object, &start)
					     : python__string(l, text, object, &start);
	size = text->length < QZ_PYTHON_TEXT ? (u32)text->length * width : QZ_PYTHON_TEXT;
	if (size > QZ_PYTHON_TEXT)
		size = QZ_PYTHON_TEXT;
	if (end)
		start += text->length * width - size;
	barrier_var(size); /* Linux 6.1 forgets the bound of what was copied to another register */
	if (width && size <= QZ_PYTHON_TEXT &&
	    !bpf_probe_read_user(text->bytes, size, (void *)start))
		text->size = size;
	return 0;
}

/* Copies the table of lines, or its beginning. */
__noinline int python__table(struct unwinding *u, u64 object)
{
	const struct qz_python_layout *l;
	struct qz_python_table *table;
	u64 length;
	u32 size;

	if (!u)
		return 0;
	l = &u->python.layout;
	table = &u->python.told.table;
	table->lines = l->lines;
	table->size = 0;
	length = python__read(object + l->bytes);
	size = length < QZ_PYTHON_TABLE ? (u32)length : QZ_PYTHON_TABLE;
	if (size > QZ_PYTHON_TABLE)
		size = QZ_PYTHON_TABLE;
	barrier_var(size); /* as in python__text */
	if (size && size <= QZ_PYTHON_TABLE &&
	    !bpf_probe_read_user(table->bytes, size, (void *)(object + l->bytes + 16)))
		table->size = size;
	return 0;
}

static __always_inline long python__send(struct python_walk *w)
{
	if (wanted_lines)
		return bpf_ringbuf_output(&python_codes, &w->told, sizeof(w->told),
					  BPF_RB_NO_WAKEUP);
	return bpf_ringbuf_output(&python_codes, &w->told, QZ_PYTHON_CODE_WITHOUT_LINES,
				  BPF_RB_NO_WAKEUP);
}

/* Sends what is known of the code that has just been read, unless it was sent. */
static __always_inline int python__tell(struct unwinding *u, u64 code)
{
	struct qz_python_code *told;
	struct python_walk *w;
	u64 hash;

	if (!u)
		return 0;
	w = &u->python;
	told = &w->told;
	hash = mix(mix(w->image, code), 1) ?: 1;
	if (python__knows(hash))
		return 0;
	told->code = code;
	told->image = w->image;
	told->line = *(u32 *)((char *)w->code + (w->layout.code_line & 0x7c));
	if (w->layout.entry == QZ_RUBY_FLAG_OLD)
		told->line >>= 1;
	python__text(u, &told->name, w->code[(w->layout.code_name >> 3) & 31], false);
	python__text(u, &told->file, w->code[(w->layout.code_file >> 3) & 31], true);
	told->table.lines = 0;
	told->table.size = 0;
	if (wanted_lines && w->layout.lines)
		python__table(u, w->code[(w->layout.code_table >> 3) & 31]);
	if (!python__send(w))
		python__learn(hash);
	return 0;
}

/* ---- frames ---- */

/* The number of the instruction that the frame at `at` runs, of this code, as a stack has it. */
static __always_inline u64 python__instruction(const struct python_walk *w, u64 at, u64 code)
{
	u64 n;

	if (!w->layout.lines)
		return QZ_PYTHON_CHECK_MASK << QZ_PYTHON_CHECK_AT;
	n = python__read(at + w->layout.frame_instruction);
	if (w->layout.lines == QZ_PYTHON_LOCATIONS)
		n = (n - code - w->layout.code_instructions) >> 1;
	else
		n = (u32)n >> (w->layout.lines == QZ_PYTHON_LNOTAB);
	return (n < QZ_PYTHON_CHECK_MASK ? n : QZ_PYTHON_CHECK_MASK) << QZ_PYTHON_CHECK_AT;
}

/* The form of a frame of this code in a stack; the code is reported if need be. */
__noinline u64 python__frame(struct unwinding *u, u64 address, u64 at)
{
	struct python_walk *w;
	u64 check, code;

	if (!u)
		return 0;
	w = &u->python;
	code = QZ_PYTHON_FRAME | QZ_PYTHON_ADDRESS(address);
	if (bpf_probe_read_user(w->code, QZ_PYTHON_CODE_SIZE, (void *)address))
		return code;
	check = mix(mix(w->code[(w->layout.code_line >> 3) & 31],
			w->code[(w->layout.code_name >> 3) & 31]),
		    w->code[(w->layout.code_file >> 3) & 31]);
	check >>= 32;
	if (wanted_lines) {
		code = QZ_PYTHON_LINED(code, check);
		python__tell(u, code);
		return code | python__instruction(w, at, address);
	}
	code |= (check & QZ_PYTHON_CHECK_MASK) << QZ_PYTHON_CHECK_AT;
	python__tell(u, code);
	return code;
}

/* Index of the i-th Python frame, after those of C. */
static __always_inline u32 python__place(const struct unwinding *u, u32 i)
{
	return (unwind__frames(u) + unwind__place(i)) & (QZ_ALL_FRAMES - 1);
}

/* Of Ruby: reads whether the frame at `at` is an entry, and its code, 0: it is of a C procedure. Goes to its caller. */
static __always_inline void ruby__look(struct python_walk *w, u64 at, u64 *code, u32 *owner)
{
	u64 flags = python__read(w->raw[(w->layout.frame_owner >> 3) & 15]);

	*owner = flags & QZ_RUBY_FINISH;
	*code = flags & QZ_RUBY_CFRAME ? 0 : python__read(*code + w->layout.code_body) & ~7ull;
	w->frame = at + w->layout.frame_previous;
	if (w->frame >= w->outermost)
		w->frame = 0;
}

/* Stores the frame, if it has code, and goes to its caller. Not 0: it was the last one, or no frame. */
__noinline int python__step(struct unwinding *u)
{
	struct python_walk *w;
	u64 at, code, entry;
	u32 owner, how;

	if (!u)
		return 1;
	w = &u->python;
	at = w->frame;
	if (!at || bpf_probe_read_user(w->raw, QZ_PYTHON_FRAME_SIZE, (void *)at))
		return 1;
	code = w->raw[(w->layout.frame_code >> 3) & 15] & ~7ull;
	owner = *((u8 *)w->raw + (w->layout.frame_owner & 127));
	w->frame = w->raw[(w->layout.frame_previous >> 3) & 15];
	how = w->layout.entry;
	if (how >= QZ_RUBY_FLAG_OLD) {
		ruby__look(w, at, &code, &owner);
		if (!code)
			return 0;
	}
	if (how == QZ_PYTHON_SHIM && owner >= QZ_PYTHON_SHIM_OWNER) {
		if (u->npython)
			u->frames[python__place(u, u->npython - 1)] |= QZ_PYTHON_ENTRY;
		return 0;
	}
	entry = how == QZ_PYTHON_EVERY || (how != QZ_PYTHON_SHIM && owner) ? QZ_PYTHON_ENTRY : 0;
	code = python__frame(u, code, at) | entry;
	u->frames[python__place(u, u->npython)] = code;
	u->npython++;
	return w->frame == at;
}

/* Whether the end was reached within so many frames. */
__noinline int python__steps(struct unwinding *u)
{
	for (int i = 0; i < DEPTH_BLOCK; i++)
		if (python__step(u))
			return true;
	return false;
}

/* As a turn of a loop. */
static long python__turn(u32 i, struct unwinding **u)
{
	(void)i;
	return python__steps(*u) != 0;
}

/* Of Ruby: the outermost frame is none. It is at the end of a stack, whose begin and size in words an execution context begins with. */
static __always_inline u64 ruby__outermost(const struct python_walk *w)
{
	u64 stack[2];

	if (bpf_probe_read_user(stack, sizeof(stack), (void *)w->frame))
		return 0;
	return stack[0] + stack[1] * sizeof(u64) - w->layout.frame_previous;
}

/*
 * Walks the Python frames, after a walk of the C frames. u->python.thread: what this has left there after the thread's last
 * walk, or 0; u->python.image is set, too.
 */
__noinline int python__walk(struct unwinding *u)
{
	const struct qz_python_layout *layout;
	struct qz_unwind_region *r;
	struct python_walk *w;
	u32 index;

	if (!u || !u->at_python)
		return 0;
	w = &u->python;
	r = region__get(u->at_python - 1);
	if (!r)
		return 0;
	index = r->python - 1;
	layout = bpf_map_lookup_elem(&python_layouts, &index);
	if (!layout)
		return 0;
	w->layout = *layout;
	if (!python__find_thread(u, r->bias + w->layout.runtime))
		return 0;
	w->frame = python__read(w->thread + w->layout.thread_frame);
	if (w->layout.entry >= QZ_RUBY_FLAG_OLD)
		w->outermost = ruby__outermost(w);
	if (w->frame && w->layout.cframe != QZ_PYTHON_NO_CFRAME)
		w->frame = python__read(w->frame + w->layout.cframe);
	LOOP(PYTHON_DEPTH / DEPTH_BLOCK, python__turn, &u);
	return 0;
}

#endif
