/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/symbolizer.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/symbolizer_private.h"

#define LOAD_MS	   5000
#define RESOLVE_MS 2000
#define UNWIND_MS  2000
#define TABLE_MS   5000
#define PAGE	   4096
#define RESTS	   120 /* of symbolizer__rest(), until a module is forgotten */

/* Addresses per request, so that a request ends in a small part of its time. */
#define BATCH	    512
#define BATCH_LINES 32

/* The frames and strings of one message. */
struct answer_block {
	struct answer_block *next;
	struct symbolizer_frame *frames;
	char *text;
};

/* Beside the running program in a build tree, otherwise where it was installed. */
char *symbolizer__program(void)
{
	char self[PATH_MAX], *beside;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0) {
		self[n] = '\0';
		if (asprintf(&beside, "%s/quartz-symbolizer", dirname(self)) < 0)
			return NULL;
		if (access(beside, X_OK) == 0)
			return beside;
		free(beside);
	}
	return strdup(QUARTZ_LIBEXECDIR "/quartz-symbolizer");
}

struct symbolizer *symbolizer__new(const struct symbolizer_options *opts)
{
	struct symbolizer *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->options = *opts;
	s->program = opts->program ? strdup(opts->program) : symbolizer__program();
	if (!s->program) {
		symbolizer__free(s);
		errno = ENOMEM;
		return NULL;
	}
	return s;
}

static void drop_blocks(struct symbolizer *s)
{
	while (s->blocks) {
		struct answer_block *block = s->blocks;

		s->blocks = block->next;
		free(block->frames);
		free(block->text);
		free(block);
	}
}

static void close_files(struct symbolizer_module *m)
{
	if (m->fd >= 0)
		close(m->fd);
	if (m->debug_fd >= 0)
		close(m->debug_fd);
	m->fd = m->debug_fd = -1;
}

void symbolizer__free(struct symbolizer *s)
{
	if (!s)
		return;
	symbolizer_child__stop(&s->child);
	for (uint32_t i = 0; i < s->nmodules; i++) {
		close_files(s->modules[i]);
		free(s->modules[i]);
	}
	drop_blocks(s);
	free(s->verdict_text);
	free(s->modules);
	free(s->program);
	free(s);
}

int symbolizer__add_module(struct symbolizer *s, enum symbolizer_kind kind, int fd, int debug_fd,
			   const char *path)
{
	const char *slash = strrchr(path, '/');
	struct symbolizer_module *m = calloc(1, sizeof(*m)), **bigger;
	int err = -ENOMEM;

	if (!m)
		goto fail;
	err = -ENOSPC;
	if (s->nmodules == PROTOCOL_MAX_MODULES)
		goto fail;
	err = -ENOMEM;
	bigger = reallocarray(s->modules, s->nmodules + 1, sizeof(struct symbolizer_module *));
	if (!bigger)
		goto fail;
	s->modules = bigger;
	m->kind = kind;
	m->fd = fd;
	m->debug_fd = debug_fd;
	snprintf(m->label, sizeof(m->label), "%s", slash ? slash + 1 : path);
	s->modules[s->nmodules] = m;
	return (int)s->nmodules++;
fail:
	free(m);
	close(fd);
	if (debug_fd >= 0)
		close(debug_fd);
	return err;
}

struct symbolizer_module *symbolizer__find_module(const struct symbolizer *s, int number)
{
	return number >= 0 && (uint32_t)number < s->nmodules ? s->modules[number] : NULL;
}

static void refuse(struct symbolizer *s, struct symbolizer_module *m, int err)
{
	m->error = err;
	m->loaded_by = 0;
	close_files(m);
	s->counters.modules_refused++;
}

static void stop_child(struct symbolizer *s)
{
	symbolizer_child__stop(&s->child);
	s->loaded = 0;
}

static int ensure_child(struct symbolizer *s)
{
	if (s->child.pid || s->error)
		return s->error;
	s->error = symbolizer_child__start(&s->child, s->program);
	if (!s->error)
		s->counters.started++;
	return s->error;
}

