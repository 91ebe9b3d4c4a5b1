/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of a session share; session.h is for others. Every int is 0 or -errno where nothing else is said. */
#ifndef QUARTZ_DAEMON_SESSION_STATE_H
#define QUARTZ_DAEMON_SESSION_STATE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/model/overhead_governor.h"
#include "core/transform/timeline_cut.h"
#include "daemon/collect/collector.h"
#include "daemon/session/command.h"
#include "daemon/session/options.h"
#include "daemon/session/progress.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/log/live.h"
#include "daemon/output/history.h"
#include "daemon/shm/shm_server.h"
#include "daemon/output/sysfs_publish.h"
#include "daemon/session/cpu_reserve.h"
#include "daemon/session/session.h"
#include "daemon/output/snapshot_file.h"
#include "daemon/spin/spin_symbols.h"
#include "daemon/target/runtime_files.h"
#include "daemon/session/target.h"
#include "daemon/output/bpffs_tables.h"
#include "daemon/util/user.h"

struct session {
	const struct options *options;
	struct host *host;
	uint32_t pid_namespace; /* see daemon/target/pid_namespace.h */
	cpu_set_t allowed;
	int nreserved, reserved[MAX_RESERVED];
	struct bpf_runtime *bpf;
	struct perf_sampler *sampler;
	struct table_cache *tables; /* unwind tables of earlier runs; NULL: none are kept */
	struct collector *collector;
	struct module_device device;
	struct shm_sets *sets;
	struct shm_server *page_server;
	struct event_log *events;
	struct shm_sampler *poller;
	char page_directory[96];	  /* a private one, else "" */
	struct history *history;	  /* NULL: none is saved */
	struct qz_timeline_cut *timeline; /* NULL: none is kept */
	uint64_t timeline_cost_ns;	  /* of the last cut */
	uint64_t
		timeline_late; /* since then figures of threads that have ended are awaited, 0: none are */
	uint64_t slice_due;
	struct bpffs_tables *text;
	struct module_rounds *module_rounds; /* NULL: not asked for */
	struct sysfs_publish *publisher;     /* NULL without quartz.ko */
	struct spin_rules spin_rules;
	struct command command;
	struct user user;		    /* whom the command is run as */
	struct runtime_directory directory; /* --remove-maps */
	struct target first;		    /* names the snapshot */
	bool keeper_lost;
	bool outgrown; /* a warning was printed that processors were added to the machine */
	bool failed;   /* the exit status says so, whatever else becomes of the run */
	int signals;
	int signal;	     /* the last one that asked to stop, 0: none */
	uint64_t answer_due; /* what the first interrupt waits for is said then, 0: need not be */
	uint64_t deadline;   /* 0: none */
	uint64_t delayed_until; /* measuring begins then */
	uint64_t keep_due;	/* what is known so far is put down then */
	uint64_t hotplug_due, text_due, govern_due, started;
	uint32_t text_reads;		      /* when text was last made */
	struct qz_overhead_governor governor; /* ceiling 0: there is none */
	uint64_t interrupt_ns;
	uint64_t daemon_before; /* costs of earlier sessions */
	struct snapshot_file snapshot;
	struct snapshot_file log_place; /* --log */
	int log_file;
	uint32_t nscopes;  /* that were asked for: the first ones in BPF */
	struct live *live; /* NULL: BPF programs work out what threads do */
	struct progress progress;
	bool beside; /* another quartzd, which is asked first */
};

/* ---- session_setup.c: each prints what is wrong, and returns an exit status ---- */

/* Checks all that can be wrong before anything is touched. */
int session__prepare(struct session *s);

/* Whether a hang-up asks the service to read its settings again. Else it ends the run, as SIGTERM does. */
bool session__reloads(const struct session *s);

/* The programs are in the kernel, and whoever wants to can connect. */
int session__load(struct session *s);

/* Every target is attached to, and the command runs. */
int session__start(struct session *s);

/* Of processes that are profiled without their children: counts these, and keeps the most that there were. The main thread. */
void session__count_children(struct session *s);

/* ---- session_refresh.c ---- */

struct qz_costs session__costs(const struct session *s);

/* All that is counted, and all exact times; without the timeline, which then does not add up to them. */
int session__refresh_figures(struct session *s, uint64_t until, bool live);

/* With it. */
int session__refresh(struct session *s, uint64_t until, bool live);

/* Of a session that is still sampling: with the estimates, too. */
int session__bring_up_to_date(struct session *s, uint64_t until);

/* A copy without vacant rows (core/model/fold.h), estimated, for a file. NULL: no memory. */
struct qz_profile *session__packed(const struct qz_profile *p);

/* ---- daemon/session/session_advice.c ---- */

/* Logs what limits the program, by an estimated profile. Commands name its file; NULL: it is the newest one. */
void session__say_advice(const struct qz_profile *p, const char *file);

/* ---- session_log.c: the scheduler's log, and the file of --log. -errno after a line that says why ---- */

/* Of the file, before anything is touched; and while it can be made. */
int session__prepare_log(struct session *s);
int session__open_log(struct session *s);

/* Before the first scope; and once all threads are followed. */
int session__make_live(struct session *s);
int session__start_log(struct session *s);

/* After the run: says what became of it. */
void session__finish_log(struct session *s);
void session__close_log(struct session *s);

/* ---- session_timeline.c ---- */

/* Has the run keep its timeline, but for --system, which has slices. 0 or -ENOMEM. */
int session__start_timeline(struct session *s);

/* Puts what has come since the last time into the timeline. The profile is refreshed. */
void session__cut_timeline(struct session *s, uint64_t until);

/* Does so when the tables were drained, and says when they are to be drained next. */
int session__follow_timeline(struct session *s, uint64_t now);

/* ---- session_slices.c ---- */

/* Whether slices can be saved, before anything is touched. -errno after a line that says why. */
int session__prepare_history(const struct session *s);

/* Once all that is there already has been found. -errno after a line that says why. */
int session__start_history(struct session *s);

/* Ends a slice; err is that of the refresh before. Without room on the disk the next one has all. */
void session__cut_slice(struct session *s, int err);

#endif
