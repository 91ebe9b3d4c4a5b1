/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/core/replay/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "core/replay/merge.h"
#include "quartz/records.h"

#define NONE	   REPLAY_NONE
#define BEGAN	   1000000000ull
#define FIRST_TID  100
#define EARLY_NS   1000000
#define SITES	   40
#define LOCK_SITES 1000 /* site of a wait at object i */

uint32_t schedule__random(struct schedule *s, uint32_t n)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (uint32_t)((s->random >> 32) * n >> 32);
}

static bool one_in(struct schedule *s, uint32_t n)
{
	return schedule__random(s, n) == 0;
}

static void *more(void *array, uint32_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	array = realloc(array, (n ? 2 * n : 1) * size);
	if (!array)
		abort();
	return array;
}

/* ---- records ---- */

static void emit(struct schedule *s, uint32_t cpu, struct qz_log_record record)
{
	struct schedule_log *log = &s->logs[cpu];

	if (s->options.gaps && one_in(s, 40))
		return;
	if (log->lost_from && !log->lost_until)
		return;
	record.time = s->now + (uint64_t)log->skew;
	log->records = more(log->records, log->n, sizeof(record));
	log->records[log->n++] = record;
}

static void emit_plain(struct schedule *s, uint32_t cpu, uint8_t kind, uint32_t tid, uint32_t other,
		       uint32_t site)
{
	emit(s, cpu,
	     (struct qz_log_record) {.kind = kind, .tid = tid, .other = other, .site = site});
}

static struct schedule_process *process_of(const struct schedule *s,
					   const struct schedule_thread *t)
{
	return &s->processes[t->process];
}

static struct schedule_scope *scope_of(const struct schedule *s, const struct schedule_thread *t)
{
	uint32_t scope = process_of(s, t)->scope;

	return scope != NONE ? &s->scopes[scope] : NULL;
}

/* Whether the log has records of the thread. */
static bool is_logged(const struct schedule *s, uint32_t t)
{
	return s->options.every_process ||
	       (t != NONE && process_of(s, &s->threads[t])->scope != NONE);
}

static uint32_t tid_of(const struct schedule *s, uint32_t t)
{
	return t != NONE ? s->threads[t].tid : 0;
}

/* ---- time ---- */

/* How near two things may be for the order of their records to be another one. */
static uint64_t nearness(const struct schedule *s)
{
	return s->options.skew ? 2 * SCHEDULE_NEAR_NS : 0;
}

static void pass_waits(struct schedule *s, struct schedule_thread *t, uint64_t ns)
{
	struct schedule_scope *scope = scope_of(s, t);

	if (t->told != REPLAY_BLOCKED && t->told != REPLAY_READY)
		return;
	if (t->told == REPLAY_BLOCKED)
		t->now.blocked_ns += ns;
	else
		t->now.ready_ns += ns;
	if (scope)
		t->now.runnable_ns += scope->runnable * ns;
	if (s->machine < s->options.processors)
		t->now.room_ns += ns;
}

static void pass(struct schedule *s, uint64_t ns)
{
	for (uint32_t i = 0; i < s->nlive; i++) {
		struct schedule_thread *t = &s->threads[s->live[i]];

		t->ns[t->told] += ns;
		pass_waits(s, t, ns);
	}
	for (uint32_t i = 0; i < s->nscopes; i++)
		if (!s->scopes[i].ended)
			s->scopes[i].level_ns[s->scopes[i].running] += ns;
	for (uint32_t i = 0; i < s->nobjects; i++) {
		struct schedule_object *o = &s->objects[i];

		if (o->waiters)
			o->length_ns[o->waiters < 15 ? o->waiters : 15] += ns;
		if (o->waiters >= 15)
			o->beyond_ns += o->waiters * ns;
	}
	s->machine_ns[s->machine] += ns;
	s->now += ns;
}

/* Whether something may happen to the thread now: of three things in a row, two are not near each other. */
static bool touch(struct schedule *s, struct schedule_thread *t, bool alone)
{
	bool near = s->now - t->last <= nearness(s);

	if (!s->options.ties && !s->options.skew)
		return true;
	if (near && (t->near || alone))
		return false;
	t->near = near;
	t->last = s->now;
	return true;
}

/* ---- states ---- */

