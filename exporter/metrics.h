/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures as text that Prometheus and its like read. Thread-safe. */
#ifndef QUARTZ_EXPORTER_METRICS_H
#define QUARTZ_EXPORTER_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/processes.h"

struct metrics;

/* At most `rows` processes, programs, units or control groups have series of their own. NULL: ENOMEM. */
struct metrics *metrics__new(const char *socket, enum qz_process_group by, uint32_t rows);
void metrics__free(struct metrics *m);

/*
 * The text of this moment, at most a second old: OpenMetrics, or the format that Prometheus had before.
 * To be freed; NULL: ENOMEM.
 */
char *metrics__text(struct metrics *m, bool openmetrics, size_t *size);

#endif
