/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile: the results of one run of Quartz, in memory.
 *
 * quartzd fills one while it samples, a snapshot file holds one (core/format/pprof.h), and every view
 * of quartzctl is computed from one (core/report/report.h). Nothing here depends on how the figures were measured, so tests
 * build profiles by hand.
 *
 * Entities are kept in arrays and named by their index, which stays as long as the entity does. Index 0 of
 * procedures, locations and mappings is a real entity; node 0 is the root of all stacks and has no location.
 *
 * Not thread-safe: one owner at a time. Functions that return int return 0 or -errno (-ENOMEM, -EINVAL: an index, kind or
 * number out of range, -E2BIG); intern functions return an index >= 0 or -errno. A failed call leaves the profile as it
 * was. All times are nanoseconds of CLOCK_MONOTONIC unless a name says otherwise.
 */
#ifndef QUARTZ_CORE_PROFILE_H
#define QUARTZ_CORE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "core/model/levels.h"
#include "quartz/loop_counters.h"
#include "quartz/scope_counters.h"
#include "quartz/transfer_counters.h"

#define QZ_NONE UINT32_MAX /* no index */

/* Limits of a profile; beyond them the functions below return -E2BIG. */
#define QZ_MAX_DEPTH   4096	  /* nodes on a stack, those inherited from creators included */
#define QZ_MAX_INLINED 1024	  /* lines of a location */
#define QZ_MAX_LEVELS  8193	  /* 8192 processors, the kernel's own limit on x86-64 */
#define QZ_MAX_CAUSES  256	  /* of losses, and of events */
#define QZ_MAX_CALLS   (1u << 18) /* pairs of caller and callee */
#define QZ_MAX_MEMBERS (1u << 20) /* of all rounds together */

/* Kinds of procedures. All but the first are markers in a stack, never ranked. */
enum qz_procedure_kind {
	QZ_PROCEDURE, /* code with a name of its own */
	QZ_THREAD_START, /* "[thread]": the frames after it are of a thread that the frames before it started */
	QZ_PROCESS_START, /* "[process]": the frames after it are of a process that the frames before it forked */
	QZ_TRUNCATED,	 /* "[truncated]": callers that the unwinder could not reach */
	QZ_UNATTRIBUTED, /* "[unattributed]": time of levels without samples */
	QZ_INSTRUMENTATION, /* "[instrumentation]": time in libquartz, see core/estimate/instrumentation_cost.h */
	QZ_PROCEDURE_KINDS,
};

struct qz_procedure {
	char *name; /* demangled; markers carry the bracketed name above */
	char *module; /* path of the ELF file, "[kernel]", "[vdso]", "[jit]", QZ_PYTHON_MODULE, or "" */
	char *file;    /* source file, "" when unknown */
	uint32_t line; /* of the declaration, 0 when unknown */
	uint32_t kind; /* enum qz_procedure_kind */
};

/* Modules of functions of Python and methods of Ruby, whose frames were read from the interpreter. */
#define QZ_PYTHON_MODULE "[python]"
#define QZ_RUBY_MODULE	 "[ruby]"

/* An executable file as it was mapped. */
struct qz_mapping {
	char *path;
	char *build_id; /* lower-case hex, "" when there is none */
	uint64_t start, limit, offset;
};

/* Lines of a procedure in another file than its own: included, or named by #line. */
struct qz_procedure_part {
	uint32_t procedure;
	char *file;
};

struct qz_line {
	uint32_t procedure;
	uint32_t line; /* 0 when unknown */
	uint32_t part; /* of the procedure: 0 its own file, else index of a part plus 1 */
};

/*
 * A place in the code. lines[0] is the innermost inlined procedure, the last one is the procedure
 * that the symbol table knows; nlines is 1 without --inlines.
 */
struct qz_location {
	uint64_t address; /* in the mapping's file, see addresses_sampled; 0 for markers */
	uint32_t mapping; /* QZ_NONE for markers and unmapped addresses */
	uint32_t nlines;
	struct qz_line *lines;
};