/* Ends a child that did not answer as it should; the module it worked on is refused for good. */
int symbolizer__accident(struct symbolizer *s, uint32_t module, int err)
{
	struct symbolizer_module *m = module < s->nmodules ? s->modules[module] : NULL;

	if (err == -EPIPE)
		s->counters.crashed++;
	else
		s->counters.killed++;
	stop_child(s);
	if (m && !m->error)
		refuse(s, m, -ETIME);
	return -ETIME;
}

ssize_t symbolizer__exchange(struct symbolizer *s, const struct symbolizer_request *r,
			     uint32_t module)
{
	ssize_t n = symbolizer_child__exchange(&s->child, r, &s->answer, &module);

	return n < 0 ? symbolizer__accident(s, module, (int)n) : n;
}

static int request_load(struct symbolizer *s, uint32_t number)
{
	const struct symbolizer_module *m = s->modules[number];
	const struct load_answer *a = &s->answer.load;
	struct load_request *request = &s->request.load;
	int fds[2] = {m->fd, m->debug_fd};
	struct symbolizer_request r = {
		.bytes = request,
		.length = sizeof(*request),
		.type = MESSAGE_LOAD,
		.fds = fds,
		.nfds = m->debug_fd >= 0 ? 2 : 1,
		.deadline_ms = LOAD_MS,
	};
	ssize_t n;

	memset(request, 0, sizeof(*request));
	request->module = number;
	request->kind = m->kind == SYMBOLIZER_ELF ? MODULE_ELF : MODULE_PERF_MAP;
	request->flags = (m->debug_fd >= 0 ? LOAD_DEBUG_FILE : 0) |
			 (s->options.lines ? LOAD_LINES : 0) |
			 (s->options.inlines ? LOAD_INLINES : 0);
	memcpy(request->label, m->label, sizeof(request->label));
	n = symbolizer__exchange(s, &r, number);
	if (n < 0)
		return (int)n;
	if (n != sizeof(*a) || a->build_id_size > sizeof(a->build_id) || a->error > 0)
		return symbolizer__accident(s, number, -EBADMSG);
	return a->error;
}

static void keep_build_id(struct symbolizer_module *m, const struct load_answer *a)
{
	for (uint32_t i = 0; i < a->build_id_size; i++)
		snprintf(m->build_id + 2 * i, 3, "%02x", a->build_id[i]);
}

static bool has_loaded(const struct symbolizer *s, const struct symbolizer_module *m)
{
	return s->child.pid && m->loaded_by == s->counters.started;
}

/* Makes sure that the child has the module. A child whose memory is full of others is replaced. */
int symbolizer__load(struct symbolizer *s, uint32_t number)
{
	struct symbolizer_module *m = s->modules[number];
	int err;

	if (m->error)
		return m->error;
	m->used = s->rests;
	if (has_loaded(s, m))
		return 0;
	err = ensure_child(s);
	if (err)
		return err;
	err = request_load(s, number);
	if (err == -ENOMEM && s->loaded > 0) {
		stop_child(s);
		err = ensure_child(s);
		if (err)
			return err;
		err = request_load(s, number);
	}
	if (m->error)
		return m->error;
	if (err) {
		refuse(s, m, -ENOEXEC);
		return m->error;
	}
	keep_build_id(m, &s->answer.load);
	m->loaded_by = s->counters.started;
	s->loaded++;
	return 0;
}

int symbolizer__build_id(struct symbolizer *s, int module, const char **build_id)
{
	const struct symbolizer_module *m = symbolizer__find_module(s, module);
	int err;

	if (!m)
		return -EINVAL;
	err = symbolizer__load(s, (uint32_t)module);
	if (!err)
		*build_id = m->build_id;
	return err;
}

bool symbolizer__refused(const struct symbolizer *s, int module)
{
	const struct symbolizer_module *m = symbolizer__find_module(s, module);

	return m && m->error;
}

