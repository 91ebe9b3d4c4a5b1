/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the daemon's side of the symbolizer share. Conventions as in symbolizer.h. */
#ifndef QUARTZ_DAEMON_SYMBOLIZER_PRIVATE_H
#define QUARTZ_DAEMON_SYMBOLIZER_PRIVATE_H

#include "daemon/symbolizer.h"
#include "daemon/symbolizer_child.h"

struct symbolizer_module {
	enum symbolizer_kind kind;
	int fd, debug_fd; /* -1: none, or removed */
	char label[sizeof(((struct load_request *)0)->label)];
	char build_id[2 * sizeof(((struct load_answer *)0)->build_id) + 1];
	uint64_t loaded_by; /* the child that has it: its number in counters.started, 0 none */
	uint64_t used;	    /* at which call of symbolizer__rest() */
	int error;	    /* for good: 0 or -errno */
};

struct answer_block;

struct symbolizer {
	struct symbolizer_options options;
	char *program;
	struct symbolizer_child child;
	uint32_t loaded; /* modules that the child has */
	int error;	 /* no child can be started */
	struct symbolizer_module **modules;
	uint32_t nmodules;
	uint64_t rests;
	struct answer_block *blocks;
	char *verdict_text; /* of the last verdicts */
	struct symbolizer_counters counters;
	union {
		struct load_request load;
		struct resolve_request resolve;
		struct unwind_request unwind;
		struct variable_request variable;
		uint8_t bytes[PROTOCOL_MAX_MESSAGE];
	} request;
	union {
		struct load_answer load;
		struct resolve_answer resolve;
		struct unwind_answer unwind;
		struct table_answer table;
		struct rows_message rows;
		struct verdicts_answer verdicts;
		struct variable_answer variable;
		uint8_t bytes[PROTOCOL_MAX_MESSAGE];
	} answer;
};

/* NULL: no such number. */
struct symbolizer_module *symbolizer__find_module(const struct symbolizer *s, int number);

/* Makes sure that the child has the module. A child whose memory is full of others is replaced. */
int symbolizer__load(struct symbolizer *s, uint32_t number);

/* Sends a request about a module and gives the length of the answer, or what accident() gives. */
ssize_t symbolizer__exchange(struct symbolizer *s, const struct symbolizer_request *r,
			     uint32_t module);

/* Exchanges a request of these type, descriptors and deadline for n addresses, which fit. Likewise. */
ssize_t symbolizer__ask(struct symbolizer *s, struct symbolizer_request *r, uint32_t module,
			const uint64_t *addresses, size_t n);

/*
 * Ends a child that did not answer as it should (-EBADMSG, or what exchange met); the module it
 * worked on is refused for good. -ETIME.
 */
int symbolizer__accident(struct symbolizer *s, uint32_t module, int err);

#endif
