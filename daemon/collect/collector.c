// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/collector_state.h"
#include "daemon/attribution/address_cache.h"
#include "daemon/attribution/python_codes.h"
#include "daemon/attribution/spawn_stacks.h"
#include "daemon/attribution/threads.h"
#include "daemon/collect/allowances.h"
#include "daemon/collect/groups.h"
#include "daemon/collect/rounds.h"
#include "daemon/collect/scope_gc.h"
#include "daemon/collect/scopes.h"
#include "daemon/kernel/map_quota.h"
#include "daemon/util/cpu_limit.h"
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
#define SETTLING    2000000ull
#define SETTLED	    3000000ull	 /* after a swap: what was reported before it is in order */
#define TICK_WORK   100000000ull /* of reports in one tick: others wait for an answer */
#define MAX_BEHIND  (32u << 20)	 /* bytes of reports that wait */
#define SOON_PERIOD 150000000ull /* as SWAP_PERIOD, when numbers of scopes are short */

/* Processes, their files, and unwind tables of these. False with errno ENOMEM or EMFILE, as those below. */
static bool make_target(struct collector *c, const struct symbolizer_options *options)
{
	c->symbolizer = symbolizer__new(options);
	c->reorder = reorder_buffer__new();
	if (!c->symbolizer || !c->reorder)
		return false;
	c->modules = modules__new(c->symbolizer);
	c->spaces = c->modules ? address_spaces__new(c->modules) : NULL;
	if (c->spaces && bpf_runtime__follows_all(c->bpf))
		address_spaces__keep_all(c->spaces);
	c->reader = c->spaces ? event_reader__new(c->bpf, c->sampler, c->spaces) : NULL;
	if (c->reader)
		c->worker = unwind_worker__new(c->bpf, c->reader, c->spaces, c->modules,
					       options->tables);
	return c->worker;
}

/* From addresses to procedures, and which of these spin. */
static bool make_attribution(struct collector *c, const struct spin_rules *rules)
{
	c->addresses = address_cache__new(c->symbolizer, c->modules, c->bpf, c->profile);
	if (!c->addresses)
		return false;
	if (!bpf_runtime__follows_all(c->bpf))
		address_cache__expect_late_maps(c->addresses);
	c->python = python_codes__new(c->bpf, c->profile);
	if (!c->python)
		return false;
	c->spawn = spawn_stacks__new(c->symbolizer, c->spaces, c->addresses, c->python, c->profile);
	c->classes = spin_classify__new(c->symbolizer, c->modules, c->bpf, rules);
	if (!c->spawn || !c->classes)
		return false;
	c->stacks = (struct stack_context) {
		.spaces = c->spaces,
		.modules = c->modules,
		.addresses = c->addresses,
		.profile = c->profile,
		.spawn = c->spawn,
		.python = c->python,
		.scopes = scopes__rows(c->scopes),
		.nscopes = bpf_runtime__max_scopes(c->bpf),
	};
	c->tracker = spin_tracker__new(c->bpf, c->spaces, c->classes);
	c->asking = asking__new(&(struct asking_context) {c->addresses, rules, c->profile});
	return c->tracker && c->asking;
}

/* What samples and waits are drained by. */
static bool make_drains(struct collector *c)
{
	c->groups = groups__new(
		&(struct groups_context) {c->bpf, c->profile, c->scopes, c->threads, c->spaces});
	if (!c->groups)
		return false;
	c->names = object_naming__new(c->symbolizer, c->modules, c->profile);
	if (c->names)
		c->lines = line_samples__new(c->bpf, c->tracker, &c->stacks, c->names);
	if (!c->lines)
		return false;
	c->sampled = sample_rounds__new(&(struct sample_rounds_context) {
		c->bpf, c->spaces, c->threads, c->tracker, c->asking, c->lines});
	if (c->sampled)
		c->waits = wait_drain__new(c->bpf, c->threads, &c->stacks, c->names);
	c->quota = map_quota__new(c->bpf);
	return c->waits && c->quota;
}