static void forget(struct symbolizer *s, uint32_t number)
{
	struct message_module message = {.module = number};
	struct symbolizer_request r = {
		.bytes = &message,
		.length = sizeof(message),
		.type = MESSAGE_FORGET,
		.deadline_ms = RESOLVE_MS,
	};
	struct symbolizer_module *m = s->modules[number];

	if (has_loaded(s, m)) {
		symbolizer_child__tell(&s->child, &r);
		s->loaded--;
	}
	m->loaded_by = 0;
}

void symbolizer__remove_module(struct symbolizer *s, int module)
{
	struct symbolizer_module *m = symbolizer__find_module(s, module);

	if (!m)
		return;
	forget(s, (uint32_t)module);
	close_files(m);
	if (!m->error)
		m->error = -ENOENT;
}

void symbolizer__rest(struct symbolizer *s)
{
	if (++s->rests % RESTS)
		return;
	for (uint32_t i = 0; i < s->nmodules; i++)
		if (s->modules[i]->loaded_by && s->rests - s->modules[i]->used >= RESTS)
			forget(s, i);
}

/* Whether the arrays of the answer are as long as it says, and as long as the message is. */
static bool sizes_valid(const struct resolve_answer *a, size_t length, size_t asked)
{
	size_t rest;

	if (length < sizeof(*a) || a->error || a->n == 0 || a->n > asked)
		return false;
	rest = length - sizeof(*a);
	if (rest < a->n * sizeof(struct answer_record))
		return false;
	rest -= a->n * sizeof(struct answer_record);
	if (a->nframes > rest / sizeof(struct frame_record))
		return false;
	rest -= a->nframes * sizeof(struct frame_record);
	return rest == a->text_size;
}

static bool text_valid(const char *text, uint32_t size, uint32_t at)
{
	return at < size && strnlen(text + at, PROTOCOL_MAX_TEXT) < PROTOCOL_MAX_TEXT;
}

/* Copies frames and text. NULL when something in them is out of range, or without memory. */
static struct answer_block *copy_frames(const struct resolve_answer *a,
					const struct frame_record *frames, const char *text)
{
	struct answer_block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->frames = calloc(a->nframes + 1UL, sizeof(*block->frames));
	block->text = malloc(a->text_size ? a->text_size : 1);
	if (!block->frames || !block->text)
		goto fail;
	memcpy(block->text, text, a->text_size);
	if (a->text_size && block->text[a->text_size - 1] != '\0')
		goto fail;
	for (uint32_t i = 0; i < a->nframes; i++) {
		if (!text_valid(block->text, a->text_size, frames[i].name) ||
		    !text_valid(block->text, a->text_size, frames[i].file))
			goto fail;
		block->frames[i] = (struct symbolizer_frame) {
			.name = block->text + frames[i].name,
			.file = block->text + frames[i].file,
			.decl_line = frames[i].decl_line,
			.line = frames[i].line,
		};
	}
	return block;
fail:
	free(block->frames);
	free(block->text);
	free(block);
	return NULL;
}

/* Turns a message into answers. Their number, or -EBADMSG. */
static ssize_t take_answers(struct symbolizer *s, size_t length, size_t asked,
			    struct symbolizer_answer *answers)
{
	const struct resolve_answer *a = &s->answer.resolve;
	const struct answer_record *records = (const struct answer_record *)(a + 1);
	const struct frame_record *frames;
	struct answer_block *block;
	uint32_t used = 0;

	if (!sizes_valid(a, length, asked))
		return -EBADMSG;
	frames = (const struct frame_record *)(records + a->n);
	block = copy_frames(a, frames, (const char *)(frames + a->nframes));
	if (!block)
		return -EBADMSG;
	block->next = s->blocks;
	s->blocks = block;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct answer_record *record = &records[i];
		bool found = record->flags & ANSWER_FOUND;

