/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quartzctl record: executes a private quartzd, which starts the command and ends with it, or
 * measures running processes. So no process in between has to pass on signals and the exit status,
 * but where its advice is tried afterwards.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/experiment/members.h"
#include "cli/experiment/programs.h"
#include "cli/experiment/runtime.h"
#include "cli/experiment/trial.h"
#include "cli/query/profile_source.h"
#include "cli/tries/tries.h"
#include "core/util/vec.h"

enum runtime_when { RUNTIME_AUTO, RUNTIME_NONE };

struct record_config {
	struct config common;
	bool system, lines, inlines;
	const char *cpu;	      /* NULL: not given */
	int64_t snapshots;	      /* Hz, 0: none */
	const char *cache_size;	      /* MiB, as quartzd has it; NULL: its default */
	struct qz_texts spin_symbols; /* files */
	struct qz_integers trees;
	const char *unit, *container; /* NULL: not given */
	uint64_t delay;		      /* ns, 0: not given */
	const char *log;	      /* file of the scheduler's log, NULL: not given */
	const char *what_if;	      /* candidates, NULL: none */
	int runtime;		      /* enum runtime_when, in the order of its words */
};

/* The command line of quartzd. */
struct line {
	const char **words; /* NULL-terminated */
	size_t n;
	bool failed;
};

static void add(struct line *line, const char *word)
{
	if (qz_array__reserve((void **)&line->words, line->n + 1, sizeof(*line->words))) {
		line->failed = true;
		return;
	}
	line->words[line->n++] = word;
	line->words[line->n] = NULL;
}

static void add_flag(struct line *line, const char *name, bool value)
{
	if (value)
		add(line, name);
}

static void add_text(struct line *line, const char *name, const char *value)
{
	if (!value)
		return;
	add(line, name);
	add(line, value);
}

/* `text` must live as long as the line. */
static void add_number(struct line *line, const char *name, int64_t value, char text[24])
{
	snprintf(text, 24, "%" PRId64, value);
	add_text(line, name, value ? text : NULL);
}

static void add_time(struct line *line, const char *name, uint64_t ns, char text[40])
{
	snprintf(text, 40, "%" PRIu64 ".%09" PRIu64 "s", ns / 1000000000, ns % 1000000000);
	add_text(line, name, ns ? text : NULL);
}

/* Texts that the line points to. */
struct texts {
	char rate[24], snapshots[24], duration[40], delay[40];
	char (*pids)[24], (*trees)[24];
};

static void add_options(struct line *line, const struct record_config *config, struct texts *texts)
{
	/* with this name, its messages begin with "quartzctl: " */
	add(line, "quartzctl");
	add(line, "--private");
	for (size_t i = 0; i < config->common.pids.n; i++)
		add_number(line, "--pid", config->common.pids.items[i], texts->pids[i]);
	for (size_t i = 0; i < config->trees.n; i++)
		add_number(line, "--tree", config->trees.items[i], texts->trees[i]);
	if (config->system) {
		add(line, "--system");
		add_text(line, "--history", "0");
	}
	add_time(line, "--duration", config->common.duration, texts->duration);
	add_time(line, "--delay", config->delay, texts->delay);
	add_text(line, "--output", config->common.output);
	add_number(line, "--rate", config->common.rate, texts->rate);
	add_number(line, "--snapshots", config->snapshots, texts->snapshots);
	add_text(line, "--cpu", config->cpu);
	add_text(line, "--cache-size", config->cache_size);
	add_flag(line, "--lines", config->lines);
	add_flag(line, "--inlines", config->inlines);
	add_flag(line, "--woken", config->common.woken);
	add_text(line, "--log", config->log);
	add_text(line, "--what-if", config->what_if);
	for (size_t i = 0; i < config->spin_symbols.n; i++)
		add_text(line, "--spin-symbols", config->spin_symbols.items[i]);
}

/* What does not go with --try, which runs the command again and again; NULL: all does. */
static const char *check_try(const struct config *config)
{
	if (!config->try_remedies)
		return config->limit ? "--for is the time of --try, which is not given" : NULL;
	if (!*config->command)
		return "--try needs a COMMAND; of running processes, 'quartzctl advise --try "
		       "--pid' tries what can be undone";
	return config->duration ? "--try needs a COMMAND that ends: not with --duration" : NULL;
}

static enum status check_targets(const struct record_config *config)
{
	const char *why = NULL;

