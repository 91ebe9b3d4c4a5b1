/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replays the scheduler's log while it is written, and stores the results where the rest of quartzd reads them. Scopes,
 * their levels, idle times and figures of objects are in memory that is shared with the BPF programs
 * (daemon/kernel/bpf_scopes.h); the level of a sample is stored in its record; threads, waits and wake-ups are returned by
 * the functions below.
 *
 * One thread at a time. Functions that return int give 0 or -errno. Scopes, threads and images have the numbers that
 * BPF programs gave them.
 */
#ifndef QUARTZ_DAEMON_LIVE_H
#define QUARTZ_DAEMON_LIVE_H

#include "core/replay/what_if.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/log/log_reader.h"

struct live;

struct live_options {
	bool woken;   /* the time until woken is wanted */
	bool what_if; /* so is the length of the run without candidates */
};

/* fd: of the file that keeps the log, -1: none. Borrows it and bpf. NULL with errno. */
struct live *live__new(struct bpf_runtime *bpf, int fd, const struct live_options *options);
void live__free(struct live *l);

/* The logs begin, and all threads are found. -errno with bpf_runtime__error, as of bpf_scopes__adopt. */
int live__find(struct live *l);

/* What they say is taken in from now on. The first scopes in BPF, so many, are open, and may be of a command. */
int live__start(struct live *l, uint32_t nscopes, bool is_command);

/* Takes in what has happened, and publishes it. */
int live__advance(struct live *l);

/* See log_reader__look(). The next live__advance() or live__finish() takes in what is told. */
int live__look(struct live *l, bool at_end);

/* The time up to which all events are known. */
uint64_t live__until(const struct live *l);

/* The clock of a scope starts anew, see bpf_scopes__restart. */
int live__restart_scope(struct live *l, uint32_t scope);

/* A scope that has ended gives its number back. */
void live__drop_scope(struct live *l, uint32_t scope);

/* The clock has stopped at `until`: later records are ignored. Completes the file. */
int live__finish(struct live *l, uint64_t until);

/*
 * Switches, wake-ups and samples are written for 1 / 2^halvings of the time from now on. The rest of the time is at no
 * level, and threads are found again each time.
 */
void live__set_windows(struct live *l, uint32_t halvings);

/* Each thread that lives, as it is at live__until. Of its waits, the event has none. */
void live__each_alive(struct live *l, bpf_scopes_thread *call, void *context);

/* Each scope that has ended, once. */
typedef void live_scope(void *context, uint32_t scope, uint64_t when);
void live__take_ended_scopes(struct live *l, live_scope *call, void *context);

/* Each group that was made since the last time. */
typedef void live_group(void *context, const struct qz_group_event *e);
void live__take_groups(struct live *l, live_group *call, void *context);

/* Each thread that ended before a time, once, in the order of their ends. */
void live__take_ended(struct live *l, uint64_t until, bpf_scopes_thread *call, void *context);

/*
 * Equal waits of a thread, or wake-ups: then nominal is QZ_WAKING, count of those made from the stack, which is the waker's,
 * blocked_ns the time until woken, and serial 0 if no known thread made them. Numbers are those of BPF programs.
 */
struct live_wait {
	uint32_t scope, serial;
	uint32_t stack, object; /* see QZ_LOG_PLACE */
	uint32_t nominal;
	uint64_t count, blocked_ns, ready_ns;
	uint64_t variance, handed; /* see struct replay_wait */
};

typedef void live_take_wait(void *context, const struct live_wait *w);

/* Those that have ended, and wake-ups, since they were forgotten; and waits that have not ended. */
void live__each_wait(struct live *l, live_take_wait *call, void *context);
void live__each_open_wait(struct live *l, live_take_wait *call, void *context);
void live__forget_waits(struct live *l);

/* From now on samples know all code of the candidate, see core/replay/what_if.h. Takes in what was before. */
int live__know_candidate(struct live *l, uint32_t candidate);

/* The object with this number is this candidate; QZ_CANDIDATES: it is none. */
void live__set_candidate_object(struct live *l, uint32_t number, uint32_t candidate);

/* The results for a scope that has ended. -ENOENT: it has not, or it has no steps. May take seconds with many candidates. */
int live__what_if(struct live *l, uint32_t scope, struct replay_what_if *w);

struct live_figures {
	struct log_reader_figures reader;
	struct replay_counts replay;
	uint64_t refused; /* records that could be none */
	uint64_t off_ns;  /* processors' time in which the log was off, see live__set_windows() */
	uint64_t
		nameless; /* threads that BPF programs do not know: only their scopes have their figures */
};

struct live_figures live__figures(const struct live *l);

#endif
