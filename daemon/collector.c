// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "daemon/builder.h"
#include "daemon/collector.h"
#include "daemon/costs.h"
#include "daemon/creation.h"
#include "daemon/ended.h"
#include "daemon/images.h"
#include "daemon/intake.h"
#include "daemon/ledger.h"
#include "daemon/log.h"
#include "daemon/modules.h"
#include "daemon/moments.h"
#include "daemon/objname.h"
#include "daemon/page_figures.h"
#include "daemon/page_wake.h"
#include "daemon/places.h"
#include "daemon/polling.h"
#include "daemon/reports.h"
#include "daemon/scopes.h"
#include "daemon/selfreport.h"
#include "daemon/shares.h"
#include "daemon/spinning.h"
#include "daemon/storm.h"
#include "daemon/stacks.h"
#include "daemon/threads.h"
#include "daemon/undecided.h"
#include "daemon/waits.h"
#include "daemon/verdicts.h"

#define TURN_PERIOD 1000000000ull /* ns between turns of the sampler's tables */
#define TURN_FILL   50		  /* percent of a table at which they are turned early */
#define TURN_REST   100000000ull  /* at least, see sample__enter in bpf/sample.bpf.h */
/* A report made by now is in its ring after this time, so that order by time is the true order. */
#define SETTLING      2000000ull
#define ENDING_TRIES  100	  /* of 1 ms, for threads between their end and their last switch */
#define HURRY	      50000000ull /* after a report: more are coming */
#define NAME_PERIOD   150000000ull /* as TURN_PERIOD, when code was replaced */
#define REPLACED_REST 100000000ull /* from one look at what was replaced to the next */

struct collector {
	struct engine *engine;
	struct sampler *sampler;
	struct symbolizer *symbolizer;
	struct modules *modules;
	struct images *images;
	struct places *places;
	struct creation *creation;
	struct threads *threads;
	struct objname_context *names;
	struct waits *waits;
	struct shares *shares;
	struct page_figures *page_figures; /* NULL: no pages are in use */
	struct polling *polling;	   /* NULL: nor is a poller */
	struct moments *moments;	   /* NULL: nor are instants taken */
	struct verdicts *verdicts;
	struct spinning *spinning;
	struct stack_context stacks;
	struct qz_profile *profile;
	struct scopes *scopes;

	struct intake *intake;
	struct builder *builder; /* of unwind tables, in a thread of its own */
	struct reports *reports;
	struct undecided *undecided;
	struct ended *ended; /* NULL: not every process is a scope */
	struct pages *pages; /* NULL: none are in use */
	void (*before_fold)(void *context);
	void (*after_fold)(void *context);
	void *fold_context;

	struct engine_half half;
	bool half_waits;
	uint64_t turned; /* when the half that waits was taken */
	/* Of the rates: of the half that waits, of that in which is sampled, and to be. */
	uint32_t halvings_drained, halvings, halvings_wanted;

	uint64_t not_stored; /* samples whose stack had no room */
	uint64_t refreshed;  /* the `until` of a refresh in progress */
	uint64_t replaced;   /* when name_before was done */
	bool name_soon;	     /* what was sampled since, before there is a next one */
	uint64_t mapped;     /* when anything was last mapped, forked or executed */
	struct storm storm;

	bool frozen;
	struct qz_thread_event *kept; /* the threads that lived when the clock stopped */
	uint32_t nkept;
	uint64_t dropped; /* of these, for want of memory */
};

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

/* ---- reports, in order of time ---- */

/* Where the threads of a new image belong whose creation is not reported. */
static void place_threads(struct collector *c, const struct qz_process_event *e)
{
	struct thread *leader = e->leader ? threads__get(c->threads, e->leader) : NULL;
	struct image *image;
	uint32_t node;

	if (leader)
		leader->placed = true;
	if (scopes__kind(c->scopes, e->scope) == QZ_SCOPE_KERNEL)
		return;
	image = images__get(c->images, e->image);
	if (!image)
		return;
	image->launcher = image->found && scopes__kind(c->scopes, image->scope) == QZ_SCOPE_JOB;
	if (image->launcher)
		return;
	node = creation__unseen(c->creation, e);
	images__get(c->images, e->image)->node = node;
}

