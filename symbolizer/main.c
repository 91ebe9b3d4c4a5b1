/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quartz-symbolizer: parses the files that quartzd hands to it, without any privilege. It serves
 * one request at a time until quartzd closes the socket, descriptor 0. A malformed request cannot
 * come from quartzd, and ends it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

#include "symbolizer/cfi/cfi.h"
#include "symbolizer/elf/python_layout.h"
#include "symbolizer/names/module.h"
#include "include/quartz/symbolizer.h"
#include "symbolizer/sandbox.h"
#include "symbolizer/spin/spin_answer.h"

#define SOCKET 0

struct server {
	struct module **modules; /* indexed by number */
	uint32_t nmodules;
	struct module_frame frames[MODULE_MAX_FRAMES];
	struct spin_answer_writer spin;
	union {
		struct message_header header;
		struct load_request load;
		struct resolve_request resolve;
		struct variable_request variable;
		struct message_module module;
		struct table_request table;
		uint8_t bytes[PROTOCOL_MAX_MESSAGE];
	} request;
	union {
		struct load_answer load;
		struct resolve_answer resolve;
		struct variable_answer variable;
		struct split_answer split;
		struct table_answer table;
		struct spin_answer spin;
		struct rows_message rows;
		uint8_t bytes[PROTOCOL_MAX_MESSAGE];
	} answer;
};

static int send_message(void *message, uint32_t type, size_t length, uint64_t id)
{
	struct iovec iov = {message, length};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct message_header header = {.type = type, .length = (uint32_t)length, .id = id};

	memcpy(message, &header, sizeof(header));
	return sendmsg(SOCKET, &msg, MSG_NOSIGNAL) == (ssize_t)length ? 0 : -errno;
}

static int answer(struct server *s, size_t length)
{
	return send_message(&s->answer, s->request.header.type, length, s->request.header.id);
}

/* Takes the descriptors of a message; -1 for those that are missing. */
static void take_descriptors(struct msghdr *msg, int fds[LOAD_MAX_FILES])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	for (int i = 0; i < LOAD_MAX_FILES; i++)
		fds[i] = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
}

/* Receives a request. Returns its length; 0: quartzd closed the socket; or -errno. */
static ssize_t receive(struct server *s, int fds[LOAD_MAX_FILES])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(LOAD_MAX_FILES * sizeof(int))];
	} control;
	struct iovec iov = {&s->request, sizeof(s->request)};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(SOCKET, &msg, MSG_CMSG_CLOEXEC);

	if (n <= 0)
		return n < 0 ? -errno : 0;
	if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || (size_t)n < sizeof(s->request.header) ||
	    s->request.header.length != n)
		return -EBADMSG;
	take_descriptors(&msg, fds);
	return n;
}

static int make_room(struct server *s, uint32_t number)
{
	struct module **bigger;

	if (number < s->nmodules)
		return 0;
	if (number >= PROTOCOL_MAX_MODULES)
		return -EBADMSG;
	bigger = reallocarray(s->modules, number + 1, sizeof(struct module *));
	if (!bigger)
		return -ENOMEM;
	memset(bigger + s->nmodules, 0, (number + 1 - s->nmodules) * sizeof(struct module *));
	s->modules = bigger;
	s->nmodules = number + 1;
	return 0;
}

static int serve_load(struct server *s, size_t length, const int fds[LOAD_MAX_FILES])
{
	const struct load_request *request = &s->request.load;
	struct load_answer *a = &s->answer.load;
	const struct elf_file *file;
	struct module_files files = {fds[0], -1, -1};
	struct module *m;
	int err, n = 1;

	if (request->flags & LOAD_DEBUG_FILE)
		files.debug = fds[n++];
	if (request->flags & LOAD_SHARED_FILE)
		files.shared = fds[n++];
	if (length != sizeof(*request) || fds[n - 1] < 0 || (n < LOAD_MAX_FILES && fds[n] >= 0) ||
	    strnlen(request->label, sizeof(request->label)) == sizeof(request->label) ||
	    request->kind > MODULE_PERF_MAP)
		return -EBADMSG;
	err = make_room(s, request->module);
	if (err)
		return err;
	memset(a, 0, sizeof(*a));
	module__free(s->modules[request->module]);
	m = module__load(request->kind, request->flags, &files, request->label);
	s->modules[request->module] = m;
	a->error = m ? 0 : -errno;
	file = m ? module__file(m) : NULL;
	if (m) {
		a->procedures = (uint32_t)module__size(m);
		a->is_split = module__is_split(m);
		snprintf(a->shared, sizeof(a->shared), "%s", module__shared(m));
		snprintf(a->link, sizeof(a->link), "%s", module__link(m));
	}
	if (file) {
		a->build_id_size = (uint32_t)file->build_id_size;
		memcpy(a->build_id, file->build_id, file->build_id_size);
	}
	return answer(s, sizeof(*a));
}

static struct module *find_module(const struct server *s, uint32_t number)
{
	return number < s->nmodules ? s->modules[number] : NULL;
}

