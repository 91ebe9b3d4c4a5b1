/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replays the scheduler's log (quartz/log.h): records in order of time go in, exact figures come out. A pure function: no
 * system call, no clock, and no allocation unless a thread, process, place or object is new. The same records give the same
 * figures, so that a kept log is a test.
 *
 * Not thread-safe: one owner at a time. Functions that return int give 0 or -errno: -EINVAL, a processor, kind, state or
 * cause out of range, which changes nothing; -ENOMEM, after which the record can be given again. Records may be arbitrary:
 * impossible ones are counted in struct replay_counts, and applied as far as they make sense.
 *
 * All times are nanoseconds of the records' clock; returned figures are up to the last time that was reached, by a record
 * or replay__advance. Laws, to the nanosecond, whatever the records say:
 *  - of each thread: running + ready + blocked + unknown = (its end, or now) - its beginning;
 *  - of each scope and of the machine: the times at all levels, and that in which records were lost, add up to its end, or now,
 *    less its beginning;
 *  - sum of level * time at that level = sum of the running time of its threads (of the machine: of all threads), less
 *    what threads on other processors ran while records were lost;
 *  - of each thread: the blocked and ready times of its waits, the one under way included, add up to its own;
 *  - of each object: sum of length * time at that length = sum of the blocked times of waits for it.
 *
 * A switch names the thread that leaves, a sample the thread that runs. If another thread was there, a switch was missed:
 * that thread counts as running up to now and is in REPLAY_UNKNOWN from now on, and the named one came just now. Records of
 * two processors at nearly the same time may be in the wrong order: a thread may be seen to come to a processor before it
 * leaves another, to run before it is woken or created, or to be woken before it leaves (up to 1 ms). The replay corrects
 * these cases.
 */
#ifndef QUARTZ_CORE_REPLAY_H
#define QUARTZ_CORE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "quartz/log.h"
#include "quartz/loop_counters.h"
#include "quartz/scope_counters.h"
#include "quartz/transfer_counters.h"

struct replay;

#define REPLAY_LENGTHS 16 /* lengths of queues; the last one stands for all longer ones, too */
#define REPLAY_NONE    UINT32_MAX

struct replay_thread;

/* A sample: its thread, and the levels at that instant; 0 and REPLAY_NONE if it is not known who ran. */
struct replay_moment {
	const struct replay_thread *thread; /* NULL: not known */
	uint32_t level, machine;	    /* threads of its scope that run; busy processors */
	uint32_t held; /* an object that it holds while others wait for it; REPLAY_NONE: none */
	bool in_block; /* its event loop has been blocked up to now: quartz/loop_counters.h */
};

/* Functions that are called while records are applied; each may be NULL. Their arguments are valid during the call. */
struct replay_calls {
	void *context;
	void (*sampled)(void *context, uint32_t cpu, const struct qz_log_record *record,
			const struct replay_moment *moment);
	/* A later record shows that the thread of an earlier sample held an object. */
	void (*held)(void *context, uint32_t cpu, const struct qz_log_record *record,
		     uint32_t object);
	/* A process of a scope has an image from now on. */
	void (*image)(void *context, uint32_t image, uint32_t scope);
	/* A scope gets its number, see QZ_LOG_IDENTITY. REPLAY_NONE: there is no such scope any more, its only thread has ended. */
	void (*scope)(void *context, uint32_t scope, uint32_t number);
};

struct replay_options {
	uint32_t processors; /* their numbers are below it; at most 8192 */
	uint32_t
		online; /* processors that can run threads: one is free while fewer are busy; 0: all */
	/*
	 * Each process is a scope. Otherwise only those that were opened are: threads of other processes have no scope, and
	 * have a row only after a FORK or FOUND record, so that records of switches between them may be missing.
	 */
	bool every_process;
	bool filtered; /* with every_process: some processes are in no scope all the same */
	bool woken;    /* the time until woken is wanted: SAMPLE records have places */
	bool what_if;  /* steps of threads are kept, see core/replay/what_if.h */
	struct replay_calls calls;
};

enum replay_state {
	REPLAY_UNKNOWN, /* before its first record, or after a gap */
	REPLAY_RUNNING,
	REPLAY_READY, /* it can run, but has no processor */
	REPLAY_BLOCKED,
	REPLAY_STATES,
};

/*
 * A thread, from its FORK or FOUND record to its last switch. A later thread with the same tid has another row. From its
 * FORK until it first runs, it is ready: that wait has QZ_WAIT_START.
 */