static void add_process(struct collector *c, const struct qz_process_event *e)
{
	char comm[QZ_COMM_LEN + 1] = "";

	memcpy(comm, e->comm, QZ_COMM_LEN);
	if (e->scope < engine__max_scopes(c->engine) &&
	    scopes__index(c->scopes, e->scope) == QZ_NONE)
		collector__add_scope(c, e->scope, QZ_SCOPE_PROCESS, e->tgid, comm, "");
	scopes__describe(c->scopes, e, images__get(c->images, e->parent));
	images__process(c->images, e);
	if (c->page_figures && e->cause == QZ_IMAGE_FOUND)
		page_wake__process(e->tgid, e->start_boottime);
	place_threads(c, e);
}

static void add_creation(struct collector *c, const struct qz_creation_event *e)
{
	struct thread *parent = threads__get(c->threads, e->parent), *child;
	uint32_t node = parent ? thread__node(parent, images__get(c->images, e->image)) : 0;

	child = threads__get(c->threads, e->child);
	if (!child)
		return;
	child->node = creation__node(c->creation, node, e);
	child->placed = true;
}

static void keep_thread(void *context, const struct qz_thread_event *e)
{
	struct collector *c = context;
	struct thread *thread = threads__get(c->threads, e->serial);
	struct qz_thread_event *more;

	if (!thread || thread->kept)
		return;
	more = qz_array__room(c->kept, c->nkept, sizeof(*more));
	if (!more) {
		c->dropped++;
		return;
	}
	c->kept = more;
	thread->kept = true;
	c->kept[c->nkept] = (struct qz_thread_event) {0};
	memcpy(&c->kept[c->nkept++], e, e->event.length); /* the waits that it has */
}

/* By the name that it has given itself, if any. */
static void name_thread(struct collector *c, const struct qz_thread_event *e)
{
	const struct thread *thread = threads__get(c->threads, e->serial);
	char name[QZ_THREAD_NAME_LENGTH];
	struct qz_thread *row;

	if (!c->page_figures || !thread || thread->row == QZ_NONE)
		return;
	row = &c->profile->threads[thread->row];
	if (!row->merged && page_figures__thread_name(c->page_figures, e, name) && name[0])
		qz_profile__set_string(&row->name, name);
}

static void end_thread(struct collector *c, const struct qz_thread_event *e)
{
	uint32_t scope = e->scope;
	struct qz_scope_state state;

	if (e->state != QZ_DEAD) {
		keep_thread(c, e);
		return;
	}
	if (!scopes__read(c->scopes, scope, &state))
		return;
	threads__ended(c->threads, scopes__index(c->scopes, scope), e, state.began);
	waits__ended(c->waits, e);
	name_thread(c, e);
}

/* It may have been without a thread for a moment, when its threads were being found. */
static void end_scope(struct collector *c, const struct qz_scope_event *e)
{
	if (!engine__scope_lives(c->engine, e->scope, e->event.time))
		images__end(c->images, e->scope, e->event.time);
}

static void process_event(struct collector *c, const struct qz_event *e)
{
	if (e->type == QZ_EVENT_PROCESS && e->length >= sizeof(struct qz_process_event))
		add_process(c, (const struct qz_process_event *)e);
	else if (e->type == QZ_EVENT_CREATION && e->length >= sizeof(struct qz_creation_event))
		add_creation(c, (const struct qz_creation_event *)e);
	else if (e->type == QZ_EVENT_THREAD_END &&
		 e->length >= offsetof(struct qz_thread_event, waits) &&
		 e->length <= sizeof(struct qz_thread_event))
		end_thread(c, (const struct qz_thread_event *)e);
	else if (e->type == QZ_EVENT_SCOPE_END && e->length >= sizeof(struct qz_scope_event))
		end_scope(c, (const struct qz_scope_event *)e);
}