static void tell(struct schedule *s, struct schedule_thread *t, enum replay_state state)
{
	bool counted = is_logged(s, (uint32_t)(t - s->threads));
	struct schedule_scope *scope = scope_of(s, t);
	int running = (state == REPLAY_RUNNING) - (t->told == REPLAY_RUNNING);
	int runnable = (state == REPLAY_RUNNING || state == REPLAY_READY) -
		       (t->told == REPLAY_RUNNING || t->told == REPLAY_READY);

	t->state = state;
	t->told = state;
	t->changes++;
	if (counted)
		s->machine += (uint32_t)running;
	if (scope) {
		scope->running += (uint32_t)running;
		scope->runnable += (uint32_t)runnable;
	}
}

static void begin_wait(struct schedule *s, struct schedule_thread *t, uint16_t cause, uint32_t site,
		       uint32_t object)
{
	memset(&t->now, 0, sizeof(t->now));
	t->now.cause = cause;
	t->now.site = site;
	t->now.object = object;
	if (object != NONE) {
		struct schedule_object *o = &s->objects[object];

		o->arrivals[o->waiters < 15 ? o->waiters : 15]++;
		o->waiters++;
	}
}

static uint16_t nominal_of(const struct schedule *s, const struct schedule_thread *t)
{
	uint64_t ns = t->now.blocked_ns + t->now.ready_ns;
	const struct schedule_scope *scope = scope_of(s, t);
	uint64_t mean;

	if (!scope)
		return 0;
	mean = ns ? (t->now.runnable_ns + ns / 2) / ns : scope->runnable;
	return (uint16_t)qz_nominal__group((uint32_t)mean);
}

static void end_wait(struct schedule *s, struct schedule_thread *t)
{
	struct schedule_wait w = {
		.site = t->now.site,
		.cause = t->now.cause,
		.object = t->now.object,
		.nominal = nominal_of(s, t),
	};
	uint32_t i;

	for (i = 0; i < t->nwaits; i++)
		if (t->waits[i].site == w.site && t->waits[i].cause == w.cause &&
		    t->waits[i].object == w.object && t->waits[i].nominal == w.nominal)
			break;
	if (i == t->nwaits) {
		t->waits = more(t->waits, t->nwaits, sizeof(w));
		t->waits[t->nwaits++] = w;
	}
	t->waits[i].count++;
	t->waits[i].blocked_ns += t->now.blocked_ns;
	t->waits[i].ready_ns += t->now.ready_ns;
}

static void count_wakeup(struct schedule *s, struct schedule_thread *t, uint32_t waker,
			 uint64_t blocked_ns)
{
	struct schedule_wakeup w = {process_of(s, t)->scope, waker, t->now.object, 0, 0};
	uint32_t i;

	for (i = 0; i < s->nwakeups; i++)
		if (s->wakeups[i].scope == w.scope && s->wakeups[i].waker == w.waker &&
		    s->wakeups[i].object == w.object)
			break;
	if (i == s->nwakeups) {
		s->wakeups = more(s->wakeups, s->nwakeups, sizeof(w));
		s->wakeups[s->nwakeups++] = w;
	}
	s->wakeups[i].count++;
	s->wakeups[i].blocked_ns += blocked_ns;
}

/* ---- begin and end ---- */

static uint32_t new_tid(struct schedule *s)
{
	/* not at once where the thread that had it may not be in the log: a record of its coming would be the new one's */
	bool again = s->now - s->freed_at > (s->options.every_process ? 0 : EARLY_NS);

	/* nor where three things in a row would be near each other */
	if (s->freed_near && s->now - s->freed_at <= nearness(s))
		again = false;
	if (again && s->nfree_tids && one_in(s, 2))
		return s->free_tids[--s->nfree_tids];
	return s->next_tid++;
}

static void free_tid(struct schedule *s, uint32_t tid)
{
	if (s->nfree_tids < SCHEDULE_TIDS)
		s->free_tids[s->nfree_tids++] = tid;
}

static uint32_t new_scope(struct schedule *s, uint32_t pid, bool follows)
{
	struct schedule_scope *scope;

	s->scopes = more(s->scopes, s->nscopes, sizeof(*s->scopes));
	scope = &s->scopes[s->nscopes];
	*scope = (struct schedule_scope) {.process = pid, .follows = follows, .began = s->now};
	scope->level_ns = calloc(s->options.processors + 1, sizeof(uint64_t));
	if (!scope->level_ns)
		abort();
	return s->nscopes++;
}

static uint32_t new_process(struct schedule *s, uint32_t pid, uint32_t scope)
{
	s->processes = more(s->processes, s->nprocesses, sizeof(*s->processes));
	s->processes[s->nprocesses] =
		(struct schedule_process) {.pid = pid, .scope = scope, .found = s->now == s->began};
	return s->nprocesses++;
}

