/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/query/profile_source.h"
#include "core/util/standard_files.h"
#include "core/util/suggest.h"

struct command {
	const char *name;
	const char *operands; /* for the usage line */
	const char *summary;
	const char *details; /* further lines of the help text, or NULL */
	const struct qz_option *options, *more_options; /* the latter may be NULL */
	enum status (*run)(const struct config *config);
	bool takes_procedure, takes_pid; /* one operand, optional */
	bool takes_command;		 /* all operands, at least one */
	bool takes_profiles;		 /* two, or two lists with "--" between them */
};

static const struct command commands[] = {
	{
		.name = "record",
		.operands = " [[--] COMMAND [ARGUMENT...]]",
		.summary = "Profile a command or running processes",
		.details = "COMMAND is profiled from its first instruction, with all its "
			   "descendants; the\n"
			   "exit status is that of COMMAND. Needs root. With sudo, COMMAND runs as "
			   "the\n"
			   "user who called it, and 'quartzctl report' of that user shows the "
			   "result.\n",
		.options = record_options,
		.run = cmd_record,
		.takes_command = true,
	},
	{
		.name = "scale",
		.operands = " [[--] COMMAND [ARGUMENT...]]",
		.summary = "Show why a command is not P times as fast on P processors",
		.details = "Runs COMMAND on some numbers of processors, several times each. {P} in "
			   "its "
			   "words\n"
			   "stands for the number, and OMP_NUM_THREADS has it. Needs root, as "
			   "record.\n",
		.options = scale_options,
		.more_options = profile_options + PROFILE_SOURCE_OPTIONS,
		.run = cmd_scale,
		.takes_command = true,
	},
	{
		.name = "tune",
		.operands = " [[--] COMMAND [ARGUMENT...]]",
		.summary = "Find the best setting of a command or a program",
		.details =
			"Runs the command with one setting after the other, and ends with the best "
			"one, or\n"
			"with the one of the start if none is better by more than chance. With "
			"--pid, "
			"sets a\n"
			"knob of a running program instead, and measures what it does.\n",
		.options = tune_options,
		.run = cmd_tune,
		.takes_command = true,
	},
	{
		.name = "knobs",
		.operands = " [PID]",
		.summary = "List what running programs let their owner set",
		.details = "Programs register knobs with quartz_knob() of libquartz.\n",
		.options = status_options,
		.run = cmd_knobs,
		.takes_pid = true,
	},
	{
		.name = "set",
		.operands = " PID NAME=VALUE",
		.summary = "Set a knob of a running program",
		.details = "Only the owner of the process and root may.\n",
		.options = set_options,
		.run = cmd_set,
		.takes_pid = true,
		.takes_procedure = true,
	},
	{
		.name = "replay",
		.operands = " LOG",
		.summary = "Make a profile of a scheduler's log",
		.details = "LOG is of 'quartzctl record --log LOG'. The profile has exact times of "
			   "levels,\nthreads, waits and objects, and no samples. The same log "
			   "makes the "
			   "same profile.\n",
		.options = replay_options,
		.run = cmd_replay,
		.takes_procedure = true,
	},
	{
		.name = "report",
		.operands = " [PROCEDURE|OBJECT]",
		.summary = "Show which procedures account for the elapsed time",
		.details =
			"With PROCEDURE: show its levels of parallelism, its callees, and what it\n"
			"waited for. With OBJECT: show what waits for it, and what ends the "
			"waits.\n",
		.options = report_options,
		.more_options = profile_options,
		.run = cmd_report,
		.takes_procedure = true,
	},
	{
		.name = "annotate",
		.operands = " PROCEDURE",
		.summary = "Show a procedure's source lines with their time",
		.details = "Needs a profile of 'quartzctl record --lines'.\n",
		.options = annotate_options,
		.more_options = profile_options,
		.run = cmd_annotate,
		.takes_procedure = true,
	},
	{
		.name = "advise",
		.operands = " [--try [--] COMMAND [ARGUMENT...]]",
		.summary = "Show what limits the program, and what it would gain",
		.details = "Findings, the one that gains most first: what, how much, the figures "
			   "that show\n"
			   "it, and what people do about it. With --try, what needs no change of "
			   "the program\n"
			   "is tried: COMMAND is measured, which needs root, unless there is an "
			   "--input, and\n"
			   "run with and without.\n",
		.options = advise_options,
		.more_options = profile_options,
		.run = cmd_advise,
	},
	{
		.name = "what-if",
		.operands = "",
		.summary = "Show what a change would gain, at least and at most",
		.details = "One of --spread, --remove, --speedup and --overlap says which change.\n"
			   "Without: what was computed while the program ran, of a profile of\n"
			   "'record --what-if'.\n",
		.options = what_if_options,
		.more_options = profile_options,
		.run = cmd_what_if,
	},
	{
		.name = "diff",
		.operands = " BEFORE... [--] AFTER...",
		.summary = "Show what changed between two profiles, or two sets of them",
		.details =
			"Of several runs of each side, 'diff A1 A2 A3 -- B1 B2 B3', the means are\n"
			"compared, and it is known how much runs differ.\n",
		.options = diff_options,
		.more_options = profile_options + PROFILE_SOURCE_OPTIONS,
		.run = cmd_diff,
		.takes_profiles = true,
	},
	{
		.name = "threads",
		.operands = "",
		.summary = "Show the threads and their normalized time",
		.options = threads_options,
		.more_options = profile_options,
		.run = cmd_threads,
	},
	{
		.name = "objects",
		.operands = "",
		.summary = "Show locks and other objects that threads waited for",
		.details = "'quartzctl locks' is the same command.\n",
		.options = report_options + REPORT_ONLY_OPTIONS,
		.more_options = profile_options,
		.run = cmd_objects,
	},
	{
		.name = "pairs",
		.operands = " PROCEDURE",
		.summary = "Show what other processors did while a procedure ran",
		.details = "Needs a profile of 'quartzctl record --snapshots'.\n",
		.options = report_options + REPORT_ONLY_OPTIONS,
		.more_options = profile_options,
		.run = cmd_pairs,
		.takes_procedure = true,
	},
	{
		.name = "ps",
		.operands = "",
		.summary = "Show the processes, or units, by their cost",
		.options = ps_options,
		.more_options = profile_options,
		.run = cmd_ps,
	},
	{
		.name = "top",
		.operands = "",
		.summary = "Show the processes live",
		.details = "Press h for the list of keys.\n",
		.options = top_options,
		.run = cmd_top,
	},
	{
		.name = "events",
		.operands = "",
		.summary = "Show a program's measurement events and intervals",
		.options = events_options,
		.run = cmd_events,
	},
	{
		.name = "export",
		.operands = "",
		.summary = "Write a profile in the format of another tool",
		.details = "A snapshot is a pprof profile as it is, which needs no export.\n",
		.options = export_options,
		.run = cmd_export,
	},
	{
		.name = "html",
		.operands = "",
		.summary = "Write a profile as a page for the browser",
		.details = "The page is one file that needs no network.\n",
		.options = html_options,
		.run = cmd_html,
	},
	{
		.name = "status",
		.operands = "",
		.summary = "Show the state and the cost of quartzd",
		.options = status_options,
		.run = cmd_status,
	},
	{
		.name = "pause",
		.operands = "",
		.summary = "Make quartzd --system save its snapshot and detach",
		.options = control_options,
		.run = cmd_pause,
	},
	{
		.name = "resume",
		.operands = "",
		.summary = "Make quartzd --system measure again",
		.options = control_options,
		.run = cmd_resume,
	},
	{
		.name = "reload",
		.operands = "",
		.summary = "Make quartzd --system read its settings again",
		.options = control_options,
		.run = cmd_reload,
	},
	{
		.name = "doctor",
		.operands = " [PID]",
		.summary = "Check whether this machine can run quartzd",
		.details = "With PID: show how well the stacks of that process could be walked.\n",
		.options = doctor_options,
		.run = cmd_doctor,
		.takes_pid = true,
	},
	{
		.name = "version",
		.operands = "",
		.summary = "Print the version",
		.options = version_options,
		.run = cmd_version,
	},
};

