// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/collector_state.h"
#include "daemon/costs.h"
#include "daemon/ledger.h"
#include "daemon/objname.h"
#include "daemon/selfreport.h"

#define TURN_PERIOD 1000000000ull /* ns between turns of the sampler's tables */
#define TURN_FILL   50		  /* percent of a table at which they are turned early */
#define TURN_REST   100000000ull  /* at least, see sample__enter in bpf/sample.bpf.h */
/* A report made by now is in its ring after this time, so that order by time is the true order. */
#define SETTLING      2000000ull
#define TICK_WORK     100000000ull /* of reports in one tick: others wait for an answer */
#define MAX_BEHIND    (32u << 20)  /* bytes of reports that wait */
#define ENDING_TRIES  500	  /* of 1 ms, for threads between their end and their last switch */
#define HURRY	      50000000ull /* after a report: more are coming */
#define NAME_PERIOD   150000000ull /* as TURN_PERIOD, when code was replaced */
#define REPLACED_REST 100000000ull /* from one look at what was replaced to the next */
struct collector *collector__new(struct engine *engine, struct sampler *sampler,
				 const struct symbolizer_options *options,
				 const struct spin_rules *rules)
{
	struct collector *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->engine = engine;
	c->sampler = sampler;
	c->profile = qz_profile__new();
	c->scopes = c->profile ? scopes__new(engine, c->profile) : NULL;
	c->symbolizer = symbolizer__new(options);
	c->reports = reports__new();
	c->intake = intake__new(engine, sampler);
	if (!c->scopes || !c->symbolizer || !c->reports || !c->intake)
		goto fail;
	c->builder = builder__new(engine, c->intake);
	c->modules = modules__new(c->symbolizer, true);
	c->threads = threads__new(c->profile);
	c->images = c->modules ? images__new(c->modules) : NULL;
	if (!c->images || !c->threads || !c->builder)
		goto fail;
	c->places = places__new(c->symbolizer, c->modules, c->profile);
	if (!c->places)
		goto fail;
	c->creation = creation__new(c->symbolizer, c->images, c->places, c->profile);
	c->verdicts = verdicts__new(c->symbolizer, c->modules, rules);
	if (!c->creation || !c->verdicts)
		goto fail;
	c->spinning = spinning__new(engine, c->images, c->modules, c->verdicts);
	if (!c->spinning)
		goto fail;
	c->undecided = undecided__new(c->profile, c->spinning);
	if (!c->undecided)
		goto fail;
	c->stacks = (struct stack_context) {c->images, c->modules, c->places, c->profile,
					    reloads__new(c->images)};
	c->stacks.creation = c->creation;
	if (!c->stacks.reloads)
		goto fail;
	c->names = objname__new(c->symbolizer, c->images, c->modules, c->profile);
	if (c->names)
		c->waits = waits__new(engine, c->threads, &c->stacks, c->names);
	c->shares = shares__new(engine);
	if (!c->waits || !c->shares)
		goto fail;
	c->turned = engine__now();
	return c;
fail:
	collector__free(c);
	errno = ENOMEM;
	return NULL;
}

void collector__free(struct collector *c)
{
	if (!c)
		return;
	builder__free(c->builder);
	intake__free(c->intake);
	reports__free(c->reports);
	free(c->kept);
	waits__free(c->waits);
	shares__free(c->shares);
	polling__free(c->polling);
	moments__free(c->moments);
	objname__free(c->names);
	page_figures__free(c->page_figures);
	selfreport__free(c->stacks.selfreport);
	undecided__free(c->undecided);
	ended__free(c->ended);
	spinning__free(c->spinning);
	verdicts__free(c->verdicts);
	creation__free(c->creation);
	places__free(c->places);
	reloads__free(c->stacks.reloads);
	images__free(c->images);
	threads__free(c->threads);
	modules__free(c->modules);
	symbolizer__free(c->symbolizer);
	scopes__free(c->scopes);
	qz_profile__free(c->profile);
	free(c);
}

int collector__use_pages(struct collector *c, struct pages *pages)
{
	c->stacks.selfreport = selfreport__new(pages, &c->stacks);
	if (!c->stacks.selfreport)
		return -ENOMEM;
	c->pages = pages;
	c->page_figures = page_figures__new(pages, c->engine, &c->stacks);
	return c->page_figures ? 0 : -ENOMEM;
}

int collector__use_poller(struct collector *c, struct poller *poller)
{
	c->polling = polling__new(poller, c->threads, &c->stacks);
	return c->polling ? 0 : -ENOMEM;
}

int collector__use_instants(struct collector *c, struct instants *instants, uint32_t rate)
{
	c->moments = moments__new(instants, rate, c->engine, c->verdicts, &c->stacks);
	return c->moments ? 0 : -ENOMEM;
}

int collector__add_scope(struct collector *c, uint32_t scope, enum qz_scope_kind kind, int pid,
			 const char *comm, const char *command)
{
	int64_t index = scopes__add(c->scopes, scope, kind, pid, comm, command);

	if (index < 0)
		return index;
	waits__add_scope(c->waits, scope, index);
	if (c->moments)
		moments__add_scope(c->moments, scope, index);
	if (c->page_figures)
		page_figures__add_scope(c->page_figures, scope, index);
	return 0;
}

int collector__add_own_scopes(struct collector *c)
{
	int err = collector__add_scope(c, QZ_SCOPE_OF_MACHINE, QZ_SCOPE_MACHINE, 0, "machine", "");

	return err ?: collector__add_scope(c, QZ_SCOPE_OF_KERNEL, QZ_SCOPE_KERNEL, 0, "kernel", "");
}