/* A stack is a path in a tree: outermost frame next to the root, innermost at the leaf. */
struct qz_node {
	uint32_t parent; /* node; the root is its own parent */
	uint32_t location;
	uint32_t depth; /* 0 for the root */
};

/* A cause of loss and how often it struck. Names are lower_case words, unique in one ledger. */
struct qz_loss {
	char *cause;
	uint64_t count;
};

enum qz_scope_kind {
	QZ_SCOPE_PROCESS, /* the threads of one process */
	QZ_SCOPE_TREE,	  /* a process and all its descendants */
	QZ_SCOPE_JOB,	  /* a launched command with all its descendants */
	QZ_SCOPE_MACHINE, /* all processors: covers the threads of all other scopes */
	QZ_SCOPE_KERNEL,  /* the kernel's own threads */
	QZ_SCOPE_KINDS,
};

/*
 * The comm of the machine's scope in a pid namespace, as in a container: its processes are those of the namespace, and a
 * processor is busy while it runs one of them.
 */
#define QZ_CONTAINED "pid namespace"

/*
 * The threads whose parallelism is counted together. level_ns[n] is the exact time during which
 * n processors were running the scope's threads, busy or spinning; their sum is elapsed_ns. Of the
 * machine it is the time with n processors that were not idle, and its counts are the sums of those of
 * the others.
 */
struct qz_scope {
	uint32_t kind; /* enum qz_scope_kind */
	int32_t pid;
	char *comm;
	char *command; /* command line, "" when unknown */
	char *cgroup;  /* path in its hierarchy, "" when unknown */
	char *cpuset;  /* processors that its cpuset allows, as "0-3,8"; "": all, or unknown */
	/*
	 * Of its control groups, from its own to the outermost, the one whose quota throttled it most: path in its
	 * hierarchy, and quota_us of processor time in quota_period_us. 0: there is none.
	 */
	char *quota_cgroup;
	uint64_t quota_us, quota_period_us;
	/* Sums over all these groups: processor time lost by throttling, periods with throttling, all periods. */
	uint64_t throttled_ns, throttled_periods, quota_periods;
	/* Of a process: the children that it had when the run began or when it ended, and that no scope has. */
	uint64_t children;
	uint64_t start_ns;    /* of the observation */
	uint64_t elapsed_ns;  /* of the observation */
	uint64_t cpu_ns;      /* the kernel's own accounting (sum_exec_runtime) */
	uint64_t runnable_ns; /* running + ready time of all threads */
	uint32_t nlevels;     /* entries of level_ns: the highest level reached, + 1; at least 1 */
	uint64_t *level_ns;
	uint64_t samples;    /* accepted for this scope */
	uint64_t truncated;  /* of these, with a stack whose outer end was not reached */
	uint64_t unresolved; /* of these, whose innermost frame has no name */
	/*
	 * In a slice of a run: threads that lived when it began. They are not in threads_seen, so that slices add up;
	 * qz_slices__end adds them.
	 */
	uint64_t threads_before;
	uint64_t threads_alive; /* of a run: those that live at its end; not kept in files */
	struct qz_scope_counters counters;
	bool ended;  /* the last thread ended inside the window */
	bool vacant; /* of a run: see core/model/fold.h; not in files */
	uint32_t nstack_ends;
	struct qz_loss *stack_ends; /* samples by how the walk of their user stack ended */
};

struct qz_thread {
	uint32_t scope;
	int32_t tid, pid;
	char *comm;
	char *name; /* given by the program, "" when none */
	char *cpus; /* processors that it may use, by affinity and cpuset, as "0-3,8"; "": all, or unknown */
	uint64_t start_ns;   /* first seen */
	uint64_t end_ns;     /* last seen */
	uint64_t cpu_ns;     /* the kernel's own accounting */
	uint64_t running_ns; /* on a processor */
	uint64_t ready_ns;   /* runnable, waiting for a processor */
	uint64_t blocked_ns;
	uint64_t
		unknown_ns; /* state not seen: a gap of the tracepoint, or before the first event */
	struct qz_loop loop; /* in a part of a run, the longest block is that of the whole run */
	struct qz_transfers transfers;
	bool ended;
	bool merged; /* stands for several ended threads of one comm, beyond the limit of rows */
	bool vacant; /* as of a scope */
};

