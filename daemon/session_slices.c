// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/paths.h"
#include "daemon/session_state.h"

static void before_fold(void *context)
{
	struct session *s = context;

	session__cut_slice(s, engine__now(), true);
}

static void after_fold(void *context)
{
	struct session *s = context;
	int err = s->poller ? session__refresh(s, engine__now(), true) : 0;

	err = err ?: history__told(s->history, collector__profile(s->collector));
	if (err)
		log_warning("%s: %s; slices from now on are wrong", history__directory(s->history),
			    strerror(-err));
}

int session__start_history(struct session *s)
{
	const struct config *c = s->config;
	int err;

	if (!c->system || c->private || !c->history)
		return 0;
	s->history = history__new(c->history, (uint64_t)c->history_size << 20);
	if (!s->history) {
		err = -errno;
		log_error("%s/history: %s; it must be root's own directory", paths__state(),
			  strerror(-err));
		return err;
	}
	s->slice_due = s->started + c->slice;
	collector__on_fold(s->collector, before_fold, after_fold, s);
	return 0;
}

void session__cut_slice(struct session *s, uint64_t until, bool live)
{
	int err = session__refresh(s, until, live);

	err = err ?: history__cut(s->history, collector__profile(s->collector));
	if (err)
		log_warning("%s: %s; a slice is missing there", history__directory(s->history),
			    strerror(-err));
}