/* Collects answers until a message is full. */
struct writer {
	struct answer_record *records;
	struct frame_record frames[PROTOCOL_MAX_MESSAGE / sizeof(struct frame_record)];
	char text[PROTOCOL_MAX_MESSAGE];
	uint32_t n, nframes, text_size;
};

static uint32_t write_text(struct writer *w, const struct name *name)
{
	uint32_t at = w->text_size;

	memcpy(w->text + at, name->text, name->length + 1);
	w->text_size += (uint32_t)name->length + 1;
	return at;
}

/* Most lines are in the file of their procedure. */
static struct frame_record write_frame(struct writer *w, const struct module_frame *frame)
{
	struct frame_record record = {
		.name = write_text(w, &frame->name),
		.file = write_text(w, &frame->file),
		.decl_line = frame->decl_line,
		.line = frame->line,
	};

	record.line_file = strcmp(frame->file.text, frame->line_file.text)
				   ? write_text(w, &frame->line_file)
				   : record.file;
	return record;
}

static size_t text_size(const struct module_frame *frames, uint32_t n)
{
	size_t size = 0;

	for (uint32_t i = 0; i < n; i++)
		size += frames[i].name.length + frames[i].file.length + frames[i].line_file.length +
			3;
	return size;
}

/*
 * False: there is no room. An answer that is too large for any message is reduced to its outermost
 * frame.
 */
static bool write_answer(struct writer *w, struct module_answer *a)
{
	size_t used = sizeof(struct resolve_answer) + w->n * sizeof(struct answer_record) +
		      w->nframes * sizeof(struct frame_record) + w->text_size;
	const struct module_frame *frames = a->frames;
	size_t needed = sizeof(struct answer_record) + a->nframes * sizeof(struct frame_record) +
			text_size(frames, a->nframes);

	if (used + needed > PROTOCOL_MAX_MESSAGE) {
		if (w->n > 0)
			return false;
		frames += a->nframes - 1;
		a->nframes = 1;
	}
	w->records[w->n++] = (struct answer_record) {a->start, a->flags, a->nframes};
	for (uint32_t i = 0; i < a->nframes; i++)
		w->frames[w->nframes++] = write_frame(w, &frames[i]);
	return true;
}

static int send_answers(struct server *s, const struct writer *w)
{
	struct resolve_answer *a = &s->answer.resolve;
	size_t length = sizeof(*a) + w->n * sizeof(*w->records);

	a->error = 0;
	a->n = w->n;
	a->nframes = w->nframes;
	a->text_size = w->text_size;
	memcpy(s->answer.bytes + length, w->frames, w->nframes * sizeof(*w->frames));
	length += w->nframes * sizeof(*w->frames);
	memcpy(s->answer.bytes + length, w->text, w->text_size);
	return answer(s, length + w->text_size);
}

/* The module that a request is about; NULL: the request is invalid. */
static struct module *find_asked(const struct server *s, size_t length)
{
	const struct resolve_request *request = &s->request.resolve;

	if (length < sizeof(*request) || request->n == 0 || request->n > PROTOCOL_MAX_ADDRESSES ||
	    length != sizeof(*request) + request->n * sizeof(uint64_t))
		return NULL;
	return find_module(s, request->module);
}

static int serve_resolve(struct server *s, size_t length)
{
	const struct resolve_request *request = &s->request.resolve;
	const uint64_t *addresses = (const uint64_t *)(request + 1);
	struct module *m = find_asked(s, length);
	static struct writer w;

	if (!m)
		return -EBADMSG;
	w.records = (struct answer_record *)(&s->answer.resolve + 1);
	w.n = w.nframes = w.text_size = 0;
	for (uint32_t i = 0; i < request->n; i++) {
		struct module_answer a = {.frames = s->frames};

		module__resolve(m, addresses[i], &a);
		if (!write_answer(&w, &a))
			break;
	}
	return send_answers(s, &w);
}

/*
 * Answers whether code waits. The code is read from the descriptor, since nothing else needs these
 * parts of a large file.
 */
static int serve_spin(struct server *s, size_t length, const int fds[LOAD_MAX_FILES])
{
	const struct resolve_request *request = &s->request.resolve;
	struct spin_answer *a = &s->answer.spin;
	struct spin_answer_writer *w = &s->spin;
	struct module *m = find_asked(s, length);

	if (!m || fds[0] < 0 || fds[1] >= 0)
		return -EBADMSG;
	spin_answer__write(w, m, fds[0], (const uint64_t *)(request + 1), request->n,
			   PROTOCOL_MAX_MESSAGE - sizeof(*a));
	close(fds[0]);
	memset(a, 0, sizeof(*a));
	a->n = w->n;
	a->text_size = w->text_size;
	length = w->n * sizeof(*w->records);
	memcpy(a + 1, w->records, length);
	memcpy((uint8_t *)(a + 1) + length, w->text, w->text_size);
	return answer(s, sizeof(*a) + length + w->text_size);
}

