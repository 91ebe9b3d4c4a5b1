/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/core/replay/machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "core/replay/what_if.h"
#include "quartz/records.h"

#define NONE	   UINT32_MAX
#define TICK	   1000000
#define SLICE	   1500000
#define LAG	   15000   /* until an idle processor runs who was woken */
#define STICKY	   1000000 /* who ran less since then than so much more than another one goes on */
#define CALL	   500	   /* ns of a call that changes something */
#define EMPTY_SIDE 0
#define FULL_SIDE  1
#define NEVER	   UINT64_MAX

enum state { UNBORN, READY, RUNNING, BLOCKED, NAPPING, GONE };

struct thread {
	enum state state;
	uint32_t pc, turns[MACHINE_ACTIONS];
	uint64_t left, ran, since, until;
	uint32_t cpu, procedure;
	bool woken; /* from the call that it blocked in */
	uint32_t waits_at, side;
	uint32_t before; /* waiters: the one that came before, + 1 */
	uint64_t came;
};

struct object {
	uint32_t holder, n, met;
	bool shut;
};

struct cpu {
	uint32_t running;
	uint64_t tick, sample, since, free_at;
	uint64_t least; /* that a thread here ran: what others ran is counted from there */
};

struct machine {
	const struct program *p;
	const struct machine_options *o;
	uint64_t now;
	struct thread threads[MACHINE_THREADS];
	struct object objects[MACHINE_OBJECTS];
	struct cpu cpus[MACHINE_PROCESSORS];
	uint64_t calls;
	bool known;
};

/* ---- the log ---- */

static void tell(struct machine *m, uint32_t cpu, struct qz_log_record record)
{
	record.time = MACHINE_BEGAN + m->now;
	if (m->o->write)
		m->o->write(m->o->context, cpu, &record);
	if (m->o->replay && replay__apply(m->o->replay, cpu, &record))
		abort();
}

static uint32_t tid_of(uint32_t t)
{
	return t == NONE ? 0 : MACHINE_PID + t;
}

static const struct action *action_of(const struct machine *m, const struct thread *t)
{
	return &m->p->threads[t - m->threads][t->pc];
}

/* The first thread with the same actions: they run the same code. */
static uint32_t code_of(const struct machine *m, uint32_t t)
{
	for (uint32_t i = 0; i < t; i++)
		if (!memcmp(m->p->threads[i], m->p->threads[t], sizeof(m->p->threads[t])))
			return i;
	return t;
}

static uint64_t words_of(const struct machine *m, const struct thread *t)
{
	const struct action *a = action_of(m, t);
	const struct object *o = &m->objects[a->n];

	if (a->kind == LOCK)
		return 2 | (uint64_t)tid_of(o->holder) << 32;
	return a->kind == JOIN ? tid_of(a->n) : 0;
}

static void tell_site(struct machine *m, uint32_t cpu, uint32_t t, uint32_t site)
{
	const struct thread *thread = &m->threads[t];
	bool naps = action_of(m, thread)->kind == NAP;
	uint32_t object = thread->waits_at * 2 + thread->side;

	tell(m, cpu,
	     (struct qz_log_record) {
		     .kind = QZ_LOG_SITE,
		     .tid = tid_of(t),
		     .site = site,
		     .cause = naps ? QZ_WAIT_SLEEP : QZ_WAIT_FUTEX,
		     .state = naps ? 0 : QZ_TAG_FUTEX,
		     .other = QZ_LOG_PLACE(1 + code_of(m, t) * MACHINE_ACTIONS + thread->pc, 0),
		     .object = 4096 + 64 * object,
	     });
}

static void tell_switch(struct machine *m, uint32_t cpu, uint32_t from, uint32_t to)
{
	struct qz_log_record record = {
		.kind = QZ_LOG_SWITCH, .tid = tid_of(from), .other = tid_of(to)};
	const struct thread *t = from == NONE ? NULL : &m->threads[from];

	if (t && (t->state == BLOCKED || t->state == NAPPING)) {
		record.state = QZ_LOG_BLOCKED;
		record.site = 1 + from * MACHINE_ACTIONS + t->pc;
		record.object = words_of(m, t);
		tell_site(m, cpu, from, record.site);
	} else if (t && t->state == GONE) {
		record.state = QZ_LOG_DEAD;
	}
	tell(m, cpu, record);
}

