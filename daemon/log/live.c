// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/log/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/bits.h"
#include "core/util/order.h"
#include "core/util/vec.h"
#include "daemon/log/live_groups.h"
#include "quartz/candidates.h"

#define YOUTH	       1000000000ull /* ns */
#define KERNEL_PROCESS 2

_Static_assert(REPLAY_LENGTHS == QZ_LENGTHS, "lengths of queues");
_Static_assert((int)REPLAY_RUNNING == (int)QZ_RUNNING && (int)REPLAY_READY == (int)QZ_READY &&
		       (int)REPLAY_BLOCKED == (int)QZ_BLOCKED &&
		       (int)REPLAY_STATES == (int)QZ_THREAD_STATES,
	       "states of threads");

/* What the table of figures was given of an object. */
struct told {
	uint64_t wakes, in_vain, beyond_ns;
	uint64_t ns[REPLAY_LENGTHS], arrivals[REPLAY_LENGTHS];
};

struct live {
	struct bpf_runtime *bpf;
	struct replay *replay;
	struct replay_stream *stream;
	struct log_reader *reader;
	uint32_t *scopes; /* of the replay, by number; REPLAY_NONE: none */
	struct live_groups *groups;
	struct live_group_place *folded; /* by scope of the replay; serial 0: it is its own */
	uint32_t nfolded;
	struct told *told; /* by object of the replay */
	uint32_t ntold;
	struct qz_thread_event *ended; /* without waits */
	uint32_t nended;
	uint32_t *gone; /* scopes that have ended */
	uint32_t ngone;
	uint64_t *idle; /* of each processor since its log began, as the replay had it last */
	uint64_t until;
	bool started, finished, woken;
	uint64_t nameless;
	uint8_t candidates[QZ_OBJECT_SLOTS +
			   1]; /* candidate + 1, by the object's number; 0: none */
	int err;
};

static void end_scope(struct live *l, uint32_t number, uint64_t when)
{
	struct qz_scope_state *s = bpf_scopes__state(l->bpf, number);

	__atomic_store_n(&s->alive, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->ended, when, __ATOMIC_SEQ_CST);
	bpf_scopes__mark_ended(l->bpf, number);
	if (qz_array__reserve((void **)&l->gone, l->ngone, sizeof(*l->gone)))
		l->err = -ENOMEM;
	else
		l->gone[l->ngone++] = number;
}

/* ---- what the replay tells ---- */

static void take_scope(void *context, uint32_t scope, uint32_t number)
{
	struct live *l = context;

	if (number >= bpf_runtime__max_scopes(l->bpf))
		return;
	l->scopes[number] = scope;
	if (scope == REPLAY_NONE)
		end_scope(l, number, l->until);
}

static void take_image(void *context, uint32_t image, uint32_t scope)
{
	struct live *l = context;
	const struct replay_scope *s = replay__scope(l->replay, scope);

	if (s)
		live_groups__know(l->groups, s->unit, image);
}

/* A thread runs on a processor at its level, whatever was not seen. */
static uint64_t at_least_one(uint32_t level)
{
	return !level ? 1 : level < QZ_MAX_LEVEL ? level : QZ_MAX_LEVEL;
}

/*
 * Whether a sample is of the thread that the log has at its number. A state is made before its IDENTITY is written, and a
 * sample may come between the two: then the log knows no serial yet.
 */
static bool is_of(const struct qz_sample_record *sample, const struct replay_thread *t)
{
	return t && (!t->number || t->number == QZ_SAMPLE_SERIAL(sample->key));
}

static void take_sample(void *context, uint32_t cpu, const struct qz_log_record *record,
			const struct replay_moment *moment)
{
	struct live *l = context;
	struct qz_sample_record *sample = bpf_runtime__sample(
		l->bpf, record->state & QZ_LOG_SAMPLED_BUFFER, cpu, record->other);
	const struct replay_object *held;

	if (!sample || !is_of(sample, moment->thread) || QZ_SAMPLE_LEVEL(sample->key))
		return;
	sample->key |= QZ_SAMPLE_KEY(0, at_least_one(moment->level), 0);
	if (bpf_runtime__follows_all(l->bpf))
		sample->machine = (uint16_t)at_least_one(moment->machine);
	sample->woken = (uint16_t)moment->thread->woken;
	if (moment->in_block)
		sample->flags |= QZ_RECORD_IN_BLOCK;
	if (moment->held == REPLAY_NONE || sample->flags & QZ_RECORD_SPINNING)
		return;
	held = replay__object(l->replay, moment->held);
	sample->object = held ? (uint16_t)held->number : 0;
}

