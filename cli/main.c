/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

struct command {
	const char *name;
	const char *operands; /* for the usage line */
	const char *summary;
	const char *details; /* further lines of the help text, or NULL */
	const struct qz_option *options, *more_options; /* the latter may be NULL */
	enum status (*run)(const struct config *config);
	bool takes_procedure, takes_pid; /* one operand, optional */
	bool takes_command;		 /* all operands, at least one */
};

static const struct command commands[] = {
	{
		.name = "record",
		.operands = " [--] COMMAND [ARGUMENT...]",
		.summary = "Profile a command from its first instruction",
		.details =
			"All its descendants are profiled too. The exit status is the command's.\n"
			"Needs root. Afterwards, 'quartzctl report' shows the result.\n",
		.options = record_options,
		.run = cmd_record,
		.takes_command = true,
	},
	{
		.name = "report",
		.operands = " [PROCEDURE|OBJECT]",
		.summary = "Show which procedures cost a program its elapsed time",
		.details =
			"With PROCEDURE: show at which parallelism it ran, what its time is made\n"
			"of, and what it waited for. With OBJECT: show who waits for it, and who\n"
			"ends the waits.\n",
		.options = report_options,
		.more_options = profile_options,
		.run = cmd_report,
		.takes_procedure = true,
	},
	{
		.name = "threads",
		.operands = "",
		.summary = "Show the threads of a program and what each cost",
		.options = report_options + REPORT_ONLY_OPTIONS,
		.more_options = profile_options,
		.run = cmd_threads,
	},
	{
		.name = "objects",
		.operands = "",
		.summary = "Show locks and other objects that threads waited for",
		.details = "'quartzctl locks' is the same.\n",
		.options = report_options + REPORT_ONLY_OPTIONS,
		.more_options = profile_options,
		.run = cmd_objects,
	},
	{
		.name = "pairs",
		.operands = " PROCEDURE",
		.summary = "Show what other processors did while a procedure ran",
		.details = "From the instants that 'quartzctl record --snapshots' took.\n",
		.options = report_options + REPORT_ONLY_OPTIONS,
		.more_options = profile_options,
		.run = cmd_pairs,
		.takes_procedure = true,
	},
	{
		.name = "ps",
		.operands = "",
		.summary = "Show what each process, or unit, cost the machine",
		.options = ps_options,
		.more_options = profile_options,
		.run = cmd_ps,
	},
	{
		.name = "top",
		.operands = "",
		.summary = "Show the same live, second by second",
		.details = "In it, h tells the keys.\n",
		.options = top_options,
		.run = cmd_top,
	},
	{
		.name = "events",
		.operands = "",
		.summary = "Show the measurement events of a program and the times between",
		.options = events_options,
		.run = cmd_events,
	},
	{
		.name = "status",
		.operands = "",
		.summary = "Tell what the running quartzd does",
		.options = status_options,
		.run = cmd_status,
	},
	{
		.name = "pause",
		.operands = "",
		.summary = "Have quartzd --system save its snapshot and detach",
		.options = control_options,
		.run = cmd_pause,
	},
	{
		.name = "resume",
		.operands = "",
		.summary = "Have it measure again",
		.options = control_options,
		.run = cmd_resume,
	},
	{
		.name = "reload",
		.operands = "",
		.summary = "Have it read its settings and begin anew with them",
		.options = control_options,
		.run = cmd_reload,
	},
	{
		.name = "doctor",
		.operands = " [PID]",
		.summary = "Tell whether this machine can run quartzd, and the remedies",
		.details = "With PID: tell how well the stacks of that process could be walked.\n",
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

static const struct command *find_command(const char *name)
{
	if (!strcmp(name, "locks"))
		name = "objects";
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	complain("unknown command '%s'; 'quartzctl help' lists them", name);
	return NULL;
}

static void print_commands(FILE *out)
{
	fputs("Usage: quartzctl COMMAND [OPTION...]\n\n"
	      "Quartz tells why a parallel program is not faster.\n\n"
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

/* False: the command cannot use it. */
static bool take_operand(const struct command *c, const char *operand, struct config *config)
{
	if (c->takes_pid && !config->pid)
		return !qz_parse_integer(operand, 1, INT32_MAX, &config->pid);
	if (!c->takes_procedure || config->procedure)
		return false;
	config->procedure = operand;
	return true;
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
		argc -= operand;
		argv += operand;
		if (c->takes_command) {
			config->command = argv;
			return argc ? STATUS_OK : misuse(c, "no command given");
		}
		if (argc && !take_operand(c, argv[0], config)) {
			snprintf(why, sizeof(why),
				 c->takes_pid && !config->pid ? "'%s' is not a process id"
							      : "unexpected argument '%s'",
				 argv[0]);
			return misuse(c, why);
		}
	}
	if (config->callers && !config->procedure)
		return misuse(c, "--callers needs a procedure");
	if (config->woken && config->procedure)
		return misuse(c, "--woken ranks all procedures and takes none");
	if (config->snapshot && (config->procedure || config->woken))
		return misuse(c, "--snapshot shows all procedures and takes none, nor --woken");
	if (!config->procedure && c->run == cmd_pairs)
		return misuse(c, "no procedure given");
	if (config->input && c->takes_pid && !config->pid)
		return misuse(c, "--input needs a process id");
	return STATUS_OK;
}

/* The words of --kind. False: one is none of them. */
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
	struct config config = {.rows = -1};
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

static enum status run(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		print_commands(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--version"))
		return cmd_version(&(struct config) {0});
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		c = argc > 2 ? find_command(argv[2]) : NULL;
		if (c)
			print_command(c);
		else if (argc == 2)
			print_commands(stdout);
		return c || argc == 2 ? STATUS_OK : STATUS_USAGE;
	}
	c = find_command(argv[1]);
	return c ? run_command(c, argc - 1, argv + 1) : STATUS_USAGE;
}

int main(int argc, char **argv)
{
	enum status status;

	setlocale(LC_CTYPE, "");
	status = run(argc, argv);
	if (ferror(stdout) || fclose(stdout)) {
		complain("cannot write the output: %s", strerror(errno));
		status = status == STATUS_OK ? STATUS_FAILURE : status;
	}
	return status;
}
