// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "daemon/util/log.h"
#include "daemon/util/paths.h"
#include "daemon/session/session_state.h"

static void before_fold(void *context)
{
	struct session *s = context;

	session__cut_slice(s, session__refresh(s, bpf_runtime__now(), true));
}

static void after_fold(void *context)
{
	struct session *s = context;
	int err = s->poller ? session__refresh(s, bpf_runtime__now(), true) : 0;

	err = err ?: history__renumbered(s->history, collector__profile(s->collector));
	if (err)
		log_warning("%s: %s; slices from now on are wrong", history__directory(s->history),
			    strerror(-err));
}

static bool has_history(const struct session *s)
{
	return s->options->system && !s->options->private && s->options->history;
}

static int refuse(int err)
{
	log_error("%s/history: %s; the state directory must be root's own, where root alone can "
		  "write",
		  paths__state(), strerror(-err));
	return err;
}

int session__prepare_history(const struct session *s)
{
	int err = has_history(s) ? history__prepare() : 0;

	return err ? refuse(err) : 0;
}

int session__start_history(struct session *s)
{
	const struct options *options = s->options;
	struct history_time now;

	if (!has_history(s))
		return 0;
	now = history__now();
	s->history = history__new(options->history, (uint64_t)options->history_size << 20, &now);
	if (!s->history)
		return refuse(-errno);
	s->slice_due = s->started + options->slice;
	collector__on_fold(s->collector, before_fold, after_fold, s);
	return 0;
}

void session__cut_slice(struct session *s, int err)
{
	struct history_time now = history__now();

	err = err ?: history__cut(s->history, collector__profile(s->collector), &now);
	if (err)
		log_warning("%s: %s; a slice is missing there", history__directory(s->history),
			    strerror(-err));
}