static void take_held(void *context, uint32_t cpu, const struct qz_log_record *record,
		      uint32_t object)
{
	struct live *l = context;
	struct qz_sample_record *sample = bpf_runtime__sample(
		l->bpf, record->state & QZ_LOG_SAMPLED_BUFFER, cpu, record->other);
	const struct replay_object *held = replay__object(l->replay, object);

	if (sample && held && is_of(sample, replay__thread(l->replay, record->tid)) &&
	    !(sample->flags & QZ_RECORD_SPINNING))
		sample->object = (uint16_t)held->number;
}

/* ---- making ---- */

struct live *live__new(struct bpf_runtime *bpf, int fd, const struct live_options *asked)
{
	struct replay_options options = {
		.processors = log_reader__processors(bpf),
		.online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.every_process = bpf_runtime__follows_all(bpf),
		.filtered = bpf_runtime__is_contained(bpf),
		.woken = asked->woken,
		.what_if = asked->what_if,
	};
	uint32_t n = bpf_runtime__max_scopes(bpf);
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->bpf = bpf;
	l->woken = asked->woken;
	options.calls = (struct replay_calls) {.context = l,
					       .sampled = take_sample,
					       .held = take_held,
					       .image = take_image,
					       .scope = take_scope};
	l->replay = replay__new(&options);
	l->stream = l->replay ? replay_stream__new(l->replay, options.processors) : NULL;
	l->reader = l->stream ? log_reader__new(bpf, l->stream, fd) : NULL;
	l->scopes = malloc(n * sizeof(*l->scopes));
	l->groups = live_groups__new(bpf);
	l->idle = calloc(bpf_runtime__processors(bpf), sizeof(*l->idle));
	if (l->reader && l->scopes && l->groups && l->idle) {
		memset(l->scopes, 0xff, n * sizeof(*l->scopes));
		return l;
	}
	live__free(l);
	errno = ENOMEM;
	return NULL;
}

void live__free(struct live *l)
{
	if (!l)
		return;
	log_reader__free(l->reader);
	replay_stream__free(l->stream);
	replay__free(l->replay);
	live_groups__free(l->groups);
	free(l->scopes);
	free(l->folded);
	free(l->told);
	free(l->ended);
	free(l->gone);
	free(l->idle);
	free(l);
}

/* A scope that is open in BPF, whose process has been found. */
static int open_scope(struct live *l, uint32_t scope, bool is_command)
{
	const struct qz_scope_state *state = bpf_scopes__state(l->bpf, scope);
	uint32_t flags = (state->follows ? QZ_LOG_FOLLOWS : 0) | (is_command ? QZ_LOG_COMMAND : 0);
	int64_t index = replay__open_scope(l->replay, state->process, state->follows, l->until);

	if (index < 0)
		return (int)index;
	replay__number_scope(l->replay, (uint32_t)index, scope);
	return log_reader__add_scope(l->reader, state->process, flags, l->until);
}

int live__find(struct live *l)
{
	uint64_t now = bpf_runtime__now();

	for (uint32_t cpu = 0; cpu < bpf_runtime__processors(l->bpf); cpu++) {
		struct qz_cpu_state *state = &bpf_runtime__cpus(l->bpf)[cpu];

		state->idle_ns = state->idle_since ? now - state->idle_since : 0;
		state->idle_since = 0;
	}
	l->until = now;
	return log_reader__find(l->reader);
}

int live__start(struct live *l, uint32_t nscopes, bool is_command)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < nscopes; i++)
		err = open_scope(l, i, is_command);
	err = err ?: log_reader__start(l->reader);
	l->started = !err;
	return err ?: live__advance(l);
}

/* ---- publishing ---- */

