/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/parse.h"
#include "core/util/standard_files.h"
#include "core/util/suggest.h"

static const struct command *const commands[] = {
	&cmd_record, &cmd_scale,   &cmd_tune,	  &cmd_knobs,  &cmd_set,
	&cmd_replay, &cmd_report,  &cmd_annotate, &cmd_advise, &cmd_what_if,
	&cmd_diff,   &cmd_threads, &cmd_objects,  &cmd_pairs,  &cmd_ps,
	&cmd_top,    &cmd_events,  &cmd_export,	  &cmd_html,   &cmd_status,
	&cmd_pause,  &cmd_resume,  &cmd_reload,	  &cmd_doctor, &cmd_version,
};

#define NCOMMANDS (sizeof(commands) / sizeof(*commands))

static void complain_unknown(const char *name)
{
	struct qz_suggestion like = {0};

	for (size_t i = 0; i < NCOMMANDS; i++)
		qz_suggestion__try(&like, name, commands[i]->name);
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
		if (!strcmp(commands[i]->name, name))
			return commands[i];
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
		fprintf(out, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
	fputs("  help      Print this text, or the help text of a command\n\n"
	      "'quartzctl COMMAND --help' lists the options of a command; quartzctl(1)\n"
	      "describes the output.\n",
	      out);
}

static enum status run_command(const struct command *c, int argc, char **argv)
{
	size_t size = c->size ? c->size : sizeof(struct config);
	struct config *config = calloc(1, size);
	enum status status;

	if (!config)
		return out_of_memory();
	config->rows = -1;
	if (c->defaults)
		memcpy(config, c->defaults, size);
	status = parse__command(c, argc, argv, config);
	if (status == STATUS_OK && config->help)
		parse__help(c);
	else if (status == STATUS_OK)
		status = c->run(config);
	free(config);
	return status;
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
		return run_command(&cmd_version, 1, argv);
	if (is_help(argv[1]) && (argc == 2 || is_help(argv[2]))) {
		print_commands(stdout);
		return STATUS_OK;
	}
	if (is_help(argv[1])) {
		c = find_command(argv[2]);
		if (c)
			parse__help(c);
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
