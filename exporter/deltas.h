/* SPDX-License-Identifier: GPL-2.0-only */
/* What the running quartzd measured since the last request, as documents of core/html/html.h. */
#ifndef QUARTZ_EXPORTER_DELTAS_H
#define QUARTZ_EXPORTER_DELTAS_H

#include <stddef.h>

#include "exporter/source.h"

struct deltas;

/* Scopes in a document; of more, those that ran most. */
#define DELTAS_SCOPES 16

/*
 * Of a scope, "machine", "pid=N" or "unit=NAME"; NULL: the machine, or all where it is not measured. Takes a first
 * snapshot. NULL with the reason, one printable line.
 */
struct deltas *deltas__new(const char *socket, const char *scope, char reason[SOURCE_REASON]);

/*
 * The document of the time since the last snapshot, for the caller to free: its length in bytes as decimal digits, a
 * newline, and so many bytes. NULL with the reason.
 */
char *deltas__next(struct deltas *d, size_t *size, char reason[SOURCE_REASON]);

/* Accepts NULL. */
void deltas__free(struct deltas *d);

#endif