static void publish_scope(struct live *l, uint32_t number, const struct replay_scope *s)
{
	struct qz_scope_state *to = bpf_scopes__state(l->bpf, number);

	if (bpf_scopes__set_levels(l->bpf, number, s->level_ns, s->nlevels))
		l->err = -ENOMEM;
	to->began = s->began;
	memcpy(to->ended_ns, s->ns, sizeof(to->ended_ns));
	to->ended_cpu = s->account_ns;
	to->counters.threads_seen = s->threads;
	to->counters.threads_started = s->threads_started;
	to->counters.processes_started = s->processes_started;
	to->counters.events_in_vain = s->events_in_vain;
	to->counters.events_shared = s->events_shared;
	memcpy(to->counters.grain, s->grain, sizeof(s->grain));
	to->counters.transfers = s->transfers;
	to->woken_ns = s->woken_ns;
	to->runnable = s->runnable;
	__atomic_store_n(&to->alive, s->alive, __ATOMIC_SEQ_CST);
	__atomic_store_n(&to->running, s->since << QZ_LEVEL_BITS | s->running, __ATOMIC_SEQ_CST);
	if (bpf_scopes__youth(l->bpf, number) == QZ_YOUNG &&
	    (s->threads > 1 || l->until - s->began >= YOUTH))
		bpf_scopes__grow(l->bpf, number);
	if (s->ended && !to->ended)
		end_scope(l, number, s->ended);
	else if (!s->ended)
		__atomic_store_n(&to->ended, 0, __ATOMIC_SEQ_CST);
}

static void publish_scopes(struct live *l)
{
	for (uint32_t i = 0; i < bpf_runtime__max_scopes(l->bpf); i++) {
		const struct replay_scope *s =
			l->scopes[i] == REPLAY_NONE ? NULL : replay__scope(l->replay, l->scopes[i]);

		if (s)
			publish_scope(l, i, s);
	}
	if (bpf_runtime__follows_all(l->bpf))
		publish_scope(l, QZ_SCOPE_OF_MACHINE, replay__machine(l->replay));
}

static uint64_t idle_of(const struct live *l, uint32_t cpu)
{
	uint64_t since, ended = replay__idle_ns(l->replay, cpu, &since);

	return ended + (since && since < l->until ? l->until - since : 0);
}

static void publish_processors(struct live *l)
{
	struct qz_cpu_state *cpus = bpf_runtime__cpus(l->bpf);

	for (uint32_t i = 0; i < bpf_runtime__processors(l->bpf); i++) {
		const struct qz_log_head *head = bpf_log__of(l->bpf, i);
		const struct qz_log_costs *costs = (const struct qz_log_costs *)(head + 1);
		uint64_t idle = idle_of(l, i);

		if (!cpus[i].offline)
			cpus[i].idle_ns += idle - l->idle[i];
		l->idle[i] = idle;
		cpus[i].idle_since = 0;
		cpus[i].calls = head->next;
		cpus[i].accounting_ns = costs->timed_ns * QZ_LOG_TIMED;
		cpus[i].wait_walks = costs->walks;
		cpus[i].walking_ns = costs->walks_ns;
	}
	cpus[0].gaps = replay__counts(l->replay)->gaps;
}

static void tell(__u64 *to, uint64_t now, uint64_t *told)
{
	__atomic_fetch_add(to, now - *told, __ATOMIC_RELAXED);
	*told = now;
}

static void publish_object(struct live *l, const struct replay_object *o, struct told *told)
{
	struct qz_object_figures *f = &bpf_runtime__object_figures(l->bpf)[o->number - 1];

	for (uint32_t i = 0; i < REPLAY_LENGTHS; i++) {
		tell(&f->lengths[i].ns, o->length_ns[i], &told->ns[i]);
		tell(&f->lengths[i].arrivals, o->arrivals[i], &told->arrivals[i]);
	}
	tell(&f->wakes, o->wakes, &told->wakes);
	tell(&f->in_vain, o->in_vain, &told->in_vain);
	tell(&f->beyond_ns, o->beyond_ns, &told->beyond_ns);
	bpf_runtime__objects(l->bpf)[o->number - 1].refs = o->waiters;
}

/*
 * An object goes that no thread waits for any more, and whose number may soon be another one's; all its figures were passed
 * on.
 */
static int publish_objects(struct live *l)
{
	uint32_t n = replay__objects(l->replay);

	while (l->ntold < n) {
		if (qz_array__reserve((void **)&l->told, l->ntold, sizeof(*l->told)))
			return -ENOMEM;
		l->told[l->ntold++] = (struct told) {0};
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct replay_object *o = replay__object(l->replay, i);

		if (!o)
			l->told[i] = (struct told) {0};
		else if (o->number && o->number <= QZ_OBJECT_SLOTS)
			publish_object(l, o, &l->told[i]);
	}
	return 0;
}

