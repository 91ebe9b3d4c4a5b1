/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl tune: which value of a knob is the best. cli/tries/ does it, as it does advise --try. */
#include "cli/tries/tries.h"

static const struct try_config defaults = {.common = {.rows = -1}, .tunes = true};

static const struct qz_option options[] = {
	{"knob", 'k', QZ_OPTION_STRINGS, OWN_FIELD(try_config, knobs), "KNOB",
	 "What to set. NAME:RANGE:COMMAND: {} in COMMAND, a line\nfor sh. cpus[:RANGE], "
	 "nice[:RANGE]: the processors or\nthe nice value of the COMMAND that follows. With\n--pid "
	 "also NAME[:RANGE]: that knob of the process.\nRANGE: 1-8, 1-64/4 or 1,2,4,8. Default: by "
	 "what limits\nthe program; needs root."},
	{"pid", 'p', QZ_OPTION_INTEGER, FIELD(pid), "PID",
	 "Instead of a COMMAND, tune this running process. The\nCOMMAND of a knob changes it then.",
	 1, INT32_MAX},
	{"start", 0, QZ_OPTION_STRING, OWN_FIELD(try_config, start), "VALUE",
	 "The value of a NAME:RANGE:COMMAND to compare others\nwith. Default: the first one."},
	{"events", 'e', QZ_OPTION_STRING, FIELD(events), "COMMAND",
	 "With --pid: a line for sh that prints how many requests,\nor the like, it has done so "
	 "far. Default: events of\nlibquartz, or else bytes that its clients got by TCP."},
	{"duration", 'd', QZ_OPTION_DURATION, FIELD(duration), "TIME",
	 "With --pid: measure so long each time [1s].", 1000000, INT64_MAX},
	{"runs", 'r', QZ_OPTION_INTEGER, FIELD(runs), "N",
	 "Pairs of runs of each value at least [3].", 3, 32},
	{"trials", 0, QZ_OPTION_INTEGER, OWN_FIELD(try_config, most), "N",
	 "Values that are tried at most [12].", 1, QZ_REMEDIES_MOST},
	{"for", 0, QZ_OPTION_DURATION, FIELD(limit), "TIME", "Time for all of it at most [10min].",
	 1, INT64_MAX},
	{"user", 'u', QZ_OPTION_STRING, FIELD(user), "USER",
	 "Run COMMAND as this user. Default: the user who\ncalled sudo, else root."},
	{"dry-run", 0, QZ_OPTION_FLAG, FIELD(dry_run), NULL,
	 "Only tell which knob and which values, try none."},
	{0},
};

const struct command cmd_tune = {
	.name = "tune",
	.operands = " [[--] COMMAND [ARGUMENT...]]",
	.summary = "Find the best setting of a command or a program",
	.details = "Runs the command with one value and with that of the start, in turns, then\n"
		   "with other values. With --pid, does so to a running program, which keeps the\n"
		   "best value if that is better by more than chance.\n",
	.options = options,
	.shared = SHARED_JSON,
	.size = sizeof(struct try_config),
	.takes_command = true,
	.defaults = &defaults,
	.run = tries__run,
};
