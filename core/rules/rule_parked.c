/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lock whose waiters each sleep at an object of their own (core/advise/parking.h), while its
 * holder runs, or is blocked for something else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/bounds.h"
#include "core/advise/languages.h"
#include "core/advise/parking.h"
#include "core/advise/usage.h"
#include "core/model/frames.h"
#include "core/model/objects.h"

/*
 * Share of the possible gain that is surely reached, by what the holder did meanwhile. It ran: as
 * in rule_imbalance.c. It was asleep or late, which means without a processor yet: as in
 * core/locks/lock_bounds.c, since another lock may be next.
 */
#define USUAL_RUNNING 0.65
#define USUAL_ASLEEP  0.8
#define USUAL_LATE    0.5

/*
 * Time in which the lock kept these threads from running: while one ran, while one was ready
 * (late), while none could run (asleep).
 */
struct kept {
	double running, late, asleep;
	double most_running; /* and the time in which quartzd had the processor of another one */
};

static struct kept kept_of(const struct qz_report *r, const struct qz_parking *parking,
			   const struct qz_usage *u, double overlap)
{
	struct kept kept = {0};
	double share;

	if (r->serial_ns) {
		share = (double)parking->alone_ns / (double)r->serial_ns;
		kept.running = share * (double)r->serial_ns * u->wanting;
		kept.late = share * ((double)u->alone_ns - (double)r->serial_ns * u->wanting);
		kept.most_running = kept.running + share * (double)(u->most_alone_ns - u->alone_ns);
	}
	if (r->idle_ns)
		kept.asleep = (double)parking->idle_ns / overlap / (double)r->idle_ns *
			      (double)u->idle_ns;
	if (kept.asleep > (double)u->idle_ns)
		kept.asleep = (double)u->idle_ns;
	return kept;
}

/*
 * Elapsed time of the code that wakes and goes to sleep there; 0 for waits in poll, whose object is
 * not known.
 */
static double code_of(const struct qz_report *r, uint32_t object)
{
	const struct qz_object_row *row = qz_report__object(r, object);

	return row ? (double)row->cost.lock_ns : 0;
}

/*
 * Bounds of the gain. `queue` threads wait on average, and one has the lock: each has an equal
 * share of the time in which none or a late one runs, and independent threads would spend it at the
 * same time. Running time would be divided among the processors that other programs leave. Low: all
 * waits overlap, so that threads wait for the shortest part of the time. High: the waits follow one
 * another, and a woken thread waits until it runs. What the longest thread runs is left, without
 * the code of the hand-overs.
 */
static struct qz_bounds bounds_of(const struct qz_report *r, const struct qz_parking *parking,
				  double queue)
{
	double ran = (double)qz_scope__running_ns(&r->profile->scopes[r->scope]);
	double waited = (double)parking->waited_ns, late = waited + (double)parking->late_ns;
	double overlap = queue / (queue + 1), code = code_of(r, parking->object);
	double busy, sure, widest, mine, longest, high;
	struct qz_bounds b;
	struct qz_usage u;
	struct kept kept;

	qz_usage__find(r, &u);
	kept = kept_of(r, parking, &u, overlap);
	busy = kept.running + kept.late + kept.asleep;
	sure = busy > 0 ? fmin(1, waited / (parking->threads - 1) / busy) : 1;
	widest = fmin(1 - 1.0 / u.processors, overlap > 0.5 ? overlap : 0.5);
	overlap = u.processors < queue + 1 ? 1 - 1.0 / u.processors : overlap;
	mine = (double)u.taken_ns > ran ? ran / (ran + (double)u.taken_ns) : 1;
	b.low_ns =
		(uint64_t)(sure * (USUAL_RUNNING * overlap * mine * kept.running +
				   queue / (queue + 1) *
					   (USUAL_ASLEEP * kept.asleep + USUAL_LATE * kept.late)));
	high = busy > 0 ? fmin(1, late / busy) : 1;
	high *= widest * mine * kept.most_running + queue / (queue + 1) * kept.late + kept.asleep;
	longest = (double)parking->longest_ns - code / parking->threads;
	b.high_ns = (uint64_t)fmin(high + code * (1 - widest), (double)r->elapsed_ns - longest);
	return b;
}

