/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quartzctl record: executes a private quartzd, which starts the command and ends with it, or
 * measures running processes. So no process in between has to pass on signals and the exit status.
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
#include "core/util/vec.h"

/* An absolute path, because the command may change its directory. */
static const char *find_preload(void)
{
	static const char *const places[2] = {"libquartz-preload.so",
					      "../lib/libquartz-preload.so"};
	static char path[PATH_MAX];

	programs__find(places, "/usr/lib/libquartz-preload.so", path);
	return path;
}

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

static void add_options(struct line *line, const struct config *config, struct texts *texts)
{
	/* with this name, its messages begin with "quartzctl: " */
	add(line, "quartzctl");
	add(line, "--private");
	for (size_t i = 0; i < config->pids.n; i++)
		add_number(line, "--pid", config->pids.items[i], texts->pids[i]);
	for (size_t i = 0; i < config->trees.n; i++)
		add_number(line, "--tree", config->trees.items[i], texts->trees[i]);
	if (config->system) {
		add(line, "--system");
		add(line, "--exact");
		add_text(line, "--history", "0");
	}
	add_time(line, "--duration", config->duration, texts->duration);
	add_time(line, "--delay", config->delay, texts->delay);
	add_text(line, "--output", config->output);
	add_number(line, "--rate", config->rate, texts->rate);
	add_number(line, "--snapshots", config->snapshots, texts->snapshots);
	add_text(line, "--cpu", config->cpu);
	add_text(line, "--cache-size", config->cache_size);
	add_flag(line, "--lines", config->lines);
	add_flag(line, "--inlines", config->inlines);
	add_flag(line, "--woken", config->woken);
	add_text(line, "--log", config->log);
	add_text(line, "--what-if", config->what_if);
	add_text(line, "--preload", config->preload ? find_preload() : NULL);
	for (size_t i = 0; i < config->spin_symbols.n; i++)
		add_text(line, "--spin-symbols", config->spin_symbols.items[i]);
}

static enum status check_targets(const struct config *config)
{
	const char *why = NULL;

	int others = !!config->pids.n + !!config->trees.n + !!config->unit + !!config->container +
		     config->system;

	if (*config->command && others)
		why = "a COMMAND cannot be combined with --pid, --tree, --unit, --container or "
		      "--system: --duration says how long to measure";
	else if (others > 1)
		why = "--pid, --tree, --unit, --container and --system exclude each other";
	else if (!*config->command && !others)
		why = "no command given, nor --pid, --tree, --unit, --container or --system";
	else if (!*config->command && (config->preload || config->user))
		why = "--preload and --user need a COMMAND";
	if (!why)
		return STATUS_OK;
	complain("%s; try 'quartzctl record --help'", why);
	return STATUS_USAGE;
}

/* The processes that are named in some other way than by their numbers. */
static enum status find_targets(const struct config *given, struct config *config)
{
	*config = *given;
	members__say_left_out(&config->pids);
	return config->unit || config->container
		       ? members__find(config->unit, config->container, &config->trees)
		       : STATUS_OK;
}

/* named: the runtime of the command was told to write maps of names. */
static enum status start(const struct config *config, const char *user, bool named)
{
	struct texts texts = {
		.pids = calloc(config->pids.n + 1, sizeof(*texts.pids)),
		.trees = calloc(config->trees.n + 1, sizeof(*texts.trees)),
	};
	struct line line = {.failed = !texts.pids || !texts.trees};
	char path[PATH_MAX];

	if (!line.failed)
		add_options(&line, config, &texts);
	if (*config->command) {
		add_text(&line, "--user", user);
		add_flag(&line, "--remove-maps", named);
		add(&line, "--");
	}
	for (char **word = config->command; *word; word++)
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

enum status cmd_record(const struct config *given)
{
	const char *user = NULL;
	struct config config;
	enum status status = check_targets(given);
	bool named = false;

	if (status == STATUS_OK && *given->command)
		status = programs__user(given, given->command[0], &user);
	if (status == STATUS_OK && *given->command && given->runtime == RUNTIME_AUTO)
		status = runtime__name_code(given->command, &named);
	if (status == STATUS_OK)
		status = find_targets(given, &config);
	return status == STATUS_OK ? start(&config, user, named) : status;
}
