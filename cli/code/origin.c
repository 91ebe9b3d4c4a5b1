/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/code/origin.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/code/subprocess.h"
#include "core/source/code_times.h"

#define MAX_ANSWER 4096

/* Neither a pattern for dpkg nor anything that a shell would take apart when the user copies it. */
static bool is_plain(const char *path)
{
	return *path && !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789/._+-")];
}

static bool is_hex(const char *id)
{
	return strlen(id) > 2 && !id[strspn(id, "0123456789abcdef")];
}

/* "zlib1g:amd64: /lib/…": the name before the first colon; of several packages, the first. */
static char *first_package(const char *answer)
{
	size_t length = strspn(answer, "abcdefghijklmnopqrstuvwxyz0123456789+-.");

	return length && (answer[length] == ':' || answer[length] == ',') ? strndup(answer, length)
									  : NULL;
}

/*
 * The Debian package that the file at `link` belongs to, by dpkg, for the caller to free; NULL where that is not known.
 * The path may be a stranger's.
 */
static char *package_of(const char *link)
{
	char resolved[PATH_MAX];
	const char *path = *link == '/' && realpath(link, resolved) ? resolved : link;
	/* What is in /usr/lib may have been packed as /lib. */
	const char *names[] = {path, strncmp(path, "/usr/", 5) ? NULL : path + 4};
	char *package = NULL;

	if (*path != '/' || !is_plain(path))
		return NULL;
	for (int i = 0; !package && i < 2 && names[i]; i++) {
		const char *argv[] = {"dpkg-query", "--search", "--", names[i], NULL};
		char *answer;

		if (subprocess__read(argv, MAX_ANSWER, &answer))
			continue;
		package = first_package(answer);
		free(answer);
	}
	return package;
}

uint32_t origin__mapping(const struct qz_report *r, uint32_t procedure)
{
	struct qz_code_time *times;
	uint32_t n, mapping = QZ_NONE;
	uint64_t most = 0;

	if (qz_code_times__of(r, procedure, QZ_CODE_INSTRUCTIONS, &times, &n))
		return QZ_NONE;
	/* They are in the order of mappings. */
	for (uint32_t i = 0, end; i < n; i = end) {
		uint64_t sum = 0;

		for (end = i; end < n && times[end].mapping == times[i].mapping; end++)
			sum += times[end].figure.cpu_ns;
		if (times[i].mapping != QZ_NONE && (sum > most || mapping == QZ_NONE)) {
			most = sum;
			mapping = times[i].mapping;
		}
	}
	qz_code_times__free(times, n);
	return mapping;
}

char *origin__debug_hint(const char *module, const char *build_id)
{
	char *package = package_of(module), *hint = NULL;
	int length;

	if (package)
		length = asprintf(
			&hint,
			"'apt install %s-dbgsym' (of Debian's archive debian-debug) brings it",
			package);
	else if (is_hex(build_id))
		length = asprintf(
			&hint,
			"compile it with -g, or, where DEBUGINFOD_URLS names a server, put what "
			"'debuginfod-find debuginfo %s' finds at "
			"/usr/lib/debug/.build-id/%.2s/%s.debug",
			build_id, build_id, build_id + 2);
	else
		length = asprintf(&hint, "compile it with -g");
	free(package);
	return length < 0 ? NULL : hint;
}

char *origin__source_hint(const char *module, const char *build_id, const char *file)
{
	char *package = package_of(module), *hint = NULL;
	int length;

	if (package)
		length = asprintf(&hint, "; 'apt source %s' brings it", package);
	else if (is_hex(build_id) && is_plain(file))
		length = asprintf(&hint,
				  "; where DEBUGINFOD_URLS names a server, 'debuginfod-find source "
				  "%s %s' brings it",
				  build_id, file);
	else
		length = asprintf(&hint, "%s", "");
	free(package);
	return length < 0 ? NULL : hint;
}
