// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/collector_state.h"
#include "daemon/kernel/kallsyms.h"
#include "daemon/attribution/address_cache.h"
#include "daemon/attribution/spawn_stacks.h"
#include "daemon/attribution/threads.h"
#include "daemon/collect/groups.h"
#include "daemon/collect/rounds.h"
#include "daemon/collect/scope_gc.h"
#include "daemon/collect/scopes.h"
#include "daemon/kernel/map_quota.h"
#include "daemon/shm/shm_counters.h"
#include "daemon/shm/shm_polling.h"
#include "daemon/collect/sample_rounds.h"
#include "daemon/spin/spin_classify.h"
#include "daemon/spin/spin_tracker.h"
#include "daemon/target/event_reader.h"
#include "daemon/unwind/unwind_worker.h"
#include "daemon/waits/wait_drain.h"
#include "daemon/what_if/candidates.h"
#include "daemon/collect/self_overhead.h"
#include "daemon/collect/loss_accounting.h"
#include "daemon/waits/object_naming.h"
#include "daemon/attribution/instrumented_stacks.h"

#define SWAP_PERIOD 1000000000ull /* ns between swaps of the sampler's tables */
#define SWAP_FILL   50		  /* percent of a table at which they are swapped early */
#define SWAP_REST   80000000ull	  /* at least, see sample__enter in bpf/sample.bpf.h */
/* A report made by now is in its ring after this time, so that order by time is the true order. */
#define SETTLING     2000000ull
#define SETTLED	     3000000ull	  /* after a swap: what was reported before it is in order */
#define TICK_WORK    100000000ull /* of reports in one tick: others wait for an answer */
#define MAX_BEHIND   (32u << 20)  /* bytes of reports that wait */
#define ENDING_TRIES 500	  /* of 1 ms, for threads between their end and their last switch */
#define SOON_PERIOD                                                                                \
	150000000ull /* as SWAP_PERIOD, when code was replaced, or numbers of scopes are short */
#define REPLACED_REST 100000000ull /* from one look at what was replaced to the next */
/* Processes, their files, and unwind tables of these. False with errno ENOMEM or EMFILE, as those below. */
static bool make_target(struct collector *c, const struct symbolizer_options *options)
{
	c->symbolizer = symbolizer__new(options);
	c->reports = reorder_buffer__new();
	if (!c->symbolizer || !c->reports)
		return false;
	c->modules = modules__new(c->symbolizer);
	c->images = c->modules ? address_spaces__new(c->modules) : NULL;
	if (c->images && bpf_runtime__follows_all(c->engine))
		address_spaces__keep_all(c->images);
	c->reader = c->images ? event_reader__new(c->engine, c->sampler, c->images) : NULL;
	if (c->reader)
		c->builder = unwind_worker__new(c->engine, c->reader, c->images, c->modules);
	return c->builder;
}

/* From addresses to procedures, and which of these spin. */
static bool make_attribution(struct collector *c, const struct spin_rules *rules)
{
	c->addresses = address_cache__new(c->symbolizer, c->modules, c->kernel, c->profile);
	if (!c->addresses)
		return false;
	c->creation = spawn_stacks__new(c->symbolizer, c->images, c->addresses, c->profile);
	c->classes = spin_classify__new(c->symbolizer, c->modules, c->kernel, rules);
	if (!c->creation || !c->classes)
		return false;
	c->stacks = (struct stack_context) {
		.images = c->images,
		.modules = c->modules,
		.addresses = c->addresses,
		.profile = c->profile,
		.creation = c->creation,
		.scopes = scopes__rows(c->scopes),
		.nscopes = bpf_runtime__max_scopes(c->engine),
	};
	c->spinning = spin_tracker__new(c->engine, c->images, c->modules, c->classes);
	return c->spinning;
}

/* What samples and waits are drained by. */
static bool make_drains(struct collector *c)
{
	c->sampled = sample_rounds__new(
		&(struct sample_rounds_context) {c->engine, c->images, c->threads, c->spinning});
	if (!c->sampled)
		return false;
	c->groups = groups__new(
		&(struct groups_context) {c->engine, c->profile, c->scopes, c->threads, c->images});
	if (!c->groups)
		return false;
	c->names = object_naming__new(c->symbolizer, c->modules, c->profile);
	if (c->names)
		c->waits = wait_drain__new(c->engine, c->threads, &c->stacks, c->names);
	c->shares = map_quota__new(c->engine);
	return c->waits && c->shares;
}