int collector__keep_ended(struct collector *c, uint64_t bytes)
{
	c->ended = ended__new(c->engine, bytes);
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
	struct intake_news news;

	if (reports__bytes(c->reports) > MAX_BEHIND)
		return; /* they fill the intake next, and then the rings, which count what is lost */
	c->complete = intake__take(c->intake, INTAKE_MAIN, c->reports, &news);
	if (news.lost)
		storm__lost(&c->storm, engine__now());
	if (storm__wants_reading(&c->storm, engine__now()))
		images__distrust(c->images);
	if (news.mapped > c->mapped)
		c->mapped = news.mapped;
}

/* So near to a turn that no sample comes between: all of one half are of one rate. */
static void change_rates(struct collector *c)
{
	c->halvings_drained = c->halvings;
	if (c->halvings == c->halvings_wanted)
		return;
	c->halvings = c->profile->halvings = c->halvings_wanted;
	sampler__set_halvings(c->sampler, c->halvings, ledger__idle_ns(c->engine, engine__now()));
	engine__set_halvings(c->engine, c->halvings);
}

static int turn(struct collector *c)
{
	int err;

	change_rates(c);
	err = engine__turn(c->engine, &c->half);
	if (c->polling)
		polling__turn(c->polling);
	waits__harvest(c->waits);
	shares__harvested(c->shares);
	spinning__teach(c->spinning);
	c->turned = engine__now();
	c->name_soon = false;
	c->half_waits = !err;
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
	if (now - c->turned < TURN_REST)
		usleep((TURN_REST - (now - c->turned)) / 1000);
	if (!err && !turn(c)) {
		usleep(SETTLING / 1000);
		collector__drain_half(c);
		c->name_soon = true;
	}
}

static void replace_mapping(struct collector *c, const struct sampler_mapping *mapping)
{
	uint64_t now = engine__now();

	if (now - c->replaced > REPLACED_REST && images__replaces(c->images, mapping))
		name_before(c, now);
	images__mapping(c->images, mapping);
}

static bool take_report(void *context, const struct report *report)
{
	struct collector *c = context;

	if (report->is_mapping)
		replace_mapping(c, &report->mapping);
	else
		collector__process_event(c, report->event);
	return !c->hurry || engine__now() < c->hurry;
}

/* Up to `until`, or for as long as there is time. */
static void process_reports(struct collector *c, uint64_t until)
{
	uint64_t done = until;

	reports__process(c->reports, &done, take_report, c);
	c->processed = done;
	c->behind = until - done;
}

static void process_all_reports(struct collector *c)
{
	if (reports__bytes(c->reports) > MAX_BEHIND)
		process_reports(c, c->complete - SETTLING);
	take_reports(c);
	process_reports(c, UINT64_MAX);
}

int collector__tick(struct collector *c)
{
	uint64_t now = engine__now(), since;
	int err = 0;

	engine__control(c->engine)->heartbeat = now;
	take_reports(c);
	c->hurry = now + TICK_WORK;
	process_reports(c, c->complete - SETTLING);
	c->hurry = 0;
	builder__named(c->builder, c->processed);
	if (c->moments)
		err = moments__drain(c->moments, c->processed);
	since = engine__now() - c->turned;
	if (!err && c->half_waits && c->turned < c->processed)
		err = collector__drain_half(c);
	if (err || c->half_waits || since < TURN_REST)
		return err;
	err = spinning__look(c->spinning);
	take_reports(c); /* that may have taken long */
	if (!err && (since >= (c->name_soon ? NAME_PERIOD : TURN_PERIOD) ||
		     engine__fill(c->engine) >= TURN_FILL || spinning__hurries(c->spinning)))
		err = turn(c);
	return err;
}

void collector__set_halvings(struct collector *c, uint32_t halvings)
{
	c->halvings_wanted = halvings;
	builder__set_halvings(c->builder, halvings);
}

struct qz_costs collector__costs(const struct collector *c, uint64_t interrupt_ns)
{
	return costs__read(c->engine, c->symbolizer, c->builder, interrupt_ns);
}

int collector__start(struct collector *c)
{
	return builder__start(c->builder);
}

void collector__prepare(struct collector *c, int fd, const char *path)
{
	builder__prepare(c->builder, fd, path);
}

int collector__event_fd(const struct collector *c)
{
	return intake__fd(c->intake);
}

/*
 * A thread that ends is taken off the kernel's list some time before its last switch, which tells of
 * it: at the time of the dump it is in neither. It must not be detached from before it was heard of.
 */
int collector__freeze(struct collector *c, uint64_t *until)
{
	int err;

	builder__stop(c->builder);
	*until = engine__freeze(c->engine);
	c->frozen = true;
	err = engine__dump(c->engine, collector__keep_thread, c);
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

bool collector__hurries(const struct collector *c)
{
	uint64_t now = engine__now();

	return now - c->mapped < HURRY && !storm__rages(&c->storm, now);
}

int collector__finish(struct collector *c)
{
	int err = 0;

	process_all_reports(c);
	if (c->moments)
		err = moments__finish(c->moments);
	if (!err && c->half_waits)
		err = collector__drain_half(c);
	err = err ?: turn(c);
	err = err ?: collector__drain_half(c);
	return err ?: undecided__finish(c->undecided);
}
