/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of a session share; session.h is for others. Every int is 0 or -errno where nothing else is said. */
#ifndef QUARTZ_DAEMON_SESSION_STATE_H
#define QUARTZ_DAEMON_SESSION_STATE_H

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/governor.h"
#include "daemon/collector.h"
#include "daemon/command.h"
#include "daemon/config.h"
#include "daemon/engine.h"
#include "daemon/history.h"
#include "daemon/page_server.h"
#include "daemon/publisher.h"
#include "daemon/reserve.h"
#include "daemon/session.h"
#include "daemon/spin_symbols.h"
#include "daemon/target.h"
#include "daemon/text.h"

struct session {
	const struct config *config;
	struct host *host;
	cpu_set_t allowed;
	int nreserved, reserved[MAX_RESERVED];
	struct engine *engine;
	struct sampler *sampler;
	struct collector *collector;
	struct device device;
	struct pages *pages;
	struct page_server *page_server;
	struct event_log *events;
	struct poller *poller;
	char page_directory[96]; /* a private one, else "" */
	struct history *history; /* NULL: none is saved */
	uint64_t slice_due;
	struct text *text;
	struct instants *instants;   /* NULL: not asked for */
	struct publisher *publisher; /* NULL without quartz.ko */
	struct spin_rules spin_rules;
	struct command command;
	struct target first; /* names the snapshot */
	bool keeper_lost;
	int signals;
	int signal;	   /* the last one that asked to stop, 0: none */
	uint64_t deadline; /* 0: none */
	uint64_t hotplug_due, text_due, govern_due, started;
	struct qz_governor governor; /* ceiling 0: there is none */
	uint64_t interrupt_ns;
	uint64_t daemon_before; /* costs of earlier sessions */
	char path[PATH_MAX];
};

/* ---- session_start.c: each says what is wrong, and gives an exit status ---- */

/* Looks at all that can be wrong before anything is touched. */
int session__prepare(struct session *s);

/* The programs are in the kernel, and whoever wants to can connect. */
int session__load(struct session *s);

/* Every target is attached to, and the command runs. */
int session__start(struct session *s);

/* ---- session_figures.c ---- */

struct qz_costs session__costs(const struct session *s);

/* All that is counted, and all exact times. */
int session__refresh(struct session *s, uint64_t until, bool live);

/* The estimates, too. */
int session__bring_up_to_date(struct session *s, uint64_t until, bool live);

/* ---- session_slices.c ---- */

/* Once all that is there already has been found. -errno after a line that says why. */
int session__start_history(struct session *s);

/* Ends a slice. Without room on the disk the next one has all. */
void session__cut_slice(struct session *s, uint64_t until, bool live);

#endif
