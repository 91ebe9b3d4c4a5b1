/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of a replay. Rows are in arrays and referred to by their index, REPLAY_NONE for none; freed rows are in a
 * list. All changes happen at replay.now, which never goes back: so the laws of replay.h hold for any records.
 *
 * Memory is asked for before anything is changed (replay__make_room), so that no change is left half done.
 */
#ifndef QUARTZ_CORE_REPLAY_STATE_H
#define QUARTZ_CORE_REPLAY_STATE_H

#include "core/replay/replay.h"
#include "core/util/hash_table.h"
#include "quartz/records.h"

/*
 * Records of two processors within this time may have been written in the opposite order. A thread
 * that is woken while it leaves its processor has left within this time.
 */
#define REPLAY_NEAR_NS 1000000

struct replay_rows {
	void *items;
	uint32_t n, room;
	size_t size; /* of an item */
	struct qz_hash_table index;
};

/* A reference to a thread whose row may be freed: valid while the row has the serial. */
struct replay_ref {
	uint32_t row, serial; /* serial 0: unknown */
};

/* The thread or interrupt that wakes. */
struct replay_waker {
	struct replay_ref ref;
	uint32_t place;
	uint16_t cause;
	uint32_t site; /* of the waker in its system call; 0: unknown */
	bool by_call;
	uint32_t cpu; /* the processor of the wake-up */
};

#define LAST_WAITS   8 /* powers of two */
#define LAST_WAKEUPS 4

/* The present wait of a blocked or ready thread, or its last one. */
struct replay_stay {
	uint32_t site, place;
	uint32_t telling; /* see struct replay_place; 0: the place is certain */
	uint32_t object;  /* that it waits for */
	uint16_t cause;
	bool queued; /* it is in the object's queue */
	bool handed; /* another thread of the scope ended it */
	uint64_t began;
	uint64_t runnable_ns; /* of the scope, when the wait began */
	uint64_t room_ns;     /* of the machine, when the wait began */
	uint64_t blocked_ns, ready_ns;
};

#define HERD_LONGEST 4

/* A volley: one thread wakes several at once, which waited for the same. */
struct replay_volley {
	uint32_t serial;
	uint32_t object; /* that they waited for; REPLAY_NONE: unknown, or dropped */
	uint32_t members;
	uint32_t in_vain; /* of these, for nothing; reported once one had something to do */
	bool useful;	  /* one had something to do */
	uint32_t scope;	  /* of threads in poll, whatever they waited for; else REPLAY_NONE */
	uint32_t left;	  /* of these, waiting again since */
	uint64_t longest[HERD_LONGEST]; /* longest running times of these, descending */
};

#define VOLLEYS 256 /* the last ones are kept */

struct replay_row {
	struct replay_thread pub;
	bool lives;
	bool unborn;	  /* it has neither a FORK nor a FOUND record */
	bool found;	  /* it has a FOUND record */
	bool exits;	  /* it has an EXIT record */
	bool heir;	  /* it took over the number of its process; its EXEC is to come */
	bool bound;	  /* to one processor */
	bool woken_early; /* it was woken by `early` while it ran: it may be about to leave */
	bool waited;	  /* a wait of it has ended and is in the table */
	bool owes_waking; /* it came in from a wait without a WAKING, which may still come */
	uint32_t cpu;	  /* the processor that it runs on */
	uint64_t came;	  /* when it came to the processor */
	uint64_t early_at;
	struct replay_waker early;
	uint64_t account_base;
	uint32_t own_tid; /* in its PID namespace */
	uint32_t finding; /* the last `findings` that found it */
	uint32_t process_row;
	struct replay_stay stay;
	/* Caches of rows, by site and by object, for look-ups. */
	uint32_t last_place, last_waits[LAST_WAITS], last_wakeups[LAST_WAKEUPS];
	struct replay_window *window; /* what it ran since its wake-up, if wanted */
	uint32_t held;		      /* first of the objects that it holds */
	uint32_t
		released; /* the object from whose queue it last woke a thread; REPLAY_NONE: none */
	/* the last semaphore, eventfd or pipe from whose queue it was woken; REPLAY_NONE: none */
	uint32_t took;
	uint32_t
		volley; /* serial of the volley that woke it, until it is known what it had to do; 0: none */
	uint32_t joined;		 /* serial of the last volley that woke it */
	uint64_t volley_ran;		 /* its running time then */
	bool gave;			 /* it has woken a thread outside of volleys since */
	uint32_t shot;			 /* serial of the last volley in which it woke a thread */
	uint64_t shot_ran;		 /* its running time then */
	uint64_t handed_at;		 /* its running time at the start of its last hand-over */
	bool in_turn;			 /* it has come in from a wait in poll */
	uint64_t turn_ns[REPLAY_STATES]; /* its times when the turn began */
	struct qz_transfers told;	 /* reported by its last TRANSFERS records */
	uint32_t steps; /* index of its steps, see steps.h; REPLAY_NONE: not kept */
	uint32_t next;	/* next one in the list of free or ended rows */
};