/* ---- processors ---- */

static void account(struct machine *m, struct thread *t)
{
	uint64_t ns = m->now - t->since;

	if (t->state != RUNNING || m->now < t->since)
		return;
	t->left -= ns < t->left ? ns : t->left;
	t->ran += ns;
	t->since = m->now;
}

/* Who is to run next on a processor: of its own, or of others that wait longest elsewhere. */
static uint32_t choose(const struct machine *m, uint32_t cpu, bool steal)
{
	uint32_t best = NONE;

	for (uint32_t i = 0; i < MACHINE_THREADS; i++) {
		const struct thread *t = &m->threads[i];

		if (t->state == READY && (steal ? t->cpu != cpu : t->cpu == cpu) &&
		    (best == NONE || t->ran < m->threads[best].ran))
			best = i;
	}
	return best;
}

static void update_least(struct machine *m, uint32_t cpu)
{
	uint64_t least = NEVER;

	for (uint32_t i = 0; i < MACHINE_THREADS; i++)
		if (m->threads[i].cpu == cpu && m->threads[i].ran < least &&
		    (m->threads[i].state == READY || m->threads[i].state == RUNNING))
			least = m->threads[i].ran;
	if (least != NEVER && least > m->cpus[cpu].least)
		m->cpus[cpu].least = least;
}

static void move(struct machine *m, struct thread *t, uint32_t cpu)
{
	uint64_t ran = t->ran + m->cpus[cpu].least, less = m->cpus[t->cpu].least;

	if (t->cpu != cpu)
		t->ran = ran > less ? ran - less : 0;
	t->cpu = cpu;
}

static void put_on(struct machine *m, uint32_t cpu, uint32_t next)
{
	struct cpu *c = &m->cpus[cpu];
	uint32_t from = c->running;
	struct thread *t = next == NONE ? NULL : &m->threads[next];

	if (from != NONE && m->threads[from].state == RUNNING) {
		account(m, &m->threads[from]);
		m->threads[from].state = READY;
	}
	tell_switch(m, cpu, from, next);
	update_least(m, cpu);
	c->running = next;
	c->since = m->now;
	if (!t)
		return;
	move(m, t, cpu);
	t->state = RUNNING;
	t->since = m->now;
}

static void schedule(struct machine *m, uint32_t cpu)
{
	uint32_t next = choose(m, cpu, false);

	if (next == NONE)
		next = choose(m, cpu, true);
	if (next != NONE || m->cpus[cpu].running != NONE)
		put_on(m, cpu, next);
}

static void make_ready(struct machine *m, uint32_t t)
{
	struct thread *thread = &m->threads[t];
	uint32_t cpu = thread->cpu;
	uint64_t least;

	for (uint32_t i = 0; i < m->p->processors && m->cpus[cpu].running != NONE; i++)
		if (m->cpus[i].running == NONE && !m->cpus[i].free_at)
			cpu = i;
	move(m, thread, cpu);
	update_least(m, cpu);
	thread->state = READY;
	least = m->cpus[cpu].least;
	if (least > SLICE && thread->ran < least - SLICE)
		thread->ran = least - SLICE;
	if (m->cpus[cpu].running == NONE) {
		m->cpus[cpu].free_at = m->cpus[cpu].free_at ?: m->now + LAG;
		return;
	}
	account(m, &m->threads[m->cpus[cpu].running]);
	if (m->threads[m->cpus[cpu].running].ran > thread->ran + STICKY)
		m->cpus[cpu].free_at = m->now;
}

/* ---- waits ---- */

