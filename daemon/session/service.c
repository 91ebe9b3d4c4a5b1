// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/privsep/broker.h"
#include "daemon/util/limits.h"
#include "daemon/util/log.h"
#include "daemon/session/sd_notify.h"
#include "daemon/session/service.h"
#include "daemon/session/session.h"
#include "daemon/symbolizer/symbolizer.h"

#define PAUSED_TICK_MS 1000

struct service {
	struct host host;
	struct options *options, next; /* next: of a reload that is to come */
	int argc;
	char **argv;
	char reason[512];
};

void host__alive(struct host *host, uint64_t now)
{
	if (!host->watchdog || now < host->watchdog_due)
		return;
	sd_notify__send("WATCHDOG=1");
	host->watchdog_due = now + host->watchdog;
}

/* ---- commands ---- */

/* The new settings are read before the old session ends: wrong ones change nothing. */
static int prepare_reload(struct service *s)
{
	options__free(&s->next);
	return options__parse(&s->next, s->argc, s->argv, s->reason, sizeof(s->reason));
}

static bool may_end(struct service *s)
{
	const char *why = NULL;

	if (!s->options->system)
		why = "only quartzd --system can be paused or reloaded";
	else if (s->options->output)
		why = "it writes to the file of --output, which would be written anew";
	if (why)
		snprintf(s->reason, sizeof(s->reason), "%s", why);
	return !why;
}

bool host__begin_anew(struct host *host)
{
	struct service *s = host->service;

	if (!may_end(s) || prepare_reload(s))
		return false;
	host->pending = ACTION_RELOAD;
	return true;
}

void host__reload(struct host *host)
{
	struct service *s = host->service;

	if (!host__begin_anew(host))
		log_error("%s; what it measures is as before", s->reason);
}

static json_t *describe(struct service *s)
{
	struct session *session = s->host.session;
	json_t *status = session ? session__status(session) : json_pack("{s:s}", "state", "paused");

	if (json_object_set_new(status, "version", json_string(QUARTZ_VERSION)) ||
	    json_object_set_new(status, "pid", json_integer(getpid())) ||
	    json_object_set_new(
		    status, "cpu_ns",
		    json_integer((json_int_t)qz_clock__read(CLOCK_PROCESS_CPUTIME_ID)))) {
		json_decref(status);
		return NULL;
	}
	return status;
}

static json_t *carry_out(void *context, enum server_command command, const char **reason)
{
	struct host *host = context;
	struct service *s = host->service;

	if (command == SERVER_STATUS)
		return describe(s);
	*reason = s->reason;
	if (!may_end(s) || (command == SERVER_RELOAD && prepare_reload(s)))
		return NULL;
	if (command == SERVER_RESUME && host->session)
		return json_object();
	if (command == SERVER_RESUME && prepare_reload(s))
		return NULL;
	if (command != SERVER_PAUSE)
		host->pending = ACTION_RELOAD;
	else if (host->session)
		host->pending = ACTION_PAUSE;
	return json_object();
}

static int give_snapshot(void *context, int fd, const struct control_socket_wanted *wanted)
{
	struct host *host = context;

	return host->session ? session__snapshot(host->session, fd, wanted) : -ENODATA;
}

static const struct control_socket_calls calls = {give_snapshot, carry_out};

/* ---- between sessions ---- */

static void take_signals(struct service *s, int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			host__reload(&s->host);
		else
			s->host.pending = ACTION_STOP;
	}
}

/* Nothing is attached; only the socket is served. The signals are blocked since the first session. */
static void stay_paused(struct service *s)
{
	struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};
	sigset_t set;

	sigemptyset(&set);
	session__add_ends(&set);
	fds[0].fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	fds[1].fd = s->host.socket ? control_socket__fd(s->host.socket) : -1;
	log_info("paused; nothing is attached until quartzctl resume");
	sd_notify__send("STATUS=paused");
	s->host.pending = fds[0].fd < 0 ? ACTION_STOP : ACTION_PAUSE;
	while (s->host.pending == ACTION_PAUSE) {
		poll(fds, 2, PAUSED_TICK_MS);
		take_signals(s, fds[0].fd);
		if (s->host.socket)
			control_socket__run(s->host.socket);
		host__alive(&s->host, bpf_runtime__now());
	}
	if (fds[0].fd >= 0)
		close(fds[0].fd);
}

/* The parsed words point into what `next` holds, which goes over whole. */
static void take_next(struct service *s)
{
	options__free(s->options);
	*s->options = s->next;
	s->next = (struct options) {0};
	log__set_level(s->options->verbose ? LOG_DEBUG : LOG_INFO);
}

static bool goes_on(struct service *s, int status)
{
	if (status != STATUS_OK && status != STATUS_NO_SAMPLES)
		return false;
	if (s->host.pending == ACTION_PAUSE)
		stay_paused(s);
	if (s->host.pending != ACTION_RELOAD)
		return false;
	sd_notify__reloading();
	take_next(s);
	return true;
}

/* Those whom quartzd waits for must not be later than itself, see take_precedence in session.c. */
static int start_keeper(const struct options *options)
{
	char *program = symbolizer__program();
	int err = program ? broker__start(program, options->system ? 0 : -10) : -ENOMEM;

	char line[512];

	free(program);
	if (!err)
		return 0;
	snprintf(line, sizeof(line), "cannot start the process that keeps privileges: %s",
		 strerror(-err));
	limits__explain(err, line, sizeof(line));
	log_error("%s", line);
	return err;
}

int service__run(struct options *options, int argc, char *argv[])
{
	struct service s = {
		.host = {.calls = &calls, .watchdog = sd_notify__watchdog_period()},
		.options = options,
		.argc = argc,
		.argv = argv,
	};
	int status;

	s.host.service = &s;
	if (!geteuid() && start_keeper(options))
		return STATUS_FAILURE;
	do {
		s.host.pending = ACTION_NONE;
		status = session__run(options, &s.host);
	} while (goes_on(&s, status));
	sd_notify__send("STOPPING=1");
	control_socket__free(s.host.socket);
	options__free(&s.next);
	return status;
}
