// SPDX-License-Identifier: GPL-2.0-only
#include "core/replay/log_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/model/wait_causes.h"
#include "quartz/records.h"

#define KERNEL_PROCESS 2 /* kthreadd: in the log, the kernel's threads are those of this process */

/* One profile under way. */
struct making {
	const struct log_replay *l;
	struct qz_profile *p;
	uint32_t *scopes;  /* index in the profile, by index in the replay */
	uint32_t *threads; /* the same, by serial */
	uint32_t nserials;
	uint32_t *objects; /* the same, by index in the replay */
	uint32_t machine;  /* QZ_NONE: there is none */
	uint32_t causes[QZ_WAIT_CAUSES];
	int err;
};

static void keep_error(struct making *m, int64_t result)
{
	if (result < 0 && !m->err)
		m->err = (int)result;
}

/* ---- the run ---- */

static void describe_run(struct making *m)
{
	const struct qz_log_header *h = m->l->header;
	struct qz_profile *p = m->p;

	keep_error(m, qz_profile__set_string(&p->quartz_version, QUARTZ_VERSION));
	keep_error(m, qz_profile__set_string(&p->kernel, h->kernel));
	keep_error(m, qz_profile__set_string(&p->machine, h->machine));
	keep_error(m, qz_profile__set_string(&p->event, "none"));
	p->processors = h->online;
	p->wall_start_ns = h->wall_start_ns;
	p->window_ns = m->l->until > h->began ? m->l->until - h->began : 0;
}