struct collector *collector__new(struct bpf_runtime *bpf, struct perf_sampler *sampler,
				 const struct symbolizer_options *options,
				 const struct spin_rules *rules)
{
	struct collector *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return NULL;
	c->bpf = bpf;
	c->sampler = sampler;
	c->profile = qz_profile__new();
	c->allowances = c->profile ? allowances__new(c->profile, CPU_LIMIT_ROOT) : NULL;
	c->scopes = c->allowances ? scopes__new(bpf, c->profile, c->allowances) : NULL;
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

void collector__release(struct collector *c)
{
	unwind_worker__free(c->worker);
	event_reader__free(c->reader);
	reorder_buffer__free(c->reorder);
	wait_drain__free(c->waits);
	map_quota__free(c->quota);
	shm_polling__free(c->polling);
	rounds__free(c->rounds);
	candidates__free(c->candidates);
	object_naming__free(c->names);
	shm_counters__free(c->counters);
	instrumented_stacks__free(c->stacks.instrumented);
	sample_rounds__free(c->sampled);
	line_samples__free(c->lines);
	scope_gc__free(c->gc);
	groups__free(c->groups);
	allowances__free(c->allowances);
	outside__free(&c->outside);
	asking__free(c->asking);
	spin_tracker__free(c->tracker);
	spin_classify__free(c->classes);
	spawn_stacks__free(c->spawn);
	python_codes__free(c->python);
	address_cache__free(c->addresses);
	address_spaces__free(c->spaces);
	threads__free(c->threads);
	modules__free(c->modules);
	symbolizer__free(c->symbolizer);
	*c = (struct collector) {.profile = c->profile, .scopes = c->scopes};
}

void collector__free(struct collector *c)
{
	if (!c)
		return;
	collector__release(c);
	scopes__free(c->scopes);
	qz_profile__free(c->profile);
	free(c);
}

int collector__use_pages(struct collector *c, struct shm_sets *sets)
{
	c->stacks.instrumented = instrumented_stacks__new(sets, &c->stacks);
	if (!c->stacks.instrumented)
		return -ENOMEM;
	c->sets = sets;
	c->counters = shm_counters__new(sets, c->bpf, &c->stacks);
	return c->counters ? 0 : -ENOMEM;
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

int collector__use_instants(struct collector *c, struct module_rounds *module_rounds, uint32_t rate)
{
	c->rounds = rounds__new(module_rounds, rate, bpf_runtime__processors(c->bpf), c->tracker,
				&c->stacks);
	return c->rounds ? 0 : -ENOMEM;
}

int collector__use_what_if(struct collector *c, const char *names)
{
	struct candidates_context context = {
		.bpf = c->bpf,
		.spaces = c->spaces,
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
	bool contained = bpf_runtime__is_contained(c->bpf);
	int err = collector__add_scope(c, QZ_SCOPE_OF_MACHINE, QZ_SCOPE_MACHINE, 0,
				       contained ? QZ_CONTAINED : "machine", "");

	/* the kernel's threads are in the initial namespace alone */
	if (err || contained)
		return err;
	return collector__add_scope(c, QZ_SCOPE_OF_KERNEL, QZ_SCOPE_KERNEL, 0, "kernel", "");
}

int collector__keep_ended(struct collector *c, uint64_t bytes)
{
	c->gc = scope_gc__new(c->bpf, bytes);
	return c->gc ? 0 : -ENOMEM;
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
	bool news;

	if (reorder_buffer__bytes(c->reorder) > MAX_BEHIND)
		return; /* they are put aside next, and then fill the rings, which count what is lost */
	c->complete = event_reader__take(c->reader, c->reorder, &news);
	if (news)
		unwind_worker__wake(c->worker);
}

/* When the watchdog has stopped the clock, nothing is sampled at any rate. */
static bool wants_other_rates(const struct collector *c)
{
	return !bpf_runtime__left_alone(c->bpf) &&
	       (c->halvings != c->halvings_wanted || perf_sampler__wants_restart(c->sampler));
}

/* So near to a swap that no sample comes between: all of one buffer are of one rate. */
static void change_rates(struct collector *c)
{
	c->halvings = c->profile->halvings = c->halvings_wanted;
	perf_sampler__set_halvings(c->sampler, c->halvings, loss_accounting__unsampled_ns(c));
	for (uint32_t i = 0; i < bpf_runtime__processors(c->bpf); i++)
		bpf_runtime__cpus(c->bpf)[i].halvings = c->halvings;
	bpf_log__set_halvings(c->bpf, c->halvings);
}

/* Whether what is in use is looked through: the times after which things are freed are in drains, of a second. */
static bool ages(struct collector *c, uint64_t now)
{
	if (now - c->aged < SWAP_PERIOD)
		return false;
	c->aged = now;
	return true;
}

/* The answers of one round are to be in one buffer. */
static void await_end_of_round(const struct collector *c)
{
	uint64_t now = bpf_runtime__now();
	uint64_t at = timer_schedule__between(perf_sampler__schedule(c->sampler), now);

	if (at > now)
		usleep((at - now) / 1000);
}

/* What other programs and control groups had of the processors, while they are there to be asked. */
static void look_around(struct collector *c)
{
	allowances__look(c->allowances);
	if (!bpf_runtime__follows_all(c->bpf))
		outside__take(&c->outside, c->bpf);
}

static int swap_buffers(struct collector *c)
{
	bool aging = ages(c, bpf_runtime__now()), others = wants_other_rates(c);
	int err = others ? collector__follow_log(c) : 0; /* idle times are known until then */

	await_end_of_round(c);
	c->halvings_drained = c->halvings;
	c->schedule_drained = *perf_sampler__schedule(c->sampler);
	if (others)
		change_rates(c);
	err = err ?: bpf_runtime__swap_buffers(c->bpf, &c->buffer);
	if (c->polling)
		shm_polling__swap_buffers(c->polling);
	if (aging) {
		bpf_scopes__tell(c->bpf, 0);
		look_around(c);
	}
	err = err ?: collector__follow_log(c); /* samples of the buffer have their levels then */
	wait_drain__take(c->waits, aging);
	collector__take_waits(c);
	map_quota__drained(c->quota);
	spin_tracker__teach(c->tracker);
	c->swapped = bpf_runtime__now();
	c->buffer_waits = !err;
	c->buffer_ages = aging;
	return err;
}

static bool take_report(void *context, const struct report *report)
{
	struct collector *c = context;

	collector__process_event(c, report->event);
	return !c->hurry || bpf_runtime__now() < c->hurry;
}

/* Up to `until`, or for as long as there is time. */
static void process_reports(struct collector *c, uint64_t until)
{
	uint64_t done = until;

	reorder_buffer__process(c->reorder, &done, take_report, c);
	c->processed = done;
	c->behind = until - done;
	collector__take_ended(c, done);
}

/* What was reported by then is in order, and it is known what threads did. */
static uint64_t complete_until(const struct collector *c)
{
	uint64_t until = c->complete - SETTLING;

	return live__until(c->live) < until ? live__until(c->live) : until;
}

static void process_all_reports(struct collector *c)
{
	if (reorder_buffer__bytes(c->reorder) > MAX_BEHIND)
		process_reports(c, c->complete - SETTLING);
	take_reports(c);
	process_reports(c, UINT64_MAX);
}

static uint64_t swap_period(const struct collector *c)
{
	return c->gc && scope_gc__is_short(c->gc) ? SOON_PERIOD : SWAP_PERIOD;
}

int collector__tick(struct collector *c)
{
	uint64_t now = bpf_runtime__now(), since;
	int err = 0;

	bpf_runtime__control(c->bpf)->heartbeat = now;
	take_reports(c);
	err = collector__follow_log(c);
	c->hurry = now + TICK_WORK;
	process_reports(c, complete_until(c));
	c->hurry = 0;
	if (!err && c->rounds)
		err = rounds__drain(c->rounds, c->processed);
	if (!err && c->candidates)
		err = candidates__publish(c->candidates);
	since = bpf_runtime__now() - c->swapped;
	if (!err && c->buffer_waits && c->swapped < c->processed)
		err = collector__drain_buffer(c);
	if (err || c->buffer_waits || since < SWAP_REST)
		return err;
	err = spin_tracker__read_processors(c->tracker);
	take_reports(c); /* that may have taken long */
	if (!err && (since >= swap_period(c) || (c->due && now >= c->due) ||
		     bpf_runtime__fill(c->bpf) >= SWAP_FILL || spin_tracker__hurries(c->tracker)))
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
	return c->due && c->buffer_waits ? c->swapped + SETTLED : c->due;
}

void collector__set_halvings(struct collector *c, uint32_t halvings)
{
	c->halvings_wanted = halvings;
	unwind_worker__set_halvings(c->worker, halvings);
}

struct qz_costs collector__costs(const struct collector *c, uint64_t interrupt_ns)
{
	struct qz_costs costs = self_overhead__read(c->bpf, c->symbolizer, c->worker, interrupt_ns);

	costs.replay_ns = live__figures(c->live).reader.cpu_ns;
	return costs;
}

void collector__start_ahead(struct collector *c, int fd)
{
	unwind_worker__start_ahead(c->worker, fd);
}

int collector__start(struct collector *c)
{
	/* from the first sample on, so that it is also noticed when quartzd is stopped before its first tick */
	bpf_runtime__control(c->bpf)->heartbeat = bpf_runtime__now();
	return unwind_worker__start(c->worker);
}

void collector__prepare(struct collector *c, int fd, const char *path)
{
	unwind_worker__prepare(c->worker, fd, path);
}

int collector__event_fd(const struct collector *c)
{
	return event_reader__fd(c->reader);
}

int collector__freeze(struct collector *c, uint64_t *until)
{
	int err;

	unwind_worker__stop(c->worker);
	err = live__look(c->live, true);
	*until = bpf_runtime__freeze(c->bpf);
	c->frozen = true;
	return live__finish(c->live, *until) ?: err;
}

uint64_t collector__behind(const struct collector *c)
{
	return c->behind;
}

int collector__patience_ms(const struct collector *c)
{
	return event_reader__tick_ms(c->reader, c->halvings);
}

int collector__finish(struct collector *c)
{
	int err = 0;

	process_all_reports(c);
	if (c->rounds)
		err = rounds__finish(c->rounds);
	if (!err && c->buffer_waits)
		err = collector__drain_buffer(c);
	err = err ?: swap_buffers(c);
	err = err ?: collector__drain_buffer(c);
	return err ?: address_cache__name_late(c->addresses);
}

void collector__remove_maps(struct collector *c, struct runtime_directory *directory)
{
	modules__remove_maps(c->modules, directory);
}