/*
 * One group of equal samples. If there is a scope of the machine, each sample of another scope is also in that one, at the
 * machine's level, with the same thread and object. The first members are the key. cpu_ns and norm_ns are set by
 * core/estimate/estimate.h.
 */
struct qz_sample {
	uint32_t scope;
	uint32_t thread; /* QZ_NONE for unattributed time */
	uint32_t node;	 /* leaf */
	uint32_t level;	 /* processors running the scope's threads, 1 .. nlevels - 1 */
	uint32_t busy;	 /* of these, not spinning: effective parallelism, 0 .. level */
	uint32_t
		object; /* that the thread spins on, or holds while others queue for it, or a shared cache line; QZ_NONE: none */
	bool spinning;	/* the thread waits in a loop: its time is spin time, never normalized */
	uint8_t halvings; /* of the rate that was asked for, when they were taken */
	/*
	 * With pollers (daemon/shm/poll_join.h): the number of kernel samples on which the count rests. `below` > 0: the
	 * count is a share of the polled samples at the node of depth `below` - 1, and `seen` counts all kernel samples
	 * below that node; `below` 0: `seen` counts this group, which was weighted. seen 0: all of count.
	 */
	uint32_t below;
	uint64_t seen;
	uint64_t count;
	uint64_t in_block; /* of count, taken while a turn of its event loop already was a block */
	uint64_t cpu_ns;
	uint64_t norm_ns;
};

/* How often the rate may be halved: weights are below 2^10 then. */
#define QZ_MAX_HALVINGS	     10
#define QZ_MAX_TIME_HALVINGS 3

/* How many samples these would be at the rate that was asked for. */
static inline uint64_t qz_sample__weight(const struct qz_sample *s)
{
	return s->count << s->halvings;
}

/*
 * One group of equal waits: times off the processor. The first members are the key. A wait is charged to the stack that
 * left the processor: blocked until the wake-up, ready from then on.
 */
struct qz_wait {
	uint32_t scope;
	uint32_t thread;  /* QZ_NONE when its row is not known */
	uint32_t node;	  /* leaf; 0 when the stack is not known */
	uint32_t cause;	  /* index of causes */
	uint32_t object;  /* waited for, or QZ_NONE */
	uint32_t nominal; /* mean nominal parallelism over the wait, rounded */
	uint64_t count;
	uint64_t blocked_ns;
	uint64_t ready_ns;
	uint64_t
		variance; /* of blocked_ns + ready_ns, in 2^20 ns^2: 0 where the stack of each wait is known */
	uint64_t
		handed; /* waits in poll that another thread of the scope ended; older profiles have 0 */
};

/*
 * One group of equal wake-ups; the first members are the key. woken_ns is the time until woken (Quartz 1990, 3.2.5): the
 * waker's running time, while a processor was free, between the beginning of a wait and the wake-up that ended it, charged
 * to the code that ran.
 */
struct qz_waking {
	uint32_t scope;
	uint32_t thread; /* the waker, QZ_NONE when it is outside of the scope */
	uint32_t
		node; /* code of the waker that is charged; of the wake-up itself when count != 0 */
	uint32_t object; /* that was waited for, or QZ_NONE */
	uint64_t count;	 /* wake-ups from here */
	uint64_t woken_ns;
};

