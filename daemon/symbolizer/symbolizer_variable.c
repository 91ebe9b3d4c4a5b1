/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include "daemon/symbolizer/symbolizer_private.h"

#define VARIABLE_MS 5000 /* for the first one of a module, whose tables are read for it */

static bool answer_valid(const struct variable_answer *a, size_t length)
{
	const char *name = (const char *)(a + 1);

	if (length < sizeof(*a) || a->error > 0 || a->size > PROTOCOL_MAX_TEXT ||
	    length != sizeof(*a) + a->size || a->low > a->high)
		return false;
	return a->size == 0 || strnlen(name, a->size) == a->size - 1;
}

int symbolizer__variable(struct symbolizer *s, int module, uint64_t code, int64_t distance,
			 uint32_t beyond, struct symbolizer_variable *variable)
{
	const struct symbolizer_module *m = symbolizer__find_module(s, module);
	struct variable_request *request = &s->request.variable;
	const struct variable_answer *a = &s->answer.variable;
	struct symbolizer_request r = {
		.bytes = request,
		.length = sizeof(*request),
		.type = MESSAGE_VARIABLE,
		.nfds = 1,
		.deadline_ms = VARIABLE_MS,
	};
	ssize_t length;
	int err;

	if (!m)
		return -EINVAL;
	err = symbolizer__load(s, (uint32_t)module);
	if (err)
		return err;
	r.fds = m->debug_fd >= 0 ? &m->debug_fd : &m->fd;
	request->module = (uint32_t)module;
	request->beyond = beyond;
	request->code = code;
	request->distance = distance;
	length = symbolizer__exchange(s, &r, (uint32_t)module);
	if (length < 0)
		return (int)length;
	if (!answer_valid(a, (size_t)length))
		return symbolizer__accident(s, (uint32_t)module, -EBADMSG);
	if (a->error)
		return -ENODATA;
	*variable = (struct symbolizer_variable) {
		.low = a->low,
		.high = a->high,
		.name = a->size ? (const char *)(a + 1) : "",
	};
	return 0;
}
