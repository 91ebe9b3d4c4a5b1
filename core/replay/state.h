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
 * Records of two processors within this time may have been written in the other order. A thread that was woken while it was
 * leaving its processor has left within this time.
 */
#define REPLAY_NEAR_NS 1000000

struct replay_rows {
	void *items;
	uint32_t n, room;
	size_t size; /* of one */
	struct qz_hash_table index;
};

/* A reference to a thread whose row may be freed: valid as long as the row has the serial. */
struct replay_ref {
	uint32_t row, serial; /* serial 0: not known */
};

/* The thread or interrupt that wakes. */
struct replay_waker {
	struct replay_ref ref;
	uint32_t place;
	uint16_t cause;
	uint32_t site; /* where it is in its system call; 0: not known */
	bool by_call;
	uint32_t cpu; /* on which it was woken */
};

#define LAST_WAITS   8 /* powers of two */
#define LAST_WAKEUPS 4

/* The wait that a thread is in while it is blocked or ready, or was last. */
struct replay_stay {
	uint32_t site, place;
	uint32_t telling; /* see struct replay_place; 0: its place is known for certain */
	uint32_t object;  /* that it waits for */
	uint16_t cause;
	bool queued; /* it is in the queue of that */
	bool handed; /* another thread of the scope has ended it */
	uint64_t began;
	uint64_t runnable_ns; /* of the scope, when it began */
	uint64_t room_ns;     /* of the machine, when it began */
	uint64_t blocked_ns, ready_ns;
};

#define HERD_LONGEST 4

/* Wake-ups of several threads, which waited for the same, by one thread at once. */
struct replay_volley {
	uint32_t serial;
	uint32_t object; /* that they waited for; REPLAY_NONE: none that is known any more */
	uint32_t members;
	uint32_t in_vain; /* of these, and not told yet: until one has had something to do */
	bool useful;	  /* one had */
	uint32_t scope;	  /* of threads that waited for events, whatever for; else REPLAY_NONE */
	uint32_t left;	  /* of these, those that have waited again since */
	uint64_t longest[HERD_LONGEST]; /* that these have run; the longest first */
};

#define VOLLEYS 256 /* that are remembered: the last ones */

struct replay_row {
	struct replay_thread pub;
	bool lives;
	bool unborn;	  /* neither FORK nor FOUND was seen */
	bool found;	  /* its FOUND was seen */
	bool exits;	  /* its EXIT was seen */
	bool heir;	  /* it has its process' number, and its EXEC is to come */
	bool bound;	  /* to one processor */
	bool woken_early; /* while it ran, by early: it may be about to leave */
	bool waited;	  /* a wait of it has ended, and is in the table */
	bool owes_waking; /* it came in from a wait without one, which may be yet to come */
	uint32_t cpu;	  /* where it runs */
	uint64_t came;	  /* when it came there */
	uint64_t early_at;
	struct replay_waker early;
	uint64_t account_base;
	uint32_t own_tid; /* in its pid namespace */
	uint32_t finding; /* by which it was there, see replay */
	uint32_t process_row;
	struct replay_stay stay;
	/* Where to look first, by site and by object: rows of the tables. */
	uint32_t last_place, last_waits[LAST_WAITS], last_wakeups[LAST_WAKEUPS];
	struct replay_window *window; /* what it ran since it was woken, where that is wanted */
	uint32_t held;		      /* objects that it holds: the first one */
	uint32_t released; /* the object from whose queue it woke one last; REPLAY_NONE: none */
	/* the last semaphore, eventfd or pipe from whose queue it was woken; REPLAY_NONE: none */
	uint32_t took;
	uint32_t
		volley; /* serial of the one that it was woken in, while it is not known what for; 0: none */
	uint32_t joined;		 /* the same of the last one */
	uint64_t volley_ran;		 /* its running time then */
	bool gave;			 /* it has woken one of no such volley since */
	uint32_t shot;			 /* the same: in which it woke one last */
	uint64_t shot_ran;		 /* its running time then */
	uint64_t handed_at;		 /* its running time when its last hand-over began */
	bool in_turn;			 /* it has come in from a wait in poll, */
	uint64_t turn_ns[REPLAY_STATES]; /* and its times were these then */
	struct qz_transfers told;	 /* by its last TRANSFERS records */
	uint32_t steps;			 /* its own, see steps.h; REPLAY_NONE: they are not kept */
	uint32_t next;			 /* free, or ended */
};

struct replay_process {
	uint32_t pid, scope, alive;
	uint32_t image;
	uint32_t space; /* of addresses: another number after each exec */
	uint64_t
		exited; /* when its first thread began to end, or one ended all others; 0: not yet */
	uint32_t next;
};

