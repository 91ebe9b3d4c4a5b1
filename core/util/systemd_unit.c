/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/systemd_unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has_suffix(const char *s, size_t n, const char *suffix)
{
	size_t length = strlen(suffix);

	return n > length && !memcmp(s + n - length, suffix, length);
}

static bool is_unit(const char *s, size_t n)
{
	return n < QZ_UNIT_LENGTH && (has_suffix(s, n, ".service") || has_suffix(s, n, ".scope") ||
				      has_suffix(s, n, ".socket") || has_suffix(s, n, ".mount") ||
				      has_suffix(s, n, ".swap"));
}

void qz_systemd_unit__of_cgroup(const char *cgroup, char unit[QZ_UNIT_LENGTH])
{
	bool slice = true;

	unit[0] = '\0';
	while (*cgroup) {
		size_t n = strcspn(cgroup, "/");
		bool found = is_unit(cgroup, n);

		if (found || (slice && n < QZ_UNIT_LENGTH && has_suffix(cgroup, n, ".slice"))) {
			memcpy(unit, cgroup, n);
			unit[n] = '\0';
			slice = !found;
		}
		cgroup += n;
		cgroup += *cgroup == '/';
	}
}

/* How much a line's hierarchy is worth; 0: it is no line of the file. */
static int rank(const char *line, size_t n, size_t *path)
{
	const char *controllers = memchr(line, ':', n), *second;
	bool root;

	second = controllers ? memchr(controllers + 1, ':', n - (controllers + 1 - line)) : NULL;
	if (!second || second[1] != '/')
		return 0;
	*path = second + 1 - line;
	root = n - *path == 1;
	if (root)
		return 1;
	if (second == controllers + 1)
		return 4;
	return !strncmp(controllers, ":name=systemd:", 14) ? 3 : 2;
}

void qz_systemd_unit__cgroup_of(const char *text, char *cgroup, int size)
{
	int best = 0;

	cgroup[0] = '\0';
	while (*text) {
		size_t n = strcspn(text, "\n"), path = 0;
		int r = rank(text, n, &path);

		if (r > best) {
			snprintf(cgroup, size, "%.*s", (int)(n - path), text + path);
			best = r;
		}
		text += n;
		text += *text == '\n';
	}
}
