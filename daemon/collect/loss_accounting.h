/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of the samples that were due, and what else was irregular: from all who count it. */
#ifndef QUARTZ_DAEMON_LOSS_ACCOUNTING_H
#define QUARTZ_DAEMON_LOSS_ACCOUNTING_H

#include "core/model/profile.h"
#include "daemon/unwind/unwind_worker.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/collect/rounds.h"
#include "daemon/shm/shm_counters.h"
#include "daemon/shm/shm_polling.h"
#include "daemon/kernel/perf_sampler.h"
#include "daemon/symbolizer/symbolizer.h"
#include "daemon/waits/wait_drain.h"

/* All borrowed; of these, counters, polling and rounds may be NULL. */
struct loss_accounting_sources {
	const struct bpf_runtime *bpf;
	struct perf_sampler *sampler;
	const struct symbolizer *symbolizer;
	struct unwind_worker *worker;
	const struct wait_drain *waits;
	struct shm_counters *counters;
	struct shm_polling *polling;
	struct rounds *rounds;
	const struct sample_rounds *sampled;
	uint64_t until; /* of processors that are idle */
	/* Samples that the kernel side has accepted, and that are lost since. */
	uint64_t not_stored; /* their stack had no room */
	uint64_t misplaced;  /* they cannot be right: of two processes, or of an impossible level */
	uint64_t unplaced;   /* nothing is known of their process, or there was no memory */
	uint64_t reports_dropped; /* for want of memory */
	uint64_t processes_folded;
};

/* How long all processors together have been idle. */
uint64_t loss_accounting__idle_ns(const struct bpf_runtime *bpf, uint64_t until);

void loss_accounting__refresh(struct qz_ledger *l, const struct loss_accounting_sources *from);

#endif