static uint32_t new_thread(struct schedule *s, uint32_t tid, uint32_t process)
{
	uint32_t i = s->nthreads++;
	struct schedule_scope *scope;

	s->threads = more(s->threads, i, sizeof(*s->threads));
	s->threads[i] = (struct schedule_thread) {.tid = tid,
						  .process = process,
						  .began = s->now,
						  .alive = true,
						  .last = s->now,
						  .near = s->now - s->freed_at <= nearness(s),
						  .live_at = s->nlive,
						  .now.object = NONE};
	s->live = more(s->live, s->nlive, sizeof(*s->live));
	s->live[s->nlive++] = i;
	s->processes[process].alive++;
	scope = scope_of(s, &s->threads[i]);
	if (scope)
		scope->alive++;
	return i;
}

static void retire_objects(struct schedule *s, uint32_t process)
{
	for (uint32_t i = 0; i < s->nobjects; i++)
		if (s->objects[i].process == process)
			s->objects[i].retired = true;
}

static void end_thread(struct schedule *s, struct schedule_thread *t)
{
	struct schedule_process *p = process_of(s, t);
	struct schedule_scope *scope = scope_of(s, t);

	tell(s, t, REPLAY_UNKNOWN);
	s->freed_near = t->near || (s->freed_near && s->now - s->freed_at <= nearness(s));
	s->freed_at = s->now;
	t->alive = false;
	t->ended = s->now;
	s->live[t->live_at] = s->live[--s->nlive];
	s->threads[s->live[t->live_at]].live_at = t->live_at;
	/* no schedule tells when all were found, and until then the FORK of one that was found is that one's own */
	if (t->tid != p->pid && t->began != s->began)
		free_tid(s, t->tid);
	if (--p->alive == 0) {
		if (!p->found)
			free_tid(s, p->pid);
		retire_objects(s, t->process);
	}
	if (scope && --scope->alive == 0)
		scope->ended = s->now;
}

/* ---- what happens ---- */

/* The object of a process where one of its threads is about to wait, or NONE. */
static uint32_t choose_object(struct schedule *s, uint32_t process)
{
	uint32_t scope = s->processes[process].scope, i = schedule__random(s, SCHEDULE_OBJECTS);
	struct schedule_object *o = &s->objects[i];
	bool futex = !one_in(s, 4);
	uint64_t address = 4096 + 16 * s->nobjects;

	if (scope == NONE)
		return NONE;
	if (i < s->nobjects)
		return !o->retired && o->scope == scope &&
				       (o->tag != QZ_TAG_FUTEX || o->process == process)
			       ? i
			       : NONE;
	i = s->nobjects;
	o = &s->objects[i];
	/* the same address in another process */
	if (i % 2 && one_in(s, 2) && s->objects[i - 1].tag == QZ_TAG_FUTEX &&
	    s->processes[s->objects[i - 1].process].pid != s->processes[process].pid && futex)
		address = s->objects[i - 1].address;
	*o = (struct schedule_object) {.scope = scope,
				       .process = process,
				       .tag = futex ? QZ_TAG_FUTEX : QZ_TAG_PIPE,
				       .address = address};
	s->nobjects++;
	return i;
}

static void emit_site(struct schedule *s, uint32_t cpu, uint32_t site, uint16_t cause,
		      uint32_t object)
{
	struct qz_log_record record = {
		.kind = QZ_LOG_SITE, .site = site, .cause = cause, .other = site + 7};

	if (object != NONE) {
		record.state = s->objects[object].tag;
		record.object = s->objects[object].address;
	}
	emit(s, cpu, record);
}

/* The running thread blocks: the record's fields of it. */
static void block(struct schedule *s, uint32_t cpu, struct schedule_thread *t,
		  struct qz_log_record *record)
{
	uint32_t object = one_in(s, 2) ? choose_object(s, t->process) : NONE;
	uint16_t cause = QZ_WAIT_POLL;

