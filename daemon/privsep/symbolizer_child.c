/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/privsep/symbolizer_child.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "core/util/clock.h"
#include "daemon/privsep/fd_ipc.h"

#define START_MS 5000

_Static_assert(LOAD_MAX_FILES <= MESSAGE_FDS, "a module's files go along with one message");

/* What comes with descriptors is refused. */
static ssize_t receive_message(const struct symbolizer_child *c, void *bytes)
{
	struct message_header header;
	ssize_t n = fd_ipc__receive(c->process.socket, bytes, PROTOCOL_MAX_MESSAGE, NULL, c->until);

	if (n < 0)
		return n == -ETIME || n == -EBADMSG ? n : -EPIPE;
	if ((size_t)n < sizeof(header))
		return -EBADMSG;
	memcpy(&header, bytes, sizeof(header));
	return header.length == (size_t)n ? n : -EBADMSG;
}

static int send_message(struct symbolizer_child *c, const struct symbolizer_request *r, uint64_t id)
{
	struct message_header header = {r->type, (uint32_t)r->length, id};
	int64_t until = qz_clock__now_ms() + r->deadline_ms;
	int fds[MESSAGE_FDS] = NO_FDS, err;

	memcpy(r->bytes, &header, sizeof(header));
	for (size_t i = 0; i < r->nfds; i++)
		fds[i] = r->fds[i];
	err = fd_ipc__send(c->process.socket, r->bytes, r->length, fds, until);
	if (id)
		c->until = until;
	return err && err != -ETIME ? -EPIPE : err;
}

int symbolizer_child__begin(struct symbolizer_child *c, const char *program)
{
	c->greeted = false;
	return opener__start(&c->process, JOB_SYMBOLIZER, program) ? -EIO : 0;
}

int symbolizer_child__greet(struct symbolizer_child *c)
{
	union {
		struct message_hello hello;
		char bytes[PROTOCOL_MAX_MESSAGE];
	} message;

	c->until = qz_clock__now_ms() + START_MS;
	if (receive_message(c, &message) == sizeof(message.hello) &&
	    message.hello.header.type == MESSAGE_HELLO &&
	    message.hello.version == PROTOCOL_VERSION) {
		c->greeted = true;
		return 0;
	}
	opener__end(&c->process);
	return -EIO;
}

bool symbolizer_child__ended(const struct symbolizer_child *c)
{
	struct pollfd p = {.fd = c->process.socket};

	return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR);
}

void symbolizer_child__send(struct symbolizer_child *c, const struct symbolizer_request *r)
{
	send_message(c, r, 0);
}

ssize_t symbolizer_child__exchange(struct symbolizer_child *c, const struct symbolizer_request *r,
				   void *answer)
{
	int err = send_message(c, r, ++c->last_id);

	return err ? err : symbolizer_child__more(c, r->type, answer);
}

ssize_t symbolizer_child__more(struct symbolizer_child *c, uint32_t type, void *answer)
{
	ssize_t n = qz_clock__now_ms() < c->until ? receive_message(c, answer) : -ETIME;
	struct message_header header;

	if (n < 0)
		return n;
	memcpy(&header, answer, sizeof(header));
	return header.type == type && header.id == c->last_id ? n : -EBADMSG;
}
