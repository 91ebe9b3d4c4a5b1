// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "daemon/kernel/bpf_scopes.h"
#include "daemon/shm/shm_sampler.h"

#define SECOND	    1000000000ull
#define IDLE_NS	    10000000ull /* between two looks for a first page set */
#define SWEEP_NS    20000000ull /* between two visits to threads that do not run */
#define SWEEP_PAGES 64		/* at a time */
#define SWEEP_SLOTS 65536	/* after which no other page set is begun */
#define REAL_TIME   1 /* priority: above every ordinary thread, below all others like it */

/* The last event seen of a slot, and whose it was. */
struct seen {
	uint32_t tid;
	uint64_t event;
};

/* Those of a page set. */
struct events {
	uint32_t image;
	struct seen seen[QZ_SLOTS];
};

/* What a round has found on one processor. */
struct view {
	bool found;
	struct poll_key key;
	uint32_t pid;
	struct page_slot slot;
};

struct worker {
	struct shm_sampler *poller;
	uint32_t number;
	int cpu; /* -1: any */
	pthread_t thread;
	uint32_t which; /* buffer in use */
	uint64_t round; /* odd while a round is made, see swap_buffer */
	struct poll_buffer *buffers[2];
	struct view *views; /* one per processor */
	struct events *seen[MAX_PAGES];
	uint64_t sweep_due;
	uint32_t swept; /* page set visited last */
	bool running;
	uint64_t random;
	struct shm_sampler_figures figures;
};

struct shm_sampler {
	struct shm_sampler_options options;
	struct bpf_runtime *bpf;
	struct shm_sets *sets;
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
	struct page *page = index ? shm_sets__at(w->poller->sets, index - 1) : NULL;

	v->key.image = *(volatile const uint32_t *)&cpu->image;
	v->key.serial = *(volatile const uint32_t *)&cpu->serial;
	v->key.scope = *(volatile const uint32_t *)&cpu->scope;
	if (v->key.scope == QZ_NO_SCOPE || !page || page->image != v->key.image || !slot)
		return NULL;
	v->pid = page->pid;
	return shm_sets__slot(w->poller->sets, page, slot - 1);
}

/* The processors that run a thread of a scope. */
static uint32_t count_running(const struct worker *w, uint32_t scope)
{
	const struct qz_cpu_state *cpus = bpf_runtime__cpus(w->poller->bpf);
	uint32_t n = 0;

	for (uint32_t i = 0; i < bpf_runtime__processors(w->poller->bpf); i++)
		n += __atomic_load_n(&cpus[i].scope, __ATOMIC_ACQUIRE) == scope;
	return n;
}

/* Good only if the thread is still there when all has been copied. */
static void look(struct worker *w, const struct qz_cpu_state *cpu, struct view *v)
{
	uint64_t run = __atomic_load_n(&cpu->run, __ATOMIC_ACQUIRE);
	const struct qz_slot *slot;

	v->found = false;
	if (run & 1)
		return;
	slot = find_slot(w, cpu, v);
	if (!slot)
		return;
	w->figures.slots++;
	if (shm_slot__copy(slot, &v->slot) == PAGE_SLOT_INVALID) {
		w->figures.invalid++;
		return;
	}
	v->key.level = count_running(w, v->key.scope);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&cpu->run, __ATOMIC_ACQUIRE) != run || !v->key.level ||
	    *(volatile const uint32_t *)&cpu->scope != v->key.scope) {
		w->figures.torn++;
		return;
	}
	v->found = true;
}

/* ---- events ---- */

/* What was kept of another page set of this index goes: it may have had many more slots. */
static struct seen *find_seen(struct worker *w, const struct page *page, uint32_t index)
{
	struct events **events = &w->seen[page->index];

	if (*events && (*events)->image != page->image) {
		free(*events);
		*events = NULL;
	}
	if (!*events)
		*events = calloc(1, sizeof(**events));
	if (!*events)
		return NULL;
	(*events)->image = page->image;
	return &(*events)->seen[index];
}