struct replay_process {
	uint32_t pid, scope, alive;
	uint32_t image;
	uint32_t space; /* number of its address space, a new one after each exec */
	uint64_t
		exited; /* when its first thread began to exit, or a thread ended all others; 0: not yet */
	uint32_t next;
};

struct replay_parallelism {
	struct replay_scope pub;
	bool exists;
	uint64_t *level_ns;
	uint32_t room;	      /* of level_ns */
	uint32_t limit;	      /* room_ns counts time at levels below it */
	uint64_t runnable_ns; /* integral of the runnable threads */
	uint64_t room_ns;
	uint32_t objects; /* the first of its objects */
	uint32_t next;
};

struct replay_cpu {
	uint64_t idle_ns;
	uint32_t tid;	 /* of the thread that came in last */
	uint32_t thread; /* row of that thread, while it runs here */
	bool seen;	 /* tid and thread are known */
	bool gone;	 /* the thread was seen elsewhere, so the row was taken away */
	uint64_t at;	 /* when the thread came in, or was taken away */
	/*
	 * The last volley of threads in poll that was woken here (0: none), and its last wake-up.
	 */
	uint32_t herd;
	uint64_t herd_at;
};

/*
 * A sample of a thread that released an object, and may have acquired it again. It is decided when
 * the woken thread waits again.
 */
struct replay_doubt {
	uint32_t cpu;
	struct qz_log_record sample;
};

#define QUEUE_DOUBTS 4

#define QUEUE_WOKEN 8

struct replay_queue {
	struct replay_object pub;
	bool exists;
	uint32_t space; /* REPLAY_NONE: the object is identified by its number */
	uint32_t refs;	/* present waits for it */
	uint64_t since;
	struct replay_ref acquirer,
		releaser; /* acquirer and releaser of the last wake-up by a futex call */
	/*
	 * All threads that one wake-up of the kernel has woken; one of them has the object by now.
	 * Threads that wait again are removed.
	 */
	struct replay_ref woken[QUEUE_WOKEN];
	uint32_t nwoken;
	uint64_t woken_at;
	uint64_t
		given_back; /* wake-ups by threads that were woken there before, see replay_queue__is_token */
	uint32_t holder;
	uint64_t holder_ran; /* running time of the holder at `since` */
	struct replay_doubt doubts[QUEUE_DOUBTS];
	uint32_t ndoubts;
	uint32_t held_before, held_next; /* list of the holder's objects */
	uint32_t before, next;		 /* list of the scope's objects; next: also of free ones */
};

#define PLACE_WAYS	 4
#define PLACE_SETS_FIRST 64
#define PLACE_SETS_MOST	 (1u << 15)

/*
 * The place of a site. When the number of sets has reached its limit, a new place replaces the
 * least recently used one of its set.
 *
 * Threads may come to one site by several stacks of the same depth. The stack is known only for the
 * wait after a SITE record, and is assumed for all others up to the next one. There are several
 * stacks if an earlier one appears again.
 */
struct replay_place {
	uint32_t site; /* 0: free */
	uint32_t place;
	uint32_t former;  /* the place before this one */
	uint32_t telling; /* number of the last SITE record */
	bool several, certain;
	uint16_t cause;
	uint8_t tag;
	uint32_t used;
	uint64_t address;
};

struct replay_steps;