struct collector *collector__new(struct bpf_runtime *engine, struct perf_sampler *sampler,
				 const struct symbolizer_options *options,
				 const struct spin_rules *rules, struct kallsyms **kernel)
{
	struct collector *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return NULL;
	c->kernel = *kernel;
	*kernel = NULL;
	c->engine = engine;
	c->sampler = sampler;
	c->profile = qz_profile__new();
	c->scopes = c->profile ? scopes__new(engine, c->profile) : NULL;
	c->threads = threads__new(c->profile);
	if (c->scopes && c->threads && make_target(c, options) && make_attribution(c, rules) &&
	    make_drains(c)) {
		c->swapped = bpf_runtime__now();
		return c;
	}
	err = errno;
	collector__free(c);
	errno = err;
	return NULL;
}

void collector__free(struct collector *c)
{
	if (!c)
		return;
	unwind_worker__free(c->builder);
	event_reader__free(c->reader);
	reorder_buffer__free(c->reports);
	free(c->kept);
	wait_drain__free(c->waits);
	map_quota__free(c->shares);
	shm_polling__free(c->polling);
	rounds__free(c->rounds);
	candidates__free(c->candidates);
	object_naming__free(c->names);
	shm_counters__free(c->page_figures);
	instrumented_stacks__free(c->stacks.selfreport);
	sample_rounds__free(c->sampled);
	scope_gc__free(c->ended);
	groups__free(c->groups);
	spin_tracker__free(c->spinning);
	spin_classify__free(c->classes);
	spawn_stacks__free(c->creation);
	address_cache__free(c->addresses);
	kallsyms__free(c->kernel);
	address_spaces__free(c->images);
	threads__free(c->threads);
	modules__free(c->modules);
	symbolizer__free(c->symbolizer);
	scopes__free(c->scopes);
	qz_profile__free(c->profile);
	free(c);
}

int collector__use_pages(struct collector *c, struct shm_sets *pages)
{
	c->stacks.selfreport = instrumented_stacks__new(pages, &c->stacks);
	if (!c->stacks.selfreport)
		return -ENOMEM;
	c->pages = pages;
	c->page_figures = shm_counters__new(pages, c->engine, &c->stacks);
	return c->page_figures ? 0 : -ENOMEM;
}

int collector__use_poller(struct collector *c, struct shm_sampler *poller)
{
	c->polling = shm_polling__new(poller, c->threads, &c->stacks);
	return c->polling ? 0 : -ENOMEM;
}

void collector__use_rounds(struct collector *c, uint32_t rate)
{
	c->profile->instants.rate_hz = rate;
	c->profile->instants.sampled = true;
}

int collector__use_instants(struct collector *c, struct module_rounds *instants, uint32_t rate)
{
	c->rounds = rounds__new(instants, rate, bpf_runtime__processors(c->engine), c->spinning,
				&c->stacks);
	return c->rounds ? 0 : -ENOMEM;
}

int collector__use_what_if(struct collector *c, const char *names)
{
	struct candidates_context context = {
		.engine = c->engine,
		.images = c->images,
		.modules = c->modules,
		.symbolizer = c->symbolizer,
		.addresses = c->addresses,
		.waits = c->waits,
		.profile = c->profile,
	};

	c->candidates = candidates__new(&context, names);
	return c->candidates ? 0 : -errno;
}

int collector__add_scope(struct collector *c, uint32_t scope, enum qz_scope_kind kind, int pid,
			 const char *comm, const char *command)
{
	int64_t index = scopes__add(c->scopes, scope, kind, pid, comm, command);

	return index < 0 ? (int)index : 0;
}