static void wake(struct machine *m, uint32_t waker, uint32_t t)
{
	bool call = waker != NONE;

	tell(m, call ? m->threads[waker].cpu : m->threads[t].cpu,
	     (struct qz_log_record) {
		     .kind = QZ_LOG_WAKING,
		     .tid = tid_of(t),
		     .other = call ? tid_of(waker) : 0,
		     .state = call ? QZ_LOG_BY_CALL : QZ_LOG_BY_INTERRUPT,
		     .cause = !call				? 0
			      : m->threads[waker].state == GONE ? QZ_WAIT_SYSCALL + SYS_exit
								: QZ_WAIT_FUTEX,
	     });
	m->threads[t].woken = true;
	make_ready(m, t);
}

/* Those that wait at a side of an object: the one that came first, or all. */
static void wake_waiters(struct machine *m, uint32_t waker, uint32_t object, uint32_t side,
			 bool all)
{
	uint32_t first;

	do {
		first = NONE;
		for (uint32_t i = 0; i < MACHINE_THREADS; i++) {
			const struct thread *t = &m->threads[i];

			if (t->state == BLOCKED && t->waits_at == object && t->side == side &&
			    (first == NONE || t->came < m->threads[first].came))
				first = i;
		}
		if (first != NONE)
			wake(m, waker, first);
	} while (all && first != NONE);
}

static bool block(struct machine *m, struct thread *t, uint32_t object, uint32_t side)
{
	t->state = BLOCKED;
	t->waits_at = object;
	t->side = side;
	t->came = ++m->calls;
	t->woken = false;
	return false;
}

/* ---- actions: whether the thread goes on to the next one ---- */

static uint64_t noisy(const struct machine *m, uint64_t ns, uint64_t what)
{
	uint64_t x = (what + 1) * 0x9e3779b97f4a7c15ull + m->o->seed * 0xbf58476d1ce4e5b9ull;
	int64_t range = (int64_t)ns * m->p->noise / 100;

	x ^= x >> 31;
	x *= 0x94d049bb133111ebull;
	x ^= x >> 29;
	return range ? ns + (uint64_t)((int64_t)(x % (uint64_t)(2 * range)) - range) : ns;
}

static bool begin_run(struct machine *m, struct thread *t, const struct action *a)
{
	uint64_t number = (uint64_t)(t - m->threads) << 40 | (uint64_t)t->pc << 32 |
			  t->turns[t->pc]++;
	uint64_t ns = noisy(m, a->us * 1000ull, number);

	if (a->n && a->n == m->o->procedure)
		ns = ns * m->o->percent / 100;
	t->left += ns;
	t->procedure = a->n;
	t->pc++;
	return true;
}

static bool lock(struct machine *m, uint32_t t, const struct action *a)
{
	struct object *o = &m->objects[a->n];

	if (o->met)
		return block(m, &m->threads[t], a->n, EMPTY_SIDE);
	o->met = 1;
	o->holder = t;
	return true;
}

static bool put(struct machine *m, uint32_t t, const struct action *a)
{
	struct object *o = &m->objects[a->n];
	bool shared = m->p->shared;

	if (o->n == m->p->sizes[a->n])
		return block(m, &m->threads[t], a->n, shared ? EMPTY_SIDE : FULL_SIDE);
	o->n++;
	wake_waiters(m, t, a->n, EMPTY_SIDE, shared);
	return true;
}

static bool get(struct machine *m, uint32_t t, const struct action *a)
{
	struct object *o = &m->objects[a->n];
	bool shared = m->p->shared;

	if (!o->n && o->shut) {
		m->threads[t].pc = MACHINE_ACTIONS - 2;
		return true;
	}
	if (!o->n)
		return block(m, &m->threads[t], a->n, EMPTY_SIDE);
	o->n--;
	wake_waiters(m, t, a->n, shared ? EMPTY_SIDE : FULL_SIDE, shared);
	return true;
}