struct replay {
	struct replay_options options;
	struct replay_steps *steps; /* NULL: not wanted */
	struct replay_counts counts;
	uint64_t now;
	bool began;	     /* `now` is set */
	bool settled;	     /* all threads were found once */
	uint64_t lost_until; /* until then, records of some processor are lost; 0: never */
	/*
	 * Sum of the time for which processors wrote no records. Its last part ends at off_until,
	 * for off_cpus processors.
	 */
	uint64_t off_ns, off_until;
	uint32_t off_cpus;
	uint32_t findings; /* how often all threads were found: again after records were lost */
	uint32_t room;	   /* the tables have room for the rows of this many records */
	struct replay_cpu *cpus;
	struct replay_place *places;
	uint32_t place_sets, place_clock;
	struct replay_parallelism *machine;
	struct replay_rows threads; /* struct replay_row, index by tid of living threads */
	struct replay_rows
		processes; /* struct replay_process, index by pid of those with living threads */
	struct replay_rows scopes; /* struct replay_parallelism */
	struct replay_rows
		objects;	  /* struct replay_queue, index by scope, tag, space and address */
	struct replay_rows waits; /* struct replay_wait, index by its first members */
	struct replay_rows wakeups; /* struct replay_wakeup, index by its first members */
	uint32_t free_threads, ended_threads, free_processes;
	uint32_t free_scopes,
		dropped_scopes; /* dropped: become free when no wait has their number */
	uint32_t free_objects, dropped_objects;
	uint32_t last_serial, last_space;
	struct replay_volley volleys[VOLLEYS]; /* indexed by serial */
	uint32_t last_volley;
};

static inline struct replay_row *replay__row(const struct replay *r, uint32_t i)
{
	return (struct replay_row *)r->threads.items + i;
}

static inline struct replay_process *replay__process(const struct replay *r, uint32_t i)
{
	return (struct replay_process *)r->processes.items + i;
}

static inline struct replay_parallelism *replay__parallelism(const struct replay *r, uint32_t i)
{
	return (struct replay_parallelism *)r->scopes.items + i;
}

static inline struct replay_queue *replay__queue(const struct replay *r, uint32_t i)
{
	return (struct replay_queue *)r->objects.items + i;
}

/* The running time of a thread up to now. */
static inline uint64_t replay_row__ran(const struct replay *r, const struct replay_row *t)
{
	return t->pub.ns[REPLAY_RUNNING] +
	       (t->pub.state == REPLAY_RUNNING ? r->now - t->pub.since : 0);
}

/*
 * The same until it came to its present processor. Time that was reset since then does not count.
 */
static inline uint64_t replay_row__ran_before(const struct replay *r, const struct replay_row *t)
{
	uint64_t ran = replay_row__ran(r, t), since = r->now - t->came;

	return ran > since ? ran - since : 0;
}

static inline bool replay_row__waits(const struct replay_row *t)
{
	return t->pub.state == REPLAY_READY || t->pub.state == REPLAY_BLOCKED;
}

/* ---- rows.c ---- */

/* Frees scopes and objects that were dropped, as no wait has their numbers any more. */
void replay__reuse_dropped(struct replay *r);

/* Makes room for all rows that one record can add. Call it before each record. 0 or -ENOMEM. */
int replay__make_room(struct replay *r);

/* Takes a row from the list of free ones, or appends one; there is room. *fresh: it is new. */
uint32_t replay_rows__take(struct replay_rows *rows, uint32_t *free, size_t next, bool *fresh);

/* ---- scopes.c ---- */

/* Charges the time at the present level, then changes the numbers of running and runnable threads. */
void replay_parallelism__change(struct replay_parallelism *s, int running, int runnable,
				uint64_t now);

/* Gives a scope a number, unless it has one. */
void replay_parallelism__number(struct replay *r, uint32_t scope, uint32_t number);
/* Whether any scope has this number. Slow: it searches all scopes. */
bool replay_parallelism__has_number(const struct replay *r, uint32_t number);

/* Makes room for levels up to n. 0 or -ENOMEM. */
int replay_parallelism__reserve(struct replay_parallelism *s, uint32_t n);

/* Counts the time from now until `until` as unknown in all scopes. */
void replay__skip_levels(struct replay *r, uint64_t until);

/* Integrals up to now: of runnable threads, and of time at levels below the limit. */
uint64_t replay_parallelism__runnable_ns(const struct replay_parallelism *s, uint64_t now);
uint64_t replay_parallelism__room_ns(const struct replay_parallelism *s, uint64_t now);

/* The process with living threads, or that was opened; or REPLAY_NONE. */
uint32_t replay_process__find(const struct replay *r, uint32_t pid);

