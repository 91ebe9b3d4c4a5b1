/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the writer and the reader of snapshots have in common: the sample types, in the order of the values of each
 * pprof sample, and the words of types and labels.
 */
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
	/* Types of the machine's samples, so that the sums of the other types count nothing twice. */
	QZ_PPROF_MACHINE_SAMPLES = QZ_PPROF_LAST_TYPES,
	QZ_PPROF_MACHINE_CPU,
	QZ_PPROF_MACHINE_NORM_CPU,
	QZ_PPROF_MACHINE_SPIN,
	QZ_PPROF_TYPES,
};

/*
 * The first strings of each file are those before MACHINE_SAMPLES, in this order; with a scope of the machine
 * those of the machine follow. The last three are added if a label needs them.
 */
#define QZ_PPROF_WORDS(WORD)                                                                       \
	WORD(EMPTY, "")                                                                            \
	WORD(SAMPLES, "samples")                                                                   \
	WORD(COUNT, "count")                                                                       \
	WORD(CPU, "cpu")                                                                           \
	WORD(NORM_CPU, "norm_cpu")                                                                 \
	WORD(SPIN, "spin")                                                                         \
	WORD(WAITS, "waits")                                                                       \
	WORD(BLOCKED, "blocked")                                                                   \
	WORD(READY, "ready")                                                                       \
	WORD(WAKES, "wakes")                                                                       \
	WORD(WOKEN, "woken")                                                                       \
	WORD(NANOSECONDS, "nanoseconds")                                                           \
	WORD(KIND, "kind")                                                                         \
	WORD(WAIT, "wait")                                                                         \
	WORD(WAKING, "waking")                                                                     \
	WORD(THREAD, "thread")                                                                     \
	WORD(TID, "tid")                                                                           \
	WORD(SCOPE, "scope")                                                                       \
	WORD(THREAD_INDEX, "thread_index")                                                         \
	WORD(LEVEL, "level")                                                                       \
	WORD(BUSY, "busy")                                                                         \
	WORD(SPINNING, "spinning")                                                                 \
	WORD(OBJECT, "object")                                                                     \
	WORD(OBJECT_INDEX, "object_index")                                                         \
	WORD(CAUSE, "cause")                                                                       \
	WORD(CAUSE_INDEX, "cause_index")                                                           \
	WORD(NOMINAL, "nominal")                                                                   \
	WORD(INDEX, "index")                                                                       \
	WORD(COMM, "comm")                                                                         \
	WORD(PID, "pid")                                                                           \
	WORD(UNIT, "unit")                                                                         \
	WORD(MACHINE_SAMPLES, "machine_samples")                                                   \
	WORD(MACHINE_CPU, "machine_cpu")                                                           \
	WORD(MACHINE_NORM_CPU, "machine_norm_cpu")                                                 \
	WORD(MACHINE_SPIN, "machine_spin")                                                         \
	WORD(RATE_HALVINGS, "rate_halvings")                                                       \
	WORD(BELOW, "below")                                                                       \
	WORD(SEEN, "seen")                                                                         \
	WORD(VARIANCE, "variance")                                                                 \
	WORD(IN_BLOCK, "in_block")                                                                 \
	WORD(HANDED, "handed")

enum qz_pprof_word {
#define QZ_PPROF_NUMBER(number, text) QZ_WORD_##number,
	QZ_PPROF_WORDS(QZ_PPROF_NUMBER) QZ_WORDS,
#undef QZ_PPROF_NUMBER
};

extern const char *const qz_pprof_words[QZ_WORDS];

struct qz_pprof_type {
	enum qz_pprof_word name, unit;
};

extern const struct qz_pprof_type qz_pprof_types[QZ_PPROF_TYPES];

#endif
