// SPDX-License-Identifier: GPL-2.0-only
/* quartzd: see quartzd(8). */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>

#include "core/util/standard_files.h"
#include "daemon/session/options.h"
#include "daemon/util/log.h"
#include "daemon/session/service.h"

/* What is as large as this goes back to the system when it is freed. */
#define LARGE (128 << 10)

int main(int argc, char *argv[])
{
	struct options options;
	char error[256];
	int status = STATUS_OK, err;

	qz_standard_files__open();
	/* else glibc raises it to what was freed last, and the tables of a library stay in the heap */
	mallopt(M_MMAP_THRESHOLD, LARGE);
	log__set_name(argv[0]);
	err = options__parse(&options, argc, argv, error, sizeof(error));
	if (err == -EBADMSG) {
		log_error("%s", error);
		status = STATUS_CONFIGURATION;
	} else if (err) {
		log_error("%s; try %s", error, log__help());
		status = STATUS_USAGE;
	} else if (options.help) {
		options__help();
	} else if (options.version) {
		printf("quartzd %s\n", QUARTZ_VERSION);
	} else {
		if (options.verbose)
			log__set_level(LOG_DEBUG);
		status = service__run(&options, argc, argv);
	}
	options__free(&options);
	return fflush(stdout) && !status ? STATUS_FAILURE : status;
}
