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

static int add_scopes(struct session *s)
{
	const struct options *o = s->options;
	int err = 0;

	for (size_t i = 0; !err && i < o->pids.n; i++)
		err = log_reader__add_scope(s->log, o->pids.items[i], false, false);
	for (size_t i = 0; !err && i < o->trees.n; i++)
		err = log_reader__add_scope(s->log, o->trees.items[i], true, false);
	if (!err && o->command)
		err = log_reader__add_scope(s->log, s->first.pid, true, true);
	return err;
}

int session__start_log(struct session *s)
{
	int err;

	if (!s->options->log)
		return 0;
	s->log = log_reader__new(s->bpf, s->log_file);
	err = s->log ? add_scopes(s) : -errno;
	err = err ?: log_reader__start(s->log);
	return err ? fail(s, err) : 0;
}

void session__finish_log(struct session *s, uint64_t until)
{
	struct log_reader_figures figures;
	int err;

	if (!s->log)
		return;
	err = log_reader__finish(s->log, until, &figures);
	if (err) {
		log_error("%s: %s; the scheduler's log is incomplete", s->log_place.path,
			  strerror(-err));
		s->failed = true;
		return;
	}
	if (figures.lost)
		log_warning(
			"%s: %llu records of the scheduler were overwritten before they were read",
			s->log_place.path, (unsigned long long)figures.lost);
	if (!s->options->quiet)
		log_info("%llu records of the scheduler, saved to %s; see them with: quartzctl "
			 "replay",
			 (unsigned long long)figures.records, s->log_place.path);
}

void session__close_log(struct session *s)
{
	log_reader__free(s->log);
	if (s->log_file >= 0)
		close(s->log_file);
	snapshot_file__close(&s->log_place);
}
