/* SPDX-License-Identifier: GPL-2.0-only */
/* Which programs ran at samples outside of all scopes: they had the processors. One thread at a time. */
#ifndef QUARTZ_DAEMON_OUTSIDE_H
#define QUARTZ_DAEMON_OUTSIDE_H

#include "core/model/profile.h"
#include "daemon/kernel/bpf_runtime.h"

/* All zero: nothing is known. */
struct outside {
	struct qz_loss *programs; /* by name, "comm (unit)" */
	uint32_t n;
};

/* Takes in the samples since the last call. To be called often, since units of processes are read while these live. */
void outside__take(struct outside *o, struct bpf_runtime *bpf);

void outside__ledger(const struct outside *o, struct qz_ledger *ledger);
void outside__free(struct outside *o);

#endif