enum qz_object_kind {
	QZ_OBJECT_OTHER, /* a futex word of unknown use */
	QZ_OBJECT_MUTEX,
	QZ_OBJECT_CONDITION,
	QZ_OBJECT_BARRIER,
	QZ_OBJECT_RWLOCK,
	QZ_OBJECT_SEMAPHORE,
	QZ_OBJECT_JOIN, /* the end of a thread */
	QZ_OBJECT_ONCE, /* an initialization */
	QZ_OBJECT_SPIN, /* a spin lock or another word that is spun on */
	QZ_OBJECT_FILE, /* an inode */
	QZ_OBJECT_PIPE,
	QZ_OBJECT_SOCKET,
	QZ_OBJECT_LINE, /* a cache line that threads take from each other while they run: none of them is blocked */
	QZ_OBJECT_LOCK, /* of the kernel's: of a file, its inode, its position, a process' memory map */
	QZ_OBJECT_EVENT, /* an eventfd */
	QZ_OBJECT_KINDS,
};

/* Queue lengths are kept up to this one; the last entry is for it and all beyond. */
#define QZ_QUEUE_LENGTHS 16

/*
 * A synchronization object. Its normalized time is that of its samples, which were taken while its holder ran and others
 * queued, or for a cache line, while a thread waited for it; its spin time is that of its spinning samples. This is a
 * second attribution, never added to that of procedures.
 */
struct qz_object {
	uint32_t scope;
	uint32_t kind; /* enum qz_object_kind */
	int32_t pid;
	uint64_t
		address; /* in the process; inode number for files and their locks, pipes and sockets */
	char *name;	 /* unique in a scope and kind; never "" */
	char *module;	  /* of the variable, or of the procedure in the name; "" when none */
	uint32_t grouped; /* number of words with this name, at least 1 */
	bool vacant;	  /* as of a scope */
	uint64_t waits;	  /* arrivals that had to wait, ended or not */
	uint64_t wakes;	  /* wake-ups that ended a wait */
	/*
	 * Of these, wake-ups of several threads at once after which this thread had nothing to do and waited again, while
	 * another one had work.
	 */
	uint64_t in_vain;
	uint64_t wait_ns; /* sum of the waiters' times in the queue: blocked, up to the wake-up */
	uint64_t queue_ns[QZ_QUEUE_LENGTHS]; /* time with so many waiters; [0] is not kept */
	uint64_t arrivals[QZ_QUEUE_LENGTHS]; /* waits that found so many waiters */
	/*
	 * For a cache line: samples, at the requested rate. The object's own samples are those at the line while another
	 * user of it ran and one of the two writes; line_same of these use the same bytes. line_alone: at the line while no
	 * such user ran. line_elsewhere_alone: of its users elsewhere, while no other ran. line_there and line_elsewhere:
	 * at the line and elsewhere while another user ran, but only samples taken before the other user's, which show what
	 * the thread waits for. Older profiles do not have line_there, and line_elsewhere has all.
	 */
	uint64_t line_same, line_alone, line_there, line_elsewhere, line_elsewhere_alone;
};

/*
 * Calls between two procedures of an instrumented program: counted by itself, each one, not sampled.
 */
struct qz_call_count {
	uint32_t scope;
	uint32_t
		caller; /* QZ_NONE: the callee was entered first in its thread, or the caller is not known */
	uint32_t callee;
	uint64_t count;
	uint64_t cost_ns; /* spent in libquartz for these calls that samples do not show; not kept
			     in snapshots, from whose figures it has been taken out */
	/* In a run: the parts of both from page sets that are closed. */
	uint64_t closed_count, closed_cost_ns;
};

/*
 * What the threads of a scope were doing at one instant, on all processors: equal sets, identified by the
 * innermost procedure of each thread that was running. The order of processors is not kept.
 */
struct qz_round {
	uint32_t scope;
	uint32_t n;	   /* members: processors that ran the scope; 0: none */
	uint32_t *members; /* QZ_MEMBER of each, ascending */
	uint64_t count;	   /* of such sets */
};

#define QZ_MEMBER(procedure, spinning) ((procedure) << 1 | !!(spinning))
#define QZ_MEMBER_PROCEDURE(member)    ((member) >> 1)
#define QZ_MEMBER_SPINS(member)	       ((member)&1)