		if (record->nframes > a->nframes - used || found != (record->nframes > 0))
			return -EBADMSG;
		answers[i] = (struct symbolizer_answer) {
			.start = record->start,
			.found = found,
			.unnamed = record->flags & ANSWER_UNNAMED,
			.outermost = record->flags & ANSWER_OUTERMOST,
			.nframes = record->nframes,
			.frames = block->frames + used,
		};
		used += record->nframes;
	}
	return a->n;
}

ssize_t symbolizer__ask(struct symbolizer *s, struct symbolizer_request *r, uint32_t module,
			const uint64_t *addresses, size_t n)
{
	struct resolve_request *request = &s->request.resolve;

	request->module = module;
	request->n = (uint32_t)n;
	memcpy(request + 1, addresses, n * sizeof(*addresses));
	r->bytes = request;
	r->length = sizeof(*request) + n * sizeof(*addresses);
	return symbolizer__exchange(s, r, module);
}

/* Asks for up to n addresses; gives how many were answered. */
static ssize_t resolve_some(struct symbolizer *s, uint32_t module, const uint64_t *addresses,
			    size_t n, struct symbolizer_answer *answers)
{
	size_t batch = s->options.lines || s->options.inlines ? BATCH_LINES : BATCH;
	struct symbolizer_request r = {.type = MESSAGE_RESOLVE, .deadline_ms = RESOLVE_MS};
	ssize_t length, answered;

	if (n > batch)
		n = batch;
	length = symbolizer__ask(s, &r, module, addresses, n);
	if (length < 0)
		return length;
	answered = take_answers(s, (size_t)length, n, answers);
	return answered < 0 ? symbolizer__accident(s, module, (int)answered) : answered;
}

int symbolizer__resolve(struct symbolizer *s, int module, const uint64_t *addresses, size_t n,
			struct symbolizer_answer *answers)
{
	size_t done = 0;
	int err;

	drop_blocks(s);
	if (!symbolizer__find_module(s, module))
		return -EINVAL;
	err = symbolizer__load(s, (uint32_t)module);
	while (!err && done < n) {
		ssize_t some = resolve_some(s, (uint32_t)module, addresses + done, n - done,
					    answers + done);

		if (some < 0)
			err = (int)some;
		else
			done += (size_t)some;
	}
	return err;
}

/* The region that has the address, or nregions. */
static size_t find_region(const struct symbolizer_region *regions, size_t nregions,
			  uint64_t address)
{
	size_t low = 0, high = nregions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (regions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < regions[low - 1].end ? low - 1 : nregions;
}

/*
 * Marks the regions in which a frame can lie at all: those that the instruction pointer or a word
 * of the stack points into. Most modules of a process are never parsed for it.
 */
static void mark_regions(bool *wanted, const struct symbolizer_region *regions, size_t nregions,
			 uint64_t ip, const uint8_t *stack, size_t size)
{
	wanted[find_region(regions, nregions, ip)] = true;
	for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, stack + at, sizeof(word));
		wanted[find_region(regions, nregions, word)] = true;
	}
	wanted[nregions] = false;
}

/* Loads the modules of the wanted regions; once more when meanwhile another child took over. */
static int load_regions(struct symbolizer *s, const bool *wanted,
			const struct symbolizer_region *regions, size_t nregions)
{
	int err = ensure_child(s);

	for (int turn = 0; turn < 2 && !err; turn++) {
		uint64_t child = s->counters.started;

		for (size_t i = 0; i < nregions; i++)
			if (wanted[i] && regions[i].module < s->nmodules)
				symbolizer__load(s, regions[i].module);
		err = ensure_child(s);
		if (child == s->counters.started)
			break;
	}
	return err;
}

