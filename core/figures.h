/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which members of an entity are counted or exact, so that they are added up where profiles are put together
 * (core/merge.h), and taken out where the time between two moments is wanted (core/difference.h, core/slices.h).
 * Levels of scopes, and lists by cause, are longer than any entity tells: they are for the caller.
 */
#ifndef QUARTZ_CORE_FIGURES_H
#define QUARTZ_CORE_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"

/* n figures of 64 bits, from this offset on. A list ends with n = 0. */
struct qz_figures {
	size_t at;
	uint32_t n;
};

extern const struct qz_figures qz_ledger_figures[];
extern const struct qz_figures qz_instants_figures[];
extern const struct qz_figures qz_costs_figures[];
extern const struct qz_figures qz_loss_figures[];
extern const struct qz_figures qz_scope_figures[]; /* but threads_seen and elapsed_ns */
extern const struct qz_figures qz_thread_figures[];
extern const struct qz_figures qz_sample_figures[];
extern const struct qz_figures qz_wait_figures[];
extern const struct qz_figures qz_waking_figures[];
extern const struct qz_figures qz_object_figures[];
extern const struct qz_figures qz_call_figures[];
extern const struct qz_figures qz_moment_figures[];

uint32_t qz_figures__count(const struct qz_figures *list);

/* The figure of this number. */
uint64_t *qz_figures__at(void *entity, const struct qz_figures *list, uint32_t number);

void qz_figures__add(void *to, const void *from, const struct qz_figures *list);

/* What would fall below 0 is 0. */
void qz_figures__take(void *from, const void *taken, const struct qz_figures *list);
void qz_figure__take(uint64_t *from, uint64_t taken);

#endif
