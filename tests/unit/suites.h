/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The suites of the runner: X(name) stands for `Suite *suite_name(void)`, which its file defines.
 */
#ifndef QUARTZ_TESTS_UNIT_SUITES_H
#define QUARTZ_TESTS_UNIT_SUITES_H

#include <check.h>

#define SUITES                                                                                     \
	X(bits)                                                                                    \
	X(utf8)                                                                                    \
	X(term_escape)                                                                             \
	X(suggest)                                                                                 \
	X(closeness)                                                                               \
	X(cpu_list)                                                                                \
	X(save_file)                                                                               \
	X(ratio_text)                                                                              \
	X(exit_status)                                                                             \
	X(status_line)                                                                             \
	X(profile)                                                                                 \
	X(waits)                                                                                   \
	X(merge)                                                                                   \
	X(slices)                                                                                  \
	X(timeline)                                                                                \
	X(compact)                                                                                 \
	X(filter_scopes)                                                                           \
	X(corun)                                                                                   \
	X(wait_stacks)                                                                             \
	X(effective)                                                                               \
	X(wait_report)                                                                             \
	X(estimate)                                                                                \
	X(overhead_governor)                                                                       \
	X(instrumentation_cost)                                                                    \
	X(polled)                                                                                  \
	X(delta)                                                                                   \
	X(process_table)                                                                           \
	X(costs)                                                                                   \
	X(advise)                                                                                  \
	X(locks)                                                                                   \
	X(advise_idle)                                                                             \
	X(event_loop)                                                                              \
	X(advise_limits)                                                                           \
	X(pools)                                                                                   \
	X(shared_line)                                                                             \
	X(rule_spinning)                                                                           \
	X(recorded_advice)                                                                         \
	X(recorded_sets)                                                                           \
	X(report)                                                                                  \
	X(call_graph)                                                                              \
	X(code_times)                                                                              \
	X(folding)                                                                                 \
	X(html)                                                                                    \
	X(thread_groups)                                                                           \
	X(compare)                                                                                 \
	X(scale)                                                                                   \
	X(tune)                                                                                    \
	X(export)                                                                                  \
	X(json)                                                                                    \
	X(pprof)                                                                                   \
	X(judge)                                                                                   \
	X(remedies)                                                                                \
	X(damage)                                                                                  \
	X(knob_page)                                                                               \
	X(try)                                                                                     \
	X(sends)                                                                                   \
	X(library)                                                                                 \
	X(library_threads)                                                                         \
	X(library_programs)                                                                        \
	X(library_interface)                                                                       \
	X(library_knobs)                                                                           \
	X(preload)                                                                                 \
	X(symbolizer)                                                                              \
	X(symbolizer_parts)                                                                        \
	X(symbolizer_liar)                                                                         \
	X(table_cache)                                                                             \
	X(kept_tables)                                                                             \
	X(stack_copies)                                                                            \
	X(hostile_elf)                                                                             \
	X(assembly)                                                                                \
	X(cfi)                                                                                     \
	X(hostile_cfi)                                                                             \
	X(gopclntab)                                                                               \
	X(log_file)                                                                                \
	X(log_replay)                                                                              \
	X(event_trace)                                                                             \
	X(shm_reader)                                                                              \
	X(poll_join)                                                                               \
	X(kernel_names)                                                                            \
	X(unwind_index)                                                                            \
	X(unwind_table)                                                                            \
	X(recorded)                                                                                \
	X(sort)                                                                                    \
	X(data_symbols)                                                                            \
	X(object_naming)                                                                           \
	X(opener)                                                                                  \
	X(nominal)                                                                                 \
	X(address_map)                                                                             \
	X(allowances)                                                                              \
	X(disputes)                                                                                \
	X(range_alloc)                                                                             \
	X(reorder_buffer)                                                                          \
	X(missed_instants)                                                                         \
	X(asking)                                                                                  \
	X(history)                                                                                 \
	X(shared_lines)                                                                            \
	X(round_join)                                                                              \
	X(slots)                                                                                   \
	X(spin)                                                                                    \
	X(spin_rules)                                                                              \
	X(exporter)                                                                                \
	X(config_file)                                                                             \
	X(candidate_names)                                                                         \
	X(zeroing)                                                                                 \
	X(replay)                                                                                  \
	X(replay_lives)                                                                            \
	X(replay_waits)                                                                            \
	X(replay_grain)                                                                            \
	X(replay_loops)                                                                            \
	X(merge_logs)                                                                              \
	X(hash_table)                                                                              \
	X(preorder)                                                                                \
	X(search_path)                                                                             \
	X(schedules)                                                                               \
	X(what_if)                                                                                 \
	X(python_layout)                                                                           \
	X(python_stacks)                                                                           \
	X(python_lines)                                                                            \
	X(goroutine_walk)                                                                          \
	X(register_frames)                                                                         \
	X(goroutines)                                                                              \
	X(python_walk)

#define X(name) Suite *suite_##name(void);
SUITES
#undef X

#endif
