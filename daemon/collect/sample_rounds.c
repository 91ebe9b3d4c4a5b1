// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/sample_rounds.h"

#include <errno.h>
#include <stdlib.h>

#include "core/util/order.h"
#include "daemon/collect/missed_instants.h"

#define OFF                                                                                        \
	25000 /* ns; a timer that is on average as far from those of others was not started in time */
#define LATE	    500000 /* a sample that is as late is not its timer's fault */
#define OFF_SAMPLES 16	   /* to say so */
#define MOST_PAUSE  64	   /* buffers until timers are checked again */
#define TIME_MASK   0x3fffffffu

struct verdict {
	struct spin_verdict spin;
	enum asking_stack asking;
	uint32_t scope;
	bool known;
};

struct sample_rounds {
	struct sample_rounds_context context;
	struct round_join *join;
	struct joined_sample *samples;
	struct round_answer *answers; /* of the last buffer */
	uint32_t nanswers;
	uint64_t off; /* times that some timers were found off */
	bool are_off;
	uint32_t pause, pause_left; /* buffers, after that */
};

/* How far the samples of a timer are from their instants. */
struct lateness {
	int64_t sum;
	uint32_t n, all; /* without and with those that are too late */
};

/* One buffer under way. */
struct taking {
	struct sample_rounds *rounds;
	const struct bpf_runtime_buffer *buffer;
	const struct timer_schedule *schedule;
	uint64_t now;
	uint32_t n;
	const struct qz_sample_record **records;
	struct timed_sample *timed; /* the same */
	struct missed_instants missed;
	struct lateness *late;	      /* of each processor, by stream */
	struct verdict *verdicts;     /* of stacks */
	struct round_answer *answers; /* of records and of missed instants */
	uint32_t nanswers;
	struct line_answer *lines; /* of answers */
};

struct sample_rounds *sample_rounds__new(const struct sample_rounds_context *context)
{
	struct sample_rounds *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->context = *context;
	r->join = round_join__new();
	if (r->join)
		return r;
	free(r);
	return NULL;
}

void sample_rounds__free(struct sample_rounds *r)
{
	if (!r)
		return;
	round_join__free(r->join);
	free(r->samples);
	free(r->answers);
	free(r);
}

/* ---- which round ---- */

static uint32_t stream_of(const struct qz_sample_record *record)
{
	return record->time & (TIMER_STREAMS - 1);
}

static uint64_t time_of(const struct taking *t, const struct qz_sample_record *record)
{
	uint32_t ago = (uint32_t)(t->now >> QZ_ROUND_SHIFT) - (record->time >> QZ_STREAM_BITS);

	return t->now - ((uint64_t)(ago & TIME_MASK) << QZ_ROUND_SHIFT);
}

/*
 * Of the last n records, those of one processor: where a timer was not started in time, a sample that comes later still is
 * taken for that of the next instant, which has its own.
 */
static void tell_apart(struct taking *t, uint32_t n)
{
	int64_t next[TIMER_STREAMS] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};

	for (uint32_t i = t->n; i > t->n - n; i--) {
		struct timed_sample *timed = &t->timed[i - 1];

		if (timed->k >= next[timed->stream])
			timed->k = next[timed->stream] - 1;
		next[timed->stream] = timed->k;
	}
}

/* Finds the instants of the records of one processor, and those that it has missed. 0 or -ENOMEM. */
static int find_instants(struct taking *t, uint32_t cpu)
{
	uint32_t n;
	const struct qz_sample_record *records =
		bpf_runtime__records(t->rounds->context.bpf, t->buffer, cpu, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t stream = stream_of(&records[i]);
		uint64_t time = time_of(t, &records[i]);
		int64_t k = timer_schedule__round(t->schedule, stream, time);
		int64_t from = (int64_t)(time - timer_schedule__instant(t->schedule, stream, k));

		t->late[cpu * TIMER_STREAMS + stream].all++;
		if (from > -LATE && from < LATE) {
			t->late[cpu * TIMER_STREAMS + stream].sum += from;
			t->late[cpu * TIMER_STREAMS + stream].n++;
		}
		t->records[t->n] = &records[i];
		t->timed[t->n++] =
			(struct timed_sample) {time, k, stream, QZ_SAMPLE_SERIAL(records[i].key)};
	}
	tell_apart(t, n);
	return missed_instants__add(&t->missed, t->schedule, &t->timed[t->n - n], n, t->n - n);
}

