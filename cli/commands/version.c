/* SPDX-License-Identifier: GPL-2.0-only */
#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "cli/cli.h"

struct version_config {
	struct config common;
	bool verbose;
};

/* Of JSON that one of the programs writes; tests/cli/man-options.sh looks for others. */
static const char *const schemas[] = {
	"advice", "annotate", "costs",	 "diff",     "doctor", "events",    "knobs",
	"meta",	  "object",   "objects", "page",     "pairs",  "procedure", "processes",
	"report", "scale",    "status",	 "together", "tries",  "try",	    "woken",
};

#define NSCHEMAS (sizeof(schemas) / sizeof(schemas[0]))

static enum status version(const struct config *config)
{
	struct utsname kernel;

	puts("quartzctl " QUARTZ_VERSION);
	if (!OWN(version_config, config)->verbose)
		return STATUS_OK;
	printf("libraries  jansson %s, protobuf-c %s, zlib %s\n", jansson_version_str(),
	       protobuf_c_version(), zlibVersion());
	for (size_t i = 0; i < NSCHEMAS; i++)
		printf("%s quartz.%s/v1%s",
		       i % 5 ? ""
		       : i   ? "          "
			     : "schemas   ",
		       schemas[i], i + 1 == NSCHEMAS || i % 5 == 4 ? "\n" : ",");
	if (!uname(&kernel))
		printf("kernel     %s %s %s\n", kernel.sysname, kernel.release, kernel.machine);
	return STATUS_OK;
}

static const struct qz_option options[] = {
	{"verbose", 'v', QZ_OPTION_FLAG, OWN_FIELD(version_config, verbose), NULL,
	 "Also print libraries, schemas and kernel."},
	{0},
};

const struct command cmd_version = {
	.name = "version",
	.summary = "Print the version",
	.options = options,
	.size = sizeof(struct version_config),
	.run = version,
};
