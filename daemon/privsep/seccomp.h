/* SPDX-License-Identifier: GPL-2.0-only */
/* The system calls of each process of quartzd (seccomp). */
#ifndef QUARTZ_DAEMON_SECCOMP_H
#define QUARTZ_DAEMON_SECCOMP_H

enum helper_job {
	JOB_QUARTZD,
	JOB_KEEPER,
	JOB_OPENER,	/* reads files, and writes none */
	JOB_WAKER,	/* reads files, and writes what shm_wake.h does */
	JOB_SYMBOLIZER, /* a program of its own, which gives up everything itself */
};

/*
 * Leaves this process the system calls of its job, which is none of a symbolizer. All others fail with ENOSYS, as on a kernel that does
 * not know them: a C library that tries newer ones first goes on with older ones. For good, and only while
 * there is one thread. 0 or -errno.
 */
int seccomp__confine(enum helper_job job);

#endif
