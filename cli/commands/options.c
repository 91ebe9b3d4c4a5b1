/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/cli.h"

#define FIELD(name) offsetof(struct config, name)

const struct qz_option report_options[] = {
	{"threads", 't', QZ_OPTION_FLAG, FIELD(threads), NULL, "Also show the table of threads."},
	{"callers", 'c', QZ_OPTION_FLAG, FIELD(callers), NULL,
	 "With PROCEDURE: show its callers instead of its\ncallees."},
	{"kind", 'k', QZ_OPTION_STRING, FIELD(kind), "KINDS",
	 "Kinds of rows to list, separated by commas:\nprocedure, object, thread "
	 "[procedure,object]."},
	{"waits", 'W', QZ_OPTION_FLAG, FIELD(waits), NULL,
	 "Show waits of each row instead of its own time."},
	{"woken", 0, QZ_OPTION_FLAG, FIELD(woken), NULL,
	 "Rank by time until woken; needs a profile of\nrecord --woken."},
	{"snapshot", 0, QZ_OPTION_FLAG, FIELD(snapshot), NULL,
	 "Show what ran at the same instant on all\nprocessors; needs record --snapshots."},
	{"timeline", 0, QZ_OPTION_FLAG, FIELD(timeline), NULL,
	 "Show how the program developed over the time."},
	{"sort", 'S', QZ_OPTION_CHOICE, FIELD(rank), "auto|total|self|blocked|spin|cpu|name",
	 "Sort rows by this. auto: total, or self where\nno main has half of the time [auto]."},
	{"flat", 0, QZ_OPTION_FLAG, FIELD(flat), NULL,
	 "Do not fold wrappers, nor the kernel's\nprocedures: a row for each procedure."},
	{"tree", 0, QZ_OPTION_FLAG, FIELD(tree), NULL, "Show who calls whom, largest parts first."},
	{"depth", 0, QZ_OPTION_INTEGER, FIELD(depth), "N",
	 "With --tree: at most N levels of calls.", 1, INT32_MAX},
	{"costs", 0, QZ_OPTION_FLAG, FIELD(costs), NULL,
	 "Show what processor time was for: work, starting,\nhanding over, calls; and who asked."},
	{"all", 0, QZ_OPTION_FLAG, FIELD(all), NULL,
	 "With --json: all that is known, as in the page of\n'quartzctl html'."},
	/* the first REPORT_ONLY_OPTIONS rows end here */
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Scopes to show: machine, kernel, all, pid=N,\ncomm=NAME, unit=NAME, cgroup=PATH, or an "
	 "index.\nDefault: machine if profiled, else all."},
	{0},
};