/*
 * The number of waiting tasks is not known; there are assumed to be enough for all processors. A
 * thread that runs alone without the lock keeps the others from it, too, since it takes the lock
 * again before a waiter has been woken. At most that time is divided as well, and no hand-over is
 * left.
 */
static struct qz_bounds bounds_of_tasks(const struct qz_report *r, const struct qz_parking *parking)
{
	double low, high, share;
	struct qz_usage u;

	qz_usage__find(r, &u);
	share = r->serial_ns ? (1 - 1 / u.width) / (double)r->serial_ns : 0;
	low = USUAL_RUNNING * share * (double)u.alone_ns * (double)parking->alone_ns;
	high = share * (double)u.most_alone_ns * (double)parking->takers_alone_ns;
	return qz_bounds__within(r, (struct qz_bounds) {(uint64_t)low,
							(uint64_t)high + parking->handing_ns});
}

/*
 * The language that has this lock to run one thread at a time: it has no name, and a futex word for
 * each thread. NULL: none.
 */
static const struct qz_language *language_of(const struct qz_profile *p,
					     const struct qz_parking *parking)
{
	for (uint32_t i = 0; i < p->nwaits; i++) {
		struct qz_frames frames = {.profile = p, .node = p->waits[i].node};
		uint32_t frame;

		if (parking->object == QZ_NONE || p->waits[i].object != parking->object)
			continue;
		while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
			const struct qz_language *l = qz_language__of(&p->procedures[frame]);

			if (l && l->lock)
				return l;
		}
	}
	return NULL;
}

static void say_what(struct qz_finding *f, const struct qz_report *r,
		     const struct qz_parking *parking, double queue)
{
	const struct qz_procedure *procedures = r->profile->procedures;
	char place[QZ_SHORT_NAME], sleeper[QZ_SHORT_NAME + 3] = "at a word of its own";
	char *label;

	qz_finding__shorten(place, qz_language__call(&procedures[parking->place]));
	if (parking->object == QZ_NONE) {
		qz_finding__shorten(strcpy(sleeper, "in ") + 3, procedures[parking->sleeper].name);
	} else if (r->profile->objects[parking->object].grouped == 1) {
		label = qz_objects__label(&r->profile->objects[parking->object]);
		f->failed |= !label;
		qz_finding__shorten(strcpy(sleeper, "at ") + 3, label ?: "");
		free(label);
	}
	qz_finding__say(f, &f->what,
			"%u threads wait for a lock that %s takes, %.1f of them on average: each "
			"sleeps %s until the one that has it wakes %s.",
			parking->threads, place, queue, sleeper,
			parking->object == QZ_NONE ? "it" : "one of them");
	if (parking->waker != QZ_NONE)
		qz_finding__say(f, &f->where, "taken in %s, let go of in %s",
				qz_language__call(&procedures[parking->place]),
				procedures[parking->waker].name);
	else
		qz_finding__say(f, &f->where, "taken in %s",
				qz_language__call(&procedures[parking->place]));
	qz_finding__say(f, &f->remedy,
			"hold it for less time, or give each part of the data (each row, each key) "
			"a lock of its own: the stacks of these waits tell which one it is");
}

static void say_language(struct qz_finding *f, const struct qz_parking *parking,
			 const struct qz_language *language)
{
	qz_finding__say(f, &f->what, "%u threads run one at a time: %s.", parking->threads,
			language->lock);
	qz_finding__say(f, &f->remedy, "%s", language->unlock);
}

