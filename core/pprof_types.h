/* SPDX-License-Identifier: GPL-2.0-only */
/* The sample types of a snapshot, in the order of the values of each pprof sample. */
#ifndef QUARTZ_CORE_PPROF_TYPES_H
#define QUARTZ_CORE_PPROF_TYPES_H

enum {
	QZ_PPROF_SAMPLES,
	QZ_PPROF_CPU,
	QZ_PPROF_NORM_CPU,
	QZ_PPROF_FIRST_TYPES, /* snapshots of the first version have no others */
	QZ_PPROF_SPIN = QZ_PPROF_FIRST_TYPES,
	QZ_PPROF_WAITS,
	QZ_PPROF_BLOCKED,
	QZ_PPROF_READY,
	QZ_PPROF_WAKES,
	QZ_PPROF_WOKEN,
	QZ_PPROF_LAST_TYPES, /* without a scope of the machine there are no others */
	/* What the machine's samples have, so that the sums of the others count nothing twice. */
	QZ_PPROF_MACHINE_SAMPLES = QZ_PPROF_LAST_TYPES,
	QZ_PPROF_MACHINE_CPU,
	QZ_PPROF_MACHINE_NORM_CPU,
	QZ_PPROF_MACHINE_SPIN,
	QZ_PPROF_TYPES,
};

#endif
