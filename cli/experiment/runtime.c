// SPDX-License-Identifier: GPL-2.0-only
#include "cli/experiment/runtime.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/base_name.h"
#include "core/util/search_path.h"

static const struct runtime {
	const char *program; /* its file */
	const char *variable, *options;
	const char *gives;
} runtimes[] = {
	{"node", "NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack",
	 "names for JavaScript"},
	{"java", "JAVA_TOOL_OPTIONS",
	 /* the last one is there since 17; none before may end because of it */
	 "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions "
	 "-XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit",
	 "whole stacks and names of Java"},
	{"dotnet", "DOTNET_PerfMapEnabled", "1", "names for .NET"},
};

/* The file of a command, links followed. False: there is none. */
static bool find_file(const char *name, char path[PATH_MAX])
{
	char found[PATH_MAX];

	return qz_search_path__find(name, found) && realpath(found, path);
}

static const struct runtime *find_runtime(const char *path)
{
	const char *name = qz_base_name(path);

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		if (!strcmp(name, runtimes[i].program))
			return &runtimes[i];
	return !strcmp(name, "nodejs") ? &runtimes[0] : NULL;
}

/* The program that a script is for: "#!/usr/bin/env node". False: it is no script. */
static bool read_interpreter(const char *path, char program[PATH_MAX])
{
	static const char blanks[] = " \t";
	char line[256], *word, *rest;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	if (n < 3 || memcmp(line, "#!", 2))
		return false;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	word = strtok_r(line + 2, blanks, &rest);
	if (word && !strcmp(qz_base_name(word), "env"))
		do
			word = strtok_r(NULL, blanks, &rest);
		while (word && (*word == '-' || strchr(word, '=')));
	return word && find_file(word, program);
}

static enum status add_options(const struct runtime *r, bool *named)
{
	const char *before = getenv(r->variable);
	char *all;

	if (before && strstr(before, r->options))
		return STATUS_OK;
	if (asprintf(&all, "%s%s%s", before ?: "", before && *before ? " " : "", r->options) < 0 ||
	    setenv(r->variable, all, 1))
		return out_of_memory();
	free(all);
	*named = true;
	fprintf(stderr, "quartzctl: for %s, %s has %s (--runtime none: as it was)\n", r->gives,
		r->variable, r->options);
	return STATUS_OK;
}

enum status runtime__name_code(char *const *command, bool *named)
{
	char path[PATH_MAX], program[PATH_MAX];
	const struct runtime *r;

	if (!find_file(command[0], path))
		return STATUS_OK;
	r = find_runtime(path);
	if (!r && read_interpreter(path, program))
		r = find_runtime(program);
	return r ? add_options(r, named) : STATUS_OK;
}
