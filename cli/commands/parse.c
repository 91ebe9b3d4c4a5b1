/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/commands/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/query/profile_source.h"

#define MAX_OPTIONS   40 /* of a command, with the row that ends them */
#define SHARED_BY_ALL (1u << 31)

static const struct {
	unsigned int flag; /* enum shared_options */
	struct qz_option option;
} shared[] = {
	{SHARED_PROCESSES,
	 {"by", 'b', QZ_OPTION_CHOICE, FIELD(by), "process|comm|unit|cgroup",
	  "What a row stands for [process]."}},
	{SHARED_PROCESSES,
	 {"sort", 'S', QZ_OPTION_CHOICE, FIELD(sort),
	  "auto|norm|cpu|parallelism|serial|spin|threads|name",
	  "Sort key. auto: norm, or cpu if there are too\nfew samples [auto]."}},
	{SHARED_SCOPE,
	 {"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	  "Scopes to show, as of 'quartzctl report'."}},
	{SHARED_SOURCE,
	 {"input", 'i', QZ_OPTION_STRING, FIELD(input), "FILE",
	  "Read this snapshot. Default: one recorded within\nthe hour, the running quartzd, or the "
	  "newest."}},
	{SHARED_SOURCE,
	 {"live", 0, QZ_OPTION_FLAG, FIELD(live), NULL,
	  "Show the running quartzd, whatever was recorded."}},
	{SHARED_SOURCE,
	 {"since", 0, QZ_OPTION_STRING, FIELD(since), "TIME",
	  "Show what quartzd --system measured since TIME:\n-10min, 14:30, '2026-01-31 14:30', "
	  "@SECONDS."}},
	{SHARED_SOURCE,
	 {"until", 0, QZ_OPTION_STRING, FIELD(until), "TIME", "Show what it measured until TIME."}},
	{SHARED_SOURCE,
	 {"last", 0, QZ_OPTION_DURATION, FIELD(last), "TIME",
	  "Short for --since -TIME; for example 10min.", 1, INT64_MAX}},
	{SHARED_PART,
	 {"time", 0, QZ_OPTION_STRING, FIELD(time), "FROM-UNTIL",
	  "Only this part of the run: 3s-5s, 500ms-2s,\n3-, -5 or 10%-50%."}},
	{SHARED_PART,
	 {"window", 0, QZ_OPTION_FLAG, FIELD(window), NULL,
	  "Leave out idle time before and after the load."}},
	{SHARED_ROWS,
	 {"rows", 'n', QZ_OPTION_INTEGER, FIELD(rows), "ROWS",
	  "Maximum number of rows, 0 for all.\nDefault: 20 in text, all in JSON.", 0, INT32_MAX}},
	{SHARED_JSON,
	 {"json", 0, QZ_OPTION_FLAG, FIELD(json), NULL, "Print JSON instead of text."}},
	{SHARED_LOOK,
	 {"wide", 'w', QZ_OPTION_FLAG, FIELD(wide), NULL, "Do not shorten long names."}},
	{SHARED_LOOK,
	 {"color", 0, QZ_OPTION_CHOICE, FIELD(color), "auto|always|never",
	  "Highlight shares of 5 % and of 0.5 % or more\n[auto]."}},
	{SHARED_PAGER,
	 {"no-pager", 0, QZ_OPTION_FLAG, FIELD(no_pager), NULL, "Do not use a pager."}},
	{SHARED_BY_ALL, {"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."}},
};

static void join_options(const struct command *c, struct qz_option all[MAX_OPTIONS])
{
	size_t n = 0;

	for (const struct qz_option *o = c->options; o && o->name && n + 1 < MAX_OPTIONS; o++)
		all[n++] = *o;
	for (size_t i = 0; i < sizeof(shared) / sizeof(*shared) && n + 1 < MAX_OPTIONS; i++)
		if ((c->shared | SHARED_BY_ALL) & shared[i].flag)
			all[n++] = shared[i].option;
	all[n] = (struct qz_option) {0};
}

void parse__help(const struct command *c)
{
	struct qz_option all[MAX_OPTIONS];
	char usage[600];

	snprintf(usage, sizeof(usage), "Usage: quartzctl %s [OPTION...]%s\n\n%s.\n%s", c->name,
		 c->operands ? c->operands : "", c->summary, c->details ? c->details : "");
	join_options(c, all);
	qz_options__help(stdout, usage, all);
}

static enum status misuse(const struct command *c, const char *why)
{
	complain("%s; try 'quartzctl %s --help'", why, c->name);
	return STATUS_USAGE;
}

static bool reads_snapshots(const struct qz_option *all)
{
	while (all->name && strcmp(all->name, "input") != 0)
		all++;
	return all->name;
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
static bool take_operand(const struct command *c, const struct qz_option *all, const char *operand,
			 struct config *config)
{
	if (!config->input && reads_snapshots(all) && profile_source__is_snapshot(operand)) {
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
	const char *why = c->find_misuse ? c->find_misuse(config) : NULL;

	if (why)
		return misuse(c, why);
	if (c->needs_procedure && !config->procedure)
		return misuse(c, "no procedure given");
	if (config->live && (config->input || config->since || config->until || config->last))
		return misuse(c, "--live is the running quartzd: not with --input, --since, "
				 "--until or --last");
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
		if (argc && !take_operand(c, all, argv[0], config)) {
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

enum status parse__command(const struct command *c, int argc, char **argv, struct config *config)
{
	enum status status;

	config->live_first = c->live_first;
	config->by_part = c->by_part;
	status = parse(c, argc, argv, config);
	if (status != STATUS_OK || config->help || parse_kinds(config))
		return status;
	complain("--kind: '%s' is not a list of procedure, object, thread", config->kind);
	return STATUS_USAGE;
}