/* All are late by what an interrupt takes to come, which does not matter. */
static bool is_off(const struct taking *t, uint32_t stream)
{
	uint32_t processors = bpf_runtime__processors(t->rounds->context.bpf);
	int64_t least = INT64_MAX, most = INT64_MIN;

	for (uint32_t cpu = 0; cpu < processors; cpu++) {
		const struct lateness *late = &t->late[cpu * TIMER_STREAMS + stream];
		int64_t mean = late->n ? late->sum / late->n : 0;

		if (late->all >= OFF_SAMPLES && late->n < late->all / 4)
			return true;
		if (late->n < OFF_SAMPLES)
			continue;
		least = mean < least ? mean : least;
		most = mean > most ? mean : most;
	}
	return least <= most && most - least > OFF;
}

/* Where starting again does not help, it is done more and more seldom. */
static void find_off(struct taking *t)
{
	struct sample_rounds *r = t->rounds;

	r->are_off = false;
	if (r->pause_left) {
		r->pause_left--;
		return;
	}
	for (uint32_t i = 0; i < TIMER_STREAMS; i++)
		r->are_off |= is_off(t, i);
	if (!r->are_off)
		return;
	r->off++;
	r->pause = r->pause < MOST_PAUSE / 2 ? 2 * r->pause + 1 : MOST_PAUSE;
	r->pause_left = r->pause;
}

/* As they come. Of each are known its round and the record that tells it. */
static void fill_answers(const struct taking *t, struct round_answer *all)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct timed_sample *s = &t->timed[i];

		all[i] = (struct round_answer) {
			.round = timer_schedule__number(t->schedule, s->stream, s->k), .place = i};
	}
	for (uint32_t i = 0; i < t->missed.n; i++) {
		const struct missed_instant *m = &t->missed.list[i];

		all[t->n + i] = (struct round_answer) {
			.round = timer_schedule__number(t->schedule, m->stream, m->k),
			.place = m->sample,
			.missed = true};
	}
}

/* In the order of rounds: a counting sort, since there can be many. */
static int sort_answers(struct taking *t, const struct round_answer *all)
{
	int64_t first = all[0].round, last = first;
	uint32_t *begin;

	for (uint32_t i = 1; i < t->nanswers; i++) {
		first = all[i].round < first ? all[i].round : first;
		last = all[i].round > last ? all[i].round : last;
	}
	begin = calloc(last - first + 2, sizeof(*begin));
	if (!begin)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nanswers; i++)
		begin[all[i].round - first + 1]++;
	for (int64_t i = 0; i < last - first; i++)
		begin[i + 1] += begin[i];
	for (uint32_t i = 0; i < t->nanswers; i++)
		t->answers[begin[all[i].round - first]++] = all[i];
	free(begin);
	return 0;
}

static int make_answers(struct taking *t)
{
	struct round_answer *all;
	int err = -ENOMEM;

	t->nanswers = t->n + t->missed.n;
	all = calloc(t->nanswers + 1ul, sizeof(*all));
	t->answers = calloc(t->nanswers + 1ul, sizeof(*t->answers));
	if (all && t->answers) {
		fill_answers(t, all);
		err = sort_answers(t, all);
	}
	free(all);
	return err;
}

/* ---- what it was ---- */

static const struct verdict *verdict_of(struct taking *t, uint32_t stack)
{
	const struct sample_rounds_context *from = &t->rounds->context;
	const struct qz_stack_slot *slot = &t->buffer->stacks[stack];
	struct verdict *v = &t->verdicts[stack];
	const struct image *image;

	if (v->known)
		return v;
	v->known = true;
	image = address_spaces__get(from->spaces, slot->image);
	v->scope = image ? image->scope : QZ_NO_SCOPE;
	if (stack_slot__used(t->buffer, slot)) {
		v->spin = spin_tracker__judge(from->tracker, t->buffer, slot);
		v->asking = asking__of(from->asking, t->buffer, slot);
	}
	return v;
}

/*
 * The sampler has decided by what it knew then. For code that needs to be confirmed and was not known then, the thread's
 * previous sample decides, which was taken in without being known, too.
 */
static bool spins(const struct qz_sample_record *record, const struct spin_verdict *v,
		  struct thread *thread)
{
	uint16_t written = v->written | (thread ? thread->loop_written : 0);
	bool same = thread && v->loop && thread->loop == v->loop &&
		    !(record->flags & QZ_RECORD_FIRST) && !(record->changed & ~written);

	if (thread) {
		thread->loop = v->loop;
		thread->loop_written = v->written;
	}
	if (record->flags & QZ_RECORD_SPINNING || v->kind == SPIN_WAITS)
		return true;
	return v->kind == SPIN_MAY_WAIT && !v->was_taught && same;
}