#define MAX_OPTIONS 32
#define NCOMMANDS   (sizeof(commands) / sizeof(*commands))

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("quartzctl: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

enum status out_of_memory(void)
{
	complain("out of memory");
	return STATUS_FAILURE;
}

static void complain_unknown(const char *name)
{
	struct qz_suggestion like = {0};

	for (size_t i = 0; i < NCOMMANDS; i++)
		qz_suggestion__try(&like, name, commands[i].name);
	qz_suggestion__try(&like, name, "locks");
	if (like.word)
		complain("unknown command '%s'; did you mean '%s'? 'quartzctl help' lists all",
			 name, like.word);
	else
		complain("unknown command '%s'; 'quartzctl help' lists them", name);
}

static const struct command *find_command(const char *name)
{
	if (!strcmp(name, "locks"))
		name = "objects";
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	complain_unknown(name);
	return NULL;
}

static void print_commands(FILE *out)
{
	fputs("Usage: quartzctl COMMAND [OPTION...]\n\n"
	      "Quartz shows why a parallel program is not faster.\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < NCOMMANDS; i++)
		fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].summary);
	fputs("  help      Print this text, or the help text of a command\n\n"
	      "'quartzctl COMMAND --help' lists the options of a command; quartzctl(1)\n"
	      "describes the output.\n",
	      out);
}

