/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/stream.h"

#include <stdlib.h>
#include <string.h>

#include "core/util/clock.h"

#define PERIOD_MS 1000
#define BLOCK	  (64 << 10)

struct stream {
	struct deltas *deltas;
	stream_wait *wait;
	void (*done)(void *context);
	void *context;
	char *message; /* of which `sent` of `size` bytes were given */
	size_t size, sent;
	int64_t due_ms;
};

/* The next message, a period after the one before, or at once where that took longer to make and to send. */
static bool advance(struct stream *s)
{
	char reason[SOURCE_REASON];

	free(s->message);
	s->message = NULL;
	s->sent = 0;
	if (!s->wait(s->context, s->due_ms))
		return false;
	s->due_ms += PERIOD_MS;
	if (s->due_ms < qz_clock__now_ms())
		s->due_ms = qz_clock__now_ms();
	s->message = deltas__next(s->deltas, &s->size, reason);
	return s->message != NULL;
}

static ssize_t give(void *context, uint64_t position, char *buffer, size_t max)
{
	struct stream *s = context;
	size_t n;

	if ((!s->message || s->sent == s->size) && !advance(s))
		return MHD_CONTENT_READER_END_OF_STREAM;
	n = s->size - s->sent < max ? s->size - s->sent : max;
	memcpy(buffer, s->message + s->sent, n);
	s->sent += n;
	return (ssize_t)n;
}

static void end(void *context)
{
	struct stream *s = context;

	s->done(s->context);
	deltas__free(s->deltas);
	free(s->message);
	free(s);
}

struct MHD_Response *stream__response(struct deltas *deltas, stream_wait *wait,
				      void (*done)(void *context), void *context)
{
	struct stream *s = malloc(sizeof(*s));
	struct MHD_Response *response;

	if (!s)
		return NULL;
	*s = (struct stream) {.deltas = deltas,
			      .wait = wait,
			      .done = done,
			      .context = context,
			      .due_ms = qz_clock__now_ms() + PERIOD_MS};
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, give, s, end);
	if (!response)
		free(s);
	return response;
}
