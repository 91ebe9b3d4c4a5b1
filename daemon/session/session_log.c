// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/session/session_state.h"
#include "daemon/util/log.h"

static int fail(const struct session *s, int err)
{
	log_error(
		"%s: %s; the scheduler's log cannot be kept there, choose another file with --log",
		s->log_place.path, strerror(-err));
	return err;
}

int session__prepare_log(struct session *s)
{
	const char *path = s->options->log;
	int err;

	if (!path)
		return 0;
	if (s->pid_namespace) {
		log_error("--log: threads have other numbers in this PID namespace than in the "
			  "scheduler's log; run it on the host");
		return -EOPNOTSUPP;
	}
	err = snapshot_file__open(&s->log_place, path, !s->options->system || s->options->private);
	return err ? fail(s, err) : 0;
}

int session__open_log(struct session *s)
{
	if (!s->options->log)
		return 0;
	s->log_file = snapshot_file__create(&s->log_place, "");
	return s->log_file < 0 ? fail(s, s->log_file) : 0;
}

int session__make_live(struct session *s)
{
	const struct live_options options = {
		.woken = s->options->woken,
		.what_if = s->options->what_if,
	};
	int err;

	s->live = live__new(s->bpf, s->log_file, &options);
	err = s->live ? 0 : -errno;
	if (err)
		log_error("the scheduler's log cannot be read: %s", strerror(-err));
	else
		collector__use_log(s->collector, s->live);
	return err;
}

int session__start_log(struct session *s)
{
	int err = live__start(s->live, s->nscopes, s->options->command);

	if (err)
		log_error("the scheduler's log cannot be read: %s", strerror(-err));
	return err;
}

void session__finish_log(struct session *s)
{
	struct live_figures figures = live__figures(s->live);

	if (figures.reader.lost)
		log_warning("%llu records of the scheduler were overwritten before they were read",
			    (unsigned long long)figures.reader.lost);
	if (s->options->log && !s->options->quiet)
		log_info("%llu records of the scheduler, saved to %s; see them with: quartzctl "
			 "replay",
			 (unsigned long long)figures.reader.records, s->log_place.path);
}

void session__close_log(struct session *s)
{
	live__free(s->live);
	if (s->log_file >= 0)
		close(s->log_file);
	snapshot_file__close(&s->log_place);
}