static void join_options(const struct command *c, struct qz_option all[MAX_OPTIONS])
{
	const struct qz_option *tables[] = {c->options, c->more_options};
	size_t n = 0;

	for (size_t i = 0; i < 2; i++)
		for (const struct qz_option *o = tables[i]; o && o->name && n + 1 < MAX_OPTIONS;
		     o++)
			all[n++] = *o;
	all[n] = (struct qz_option) {0};
}

static void print_command(const struct command *c)
{
	struct qz_option all[MAX_OPTIONS];
	char usage[600];

	snprintf(usage, sizeof(usage), "Usage: quartzctl %s [OPTION...]%s\n\n%s.\n%s", c->name,
		 c->operands, c->summary, c->details ? c->details : "");
	join_options(c, all);
	qz_options__help(stdout, usage, all);
}

static enum status misuse(const struct command *c, const char *why)
{
	complain("%s; try 'quartzctl %s --help'", why, c->name);
	return STATUS_USAGE;
}

static bool reads_snapshots(const struct command *c)
{
	const struct qz_option *tables[] = {c->options, c->more_options};

	for (size_t i = 0; i < 2; i++)
		for (const struct qz_option *o = tables[i]; o && o->name; o++)
			if (!strcmp(o->name, "input"))
				return true;
	return false;
}