/* ---- threads ---- */

static bool describe(struct live *l, const struct replay_thread *t, struct qz_thread_event *e)
{
	const struct replay_scope *s = t->scope == REPLAY_NONE ? NULL
							       : replay__scope(l->replay, t->scope);

	*e = (struct qz_thread_event) {
		.event = {.type = QZ_EVENT_THREAD_END, .length = sizeof(*e), .time = t->since},
		.serial = t->number,
		.state = t->ended ? QZ_DEAD : t->state,
		.scope = s && s->number != REPLAY_NONE ? s->number : QZ_NO_SCOPE,
		.image = t->image,
		.tid = (int32_t)(t->told_tid ?: t->tid),
		.tgid = (int32_t)(t->told_process ?: t->process),
		.seen = t->began,
		.since = t->since,
		.cpu = t->account_ns ?: t->ns[REPLAY_RUNNING],
		.loop = t->loop,
		.transfers = t->transfers,
	};
	memcpy(e->ns, t->ns, sizeof(e->ns));
	memcpy(e->comm, t->comm, sizeof(e->comm));
	return e->serial && e->scope != QZ_NO_SCOPE;
}

/* The scope's number goes back when it is known to whom what was sampled of it belongs. */
static bool leave_scope(struct live *l, uint32_t number, const struct live_group_place *place,
			uint64_t when)
{
	if (!bpf_scopes__fold(l->bpf, number, place->scope))
		return false;
	l->scopes[number] = REPLAY_NONE;
	end_scope(l, number, when);
	return true;
}

/* Room for what became of each scope of the replay. */
static bool make_places(struct live *l)
{
	while (l->nfolded < replay__scopes(l->replay)) {
		if (qz_array__reserve((void **)&l->folded, l->nfolded, sizeof(*l->folded)))
			return false;
		l->folded[l->nfolded++] = (struct live_group_place) {0};
	}
	return true;
}

/* A process that was never reported to quartzd, or that lived for a moment. */
static bool is_passing(const struct live *l, const struct replay_scope *s)
{
	if (!bpf_runtime__follows_all(l->bpf) || s->process == KERNEL_PROCESS || s->follows ||
	    s->threads != 1)
		return false;
	return s->number == REPLAY_NONE ||
	       (bpf_scopes__youth(l->bpf, s->number) == QZ_YOUNG && l->until - s->began < YOUTH);
}

/* Its only thread has ended, or is in its final state. False: it is a scope of its own. */
static bool fold(struct live *l, const struct replay_thread *t)
{
	const struct replay_scope *s = replay__scope(l->replay, t->scope);
	struct live_group_place place;
	uint32_t scope = t->scope, number;

	if (!s || !is_passing(l, s) || !make_places(l))
		return false;
	number = s->number;
	if (live_groups__find(l->groups, s, t, &place))
		return number == REPLAY_NONE;
	/* it may have got a page set at this moment: another thread makes it a scope of its own for that */
	if (number != REPLAY_NONE && !leave_scope(l, number, &place, t->since))
		return false;
	if (live_groups__add(l->groups, &place, s, t))
		l->err = -ENOMEM;
	l->folded[scope] = place;
	if (t->ended)
		replay__drop_scope(l->replay, scope);
	return true;
}

static void keep_ended(void *context, const struct replay_thread *t)
{
	struct live *l = context;
	struct qz_thread_event e;

	if (t->scope == REPLAY_NONE || fold(l, t))
		return;
	if (!describe(l, t, &e))
		l->nameless++;
	else if (qz_array__reserve((void **)&l->ended, l->nended, sizeof(*l->ended)))
		l->err = -ENOMEM;
	else
		l->ended[l->nended++] = e;
}

static int by_end(const void *a, const void *b)
{
	const struct qz_thread_event *x = a, *y = b;

	return qz_order(x->since, y->since) ?: qz_order(x->serial, y->serial);
}

