// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "daemon/symbolizer/symbolizer_private.h"

#define SPLIT_MS 2000

/* Whether the name is as long as the answer says, and as the message is. */
static bool is_valid(const struct split_answer *a, size_t length)
{
	const char *name = (const char *)(a + 1);

	if (length < sizeof(*a) || length - sizeof(*a) != a->size || a->error > 0 ||
	    a->size > PROTOCOL_MAX_TEXT)
		return false;
	return !a->size || strnlen(name, a->size) == a->size - 1;
}

bool symbolizer__is_split(struct symbolizer *s, int module)
{
	const struct symbolizer_module *m = symbolizer__find_module(s, module);

	return m && !symbolizer__load(s, (uint32_t)module) && m->split;
}

int symbolizer__complete(struct symbolizer *s, int module, int fd, const uint64_t *addresses,
			 size_t n, struct symbolizer_split *next)
{
	struct resolve_request *request = &s->request.resolve;
	struct symbolizer_module *m = symbolizer__find_module(s, module);
	struct symbolizer_request r = {
		.bytes = request,
		.type = MESSAGE_SPLIT,
		.fds = &fd,
		.nfds = fd >= 0,
		.deadline_ms = SPLIT_MS,
	};
	int err = m ? symbolizer__load(s, (uint32_t)module) : -EINVAL;
	ssize_t length;

	*next = (struct symbolizer_split) {.name = ""};
	if (err || !m->split || !n)
		return err;
	if (n > PROTOCOL_MAX_ADDRESSES)
		n = PROTOCOL_MAX_ADDRESSES;
	r.length = sizeof(*request) + n * sizeof(*addresses);
	request->module = (uint32_t)module;
	request->n = (uint32_t)n;
	memcpy(request + 1, addresses, n * sizeof(*addresses));
	length = symbolizer__exchange(s, &r, (uint32_t)module);
	if (length < 0)
		return (int)length;
	if (!is_valid(&s->answer.split, (size_t)length))
		return symbolizer__accident(s, (uint32_t)module, -EBADMSG);
	next->error = s->answer.split.error;
	if (s->answer.split.size)
		next->name = (const char *)(&s->answer.split + 1);
	return 0;
}