/* Adds a file to those of diff. -ENOMEM. */
static int take_profile(struct config *config, const char *name)
{
	struct qz_texts *profiles = &config->profiles;
	const char **items = reallocarray(profiles->items, profiles->n + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	profiles->items = items;
	items[profiles->n++] = name;
	return 0;
}

static enum status check_profiles(const struct command *c, struct config *config)
{
	if (!config->nbefore && config->profiles.n == 2)
		config->nbefore = 1;
	if (config->nbefore && config->nbefore < config->profiles.n)
		return STATUS_OK;
	return misuse(c, "two profiles are needed, or 'BEFORE... -- AFTER...'");
}

/* Stores an operand. False: the command cannot use it. */
static bool take_operand(const struct command *c, const char *operand, struct config *config)
{
	if (!config->input && reads_snapshots(c) && profile_source__is_snapshot(operand)) {
		config->input = operand;
		return true;
	}
	if (c->takes_pid && !config->pid)
		return !qz_options__integer(operand, 1, INT32_MAX, &config->pid);
	if (!c->takes_procedure || config->procedure)
		return false;
	config->procedure = operand;
	return true;
}

/* What does not go together. */
static enum status check(const struct command *c, struct config *config)
{
	if (config->callers && !config->procedure)
		return misuse(c, "--callers needs a procedure");
	if (config->woken && config->procedure)
		return misuse(c, "--woken ranks all procedures and takes none");
	if (config->snapshot && (config->procedure || config->woken))
		return misuse(c, "--snapshot shows all procedures and takes none, nor --woken");
	if (config->depth && !config->tree)
		return misuse(c, "--depth needs --tree");
	if (config->tree && (config->procedure || config->woken || config->snapshot))
		return misuse(c, "--tree shows all procedures and takes none, nor --woken or "
				 "--snapshot");
	if (config->tree && (config->json || config->rank || config->kind || config->waits))
		return misuse(c, "--tree is a text with columns and an order of its own: not with "
				 "--json, --sort, --kind or --waits");
	if (config->costs &&
	    (config->procedure || config->woken || config->snapshot || config->timeline ||
	     config->tree || config->rank || config->kind || config->all || config->waits))
		return misuse(c,
			      "--costs is a view of its own: not with a procedure, nor with "
			      "--woken, --snapshot, --timeline, --tree, --sort, --kind, --all or "
			      "--waits");
	if (c->run == cmd_diff && config->open && !config->html)
		return misuse(c, "--open needs --html");
	if (config->all && !config->json)
		return misuse(c, "--all needs --json");
	if (config->all && (config->procedure || config->woken || config->snapshot ||
			    config->rank || config->kind || config->rows >= 0))
		return misuse(c, "--all has all rows of all views: not with a procedure, --woken, "
				 "--snapshot, --sort, --kind or --rows");
	if (!config->procedure && (c->run == cmd_pairs || c->run == cmd_annotate))
		return misuse(c, "no procedure given");
	if (config->assembly && (config->source_dir || config->strip_prefix))
		return misuse(c, "--asm shows no source text: not with --source-dir or "
				 "--strip-prefix");
	if (config->live && (config->input || config->since || config->until || config->last))
		return misuse(c, "--live is the running quartzd: not with --input, --since, "
				 "--until or --last");
	config->live_first = c->run == cmd_ps || c->run == cmd_doctor;
	if (config->input && c->takes_pid && !config->pid)
		return misuse(c, "--input needs a process id");
	return c->takes_profiles ? check_profiles(c, config) : STATUS_OK;
}

/* Options may follow the operand: `report main --callers`. */
static enum status parse(const struct command *c, int argc, char **argv, struct config *config)
{
	struct qz_option all[MAX_OPTIONS];
	char why[200];

	join_options(c, all);
	while (argc) {
		int operand = qz_options__parse(argc, argv, all, config, why, sizeof(why));

		if (operand == -ENOMEM)
			return out_of_memory();
		if (operand < 0)
			return misuse(c, why);
		if (config->help)
			return STATUS_OK;
		if (c->takes_profiles && operand > 1 && !strcmp(argv[operand - 1], "--")) {
			if (config->nbefore)
				return misuse(c, "'--' stands once, before the profiles of after");
			config->nbefore = config->profiles.n;
		}
		argc -= operand;
		argv += operand;
		if (c->takes_profiles && argc) {
			if (take_profile(config, argv[0]))
				return out_of_memory();
			continue;
		}
		if (c->takes_command || config->try_remedies) {
			config->command = argv;
			return c->takes_command ? STATUS_OK : check(c, config);
		}
		if (argc && !take_operand(c, argv[0], config)) {
			snprintf(why, sizeof(why),
				 c->takes_pid && !config->pid ? "'%s' is not a process id"
							      : "unexpected argument '%s'",
				 argv[0]);
			return misuse(c, why);
		}
	}
	return check(c, config);
}

/* Parses the words of --kind. False: one is unknown. */
static bool parse_kinds(struct config *config)
{
	static const char *const words[] = {"procedure", "object", "thread"};
	const char *at = config->kind ? config->kind : "procedure,object";

	config->kinds = 0;
	for (size_t n;; at += n + 1) {
		unsigned int i = 0;

		n = strcspn(at, ",");
		while (i < 3 && (strlen(words[i]) != n || strncmp(at, words[i], n)))
			i++;
		if (i == 3)
			return false;
		config->kinds |= 1u << i; /* enum qz_rank_kind */
		if (!at[n])
			return true;
	}
}

static enum status run_command(const struct command *c, int argc, char **argv)
{
	struct config config = {.rows = -1, .format = -1, .value = -1, .measure = -1};
	enum status status = parse(c, argc, argv, &config);

	if (status != STATUS_OK)
		return status;
	if (config.help) {
		print_command(c);
		return STATUS_OK;
	}
	if (!parse_kinds(&config)) {
		complain("--kind: '%s' is not a list of procedure, object, thread", config.kind);
		return STATUS_USAGE;
	}
	return c->run(&config);
}

static bool is_one_of(const char *word, const char *name, const char *short_name)
{
	return !strcmp(word, name) || !strcmp(word, short_name);
}

static bool is_help(const char *word)
{
	return is_one_of(word, "--help", "-h") || !strcmp(word, "help");
}

static enum status run(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		print_commands(stderr);
		return STATUS_USAGE;
	}
	if (is_one_of(argv[1], "--version", "-V"))
		return cmd_version(&(struct config) {0});
	if (is_help(argv[1]) && (argc == 2 || is_help(argv[2]))) {
		print_commands(stdout);
		return STATUS_OK;
	}
	if (is_help(argv[1])) {
		c = find_command(argv[2]);
		if (c)
			print_command(c);
		return c ? STATUS_OK : STATUS_USAGE;
	}
	c = find_command(argv[1]);
	return c ? run_command(c, argc - 1, argv + 1) : STATUS_USAGE;
}

int main(int argc, char **argv)
{
	enum status status;

	qz_standard_files__open();
	setlocale(LC_CTYPE, "");
	status = run(argc, argv);
	if (ferror(stdout) || fclose(stdout)) {
		complain("cannot write the output: %s", strerror(errno));
		status = status == STATUS_OK ? STATUS_FAILURE : status;
	}
	return status;
}