static size_t write_unwind(struct symbolizer *s, const bool *wanted,
			   const struct symbolizer_region *regions, size_t nregions,
			   const struct symbolizer_registers *regs, const void *stack, size_t size)
{
	struct unwind_request *request = &s->request.unwind;
	struct region_record *records = (struct region_record *)(request + 1);
	uint32_t n = 0;

	memset(request, 0, sizeof(*request));
	request->registers[UNWIND_IP] = regs->ip;
	request->registers[UNWIND_SP] = regs->sp;
	request->registers[UNWIND_BP] = regs->bp;
	request->registers[UNWIND_BX] = regs->bx;
	request->registers[UNWIND_R12] = regs->r12;
	request->registers[UNWIND_R13] = regs->r13;
	request->registers[UNWIND_R14] = regs->r14;
	request->registers[UNWIND_R15] = regs->r15;
	for (size_t i = 0; i < nregions && n < PROTOCOL_MAX_REGIONS; i++) {
		const struct symbolizer_region *r = &regions[i];

		if (wanted[i] && r->module < s->nmodules &&
		    s->modules[r->module]->loaded_by == s->counters.started)
			records[n++] =
				(struct region_record) {r->start, r->end, r->offset, r->module, 0};
	}
	request->nregions = n;
	request->stack_size = (uint32_t)size;
	memcpy(records + n, stack, size);
	return sizeof(*request) + n * sizeof(*records) + size;
}

static int take_addresses(struct symbolizer *s, size_t length, uint64_t *addresses, size_t max,
			  size_t *n, bool *complete)
{
	const struct unwind_answer *a = &s->answer.unwind;

	if (length < sizeof(*a) || a->error || a->n > UNWIND_MAX_FRAMES || a->complete > 1 ||
	    length != sizeof(*a) + a->n * sizeof(*addresses))
		return symbolizer__accident(s, UINT32_MAX, -EBADMSG);
	*n = a->n < max ? a->n : max;
	*complete = a->complete && a->n <= max;
	memcpy(addresses, a + 1, *n * sizeof(*addresses));
	return 0;
}

int symbolizer__unwind(struct symbolizer *s, const struct symbolizer_region *regions,
		       size_t nregions, const struct symbolizer_registers *regs, const void *stack,
		       size_t size, uint64_t *addresses, size_t max, size_t *n, bool *complete)
{
	struct symbolizer_request r = {
		.bytes = &s->request,
		.type = MESSAGE_UNWIND,
		.deadline_ms = UNWIND_MS,
	};
	bool *wanted = calloc(nregions + 1, sizeof(*wanted));
	ssize_t length;
	int err;

	if (!wanted)
		return -ENOMEM;
	if (size > PROTOCOL_MAX_STACK)
		size = PROTOCOL_MAX_STACK;
	mark_regions(wanted, regions, nregions, regs->ip, stack, size);
	err = load_regions(s, wanted, regions, nregions);
	if (!err)
		r.length = write_unwind(s, wanted, regions, nregions, regs, stack, size);
	free(wanted);
	if (err)
		return err;
	length = symbolizer__exchange(s, &r, UINT32_MAX);
	if (length < 0)
		return (int)length;
	return take_addresses(s, (size_t)length, addresses, max, n, complete);
}

static int request_table(struct symbolizer *s, uint32_t number)
{
	const struct table_answer *a = &s->answer.table;
	struct message_module request = {.module = number};
	struct symbolizer_request r = {
		.bytes = &request,
		.length = sizeof(request),
		.type = MESSAGE_TABLE,
		.fds = &s->modules[number]->fd,
		.nfds = 1,
		.deadline_ms = TABLE_MS,
	};
	ssize_t length = symbolizer__exchange(s, &r, number);

	if (length < 0)
		return (int)length;
	if (length != sizeof(*a) || a->error > 0 || a->nsegments > TABLE_MAX_SEGMENTS ||
	    a->n > TABLE_MAX_ROWS || (!a->error && a->n == 0))
		return symbolizer__accident(s, number, -EBADMSG);
	return a->error;
}

