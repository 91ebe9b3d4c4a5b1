/* SPDX-License-Identifier: GPL-2.0-only */
#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "cli/cli.h"

enum status cmd_version(const struct config *config)
{
	struct utsname kernel;

	puts("quartzctl " QUARTZ_VERSION);
	if (!config->verbose)
		return STATUS_OK;
	printf("libraries  jansson %s, protobuf-c %s, zlib %s\n", jansson_version_str(),
	       protobuf_c_version(), zlibVersion());
	puts("schemas    quartz.report/v1, quartz.procedure/v1, quartz.events/v1, "
	     "quartz.doctor/v1");
	if (!uname(&kernel))
		printf("kernel     %s %s %s\n", kernel.sysname, kernel.release, kernel.machine);
	return STATUS_OK;
}
