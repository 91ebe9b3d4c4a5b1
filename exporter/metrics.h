/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics as text in the formats of Prometheus and OpenMetrics. Thread-safe. */
#ifndef QUARTZ_EXPORTER_METRICS_H
#define QUARTZ_EXPORTER_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/report/process_table.h"

struct metrics;

/* `rows`: maximum number of units, programs, control groups or processes. NULL: ENOMEM. */
struct metrics *metrics__new(const char *socket, enum qz_process_group by, uint32_t rows);
void metrics__free(struct metrics *m);

/*
 * The metrics, at most a second old: OpenMetrics, or Prometheus' older text format. The caller
 * frees the text. NULL: ENOMEM.
 */
char *metrics__text(struct metrics *m, bool openmetrics, size_t *size);

#endif