const struct qz_option threads_options[] = {
	{"each", 0, QZ_OPTION_FLAG, FIELD(each), NULL,
	 "A row for each thread, not for each start\nprocedure."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Scopes to show, as of 'quartzctl report'."},
	{0},
};

const struct qz_option annotate_options[] = {
	{"asm", 0, QZ_OPTION_FLAG, FIELD(assembly), NULL,
	 "Show instructions instead of source lines; needs\nobjdump and the program's file."},
	{"source-dir", 0, QZ_OPTION_STRING, FIELD(source_dir), "DIR",
	 "Look for source files in DIR: under their whole\npath, or under the last parts of it."},
	{"strip-prefix", 0, QZ_OPTION_STRING, FIELD(strip_prefix), "PREFIX",
	 "Cut this directory off the names of source files."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Scopes to show, as of 'quartzctl report'."},
	{0},
};

const struct qz_option advise_options[] = {
	{"try", 0, QZ_OPTION_FLAG, FIELD(try_remedies), NULL,
	 "Run COMMAND with and without each remedy that needs no\nchange of the program, and tell "
	 "what helps."},
	{"runs", 'r', QZ_OPTION_INTEGER, FIELD(runs), "N",
	 "With --try: pairs of runs of each remedy at least\n[3].", 3, 32},
	{"for", 0, QZ_OPTION_DURATION, FIELD(limit), "TIME",
	 "With --try: time for all trials at most [60s].", 1, INT64_MAX},
	{"check", 0, QZ_OPTION_STRING, FIELD(check), "COMMAND",
	 "With --try: a line for sh that fails if what a run\nhas printed, its input, is wrong. "
	 "Default: all runs\nmust print the same."},
	{"user", 'u', QZ_OPTION_STRING, FIELD(user), "USER",
	 "With --try: run COMMAND as this user. Default: the\nuser who called sudo, else root."},
	{"dry-run", 0, QZ_OPTION_FLAG, FIELD(dry_run), NULL,
	 "With --try: only tell what would be tried."},
	{"record", 0, QZ_OPTION_FLAG, FIELD(record), NULL,
	 "Show how often predicted ranges held in all tries of\nthis user."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Scopes to show, as of 'quartzctl report'."},
	{0},
};

const struct qz_option html_options[] = {
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Write to FILE. Default: the name of the snapshot\nwith .html, in the working directory."},
	{"open", 0, QZ_OPTION_FLAG, FIELD(open), NULL, "Open it in the browser."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Scopes to show, as of 'quartzctl report'."},
	{"input", 'i', QZ_OPTION_STRING, FIELD(input), "FILE",
	 "Read this snapshot. Default: one recorded within\nthe hour, the running quartzd, or the "
	 "newest."},
	{"live", 0, QZ_OPTION_FLAG, FIELD(live), NULL,
	 "Show the running quartzd, whatever was recorded."},
	{"since", 0, QZ_OPTION_STRING, FIELD(since), "TIME",
	 "Show what quartzd --system measured since TIME,\nas of 'quartzctl report'."},
	{"until", 0, QZ_OPTION_STRING, FIELD(until), "TIME", "Show what it measured until TIME."},
	{"last", 0, QZ_OPTION_DURATION, FIELD(last), "TIME",
	 "Short for --since -TIME; for example 10min.", 1, INT64_MAX},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option profile_options[] = {
	{"input", 'i', QZ_OPTION_STRING, FIELD(input), "FILE",
	 "Read this snapshot. Default: one recorded within\nthe hour, the running quartzd, or the "
	 "newest."},
	{"live", 0, QZ_OPTION_FLAG, FIELD(live), NULL,
	 "Show the running quartzd, whatever was recorded."},
	{"since", 0, QZ_OPTION_STRING, FIELD(since), "TIME",
	 "Show what quartzd --system measured since TIME:\n-10min, 14:30, '2026-01-31 14:30', "
	 "@SECONDS."},
	{"until", 0, QZ_OPTION_STRING, FIELD(until), "TIME", "Show what it measured until TIME."},
	{"last", 0, QZ_OPTION_DURATION, FIELD(last), "TIME",
	 "Short for --since -TIME; for example 10min.", 1, INT64_MAX},
	{"time", 0, QZ_OPTION_STRING, FIELD(time), "FROM-UNTIL",
	 "Only this part of the run: 3s-5s, 500ms-2s,\n3-, -5 or 10%-50%."},
	{"window", 0, QZ_OPTION_FLAG, FIELD(window), NULL,
	 "Leave out idle time before and after the load."},
	{"rows", 'n', QZ_OPTION_INTEGER, FIELD(rows), "ROWS",
	 "Maximum number of rows, 0 for all.\nDefault: 20 in text, all in JSON.", 0, INT32_MAX},
	{"json", 0, QZ_OPTION_FLAG, FIELD(json), NULL, "Print JSON instead of text."},
	{"wide", 'w', QZ_OPTION_FLAG, FIELD(wide), NULL, "Do not shorten long names."},
	{"color", 0, QZ_OPTION_CHOICE, FIELD(color), "auto|always|never",
	 "Highlight shares of 5 % and of 0.5 % or more\n[auto]."},
	{"no-pager", 0, QZ_OPTION_FLAG, FIELD(no_pager), NULL, "Do not use a pager."},
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

const struct qz_option what_if_options[] = {
	{"spread", 0, QZ_OPTION_STRING, FIELD(spread), "PROCEDURE",
	 "It is divided among the processors."},
	{"remove", 0, QZ_OPTION_STRING, FIELD(remove), "PROCEDURE|OBJECT",
	 "It is gone; nobody waits for the object any more."},
	{"speedup", 0, QZ_OPTION_STRING, FIELD(speedup), "PROCEDURE=FACTOR",
	 "It goes FACTOR times as fast."},
	{"overlap", 0, QZ_OPTION_STRING, FIELD(overlap), "CAUSE|OBJECT",
	 "Threads work while they wait for this now."},
	{"processors", 0, QZ_OPTION_INTEGER, FIELD(processors), "N",
	 "With --spread: so many. Default: those of the\nprofile.", 1, 8192},
	{"extra", 0, QZ_OPTION_INTEGER, FIELD(extra), "PERCENT",
	 "With --spread: what the parallel version costs in\nprocessor time beyond that of now "
	 "[0].",
	 0, 10000},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Scopes to look at, as for report."},
	{0},
};

const struct qz_option diff_options[] = {
	{"fail-above", 0, QZ_OPTION_STRINGS, FIELD(fail_above), "[WHAT:]LIMIT",
	 "Exit with 8 where the elapsed time grew by more\nthan this, and by more than chance: 5%, "
	 "200ms;\nor another time: cpu:5%, serial:5%, PROCEDURE:5%.\nMay be repeated."},
	{"html", 0, QZ_OPTION_STRING, FIELD(html), "FILE",
	 "Write a page with a differential flame graph to\nFILE, in place of the text."},
	{"open", 0, QZ_OPTION_FLAG, FIELD(open), NULL, "Open it in the browser."},
	{"kind", 'k', QZ_OPTION_STRING, FIELD(kind), "KINDS",
	 "Kinds of rows to list, separated by commas:\nprocedure, object, thread "
	 "[procedure,object]."},
	{"sort", 'S', QZ_OPTION_CHOICE, FIELD(sort), "self|total|cpu|blocked|name",
	 "Sort rows by the size of this change [self]."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Scopes to compare, as of 'quartzctl report'."},
	{0},
};

const struct qz_option ps_options[] = {
	{"by", 'b', QZ_OPTION_CHOICE, FIELD(by), "process|comm|unit|cgroup",
	 "What a row stands for [process]."},
	{"sort", 'S', QZ_OPTION_CHOICE, FIELD(sort),
	 "auto|norm|cpu|parallelism|serial|spin|threads|name",
	 "Sort key. auto: norm, or cpu if there are too\nfew samples [auto]."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Show only these: comm=NAME, unit=NAME,\ncgroup=PATH, pid=N [all]."},
	{0},
};

const struct qz_option top_options[] = {
	{"by", 'b', QZ_OPTION_CHOICE, FIELD(by), "process|comm|unit|cgroup",
	 "What a row stands for [process]."},
	{"sort", 'S', QZ_OPTION_CHOICE, FIELD(sort),
	 "auto|norm|cpu|parallelism|serial|spin|threads|name",
	 "Sort key. auto: norm, or cpu if there are too\nfew samples [auto]."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option record_options[] = {
	{"pid", 'p', QZ_OPTION_INTEGERS, FIELD(pids), "PID[,PID...]",
	 "Profile these running processes instead of a\ncommand.", 1, INT32_MAX},
	{"tree", 0, QZ_OPTION_INTEGERS, FIELD(trees), "PID[,PID...]",
	 "Profile these running processes, each with all its\ndescendants, of now and of later.", 1,
	 INT32_MAX},
	{"unit", 0, QZ_OPTION_STRING, FIELD(unit), "NAME",
	 "Profile the processes of this systemd unit."},
	{"container", 0, QZ_OPTION_STRING, FIELD(container), "ID",
	 "Profile the processes of this container."},
	{"system", 'a', QZ_OPTION_FLAG, FIELD(system), NULL,
	 "Profile every process of the machine instead."},
	{"duration", 'd', QZ_OPTION_DURATION, FIELD(duration), "TIME",
	 "Stop after this time, for example 10, 500ms or\n5min. Default: when the targets have "
	 "ended.",
	 1, INT64_MAX},
	{"delay", 0, QZ_OPTION_DURATION, FIELD(delay), "TIME",
	 "Wait this long before measuring; COMMAND is\nstarted at once.", 0, INT64_MAX},
	{"user", 'u', QZ_OPTION_STRING, FIELD(user), "USER",
	 "Run COMMAND as this user. Default: the user who\ncalled sudo, else root."},
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Write the snapshot to FILE. Default: a new file\nin /var/lib/quartz, which report "
	 "finds."},
	{"rate", 'F', QZ_OPTION_INTEGER, FIELD(rate), "HZ",
	 "Samples per second and processor [999; 99 with\n--system].", 1, 10000},
	{"cpu", 0, QZ_OPTION_STRING, FIELD(cpu), "N[,N...]|auto|none",
	 "Processors reserved for quartzd [auto]."},
	{"cache-size", 0, QZ_OPTION_STRING, FIELD(cache_size), "MIB",
	 "Maximum size of the unwind tables that are kept in\n/var/cache/quartz for later runs; 0: "
	 "none [256]."},
	{"lines", 0, QZ_OPTION_FLAG, FIELD(lines), NULL, "Look up source files and lines."},
	{"inlines", 0, QZ_OPTION_FLAG, FIELD(inlines), NULL, "Also show inlined procedures."},
	{"spin-symbols", 0, QZ_OPTION_STRINGS, FIELD(spin_symbols), "FILE",
	 "Rules about procedures that spin; may be\nrepeated."},
	{"woken", 0, QZ_OPTION_FLAG, FIELD(woken), NULL, "Also measure time until woken."},
	{"what-if", 0, QZ_OPTION_STRING, FIELD(what_if), "auto|NAMES",
	 "Also find what the run would gain without each of\nthese procedures and objects."},
	{"log", 0, QZ_OPTION_STRING, FIELD(log), "FILE",
	 "Also keep the scheduler's log in FILE, for\nquartzctl replay."},
	{"snapshots", 0, QZ_OPTION_INTEGER, FIELD(snapshots), "HZ",
	 "Capture what all processors do at one instant,\nHZ times a second; without "
	 "quartz.ko,\nat each sample.",
	 1, 1000},
	{"runtime", 0, QZ_OPTION_CHOICE, FIELD(runtime), "auto|none",
	 "Have the runtime of COMMAND (node, java, dotnet) name\nthe code that it makes [auto]."},
	{"preload", 0, QZ_OPTION_FLAG, FIELD(preload), NULL,
	 "Load libquartz-preload.so into COMMAND."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option replay_options[] = {
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Write the profile to FILE. Default: the name of the\nlog and .pb.gz."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option scale_options[] = {
	{"processors", 'P', QZ_OPTION_INTEGERS, FIELD(processor_list), "N[,N...]",
	 "Run COMMAND on so many processors each, and on\none [1, 2, 4, ... and all].", 1, 8192},
	{"runs", 'r', QZ_OPTION_INTEGER, FIELD(runs), "N", "Runs on each number [5].", 1, 1000},
	{"baseline", 'b', QZ_OPTION_STRING, FIELD(baseline), "COMMAND",
	 "Compare with this sequential program, in the words\nof a shell. Default: COMMAND on one "
	 "processor."},
	{"pid", 'p', QZ_OPTION_INTEGERS, FIELD(pids), "PID[,PID...]",
	 "Instead of a COMMAND, confine these processes to so\nmany processors in turn, and put "
	 "them back.",
	 1, INT32_MAX},
	{"duration", 'd', QZ_OPTION_DURATION, FIELD(duration), "TIME",
	 "With --pid: measure so long each time [10s].", 1, INT64_MAX},
	{"events", 'e', QZ_OPTION_STRING, FIELD(events), "COMMAND",
	 "With --pid: a line for sh that prints how many\nrequests, or the like, they have done so "
	 "far."},
	{"from", 0, QZ_OPTION_STRINGS, FIELD(from), "FILE|DIRECTORY",
	 "Run nothing, show these profiles; may be repeated."},
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "DIRECTORY",
	 "Make DIRECTORY for the profiles. Default: a new one\nin /var/tmp."},
	{"html", 0, QZ_OPTION_STRING, FIELD(html), "FILE",
	 "Write a page with the speed-ups as a figure to FILE,\nin place of the text."},
	{"open", 0, QZ_OPTION_FLAG, FIELD(open), NULL, "With --html: open it in the browser."},
	{"rate", 'F', QZ_OPTION_INTEGER, FIELD(rate), "HZ",
	 "Samples per second and processor [999].", 1, 10000},
	{"user", 'u', QZ_OPTION_STRING, FIELD(user), "USER",
	 "Run COMMAND as this user. Default: the user who\ncalled sudo, else root."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "With --from: this scope of each profile, as of\n'quartzctl report'."},
	{0},
};

const struct qz_option tune_options[] = {
	{"knob", 'k', QZ_OPTION_STRING, FIELD(knob), "KNOB",
	 "What to set. NAME:RANGE:COMMAND: {} in COMMAND, a line\nfor sh. cpus[:RANGE], "
	 "nice[:RANGE]: the processors or\nthe nice value of the COMMAND that follows. With\n--pid "
	 "NAME[:RANGE]: that knob of the process.\nRANGE: 1-8, 1-64/4 or 1,2,4,8. Default: by what "
	 "limits\nthe program; needs root."},
	{"pid", 'p', QZ_OPTION_INTEGER, FIELD(pid), "PID",
	 "Instead of a COMMAND, tune this running process, whose\nprogram has knobs of libquartz.",
	 1, INT32_MAX},
	{"start", 0, QZ_OPTION_STRING, FIELD(start), "VALUE",
	 "The value to begin with, and to go back to.\nDefault: the first one, all processors, "
	 "nice 0."},
	{"by", 0, QZ_OPTION_CHOICE, FIELD(measure), "time|events|parallelism",
	 "What to make better: how long a COMMAND takes, or with\n--pid events (quartz_event) per "
	 "second [events], or\neffective parallelism, which needs root."},
	{"duration", 'd', QZ_OPTION_DURATION, FIELD(duration), "TIME",
	 "With --pid: length of one run [1s].", 1000000, INT64_MAX},
	{"runs", 'r', QZ_OPTION_INTEGER, FIELD(runs), "N", "Runs in each trial [3].", 1, 32},
	{"trials", 0, QZ_OPTION_INTEGER, FIELD(trials), "N", "Trials at most [12].", 1, 1000},
	{"limit", 0, QZ_OPTION_DURATION, FIELD(limit), "TIME",
	 "Time for all of it at most [10min].", 1, INT64_MAX},
	{"user", 'u', QZ_OPTION_STRING, FIELD(user), "USER",
	 "Run COMMAND as this user. Default: the user who\ncalled sudo, else root."},
	{"dry-run", 0, QZ_OPTION_FLAG, FIELD(dry_run), NULL,
	 "Only tell which knob and which values, try none."},
	{"json", 0, QZ_OPTION_FLAG, FIELD(json), NULL, "Print JSON instead of text."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option set_options[] = {
	{"limit", 0, QZ_OPTION_DURATION, FIELD(limit), "TIME",
	 "Wait so long until the program has taken it [5s].", 1, INT64_MAX},
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
	 "Also print libraries, schemas and kernel."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option events_options[] = {
	{"input", 'i', QZ_OPTION_STRING, FIELD(input), "FILE",
	 "Read the events of this snapshot. Default: the\nnewest."},
	{"between", 'b', QZ_OPTION_STRINGS, FIELD(between), "A:B",
	 "Show the intervals from each event with value A\nto the next one with value B in the "
	 "same "
	 "thread;\nmay be repeated."},
	{"json", 0, QZ_OPTION_FLAG, FIELD(json), NULL, "Print JSON instead of text."},
	{"no-pager", 0, QZ_OPTION_FLAG, FIELD(no_pager), NULL, "Do not use a pager."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

const struct qz_option export_options[] = {
	{"format", 'f', QZ_OPTION_CHOICE, FIELD(format), "folded|speedscope|perfetto|csv",
	 "folded: stacks for flame graphs; speedscope;\nperfetto: the threads and events in "
	 "time;\ncsv: the procedures as a table."},
	{"value", 0, QZ_OPTION_CHOICE, FIELD(value), "norm|cpu|blocked|spin",
	 "With --format folded: which time, in us [norm]."},
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Write to FILE instead of standard output."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Scopes to export, as of 'quartzctl report'."},
	{"input", 'i', QZ_OPTION_STRING, FIELD(input), "FILE",
	 "Read this snapshot. Default: one recorded within\nthe hour, the running quartzd, or the "
	 "newest."},
	{"live", 0, QZ_OPTION_FLAG, FIELD(live), NULL,
	 "Show the running quartzd, whatever was recorded."},
	{"since", 0, QZ_OPTION_STRING, FIELD(since), "TIME",
	 "Export what quartzd --system measured since\nTIME, as of 'quartzctl report'."},
	{"until", 0, QZ_OPTION_STRING, FIELD(until), "TIME", "Export what it measured until TIME."},
	{"last", 0, QZ_OPTION_DURATION, FIELD(last), "TIME",
	 "Short for --since -TIME; for example 10min.", 1, INT64_MAX},
	{"time", 0, QZ_OPTION_STRING, FIELD(time), "FROM-UNTIL",
	 "Export only this part of the run, as of\n'quartzctl report'."},
	{"window", 0, QZ_OPTION_FLAG, FIELD(window), NULL,
	 "Leave out idle time before and after the load."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};
