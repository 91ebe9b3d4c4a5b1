/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The suites of the runner: X(name) stands for `Suite *suite_name(void)`, which its file defines.
 */
#ifndef QUARTZ_TESTS_UNIT_SUITES_H
#define QUARTZ_TESTS_UNIT_SUITES_H

#include <check.h>

#define SUITES                                                                                     \
	X(utf8)                                                                                    \
	X(escape)                                                                                  \
	X(profile)                                                                                 \
	X(waits)                                                                                   \
	X(merge)                                                                                   \
	X(slices)                                                                                  \
	X(summary)                                                                                 \
	X(part)                                                                                    \
	X(together)                                                                                \
	X(wait_stacks)                                                                             \
	X(effective)                                                                               \
	X(waiting)                                                                                 \
	X(estimate)                                                                                \
	X(governor)                                                                                \
	X(overhead)                                                                                \
	X(polled)                                                                                  \
	X(difference)                                                                              \
	X(processes)                                                                               \
	X(report)                                                                                  \
	X(edges)                                                                                   \
	X(json)                                                                                    \
	X(pprof)                                                                                   \
	X(damage)                                                                                  \
	X(library)                                                                                 \
	X(library_threads)                                                                         \
	X(library_programs)                                                                        \
	X(library_interface)                                                                       \
	X(preload)                                                                                 \
	X(symbolizer)                                                                              \
	X(symbolizer_parts)                                                                        \
	X(symbolizer_liar)                                                                         \
	X(unwind)                                                                                  \
	X(hostile_elf)                                                                             \
	X(cfi)                                                                                     \
	X(hostile_cfi)                                                                             \
	X(go)                                                                                      \
	X(events)                                                                                  \
	X(page_reader)                                                                             \
	X(poll_join)                                                                               \
	X(unwind_table)                                                                            \
	X(recorded)                                                                                \
	X(variables)                                                                               \
	X(objname)                                                                                 \
	X(nominal)                                                                                 \
	X(regions)                                                                                 \
	X(pool)                                                                                    \
	X(reports)                                                                                 \
	X(late)                                                                                    \
	X(spin)                                                                                    \
	X(spin_rules)

#define X(name) Suite *suite_##name(void);
SUITES
#undef X

#endif