	record->site = 1 + schedule__random(s, SITES);
	if (object != NONE) {
		record->site = LOCK_SITES + object;
		cause = s->objects[object].tag == QZ_TAG_FUTEX ? QZ_WAIT_FUTEX : QZ_WAIT_PIPE;
		record->object = schedule__random(s, 4) |
				 (uint64_t)(one_in(s, 2) ? FIRST_TID + schedule__random(s, 20) : 0)
					 << 32;
	}
	emit_site(s, cpu, record->site, cause, object);
	begin_wait(s, t, cause, record->site, object);
	if (t->early && s->now - t->woken <= EARLY_NS) {
		count_wakeup(s, t, t->waker, 0);
		if (object != NONE) {
			s->objects[object].waiters--;
			s->objects[object].wakes += (cause == QZ_WAIT_FUTEX) == t->by_futex &&
						    t->by_call;
		}
		tell(s, t, REPLAY_READY);
	} else {
		tell(s, t, REPLAY_BLOCKED);
	}
	record->state = QZ_LOG_BLOCKED;
}

/* Who comes next on a processor: any thread that is ready, or none. */
static uint32_t choose_next(struct schedule *s)
{
	for (int i = 0; i < 4 && s->nlive; i++) {
		uint32_t t = s->live[schedule__random(s, s->nlive)];

		if (s->threads[t].state == REPLAY_READY && touch(s, &s->threads[t], false))
			return t;
	}
	return NONE;
}

static void come(struct schedule *s, uint32_t cpu, uint32_t next)
{
	struct schedule_thread *t;

	s->logs[cpu].running = next;
	if (next == NONE)
		return;
	t = &s->threads[next];
	if (t->told != REPLAY_UNKNOWN)
		end_wait(s, t);
	t->cpu = cpu;
	t->early = false;
	tell(s, t, REPLAY_RUNNING);
}

static void do_switch(struct schedule *s, uint32_t cpu)
{
	uint32_t prev = s->logs[cpu].running, next;
	struct schedule_thread *t = prev != NONE ? &s->threads[prev] : NULL;
	struct qz_log_record record = {.kind = QZ_LOG_SWITCH, .tid = tid_of(s, prev)};
	bool logged = is_logged(s, prev);
	uint32_t how = schedule__random(s, 100);

	/* not where it depends on the clocks whether a wake-up was long ago */
	if (t && t->early && s->now - t->woken - EARLY_NS + nearness(s) < 2 * nearness(s))
		return;
	if (t && !touch(s, t, false))
		return;
	if (t && how < 6 && s->nlive > 1) {
		if (logged)
			emit(s, cpu,
			     (struct qz_log_record) {
				     .kind = QZ_LOG_EXIT, .tid = t->tid, .comm = "ends"});
		record.state = QZ_LOG_DEAD;
		record.object = t->ns[REPLAY_RUNNING] + 5;
		end_thread(s, t);
	} else if (t && (how < 70 || t->early)) {
		block(s, cpu, t, &record);
	} else if (t) {
		begin_wait(s, t, QZ_WAIT_PREEMPTED, 0, NONE);
		tell(s, t, REPLAY_READY);
	}
	next = choose_next(s);
	if (next == prev) /* it stays: as if it had been preempted and chosen at once */
		next = NONE;
	record.other = tid_of(s, next);
	if (logged || is_logged(s, next))
		emit(s, cpu, record);
	come(s, cpu, next);
}

/* A running thread, or NONE for an interrupt; on whose processor, or any. */
static uint32_t choose_waker(struct schedule *s, uint32_t *cpu)
{
	*cpu = schedule__random(s, s->options.processors);
	return one_in(s, 5) ? NONE : s->logs[*cpu].running;
}

static void wake(struct schedule *s, uint32_t sleeper, bool early)
{
	struct schedule_thread *t = &s->threads[sleeper];
	struct qz_log_record record = {.kind = QZ_LOG_WAKING, .tid = t->tid};
	uint32_t cpu, waker = choose_waker(s, &cpu), known = waker;
	bool by_futex = one_in(s, 2);

	if (waker == sleeper)
		return;
	record.other = tid_of(s, waker);
	record.state = waker != NONE ? QZ_LOG_BY_CALL : QZ_LOG_BY_INTERRUPT;
	record.cause = by_futex ? QZ_WAIT_FUTEX : QZ_WAIT_SYSCALL + 1;
	if (is_logged(s, sleeper))
		emit(s, cpu, record);
	if (!is_logged(s, waker))
		known = NONE;
	t->by_futex = by_futex;
	t->by_call = waker != NONE;
	if (early) {
		t->early = true;
		t->woken = s->now;
		t->waker = known;
		return;
	}
	count_wakeup(s, t, known, t->now.room_ns);
	if (t->now.object != NONE) {
		struct schedule_object *o = &s->objects[t->now.object];

		o->waiters--;
		o->wakes += (o->tag == QZ_TAG_FUTEX) == by_futex && t->by_call;
	}
	tell(s, t, REPLAY_READY);
}

