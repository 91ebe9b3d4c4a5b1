// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/util/term_escape.h"
#include "daemon/util/log.h"

static enum log_level max_level = LOG_INFO;

static bool as_quartzctl;

void log__set_name(const char *called)
{
	const char *slash = called ? strrchr(called, '/') : NULL;

	as_quartzctl = called && !strcmp(slash ? slash + 1 : called, "quartzctl");
}

const char *log__help(void)
{
	return as_quartzctl ? "quartzctl record --help" : "quartzd --help";
}

void log__set_level(enum log_level level)
{
	max_level = level;
}

bool log__prints(enum log_level level)
{
	return level <= max_level;
}

void log__print(enum log_level level, const char *format, ...)
{
	char raw[1024], line[2048];
	va_list args;
	size_t n;

	if (!log__prints(level))
		return;
	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	n = strlen(raw);
	while (n && raw[n - 1] == '\n')
		raw[--n] = '\0';
	qz_term_escape(line, sizeof(line), raw);
	fprintf(stderr, "%s: %s\n", as_quartzctl ? "quartzctl" : "quartzd", line);
}