struct replay_thread {
	uint32_t serial; /* from 1, never used again */
	uint32_t tid;
	uint32_t number;		 /* the serial of its IDENTITY record; 0: none was seen */
	uint32_t told_tid, told_process; /* in its NUMBERS record; 0: none was seen */
	uint32_t process; /* REPLAY_NONE: not known, since it was first met at a switch */
	uint32_t scope;	  /* index; REPLAY_NONE: none */
	uint32_t image;	  /* of its process; 0: not known */
	char comm[QZ_LOG_COMM];
	enum replay_state state;
	bool ended;
	uint64_t began, since; /* since: ns[] is up to then: the last time, or its end */
	uint64_t ns[REPLAY_STATES];
	uint64_t
		account_ns; /* of one that has ended: processor time since FOUND, by the kernel's account where the end was seen */
	uint64_t woken;	    /* number of wake-ups */
	struct qz_loop loop;	       /* since it began, or its scope began anew */
	struct qz_transfers transfers; /* the same, up to its last TRANSFERS records */
};

/*
 * Threads whose parallelism is counted together. Arrays are replay's own, and good until the next call that changes
 * anything.
 */
struct replay_scope {
	uint32_t process;      /* the process that it was opened for */
	uint32_t number;       /* of its first IDENTITY record; REPLAY_NONE: none was seen */
	uint64_t unit;	       /* control group of its process, by number; 0: not known */
	bool follows;	       /* processes that its threads start are part of it */
	uint64_t began, ended; /* ended 0: it has living threads, or has had none yet */
	uint32_t alive, running, runnable; /* threads, now */
	uint64_t since;			   /* level_ns is up to then: the last time, or its end */
	uint32_t nlevels;		   /* entries; the time at higher levels is 0 */
	const uint64_t *level_ns;	   /* by effective parallelism: running threads */
	uint64_t unknown_ns;	    /* at no level, because records of a processor were lost */
	uint64_t ns[REPLAY_STATES]; /* of threads that have ended */
	uint64_t account_ns;	    /* of threads that have ended, by the kernel's account */
	uint64_t threads;	    /* ever, with those that have ended */
	uint64_t woken_ns;	    /* time until woken, if it is wanted */
	/* Since it began, or began anew; see struct qz_scope_counters. */
	uint64_t threads_started, processes_started, events_in_vain, events_shared;
	uint64_t grain[QZ_GRAINS];
	struct qz_transfers transfers;
};

/* Waits of one thread that are equal in the first members: those that have ended since replay__clear. */
struct replay_wait {
	uint32_t serial; /* of the thread */
	uint32_t number; /* the thread's, of its IDENTITY record */
	uint32_t scope;
	uint32_t site;	/* 0: preempted, or not known */
	uint32_t place; /* `other` of the site's last SITE record; 0: none was seen */
	uint16_t cause; /* enum qz_wait_cause */
	uint16_t
		nominal; /* mean nominal parallelism of the scope over the wait, rounded, grouped as qz_nominal__group does */
	uint32_t object; /* index, REPLAY_NONE: none */
	uint64_t count, blocked_ns, ready_ns;
	/* Variance of blocked_ns + ready_ns, in 2^20 ns^2, if the site has several places. See qz_wait. */
	uint64_t variance;
	uint64_t handed;  /* of those in poll, ended by another thread of the scope */
	uint32_t telling; /* number of the SITE record whose waits are added up in */
	uint64_t told_ns; /* this */
};

/* What threads wait for. */
struct replay_object {
	uint32_t scope;
	uint32_t process; /* of the first waiter */
	uint32_t number;  /* QZ_LOG_OBJECT of its place; 0: none, then it is known by its address */
	uint8_t tag;	  /* enum qz_object_tag */
	uint64_t address; /* see QZ_LOG_SITE */
	uint32_t waiters; /* now */
	uint32_t holder;  /* serial of the thread that holds it while others wait; 0: not known */
	uint64_t
		wakes; /* waits that a thread ended by a system call: of futex words by futex or exit, else by any */
	uint64_t
		in_vain; /* wake-ups for nothing: the thread found no work, another one of the same volley did (grain.c) */
	uint64_t beyond_ns; /* waiters * time, for queues of the last length and above */
	uint64_t length_ns[REPLAY_LENGTHS]; /* with so many waiters; [0] is not kept */
	uint64_t arrivals[REPLAY_LENGTHS];  /* waits that found so many waiters */
	uint64_t held_ns,
		held_running_ns; /* time with waiters and a known holder; the part of it in which the holder ran */
};

/* Wake-ups of threads of a scope, equal in the first members. */
struct replay_wakeup {
	uint32_t scope;
	uint32_t waker;	 /* serial; 0: an interrupt, or not known */
	uint32_t number; /* the waker's, of its IDENTITY record; 0: it is of another scope */
	uint32_t place;	 /* where it woke, as of a wait; 0: not known */
	uint32_t object; /* what the threads waited for; REPLAY_NONE: none */
	uint64_t count,
		polls; /* polls: of these, wake-ups from poll; not counted with the time until woken */
	uint64_t
		blocked_ns; /* of the waits that they ended, while a processor was free for the woken thread */
	uint64_t
		woken_ns; /* the part of it that is charged to this place, if the time until woken is wanted */
};

