/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/cli.h"

#define FIELD(name) offsetof(struct config, name)

const struct qz_option report_options[] = {
	{"threads", 't', QZ_OPTION_FLAG, FIELD(threads), NULL, "Show the threads too."},
	{"callers", 'c', QZ_OPTION_FLAG, FIELD(callers), NULL,
	 "With PROCEDURE: show on whose behalf it ran."},
	{"kind", 'k', QZ_OPTION_STRING, FIELD(kind), "KINDS",
	 "List these, separated by commas: procedure,\nobject, thread [procedure,object]."},
	{"waits", 'W', QZ_OPTION_FLAG, FIELD(waits), NULL,
	 "Show what each waited for instead of its\nown time."},
	{"woken", 0, QZ_OPTION_FLAG, FIELD(woken), NULL,
	 "Rank by the other metric, time until woken."},
	{"snapshot", 0, QZ_OPTION_FLAG, FIELD(snapshot), NULL,
	 "Show what all processors were doing at the\ninstants that record --snapshots took."},
	/* up to here REPORT_ONLY_OPTIONS */
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Show these: machine, kernel, all, pid=N,\ncomm=NAME, unit=NAME, cgroup=PATH, or an "
	 "index.\nDefault: the machine where it was profiled,\nelse all."},
	{0},
};

const struct qz_option profile_options[] = {
	{"input", 'i', QZ_OPTION_STRING, FIELD(input), "FILE",
	 "Read this snapshot. Default: the running\nquartzd, else the newest snapshot."},
	{"since", 0, QZ_OPTION_STRING, FIELD(since), "TIME",
	 "Show what quartzd --system measured from then on:\n-10min, 14:30, '2026-01-31 14:30', "
	 "@SECONDS."},
	{"until", 0, QZ_OPTION_STRING, FIELD(until), "TIME", "The same up to then."},
	{"last", 0, QZ_OPTION_DURATION, FIELD(last), "TIME",
	 "The same as --since -TIME, such as 10min.", 1, INT64_MAX},
	{"rows", 'n', QZ_OPTION_INTEGER, FIELD(rows), "ROWS",
	 "Show at most so many rows, 0 for all.\nDefault: 20 as text, all as JSON.", 0, INT32_MAX},
	{"json", 0, QZ_OPTION_FLAG, FIELD(json), NULL, "Print JSON instead of text."},
	{"wide", 'w', QZ_OPTION_FLAG, FIELD(wide), NULL, "Do not cut long names."},
	{"color", 0, QZ_OPTION_CHOICE, FIELD(color), "auto|always|never",
	 "Highlight shares from 5 % and from 0.5 % [auto]."},
	{"no-pager", 0, QZ_OPTION_FLAG, FIELD(no_pager), NULL,
	 "Do not start a pager on a terminal."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option status_options[] = {
	{"json", 0, QZ_OPTION_FLAG, FIELD(json), NULL, "Print JSON instead of text."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option control_options[] = {
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option ps_options[] = {
	{"by", 'b', QZ_OPTION_CHOICE, FIELD(by), "process|comm|unit|cgroup",
	 "What has a row of its own [process]."},
	{"sort", 'S', QZ_OPTION_CHOICE, FIELD(sort),
	 "norm|cpu|parallelism|serial|spin|threads|name", "What rows are sorted by [norm]."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Of these alone: comm=NAME, unit=NAME,\ncgroup=PATH, pid=N [all]."},
	{0},
};

const struct qz_option top_options[] = {
	{"by", 'b', QZ_OPTION_CHOICE, FIELD(by), "process|comm|unit|cgroup",
	 "What has a row of its own [process]."},
	{"sort", 'S', QZ_OPTION_CHOICE, FIELD(sort),
	 "norm|cpu|parallelism|serial|spin|threads|name", "What rows are sorted by [norm]."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option record_options[] = {
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Write the snapshot here. Default: a new file in\n/var/lib/quartz/profiles."},
	{"rate", 'F', QZ_OPTION_INTEGER, FIELD(rate), "HZ",
	 "Samples per second and processor [999].", 1, 10000},
	{"cpu", 0, QZ_OPTION_STRING, FIELD(cpu), "N[,N...]|auto|none",
	 "Processors that quartzd keeps for itself [auto]."},
	{"lines", 0, QZ_OPTION_FLAG, FIELD(lines), NULL, "Look up source files and lines."},
	{"inlines", 0, QZ_OPTION_FLAG, FIELD(inlines), NULL, "Show inlined procedures too."},
	{"spin-symbols", 0, QZ_OPTION_STRINGS, FIELD(spin_symbols), "FILE",
	 "Rules on procedures that wait; may be repeated."},
	{"woken", 0, QZ_OPTION_FLAG, FIELD(woken), NULL, "Measure the time until woken too."},
	{"snapshots", 0, QZ_OPTION_INTEGER, FIELD(snapshots), "HZ",
	 "So often per second, see what all processors do\nat one instant; needs quartz.ko.", 1,
	 1000},
	{"preload", 0, QZ_OPTION_FLAG, FIELD(preload), NULL,
	 "Load libquartz-preload.so into COMMAND."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option doctor_options[] = {
	{"input", 'i', QZ_OPTION_STRING, FIELD(input), "FILE",
	 "With PID: examine this snapshot. Default: the\nrunning quartzd, else the newest "
	 "snapshot."},
	{"json", 0, QZ_OPTION_FLAG, FIELD(json), NULL, "Print JSON instead of text."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option version_options[] = {
	{"verbose", 'v', QZ_OPTION_FLAG, FIELD(verbose), NULL,
	 "Name the libraries, the schemas and the kernel too."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option events_options[] = {
	{"input", 'i', QZ_OPTION_STRING, FIELD(input), "FILE",
	 "Read the events of this snapshot. Default: the\nnewest."},
	{"between", 'b', QZ_OPTION_STRINGS, FIELD(between), "A:B",
	 "Show the intervals from each event of value A\nto the next one of value B in the same "
	 "thread;\nmay be repeated."},
	{"json", 0, QZ_OPTION_FLAG, FIELD(json), NULL, "Print JSON instead of text."},
	{"no-pager", 0, QZ_OPTION_FLAG, FIELD(no_pager), NULL,
	 "Do not start a pager on a terminal."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};