static void do_wake(struct schedule *s)
{
	for (int i = 0; i < 4 && s->nlive; i++) {
		uint32_t t = s->live[schedule__random(s, s->nlive)];

		if (s->threads[t].state != REPLAY_BLOCKED || !touch(s, &s->threads[t], false))
			continue;
		wake(s, t, false);
		return;
	}
}

/* A thread that is on its way out is woken. */
static void do_wake_early(struct schedule *s)
{
	uint32_t t = s->logs[schedule__random(s, s->options.processors)].running;

	if (t != NONE && !s->threads[t].early && touch(s, &s->threads[t], true))
		wake(s, t, true);
}

static void do_fork(struct schedule *s)
{
	uint32_t cpu = schedule__random(s, s->options.processors), by = s->logs[cpu].running;
	uint32_t tid, process, scope, child;

	if (by == NONE || s->nlive >= s->options.threads || !touch(s, &s->threads[by], true))
		return;
	tid = new_tid(s);
	process = s->threads[by].process;
	if (one_in(s, 3)) {
		scope = s->processes[process].scope;
		if (scope == NONE || !s->scopes[scope].follows)
			scope = s->options.every_process ? new_scope(s, tid, false) : NONE;
		process = new_process(s, tid, scope);
	}
	child = new_thread(s, tid, process);
	if (is_logged(s, child))
		emit_plain(s, cpu, QZ_LOG_FORK, tid, s->threads[by].tid, s->processes[process].pid);
	begin_wait(s, &s->threads[child], QZ_WAIT_START, 0, NONE);
	tell(s, &s->threads[child], REPLAY_READY);
	if (one_in(s, 3) && is_logged(s, child))
		emit(s, cpu,
		     (struct qz_log_record) {.kind = QZ_LOG_NAME, .tid = tid, .comm = "child"});
}

/* By the last thread of a process, which has the number of the first one afterwards. */
static void do_exec(struct schedule *s)
{
	uint32_t cpu = schedule__random(s, s->options.processors), by = s->logs[cpu].running;
	struct schedule_thread *t = by != NONE ? &s->threads[by] : NULL;
	struct schedule_process *p;
	uint32_t old;

	if (!t || process_of(s, t)->alive != 1 || !touch(s, t, true) ||
	    (s->freed_near && s->now - s->freed_at <= nearness(s)))
		return;
	p = process_of(s, t);
	old = t->tid;
	if (is_logged(s, by))
		emit_plain(s, cpu, QZ_LOG_EXEC, p->pid, old, 0);
	t->tid = p->pid;
	if (old != p->pid && !s->options.ties && !s->options.skew) {
		free_tid(s, old);
		s->freed_at = s->now;
	}
	retire_objects(s, t->process);
}

static void do_span(struct schedule *s)
{
	struct schedule_log *log = &s->logs[schedule__random(s, s->options.processors)];

	if (!log->lost_from)
		log->lost_from = s->now + (uint64_t)log->skew;
	else if (!log->lost_until)
		log->lost_until = s->now + (uint64_t)log->skew;
}

/* ---- the whole ---- */

static void find_threads(struct schedule *s)
{
	uint32_t n = 1 + schedule__random(s, s->options.threads);

	s->next_tid = FIRST_TID;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t tid = s->next_tid++, process = s->nprocesses - 1, t;
		struct qz_log_record record = {.kind = QZ_LOG_FOUND, .tid = tid};

		if (!s->nprocesses || one_in(s, 3)) {
			bool opened = one_in(s, 2);
			uint32_t scope = s->options.every_process || opened
						 ? new_scope(s, tid, opened)
						 : NONE;

			process = new_process(s, tid, scope);
		}
		t = new_thread(s, tid, process);
		record.other = s->processes[process].pid;
		record.object = 5;
		s->threads[t].state = REPLAY_READY;
		if (one_in(s, 2)) {
			record.state = QZ_LOG_FOUND_BLOCKED;
			record.cause = QZ_WAIT_SLEEP;
			begin_wait(s, &s->threads[t], QZ_WAIT_SLEEP, 0, NONE);
			tell(s, &s->threads[t], REPLAY_BLOCKED);
		}
		if (is_logged(s, t))
			emit(s, schedule__random(s, s->options.processors), record);
	}
}

static void step(struct schedule *s)
{
	uint32_t what = schedule__random(s, 100);

	if (s->options.spans && one_in(s, 50))
		do_span(s);
	if (what < 60)
		do_switch(s, schedule__random(s, s->options.processors));
	else if (what < 88)
		do_wake(s);
	else if (what < 92)
		do_wake_early(s);
	else if (what < 97)
		do_fork(s);
	else
		do_exec(s);
}

