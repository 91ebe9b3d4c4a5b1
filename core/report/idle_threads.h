/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Idle threads: for nearly all of their life they only waited in one place for work, or for the end of others. Their
 * blocked time has no meaning for the program: each view of a sum over threads shows it separately.
 *
 * A thread is idle when
 * - it ran for at most 1 % of the time that it ran or was blocked; time that it was ready depends on others;
 * - 95 % of its blocked time had one cause and object: it slept, polled, waited for a child, or at a futex for a
 *   condition, a semaphore, the end of a thread or a word of unknown use. Waits at locks and barriers, and for disks,
 *   pipes and sockets cost those who wait;
 * - it waited there less than 100 times a second.
 *
 * Measured on November 23, 2026, of 70 threads of redis, x264, ffmpeg, xz, java and others: bio and jemalloc
 * threads of redis, spare threads of ffmpeg and java, a thread that sleeps 200 ms again and again, and a main that
 * joins ran 0.00 % to 0.46 %, had 96 % to 100 % in one place, and waited there 0.1 to 15 times a second. Threads that had
 * work, of the same programs: from 2.9 % on (x264's main, which feeds the workers, and waits for them otherwise), and
 * threads of a slice pool of ffmpeg 0.7 %, half of it in each of two places.
 */
#ifndef QUARTZ_CORE_IDLE_THREADS_H
#define QUARTZ_CORE_IDLE_THREADS_H

#include "core/report/report.h"

/* Sets r->idle; r has its scope. -ENOMEM. */
int qz_idle_threads__find(struct qz_report *r);

#endif