int collector__add_own_scopes(struct collector *c)
{
	bool contained = bpf_runtime__is_contained(c->engine);
	int err = collector__add_scope(c, QZ_SCOPE_OF_MACHINE, QZ_SCOPE_MACHINE, 0,
				       contained ? QZ_CONTAINED : "machine", "");

	/* the kernel's threads are in the initial namespace alone */
	if (err || contained)
		return err;
	return collector__add_scope(c, QZ_SCOPE_OF_KERNEL, QZ_SCOPE_KERNEL, 0, "kernel", "");
}

int collector__keep_ended(struct collector *c, uint64_t bytes)
{
	c->ended = scope_gc__new(c->engine, bytes);
	return c->ended ? 0 : -ENOMEM;
}

void collector__on_fold(struct collector *c, void (*before)(void *context),
			void (*after)(void *context), void *context)
{
	c->before_fold = before;
	c->after_fold = after;
	c->fold_context = context;
}

static void take_reports(struct collector *c)
{
	if (reorder_buffer__bytes(c->reports) > MAX_BEHIND)
		return; /* they are put aside next, and then fill the rings, which count what is lost */
	c->complete = event_reader__take(c->reader, c->reports);
}

/* So near to a swap that no sample comes between: all of one half are of one rate. */
static void change_rates(struct collector *c)
{
	c->halvings_drained = c->halvings;
	c->schedule_drained = *perf_sampler__schedule(c->sampler);
	if (c->halvings == c->halvings_wanted && !perf_sampler__wants_restart(c->sampler))
		return;
	c->halvings = c->profile->halvings = c->halvings_wanted;
	perf_sampler__set_halvings(c->sampler, c->halvings,
				   loss_accounting__idle_ns(c->engine, bpf_runtime__now()));
	for (uint32_t i = 0; i < bpf_runtime__processors(c->engine); i++)
		bpf_runtime__cpus(c->engine)[i].halvings = c->halvings;
}

/* Whether what is in use is looked through: the times after which things are freed are in drains, of a second. */
static bool ages(struct collector *c, uint64_t now)
{
	if (now - c->aged < SWAP_PERIOD)
		return false;
	c->aged = now;
	return true;
}

/* The answers of one round are to be in one half. */
static void await_end_of_round(const struct collector *c)
{
	uint64_t now = bpf_runtime__now();
	uint64_t at = timer_schedule__between(perf_sampler__schedule(c->sampler), now);

	if (at > now)
		usleep((at - now) / 1000);
}

static int swap_buffers(struct collector *c)
{
	bool aging = ages(c, bpf_runtime__now());
	int err;

	await_end_of_round(c);
	change_rates(c);
	err = bpf_runtime__swap_buffers(c->engine, &c->half);
	if (c->polling)
		shm_polling__swap_buffers(c->polling);
	if (aging)
		groups__follow(c->groups);
	wait_drain__take(c->waits, aging);
	map_quota__drained(c->shares);
	spin_tracker__teach(c->spinning);
	c->swapped = bpf_runtime__now();
	c->name_soon = false;
	c->half_waits = !err;
	c->half_ages = aging;
	return err;
}

/*
 * Before code takes the place of other code, what was sampled in the old one is named. Samples that
 * met the new one already are known by the walk of their stack, which has found the tables stale. A
 * program that does it again and again has wrong names.
 */
static void name_before(struct collector *c, uint64_t now)
{
	int err = c->half_waits ? collector__drain_half(c) : 0;

	c->replaced = now;
	if (now - c->swapped < SWAP_REST)
		usleep((SWAP_REST - (now - c->swapped)) / 1000);
	if (!err && !swap_buffers(c)) {
		usleep(SETTLING / 1000);
		collector__drain_half(c);
		c->name_soon = true;
	}
}

static void remap(struct collector *c, const struct remap *remap)
{
	uint64_t now = bpf_runtime__now();

	if (now - c->replaced > REPLACED_REST && address_spaces__replaces(c->images, remap))
		name_before(c, now);
	address_spaces__remap(c->images, remap);
}

static bool take_report(void *context, const struct report *report)
{
	struct collector *c = context;

	if (report->kind == REPORT_REMAP)
		remap(c, &report->remap);
	else
		collector__process_event(c, report->event);
	return !c->hurry || bpf_runtime__now() < c->hurry;
}

