// SPDX-License-Identifier: GPL-2.0-only
#include "cli/experiment/runtime.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/base_name.h"
#include "core/util/search_path.h"

static const struct runtime {
	const char *programs[5]; /* their files */
	const char *variable, *options;
	const char *gives;
} runtimes[] = {
	{{"node", "nodejs"},
	 "NODE_OPTIONS",
	 "--perf-basic-prof --interpreted-frames-native-stack",
	 "names for JavaScript"},
	{{"java", "javac", "javadoc", "jshell"},
	 "JAVA_TOOL_OPTIONS",
	 /* the last one is there since 17; none before may end because of it */
	 "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions "
	 "-XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit",
	 "whole stacks and names of Java"},
	{{"dotnet"}, "DOTNET_PerfMapEnabled", "1", "names for .NET"},
};

#define RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

/* Of a script, that much is read: who starts a runtime does so soon. */
#define LONGEST_SCRIPT 65536

/* What ends a word of a command line: of a shell, too, and what is assigned to a variable. */
static const char separators[] = " \t\r\n\"'`;|&()<>{}$=";

/* RUNTIMES: of none. */
static size_t find_name(const char *path)
{
	const char *name = qz_base_name(path);

	for (size_t i = 0; i < RUNTIMES; i++)
		for (const char *const *program = runtimes[i].programs; *program; program++)
			if (!strcmp(name, *program))
				return i;
	return RUNTIMES;
}

/* A runtime's file, by whatever link. */
static size_t find_runtime(const char *word)
{
	char path[PATH_MAX];
	size_t found = find_name(word);

	return found == RUNTIMES && strchr(word, '/') && realpath(word, path) ? find_name(path)
									      : found;
}

/* Marks the runtimes that are a word of a text, which is cut into words. */
static void find_words(char *text, bool found[RUNTIMES + 1])
{
	char *rest;

	for (char *word = strtok_r(text, separators, &rest); word;
	     word = strtok_r(NULL, separators, &rest))
		found[find_runtime(word)] = true;
}

static bool is_shell(const char *line)
{
	const char *blank = strpbrk(line, " \t");
	size_t length = blank ? (size_t)(blank - line) : strlen(line);

	return length > 2 && !memcmp(line + length - 2, "sh", 2);
}

/* An argument may name a device, which begins to do something when it is opened. */
static int open_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Of a script, its first line, and all of one for a shell. Any other file is left alone. */
static void find_in_script(const char *path, bool found[RUNTIMES + 1])
{
	int fd = open_file(path);
	char *text = fd < 0 ? NULL : calloc(1, LONGEST_SCRIPT + 1);
	ssize_t n = text ? read(fd, text, LONGEST_SCRIPT) : -1;
	char *rest;

	if (n > 2 && !memcmp(text, "#!", 2)) {
		rest = text + 2 + strcspn(text + 2, "\n");
		if (*rest)
			*rest++ = '\0';
		if (is_shell(text + 2 + strspn(text + 2, " \t")))
			find_words(rest, found);
		find_words(text + 2, found);
	}
	free(text);
	if (fd >= 0)
		close(fd);
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
	bool found[RUNTIMES + 1] = {false};
	enum status status = STATUS_OK;
	char path[PATH_MAX];

	if (qz_search_path__find(command[0], path)) {
		found[find_runtime(path)] = true;
		find_in_script(path, found);
	}
	for (char *const *word = command; *word; word++) {
		char *copy = strdup(*word);

		if (!copy)
			return out_of_memory();
		find_words(copy, found);
		free(copy);
		if (word != command)
			find_in_script(*word, found);
	}
	for (size_t i = 0; i < RUNTIMES && status == STATUS_OK; i++)
		if (found[i])
			status = add_options(&runtimes[i], named);
	return status;
}
