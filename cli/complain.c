/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("quartzctl: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

enum status out_of_memory(void)
{
	complain("out of memory");
	return STATUS_FAILURE;
}
