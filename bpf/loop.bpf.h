/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops of the kernel's (bpf_loop), of which the verifier follows one turn; of a loop of a program's own it follows each. As
 * unwind.bpf.h, it is also ordinary C.
 */
#ifndef QUARTZ_LOOP_BPF_H
#define QUARTZ_LOOP_BPF_H

/* Since Linux 5.17, e6f2dd0f8067; the loops of LOOP's own may go with 5.16. */
#ifndef HAS_BPF_LOOP
enum bpf_func_id___loop { BPF_FUNC_loop___any = 181 };
#define HAS_BPF_LOOP bpf_core_enum_value_exists(enum bpf_func_id___loop, BPF_FUNC_loop___any)
#endif

#ifdef __clang__ /* which else copies short ones */
#define LOOP_AS_WRITTEN _Pragma("clang loop unroll(disable)")
#else
#define LOOP_AS_WRITTEN
#endif

/*
 * Calls turn(i, context) for i from 0 on, below `most`, until it is 1. The turn is a static function that gives 0 or 1 as a long;
 * the context is a struct on the stack. A turn takes one of the eight calls that may be within each other.
 */
#define LOOP(most, turn, context)                                                                  \
	do {                                                                                       \
		if (HAS_BPF_LOOP) {                                                                \
			bpf_loop(most, turn, context, 0);                                          \
			break;                                                                     \
		}                                                                                  \
		LOOP_AS_WRITTEN for (u32 turns = 0; turns < (most);                                \
				     turns++) if (turn(turns, context)) break;                     \
	} while (0)

#endif
