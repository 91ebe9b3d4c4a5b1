// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/loss_accounting.h"
#include "daemon/collect/collector_state.h"
#include "daemon/collect/rounds.h"
#include "daemon/collect/sample_rounds.h"
#include "daemon/collect/scope_gc.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/shm/shm_counters.h"
#include "daemon/shm/shm_polling.h"
#include "daemon/target/event_reader.h"
#include "daemon/target/reorder_buffer.h"
#include "daemon/unwind/unwind_worker.h"
#include "daemon/waits/wait_drain.h"

uint64_t loss_accounting__idle_ns(const struct bpf_runtime *bpf)
{
	const struct qz_cpu_state *cpus = bpf_runtime__cpus(bpf);
	uint64_t now = bpf_runtime__now(), idle = 0;

	for (uint32_t cpu = 0; cpu < bpf_runtime__processors(bpf); cpu++) {
		uint64_t since = cpus[cpu].idle_since;

		idle += cpus[cpu].idle_ns + (since && since < now ? now - since : 0);
	}
	return idle;
}

uint64_t loss_accounting__unsampled_ns(const struct collector *c)
{
	return loss_accounting__idle_ns(c->bpf) + live__figures(c->live).off_ns;
}

/*
 * Nothing is expected of the time after the clock stopped by itself. It counts as idle: it is not known how many timers
 * fired, since there are kernels on which those of an idle processor run no program.
 */
static uint64_t expected(const struct collector *c)
{
	uint64_t alone_ns = bpf_runtime__alone_ns(c->bpf) * perf_sampler__online(c->sampler);

	return perf_sampler__expected(c->sampler, loss_accounting__unsampled_ns(c) + alone_ns);
}

/* What each processor counts for itself. */
static void add_processors(struct qz_ledger *l, const struct collector *c)
{
	static const char *const names[] = QZ_LOSS_NAMES;
	const struct qz_cpu_state *cpus = bpf_runtime__cpus(c->bpf);
	uint64_t lost[QZ_LOSSES] = {0}, gaps = 0, walks = 0;

	for (uint32_t cpu = 0; cpu < bpf_runtime__processors(c->bpf); cpu++) {
		l->accepted += cpus[cpu].accepted;
		l->filtered += cpus[cpu].filtered;
		gaps += cpus[cpu].gaps;
		walks += cpus[cpu].wait_walks;
		for (int i = 0; i < QZ_LOSSES; i++)
			lost[i] += cpus[cpu].lost[i];
	}
	l->expected = expected(c);
	l->accepted -= c->not_stored + c->misplaced + c->unplaced;
	lost[QZ_LOSS_FRAMES_FULL] += c->not_stored;
	for (int i = 0; i < QZ_LOSSES; i++)
		qz_ledger__add_loss(l, names[i], lost[i]);
	qz_ledger__add_loss(l, "misplaced", c->misplaced);
	qz_ledger__add_loss(l, "unplaced", c->unplaced);
	qz_ledger__add_event(l, "implicit_switches", gaps);
	qz_ledger__add_event(l, "wait_stacks_walked", walks);
}

static void add_control(struct qz_ledger *l, const struct qz_control *control)
{
	static const char *const shares[] = QZ_SHARE_NAMES;

	for (int i = 0; i < QZ_SHARES; i++)
		qz_ledger__add_event(l, shares[i], control->limited[i]);
	qz_ledger__add_event(l, "events_lost", control->events_lost);
	qz_ledger__add_event(l, "scopes_refused", control->scopes_refused);
	qz_ledger__add_event(l, "threads_refused", control->threads_refused);
	qz_ledger__add_event(l, "wait_stacks_lost", control->wait_stacks_lost);
	qz_ledger__add_event(l, "objects_full", control->objects_full);
	qz_ledger__add_event(l, "running_stacks_lost", control->running_stacks_lost);
}

/* How much was written down, and what was odd there. */
static void add_log(struct qz_ledger *l, const struct live *live)
{
	struct live_figures f = live__figures(live);
	const struct {
		const char *name;
		uint64_t n;
	} events[] = {
		{"log_records", f.reader.records},
		{"log_overwritten", f.reader.lost},
		{"log_lost_ns", f.replay.lost_ns},
		{"log_off_ns", f.off_ns},
		{"log_late", f.replay.late},
		{"log_impossible", f.replay.impossible + f.refused},
		{"waits_without_wake_up", f.replay.unwoken},
		{"threads_unborn", f.replay.unborn},
		{"threads_unended", f.replay.unended},
		{"threads_unnumbered", f.nameless},
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		qz_ledger__add_event(l, events[i].name, events[i].n);
}

static void add_symbolizers(struct qz_ledger *l, const struct collector *c)
{
	const struct symbolizer_counters *child = symbolizer__counters(c->symbolizer);
	struct unwind_worker_figures figures = unwind_worker__figures(c->worker);

	qz_ledger__add_event(l, "symbolizer_killed", child->killed + figures.killed);
	qz_ledger__add_event(l, "symbolizer_ended", child->crashed + figures.ended);
	qz_ledger__add_event(l, "tables_full", figures.full);
	qz_ledger__add_event(l, "modules_refused", child->modules_refused + figures.refused);
}

void loss_accounting__refresh(struct collector *c)
{
	struct qz_ledger *l = &c->profile->ledger;

	qz_ledger__clear(l);
	add_processors(l, c);
	add_control(l, bpf_runtime__control(c->bpf));
	qz_ledger__add_event(l, "reports_dropped",
			     reorder_buffer__dropped(c->reorder) +
				     event_reader__dropped(c->reader));
	qz_ledger__add_event(l, "processes_folded", c->gc ? scope_gc__folded(c->gc) : 0);
	qz_ledger__add_event(l, "mappings_lost", perf_sampler__reports_lost(c->sampler));
	qz_ledger__add_event(l, "waits_lost", wait_drain__count_lost(c->waits));
	qz_ledger__add_event(l, "woken_unaccounted_ns", wait_drain__woken_unaccounted(c->waits));
	add_log(l, c->live);
	add_symbolizers(l, c);
	outside__ledger(&c->outside, l);
	sample_rounds__ledger(c->sampled, l);
	if (c->counters)
		shm_counters__ledger(c->counters, l);
	if (c->polling)
		shm_polling__ledger(c->polling, l);
	if (c->rounds)
		rounds__ledger(c->rounds, l);
	qz_ledger__close(l);
}
