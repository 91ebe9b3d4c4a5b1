/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command line options from a table: one row per option gives its parsing, its limits, the field
 * that it sets and its line of --help, so that none of these can differ from the others.
 */
#ifndef QUARTZ_CORE_OPTIONS_H
#define QUARTZ_CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What an option takes, and the type of the field that it sets. */
enum qz_option_kind {
	QZ_OPTION_FLAG,	    /* nothing; bool, set to true */
	QZ_OPTION_STRING,   /* const char *, points into argv */
	QZ_OPTION_INTEGER,  /* int64_t within min .. max */
	QZ_OPTION_INTEGERS, /* struct qz_integers; the option may be repeated, and N,N be given */
	QZ_OPTION_STRINGS,  /* struct qz_texts, point into argv; the option may be repeated */
	QZ_OPTION_DURATION, /* uint64_t nanoseconds within min .. max; without a unit: seconds */
	QZ_OPTION_PERCENT,  /* int64_t millionths of the whole within min .. max */
	QZ_OPTION_CHOICE,   /* int, which of the words "a|b|c" of metavar it is */
};

/* The values of a repeated option. The owner of the field frees items. */
struct qz_integers {
	int64_t *items;
	size_t n;
};

/* Whether one of them is this one. */
bool qz_integers__have(const struct qz_integers *list, int64_t value);

struct qz_texts {
	const char **items;
	size_t n;
};

/* A table ends with a row without a name. */
struct qz_option {
	const char *name; /* long, without dashes */
	char short_name;  /* 0: none */
	enum qz_option_kind kind;
	size_t field;	     /* offset in the configuration */
	const char *metavar; /* of the value; NULL for flags */
	const char *help;    /* of one or more lines */
	int64_t min, max;
};

/*
 * Parses argv[1 .. argc-1] into config until the first operand or "--". Returns the index of the
 * first operand (argc when there is none); -EINVAL with a message without newline in err, or
 * -ENOMEM. Uses getopt_long and its global state.
 */
int qz_options__parse(int argc, char *const argv[], const struct qz_option *table, void *config,
		      char *err, size_t errsize);

/* Writes the usage text unchanged, then an entry for each option. */
void qz_options__help(FILE *out, const char *usage, const struct qz_option *table);

/* A whole decimal number within min .. max: 0, else -EINVAL or -ERANGE. */
int qz_options__integer(const char *text, int64_t min, int64_t max, int64_t *value);

/*
 * A time such as 10, 1.5s, 500ms, 5min, 2h, in nanoseconds, within min .. max: 0, else -EINVAL or
 * -ERANGE.
 */
int qz_options__duration(const char *text, int64_t min, int64_t max, uint64_t *value);

/* Per cent such as 1 or 0.25, in millionths of the whole, within min .. max: 0, else -EINVAL or -ERANGE. */
int qz_options__percent(const char *text, int64_t min, int64_t max, int64_t *value);

#endif