	int others = !!config->common.pids.n + !!config->trees.n + !!config->unit +
		     !!config->container + config->system;

	if (*config->common.command && others)
		why = "a COMMAND cannot be combined with --pid, --tree, --unit, --container or "
		      "--system: --duration says how long to measure";
	else if (others > 1)
		why = "--pid, --tree, --unit, --container and --system exclude each other";
	else if (!*config->common.command && !others)
		why = "no command given, nor --pid, --tree, --unit, --container or --system";
	else if (!*config->common.command && config->common.user)
		why = "--user needs a COMMAND";
	if (!why)
		why = check_try(&config->common);
	if (!why)
		return STATUS_OK;
	complain("%s; try 'quartzctl record --help'", why);
	return STATUS_USAGE;
}

/* The processes that are named in some other way than by their numbers. */
static enum status find_targets(struct record_config *config)
{
	members__say_left_out(&config->common.pids);
	return config->unit || config->container
		       ? members__find(config->unit, config->container, &config->trees)
		       : STATUS_OK;
}

/* named: the environment tells the runtime of the command to write maps of names. */
static enum status start(const struct record_config *config, const char *user, bool named)
{
	struct texts texts = {
		.pids = calloc(config->common.pids.n + 1, sizeof(*texts.pids)),
		.trees = calloc(config->trees.n + 1, sizeof(*texts.trees)),
	};
	struct line line = {.failed = !texts.pids || !texts.trees};
	char path[PATH_MAX];

	if (!line.failed)
		add_options(&line, config, &texts);
	if (*config->common.command) {
		add_text(&line, "--user", user);
		add_flag(&line, "--remove-maps", named);
		add(&line, "--");
	}
	for (char **word = config->common.command; *word; word++)
		add(&line, *word);
	if (!line.failed) {
		programs__quartzd(path);
		execv(path, (char **)line.words);
		complain("cannot start %s: %s", path, strerror(errno));
	}
	free(line.words);
	free(texts.pids);
	free(texts.trees);
	return line.failed ? out_of_memory() : STATUS_FAILURE;
}

/* This process becomes quartzd. */
static enum status record_as(struct record_config *config, const char *user)
{
	char **command = config->common.command;
	enum status status = STATUS_OK;
	bool named = false;

	if (*command && config->runtime == RUNTIME_AUTO)
		status = runtime__name_code(command, &named);
	if (status == STATUS_OK)
		status = find_targets(config);
	return status == STATUS_OK ? start(config, user, named) : status;
}

/* STATUS_OK: there is a profile of a command that did what it should. */
static enum status record_first(struct record_config *config, const char *user)
{
	int status = STATUS_FAILURE;
	pid_t pid;

	trial__watch();
	pid = fork();
	if (!pid) {
		trial__unwatch();
		_exit((int)record_as(config, user));
	}
	if (pid > 0)
		status = trial__await(pid, NULL);
	else
		complain("cannot start quartzd: %s", strerror(errno));
	trial__unwatch();
	if (!status && trial__signal())
		status = 128 + trial__signal();
	if (status && pid > 0)
		complain("--try: the recording ended with status %d, so that nothing is tried",
			 status);
	return (enum status)status;
}

/* What was recorded just now is the newest one. */
static enum status record_and_try(struct record_config *config, const char *user)
{
	struct try_config try = {.common = config->common};
	enum status status = record_first(config, user);
	char newest[PATH_MAX];

	if (status == STATUS_OK && !config->common.output)
		status = profile_source__newest(SOURCE_SUFFIX, newest);
	if (status != STATUS_OK)
		return status;
	try.common.input = config->common.output ? config->common.output : newest;
	try.common.user = user; /* else tries__run would print once more who that is */
	return tries__run(&try.common);
}

static enum status record(const struct config *given)
{
	struct record_config config = *OWN(record_config, given);
	const char *user = NULL;
	enum status status = check_targets(&config);

	if (status == STATUS_OK && *given->command)
		status = programs__user(given, given->command[0], &user);
	if (status != STATUS_OK)
		return status;
	return given->try_remedies ? record_and_try(&config, user) : record_as(&config, user);
}