struct replay_parallelism {
	struct replay_scope pub;
	bool exists;
	uint64_t *level_ns;
	uint32_t room;	      /* of that */
	uint32_t limit;	      /* room_ns: time at lower levels */
	uint64_t runnable_ns; /* runnable threads times time */
	uint64_t room_ns;
	uint32_t objects; /* the first one */
	uint32_t next;
};

struct replay_cpu {
	uint64_t idle_ns;
	uint32_t tid;	 /* that came in last */
	uint32_t thread; /* its row, as long as it runs here */
	bool seen;	 /* the above is known */
	bool gone;	 /* the row was taken away, by what was seen elsewhere */
	uint64_t at;	 /* when it came, or was taken away */
	/* The last volley that was woken here of threads that wait for events, 0: none; and when the last one of it was. */
	uint32_t herd;
	uint64_t herd_at;
};

/* A sample of who let go of an object, and may have it again: it is known when the one that was woken waits again. */
struct replay_doubt {
	uint32_t cpu;
	struct qz_log_record sample;
};

#define QUEUE_DOUBTS 4

#define QUEUE_WOKEN 8

struct replay_queue {
	struct replay_object pub;
	bool exists;
	uint32_t space; /* REPLAY_NONE: it is known by its number */
	uint32_t refs;	/* waits under way that name it */
	uint64_t since;
	struct replay_ref acquirer,
		releaser; /* of the last wake-up by a futex call: who was woken, and by whom */
	/* wake-ups by who was woken there before, see replay_queue__is_token */
	/* All that one wake-up of the kernel's has woken, of whom one has it by now: those that wait again are taken out. */
	struct replay_ref woken[QUEUE_WOKEN];
	uint32_t nwoken;
	uint64_t woken_at;
	uint64_t given_back;
	uint32_t holder;
	uint64_t holder_ran; /* the holder's running time at since */
	struct replay_doubt doubts[QUEUE_DOUBTS];
	uint32_t ndoubts;
	uint32_t held_before, held_next; /* of the same holder */
	uint32_t before, next;		 /* of the same scope; next: free */
};

#define PLACE_WAYS	 4
#define PLACE_SETS_FIRST 64
#define PLACE_SETS_MOST	 (1u << 15)

/*
 * The place of a site. When the number of sets has reached its limit, the place that was not used for longest is replaced
 * in its set.
 *
 * Threads may come to one site by several stacks of the same depth. The stack is known only for the wait after a SITE
 * record, and is assumed for all others up to the next one. That there are several stacks is known when an earlier one
 * appears again.
 */
struct replay_place {
	uint32_t site; /* 0: free */
	uint32_t place;
	uint32_t former;  /* the place before this one */
	uint32_t telling; /* the last SITE record's number */
	bool several, certain;
	uint16_t cause;
	uint8_t tag;
	uint32_t used;
	uint64_t address;
};

struct replay_steps;

