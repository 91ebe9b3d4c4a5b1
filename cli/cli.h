/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quartzctl: what its commands share. A command gets the parsed configuration and gives an exit
 * status; it has then said on stderr why, when that is not STATUS_OK.
 */
#ifndef QUARTZ_CLI_CLI_H
#define QUARTZ_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "core/util/exit_status.h"
#include "core/util/options.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* All that a command line can say; each command's table binds its options to these fields. */
struct config {
	bool help;
	const char *input;	   /* snapshot file, NULL: live, or the newest one */
	bool live;		   /* the running quartzd and nothing else */
	bool live_first;	   /* it, rather than what was recorded */
	const char *since, *until; /* of history; NULL: not given */
	uint64_t last;		   /* ns, 0: not given */
	const char *time;	   /* interval of a run, NULL: all of it */
	const char *scope;	   /* NULL: all scopes */
	const char *procedure;	   /* or object */
	const char *kind;	   /* list of words, NULL: the default */
	unsigned int kinds;	   /* what it says, enum qz_rank_kind */
	int64_t rows;		   /* 0: all, -1: not given */
	bool threads, callers, waits, woken, snapshot, timeline, preload, json, wide, no_pager;
	bool window, flat, tree, each, all, costs;
	int rank;      /* report: what to sort by, enum qz_rank_key */
	int64_t depth; /* of the tree, 0: not given */
	int color;     /* enum color_when */

	bool assembly; /* annotate */
	bool by_part;  /* a part of a procedure's name will do if it is unique */
	const char *source_dir, *strip_prefix; /* NULL: not given */

	const char *spread, *remove, *speedup, *overlap; /* what-if; NULL: not given */
	int64_t processors;				 /* 0: those of the profile */
	int64_t extra;					 /* percent */

	int by, sort; /* ps, diff: in the order of their words */

	struct qz_texts profiles;   /* diff: files */
	size_t nbefore;		    /* of these; 0: nothing separates them */
	struct qz_texts fail_above; /* diff */
	const char *html;	    /* diff, scale: the page's file, NULL: none */

	const char *output, *cpu; /* record */
	int64_t rate;		  /* 0: the default of quartzd */
	int64_t snapshots;	  /* Hz, 0: none */
	const char *cache_size;	  /* MiB, as quartzd has it; NULL: its default */
	bool lines, inlines;
	struct qz_texts spin_symbols; /* files */
	struct qz_integers pids;
	struct qz_integers trees;
	const char *unit, *container; /* NULL: not given */
	bool system;
	uint64_t duration, delay; /* ns, 0: not given */
	const char *log;	  /* record: file of the scheduler's log, NULL: not given */
	const char *what_if;	  /* candidates, NULL: none */
	int runtime;		  /* record: enum runtime_when */
	const char *user;	  /* NULL: not given */
	char **command;		  /* NULL-terminated, empty: none */

	struct qz_integers processor_list; /* scale; none: the usual ones */
	int64_t runs;			   /* of each, 0: the default */
	const char *baseline;		   /* NULL: not given */
	struct qz_texts from;		   /* files and directories */
	const char *events;		   /* command that counts them, NULL: not given */

	const char *knob, *start; /* tune; NULL: not given */
	int64_t trials;		  /* 0: the default */
	uint64_t limit;		  /* ns, likewise; of advise --try, too */
	int measure;		  /* in the order of their words */
	bool dry_run;

	bool try_remedies, record; /* advise */
	const char *check;	   /* NULL: not given */

	int64_t pid; /* doctor, 0: the machine; knobs, 0: all; set */

	bool verbose;

	struct qz_texts between; /* events: pairs of values */

	bool open; /* html, diff, scale */

	int format, value; /* export: in the order of their words, -1: not given */
};

enum runtime_when { RUNTIME_AUTO, RUNTIME_NONE };

/* The first rows are for report alone; what follows serves all commands that show procedures. */
enum { REPORT_ONLY_OPTIONS = 13 };
extern const struct qz_option report_options[];
extern const struct qz_option threads_options[];

/* Follows the options of each command that shows figures. */
extern const struct qz_option profile_options[];
enum { PROFILE_SOURCE_OPTIONS = 7 }; /* the first rows say which profile */

extern const struct qz_option annotate_options[];
extern const struct qz_option advise_options[];
extern const struct qz_option what_if_options[];
extern const struct qz_option diff_options[];
extern const struct qz_option ps_options[];
extern const struct qz_option top_options[];
extern const struct qz_option status_options[];
extern const struct qz_option control_options[];
extern const struct qz_option record_options[];
extern const struct qz_option replay_options[];
extern const struct qz_option scale_options[];
extern const struct qz_option tune_options[];
extern const struct qz_option set_options[];
extern const struct qz_option doctor_options[];
extern const struct qz_option events_options[];
extern const struct qz_option export_options[];
extern const struct qz_option html_options[];
extern const struct qz_option version_options[];

enum status cmd_replay(const struct config *config);
enum status cmd_report(const struct config *config);
enum status cmd_annotate(const struct config *config);
enum status cmd_advise(const struct config *config);
enum status cmd_what_if(const struct config *config);
enum status cmd_diff(const struct config *config);
enum status cmd_threads(const struct config *config);
enum status cmd_objects(const struct config *config);
enum status cmd_pairs(const struct config *config);
enum status cmd_ps(const struct config *config);
enum status cmd_top(const struct config *config);
enum status cmd_status(const struct config *config);
enum status cmd_pause(const struct config *config);
enum status cmd_resume(const struct config *config);
enum status cmd_reload(const struct config *config);
enum status cmd_record(const struct config *config);
enum status cmd_scale(const struct config *config);
enum status cmd_tune(const struct config *config);
enum status cmd_events(const struct config *config);
enum status cmd_export(const struct config *config);
enum status cmd_knobs(const struct config *config);
enum status cmd_set(const struct config *config);
enum status cmd_html(const struct config *config);
enum status cmd_doctor(const struct config *config);
enum status cmd_version(const struct config *config);

/* "quartzctl: " and the message, as one line on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says that memory ran out. */
enum status out_of_memory(void);

#endif