/* Whether the rows have an order and kinds that exist; *next is the lowest pc that may follow. */
static bool rows_valid(const struct qz_unwind_row *rows, size_t n, uint64_t *next)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].pc < *next || QZ_UNWIND_CFA(rows[i].kind) >= QZ_CFA_KINDS ||
		    QZ_UNWIND_RBP(rows[i].kind) > QZ_RBP_RBP)
			return false;
		*next = (uint64_t)rows[i].pc + 1;
	}
	return true;
}

/* Receives the n rows that were announced. */
static int take_rows(struct symbolizer *s, uint32_t module, struct qz_unwind_row *rows, uint32_t n)
{
	uint64_t next = 0;

	for (uint32_t done = 0; done < n;) {
		ssize_t length = symbolizer_child__more(&s->child, MESSAGE_ROWS, &s->answer);
		size_t some, size = (size_t)length - sizeof(struct rows_message);

		if (length < 0)
			return symbolizer__accident(s, module, (int)length);
		some = size / sizeof(*rows);
		if (some == 0 || size % sizeof(*rows) || some > n - done ||
		    !rows_valid(s->answer.rows.rows, some, &next))
			return symbolizer__accident(s, module, -EBADMSG);
		memcpy(rows + done, s->answer.rows.rows, size);
		done += (uint32_t)some;
	}
	return 0;
}

static void keep_layout(struct symbolizer_table *table, const struct table_answer *a)
{
	*table = (struct symbolizer_table) {
		.base = a->base,
		.nsegments = a->nsegments,
		.stats = a->stats,
	};
	for (uint32_t i = 0; i < a->nsegments; i++)
		table->segments[i] = (struct symbolizer_segment) {
			a->segments[i].vaddr, a->segments[i].offset, a->segments[i].size};
}

/* As symbolizer__load(): a child whose memory is full of others is replaced, a file that is none refused. */
static int open_table(struct symbolizer *s, uint32_t number)
{
	struct symbolizer_module *m = s->modules[number];
	int err = m->error ? m->error : ensure_child(s);

	if (err)
		return err;
	err = request_table(s, number);
	if (err == -ENOMEM && s->loaded > 0) {
		stop_child(s);
		err = ensure_child(s);
		if (err)
			return err;
		err = request_table(s, number);
	}
	if (err && err != -ENODATA && err != -E2BIG && err != -ENOMEM && !m->error) {
		err = -ENOEXEC;
		refuse(s, m, err);
	}
	return err;
}

int symbolizer__unwind_table(struct symbolizer *s, int module, struct qz_unwind_row **rows,
			     uint32_t *n, struct symbolizer_table *table)
{
	struct symbolizer_table layout;
	struct qz_unwind_row *all;
	uint32_t count;
	int err;

	if (!symbolizer__find_module(s, module))
		return -EINVAL;
	err = open_table(s, (uint32_t)module);
	if (err)
		return err;
	keep_layout(&layout, &s->answer.table);
	count = s->answer.table.n;
	all = malloc(count * sizeof(*all));
	if (!all) {
		stop_child(s); /* the rows under way have no taker */
		return -ENOMEM;
	}
	err = take_rows(s, (uint32_t)module, all, count);
	if (err) {
		free(all);
		return err;
	}
	*rows = all;
	*n = count;
	*table = layout;
	return 0;
}

bool symbolizer_table__vaddr(const struct symbolizer_table *table, uint64_t offset, uint64_t *vaddr)
{
	for (uint32_t i = 0; i < table->nsegments; i++) {
		const struct symbolizer_segment *s = &table->segments[i];
		uint64_t start = s->offset & ~(uint64_t)(PAGE - 1);

		if (offset >= start && offset - start < s->size + (s->offset - start)) {
			*vaddr = s->vaddr + offset - s->offset;
			return true;
		}
	}
	return false;
}

const struct symbolizer_counters *symbolizer__counters(const struct symbolizer *s)
{
	return &s->counters;
}

uint64_t symbolizer__cpu_ns(struct symbolizer *s)
{
	return symbolizer_child__cpu_ns(&s->child);
}