/*
 * The process; a new one gets a scope by the rules of the options: that of its creator
 * (REPLAY_NONE: unknown) if that is followed. Returns its index, or -ENOMEM.
 */
int64_t replay_process__get(struct replay *r, uint32_t pid, uint32_t creator);

/* The thread of a process with this number in its own PID namespace, or REPLAY_NONE. */
uint32_t replay_process__own(const struct replay *r, uint32_t process, uint32_t own_tid);

/* Puts a process without a scope into the scope with this number, if there is one. 0 or -ENOMEM. */
int replay_process__join_number(struct replay *r, uint32_t process, uint32_t number);

/* Sets the image of a process, and calls `image`. */
void replay_process__set_image(struct replay *r, uint32_t process, uint32_t image);

/* A thread joins a process, or ends there. */
void replay_process__join(struct replay *r, uint32_t process, struct replay_row *t);
void replay_process__leave(struct replay *r, struct replay_row *t);

/* ---- threads.c ---- */

/* The row of a living thread, or REPLAY_NONE. */
uint32_t replay_row__find(const struct replay *r, uint32_t tid);
void replay_row__renumber(struct replay *r, struct replay_row *t, uint32_t tid);

/* Makes a row, in state REPLAY_UNKNOWN; process REPLAY_NONE: unknown. */
struct replay_row *replay_row__begin(struct replay *r, uint32_t tid, uint32_t process);
void replay_row__end(struct replay *r, struct replay_row *t);

void replay_row__charge(const struct replay *r, struct replay_row *t);

/* Starts its times anew, in its present state. */
void replay_row__restart(struct replay *r, struct replay_row *t);
void replay_row__enter(struct replay *r, struct replay_row *t, enum replay_state state);

/* A thread of an unknown process gets one: it continues as another row in the same state. */
void replay_row__adopt(struct replay *r, struct replay_row *t, uint32_t process);

/* FORK, EXEC, EXIT, NAME, FOUND and IDENTITY. 0 or -ENOMEM. */
int replay__apply_life(struct replay *r, const struct qz_log_record *record);

/* ---- switches.c ---- */

void replay__apply_switch(struct replay *r, uint32_t cpu, const struct qz_log_record *record);
void replay__apply_waking(struct replay *r, uint32_t cpu, const struct qz_log_record *record);
void replay__apply_sample(struct replay *r, uint32_t cpu, const struct qz_log_record *record);

/* Forgets what is known of a processor. */
void replay_cpu__forget(struct replay *r, uint32_t cpu);

/* Records are lost, so it is unknown whether the thread still waits. */
void replay_row__forget_wait(struct replay *r, struct replay_row *t);

/* The same for all waiting threads. 0 or -ENOMEM. */
int replay__forget_waits(struct replay *r);

/*
 * A new row may belong to a thread that came to a processor before the row existed, at most `ns`
 * ago.
 */
void replay_cpu__recognize(struct replay *r, struct replay_row *t, uint64_t ns);

/*
 * The row no longer runs where it did: if a thread with its number leaves there, it is another one.
 */
void replay_cpu__take_away(struct replay *r, const struct replay_row *t);

/* ---- waits.c ---- */

void replay__apply_site(struct replay *r, const struct qz_log_record *record);

/* The thread begins to wait. `left`: the switch by which it left its processor; NULL: unknown. */
void replay_stay__begin(struct replay *r, struct replay_row *t, uint16_t cause,
			const struct qz_log_record *left);

/* The thread has a number from now on, and so have its ended waits. */
void replay_wait__number(struct replay *r, const struct replay_row *t);

/* Begins a wait at a given place. */
void replay_stay__begin_at(struct replay *r, struct replay_row *t, uint16_t cause, uint32_t place);

/* The place of a thread at a site; 0: unknown. */
uint32_t replay_place__of(struct replay *r, struct replay_row *t, uint32_t site);
void replay_stay__end(struct replay *r, struct replay_row *t);
void replay_stay__restart(struct replay *r, struct replay_row *t);

/* ---- objects.c ---- */

/* The object that a thread waits for at a place, or REPLAY_NONE. */
uint32_t replay_queue__find(struct replay *r, const struct replay_row *t,
			    const struct replay_place *place);
void replay_queue__join(struct replay *r, struct replay_row *t, uint64_t words);

