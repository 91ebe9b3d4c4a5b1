// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "daemon/kernel/bpf_skips.h"
#include "daemon/kernel/bpf_runtime_private.h"

/* From one window to the next, on average. */
#define PERIOD 200000000ull /* ns */

static bool are_possible(const struct bpf_runtime *bpf)
{
	return bpf->skel->rodata->wanted_skips;
}

/* The step that a test wants; 0: none. */
static uint32_t forced(void)
{
	const char *step = secure_getenv("QUARTZ_SKIP_SWITCHES");
	unsigned long n = step ? strtoul(step, NULL, 10) : 0;

	return n <= BPF_SKIPS_MOST ? (uint32_t)n : 0;
}

uint32_t bpf_skips__most(const struct bpf_runtime *bpf)
{
	return are_possible(bpf) && !forced() ? BPF_SKIPS_MOST : 0;
}

void bpf_skips__start(struct bpf_runtime *bpf)
{
	bpf->skip_step = are_possible(bpf) ? forced() : 0;
}

/* By chance, lest a program that does something at intervals is seen at the same part of it each time. */
static uint64_t about(uint64_t ns)
{
	return ns / 2 + (uint64_t)random() % (ns + 1);
}

/* The clock stops first, so that no level is held for what is not counted. */
static void begin(struct bpf_runtime *bpf, uint64_t now)
{
	__atomic_store_n(&bpf->skel->bss->skipping_since, now, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < bpf->processors; i++)
		__atomic_store_n(&bpf->cpus[i].skipping, 1, __ATOMIC_SEQ_CST);
}

/* Idle at the last window and now: it runs nothing that would have to be counted. */
static bool stays_idle(const struct qz_cpu_state *cpu)
{
	return cpu->counted == QZ_COUNTED_IDLE &&
	       __atomic_load_n(&cpu->idle_since, __ATOMIC_SEQ_CST);
}

static void end_on(struct bpf_runtime *bpf, uint32_t number)
{
	struct qz_cpu_state *cpu = &bpf->cpus[number];

	if (stays_idle(cpu)) {
		__atomic_store_n(&cpu->skipping, 0, __ATOMIC_SEQ_CST);
		if (stays_idle(cpu))
			return;
	}
	/* it may be offline */
	if (bpf_runtime__run_on(bpf->skel->progs.end_skip, (int)number))
		__atomic_store_n(&cpu->skipping, 0, __ATOMIC_SEQ_CST);
}

/*
 * First, all processors count again. Then skipped_ns is written. Last, skipping_since becomes 0, which lets the clock go on: it
 * would be ahead for a moment if skipped_ns were not right by then.
 */
static void end(struct bpf_runtime *bpf)
{
	uint64_t now, since = bpf->skel->bss->skipping_since;

	for (uint32_t i = 0; i < bpf->processors; i++)
		end_on(bpf, i);
	now = bpf_runtime__now();
	__atomic_store_n(&bpf->skel->bss->skip_ended, now, __ATOMIC_SEQ_CST);
	__atomic_store_n(&bpf->skel->bss->skipped_ns, bpf->skel->bss->skipped_ns + now - since,
			 __ATOMIC_SEQ_CST);
	__atomic_store_n(&bpf->skel->bss->skipping_since, 0, __ATOMIC_SEQ_CST);
}

/*
 * How long to skip now: so long that what is counted is one part in 2^step. quartzd mostly comes too late, which makes a window
 * longer by a larger part than the time between two. What cannot be made up for at once is left for the next time.
 */
static uint64_t to_skip(struct bpf_runtime *bpf, uint64_t now)
{
	uint64_t planned = PERIOD >> bpf->skip_step, counted = now - bpf->skel->bss->skip_ended;

	if (counted > PERIOD) /* all was counted before */
		counted = planned;
	bpf->skip_owed += (int64_t)((counted << bpf->skip_step) - counted);
	if (bpf->skip_owed < (int64_t)PERIOD / 4)
		return PERIOD / 4;
	return bpf->skip_owed < (int64_t)PERIOD * 2 ? (uint64_t)bpf->skip_owed : PERIOD * 2;
}

void bpf_skips__set_step(struct bpf_runtime *bpf, uint32_t step)
{
	bpf->skip_step = step;
}

uint32_t bpf_skips__step(const struct bpf_runtime *bpf)
{
	return bpf->skip_step;
}

uint64_t bpf_skips__follow(struct bpf_runtime *bpf, uint64_t now)
{
	uint64_t since = bpf->skel->bss->skipping_since;

	if (!bpf->skip_step && !since)
		return 0;
	if (now < bpf->skip_due)
		return bpf->skip_due;
	bpf->skel->bss->skip_step = bpf->skip_step;
	if (since) {
		end(bpf);
		bpf->skip_owed -= (int64_t)(now - since);
		bpf->skip_due = now + about(PERIOD >> bpf->skip_step);
	} else {
		bpf->skip_due = now + to_skip(bpf, now);
		begin(bpf, now);
	}
	return bpf->skip_due;
}

void bpf_skips__stop(struct bpf_runtime *bpf)
{
	bpf->skip_step = 0;
	if (bpf->skel->bss->skipping_since)
		end(bpf);
}

uint64_t bpf_skips__ns(const struct bpf_runtime *bpf, uint64_t now)
{
	return now - bpf_skips__clock(bpf, now);
}

uint64_t bpf_skips__clock(const struct bpf_runtime *bpf, uint64_t now)
{
	uint64_t since = bpf->skel->bss->skipping_since;

	return (since && now > since ? since : now) - bpf->skel->bss->skipped_ns;
}
