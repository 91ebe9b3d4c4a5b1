/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes the place of quartz-symbolizer and lies. The label of a module is the lie that is told when
 * it is asked about; "honest" modules get a right answer.
 */
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

#include "symbolizer/protocol.h"

#define MODULES_MAX 64

/* A right answer for one address: one frame, named "name". */
struct right_answer {
	struct resolve_answer body;
	struct answer_record record;
	struct frame_record frame;
	char text[6]; /* "name" and "" */
};

static char labels[MODULES_MAX][256];
static uint8_t request[PROTOCOL_MAX_MESSAGE], answer[2 * PROTOCOL_MAX_MESSAGE];

static void say(uint32_t type, size_t length, uint64_t id)
{
	struct message_header header = {type, (uint32_t)length, id};

	memcpy(answer, &header, sizeof(header));
	if (send(0, answer, length, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static void answer_load(const struct message_header *header, const char *lie)
{
	struct load_answer *a = (struct load_answer *)answer;
	size_t length = sizeof(*a);

	memset(a, 0, sizeof(*a));
	if (strcmp(lie, "load-short") == 0)
		length -= 8;
	if (strcmp(lie, "load-build-id") == 0)
		a->build_id_size = 65;
	if (strcmp(lie, "load-error") == 0)
		a->error = 1;
	if (strcmp(lie, "load-exit") == 0)
		_exit(0);
	say(MESSAGE_LOAD, length, header->id);
}

/* What can be wrong inside of a message of the right length. */
static void bend(struct right_answer *a, const char *lie)
{
	if (strcmp(lie, "none") == 0)
		a->body.n = 0;
	if (strcmp(lie, "many") == 0)
		a->body.n = 2;
	if (strcmp(lie, "most") == 0)
		a->body.n = UINT32_MAX;
	if (strcmp(lie, "frames") == 0)
		a->body.nframes = UINT32_MAX;
	if (strcmp(lie, "text-size") == 0)
		a->body.text_size = UINT32_MAX;
	if (strcmp(lie, "error") == 0)
		a->body.error = -1;
	if (strcmp(lie, "name") == 0)
		a->frame.name = sizeof(a->text);
	if (strcmp(lie, "file") == 0)
		a->frame.file = UINT32_MAX;
	if (strcmp(lie, "frameless") == 0)
		a->record.nframes = 0;
	if (strcmp(lie, "more-frames") == 0)
		a->record.nframes = 2;
	if (strcmp(lie, "most-frames") == 0)
		a->record.nframes = UINT32_MAX;
	if (strcmp(lie, "not-found") == 0)
		a->record.flags = 0;
	if (strcmp(lie, "unterminated") == 0)
		memset(a->text, 'x', sizeof(a->text));
}

/* A name of more than PROTOCOL_MAX_TEXT, in a message that is right otherwise. */
static size_t lengthen(struct right_answer *a)
{
	size_t before = offsetof(struct right_answer, text);

	a->body.text_size = 10000;
	memset(answer + before, 'x', 9999);
	answer[before + 9999] = '\0';
	return before + 10000;
}

static void send_descriptor(void)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec iov = {answer, sizeof(struct message_header)};
	struct msghdr msg = {NULL, 0, &iov, 1, &control, sizeof(control), 0};

	sendmsg(0, &msg, MSG_NOSIGNAL);
}

static void answer_resolve(const struct message_header *header, const char *lie)
{
	static const struct right_answer right = {
		.body = {.n = 1, .nframes = 1, .text_size = 6},
		.record = {.flags = ANSWER_FOUND, .nframes = 1},
		.frame = {.name = 0, .file = 5},
		.text = "name",
	};
	struct right_answer *a = (struct right_answer *)answer;
	size_t length = offsetof(struct right_answer, text) + sizeof(a->text);

	memcpy(answer, &right, sizeof(right));
	bend(a, lie);
	if (strcmp(lie, "long-name") == 0)
		length = lengthen(a);
	if (strcmp(lie, "type") == 0)
		say(MESSAGE_UNWIND, length, header->id);
	if (strcmp(lie, "id") == 0)
		say(MESSAGE_RESOLVE, length, header->id - 1);
	if (strcmp(lie, "short") == 0)
		say(MESSAGE_RESOLVE, 8, header->id);
	if (strcmp(lie, "cut") == 0)
		say(MESSAGE_RESOLVE, length - 1, header->id);
	if (strcmp(lie, "huge") == 0)
		say(MESSAGE_RESOLVE, sizeof(answer), header->id);
	if (strcmp(lie, "descriptor") == 0)
		send_descriptor();
	if (strcmp(lie, "exit") == 0)
		_exit(0);
	while (strcmp(lie, "flood") == 0)
		say(MESSAGE_WORKING, sizeof(struct message_module), 0);
	say(MESSAGE_RESOLVE, length, header->id);
}

static void answer_unwind(const struct message_header *header, const char *lie)
{
	struct unwind_answer *a = (struct unwind_answer *)answer;

	memset(a, 0, sizeof(*a));
	if (strcmp(lie, "unwind-n") == 0)
		a->n = UINT32_MAX;
	if (strcmp(lie, "unwind-more") == 0)
		a->n = 1;
	if (strcmp(lie, "unwind-complete") == 0)
		a->complete = 2;
	while (strcmp(lie, "unwind-flood") == 0)
		say(MESSAGE_WORKING, sizeof(struct message_module), 0);
	say(MESSAGE_UNWIND, sizeof(*a), header->id);
}

/* What is false before the rows come. */
static size_t bend_table(struct table_answer *a, const char *lie)
{
	if (strcmp(lie, "table-none") == 0)
		a->n = 0;
	if (strcmp(lie, "table-many") == 0)
		a->n = TABLE_MAX_ROWS + 1;
	if (strcmp(lie, "table-more") == 0)
		a->n = 3;
	if (strcmp(lie, "table-fewer") == 0)
		a->n = 1;
	if (strcmp(lie, "table-error") == 0)
		a->error = 1;
	if (strcmp(lie, "table-segments") == 0)
		a->nsegments = TABLE_MAX_SEGMENTS + 1;
	return strcmp(lie, "table-short") == 0 ? sizeof(*a) - 8 : sizeof(*a);
}

static size_t bend_rows(struct rows_message *m, const char *lie)
{
	size_t length = sizeof(*m) + 2 * sizeof(m->rows[0]);

	m->rows[0] = (struct qz_unwind_row) {.pc = 16, .kind = QZ_CFA_RSP, .cfa = 1};
	m->rows[1] = (struct qz_unwind_row) {.pc = 32, .kind = QZ_CFA_NONE};
	if (strcmp(lie, "rows-order") == 0)
		m->rows[1].pc = 16;
	if (strcmp(lie, "rows-kind") == 0)
		m->rows[1].kind = QZ_CFA_KINDS;
	if (strcmp(lie, "rows-rbp") == 0)
		m->rows[0].kind = QZ_UNWIND_KIND(QZ_CFA_RSP, QZ_RBP_RBP + 1);
	if (strcmp(lie, "rows-none") == 0)
		length = sizeof(*m);
	if (strcmp(lie, "rows-cut") == 0)
		length -= 1;
	return length;
}

static void answer_table(const struct message_header *header, const char *lie)
{
	struct table_answer *a = (struct table_answer *)answer;
	size_t length;

	memset(a, 0, sizeof(*a));
	a->n = 2;
	say(MESSAGE_TABLE, bend_table(a, lie), header->id);
	if (strcmp(lie, "rows-exit") == 0)
		_exit(0);
	length = bend_rows((struct rows_message *)answer, lie);
	if (strcmp(lie, "rows-type") == 0)
		say(MESSAGE_TABLE, length, header->id);
	if (strcmp(lie, "rows-id") == 0)
		say(MESSAGE_ROWS, length, header->id + 1);
	say(MESSAGE_ROWS, length, header->id);
}

struct right_verdict {
	struct verdicts_answer body;
	struct verdict_record record;
	char text[5];
};

static void answer_verdicts(const struct message_header *header, const char *lie)
{
	static const struct right_verdict right = {
		.body = {.n = 1, .text_size = 5},
		.record = {.spin = QZ_SPIN_PURE, .start = 1, .end = 5},
		.text = "name",
	};
	struct right_verdict *a = (struct right_verdict *)answer;
	size_t length = offsetof(struct right_verdict, text) + sizeof(a->text);

	memcpy(answer, &right, sizeof(right));
	if (strcmp(lie, "verdict-none") == 0)
		a->body.n = 0;
	if (strcmp(lie, "verdict-many") == 0)
		a->body.n = 2;
	if (strcmp(lie, "verdict-most") == 0)
		a->body.n = UINT32_MAX;
	if (strcmp(lie, "verdict-error") == 0)
		a->body.error = -1;
	if (strcmp(lie, "verdict-class") == 0)
		a->record.spin = QZ_SPIN_CLASSES;
	if (strcmp(lie, "verdict-range") == 0)
		a->record.start = 6;
	if (strcmp(lie, "verdict-procedure") == 0)
		a->record.procedure_start = 1;
	if (strcmp(lie, "verdict-name") == 0)
		a->record.name = 5;
	if (strcmp(lie, "verdict-text") == 0)
		a->body.text_size = 6;
	if (strcmp(lie, "verdict-unterminated") == 0)
		memset(a->text, 'x', sizeof(a->text));
	if (strcmp(lie, "verdict-cut") == 0)
		length = sizeof(a->body) - 8;
	say(MESSAGE_VERDICTS, length, header->id);
}

int main(void)
{
	struct message_hello *hello = (struct message_hello *)answer;
	const struct load_request *load = (const struct load_request *)request;
	const struct resolve_request *resolve = (const struct resolve_request *)request;
	const struct unwind_request *unwind = (const struct unwind_request *)request;
	const struct message_module *table = (const struct message_module *)request;
	const struct message_header *header = (const struct message_header *)request;
	const struct region_record *region = (const struct region_record *)(unwind + 1);

	hello->version = PROTOCOL_VERSION;
	say(MESSAGE_HELLO, sizeof(*hello), 0);
	while (recv(0, request, sizeof(request), 0) > 0) {
		if (header->type == MESSAGE_LOAD) {
			memcpy(labels[load->module], load->label, sizeof(load->label));
			answer_load(header, load->label);
		} else if (header->type == MESSAGE_RESOLVE) {
			answer_resolve(header, labels[resolve->module]);
		} else if (header->type == MESSAGE_UNWIND) {
			answer_unwind(header, labels[region->module]);
		} else if (header->type == MESSAGE_TABLE) {
			answer_table(header, labels[table->module]);
		} else if (header->type == MESSAGE_VERDICTS) {
			answer_verdicts(header, labels[resolve->module]);
		}
	}
	return 0;
}
