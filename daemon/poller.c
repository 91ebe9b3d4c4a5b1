// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "daemon/poller.h"

#define SECOND	    1000000000ull
#define IDLE_NS	    10000000ull /* between two looks for a first page set */
#define SWEEP_NS    20000000ull /* between two looks at threads that do not run */
#define SWEEP_PAGES 64		/* at a time */
#define REAL_TIME   1 /* priority: above every ordinary thread, below all others like it */

/* The last event seen of a slot, and whose it was. */
struct seen {
	uint32_t image, tid;
	uint64_t event;
};

/* What a round has found on one processor. */
struct view {
	bool found;
	struct poll_key key;
	uint32_t pid;
	struct page_slot slot;
};

struct worker {
	struct poller *poller;
	uint32_t number;
	int cpu; /* -1: any */
	pthread_t thread;
	uint32_t which; /* half in use */
	uint64_t round; /* odd while a round is made, see turn */
	struct poll_half *halves[2];
	struct view *views; /* one per processor */
	struct seen *seen[MAX_PAGES];
	uint64_t sweep_due;
	uint32_t swept; /* page set looked at last */
	bool running;
	uint64_t random;
	struct poller_figures figures;
};

struct poller {
	struct poller_options options;
	struct engine *engine;
	struct pages *pages;
	struct event_log *events;
	bool stop;
	uint32_t nworkers;
	struct worker workers[MAX_POLL_CPUS];
};

/* ---- looking ---- */

/* The page set and slot of the thread that runs on a processor, NULL when it has none. */
static const struct qz_slot *find_slot(struct worker *w, const struct qz_cpu_state *cpu,
				       struct view *v)
{
	uint32_t index = *(volatile const uint32_t *)&cpu->page;
	uint32_t slot = *(volatile const uint32_t *)&cpu->slot;
	struct page *page = index ? pages__at(w->poller->pages, index - 1) : NULL;

	v->key.image = *(volatile const uint32_t *)&cpu->image;
	v->key.serial = *(volatile const uint32_t *)&cpu->serial;
	v->key.scope = *(volatile const uint32_t *)&cpu->scope;
	if (v->key.scope == QZ_NO_SCOPE || !page || page->image != v->key.image || !slot ||
	    slot > pages__slots(w->poller->pages, page, slot))
		return NULL;
	v->pid = page->pid;
	return &page->slots[slot - 1];
}

/* Good only if the thread is still there when all has been copied. */
static void look(struct worker *w, const struct qz_cpu_state *cpu, struct view *v)
{
	uint64_t stint = __atomic_load_n(&cpu->stint, __ATOMIC_ACQUIRE);
	const struct qz_slot *slot;

	v->found = false;
	if (stint & 1)
		return;
	slot = find_slot(w, cpu, v);
	if (!slot)
		return;
	w->figures.slots++;
	if (page_slot__copy(slot, &v->slot) == PAGE_SLOT_INVALID) {
		w->figures.invalid++;
		return;
	}
	v->key.level = engine__level(w->poller->engine, v->key.scope);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&cpu->stint, __ATOMIC_ACQUIRE) != stint || !v->key.level ||
	    *(volatile const uint32_t *)&cpu->scope != v->key.scope) {
		w->figures.torn++;
		return;
	}
	v->found = true;
}

/* ---- events ---- */

/* The number runs on over all threads that use a slot one after the other. */
static void take_event(struct worker *w, const struct page *page, uint32_t index)
{
	const struct qz_slot *slot = &page->slots[index];
	uint64_t event = *(volatile const uint64_t *)&slot->event;
	struct seen *seen = w->seen[page->index];
	struct qz_event_record record;

	if (!event)
		return;
	if (!seen)
		seen = w->seen[page->index] = calloc(QZ_SLOTS, sizeof(*seen));
	if (!seen)
		return;
	seen += index;
	if (seen->image != page->image)
		*seen = (struct seen) {.image = page->image};
	if (event == seen->event)
		return;
	record = (struct qz_event_record) {
		.time_ns = engine__now(),
		.pid = page->pid,
		.tid = *(volatile const uint32_t *)&slot->tid ?: seen->tid,
		.value = QZ_EVENT_VALUE(event),
		.number = QZ_EVENT_NUMBER(event),
		.lost = QZ_EVENT_NUMBER(event) - QZ_EVENT_NUMBER(seen->event) - 1,
	};
	seen->event = event;
	seen->tid = record.tid;
	event_log__put(w->poller->events, w->number, &record);
}

static bool has_events(const struct worker *w, const struct page *page)
{
	return page->index % w->poller->nworkers == w->number;
}