static void describe_oddities(struct making *m)
{
	const struct replay_counts *c = replay__counts(m->l->replay);
	const struct {
		const char *name;
		uint64_t n;
	} events[] = {
		{"log_records", c->records},	{"log_overwritten", m->l->overwritten},
		{"log_lost_ns", c->lost_ns},	{"log_off_ns", replay__off_ns(m->l->replay)},
		{"log_late", c->late},		{"log_impossible", c->impossible + m->l->refused},
		{"implicit_switches", c->gaps}, {"waits_without_wake_up", c->unwoken},
		{"threads_unborn", c->unborn},	{"threads_unended", c->unended},
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		keep_error(m, qz_ledger__add_event(&m->p->ledger, events[i].name, events[i].n));
	qz_ledger__close(&m->p->ledger);
}

/* ---- scopes ---- */

static enum qz_scope_kind kind_of(const struct making *m, uint32_t scope,
				  const struct replay_scope *s)
{
	if (m->l->header->every_process && s->process == KERNEL_PROCESS)
		return QZ_SCOPE_KERNEL;
	if (scope == m->l->command)
		return QZ_SCOPE_JOB;
	return s->follows ? QZ_SCOPE_TREE : QZ_SCOPE_PROCESS;
}

/* If the scope has not ended, the time since its last change is at its present level. */
static uint32_t add_scope(struct making *m, const struct replay_scope *s, enum qz_scope_kind kind,
			  const char *comm)
{
	uint64_t end = s->ended ?: m->l->until;
	uint32_t n = s->nlevels > s->running ? s->nlevels : s->running + 1;
	uint64_t *levels = calloc(n ?: 1, sizeof(*levels));
	struct qz_scope scope = {
		.kind = kind,
		.pid = kind == QZ_SCOPE_MACHINE || kind == QZ_SCOPE_KERNEL ? 0
									   : (int32_t)s->process,
		.comm = (char *)comm,
		.command = (char *)"",
		.cgroup = (char *)"",
		.start_ns = s->began,
		.nlevels = n ?: 1,
		.level_ns = levels,
		.cpu_ns = s->account_ns,
		.runnable_ns = s->ns[REPLAY_RUNNING] + s->ns[REPLAY_READY],
		.threads_alive = s->alive,
		.counters = {.threads_seen = s->threads,
			     .threads_started = s->threads_started,
			     .processes_started = s->processes_started,
			     .events_in_vain = s->events_in_vain,
			     .events_shared = s->events_shared},
		.ended = s->ended,
	};
	int64_t index = -ENOMEM;

	memcpy(scope.counters.grain, s->grain, sizeof(s->grain));
	scope.counters.transfers = s->transfers;
	if (levels) {
		if (s->nlevels)
			memcpy(levels, s->level_ns, s->nlevels * sizeof(*levels));
		if (end > s->since)
			levels[s->running] += end - s->since;
		qz_scope__sum_levels(&scope);
		index = qz_profile__add_scope(m->p, &scope);
	}
	free(levels);
	keep_error(m, index);
	return index < 0 ? QZ_NONE : (uint32_t)index;
}

static void add_to_machine(struct making *m, const struct replay_scope *s)
{
	struct qz_scope_counters *c = &m->p->scopes[m->machine].counters;

	c->threads_started += s->threads_started;
	c->processes_started += s->processes_started;
	c->events_in_vain += s->events_in_vain;
	c->events_shared += s->events_shared;
	for (uint32_t i = 0; i < QZ_GRAINS; i++)
		c->grain[i] += s->grain[i];
	qz_transfers__add(&c->transfers, &s->transfers);
}

static void add_scopes(struct making *m)
{
	uint32_t n = replay__scopes(m->l->replay);

	m->machine = QZ_NONE;
	if (m->l->header->every_process)
		m->machine =
			add_scope(m, replay__machine(m->l->replay), QZ_SCOPE_MACHINE, "machine");
	for (uint32_t i = 0; i < n; i++) {
		const struct replay_scope *s = replay__scope(m->l->replay, i);

		m->scopes[i] = s ? add_scope(m, s, kind_of(m, i, s), "") : QZ_NONE;
		if (s && m->machine != QZ_NONE)
			add_to_machine(m, s);
	}
}

/* ---- threads ---- */

static void name_scope(struct making *m, struct qz_scope *scope, const struct replay_thread *t,
		       const char *comm)
{
	if (scope->kind == QZ_SCOPE_KERNEL)
		comm = "kernel";
	else if (t->tid != t->process || scope->pid != (int32_t)t->process)
		return;
	keep_error(m, qz_profile__set_string(&scope->comm, comm));
}

/* The kernel's account of a living thread is from when it was found, so the processor time is the running time. */
static void add_figures(const struct making *m, struct qz_scope *scope,
			const struct replay_thread *t)
{
	struct qz_scope *machine = m->machine == QZ_NONE ? NULL : &m->p->scopes[m->machine];

	if (!t->ended) {
		scope->cpu_ns += t->ns[REPLAY_RUNNING];
		scope->runnable_ns += t->ns[REPLAY_RUNNING] + t->ns[REPLAY_READY];
	}
	if (machine) {
		machine->cpu_ns += t->ended ? t->account_ns : t->ns[REPLAY_RUNNING];
		machine->runnable_ns += t->ns[REPLAY_RUNNING] + t->ns[REPLAY_READY];
		machine->counters.threads_seen++;
		machine->threads_alive += !t->ended;
	}
}

static void add_thread(void *context, const struct replay_thread *t)
{
	struct making *m = context;
	uint32_t scope = t->scope == REPLAY_NONE ? QZ_NONE : m->scopes[t->scope];
	char comm[QZ_LOG_COMM + 1] = "";
	int64_t index;

	if (scope == QZ_NONE || t->serial >= m->nserials)
		return;
	memcpy(comm, t->comm, QZ_LOG_COMM);
	index = qz_profile__add_thread(m->p, &(struct qz_thread) {
						     .scope = scope,
						     .tid = (int32_t)t->tid,
						     .pid = (int32_t)t->process,
						     .comm = comm,
						     .name = (char *)"",
						     .start_ns = t->began,
						     .end_ns = t->since,
						     .cpu_ns = t->ended ? t->account_ns
									: t->ns[REPLAY_RUNNING],
						     .running_ns = t->ns[REPLAY_RUNNING],
						     .ready_ns = t->ns[REPLAY_READY],
						     .blocked_ns = t->ns[REPLAY_BLOCKED],
						     .unknown_ns = t->ns[REPLAY_UNKNOWN],
						     .loop = t->loop,
						     .transfers = t->transfers,
						     .ended = t->ended,
					     });
	keep_error(m, index);
	if (index < 0)
		return;
	m->threads[t->serial] = (uint32_t)index;
	name_scope(m, &m->p->scopes[scope], t, comm);
	add_figures(m, &m->p->scopes[scope], t);
}

static void count_serial(void *context, const struct replay_thread *t)
{
	struct making *m = context;

	if (t->serial >= m->nserials)
		m->nserials = t->serial + 1;
}

static uint32_t thread_of(const struct making *m, uint32_t serial)
{
	return serial < m->nserials ? m->threads[serial] : QZ_NONE;
}

/* ---- objects ---- */

static const struct {
	enum qz_object_kind kind;
	const char *word;
} tags[] = {
	[QZ_TAG_FUTEX] = {QZ_OBJECT_OTHER, "word"},
	[QZ_TAG_PIPE] = {QZ_OBJECT_PIPE, "inode"},
	[QZ_TAG_SOCKET] = {QZ_OBJECT_SOCKET, "inode"},
	[QZ_TAG_FILE] = {QZ_OBJECT_FILE, "inode"},
	[QZ_TAG_SEMAPHORES] = {QZ_OBJECT_SEMAPHORE, "set"},
	[QZ_TAG_EVENT] = {QZ_OBJECT_EVENT, "eventfd"},
	[QZ_TAG_FLOCK] = {QZ_OBJECT_LOCK, "flock of inode"},
	[QZ_TAG_RECORD] = {QZ_OBJECT_LOCK, "fcntl of inode"},
	[QZ_TAG_INODE] = {QZ_OBJECT_LOCK, "inode"},
	[QZ_TAG_POSITION] = {QZ_OBJECT_LOCK, "position in inode"},
	[QZ_TAG_MAP] = {QZ_OBJECT_LOCK, "memory map of"},
};

_Static_assert(QZ_QUEUE_LENGTHS == REPLAY_LENGTHS, "lengths of queues");

/* The log has no name for an object, so its address is the name. */
static void add_object(struct making *m, uint32_t number)
{
	const struct replay_object *o = replay__object(m->l->replay, number);
	uint32_t scope = o && o->scope != REPLAY_NONE ? m->scopes[o->scope] : QZ_NONE;
	struct qz_object key = {.scope = scope, .module = (char *)""}, *object;
	char name[64];
	int64_t index;

	m->objects[number] = QZ_NONE;
	if (scope == QZ_NONE || o->tag < QZ_TAG_FUTEX || o->tag >= QZ_TAGS)
		return;
	if (o->tag == QZ_TAG_FUTEX)
		snprintf(name, sizeof(name), "word 0x%" PRIx64 " of %" PRIu32, o->address,
			 o->process);
	else
		snprintf(name, sizeof(name), "%s %" PRIu64, tags[o->tag].word, o->address);
	key.kind = tags[o->tag].kind;
	key.name = name;
	key.pid = (int32_t)o->process;
	key.address = o->address;
	index = qz_waits__intern_object(m->p, &key);
	keep_error(m, index);
	if (index < 0)
		return;
	m->objects[number] = (uint32_t)index;
	object = &m->p->objects[index];
	object->grouped++;
	object->wakes += o->wakes;
	object->in_vain += o->in_vain;
	object->wait_ns += o->beyond_ns;
	for (uint32_t i = 0; i < REPLAY_LENGTHS; i++) {
		object->queue_ns[i] += o->length_ns[i];
		object->arrivals[i] += o->arrivals[i];
		object->waits += o->arrivals[i];
		object->wait_ns += i < REPLAY_LENGTHS - 1 ? o->length_ns[i] * i : 0;
	}
}

static uint32_t object_of(const struct making *m, uint32_t number)
{
	return number == REPLAY_NONE ? QZ_NONE : m->objects[number];
}

/* ---- waits ---- */

static int64_t cause_of(struct making *m, uint32_t cause)
{
	char room[QZ_WAIT_CAUSE_LENGTH];
	int64_t index;

	if (m->causes[cause] != QZ_NONE)
		return m->causes[cause];
	index = qz_waits__intern_cause(m->p, qz_wait_cause__name(cause, room));
	if (index >= 0)
		m->causes[cause] = (uint32_t)index;
	return index;
}

static void add_wait(void *context, const struct replay_wait *w)
{
	struct making *m = context;
	uint32_t scope = w->scope == REPLAY_NONE ? QZ_NONE : m->scopes[w->scope];
	int64_t cause = cause_of(m, w->cause);
	struct qz_wait wait = {
		.scope = scope,
		.thread = thread_of(m, w->serial),
		.cause = (uint32_t)cause,
		.object = object_of(m, w->object),
		.nominal = w->nominal,
		.count = w->count,
		.blocked_ns = w->blocked_ns,
		.ready_ns = w->ready_ns,
		.handed = w->handed,
	};

	if (scope != QZ_NONE)
		keep_error(m, cause < 0 ? cause : qz_waits__add(m->p, &wait));
}

static void add_wakeup(void *context, const struct replay_wakeup *w)
{
	struct making *m = context;
	uint32_t scope = w->scope == REPLAY_NONE ? QZ_NONE : m->scopes[w->scope];
	uint32_t thread = w->waker ? thread_of(m, w->waker) : QZ_NONE;
	struct qz_waking waking = {
		.scope = scope,
		.object = object_of(m, w->object),
		.count = w->count,
		.woken_ns = w->blocked_ns,
	};

	if (scope == QZ_NONE)
		return;
	/* a waker of another scope has no row in this one */
	waking.thread = thread != QZ_NONE && m->p->threads[thread].scope == scope ? thread
										  : QZ_NONE;
	keep_error(m, qz_waits__add_waking(m->p, &waking));
}

/* ---- what if ---- */

void log_profile__fill_what_if(const struct replay_what_if *of, uint32_t candidate, uint64_t cpu_ns,
			       struct qz_what_if *w)
{
	w->work_ns = of->work_ns[candidate];
	w->kept_ns = of->outside_ns;
	w->freed_ns = of->inside_ns;
	w->spinning_ns = of->samples ? cpu_ns / of->samples * of->spinning : 0;
	for (uint32_t k = 0; k < QZ_WHAT_IF_SPEEDS; k++) {
		w->run_ns[k] = of->run_ns[candidate][k];
		w->low_ns[k] = of->low_ns[candidate][k];
		w->high_ns[k] = of->high_ns[candidate][k];
		w->most_ns[k] = of->most_ns[candidate][k];
	}
}

/* The log has the candidates' numbers, not their names. */
static void add_candidate(struct making *m, uint32_t scope, const struct replay_what_if *of,
			  uint32_t candidate)
{
	char name[32];
	struct qz_what_if w = {
		.scope = scope,
		.kind = QZ_WHAT_IF_PROCEDURE,
		.name = name,
	};

	snprintf(name, sizeof(name), "candidate %" PRIu32, candidate + 1);
	log_profile__fill_what_if(of, candidate, m->p->scopes[scope].cpu_ns, &w);
	keep_error(m, qz_what_ifs__add(m->p, &w));
}

static void add_what_ifs(struct making *m)
{
	for (uint32_t i = 0; m->l->candidates && i < replay__scopes(m->l->replay); i++) {
		struct replay_what_if w;
		int err = m->scopes[i] == QZ_NONE ? -ENOENT : replay__what_if(m->l->replay, i, &w);

		if (err == -ENOENT)
			continue;
		keep_error(m, err);
		for (uint32_t k = 0; !err && k < REPLAY_CANDIDATES; k++)
			if (m->l->candidates >> k & 1)
				add_candidate(m, m->scopes[i], &w, k);
	}
}

/* ---- all ---- */

static bool allocate(struct making *m)
{
	const struct replay *r = m->l->replay;

	replay__each_thread(r, count_serial, m);
	m->p = qz_profile__new();
	m->scopes = calloc(replay__scopes(r) + 1ul, sizeof(*m->scopes));
	m->objects = calloc(replay__objects(r) + 1ul, sizeof(*m->objects));
	m->threads = malloc((m->nserials + 1ul) * sizeof(*m->threads));
	if (!m->p || !m->scopes || !m->objects || !m->threads)
		return false;
	memset(m->threads, 0xff, (m->nserials + 1ul) * sizeof(*m->threads));
	memset(m->causes, 0xff, sizeof(m->causes));
	return true;
}

static void fill(struct making *m)
{
	const struct replay *r = m->l->replay;

	describe_run(m);
	add_scopes(m);
	replay__each_thread(r, add_thread, m);
	for (uint32_t i = 0; i < replay__objects(r); i++)
		add_object(m, i);
	replay__each_wait(r, add_wait, m);
	replay__each_open_wait(r, add_wait, m);
	replay__each_wakeup(r, add_wakeup, m);
	add_what_ifs(m);
	describe_oddities(m);
	if (!m->err)
		m->err = qz_estimate__profile(m->p);
}

int log_profile__make(const struct log_replay *l, struct qz_profile **profile)
{
	struct making *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	*profile = NULL;
	if (!m)
		return err;
	m->l = l;
	if (allocate(m)) {
		fill(m);
		err = m->err;
	}
	if (err)
		qz_profile__free(m->p);
	else
		*profile = m->p;
	free(m->scopes);
	free(m->objects);
	free(m->threads);
	free(m);
	return err;
}
