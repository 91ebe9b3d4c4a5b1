/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots: a profile as a gzip'd pprof file (perftools.profiles.Profile).
 *
 * Sample types: samples/count, cpu, norm_cpu and spin (the part of cpu that was spun) in
 * nanoseconds; waits/count, blocked and ready in nanoseconds; wakes/count, woken in nanoseconds
 * (core/format/pprof_types.h); with a scope of the machine it has types of its own like the first four. By
 * default readers show norm_cpu, or machine_norm_cpu where it is there: the times of scopes that ran
 * side by side add up to more than the time that they took. The mapping of the executable comes first:
 * readers call the profile after it. A procedure with lines of other files is a function of its own for each of
 * these, after all procedures. Waits and wake-ups are pprof samples of their own, with the label
 * kind ("wait", "waking"). Labels to choose samples by are strings: thread ("comm tid"), comm and pid of
 * the process, unit of the service manager, object (kind and name). Numbers: tid, thread_index, scope
 * (index), object_index; of samples level, busy when it is not the level, spinning, rate_halvings
 * where the rate was lowered (each then stands for 2 to the power of it), below and seen (struct qz_sample); of waits
 * cause, cause_index, nominal. Snapshots of the first version have the first three types only, and
 * are read. Data that pprof cannot hold (processors, exact level times, threads, causes, objects and their queues, ledger,
 * versions, modules of the procedures) is JSON of schema quartz.meta/v1, in the last string of the string table. Nothing
 * refers to that string: other tools do not show it, and drop it when they write a profile of their own from ours, to which
 * it would not apply. Strings that are not UTF-8 are stored so that other readers can take them (core/util/utf8.h). `go
 * tool pprof`, speedscope and others open it as it is.
 */
#ifndef QUARTZ_CORE_PPROF_H
#define QUARTZ_CORE_PPROF_H

#include "core/model/profile.h"

/*
 * Writes p, estimated, to fd. 0 or -errno (of write(2), or -ENOMEM); on error the contents of fd
 * are undefined, so callers write to a temporary name. Does not sync or close fd.
 */
int qz_pprof__write(const struct qz_profile *p, int fd);

/*
 * Reads a snapshot that may be cut, foreign or hostile. Returns a profile, or NULL with errno: EBADMSG not a whole gzip'd
 * pprof, ENOTSUP a pprof that Quartz did not write, EFBIG beyond our limits, ENOMEM, or an error of read(2); *why is then a
 * static text that completes the sentence "FILE: ...". Every index in the result is in range, and the counts and times of
 * all samples and levels sum to less than 2^63.
 */
struct qz_profile *qz_pprof__read(int fd, const char **why);

/* The same for the bytes inside the gzip. */
struct qz_profile *qz_pprof__parse(const void *data, size_t size, const char **why);

#endif