/* The number runs on over all threads that use a slot one after the other. */
static void take_event(struct worker *w, const struct page *page, uint32_t index)
{
	const struct qz_slot *slot = &page->slots[index];
	uint64_t event = *(volatile const uint64_t *)&slot->event;
	struct seen *seen = event ? find_seen(w, page, index) : NULL;
	struct qz_event_trace_record record;

	if (!seen || event == seen->event)
		return;
	record = (struct qz_event_trace_record) {
		.time_ns = bpf_runtime__now(),
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
	const struct page *page = slot ? shm_sets__at(w->poller->sets, cpu->page - 1) : NULL;

	if (page && page->image == v.key.image && has_events(w, page) && slot >= page->slots &&
	    slot < page->slots + QZ_SLOTS)
		take_event(w, page, slot - page->slots);
}

static uint32_t sweep_page(struct worker *w, struct page *page, bool now)
{
	struct shm_sets *sets = w->poller->sets;
	struct qz_page_header header;

	if (shm_tables__header(page->tables, &header))
		return 0;
	for (uint32_t i = shm_sets__next_slot(sets, page, 0, header.slots_used, now);
	     i < header.slots_used;
	     i = shm_sets__next_slot(sets, page, i + 1, header.slots_used, now))
		take_event(w, page, i);
	return header.slots_used;
}

/* Last events of threads that have left their processors, some page sets at a time. */
static void sweep(struct worker *w, uint32_t npages, uint64_t nslots, bool now)
{
	uint32_t limit = shm_sets__limit(w->poller->sets);
	uint64_t slots = 0;

	for (uint32_t i = 0; i < npages && i < limit && slots < nslots; i++) {
		struct page *page;

		w->swept = (w->swept + 1) % limit;
		page = shm_sets__at(w->poller->sets, w->swept);
		if (page && has_events(w, page)) {
			slots += sweep_page(w, page, now);
		} else if (!page) {
			free(w->seen[w->swept]);
			w->seen[w->swept] = NULL;
		}
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
	struct poll_buffer *buffer = w->buffers[__atomic_load_n(&w->which, __ATOMIC_ACQUIRE)];
	const struct page_slot *slot = &v->slot;

	v->key.busy = v->key.level > spinning ? v->key.level - spinning : 0;
	v->key.spinning = slot->state == QZ_WAIT_SPINNING;
	v->key.task = slot->task;
	v->key.base = slot->base;
	v->key.object = v->key.spinning ? slot->object : 0;
	if (poll_buffer__count(buffer, &v->key, slot->ids + slot->base, slot->n - slot->base))
		w->figures.samples++;
	else
		w->figures.lost++;
}

/*
 * All processors are read before anything is counted, so that they are read at one moment. Those of this worker's share are
 * sampled; spinning is found of all.
 */
static void make_round(struct worker *w)
{
	const struct qz_cpu_state *cpus = bpf_runtime__cpus(w->poller->bpf);
	uint32_t n = bpf_runtime__processors(w->poller->bpf), workers = w->poller->nworkers;

	__atomic_store_n(&w->round, w->round + 1, __ATOMIC_SEQ_CST);
	shm_sets__enter(w->poller->sets, w->number);
	for (uint32_t i = 0; i < n; i++) {
		watch_events(w, &cpus[i]);
		look(w, &cpus[i], &w->views[i]);
	}
	for (uint32_t i = w->number; i < n; i += workers)
		if (w->views[i].found)
			count(w, &w->views[i], count_spinning(w, n, w->views[i].key.scope));
	if (bpf_runtime__now() >= w->sweep_due) {
		sweep(w, SWEEP_PAGES, SWEEP_SLOTS, false);
		w->sweep_due = bpf_runtime__now() + SWEEP_NS;
	}
	shm_sets__leave(w->poller->sets, w->number);
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
	uint64_t now = bpf_runtime__now();

	if (!shm_sets__limit(w->poller->sets)) {
		sleep_until(now + IDLE_NS);
		return bpf_runtime__now();
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
	uint64_t due = bpf_runtime__now();

	settle_down(w);
	while (!__atomic_load_n(&w->poller->stop, __ATOMIC_ACQUIRE)) {
		make_round(w);
		due = pause_until_next(w, due);
	}
	/* what was written last */
	shm_sets__enter(w->poller->sets, w->number);
	sweep(w, UINT32_MAX, UINT64_MAX, true);
	shm_sets__leave(w->poller->sets, w->number);
	return NULL;
}

/* ---- starting and stopping ---- */

static int init_worker(struct shm_sampler *p, uint32_t number)
{
	struct worker *w = &p->workers[number];

	w->poller = p;
	w->number = number;
	w->cpu = p->options.ncpus ? p->options.cpus[number] : -1;
	w->random = 0x9e3779b97f4a7c15ull + number;
	w->views = calloc(bpf_runtime__processors(p->bpf), sizeof(*w->views));
	w->buffers[0] = calloc(1, sizeof(*w->buffers[0]));
	w->buffers[1] = calloc(1, sizeof(*w->buffers[1]));
	return w->views && w->buffers[0] && w->buffers[1] ? 0 : -ENOMEM;
}

struct shm_sampler *shm_sampler__new(const struct shm_sampler_options *options,
				     struct bpf_runtime *bpf, struct shm_sets *sets,
				     struct event_log *events)
{
	struct shm_sampler *p = calloc(1, sizeof(*p));
	int err = 0;

	if (!p)
		return NULL;
	p->options = *options;
	p->bpf = bpf;
	p->sets = sets;
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
	shm_sampler__free(p);
	errno = -err;
	return NULL;
}

void shm_sampler__stop(struct shm_sampler *p)
{
	__atomic_store_n(&p->stop, true, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < p->nworkers; i++)
		if (p->workers[i].running) {
			pthread_join(p->workers[i].thread, NULL);
			p->workers[i].running = false;
		}
}

void shm_sampler__free(struct shm_sampler *p)
{
	if (!p)
		return;
	shm_sampler__stop(p);
	for (uint32_t i = 0; i < p->nworkers; i++) {
		struct worker *w = &p->workers[i];

		for (uint32_t k = 0; k < MAX_PAGES; k++)
			free(w->seen[k]);
		free(w->views);
		free(w->buffers[0]);
		free(w->buffers[1]);
	}
	free(p);
}

/* ---- results ---- */

/* Waits until the worker is not in a round that it began with the buffer before: microseconds. */
static void swap_buffer(struct worker *w)
{
	uint64_t round;

	__atomic_store_n(&w->which, !w->which, __ATOMIC_SEQ_CST);
	round = __atomic_load_n(&w->round, __ATOMIC_SEQ_CST);
	while (w->running && round & 1 && __atomic_load_n(&w->round, __ATOMIC_ACQUIRE) == round)
		usleep(10);
}

void shm_sampler__swap_buffers(struct shm_sampler *p)
{
	for (uint32_t i = 0; i < p->nworkers; i++)
		swap_buffer(&p->workers[i]);
}

void shm_sampler__each(struct shm_sampler *p, poller_call *call, void *context)
{
	for (uint32_t i = 0; i < p->nworkers; i++) {
		const struct poll_buffer *buffer = p->workers[i].buffers[!p->workers[i].which];

		for (uint32_t k = 0; k < POLL_SAMPLES && buffer->used; k++)
			if (buffer->samples[k].hash)
				call(context, &buffer->samples[k],
				     &buffer->ids[buffer->samples[k].first]);
	}
}

void shm_sampler__clear(struct shm_sampler *p)
{
	for (uint32_t i = 0; i < p->nworkers; i++)
		if (p->workers[i].buffers[!p->workers[i].which]->used)
			poll_buffer__clear(p->workers[i].buffers[!p->workers[i].which]);
}

void shm_sampler__figures(const struct shm_sampler *p, struct shm_sampler_figures *sum)
{
	*sum = (struct shm_sampler_figures) {.real_time = true};
	for (uint32_t i = 0; i < p->nworkers; i++) {
		const struct shm_sampler_figures *f = &p->workers[i].figures;

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