static bool is_late(const struct taking *t, uint32_t place)
{
	const struct timed_sample *timed = &t->timed[place];

	return (int64_t)(timed->time - timer_schedule__instant(t->schedule, timed->stream,
							       timed->k)) >= LATE_SAMPLE;
}

static void judge(struct taking *t, struct round_answer *a)
{
	const struct qz_sample_record *record = t->records[a->place];
	uint32_t serial = QZ_SAMPLE_SERIAL(record->key), stack = QZ_SAMPLE_STACK(record->key);
	static const struct verdict unknown = {.scope = QZ_NO_SCOPE};
	const struct verdict *v = stack < t->buffer->nstacks ? verdict_of(t, stack) : &unknown;
	struct thread *thread = threads__get(t->rounds->context.threads, serial);

	a->scope = v->scope;
	a->serial = serial;
	a->level = QZ_SAMPLE_LEVEL(record->key);
	a->time = record->time >> QZ_STREAM_BITS;
	a->machine = record->machine;
	a->spinning = spins(record, &v->spin, thread);
	if (thread && asking__takes(thread, v->asking, record->woken))
		a->spinning = true;
	if (thread && around__takes(thread, &v->spin.around))
		a->spinning = true;
	a->late = is_late(t, a->place);
	a->spot = !a->spinning ? 0 : v->spin.loop ?: record->object;
}

/* Those of missed instants are what the late ones are. */
static int judge_all(struct taking *t)
{
	const struct round_answer **of =
		calloc(t->n ? t->n : 1, sizeof(const struct round_answer *));

	if (!of)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nanswers; i++)
		if (!t->answers[i].missed) {
			judge(t, &t->answers[i]);
			of[t->answers[i].place] = &t->answers[i];
		}
	for (uint32_t i = 0; i < t->nanswers; i++) {
		struct round_answer *a = &t->answers[i];
		int64_t round = a->round;

		if (!a->missed)
			continue;
		*a = *of[a->place];
		a->round = round;
		a->late = a->missed = true;
	}
	free(of);
	return 0;
}

/* ---- shared lines ---- */

/* A number that other code has meanwhile tells nothing. */
static void find_line(struct taking *t, uint32_t i)
{
	const struct round_answer *a = &t->answers[i];
	const struct qz_sample_record *record = t->records[a->place];
	uint32_t stack = QZ_SAMPLE_STACK(record->key);
	struct line_answer *line = &t->lines[i];

	line->line = LINE_NONE;
	line->serial = a->serial;
	line->time = a->time;
	line->image = stack < t->buffer->nstacks ? t->buffer->stacks[stack].image : 0;
	line->spins = a->spinning;
	line->counts = !a->missed && !a->spinning;
	if (!a->missed)
		line->line = line_samples__use(t->rounds->context.lines, t->buffer, record);
}

/* By who ran at the same instants. 0 or -ENOMEM. */
static int find_lines(struct taking *t)
{
	uint32_t n;

	t->lines = calloc(t->nanswers + 1ul, sizeof(*t->lines));
	if (!t->lines)
		return -ENOMEM;
	line_samples__begin(t->rounds->context.lines);
	for (uint32_t i = 0; i < t->nanswers; i++)
		find_line(t, i);
	for (uint32_t i = 0; i < t->nanswers; i += n) {
		for (n = 1; i + n < t->nanswers && t->answers[i + n].round == t->answers[i].round;)
			n++;
		line_samples__judge(t->rounds->context.lines, &t->lines[i], n);
	}
	return 0;
}

/* ---- samples ---- */

static int by_key(const void *a, const void *b)
{
	const struct joined_sample *x = a, *y = b;

	return qz_order(x->key, y->key)
		?: qz_order(x->object, y->object)
		?: qz_order(x->line, y->line)
		?: qz_order(x->busy, y->busy)
		?: qz_order(x->machine, y->machine)
		?: qz_order(x->machine_busy, y->machine_busy)
		?: qz_order(x->spinning, y->spinning);
}

static struct joined_sample join(const struct taking *t, uint32_t i)
{
	const struct round_answer *a = &t->answers[i];
	const struct qz_sample_record *record = t->records[a->place];
	/* of one that was found to spin only now, the object is what it holds */
	bool knew = !a->spinning || record->flags & QZ_RECORD_SPINNING;