static bool meet(struct machine *m, uint32_t t, const struct action *a)
{
	struct object *o = &m->objects[a->n];

	if (m->threads[t].woken && m->threads[t].waits_at == a->n) {
		m->threads[t].woken = false;
		return true;
	}
	if (++o->met < m->p->sizes[a->n])
		return block(m, &m->threads[t], a->n, EMPTY_SIDE);
	o->met = 0;
	wake_waiters(m, t, a->n, EMPTY_SIDE, true);
	return true;
}

static bool nap(struct machine *m, struct thread *t, const struct action *a)
{
	if (t->woken) {
		t->woken = false;
		return true;
	}
	t->state = NAPPING;
	t->until = m->now + a->us * 1000ull;
	return false;
}

static bool start(struct machine *m, uint32_t t, const struct action *a)
{
	struct thread *new = &m->threads[a->n];

	memset(new, 0, sizeof(*new));
	new->cpu = m->threads[t].cpu;
	new->ran = m->threads[t].ran;
	tell(m, new->cpu,
	     (struct qz_log_record) {.kind = QZ_LOG_FORK,
				     .tid = tid_of(a->n),
				     .other = tid_of(t),
				     .site = MACHINE_PID});
	make_ready(m, a->n);
	return true;
}

/* Objects behind the program's own stand for the ends of threads. */
static bool join(struct machine *m, uint32_t t, const struct action *a)
{
	if (m->threads[a->n].state == GONE)
		return true;
	return block(m, &m->threads[t], MACHINE_OBJECTS + a->n, EMPTY_SIDE);
}

static bool leave(struct machine *m, uint32_t t)
{
	tell(m, m->threads[t].cpu,
	     (struct qz_log_record) {.kind = QZ_LOG_EXIT, .tid = tid_of(t), .comm = "thread"});
	m->threads[t].state = GONE;
	wake_waiters(m, t, MACHINE_OBJECTS + t, EMPTY_SIDE, true);
	return false;
}

static bool repeat(struct thread *t, const struct action *a)
{
	if (++t->turns[t->pc] < a->us) {
		t->pc = a->n;
		return false;
	}
	t->turns[t->pc] = 0;
	return true;
}

/* False: it waits, has ended, or has something to run. */
static bool act(struct machine *m, uint32_t i)
{
	struct thread *t = &m->threads[i];
	const struct action *a = action_of(m, t);
	struct object *o = &m->objects[a->n % MACHINE_OBJECTS];
	bool on = true;

	t->procedure = 0;
	switch (a->kind) {
	case EXIT:
		return leave(m, i);
	case RUN:
		begin_run(m, t, a);
		return false;
	case REPEAT:
		t->pc += repeat(t, a);
		return true;
	case UNLOCK:
		o->met = 0;
		wake_waiters(m, i, a->n, EMPTY_SIDE, false);
		break;
	case SHUT:
		o->shut = true;
		wake_waiters(m, i, a->n, EMPTY_SIDE, true);
		break;
	case LOCK:
		on = lock(m, i, a);
		break;
	case PUT:
		on = put(m, i, a);
		break;
	case GET:
		on = get(m, i, a);
		break;
	case MEET:
		on = meet(m, i, a);
		break;
	case NAP:
		on = nap(m, t, a);
		break;
	case START:
		on = start(m, i, a);
		break;
	case JOIN:
		on = join(m, i, a);
		break;
	}
	if (on)
		t->woken = false;
	t->pc += on;
	t->left = on ? CALL : 0;
	return false;
}

/* ---- time ---- */

static void sample(struct machine *m, uint32_t cpu)
{
	struct cpu *c = &m->cpus[cpu];
	uint32_t procedure = c->running == NONE ? 0 : m->threads[c->running].procedure;

	c->sample += m->o->period_ns;
	if (m->o->known_at && !m->known && m->now >= m->o->known_at) {
		m->known = true;
		for (uint32_t i = 0; i < REPLAY_CANDIDATES; i++)
			replay__know_candidate(m->o->replay, i);
	}
	if (c->running == NONE)
		return;
	tell(m, cpu,
	     (struct qz_log_record) {.kind = QZ_LOG_SAMPLE,
				     .tid = tid_of(c->running),
				     .cause = procedure && m->now >= m->o->known_at
						      ? (uint16_t)(1u << (procedure - 1))
						      : 0});
}

