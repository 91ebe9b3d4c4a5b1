/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exit statuses of all programs: a number means the same everywhere. Each program's manual page documents those that it has
 * here, and no other (tests/unit/core/util/test_exit_status.c).
 */
#ifndef QUARTZ_CORE_EXIT_STATUS_H
#define QUARTZ_CORE_EXIT_STATUS_H

enum qz_program {
	QZ_QUARTZCTL = 1,
	QZ_QUARTZD = 2,
	QZ_EXPORTER = 4,
};

/*
 * Name, number, and which programs end with it. quartzctl record becomes quartzd, so it has quartzd's, too; a COMMAND that was
 * started has its own instead of 0.
 */
#define QZ_EXIT_STATUSES(X)                                                                        \
	X(OK, 0, QZ_QUARTZCTL | QZ_QUARTZD | QZ_EXPORTER)                                          \
	X(FAILURE, 1, QZ_QUARTZCTL | QZ_QUARTZD | QZ_EXPORTER)                                     \
	X(USAGE, 2, QZ_QUARTZCTL | QZ_QUARTZD | QZ_EXPORTER)                                       \
	X(NO_SOURCE, 3, QZ_QUARTZCTL) /* quartzd does not run, and nothing was recorded */         \
	X(NO_PRIVILEGE, 4, QZ_QUARTZCTL | QZ_QUARTZD)                                              \
	X(UNSUPPORTED, 5, QZ_QUARTZCTL | QZ_QUARTZD) /* the kernel */                              \
	X(CONFIGURATION, 6, QZ_QUARTZCTL | QZ_QUARTZD)                                             \
	X(NO_SAMPLES, 7, QZ_QUARTZCTL | QZ_QUARTZD)                                                \
	X(SLOWER, 8, QZ_QUARTZCTL)  /* diff --fail-above */                                        \
	X(REFUSED, 9, QZ_QUARTZCTL) /* set: the program or its libquartz refuses the value */      \
	X(NOT_EXECUTABLE, 126, QZ_QUARTZCTL | QZ_QUARTZD)                                          \
	X(NOT_FOUND, 127, QZ_QUARTZCTL | QZ_QUARTZD) /* the COMMAND */

#define QZ_EXIT_STATUS(name, number, programs) STATUS_##name = (number),
enum status { QZ_EXIT_STATUSES(QZ_EXIT_STATUS) };
#undef QZ_EXIT_STATUS

#endif