/* Irregularities, counted by kind. */
struct replay_counts {
	uint64_t records;
	uint64_t late;	  /* older than a record that was applied already */
	uint64_t gaps;	  /* missed switches: another thread left a processor than had come to it */
	uint64_t unwoken; /* threads that ran after a wait without a wake-up */
	uint64_t
		unborn; /* threads that were met at a switch, without FORK or FOUND: they have no scope */
	uint64_t unended;    /* threads whose number was used again before their end was seen */
	uint64_t strange;    /* wake-ups, names and images of unknown threads, which are ignored */
	uint64_t impossible; /* records of any kind that contradict what is known */
	uint64_t lost_ns;    /* processor time whose records are lost */
};

/* NULL: no memory, or too many processors. */
struct replay *replay__new(const struct replay_options *options);
void replay__free(struct replay *r);

/*
 * Opens a scope for a process, before or after its threads are known. Its time begins with its first thread. With
 * `follows`, it includes processes that its threads start from now on. Returns its index, or that of the scope which the
 * process is in already, or -errno. Threads of the process that had no scope get a new row in it. With every_process only
 * for processes whose descendants are counted with them.
 */
int64_t replay__open_scope(struct replay *r, uint32_t process, bool follows, uint64_t now);

/* Gives a scope its number, as an IDENTITY record does. */
void replay__number_scope(struct replay *r, uint32_t scope, uint32_t number);

/* Clears the figures of a scope: it begins now. To be called while none of its threads runs. */
void replay__restart_scope(struct replay *r, uint32_t scope, uint64_t now);

/* Applies one record of a processor. A time before the last one counts as the last one, and the record as late. */
int replay__apply(struct replay *r, uint32_t cpu, const struct qz_log_record *record);

/*
 * The records of a processor between two times are lost: what ran there is not known, and the thread that ran there last is
 * in REPLAY_UNKNOWN until its next record. To be called in the order of time, as for a record at `from`.
 */
int replay__lose(struct replay *r, uint32_t cpu, uint64_t from, uint64_t until);

/* The same for all processors: the log was off, and no records were written. */
int replay__turn_off(struct replay *r, uint32_t cpu, uint64_t from, uint64_t until);

/* Processor time for which the log was off. */
uint64_t replay__off_ns(const struct replay *r);

/* Counts all times up to this one. Records with an earlier time are late from then on. */
void replay__advance(struct replay *r, uint64_t now);

/*
 * Number of the last one + 1. A scope whose threads have ended, and an object, keep their index until they are dropped. The
 * index is used again only after waits and wake-ups, which may name it, were cleared.
 */
uint32_t replay__scopes(const struct replay *r);
uint32_t replay__objects(const struct replay *r);

/* NULL: there is none, or it was dropped. The result is valid until the next call that changes anything. */
const struct replay_scope *replay__scope(const struct replay *r, uint32_t scope);
const struct replay_object *replay__object(const struct replay *r, uint32_t object);

/*
 * The machine: its level is the number of processors that run a thread which has a row. While records of a processor are
 * lost, it is not known what that one runs.
 */
const struct replay_scope *replay__machine(const struct replay *r);

/* The idle time of a processor up to *since, the beginning of its present idle time; 0: it is busy. */
uint64_t replay__idle_ns(const struct replay *r, uint32_t cpu, uint64_t *since);

/* The living thread with this number; NULL: there is none. */
const struct replay_thread *replay__thread(const struct replay *r, uint32_t tid);

/* Calls for all living threads, then for those that have ended since the last replay__drop_ended. */
void replay__each_thread(const struct replay *r,
			 void (*call)(void *context, const struct replay_thread *t), void *context);
void replay__each_ended(const struct replay *r,
			void (*call)(void *context, const struct replay_thread *t), void *context);
void replay__drop_ended(struct replay *r);

/* Calls for the waits that have ended; and for those that have not, up to the last time. */
void replay__each_wait(const struct replay *r,
		       void (*call)(void *context, const struct replay_wait *w), void *context);
void replay__each_open_wait(const struct replay *r,
			    void (*call)(void *context, const struct replay_wait *w),
			    void *context);
void replay__each_wakeup(const struct replay *r,
			 void (*call)(void *context, const struct replay_wakeup *w), void *context);

/*
 * Drops the waits that have ended, and the wake-ups: they are counted from 0 again. Waits of scopes without a number stay,
 * unless `all` is true.
 */
void replay__clear_waits(struct replay *r, bool all);

/*
 * Drops a scope that has ended, or never had a thread, with its objects; or an object that no thread waits for. False:
 * there is none, or threads live in it or wait for it.
 */
bool replay__drop_scope(struct replay *r, uint32_t scope);
bool replay__drop_object(struct replay *r, uint32_t object);

const struct replay_counts *replay__counts(const struct replay *r);

#endif
