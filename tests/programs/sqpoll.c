/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sqpoll MS: makes an io_uring whose entries a thread of the kernel polls for, in this process, and sleeps for so long.
 * Status 1: such a ring cannot be made here.
 */
#include <linux/io_uring.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/truth.h"

int main(int argc, char *argv[])
{
	int ms = argc > 1 ? atoi(argv[1]) : 100;
	struct io_uring_params params = {
		.flags = IORING_SETUP_SQPOLL,
		.sq_thread_idle = (unsigned int)(2 * ms),
	};

	if (syscall(__NR_io_uring_setup, 8, &params) < 0)
		return 1;
	usleep((useconds_t)ms * 1000);
	compute_seconds(0.03); /* without a sample there is no report */
	return 0;
}
