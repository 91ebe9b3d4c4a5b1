/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of quartzd: from attaching to the snapshot that is saved. */
#ifndef QUARTZ_DAEMON_SESSION_H
#define QUARTZ_DAEMON_SESSION_H

#include <jansson.h>
#include <signal.h>

#include "daemon/session/options.h"
#include "daemon/output/control_socket.h"

struct session;

/* Why a session ends before its targets or its time do. */
enum action { ACTION_NONE, ACTION_STOP, ACTION_PAUSE, ACTION_RELOAD };

/* What outlives a session; see service.h. */
struct host {
	const struct control_socket_calls *calls;
	struct control_socket *socket; /* opened by the first session that is not private */
	struct session *session;       /* that runs, NULL: none */
	enum action pending;
	uint64_t watchdog, watchdog_due; /* ns; 0: no watchdog */
	void *service;
};

/* Measures what the configuration says, saves the snapshot and gives the exit status. */
int session__run(const struct options *options, struct host *host);

/* A snapshot of this moment, or of what is wanted of it: 0 or -errno. */
int session__snapshot(struct session *s, int fd, const struct control_socket_wanted *wanted);

/* What the session is and has measured, for the answer to a status request; NULL without memory. */
json_t *session__status(struct session *s);

/* Has the session end and another one begin, with settings read anew. False: this session cannot, or the settings are wrong. */
bool host__begin_anew(struct host *host);

/*
 * Adds the signals that would end a process, and that end a session with all that it measured saved; not SIGHUP if it was
 * ignored when quartzd was started, as nohup(1) does.
 */
void session__add_ends(sigset_t *set);

/* SIGHUP: what a host does about it. */
void host__reload(struct host *host);

/* Tells the service manager that all is well, when it is time. */
void host__alive(struct host *host, uint64_t now);

#endif