struct replay {
	struct replay_options options;
	struct replay_steps *steps; /* NULL: not asked for */
	struct replay_counts counts;
	uint64_t now;
	bool began;	     /* there was a time */
	bool settled;	     /* all threads were found */
	uint64_t lost_until; /* records of some processor are lost; 0: none ever */
	/* Processors' time in which none were written; the last of it ends then, on so many processors. */
	uint64_t off_ns, off_until;
	uint32_t off_cpus;
	uint32_t findings; /* so often: again after records were lost */
	uint32_t room;	   /* for what so many records make */
	struct replay_cpu *cpus;
	struct replay_place *places;
	uint32_t place_sets, place_clock;
	struct replay_parallelism *machine;
	struct replay_rows threads;   /* struct replay_row, by tid of those that live */
	struct replay_rows processes; /* struct replay_process, by pid of those that live */
	struct replay_rows scopes;    /* struct replay_parallelism */
	struct replay_rows objects;   /* struct replay_queue, by scope, tag, space and address */
	struct replay_rows waits;     /* struct replay_wait, by its first members */
	struct replay_rows wakeups;   /* struct replay_wakeup, by its first members */
	uint32_t free_threads, ended_threads, free_processes;
	uint32_t free_scopes,
		dropped_scopes; /* dropped: free as soon as no wait has their number */
	uint32_t free_objects, dropped_objects;
	uint32_t last_serial, last_space;
	struct replay_volley volleys[VOLLEYS]; /* by serial */
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

/* Its running time up to now. */
static inline uint64_t replay_row__ran(const struct replay *r, const struct replay_row *t)
{
	return t->pub.ns[REPLAY_RUNNING] +
	       (t->pub.state == REPLAY_RUNNING ? r->now - t->pub.since : 0);
}

/* The same, before it came to its processor. Time that was reset since then does not count. */
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

/* Scopes and objects that were dropped: no wait has their numbers any more. */
void replay__reuse_dropped(struct replay *r);

/* Makes room for all rows that one record can add; to be called before each. 0 or -ENOMEM. */
int replay__make_room(struct replay *r);

/* A row from the list of free ones, or after the last one: there is room. *fresh: it was never used. */
uint32_t replay_rows__take(struct replay_rows *rows, uint32_t *free, size_t next, bool *fresh);

/* ---- scopes.c ---- */

/* Charges the time at the present level, then changes the numbers of running and runnable threads. */
void replay_parallelism__change(struct replay_parallelism *s, int running, int runnable,
				uint64_t now);

/* A scope has a number, unless it had one. */
void replay_parallelism__number(struct replay *r, uint32_t scope, uint32_t number);
/* Whether a scope has it. Searches all scopes: only for what happens seldom. */
bool replay_parallelism__has_number(const struct replay *r, uint32_t number);

/* Room for levels up to n. 0 or -ENOMEM. */
int replay_parallelism__reserve(struct replay_parallelism *s, uint32_t n);

/* The levels are not known from now until that time. */
void replay__skip_levels(struct replay *r, uint64_t until);

/* Integral of runnable threads up to now. */
uint64_t replay_parallelism__runnable_ns(const struct replay_parallelism *s, uint64_t now);
uint64_t replay_parallelism__room_ns(const struct replay_parallelism *s, uint64_t now);

/* The process of which threads live, or that was opened; or REPLAY_NONE. */
uint32_t replay_process__find(const struct replay *r, uint32_t pid);

/*
 * The process, made with a scope by the rules of the options if it is new: that of its creator (REPLAY_NONE: not known)
 * if that one follows. Index or -ENOMEM.
 */
int64_t replay_process__get(struct replay *r, uint32_t pid, uint32_t creator);

/* The thread of a process that has this number in its own pid namespace, or REPLAY_NONE. */
uint32_t replay_process__own(const struct replay *r, uint32_t process, uint32_t own_tid);

/* A process of no scope is of the one with this number, if there is one. 0 or -ENOMEM. */
int replay_process__join_number(struct replay *r, uint32_t process, uint32_t number);

/* It has an image from now on; calls `image`. */
void replay_process__set_image(struct replay *r, uint32_t process, uint32_t image);

/* A thread comes to a process, or ends there. */
void replay_process__join(struct replay *r, uint32_t process, struct replay_row *t);
void replay_process__leave(struct replay *r, struct replay_row *t);

/* ---- threads.c ---- */

/* The row of a thread that lives, or REPLAY_NONE. */
uint32_t replay_row__find(const struct replay *r, uint32_t tid);
void replay_row__renumber(struct replay *r, struct replay_row *t, uint32_t tid);

/* Makes a row, in REPLAY_UNKNOWN; process REPLAY_NONE: not known. */
struct replay_row *replay_row__begin(struct replay *r, uint32_t tid, uint32_t process);
void replay_row__end(struct replay *r, struct replay_row *t);

void replay_row__charge(const struct replay *r, struct replay_row *t);

/* It begins now, in the state that it is in. */
void replay_row__restart(struct replay *r, struct replay_row *t);
void replay_row__enter(struct replay *r, struct replay_row *t, enum replay_state state);

/* A thread whose process was not known becomes one of a process: as another row in the same state. */
void replay_row__adopt(struct replay *r, struct replay_row *t, uint32_t process);

/* FORK, EXEC, EXIT, NAME, FOUND and IDENTITY. 0 or -ENOMEM. */
int replay__apply_life(struct replay *r, const struct qz_log_record *record);

/* ---- switches.c ---- */

void replay__apply_switch(struct replay *r, uint32_t cpu, const struct qz_log_record *record);
void replay__apply_waking(struct replay *r, uint32_t cpu, const struct qz_log_record *record);
void replay__apply_sample(struct replay *r, uint32_t cpu, const struct qz_log_record *record);

/* Nothing is known of the processor any more. */
void replay_cpu__forget(struct replay *r, uint32_t cpu);

/* Records are lost: it is not known any more whether it waits. */
void replay_row__forget_wait(struct replay *r, struct replay_row *t);

/* That of all that wait. 0 or -ENOMEM. */
int replay__forget_waits(struct replay *r);

/* A new row may be of a thread that came to a processor before the row existed, at most `ns` ago. */
void replay_cpu__recognize(struct replay *r, struct replay_row *t, uint64_t ns);

/* The row no longer runs where it did: a thread that leaves there under its number is another one. */
void replay_cpu__take_away(struct replay *r, const struct replay_row *t);

/* ---- waits.c ---- */

void replay__apply_site(struct replay *r, const struct qz_log_record *record);

/* The thread waits from now on. `left`: the switch by which it left; NULL: it was not seen. */
void replay_stay__begin(struct replay *r, struct replay_row *t, uint16_t cause,
			const struct qz_log_record *left);

/* The thread has a number from now on: so have its waits that have ended. */
void replay_wait__number(struct replay *r, const struct replay_row *t);

/* Begins a stay at a place that the caller gives. */
void replay_stay__begin_at(struct replay *r, struct replay_row *t, uint16_t cause, uint32_t place);

/* Where a thread is at a site; 0: not known. */
uint32_t replay_place__of(struct replay *r, struct replay_row *t, uint32_t site);
void replay_stay__end(struct replay *r, struct replay_row *t);
void replay_stay__restart(struct replay *r, struct replay_row *t);

/* ---- objects.c ---- */

/* The object of a place, for a thread: REPLAY_NONE if there is none. */
uint32_t replay_queue__find(struct replay *r, const struct replay_row *t,
			    const struct replay_place *place);
void replay_queue__join(struct replay *r, struct replay_row *t, uint64_t words);

/* It leaves its queue, if any. `waker`: NULL if it was not seen. */
void replay_queue__leave(struct replay *r, struct replay_row *t, const struct replay_waker *waker);

/* Whether the waker's call wakes threads that wait at a word: futex, or the end of a thread, for which others wait. */
bool replay_waker__wakes_words(const struct replay_waker *waker);

/* An object that the thread holds while others wait for it, or REPLAY_NONE. */
uint32_t replay_queue__held(const struct replay *r, const struct replay_row *t);

/* A sample of a thread that, as far as is known, holds nothing. */
void replay_queue__doubt(struct replay *r, const struct replay_row *t, uint32_t cpu,
			 const struct qz_log_record *sample);

/* A thread ends: it holds nothing. */
void replay_queue__release_all(struct replay *r, struct replay_row *t);
void replay_queue__drop_scope(struct replay *r, uint32_t scope);

/* ---- steps.c: only where steps are kept, each before the change of state ---- */

struct replay_steps *replay_steps__new(void);
void replay_steps__free(struct replay_steps *all);
void replay_steps__begin(struct replay *r, struct replay_row *t);
void replay_steps__restart(struct replay *r); /* those of all threads begin now */
void replay_steps__drop_scope(struct replay *r, uint32_t scope);
void replay_steps__fork(struct replay *r, struct replay_row *creator, struct replay_row *t);
void replay_steps__exit(struct replay *r, const struct replay_row *t);
void replay_steps__end(struct replay *r, struct replay_row *t);
void replay_steps__preempt(struct replay *r, struct replay_row *t);

/* It blocks, with these words of a futex; it is woken (waker NULL: that was not seen); it comes to a processor. */
void replay_steps__block(struct replay *r, struct replay_row *t, uint64_t words);
void replay_steps__wake(struct replay *r, struct replay_row *t, const struct replay_waker *waker);
void replay_steps__come(struct replay *r, struct replay_row *t);
void replay_steps__sample(struct replay *r, struct replay_row *t,
			  const struct qz_log_record *record);

/* ---- grain.c ---- */

/* A thread with a FORK record has begun; creator REPLAY_NONE: not known. */
void replay_grain__start(struct replay *r, const struct replay_row *t, uint32_t creator);

/* The wait of the thread is ended, which had run so long when it began. */
void replay_grain__hand_over(struct replay *r, struct replay_row *t,
			     const struct replay_waker *waker, uint64_t ran);

/* The thread is woken, by whomever. */
void replay_grain__wake(struct replay *r, struct replay_row *t, const struct replay_waker *waker);

/* The thread begins to wait, as its stay says. */
void replay_grain__block(struct replay *r, struct replay_row *t);

/* The thread comes in from a wait, or begins one, which its stay tells of: for events, or for something else. */
void replay_grain__begin_turn(struct replay_row *t);
void replay_grain__end_turn(const struct replay *r, struct replay_row *t);

/* Whether the turn that a thread is in is a block already. */
bool replay_grain__is_blocked(const struct replay *r, struct replay_row *t);

/* No thread waits for the object any more, and its number will be another one's. */
void replay_grain__drop_object(struct replay *r, uint32_t object);

/* ---- wakeups.c ---- */

/* A wake-up of the thread that ends its wait, which was blocked for so long with room for it. */
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