/*
 * Statistics of the instants. Each taken instant that is neither incomplete, unplaced nor outside is in one set of each
 * scope that ran then.
 */
struct qz_rounds {
	uint32_t rate_hz; /* 0: none were asked for */
	uint64_t taken;
	uint64_t incomplete; /* a processor did not answer in time: the set is not known */
	uint64_t unplaced; /* there was no room for a set, or the scope of a thread is not known */
	uint64_t skew_ns;  /* sum over `taken`: last answer less first */
	uint64_t skew_max_ns; /* the longest */
	uint64_t outside;     /* no thread of the scope ran; of samples not counted */
	/* From versions before 0.2: instants at which the number of running threads was constant in the accounting, */
	uint64_t compared;
	uint64_t differing; /* and of these, instants whose set had another number */
	bool sampled;	    /* the instants are those of the samples */
};

/* expected = accepted + filtered + sum of losses + unaccounted */
struct qz_ledger {
	uint64_t expected; /* running time of the perf events / period */
	uint64_t accepted;
	uint64_t filtered; /* processor idle, or running something outside of every scope */
	int64_t unaccounted;
	uint32_t nlosses;
	struct qz_loss *losses; /* of samples */
	uint32_t nevents;
	struct qz_loss *events; /* other irregularities: implicit_switch, events_lost, … */
	/* Filtered samples by program: "comm (unit)", or "comm". The rest are of unknown programs. */
	uint32_t noutside;
	struct qz_loss *outside;
};

/* Processor time that Quartz itself took, as core/model/overhead_governor.h has it. */
struct qz_costs {
	uint64_t accounting_ns; /* at switches and wake-ups, forks and execs */
	uint64_t sampling_ns;	/* with the interrupts */
	uint64_t walking_ns;	/* stacks of waits; not in accounting_ns */
	uint64_t daemon_ns;	/* quartzd and its children */
	uint64_t replay_ns;	/* of daemon_ns, to read and replay the scheduler's log */
};

static inline void qz_costs__add(struct qz_costs *sum, const struct qz_costs *more)
{
	sum->accounting_ns += more->accounting_ns;
	sum->sampling_ns += more->sampling_ns;
	sum->walking_ns += more->walking_ns;
	sum->daemon_ns += more->daemon_ns;
	sum->replay_ns += more->replay_ns;
}

/* The difference since `before`. */
static inline struct qz_costs qz_costs__since(const struct qz_costs *now,
					      const struct qz_costs *before)
{
	return (struct qz_costs) {
		.accounting_ns = now->accounting_ns - before->accounting_ns,
		.sampling_ns = now->sampling_ns - before->sampling_ns,
		.walking_ns = now->walking_ns - before->walking_ns,
		.daemon_ns = now->daemon_ns - before->daemon_ns,
		.replay_ns = now->replay_ns - before->replay_ns,
	};
}

static inline uint64_t qz_costs__sum(const struct qz_costs *c)
{
	return c->accounting_ns + c->sampling_ns + c->walking_ns + c->daemon_ns;
}

struct qz_profile {
	/* about the run */
	char *quartz_version;
	char *kernel;		/* uname -r */
	char *machine;		/* uname -n */
	char *event;		/* "cpu-clock"; of older files also "cycles" */
	uint32_t rate_hz;	/* requested rate; 0: no samples, see core/replay/log_replay.h */
	uint32_t halvings;	/* of it, in force at the end */
	uint32_t ceiling_ppm;	/* share of the processors that Quartz may take, 0: no limit */
	struct qz_costs costs;	/* 0 if they were not kept: before 0.2 kept only with a limit */
	uint32_t processors;	/* online, available to the scopes */
	uint64_t wall_start_ns; /* CLOCK_REALTIME */
	uint64_t window_ns;
	bool live; /* taken from a running quartzd */
	/* Counts of wake-ups are estimates, from some of those at objects, and have no time. */
	bool wakes_sampled;
	bool addresses_sampled; /* locations have the sampled addresses; false: the beginnings of their procedures */
	struct qz_ledger ledger;