static int serve_split(struct server *s, size_t length, const int fds[LOAD_MAX_FILES])
{
	const struct resolve_request *request = &s->request.resolve;
	const uint64_t *addresses = (const uint64_t *)(request + 1);
	struct split_answer *a = &s->answer.split;
	struct module *m = find_asked(s, length);
	struct name file = {0};
	bool lacks = false;

	if (!m || fds[1] >= 0)
		return -EBADMSG;
	memset(a, 0, sizeof(*a));
	if (fds[0] >= 0)
		a->error = module__complete(m, fds[0]);
	for (uint32_t i = 0; i < request->n && !lacks; i++)
		lacks = module__lacks(m, addresses[i], &file);
	a->size = lacks ? (uint32_t)file.length + 1 : 0;
	memcpy(a + 1, file.text, a->size);
	return answer(s, sizeof(*a) + a->size);
}

static int send_rows(struct server *s, const struct cfi_table *t)
{
	for (uint32_t at = 0, n; at < t->n; at += n) {
		size_t size;
		int err;

		n = t->n - at < PROTOCOL_MAX_ROWS ? t->n - at : PROTOCOL_MAX_ROWS;
		size = n * sizeof(*t->rows);
		memcpy(s->answer.rows.rows, t->rows + at, size);
		err = send_message(&s->answer, MESSAGE_ROWS, sizeof(s->answer.rows) + size,
				   s->request.header.id);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Sends an unwind table. Reads the file separately, since tables are also needed for files without
 * wanted names.
 */
static int serve_table(struct server *s, size_t length, const int fds[LOAD_MAX_FILES])
{
	const struct table_request *request = &s->request.table;
	struct table_answer *a = &s->answer.table;
	struct cfi_table t = {0};
	struct elf_file *file;
	int err;

	if (length != sizeof(*request) || fds[0] < 0 || fds[1] >= 0)
		return -EBADMSG;
	memset(a, 0, sizeof(*a));
	file = elf_file__open(fds[0]);
	a->error = !file	 ? -errno
		   : request->to ? cfi__derive(file, request->from, request->to, &t)
				 : cfi__build(file, &t);
	if (!a->error && !request->to)
		python_layout__find(file, t.base, &a->python);
	elf_file__close(file);
	if (!a->error) {
		a->n = t.n;
		a->base = t.base;
		a->stats = t.stats;
		a->nsegments = t.nsegments;
		for (uint32_t i = 0; i < t.nsegments; i++)
			a->segments[i] = (struct segment_record) {
				t.segments[i].vaddr, t.segments[i].offset, t.segments[i].filesz};
	}
	err = answer(s, sizeof(*a));
	if (!err && !a->error)
		err = send_rows(s, &t);
	cfi__free(&t);
	return err;
}

static int serve_variable(struct server *s, size_t length, const int fds[LOAD_MAX_FILES])
{
	const struct variable_request *request = &s->request.variable;
	struct variable_answer *a = &s->answer.variable;
	struct module *m = find_module(s, request->module);
	struct module_variable variable = {0};

	if (length != sizeof(*request) || !m || fds[0] < 0 || fds[1] >= 0)
		return -EBADMSG;
	memset(a, 0, sizeof(*a));
	a->error = module__variable(m, fds[0], request->code, request->distance, request->beyond,
				    &variable);
	if (a->error)
		return answer(s, sizeof(*a));
	a->low = variable.low;
	a->high = variable.high;
	if (!variable.found)
		return answer(s, sizeof(*a));
	a->size = (uint32_t)variable.name.length + 1;
	memcpy(a + 1, variable.name.text, a->size);
	return answer(s, sizeof(*a) + a->size);
}

static int serve_forget(struct server *s, size_t length)
{
	uint32_t number = s->request.module.module;

	if (length != sizeof(s->request.module))
		return -EBADMSG;
	if (number < s->nmodules) {
		module__free(s->modules[number]);
		s->modules[number] = NULL;
	}
	return 0;
}

static int serve(struct server *s, size_t length, const int fds[LOAD_MAX_FILES])
{
	if (s->request.header.type == MESSAGE_LOAD)
		return serve_load(s, length, fds);
	if (s->request.header.type == MESSAGE_TABLE)
		return serve_table(s, length, fds);
	if (s->request.header.type == MESSAGE_VARIABLE)
		return serve_variable(s, length, fds);
	if (s->request.header.type == MESSAGE_SPIN)
		return serve_spin(s, length, fds);
	if (s->request.header.type == MESSAGE_SPLIT)
		return serve_split(s, length, fds);
	if (fds[0] >= 0)
		return -EBADMSG;
	switch (s->request.header.type) {
	case MESSAGE_RESOLVE:
		return serve_resolve(s, length);
	case MESSAGE_FORGET:
		return serve_forget(s, length);
	default:
		return -EBADMSG;
	}
}

int main(void)
{
	static struct server server;
	struct message_hello hello = {.version = PROTOCOL_VERSION};
	ssize_t length;
	int fds[LOAD_MAX_FILES], err;

	if (sandbox__enter(SOCKET) || send_message(&hello, MESSAGE_HELLO, sizeof(hello), 0))
		_exit(1);
	do {
		length = receive(&server, fds);
		err = length > 0 ? serve(&server, (size_t)length, fds) : (int)length;
	} while (length > 0 && !err);
	_exit(err ? 1 : 0);
}
