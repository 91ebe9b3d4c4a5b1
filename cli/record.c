/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quartzctl record: becomes a private quartzd that launches the command and ends with it, so that
 * there is no process in between whose signals and exit status would have to be passed on.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

#define MAX_ARGUMENTS 17 /* before the command, without rules */

/* Beside quartzctl (build tree), else where it is installed beside it, else the usual place. */
static void find(const char *const places[2], const char *usual, char path[PATH_MAX])
{
	char own[PATH_MAX] = "";
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash = length > 0 ? strrchr(own, '/') : NULL;

	for (size_t i = 0; slash && i < 2; i++) {
		int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - own), own, places[i]);

		if (n < PATH_MAX && !access(path, X_OK))
			return;
	}
	strcpy(path, usual);
}

static void find_quartzd(char path[PATH_MAX])
{
	static const char *const places[2] = {"quartzd", "../sbin/quartzd"};

	find(places, "/usr/sbin/quartzd", path);
}

/* Its full name, as the command may change its directory. */
static const char *find_preload(void)
{
	static const char *const places[2] = {"libquartz-preload.so",
					      "../lib/libquartz-preload.so"};
	static char path[PATH_MAX];

	find(places, "/usr/lib/libquartz-preload.so", path);
	return path;
}

static size_t add_options(const struct config *config, char rate[24], char snapshots[24],
			  const char **arguments)
{
	size_t n = 0;

	arguments[n++] = "quartzd";
	arguments[n++] = "--private";
	if (config->output) {
		arguments[n++] = "--output";
		arguments[n++] = config->output;
	}
	if (config->rate) {
		snprintf(rate, 24, "%lld", (long long)config->rate);
		arguments[n++] = "--rate";
		arguments[n++] = rate;
	}
	if (config->snapshots) {
		snprintf(snapshots, 24, "%lld", (long long)config->snapshots);
		arguments[n++] = "--snapshots";
		arguments[n++] = snapshots;
	}
	if (config->cpu) {
		arguments[n++] = "--cpu";
		arguments[n++] = config->cpu;
	}
	if (config->lines)
		arguments[n++] = "--lines";
	if (config->inlines)
		arguments[n++] = "--inlines";
	if (config->woken)
		arguments[n++] = "--woken";
	if (config->preload) {
		arguments[n++] = "--preload";
		arguments[n++] = find_preload();
	}
	for (size_t i = 0; i < config->spin_symbols.n; i++) {
		arguments[n++] = "--spin-symbols";
		arguments[n++] = config->spin_symbols.items[i];
	}
	arguments[n++] = "--";
	return n;
}

enum status cmd_record(const struct config *config)
{
	char path[PATH_MAX], rate[24], snapshots[24];
	size_t words = 0, n;
	const char **arguments;

	while (config->command[words])
		words++;
	arguments =
		calloc(MAX_ARGUMENTS + 2 * config->spin_symbols.n + words + 1, sizeof(*arguments));
	if (!arguments)
		return out_of_memory();
	n = add_options(config, rate, snapshots, arguments);
	memcpy(&arguments[n], config->command, words * sizeof(*arguments));
	find_quartzd(path);
	execv(path, (char **)arguments);
	complain("cannot start %s: %s", path, strerror(errno));
	free(arguments);
	return STATUS_FAILURE;
}
