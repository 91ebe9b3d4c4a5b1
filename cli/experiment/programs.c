/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/programs.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void programs__find(const char *const places[2], const char *usual, char path[PATH_MAX])
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

void programs__quartzd(char path[PATH_MAX])
{
	static const char *const places[2] = {"quartzd", "../sbin/quartzd"};

	programs__find(places, "/usr/sbin/quartzd", path);
}

const char *programs__user(const struct config *config)
{
	const char *uid = getenv("SUDO_UID"), *name = getenv("SUDO_USER");
	int64_t number;

	if (config->user)
		return config->user;
	if (!uid || qz_options__integer(uid, 1, UINT32_MAX - 1, &number) ||
	    !getpwuid((uid_t)number))
		return NULL;
	complain("%s is run as %s; with --user root it is run as root", config->command[0],
		 name ? name : uid);
	return uid;
}