void live__take_ended(struct live *l, uint64_t until, bpf_scopes_thread *call, void *context)
{
	uint32_t n = 0;

	qsort(l->ended, l->nended, sizeof(*l->ended), by_end);
	while (n < l->nended && l->ended[n].since <= until)
		call(context, &l->ended[n++]);
	memmove(l->ended, l->ended + n, (l->nended - n) * sizeof(*l->ended));
	l->nended -= n;
}

void live__take_groups(struct live *l, live_group *call, void *context)
{
	live_groups__take(l->groups, call, context);
}

void live__take_ended_scopes(struct live *l, live_scope *call, void *context)
{
	for (uint32_t i = 0; i < l->ngone; i++)
		call(context, l->gone[i], bpf_scopes__state(l->bpf, l->gone[i])->ended);
	l->ngone = 0;
}

static bool is_folded(const struct live *l, uint32_t scope)
{
	return scope < l->nfolded && l->folded[scope].serial;
}

struct each_alive {
	struct live *live;
	bpf_scopes_thread *call;
	void *context;
};

/* Who was in a report is a scope of its own from then on. */
static void give_alive(void *context, const struct replay_thread *t)
{
	struct each_alive *each = context;
	struct live *l = each->live;
	struct qz_thread_event e;

	if (t->ended || is_folded(l, t->scope) || !describe(l, t, &e))
		return;
	if (bpf_scopes__youth(l->bpf, e.scope) == QZ_YOUNG)
		bpf_scopes__grow(l->bpf, e.scope);
	each->call(each->context, &e);
}

void live__each_alive(struct live *l, bpf_scopes_thread *call, void *context)
{
	struct each_alive each = {l, call, context};

	replay__each_thread(l->replay, give_alive, &each);
}

/* ---- time ---- */

static int advance(struct live *l, uint64_t until)
{
	int err = replay_stream__advance(l->stream, until);

	if (err)
		return err;
	replay__advance(l->replay, until);
	l->until = until;
	replay__each_ended(l->replay, keep_ended, l);
	replay__drop_ended(l->replay);
	publish_scopes(l);
	publish_processors(l);
	err = publish_objects(l);
	return err ?: l->err;
}

int live__advance(struct live *l)
{
	int err;

	if (!l->started || l->finished)
		return 0;
	err = advance(l, log_reader__begin(l->reader));
	log_reader__end(l->reader);
	return err;
}

int live__look(struct live *l, bool at_end)
{
	return l->started && !l->finished ? log_reader__look(l->reader, at_end) : 0;
}

uint64_t live__until(const struct live *l)
{
	return l->until;
}

/* Folds threads of processes that were not reported by then. */
static void fold_rest(void *context, const struct replay_thread *t)
{
	const struct live *l = context;
	const struct replay_scope *s = t->scope == REPLAY_NONE ? NULL
							       : replay__scope(l->replay, t->scope);

	if (!t->ended && s && s->number == REPLAY_NONE)
		fold(context, t);
}

int live__finish(struct live *l, uint64_t until)
{
	int err;

	if (!l->started || l->finished)
		return 0;
	err = log_reader__finish(l->reader, until);
	l->finished = true;
	err = advance(l, until) ?: err;
	replay__each_thread(l->replay, fold_rest, l);
	return err;
}

int live__restart_scope(struct live *l, uint32_t scope)
{
	const struct replay_scope *s;
	int err = live__advance(l);

	if (err)
		return err;
	s = replay__scope(l->replay, l->scopes[scope]);
	err = log_reader__add_scope(l->reader, s->process,
				    QZ_LOG_AGAIN | (s->follows ? QZ_LOG_FOLLOWS : 0), l->until);
	replay__restart_scope(l->replay, l->scopes[scope], l->until);
	return err ?: live__advance(l);
}

void live__drop_scope(struct live *l, uint32_t scope)
{
	if (l->scopes[scope] != REPLAY_NONE)
		replay__drop_scope(l->replay, l->scopes[scope]);
	l->scopes[scope] = REPLAY_NONE;
}

/* ---- waits ---- */

struct each_wait {
	struct live *live;
	live_take_wait *call;
	void *context;
};

static uint32_t number_of_scope(const struct live *l, uint32_t scope)
{
	const struct replay_scope *s = replay__scope(l->replay, scope);

	return s && s->number != REPLAY_NONE ? s->number : QZ_NO_SCOPE;
}

