/* SPDX-License-Identifier: GPL-2.0-only */
/* Collects what became of the samples that were due, and other irregularities, from all counters. */
#ifndef QUARTZ_DAEMON_LOSS_ACCOUNTING_H
#define QUARTZ_DAEMON_LOSS_ACCOUNTING_H

#include "daemon/kernel/bpf_runtime.h"

struct collector;

/* How long all processors together have been idle, as far as the log is read; before it begins, until now. */
uint64_t loss_accounting__idle_ns(const struct bpf_runtime *bpf);

/* The same, and how long no sample was wanted of them: the log was off. */
uint64_t loss_accounting__unsampled_ns(const struct collector *c);

/* Fills the ledger of the profile anew, up to the time of the refresh in progress. */
void loss_accounting__refresh(struct collector *c);

#endif
