/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quartzctl: what its commands share. A command gets the parsed configuration. It, and each function below that gives an enum
 * status, has said on stderr why when that is not STATUS_OK.
 */
#ifndef QUARTZ_CLI_CLI_H
#define QUARTZ_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/util/exit_status.h"
#include "core/util/options.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/*
 * What command lines say, as far as more than one file needs it. A command that needs more has a struct of its own that begins with
 * this one, see struct command.
 */
struct config {
	bool help;

	/* which profile */
	const char *input;	   /* snapshot file, NULL: live, or the newest one */
	bool live;		   /* the running quartzd and nothing else */
	bool live_first;	   /* it, rather than what was recorded */
	const char *since, *until; /* of history; NULL: not given */
	uint64_t last;		   /* ns, 0: not given */
	const char *time;	   /* interval of a run, NULL: all of it */
	bool window;		   /* that of the load */
	const char *scope;	   /* NULL: all scopes */

	/* what of it */
	const char *procedure; /* or object; of set, NAME=VALUE; of replay, a log */
	bool by_part;	       /* a part of its name will do if it is unique */
	const char *kind;      /* list of words, NULL: the default */
	unsigned int kinds;    /* what it says, enum qz_rank_kind */
	int64_t rows;	       /* 0: all, -1: not given */
	bool threads, callers, waits, woken, snapshot, timeline, flat, tree, each, all, costs;
	int rank;			       /* report: what to sort by, enum qz_rank_key */
	int64_t depth;			       /* of the tree, 0: not given */
	int by, sort;			       /* ps, top, diff: in the order of their words */
	bool assembly;			       /* annotate */
	const char *source_dir, *strip_prefix; /* NULL: not given */

	/* how, and where to */
	bool json, wide, no_pager, open;
	int color;	    /* enum color_when */
	const char *output; /* file or directory, NULL: not given */
	const char *html;   /* the page's file, NULL: not given */

	/* diff */
	struct qz_texts profiles; /* files */
	size_t nbefore;		  /* of these; 0: nothing separates them */

	/* what is measured */
	char **command; /* NULL-terminated, empty: none */
	struct qz_integers pids;
	int64_t pid;		    /* 0: the machine, or all */
	const char *user;	    /* NULL: not given */
	int64_t rate;		    /* 0: the default of quartzd */
	uint64_t duration;	    /* ns, 0: not given */
	uint64_t limit;		    /* ns, of all runs; 0: not given */
	int64_t runs;		    /* of each setting, 0: the default */
	bool dry_run, try_remedies; /* tune, advise */
	bool record;		    /* advise: of the tries so far */
	const char *check;	    /* of what runs have printed, NULL: not given */
	/* scale */
	struct qz_integers processor_list; /* none: the usual ones */
	const char *baseline;		   /* NULL: not given */
	const char *events;		   /* command that counts them, NULL: not given */
};

/* For tables of options; and the struct of a command, by the struct config that it begins with. */
#define FIELD(name)	      offsetof(struct config, name)
#define OWN_FIELD(type, name) offsetof(struct type, name)
#define OWN(type, config)     ((const struct type *)(config))

/* Options that several commands have (cli/commands/parse.c), in the order in which --help lists them. */
enum shared_options {
	SHARED_PROCESSES = 1, /* --by, --sort of tables of processes */
	SHARED_SCOPE = 2,
	SHARED_SOURCE = 4, /* which profile */
	SHARED_PART = 8,   /* of the run */
	SHARED_ROWS = 16,
	SHARED_JSON = 32,
	SHARED_LOOK = 64, /* of tables */
	SHARED_PAGER = 128,
	SHARED_FIGURES = SHARED_ROWS | SHARED_JSON | SHARED_LOOK | SHARED_PAGER,
};

/* A command has all that is its own in one file: struct, options, checks, and this at the end. */
struct command {
	const char *name;
	const char *operands; /* for the usage line, NULL: none */
	const char *summary;
	const char *details;		 /* further lines of the help text, or NULL */
	const struct qz_option *options; /* its own, or NULL */
	unsigned int shared;		 /* enum shared_options */
	size_t size; /* of its struct, which begins with struct config; 0: it is that one */
	const void *defaults; /* such a struct, NULL: all is 0, but for rows */
	/* Why options do not go together, NULL: they do; and what the command does. */
	const char *(*find_misuse)(const struct config *config);
	enum status (*run)(const struct config *config);
	bool takes_procedure, takes_pid; /* one operand, optional */
	bool needs_procedure, by_part;	 /* not optional; see struct config */
	bool takes_command;		 /* all operands, at least one */
	bool takes_profiles;		 /* two, or two lists with "--" between them */
	bool live_first;		 /* see struct config */
};

extern const struct command cmd_record, cmd_scale, cmd_tune, cmd_knobs, cmd_set, cmd_replay,
	cmd_report, cmd_annotate, cmd_advise, cmd_what_if, cmd_diff, cmd_threads, cmd_objects,
	cmd_pairs, cmd_ps, cmd_top, cmd_events, cmd_export, cmd_html, cmd_status, cmd_pause,
	cmd_resume, cmd_reload, cmd_doctor, cmd_version;

/* "quartzctl: " and the message, as one line on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says that memory ran out. */
enum status out_of_memory(void);

#endif
