/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Views of a profile: ranked rows, call edges, threads. Pure computation; text and JSON are made
 * from these by quartzctl and by the text tables of quartzd.
 */
#ifndef QUARTZ_CORE_REPORT_H
#define QUARTZ_CORE_REPORT_H

#include "core/model/profile.h"
#include "core/report/object_cost.h"

/*
 * Time of one entity. Levels are those of effective parallelism, as each sample saw it; the arrays
 * have report->nlevels entries, index 0 unused (0). level_norm_ns adds up to norm_ns, level_cpu_ns to
 * cpu_ns - spin_ns.
 */
struct qz_figure {
	uint64_t norm_ns;
	uint64_t cpu_ns;       /* busy and spinning */
	uint64_t spin_ns;      /* of this, spinning: estimated, as all that is only sampled */
	uint64_t samples;      /* busy and spinning */
	uint64_t spin_samples; /* of these */
	uint64_t ci_ns;	       /* half width of the 95 % interval of norm_ns */
	uint64_t *level_cpu_ns;
	uint64_t *level_norm_ns;
	double square, doubt; /* used while the figure is built: see core/report/figure.c */
	uint32_t below;
	double below_ns;
};

/*
 * (cpu - spin) / norm: the mean number of busy processors while the entity was busy; 0 when it never
 * was.
 */
double qz_figure__parallelism(const struct qz_figure *f);

struct qz_idle_charge;

/* Waits that may be at another place than that where they are counted: see `variance` of struct qz_wait. */
struct qz_wait_doubt {
	double ns, variance; /* in ns^2 */
};

/* Times off the processor, and how often. */
struct qz_wait_figure {
	uint64_t count, blocked_ns, ready_ns;
	uint64_t idle_ns; /* of blocked_ns, of idle threads: core/report/idle_threads.h */
	uint64_t
		charged_ns; /* elapsed time in which nothing ran, because of these: core/report/idle_time.h */
	struct qz_wait_doubt doubt;
	const struct qz_wait_doubt
		*doubts; /* of the whole report; NULL: each of these waits is here */
};

/* The blocked time of threads that are not idle. */
static inline uint64_t qz_wait_figure__blocked(const struct qz_wait_figure *f)
{
	return f->blocked_ns > f->idle_ns ? f->blocked_ns - f->idle_ns : 0;
}

struct qz_cause_row {
	uint32_t cause; /* in profile->causes */
	struct qz_wait_figure waits;
};

struct qz_causes {
	uint32_t n;
	struct qz_cause_row *rows; /* by blocked and ready time together, descending */
};

struct qz_row {
	uint32_t procedure;
	struct qz_figure self, total;
	struct qz_wait_figure self_waits, total_waits;
	struct qz_causes causes; /* of total_waits */
};

/*
 * One step on the stacks, away from the procedure asked about. `via` is QZ_PROCEDURE for a call,
 * or the kind of the marker in between: QZ_THREAD_START, QZ_PROCESS_START, QZ_TRUNCATED. Of several
 * markers it is the least specific one, the last in this order.
 */
struct qz_edge {
	uint32_t procedure; /* the other end, QZ_NONE when the stack ends here */
	uint32_t via;
	struct qz_figure figure;
	struct qz_wait_figure waits;
	uint64_t calls; /* counted by the program, in all stacks; 0: none, or not counted */
};

struct qz_thread_row {
	uint32_t thread; /* index in profile->threads */
	struct qz_figure figure;
	struct qz_wait_figure waits;
	/* The cause and object with most of the waits' time; QZ_NONE without waits, or if it has no object. */
	uint32_t top_cause, top_object;
};

/* The time of an object is that of its holders while others queued for it: a second attribution. */
struct qz_object_row {
	uint32_t object; /* index in profile->objects */
	struct qz_figure figure;
	struct qz_wait_figure waits; /* as charged to the waiters' stacks */
	struct qz_object_cost cost;
};

