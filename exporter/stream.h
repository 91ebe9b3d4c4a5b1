/* SPDX-License-Identifier: GPL-2.0-only */
/* An answer that goes on, with a document of exporter/deltas.h each second. */
#ifndef QUARTZ_EXPORTER_STREAM_H
#define QUARTZ_EXPORTER_STREAM_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "exporter/deltas.h"

/* Waits until the time in ms of CLOCK_MONOTONIC. False: the answer ends. */
typedef bool stream_wait(void *context, int64_t due_ms);

/*
 * The response, which takes over deltas and context; `done` is called with the latter at its end. NULL: memory is
 * short, and nothing is taken over.
 */
struct MHD_Response *stream__response(struct deltas *deltas, stream_wait *wait,
				      void (*done)(void *context), void *context);

#endif