static uint64_t next_of(const struct machine *m, uint32_t cpu)
{
	const struct cpu *c = &m->cpus[cpu];
	uint64_t next = c->tick;

	if (m->o->period_ns && c->sample < next)
		next = c->sample;
	if (c->free_at && c->free_at < next)
		next = c->free_at;
	if (c->running != NONE) {
		const struct thread *t = &m->threads[c->running];

		if (t->since + t->left < next)
			next = t->since + t->left;
	}
	return next;
}

static uint32_t load_of(const struct machine *m, uint32_t cpu)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MACHINE_THREADS; i++)
		n += m->threads[i].cpu == cpu &&
		     (m->threads[i].state == READY || m->threads[i].state == RUNNING);
	return n;
}

/* A processor that has far less to do than another one takes a thread from there. */
static void balance(struct machine *m, uint32_t cpu)
{
	for (uint32_t i = 0; i < m->p->processors; i++) {
		uint32_t t = choose(m, i, false);

		if (t != NONE && load_of(m, i) >= load_of(m, cpu) + 2)
			move(m, &m->threads[t], cpu);
	}
}

static void step_cpu(struct machine *m, uint32_t cpu)
{
	struct cpu *c = &m->cpus[cpu];
	struct thread *t = c->running == NONE ? NULL : &m->threads[c->running];
	uint32_t next = choose(m, cpu, false);

	if (m->o->period_ns && m->now >= c->sample)
		sample(m, cpu);
	if (t)
		account(m, t);
	if (c->free_at && m->now >= c->free_at) {
		c->free_at = 0;
		if (!t || next != NONE)
			schedule(m, cpu);
	} else if (m->now >= c->tick && t && next != NONE && m->now - c->since >= SLICE &&
		   t->ran > m->threads[next].ran) {
		schedule(m, cpu);
	}
	if (m->now >= c->tick) {
		c->tick += TICK;
		balance(m, cpu);
	}
	t = c->running == NONE ? NULL : &m->threads[c->running];
	if (!t || t->left)
		return;
	while (act(m, c->running))
		;
	t->since = m->now;
	if (t->state != RUNNING)
		schedule(m, cpu);
}

/* Gives false when all have ended. */
static bool step(struct machine *m)
{
	uint64_t next = NEVER;
	bool alive = false;

	for (uint32_t i = 0; i < MACHINE_THREADS; i++) {
		const struct thread *t = &m->threads[i];

		alive |= t->state != GONE && t->state != UNBORN;
		if (t->state == NAPPING && t->until < next)
			next = t->until;
	}
	for (uint32_t i = 0; i < m->p->processors; i++)
		if (next_of(m, i) < next)
			next = next_of(m, i);
	if (!alive)
		return false;
	m->now = next;
	for (uint32_t i = 0; i < MACHINE_THREADS; i++)
		account(m, &m->threads[i]);
	for (uint32_t i = 0; i < MACHINE_THREADS; i++)
		if (m->threads[i].state == NAPPING && m->threads[i].until == next)
			wake(m, NONE, i);
	for (uint32_t i = 0; i < m->p->processors; i++)
		if (next_of(m, i) <= m->now)
			step_cpu(m, i);
	return true;
}

uint64_t machine__run(const struct program *p, const struct machine_options *options)
{
	struct machine m = {.p = p, .o = options};

	for (uint32_t i = 0; i < MACHINE_PROCESSORS; i++)
		m.cpus[i] = (struct cpu) {.running = NONE,
					  .tick = 400000 + i * TICK / 8,
					  .sample = 123456 + i * options->period_ns / 3};
	tell(&m, 0,
	     (struct qz_log_record) {
		     .kind = QZ_LOG_FORK, .tid = MACHINE_PID, .other = 1, .site = MACHINE_PID});
	make_ready(&m, 0);
	while (step(&m))
		;
	return m.now;
}