static void give_wait(void *context, const struct replay_wait *w)
{
	struct each_wait *each = context;
	struct live_wait to = {
		.serial = w->number,
		.stack = QZ_LOG_STACK(w->place) ?: w->cause,
		.object = QZ_LOG_OBJECT(w->place),
		.nominal = w->nominal,
		.count = w->count ?: 1,
		.blocked_ns = w->blocked_ns,
		.ready_ns = w->ready_ns,
		.variance = w->variance,
		.handed = w->handed,
	};

	if (w->scope == REPLAY_NONE)
		return;
	if (is_folded(each->live, w->scope)) { /* objects are of a scope of its own */
		to.scope = each->live->folded[w->scope].scope;
		to.serial = each->live->folded[w->scope].serial;
		to.object = 0;
	} else {
		to.scope = number_of_scope(each->live, w->scope);
	}
	/* no serial: a thread whose IDENTITY is to come, or will not, and is counted as nameless */
	if (to.scope != QZ_NO_SCOPE && to.serial)
		each->call(each->context, &to);
}

/*
 * The waker is known if it woke on purpose and is of the scope. A wait in poll has no object, but a thread may wait there
 * for what another thread does.
 */
static void give_wakeup(void *context, const struct replay_wakeup *w)
{
	struct each_wait *each = context;
	const struct replay_object *o =
		w->object == REPLAY_NONE ? NULL : replay__object(each->live->replay, w->object);
	struct live_wait to = {
		.serial = w->number,
		.stack = QZ_LOG_STACK(w->place) ?: QZ_WAIT_RUNNING,
		.object = o ? o->number : 0,
		.nominal = QZ_WAKING,
		.count = w->count,
		.blocked_ns = w->woken_ns,
	};

	if (!each->live->woken && !to.object)
		to.count = w->polls;
	if (w->scope == REPLAY_NONE || (!each->live->woken && (!w->number || !to.count)))
		return;
	to.scope = number_of_scope(each->live, w->scope);
	if (to.scope != QZ_NO_SCOPE)
		each->call(each->context, &to);
}

void live__each_wait(struct live *l, live_take_wait *call, void *context)
{
	struct each_wait each = {l, call, context};

	replay__each_wait(l->replay, give_wait, &each);
	replay__each_wakeup(l->replay, give_wakeup, &each);
}

void live__each_open_wait(struct live *l, live_take_wait *call, void *context)
{
	struct each_wait each = {l, call, context};

	replay__each_open_wait(l->replay, give_wait, &each);
}

void live__forget_waits(struct live *l)
{
	replay__clear_waits(l->replay, l->finished);
	for (uint32_t i = 0; i < l->nfolded; i++)
		if (!replay__scope(l->replay, i))
			l->folded[i] = (struct live_group_place) {0};
}

/* ---- what if ---- */

_Static_assert(QZ_CANDIDATES == REPLAY_CANDIDATES, "candidates");

int live__know_candidate(struct live *l, uint32_t candidate)
{
	int err = live__advance(l);

	replay__know_candidate(l->replay, candidate);
	return err;
}

void live__set_candidate_object(struct live *l, uint32_t number, uint32_t candidate)
{
	l->candidates[number] = (uint8_t)(candidate < QZ_CANDIDATES ? candidate + 1 : 0);
}

/* What an object is matters at the end alone: by then all those of its number are there. */
static int name_objects(struct live *l)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < replay__objects(l->replay); i++) {
		const struct replay_object *o = replay__object(l->replay, i);

		if (o && o->number <= QZ_OBJECT_SLOTS && l->candidates[o->number])
			err = replay__set_candidate_object(l->replay, i,
							   l->candidates[o->number] - 1u);
	}
	return err;
}

int live__what_if(struct live *l, uint32_t scope, struct replay_what_if *w)
{
	int err = l->scopes[scope] == REPLAY_NONE ? -ENOENT : name_objects(l);

	return err ?: replay__what_if(l->replay, l->scopes[scope], w);
}

void live__set_windows(struct live *l, uint32_t halvings)
{
	log_reader__set_windows(l->reader, halvings);
}

struct live_figures live__figures(const struct live *l)
{
	return (struct live_figures) {
		.reader = log_reader__figures(l->reader),
		.replay = *replay__counts(l->replay),
		.refused = replay_stream__refused(l->stream),
		.off_ns = replay__off_ns(l->replay),
		.nameless = l->nameless,
	};
}