/* Until the next step; not long where a thread that was woken has not left. */
static uint64_t step_ns(struct schedule *s)
{
	uint32_t most = (uint32_t)s->options.step_ns;

	if (s->options.ties && one_in(s, 2))
		return 0;
	if (one_in(s, 3))
		most = most / 100 + 1;
	return 1 + schedule__random(s, most);
}

struct schedule *schedule__make(const struct schedule_options *options)
{
	struct schedule *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->options = *options;
	s->random = options->seed * 0x9e3779b97f4a7c15u + 1;
	s->now = s->began = BEGAN;
	s->logs = calloc(options->processors, sizeof(*s->logs));
	s->machine_ns = calloc(options->processors + 1, sizeof(*s->machine_ns));
	if (!s->logs || !s->machine_ns)
		abort();
	for (uint32_t i = 0; i < options->processors; i++)
		s->logs[i].running = NONE;
	find_threads(s);
	for (uint32_t i = 0; options->skew && i < options->processors; i++)
		s->logs[i].skew =
			(int64_t)schedule__random(s, 2 * SCHEDULE_NEAR_NS) - SCHEDULE_NEAR_NS;
	pass(s, 1000000);
	for (uint32_t i = 0; i < options->steps; i++) {
		step(s);
		pass(s, step_ns(s));
	}
	return s;
}

void schedule__free(struct schedule *s)
{
	for (uint32_t i = 0; i < s->options.processors; i++)
		free(s->logs[i].records);
	for (uint32_t i = 0; i < s->nthreads; i++)
		free(s->threads[i].waits);
	for (uint32_t i = 0; i < s->nscopes; i++)
		free(s->scopes[i].level_ns);
	free(s->logs);
	free(s->threads);
	free(s->live);
	free(s->processes);
	free(s->scopes);
	free(s->wakeups);
	free(s->machine_ns);
	free(s);
}

/* ---- replay ---- */

void schedule__open_scopes(const struct schedule *s, struct replay *r)
{
	replay__advance(r, s->began);
	for (uint32_t i = 0; i < s->nscopes; i++)
		if (s->scopes[i].follows && s->scopes[i].began == s->began)
			replay__open_scope(r, s->scopes[i].process, true, s->began);
}

struct course {
	const struct schedule *s;
	struct replay *r;
	const char *(*look)(void *context, struct replay *r, uint64_t now);
	void *context;
	const char *ended;
	bool *lost; /* by processor: it was told */
	uint32_t steps;
	uint64_t time;
};

static void tell_lost(struct course *c, uint64_t time)
{
	for (uint32_t i = 0; i < c->s->options.processors; i++) {
		const struct schedule_log *log = &c->s->logs[i];

		if (!log->lost_from || c->lost[i] || log->lost_from > time)
			continue;
		c->lost[i] = true;
		replay__lose(c->r, i, log->lost_from, log->lost_until ?: log->lost_from);
	}
}

static int take_record(void *context, uint32_t cpu, const struct qz_log_record *record)
{
	struct course *c = context;

	if (c->s->options.spans)
		tell_lost(c, record->time);
	if (record->time > c->time)
		c->time = record->time;
	if (replay__apply(c->r, cpu, record))
		c->ended = "a record was refused";
	else if (++c->steps % 512 == 0)
		c->ended = c->look(c->context, c->r, c->time);
	return c->ended != NULL;
}

const char *schedule__replay(const struct schedule *s, struct replay *r,
			     const char *(*look)(void *context, struct replay *r, uint64_t now),
			     void *context)
{
	uint32_t n = s->options.processors;
	struct replay_span *spans = calloc(n, sizeof(*spans));
	struct replay_merge *merge = replay_merge__new(n);
	struct course c = {.s = s, .r = r, .look = look, .context = context};

	c.lost = calloc(n, sizeof(*c.lost));
	if (!spans || !merge || !c.lost)
		abort();
	for (uint32_t i = 0; i < n; i++)
		spans[i] = (struct replay_span) {s->logs[i].records, UINT64_MAX, 0, s->logs[i].n};
	replay_merge__run(merge, spans, UINT64_MAX, take_record, &c);
	if (!c.ended)
		c.ended = look(context, r, s->now > c.time ? s->now : c.time);
	free(c.lost);
	free(spans);
	replay_merge__free(merge);
	return c.ended;
}