/* Up to `until`, or for as long as there is time. */
static void process_reports(struct collector *c, uint64_t until)
{
	uint64_t done = until;

	reorder_buffer__process(c->reports, &done, take_report, c);
	c->processed = done;
	c->behind = until - done;
}

static void process_all_reports(struct collector *c)
{
	if (reorder_buffer__bytes(c->reports) > MAX_BEHIND)
		process_reports(c, c->complete - SETTLING);
	take_reports(c);
	process_reports(c, UINT64_MAX);
}

static uint64_t swap_period(const struct collector *c)
{
	return c->name_soon || (c->ended && scope_gc__is_short(c->ended)) ? SOON_PERIOD
									  : SWAP_PERIOD;
}

int collector__tick(struct collector *c)
{
	uint64_t now = bpf_runtime__now(), since;
	int err = 0;

	bpf_runtime__control(c->engine)->heartbeat = now;
	take_reports(c);
	c->hurry = now + TICK_WORK;
	process_reports(c, c->complete - SETTLING);
	c->hurry = 0;
	if (c->rounds)
		err = rounds__drain(c->rounds, c->processed);
	if (c->candidates)
		candidates__tell(c->candidates);
	since = bpf_runtime__now() - c->swapped;
	if (!err && c->half_waits && c->swapped < c->processed)
		err = collector__drain_half(c);
	if (err || c->half_waits || since < SWAP_REST)
		return err;
	err = spin_tracker__read_processors(c->spinning);
	take_reports(c); /* that may have taken long */
	if (!err &&
	    (since >= swap_period(c) || (c->due && now >= c->due) ||
	     bpf_runtime__fill(c->engine) >= SWAP_FILL || spin_tracker__hurries(c->spinning)))
		err = swap_buffers(c);
	return err;
}

void collector__drain_at(struct collector *c, uint64_t time)
{
	c->due = time;
}

bool collector__was_drained(struct collector *c)
{
	bool drained = c->drained;

	c->drained = false;
	return drained;
}

uint64_t collector__next_tick(const struct collector *c)
{
	return c->due && c->half_waits ? c->swapped + SETTLED : c->due;
}

void collector__set_halvings(struct collector *c, uint32_t halvings)
{
	c->halvings_wanted = halvings;
	unwind_worker__set_halvings(c->builder, halvings);
}

struct qz_costs collector__costs(const struct collector *c, uint64_t interrupt_ns)
{
	return self_overhead__read(c->engine, c->symbolizer, c->builder, interrupt_ns);
}

int collector__start(struct collector *c)
{
	/* from the first sample on, so that it is also noticed when quartzd is stopped before its first tick */
	bpf_runtime__control(c->engine)->heartbeat = bpf_runtime__now();
	return unwind_worker__start(c->builder);
}

void collector__prepare(struct collector *c, int fd, const char *path)
{
	unwind_worker__prepare(c->builder, fd, path);
}

int collector__event_fd(const struct collector *c)
{
	return event_reader__fd(c->reader);
}

/*
 * A thread that ends is taken off the kernel's list some time before its last switch, which tells of
 * it: at the time of the dump it is in neither. It must not be detached from before it was heard of.
 */
int collector__freeze(struct collector *c, uint64_t *until)
{
	int err;

	unwind_worker__stop(c->builder);
	*until = bpf_runtime__freeze(c->engine);
	c->frozen = true;
	err = bpf_scopes__dump(c->engine, *until, collector__keep_thread, c);
	for (int i = 0; !err && i < ENDING_TRIES && c->nkept < scopes__alive(c->scopes); i++) {
		usleep(1000);
		process_all_reports(c);
	}
	return err;
}

uint64_t collector__behind(const struct collector *c)
{
	return c->behind;
}

int collector__patience_ms(const struct collector *c)
{
	return event_reader__patience_ms(c->reader, false, c->halvings);
}

int collector__finish(struct collector *c)
{
	int err = 0;

	process_all_reports(c);
	if (c->rounds)
		err = rounds__finish(c->rounds);
	if (!err && c->half_waits)
		err = collector__drain_half(c);
	err = err ?: swap_buffers(c);
	return err ?: collector__drain_half(c);
}