	uint32_t nscopes, nthreads, nmappings, nprocedures, nparts, nlocations, nnodes, nsamples;
	uint32_t ncauses, nobjects, nwaits, nwakings, ncalls, npolled, nopen;
	uint32_t vacant_scopes, vacant_threads, vacant_objects; /* of all rows of these */
	struct qz_scope *scopes;
	struct qz_thread *threads;
	struct qz_mapping *mappings;
	struct qz_procedure *procedures;
	struct qz_procedure_part *parts;
	struct qz_location *locations;
	struct qz_node *nodes;
	struct qz_sample *samples;
	struct qz_sample *polled; /* of a run: what pollers saw, see daemon/shm/poll_join.h */
	char **causes; /* of waits: "futex", "disk", "preempted", …, or a system call by its name */
	struct qz_object *objects;
	struct qz_wait *waits;
	struct qz_wait *open; /* of a run: waits that have not ended; they are among `waits` */
	struct qz_waking *wakings;
	struct qz_call_count *calls; /* sum of counts below 2^63 */
	struct qz_rounds instants;
	uint32_t nrounds;
	struct qz_round *rounds;      /* sum of counts below 2^63 / QZ_MAX_LEVELS */
	struct qz_timeline *timeline; /* core/model/timeline.h; NULL: none was kept */
	uint32_t nwhat_ifs;
	struct qz_what_if *what_ifs; /* core/model/what_if.h */
	/* Of a part of a run: its begin and end, from the beginning of the run. 0: it is the whole run. */
	uint64_t interval_from_ns, interval_until_ns;
	bool timeline_differs; /* a file had one that does not add up: it was left out */

	struct qz_index *index; /* look-up tables of the intern functions, private */
};

/* An empty profile with its root node, or NULL (errno ENOMEM). Free with qz_profile__free. */
struct qz_profile *qz_profile__new(void);

/* Accepts NULL and half-built profiles. */
void qz_profile__free(struct qz_profile *p);

/* Removes what was computed for --what-if. */
void qz_profile__clear_what_ifs(struct qz_profile *p);

/* The scope of the machine, QZ_NONE when there is none. */
uint32_t qz_profile__machine(const struct qz_profile *p);

/* Whether threads, waits and objects of `other` belong to a scope: it is the same, or the machine. */
static inline bool qz_scope__covers(const struct qz_profile *p, uint32_t scope, uint32_t other)
{
	return scope == other || p->scopes[scope].kind == QZ_SCOPE_MACHINE;
}

/* The time that its threads ran, summed over them. */
static inline uint64_t qz_scope__running_ns(const struct qz_scope *scope)
{
	return qz_levels__cpu(scope->level_ns, scope->nlevels);
}

/*
 * Whether the profile is complete for the scope: it was measured for some time, and has samples, or ran for so short a time
 * that none are expected. A scope that only waits has no samples, but all of its waits. True if no samples were asked for.
 */
bool qz_scope__is_measured(const struct qz_profile *p, uint32_t scope);

/* The longest block: of a part of a run at most, since the others took 10 ms each. */
static inline uint64_t qz_loop__longest_ns(const struct qz_loop *loop)
{
	uint64_t others = loop->blocks ? (loop->blocks - 1) * QZ_LOOP_BLOCK_NS : 0;
	uint64_t most = loop->block_ns > others ? loop->block_ns - others : 0;

	return loop->longest_ns < most ? loop->longest_ns : most;
}

/* Sets the elapsed time to the sum of all levels. */
static inline void qz_scope__sum_levels(struct qz_scope *scope)
{
	scope->elapsed_ns = qz_levels__sum(scope->level_ns, scope->nlevels);
}

/* Replaces *field by a copy of s ("" for NULL). */
int qz_profile__set_string(char **field, const char *s);