/* Gives the time up to which they are complete, as intake__take() does. */
static uint64_t take_reports(struct collector *c)
{
	struct intake_news news;
	uint64_t until = intake__take(c->intake, INTAKE_MAIN, c->reports, &news);

	if (news.lost)
		storm__lost(&c->storm, engine__now());
	if (storm__wants_reading(&c->storm, engine__now()))
		images__distrust(c->images);
	if (news.mapped > c->mapped)
		c->mapped = news.mapped;
	return until;
}

/* ---- stacks ---- */

static const char *const end_names[] = QZ_UNWIND_END_NAMES;

/* What a scope tells of its samples. */
static void count_sample(struct qz_scope *s, const struct qz_stack_slot *slot,
			 const struct stack *stack, uint64_t n)
{
	qz_losses__add(&s->stack_ends, &s->nstack_ends,
		       slot->end < QZ_UNWIND_ENDS ? end_names[slot->end] : "?", n);
	s->samples += n;
	if (stack->truncated)
		s->truncated += n;
	if (stack->unresolved)
		s->unresolved += n;
}

/* The same samples at the machine's level. */
static void add_to_machine(struct collector *c, struct qz_sample group, uint32_t machine,
			   enum spin_sight sight, uint32_t loop, const struct qz_stack_slot *slot,
			   const struct stack *stack)
{
	group.scope = scopes__machine(c->scopes);
	group.level = QZ_SAMPLE_MACHINE_LEVEL(machine);
	group.busy = QZ_SAMPLE_MACHINE_BUSY(machine);
	if (!undecided__add_again(c->undecided, &group, sight, loop))
		count_sample(&c->profile->scopes[group.scope], slot, stack, group.count);
}

static void add_sample(struct collector *c, const struct qz_stack_slot *slot,
		       const struct stack *stack, const struct qz_sample_slot *sample,
		       enum spin_sight sight, uint32_t loop)
{
	struct thread *thread = threads__get(c->threads, QZ_SAMPLE_SERIAL(sample->key));
	const struct image *image = images__get(c->images, slot->image);
	uint32_t scope = image ? scopes__index(c->scopes, image->scope) : QZ_NONE, row;
	struct qz_sample group;
	int64_t node;

	if (!thread || scope == QZ_NONE)
		return;
	row = threads__row(c->threads, thread, scope, image->pid);
	node = stack__node(c->profile, thread__node(thread, image), stack);
	if (node < 0)
		return;
	group = (struct qz_sample) {
		.scope = scope,
		.thread = row,
		.node = node,
		.level = QZ_SAMPLE_LEVEL(sample->key),
		.busy = QZ_SAMPLE_BUSY(sample->more),
		.spinning = QZ_SAMPLE_SPINNING(sample->more),
		.object = waits__object(c->waits, QZ_SAMPLE_OBJECT(sample->more)),
		.halvings = (uint8_t)c->halvings_drained,
		.count = sample->count,
	};
	if (undecided__add(c->undecided, &group, sight, loop))
		return;
	count_sample(&c->profile->scopes[scope], slot, stack, sample->count);
	if (sample->machine && scopes__machine(c->scopes) != QZ_NONE)
		add_to_machine(c, group, sample->machine, sight, loop, slot, stack);
	if (c->polling && slot->profiled)
		polling__leaf(c->polling, thread, thread__node(thread, image), node, stack);
}