/* Of the thread that runs on a processor, whosever share that is. */
static void watch_events(struct worker *w, const struct qz_cpu_state *cpu)
{
	struct view v;
	const struct qz_slot *slot = find_slot(w, cpu, &v);
	const struct page *page = slot ? pages__at(w->poller->pages, cpu->page - 1) : NULL;

	if (page && page->image == v.key.image && has_events(w, page) && slot >= page->slots &&
	    slot < page->slots + QZ_SLOTS)
		take_event(w, page, slot - page->slots);
}

/* Slots that were never claimed are not touched: that would make memory of a hole. */
static uint32_t slots_used(struct pages *pages, struct page *page)
{
	struct qz_page_header header;
	uint32_t readable;

	if (page_tables__header(page->tables, &header))
		return 0;
	readable = pages__slots(pages, page, header.slots_used);
	return header.slots_used < readable ? header.slots_used : readable;
}

/* Last events of threads that have left their processors, some page sets at a time. */
static void sweep(struct worker *w, uint32_t npages)
{
	uint32_t limit = pages__limit(w->poller->pages);

	for (uint32_t i = 0; i < npages && i < limit; i++) {
		struct page *page;
		uint32_t n;

		w->swept = (w->swept + 1) % limit;
		page = pages__at(w->poller->pages, w->swept);
		n = page && has_events(w, page) ? slots_used(w->poller->pages, page) : 0;
		for (uint32_t k = 0; k < n; k++)
			take_event(w, page, k);
	}
}

/* ---- rounds ---- */

static uint32_t count_spinning(const struct worker *w, uint32_t n, uint32_t scope)
{
	uint32_t spinning = 0;

	for (uint32_t i = 0; i < n; i++)
		spinning += w->views[i].found && w->views[i].key.scope == scope &&
			    w->views[i].slot.state == QZ_WAIT_SPINNING;
	return spinning;
}

static void count(struct worker *w, struct view *v, uint32_t spinning)
{
	struct poll_half *half = w->halves[__atomic_load_n(&w->which, __ATOMIC_ACQUIRE)];
	const struct page_slot *slot = &v->slot;

	v->key.busy = v->key.level > spinning ? v->key.level - spinning : 0;
	v->key.spinning = slot->state == QZ_WAIT_SPINNING;
	v->key.task = slot->task;
	v->key.base = slot->base;
	v->key.object = v->key.spinning ? slot->object : 0;
	if (poll_half__count(half, &v->key, slot->ids + slot->base, slot->n - slot->base))
		w->figures.samples++;
	else
		w->figures.lost++;
}

/*
 * All processors are looked at before anything is counted, so that the moment is one moment. Those
 * of this worker's share are sampled; spinning is told of all.
 */
static void make_round(struct worker *w)
{
	const struct qz_cpu_state *cpus = engine__cpus(w->poller->engine);
	uint32_t n = engine__processors(w->poller->engine), workers = w->poller->nworkers;

	__atomic_store_n(&w->round, w->round + 1, __ATOMIC_SEQ_CST);
	pages__enter(w->poller->pages, w->number);
	for (uint32_t i = 0; i < n; i++) {
		watch_events(w, &cpus[i]);
		look(w, &cpus[i], &w->views[i]);
	}
	for (uint32_t i = w->number; i < n; i += workers)
		if (w->views[i].found)
			count(w, &w->views[i], count_spinning(w, n, w->views[i].key.scope));
	if (engine__now() >= w->sweep_due) {
		sweep(w, SWEEP_PAGES);
		w->sweep_due = engine__now() + SWEEP_NS;
	}
	pages__leave(w->poller->pages, w->number);
	__atomic_store_n(&w->round, w->round + 1, __ATOMIC_RELEASE);
	w->figures.rounds++;
}

/* Between half a period and one and a half, so that it beats with nothing. */
static uint64_t next_pause(struct worker *w)
{
	uint64_t period = SECOND / w->poller->options.rate;

	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return period / 2 + w->random % (period + 1);
}

static void sleep_until(uint64_t when)
{
	struct timespec ts = {when / SECOND, when % SECOND};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static uint64_t pause_until_next(struct worker *w, uint64_t due)
{
	uint64_t now = engine__now();

	if (!pages__limit(w->poller->pages)) {
		sleep_until(now + IDLE_NS);
		return engine__now();
	}
	if (w->poller->options.busy)
		return now;
	due += next_pause(w);
	if (due < now) {
		w->figures.late++;
		return now;
	}
	sleep_until(due);
	return due;
}

static void settle_down(struct worker *w)
{
	struct sched_param priority = {.sched_priority = REAL_TIME};
	cpu_set_t own;

	pthread_setname_np(pthread_self(), "quartzd-poll");
	prctl(PR_SET_TIMERSLACK, 1ul);
	if (w->cpu < 0)
		return;
	CPU_ZERO(&own);
	CPU_SET(w->cpu, &own);
	sched_setaffinity(0, sizeof(own), &own);
	/* one that never sleeps must leave some of its processor to the rest of quartzd */
	w->figures.real_time = !w->poller->options.busy &&
			       !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);
}