	return (struct joined_sample) {
		.key = record->key,
		.object = knew ? record->object : 0,
		.line = t->lines[i].is_shared ? t->lines[i].line : LINE_NONE,
		.count = 1,
		.doubtful = a->doubtful,
		.in_block = !!(record->flags & QZ_RECORD_IN_BLOCK),
		.busy = a->busy,
		.machine = a->machine,
		.machine_busy = a->machine_busy,
		.spinning = a->spinning,
	};
}

/* Returns the number of those that differ. */
static int64_t make_samples(struct taking *t)
{
	struct sample_rounds *r = t->rounds;
	uint32_t n = 0;

	free(r->samples);
	r->samples = calloc(t->n ? t->n : 1, sizeof(*r->samples));
	if (!r->samples)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nanswers; i++)
		if (!t->answers[i].missed)
			r->samples[n++] = join(t, i);
	n = 0;
	qsort(r->samples, t->n, sizeof(*r->samples), by_key);
	for (uint32_t i = 0; i < t->n; i++) {
		if (n && !by_key(&r->samples[n - 1], &r->samples[i])) {
			r->samples[n - 1].count++;
			r->samples[n - 1].doubtful += r->samples[i].doubtful;
			r->samples[n - 1].in_block += r->samples[i].in_block;
		} else {
			r->samples[n++] = r->samples[i];
		}
	}
	return n;
}

/* The records go, what they have answered stays. */
static void keep_answers(struct taking *t)
{
	struct sample_rounds *r = t->rounds;

	r->nanswers = 0;
	for (uint32_t i = 0; i < t->nanswers; i++) {
		struct round_answer *a = &t->answers[i];

		if (a->missed)
			continue;
		a->place = QZ_SAMPLE_STACK(t->records[a->place]->key);
		t->answers[r->nanswers++] = *a;
	}
	r->answers = t->answers;
	t->answers = NULL;
}

/* ---- all ---- */

static int allocate(struct taking *t)
{
	uint32_t processors = bpf_runtime__processors(t->rounds->context.bpf), all = 0, n;

	for (uint32_t cpu = 0; cpu < processors; cpu++) {
		bpf_runtime__records(t->rounds->context.bpf, t->buffer, cpu, &n);
		all += n;
	}
	t->records = calloc(all + 1, sizeof(*t->records));
	t->timed = calloc(all + 1, sizeof(*t->timed));
	t->verdicts = calloc(t->buffer->nstacks, sizeof(*t->verdicts));
	t->late = calloc(processors * TIMER_STREAMS, sizeof(*t->late));
	return t->records && t->timed && t->verdicts && t->late ? 0 : -ENOMEM;
}

static int64_t take(struct taking *t)
{
	int err = allocate(t);
	int64_t made;

	for (uint32_t cpu = 0; !err && cpu < bpf_runtime__processors(t->rounds->context.bpf); cpu++)
		err = find_instants(t, cpu);
	if (err)
		return err;
	find_off(t);
	err = make_answers(t);
	err = err ?: judge_all(t);
	err = err ?: round_join__run(t->rounds->join, t->answers, t->nanswers);
	err = err ?: find_lines(t);
	if (err)
		return err;
	made = make_samples(t);
	keep_answers(t);
	return made;
}

int64_t sample_rounds__take(struct sample_rounds *r, const struct bpf_runtime_buffer *buffer,
			    const struct timer_schedule *schedule, uint64_t now,
			    struct joined_sample **samples)
{
	struct taking t = {.rounds = r, .buffer = buffer, .schedule = schedule, .now = now};
	int64_t n;

	free(r->answers);
	r->answers = NULL;
	r->nanswers = 0;
	n = take(&t);
	*samples = r->samples;
	free(t.records);
	free(t.timed);
	free(t.missed.list);
	free(t.late);
	free(t.verdicts);
	free(t.answers);
	free(t.lines);
	return n;
}

const struct round_answer *sample_rounds__answers(const struct sample_rounds *r, uint32_t *n)
{
	*n = r->nanswers;
	return r->answers;
}

bool sample_rounds__are_off(const struct sample_rounds *r)
{
	return r->are_off;
}

void sample_rounds__ledger(const struct sample_rounds *r, struct qz_ledger *ledger)
{
	const struct round_figures *f = round_join__figures(r->join);

	qz_ledger__add_event(ledger, "rounds", f->rounds);
	qz_ledger__add_event(ledger, "rounds_unanswered", f->unanswered);
	qz_ledger__add_event(ledger, "rounds_told_later", f->told_later);
	qz_ledger__add_event(ledger, "rounds_impossible", f->impossible);
	qz_ledger__add_event(ledger, "rounds_moved", f->moved);
	qz_ledger__add_event(ledger, "timers_out_of_phase", r->off);
}