static const struct qz_option options[] = {
	{"pid", 'p', QZ_OPTION_INTEGERS, FIELD(pids), "PID[,PID...]",
	 "Profile these running processes instead of a\ncommand.", 1, INT32_MAX},
	{"tree", 0, QZ_OPTION_INTEGERS, OWN_FIELD(record_config, trees), "PID[,PID...]",
	 "Profile these running processes, each with all its\ndescendants, of now and of later.", 1,
	 INT32_MAX},
	{"unit", 0, QZ_OPTION_STRING, OWN_FIELD(record_config, unit), "NAME",
	 "Profile the processes of this systemd unit."},
	{"container", 0, QZ_OPTION_STRING, OWN_FIELD(record_config, container), "ID",
	 "Profile the processes of this container."},
	{"system", 'a', QZ_OPTION_FLAG, OWN_FIELD(record_config, system), NULL,
	 "Profile every process of the machine instead."},
	{"duration", 'd', QZ_OPTION_DURATION, FIELD(duration), "TIME",
	 "Stop after this time, for example 10, 500ms or\n5min. Default: when the targets have "
	 "ended.",
	 1, INT64_MAX},
	{"delay", 0, QZ_OPTION_DURATION, OWN_FIELD(record_config, delay), "TIME",
	 "Wait this long before measuring; COMMAND is\nstarted at once.", 0, INT64_MAX},
	{"user", 'u', QZ_OPTION_STRING, FIELD(user), "USER",
	 "Run COMMAND as this user. Default: the user who\ncalled sudo, else root."},
	{"try", 0, QZ_OPTION_FLAG, FIELD(try_remedies), NULL,
	 "Then run COMMAND with and without each remedy that\nneeds no change of it, and tell what "
	 "helps."},
	{"for", 0, QZ_OPTION_DURATION, FIELD(limit), "TIME",
	 "With --try: time for all these runs at most [60s].", 1, INT64_MAX},
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Write the snapshot to FILE. Default: a new file\nin /var/lib/quartz, which report "
	 "finds."},
	{"rate", 'F', QZ_OPTION_INTEGER, FIELD(rate), "HZ",
	 "Samples per second and processor [999; 99 with\n--system].", 1, 10000},
	{"cpu", 0, QZ_OPTION_STRING, OWN_FIELD(record_config, cpu), "N[,N...]|auto|none",
	 "Processors reserved for quartzd [auto]."},
	{"cache-size", 0, QZ_OPTION_STRING, OWN_FIELD(record_config, cache_size), "MIB",
	 "Maximum size of the unwind tables that are kept in\n/var/cache/quartz for later runs; 0: "
	 "none [256]."},
	{"lines", 0, QZ_OPTION_FLAG, OWN_FIELD(record_config, lines), NULL,
	 "Look up source files and lines."},
	{"inlines", 0, QZ_OPTION_FLAG, OWN_FIELD(record_config, inlines), NULL,
	 "Also show inlined procedures."},
	{"spin-symbols", 0, QZ_OPTION_STRINGS, OWN_FIELD(record_config, spin_symbols), "FILE",
	 "Rules about procedures that spin; may be\nrepeated."},
	{"woken", 0, QZ_OPTION_FLAG, FIELD(woken), NULL, "Also measure time until woken."},
	{"what-if", 0, QZ_OPTION_STRING, OWN_FIELD(record_config, what_if), "auto|NAMES",
	 "Also find what the run would gain without each of\nthese procedures and objects."},
	{"log", 0, QZ_OPTION_STRING, OWN_FIELD(record_config, log), "FILE",
	 "Also keep the scheduler's log in FILE, for\nquartzctl replay."},
	{"snapshots", 0, QZ_OPTION_INTEGER, OWN_FIELD(record_config, snapshots), "HZ",
	 "Capture what all processors do at one instant,\nHZ times a second; without "
	 "quartz.ko,\nat each sample.",
	 1, 1000},
	{"runtime", 0, QZ_OPTION_CHOICE, OWN_FIELD(record_config, runtime), "auto|none",
	 "Have the runtime that COMMAND is or names (node, java,\ndotnet) name the code that it "
	 "makes [auto]."},
	{0},
};

const struct command cmd_record = {
	.name = "record",
	.operands = " [[--] COMMAND [ARGUMENT...]]",
	.summary = "Profile a command or running processes",
	.details = "COMMAND is profiled from its first instruction, with all its descendants; the\n"
		   "exit status is that of COMMAND. Needs root. With sudo, COMMAND runs as the\n"
		   "user who called it, and 'quartzctl report' of that user shows the result.\n"
		   "With --try, it is also told what would make COMMAND faster.\n",
	.options = options,
	.size = sizeof(struct record_config),
	.takes_command = true,
	.run = record,
};