static void *work(void *argument)
{
	struct worker *w = argument;
	uint64_t due = engine__now();

	settle_down(w);
	while (!__atomic_load_n(&w->poller->stop, __ATOMIC_ACQUIRE)) {
		make_round(w);
		due = pause_until_next(w, due);
	}
	/* what was written last */
	pages__enter(w->poller->pages, w->number);
	sweep(w, UINT32_MAX);
	pages__leave(w->poller->pages, w->number);
	return NULL;
}

/* ---- starting and stopping ---- */

static int init_worker(struct poller *p, uint32_t number)
{
	struct worker *w = &p->workers[number];

	w->poller = p;
	w->number = number;
	w->cpu = p->options.ncpus ? p->options.cpus[number] : -1;
	w->random = 0x9e3779b97f4a7c15ull + number;
	w->views = calloc(engine__processors(p->engine), sizeof(*w->views));
	w->halves[0] = calloc(1, sizeof(*w->halves[0]));
	w->halves[1] = calloc(1, sizeof(*w->halves[1]));
	return w->views && w->halves[0] && w->halves[1] ? 0 : -ENOMEM;
}

struct poller *poller__new(const struct poller_options *options, struct engine *engine,
			   struct pages *pages, struct event_log *events)
{
	struct poller *p = calloc(1, sizeof(*p));
	int err = 0;

	if (!p)
		return NULL;
	p->options = *options;
	p->engine = engine;
	p->pages = pages;
	p->events = events;
	p->nworkers = options->ncpus ? options->ncpus : 1;
	for (uint32_t i = 0; i < p->nworkers && !err; i++)
		err = init_worker(p, i);
	for (uint32_t i = 0; i < p->nworkers && !err; i++) {
		err = -pthread_create(&p->workers[i].thread, NULL, work, &p->workers[i]);
		p->workers[i].running = !err;
	}
	if (!err)
		return p;
	poller__free(p);
	errno = -err;
	return NULL;
}

void poller__stop(struct poller *p)
{
	__atomic_store_n(&p->stop, true, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < p->nworkers; i++)
		if (p->workers[i].running) {
			pthread_join(p->workers[i].thread, NULL);
			p->workers[i].running = false;
		}
}

void poller__free(struct poller *p)
{
	if (!p)
		return;
	poller__stop(p);
	for (uint32_t i = 0; i < p->nworkers; i++) {
		struct worker *w = &p->workers[i];

		for (uint32_t k = 0; k < MAX_PAGES; k++)
			free(w->seen[k]);
		free(w->views);
		free(w->halves[0]);
		free(w->halves[1]);
	}
	free(p);
}

/* ---- results ---- */

/* Waits until the worker is not in a round that it began with the half before: microseconds. */
static void turn(struct worker *w)
{
	uint64_t round;

	__atomic_store_n(&w->which, !w->which, __ATOMIC_SEQ_CST);
	round = __atomic_load_n(&w->round, __ATOMIC_SEQ_CST);
	while (w->running && round & 1 && __atomic_load_n(&w->round, __ATOMIC_ACQUIRE) == round)
		usleep(10);
}

void poller__turn(struct poller *p)
{
	for (uint32_t i = 0; i < p->nworkers; i++)
		turn(&p->workers[i]);
}

void poller__each(struct poller *p, poller_call *call, void *context)
{
	for (uint32_t i = 0; i < p->nworkers; i++) {
		const struct poll_half *h = p->workers[i].halves[!p->workers[i].which];

		for (uint32_t k = 0; k < POLL_SAMPLES && h->used; k++)
			if (h->samples[k].hash)
				call(context, &h->samples[k], &h->ids[h->samples[k].first]);
	}
}

void poller__clear(struct poller *p)
{
	for (uint32_t i = 0; i < p->nworkers; i++)
		if (p->workers[i].halves[!p->workers[i].which]->used)
			poll_half__clear(p->workers[i].halves[!p->workers[i].which]);
}

void poller__figures(const struct poller *p, struct poller_figures *sum)
{
	*sum = (struct poller_figures) {.real_time = true};
	for (uint32_t i = 0; i < p->nworkers; i++) {
		const struct poller_figures *f = &p->workers[i].figures;

		sum->rounds += f->rounds;
		sum->slots += f->slots;
		sum->samples += f->samples;
		sum->lost += f->lost;
		sum->invalid += f->invalid;
		sum->torn += f->torn;
		sum->late += f->late;
		sum->real_time = sum->real_time && f->real_time;
	}
}