/*
 * Intern: returns the index of an equal entity; adds it if there is none. Strings are copied, and
 * may not be NULL.
 * Procedures are equal when name, module, file and kind are; mappings when path, build id, start
 * and offset are; locations when address, mapping and all lines are; parts when procedure and file are.
 */
int64_t qz_profile__intern_procedure(struct qz_profile *p, const struct qz_procedure *proc);
int64_t qz_profile__intern_part(struct qz_profile *p, const struct qz_procedure_part *part);
int64_t qz_profile__intern_mapping(struct qz_profile *p, const struct qz_mapping *map);
int64_t qz_profile__intern_location(struct qz_profile *p, const struct qz_location *loc);

/*
 * Gives a location the lines of another one. It keeps its index, and its address, or gets one near it if two locations
 * would be equal. 0 or -ENOMEM.
 */
int qz_profile__rename_location(struct qz_profile *p, uint32_t location, uint32_t as);

/* Sets line->part, by the file that the line is in; "": it is not known, so its procedure's own. 0 or -errno. */
int qz_profile__place_line(struct qz_profile *p, struct qz_line *line, const char *file);

/* The file that a line is in, "" when unknown. */
static inline const char *qz_line__file(const struct qz_profile *p, const struct qz_line *line)
{
	return line->part ? p->parts[line->part - 1].file : p->procedures[line->procedure].file;
}

/*
 * Of code that was found in no file, table or map; and of files of 32 bits, which are not read: such code is not followed to
 * its callers either.
 */
#define QZ_NAME_UNKNOWN "[unknown]"
#define QZ_NAME_32_BITS "[32-bit code]"

static inline bool qz_procedure__is_of_32_bits(const struct qz_procedure *procedure)
{
	return !strcmp(procedure->name, QZ_NAME_32_BITS);
}

static inline bool qz_procedure__has_name(const struct qz_procedure *procedure)
{
	return strcmp(procedure->name, QZ_NAME_UNKNOWN) != 0 &&
	       !qz_procedure__is_of_32_bits(procedure);
}

static inline bool qz_procedure__is_interpreted(const struct qz_procedure *procedure)
{
	return !strcmp(procedure->module, QZ_PYTHON_MODULE) ||
	       !strcmp(procedure->module, QZ_RUBY_MODULE);
}

/* The location of a marker, interned with its procedure. */
int64_t qz_profile__marker(struct qz_profile *p, enum qz_procedure_kind kind);

/* The node for `location` called from `parent`. */
int64_t qz_profile__intern_node(struct qz_profile *p, uint32_t parent, uint32_t location);

/*
 * The group of samples that are equal to *key; a new one has count 0 and no time. -EINVAL when an
 * index is out of range, thread or object belong to another scope, the level is 0, or the number of busy processors is
 * impossible: it counts a busy sample's processor, and not a spinning one's.
 */
int64_t qz_profile__intern_sample(struct qz_profile *p, const struct qz_sample *key);

/* Adds count and seen to those of the group of samples that are equal to *samples; `below` replaces. */
int qz_profile__add_samples(struct qz_profile *p, const struct qz_sample *samples);

/* The same for polled samples, which are not yet part of `samples`. */
int qz_profile__add_polled(struct qz_profile *p, const struct qz_sample *samples);

/* Whether it stands for time without a sample, of no thread and with count 0, or is "[instrumentation]". */
bool qz_sample__is_unattributed(const struct qz_profile *p, const struct qz_sample *s);

/*
 * Removes the groups that stand for time without a sample, of no thread and with count 0, and those
 * of "[instrumentation]".
 */
void qz_profile__drop_unattributed(struct qz_profile *p);

/* Removes groups of samples with count 0; and groups of waits and wake-ups with count and time 0. */
void qz_profile__drop_empty_samples(struct qz_profile *p);
void qz_waits__drop_empty(struct qz_profile *p);

/*
 * Append a row, or take a vacant one; strings and level_ns are copied (level_ns NULL: all 0). Return the index or -errno;
 * -EINVAL for a thread without a scope.
 */