/* The thread leaves its queue, if any. `waker`: NULL: unknown. */
void replay_queue__leave(struct replay *r, struct replay_row *t, const struct replay_waker *waker);

/*
 * Whether the waker's call wakes waiters of a word: futex, or the end of a thread, which others
 * join.
 */
bool replay_waker__wakes_words(const struct replay_waker *waker);

/* An object that the thread holds while others wait for it, or REPLAY_NONE. */
uint32_t replay_queue__held(const struct replay *r, const struct replay_row *t);

/* Takes a sample of a thread that holds nothing as far as is known. */
void replay_queue__doubt(struct replay *r, const struct replay_row *t, uint32_t cpu,
			 const struct qz_log_record *sample);

/* A thread ends: it holds nothing. */
void replay_queue__release_all(struct replay *r, struct replay_row *t);
void replay_queue__drop_scope(struct replay *r, uint32_t scope);

/* ---- steps.c: only where steps are kept, each before the change of state ---- */

struct replay_steps *replay_steps__new(void);
void replay_steps__free(struct replay_steps *all);
void replay_steps__begin(struct replay *r, struct replay_row *t);
void replay_steps__restart(struct replay *r); /* all threads' steps begin now */
void replay_steps__drop_scope(struct replay *r, uint32_t scope);
void replay_steps__fork(struct replay *r, struct replay_row *creator, struct replay_row *t);
void replay_steps__exit(struct replay *r, const struct replay_row *t);
void replay_steps__end(struct replay *r, struct replay_row *t);
void replay_steps__preempt(struct replay *r, struct replay_row *t);

/*
 * The thread blocks, with these words of a futex; is woken (waker NULL: unknown); comes to a
 * processor.
 */
void replay_steps__block(struct replay *r, struct replay_row *t, uint64_t words);
void replay_steps__wake(struct replay *r, struct replay_row *t, const struct replay_waker *waker);
void replay_steps__come(struct replay *r, struct replay_row *t);
void replay_steps__sample(struct replay *r, struct replay_row *t,
			  const struct qz_log_record *record);

/* ---- grain.c ---- */

/* A thread with a FORK record begins; creator REPLAY_NONE: unknown. */
void replay_grain__start(struct replay *r, const struct replay_row *t, uint32_t creator);

/* The thread's wait has ended; `ran`: its running time when the wait began. */
void replay_grain__hand_over(struct replay *r, struct replay_row *t,
			     const struct replay_waker *waker, uint64_t ran);

/* The thread is woken; the waker may be unknown. */
void replay_grain__wake(struct replay *r, struct replay_row *t, const struct replay_waker *waker);

/* The thread begins the wait in its stay. */
void replay_grain__block(struct replay *r, struct replay_row *t);

/*
 * The thread comes in from the wait in its stay, or begins it: a turn of an event loop begins or
 * ends there.
 */
void replay_grain__begin_turn(struct replay_row *t);
void replay_grain__end_turn(const struct replay *r, struct replay_row *t);

/* Whether the present turn of a thread is already a block. */
bool replay_grain__is_blocked(const struct replay *r, struct replay_row *t);

/* No thread waits for the object any more; its number will be reused. */
void replay_grain__drop_object(struct replay *r, uint32_t object);

/* ---- wakeups.c ---- */

/*
 * Counts a wake-up of the thread that ends its wait, which was blocked for blocked_ns while there
 * was room for it.
 */
void replay_wakeup__add(struct replay *r, struct replay_row *t, const struct replay_waker *waker,
			uint64_t blocked_ns);

/* Adds to the row with the first members of w. */
void replay_wakeup__put(struct replay *r, const struct replay_wakeup *w, uint64_t count,
			uint64_t woken_ns);

/* ---- windows.c: where the time until woken is wanted ---- */

struct replay_window;

/* The thread is woken; and is sampled at a place. */
void replay_window__begin(const struct replay *r, struct replay_row *t);
void replay_window__sample(const struct replay *r, struct replay_row *t, uint32_t place);

/*
 * A wait of the thread ends, during part of which a processor was free: charges that time; `to` has the first members of
 * the rows.
 */
void replay_window__charge(struct replay *r, const struct replay_row *t,
			   const struct replay_waker *waker, struct replay_wakeup *to,
			   uint64_t free_ns);

#endif