struct qz_report {
	const struct qz_profile *profile; /* borrowed; must outlive the report */
	uint32_t scope;
	uint32_t nlevels;
	uint64_t elapsed_ns; /* of the scope */
	/*
	 * Time with so many busy processors: nlevels entries that add up to elapsed_ns. Without
	 * spinning the exact level times of the scope, with it the estimate from all samples.
	 */
	uint64_t *effective_ns;
	uint64_t idle_ns;   /* no processor was busy: all were idle or spinning */
	uint64_t serial_ns; /* one was */
	uint64_t busy_ns;   /* one at least; the norm_ns of all rows' self add up to this together
			       with unattributed_ns and instrumentation_ns */
	uint64_t spin_ns;   /* processor time spent spinning, estimated */
	uint64_t unattributed_ns;    /* no sample, or none that ends in a procedure */
	uint64_t instrumentation_ns; /* taken out of the figures, and the processor time of it */
	uint64_t instrumentation_cpu_ns;
	uint64_t *level_samples; /* at each level, nlevels entries; see qz_sample__weight */
	uint64_t *level_squares; /* the same, the weights of single samples squared */
	uint64_t *level_weighted,
		*level_seen; /* the same for struct qz_hits; NULL: none are weighted */
	uint32_t nstacks;
	struct qz_polled_stack
		*stacks; /* core/report/polled.h, and the order of samples; NULL: as they stand */
	uint32_t *order;
	double turn_share; /* of samples with other processors running: see qz_scope_counters.spin_turns */
	double parallelism; /* average effective parallelism over busy_ns; 0 when never busy */
	uint32_t nrows;
	struct qz_row
		*rows; /* by total.norm_ns, self.norm_ns, blocked time, descending, then name */
	uint32_t nthreads;
	struct qz_thread_row *threads;	/* all of the scope, by norm_ns descending, then tid */
	struct qz_wait_figure waits;	/* of all threads */
	struct qz_causes causes;	/* of these */
	struct qz_wait_doubt doubt;	/* of these */
	struct qz_idle_charge *charges; /* by wait of the profile: core/report/idle_time.h */
	bool *idle;			/* by thread of the profile: core/report/idle_threads.h */
	uint32_t nidle;			/* so many are */
	uint32_t nobjects;
	struct qz_object_row *objects; /* all of the scope, by norm_ns, then wait_ns, descending */
};

/*
 * The report of one scope of an estimated profile. A procedure counts once per sample however
 * often it is on the stack. Rows are procedures only, those that only waited among them; markers
 * are left out. NULL with errno
 * (EINVAL no such scope, ENOMEM).
 */
struct qz_report *qz_report__new(const struct qz_profile *p, uint32_t scope);
void qz_report__free(struct qz_report *r);

/* The row of an object of the profile, owned by r; NULL: the scope has none of it. */
const struct qz_object_row *qz_report__object(const struct qz_report *r, uint32_t object);

/*
 * The parts of the total of `procedure`: its own time (an edge to QZ_NONE via QZ_PROCEDURE) and the procedures that it
 * called or started, from the outermost occurrence of the procedure in each stack; the figures add up to the total. Sorted
 * by norm_ns, descending. An edge to QZ_NONE via a marker is work whose procedures are not known. Each counted call has an
 * edge, even without time. Free *edges with qz_call_graph__free. -EINVAL when there is no such procedure, -ENOMEM.
 */
int qz_call_graph__callees(const struct qz_report *r, uint32_t procedure, struct qz_edge **edges,
			   uint32_t *n);

/*
 * On whose behalf `procedure` ran, in the same form. An edge to QZ_NONE means no caller: the procedure was the outermost
 * frame, or (via QZ_TRUNCATED) the outermost known one.
 */
int qz_call_graph__callers(const struct qz_report *r, uint32_t procedure, struct qz_edge **edges,
			   uint32_t *n);

void qz_call_graph__free(struct qz_edge *edges, uint32_t n);

/* Is this its name, or its name without parameters? */
bool qz_procedure__is_called(const struct qz_procedure *proc, const char *name);

/*
 * Ranked procedures whose name is `name`, or, when none is, whose name without parameters, or whose
 * "module:name" (the path or its last part) with or without them, is. Writes up to max indices of
 * procedures, as ranked, and gives how many there are.
 */
uint32_t qz_lookup__procedures(const struct qz_report *r, const char *name, uint32_t *found,
			       uint32_t max);

/*
 * Objects of the scope whose name is `name`, or which are called so together with their kind, as in
 * "mutex queue_lock". Writes up to max indices of profile->objects, as ranked, and gives how many
 * there are.
 */
uint32_t qz_lookup__objects(const struct qz_report *r, const char *name, uint32_t *found,
			    uint32_t max);

#endif
