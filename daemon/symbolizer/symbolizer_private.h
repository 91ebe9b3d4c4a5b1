/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the daemon's side of the symbolizer share. Conventions as in symbolizer.h. */
#ifndef QUARTZ_DAEMON_SYMBOLIZER_PRIVATE_H
#define QUARTZ_DAEMON_SYMBOLIZER_PRIVATE_H

#include <string.h>
#include <time.h>

#include "daemon/symbolizer/symbolizer.h"
#include "daemon/privsep/symbolizer_child.h"

struct symbolizer_module {
	enum symbolizer_kind kind;
	int fd, debug_fd, shared_fd; /* -1: none, or removed */
	struct {
		int64_t size;
		struct timespec written;
	} contents; /* of the file, when it was added */
	char label[sizeof(((struct load_request *)0)->label)];
	char build_id[2 * sizeof(((struct load_answer *)0)->build_id) + 1];
	bool split; /* -gsplit-dwarf */
	char shared[sizeof(((struct load_answer *)0)->shared)];
	char link[sizeof(((struct load_answer *)0)->link)];
	uint64_t loaded_by; /* the child that has it: its number in counters.started, 0 none */
	uint64_t used;	    /* at which call of symbolizer__rest() */
	int error;	    /* for good: 0 or -errno */
	uint32_t accidents; /* children that ended over it since it last answered */
	uint32_t hangs;	    /* that were ended for their silence over it */
	int64_t again_ms;   /* when it may be tried again */
};

struct answer_block;

struct symbolizer {
	struct symbolizer_options options;
	char *program;
	struct symbolizer_child child;
	uint64_t giving; /* device of the file that the next table is of, or GIVEN_OTHERS */
	uint64_t given;	 /* of all files that the child was given for tables, or one of: */
#define GIVEN_NONE   0
#define GIVEN_OTHERS UINT64_MAX /* of several, or such as no tables are kept of */
	uint32_t loaded;	/* modules that the child has */
	uint32_t unstarted;	/* attempts to start one, in a row, that failed */
	int64_t start_ms;	/* when the next one may be made */
	int64_t asked_ms;	/* when the last request was sent */
	int64_t suspects_ms; /* when the next module may be tried again over which a child has ended */
	int64_t told_ms;     /* when a message was last printed that a child has ended; 0: never */
	struct symbolizer_module **modules;
	uint32_t nmodules;
	uint64_t rests;
	struct answer_block *blocks;
	char *spin_text; /* names in the last answer of symbolizer__classify */
	struct symbolizer_counters counters;
	union {
		struct load_request load;
		struct resolve_request resolve;
		struct variable_request variable;
		struct table_request table;
		uint8_t bytes[PROTOCOL_MAX_MESSAGE];
	} request;
	union {
		struct load_answer load;
		struct resolve_answer resolve;
		struct table_answer table;
		struct rows_message rows;
		struct spin_answer spin;
		struct variable_answer variable;
		struct split_answer split;
		uint8_t bytes[PROTOCOL_MAX_MESSAGE];
	} answer;
};

/* NULL: no such number. */
struct symbolizer_module *symbolizer__find_module(const struct symbolizer *s, int number);

/* Ends the child, and what it has loaded. */
void symbolizer__stop_child(struct symbolizer *s);

/* Refuses the module for good. */
void symbolizer__refuse(struct symbolizer *s, struct symbolizer_module *m, int err);

/*
 * Whether the file was written since it was added, so that answers are of other code; it is then refused. To be
 * asked after an answer.
 */
bool symbolizer__was_written(struct symbolizer *s, struct symbolizer_module *m);

/* Makes sure that the child has the module. */
int symbolizer__load(struct symbolizer *s, uint32_t number);

/* Sends a request about a module and gives the length of the answer, or what accident() gives. */
ssize_t symbolizer__exchange(struct symbolizer *s, const struct symbolizer_request *r,
			     uint32_t module);

/* Frees the frames and strings of the last answers. */
void symbolizer__drop_answers(struct symbolizer *s);

/* Whether a string of an answer ends inside of its text. */
static inline bool symbolizer__text_valid(const char *text, uint32_t size, uint32_t at)
{
	return at < size && strnlen(text + at, PROTOCOL_MAX_TEXT) < PROTOCOL_MAX_TEXT;
}

/* Makes a request, for which a child whose memory is full of other modules is replaced. */
typedef int symbolizer_request_fn(struct symbolizer *s, uint32_t number);
int symbolizer__try(struct symbolizer *s, uint32_t number, symbolizer_request_fn *request);

/* A question about n addresses of one module, a batch at a time, so that a request ends in a small part of its time. */
struct symbolizer_question {
	uint32_t type;
	size_t batch;
	bool with_file; /* goes with each request */
	const uint64_t *addresses;
	size_t n;
	/* Takes the answer of this length to some of them, before which `done` were answered. Their number, -EBADMSG or -ENOMEM. */
	ssize_t (*take)(struct symbolizer *s, size_t length, size_t asked, void *answers,
			size_t done);
	void *answers;
};

/* 0; -EINVAL: no such module; or why it cannot be answered. */
int symbolizer__ask(struct symbolizer *s, int module, const struct symbolizer_question *q);

/*
 * Ends a child that did not answer as it should (-EBADMSG, or what exchange met). The module that it worked on
 * is tried again later (-EAGAIN), or refused for good (-ETIME).
 */
int symbolizer__accident(struct symbolizer *s, uint32_t module, int err);

#endif
