/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of the samples that were due, and what else was irregular: from all who count it. */
#ifndef QUARTZ_DAEMON_LOSS_ACCOUNTING_H
#define QUARTZ_DAEMON_LOSS_ACCOUNTING_H

#include "daemon/kernel/bpf_runtime.h"

struct collector;

/* How long all processors together have been idle. */
uint64_t loss_accounting__idle_ns(const struct bpf_runtime *bpf, uint64_t until);

/* Fills the ledger of the profile anew, up to the time of the refresh in progress. */
void loss_accounting__refresh(struct collector *c);

#endif