static void say_tasks(struct qz_finding *f, const struct qz_report *r,
		      const struct qz_parking *parking)
{
	const struct qz_procedure *procedures = r->profile->procedures;

	qz_finding__say(f, &f->what,
			"Goroutines wait for a mutex that %s holds: what it runs has one thread "
			"%.0f%% of the time, and no other one could run.",
			f->shown, qz_finding__percent(r, parking->alone_ns));
	qz_finding__say(f, &f->where, "let go of in %s", procedures[parking->waker].name);
	qz_finding__prove(f, "report", procedures[parking->waker].name,
			  "a thread was woken %llu times there to run one that waited; how many "
			  "wait, Go's mutex profile tells",
			  (unsigned long long)parking->waits);
	qz_finding__say(f, &f->remedy,
			"hold it for less time, give each part of the data a mutex of its own, or "
			"each goroutine its own copy");
}

static void prove(struct qz_finding *f, const struct qz_report *r, const struct qz_parking *parking,
		  const char *name)
{
	const struct qz_profile *p = r->profile;

	qz_finding__prove(
		f, "report", name,
		"they slept there %llu times, %.2f s all together; %.0f%% of the wake-ups "
		"are theirs",
		(unsigned long long)parking->waits, (double)parking->waited_ns / 1e9,
		100 * parking->woken);
	if (parking->alone_ns >= r->elapsed_ns / 50)
		qz_finding__prove(f, "threads", NULL,
				  "only one of them could run %.0f%% of the time",
				  qz_finding__percent(r, parking->alone_ns));
	if (parking->idle_ns >= r->elapsed_ns / 50 && parking->asleep_in != QZ_NONE)
		qz_finding__prove(f, "report", p->procedures[parking->asleep_in].name,
				  "nothing ran %.0f%% of the time; who has it may wait in %s (%s)",
				  qz_finding__percent(r, r->idle_ns),
				  p->procedures[parking->asleep_in].name,
				  p->causes[parking->asleep_cause]);
}

static int add_tasks(const struct qz_report *r, struct qz_advice *a,
		     const struct qz_parking *parking)
{
	struct qz_finding f = qz_finding__about("parked", r, QZ_SUBJECT_PROCEDURE, parking->place);
	struct qz_bounds b = bounds_of_tasks(r, parking);

	f.word = "CONTENDED";
	f.gain_low_ns = b.low_ns;
	f.gain_high_ns = b.high_ns;
	f.lost = QZ_LOST_SERIAL;
	say_tasks(&f, r, parking);
	return qz_advise__add(a, &f);
}

int qz_rule__parked(const struct qz_report *r, struct qz_advice *a)
{
	struct qz_parking parking;
	struct qz_finding f;
	struct qz_bounds b;
	double queue;
	const struct qz_language *language;
	bool found;
	int err = r->elapsed_ns ? qz_parking__find(r, &parking, &found) : 0;

	if (err || !r->elapsed_ns || !found)
		return err;
	if (!parking.threads)
		return add_tasks(r, a, &parking);
	language = language_of(r->profile, &parking);
	if (parking.place == QZ_NONE && !language)
		return 0;
	f = parking.object == QZ_NONE
		    ? qz_finding__about("parked", r, QZ_SUBJECT_CAUSE, parking.cause)
		    : qz_finding__about("parked", r, QZ_SUBJECT_OBJECT, parking.object);
	f.word = "CONTENDED";
	queue = (double)parking.waited_ns / (double)r->elapsed_ns;
	b = bounds_of(r, &parking, queue);
	f.gain_low_ns = b.low_ns;
	f.gain_high_ns = b.high_ns;
	f.lost = QZ_LOST_SERIAL | QZ_LOST_IDLE;
	if (language)
		say_language(&f, &parking, language);
	else
		say_what(&f, r, &parking, queue);
	prove(&f, r, &parking,
	      parking.object == QZ_NONE ? r->profile->procedures[parking.sleeper].name
					: f.subject.name);
	return qz_advise__add(a, &f);
}