/* Samples come sorted by stack here, so that each stack is placed once. */
static int compare_samples(const void *a, const void *b)
{
	const struct qz_sample_slot *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static bool is_stale(const struct qz_stack_slot *slot)
{
	return slot->end == QZ_UNWIND_STALE;
}

/* Names the stacks whose walk has found stale tables, or the others. */
static int name_stacks(struct collector *c, bool stale)
{
	struct engine_half *h = &c->half;

	for (uint32_t i = 0; i < h->nstacks; i++) {
		if (!stack_slot__used(h, &h->stacks[i]) || is_stale(&h->stacks[i]) != stale)
			continue;
		stack__want(&c->stacks, h, &h->stacks[i]);
		spinning__want(c->spinning, h, &h->stacks[i]);
	}
	return places__resolve(c->places) ?: spinning__judge(c->spinning);
}

static bool has_new_object(const struct collector *c, const struct qz_sample_slot *sample)
{
	uint32_t object = QZ_SAMPLE_OBJECT(sample->more);

	return object && !waits__has_object(c->waits, object);
}

/*
 * First the samples that can be placed at once; the others, whose stacks are stale or whose objects
 * have no names yet, at the second call.
 */
static void drain_samples(struct collector *c, bool stale)
{
	struct engine_half *h = &c->half;
	uint32_t last = UINT32_MAX;
	struct stack stack;
	enum spin_sight sight = SPIN_WORKS;
	uint32_t loop = QZ_NONE;

	for (uint32_t i = 0; i < h->nsamples; i++) {
		struct qz_sample_slot *sample = &h->samples[i];
		uint32_t at = QZ_SAMPLE_STACK(sample->key);
		const struct qz_stack_slot *slot;

		if (!sample->key || !sample->count || at >= h->nstacks)
			continue;
		if (!stale && (is_stale(&h->stacks[at]) || has_new_object(c, sample)))
			continue;
		slot = &h->stacks[at];
		if (!stack_slot__used(h, slot)) {
			c->not_stored += sample->count;
			sample->count = 0;
			continue;
		}
		if (at != last) {
			stack__place(&c->stacks, h, slot, &stack);
			sight = spinning__sight(c->spinning, h, slot, &loop);
		}
		last = at;
		add_sample(c, slot, &stack, sample, sight, loop);
		sample->count = 0; /* done */
	}
	if (c->polling)
		polling__begin(c->polling);
}

/* What had to be read anew may be missing where the tables are made, too. */
static void tell_missed(struct collector *c)
{
	for (uint32_t i = 0; i < images__count(c->images); i++) {
		const struct image *image = images__at(c->images, i);

		if (image->reread && !image->ended)
			builder__complete(c->builder, image->number);
	}
}

static int settle_ended(struct collector *c)
{
	struct ended_context context = {
		.engine = c->engine,
		.profile = c->profile,
		.scopes = c->scopes,
		.threads = c->threads,
		.images = c->images,
		.waits = c->waits,
		.undecided = c->undecided,
		.page_figures = c->page_figures,
		.pages = c->pages,
		.polling = c->polling,
		.moments = c->moments,
		.before = c->before_fold,
		.after = c->after_fold,
		.context = c->fold_context,
	};

	return c->ended && !c->frozen ? ended__settle(c->ended, &context) : 0;
}

static int drain_half(struct collector *c)
{
	struct engine_half *h = &c->half;
	int err;

	undecided__begin_half(c->undecided);
	images__refresh(c->images);
	qsort(h->samples, h->nsamples, sizeof(*h->samples), compare_samples);
	err = name_stacks(c, false);
	if (!err)
		drain_samples(c, false);
	/* From here on by what is mapped now, where stacks with stale tables have it read. */
	waits__want(c->waits);
	if (c->polling)
		polling__want(c->polling);
	err = err ?: name_stacks(c, true);
	if (!err) {
		waits__drain(c->waits); /* names the objects that samples carry */
		drain_samples(c, true);
	}
	err = undecided__end_half(c->undecided) ?: err;
	if (!err && c->polling)
		polling__drain(c->polling);
	engine__clear(c->engine, h);
	reloads__end(c->stacks.reloads);
	tell_missed(c);
	if (c->page_figures)
		page_figures__drained(c->page_figures);
	c->half_waits = false;
	return err ?: settle_ended(c);
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
	int err = c->half_waits ? drain_half(c) : 0;

	c->replaced = now;
	if (now - c->turned < TURN_REST)
		usleep((TURN_REST - (now - c->turned)) / 1000);
	if (!err && !turn(c)) {
		usleep(SETTLING / 1000);
		drain_half(c);
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

static void take_report(void *context, const struct report *report)
{
	if (report->is_mapping)
		replace_mapping(context, &report->mapping);
	else
		process_event(context, report->event);
}

static void process_reports(struct collector *c, uint64_t horizon)
{
	reports__process(c->reports, horizon, take_report, c);
}

int collector__tick(struct collector *c)
{
	uint64_t horizon = take_reports(c) - SETTLING, since;
	int err = 0;

	engine__control(c->engine)->heartbeat = engine__now();
	process_reports(c, horizon);
	builder__named(c->builder, horizon);
	if (c->moments)
		err = moments__drain(c->moments, horizon);
	since = engine__now() - c->turned;
	if (!err && c->half_waits && c->turned < horizon)
		err = drain_half(c);
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
	err = engine__dump(c->engine, keep_thread, c);
	for (int i = 0; !err && i < ENDING_TRIES && c->nkept < scopes__alive(c->scopes); i++) {
		usleep(1000);
		take_reports(c);
		process_reports(c, UINT64_MAX);
	}
	return err;
}

bool collector__hurries(const struct collector *c)
{
	uint64_t now = engine__now();

	return now - c->mapped < HURRY && !storm__rages(&c->storm, now);
}

int collector__finish(struct collector *c)
{
	int err = 0;

	take_reports(c);
	process_reports(c, UINT64_MAX);
	if (c->moments)
		err = moments__finish(c->moments);
	if (!err && c->half_waits)
		err = drain_half(c);
	err = err ?: turn(c);
	err = err ?: drain_half(c);
	return err ?: undecided__finish(c->undecided);
}

/* ---- refreshing ---- */

static void add_alive(void *context, const struct qz_thread_event *e)
{
	struct collector *c = context;
	uint32_t scope = e->scope;
	struct qz_scope_state state;

	if (!scopes__read(c->scopes, scope, &state))
		return;
	threads__alive(c->threads, scopes__index(c->scopes, scope), e, state.began, c->refreshed,
		       scopes__living(c->scopes, scope));
	waits__alive(c->waits, e, state.began, c->refreshed);
	name_thread(c, e);
}

static void refresh_ledger(struct collector *c)
{
	struct ledger_sources from = {
		.engine = c->engine,
		.sampler = c->sampler,
		.symbolizer = c->symbolizer,
		.builder = c->builder,
		.waits = c->waits,
		.page_figures = c->page_figures,
		.polling = c->polling,
		.moments = c->moments,
		.until = c->refreshed,
		.processes_folded = c->ended ? ended__folded(c->ended) : 0,
		.not_stored = c->not_stored,
		.reports_dropped =
			c->dropped + reports__dropped(c->reports) + intake__dropped(c->intake),
	};

	ledger__refresh(&c->profile->ledger, &from);
}

static int dump_alive(struct collector *c)
{
	if (!c->frozen)
		return engine__dump(c->engine, add_alive, c);
	for (uint32_t i = 0; i < c->nkept; i++)
		add_alive(c, &c->kept[i]);
	return 0;
}

int collector__refresh(struct collector *c, uint64_t until)
{
	int err;

	c->refreshed = until;
	scopes__begin_refresh(c->scopes);
	threads__begin_refresh(c->threads);
	waits__begin_refresh(c->waits);
	err = dump_alive(c);
	if (err)
		return err;
	scopes__refresh(c->scopes, c->waits, until);
	waits__objects(c->waits, until);
	if (c->page_figures)
		page_figures__refresh(c->page_figures);
	refresh_ledger(c);
	return c->polling ? polling__join(c->polling) : 0;
}

struct qz_profile *collector__profile(struct collector *c)
{
	return c->profile;
}

bool collector__ended(const struct collector *c)
{
	return scopes__ended(c->scopes);
}

uint64_t collector__samples(const struct collector *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->profile->nscopes; i++)
		if (i != scopes__machine(c->scopes))
			sum += c->profile->scopes[i].samples;
	return sum;
}