int64_t qz_profile__add_scope(struct qz_profile *p, const struct qz_scope *scope);
int64_t qz_profile__add_thread(struct qz_profile *p, const struct qz_thread *thread);

/* Whether some of its rows are vacant (core/model/fold.h), so that it is no file: core/transform/filter_scopes.h. */
bool qz_profile__has_vacant_rows(const struct qz_profile *p);

/* Add all counts and exact times to another scope or thread. */
int qz_scope__add(struct qz_scope *to, const struct qz_scope *from);
/* Those figures that have one of these uses: enum qz_field_use. */
int qz_scope__add_those(struct qz_scope *to, const struct qz_scope *from, unsigned int uses);
void qz_thread__add(struct qz_thread *to, const struct qz_thread *from);

/* ---- core/model/waits.c ---- */

/* The index of a cause of waits. */
int64_t qz_waits__intern_cause(struct qz_profile *p, const char *name);

/*
 * The object of that scope, kind, name and module; a new one has the address and pid given, grouped
 * and all figures 0.
 */
int64_t qz_waits__intern_object(struct qz_profile *p, const struct qz_object *key);
/*
 * Gives an object another name, kind, module and address; its figures, and references to it, stay. If another object
 * already has that name, nothing is changed. Returns the index of the object that has the name now.
 */
int64_t qz_waits__rename_object(struct qz_profile *p, uint32_t object, const struct qz_object *key);

/* Add count and times to the equal group of waits or wake-ups. */
int qz_waits__add(struct qz_profile *p, const struct qz_wait *wait);
int qz_waits__add_waking(struct qz_profile *p, const struct qz_waking *waking);

/*
 * The same for waits that have not ended, with their time so far. They are part of the profile until qz_waits__close_all
 * removes them, because they have ended or become longer.
 */
int qz_waits__open(struct qz_profile *p, const struct qz_wait *wait);
void qz_waits__close_all(struct qz_profile *p);

/* ---- core/model/call_counts.c ---- */

/*
 * The calls of that scope, caller and callee; new ones have the count 0. -EINVAL when one of them is
 * out of range or a marker.
 */
int64_t qz_call_counts__intern(struct qz_profile *p, const struct qz_call_count *key);

/* Their index, QZ_NONE when there are none. */
uint32_t qz_call_counts__find(const struct qz_profile *p, const struct qz_call_count *key);

/* ---- core/model/rounds.c ---- */

/*
 * Adds round->count to that of the equal round; members are sorted in place, and copied. -EINVAL when
 * one of them is out of range or a marker.
 */
int qz_rounds__add(struct qz_profile *p, const struct qz_round *round);

/* Adds n to the count of a cause in a list of them, adding the cause when it is new. */
int qz_losses__add(struct qz_loss **losses, uint32_t *nlosses, const char *cause, uint64_t n);
void qz_losses__free(struct qz_loss *losses, uint32_t n);

/* The same in ledger.losses, ledger.events or ledger.outside. */
int qz_ledger__add_loss(struct qz_ledger *l, const char *cause, uint64_t n);
int qz_ledger__add_event(struct qz_ledger *l, const char *cause, uint64_t n);
int qz_ledger__add_outside(struct qz_ledger *l, const char *program, uint64_t n);

/* Adds all figures of a ledger to another. 0, -ENOMEM or -E2BIG. */
int qz_ledger__add(struct qz_ledger *to, const struct qz_ledger *from);

/* Sets all counts to 0; causes stay. */
void qz_ledger__clear(struct qz_ledger *l);

/* Sum of all losses by cause, without `unaccounted`. */
uint64_t qz_ledger__lost(const struct qz_ledger *l);

/* The count or duration of an event; 0: never, or the profile does not have it. */
uint64_t qz_ledger__event(const struct qz_ledger *l, const char *cause);

/* Sets `unaccounted` to the difference between `expected` and the rest. */
void qz_ledger__close(struct qz_ledger *l);

#endif
