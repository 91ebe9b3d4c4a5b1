/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/fixture.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"

#define MODULE "/usr/bin/app"

static const char *const marker_words[QZ_PROCEDURE_KINDS] = {
	[QZ_PROCEDURE] = "",
	[QZ_THREAD_START] = "[thread]",
	[QZ_PROCESS_START] = "[process]",
	[QZ_TRUNCATED] = "[truncated]",
	[QZ_UNATTRIBUTED] = "[unattributed]",
	[QZ_INSTRUMENTATION] = "[instrumentation]",
};

/* ---- building ---- */

struct fixture fixture__new(void)
{
	struct fixture f = {.p = qz_profile__new()};

	if (!f.p)
		f.err = -errno;
	return f;
}

/* Passes an index on, or notes the error. */
static uint32_t note(struct fixture *f, int64_t index)
{
	if (index >= 0)
		return (uint32_t)index;
	f->err = (int)index;
	return 0;
}

uint32_t fixture__scope(struct fixture *f, const uint64_t *level_ns, uint32_t nlevels)
{
	struct qz_scope scope = {
		.comm = "app", .nlevels = nlevels, .level_ns = (uint64_t *)level_ns};

	for (uint32_t n = 0; n < nlevels; n++) {
		scope.elapsed_ns += level_ns[n];
		scope.cpu_ns += n * level_ns[n];
	}
	return f->err ? 0 : note(f, qz_profile__add_scope(f->p, &scope));
}

uint32_t fixture__thread(struct fixture *f, uint32_t scope, int32_t tid)
{
	struct qz_thread thread = {.scope = scope, .tid = tid, .pid = 100, .comm = "app"};

	return f->err ? 0 : note(f, qz_profile__add_thread(f->p, &thread));
}

static uint32_t procedure(struct fixture *f, const char *name)
{
	struct qz_procedure proc = {.name = (char *)name, .module = MODULE, .file = ""};

	return f->err ? 0 : note(f, qz_profile__intern_procedure(f->p, &proc));
}

static uint32_t location(struct fixture *f, char *word)
{
	struct qz_mapping map = {.path = MODULE, .build_id = "", .start = 0x1000, .limit = 0x9000};
	struct qz_line lines[4];
	struct qz_location loc = {.lines = lines};
	char *name;

	for (uint32_t kind = QZ_THREAD_START; kind < QZ_PROCEDURE_KINDS; kind++)
		if (!strcmp(word, marker_words[kind]))
			return note(f, qz_profile__marker(f->p, kind));
	while ((name = strrchr(word, '+'))) {
		struct qz_line *line = &lines[loc.nlines++];

		*line = (struct qz_line) {procedure(f, name + 1), 7};
		if (!f->err)
			note(f, qz_profile__place_line(f->p, line, "inlined.h"));
		*name = '\0';
	}
	lines[loc.nlines++] = (struct qz_line) {procedure(f, word), 5};
	if (f->err)
		return 0;
	loc.mapping = note(f, qz_profile__intern_mapping(f->p, &map));
	loc.address = 16 * lines[0].procedure;
	return f->err ? 0 : note(f, qz_profile__intern_location(f->p, &loc));
}

uint32_t fixture__stack(struct fixture *f, const char *words)
{
	char copy[512], *rest = copy, *word;
	uint32_t node = 0;

	if (snprintf(copy, sizeof(copy), "%s", words) >= (int)sizeof(copy))
		f->err = -E2BIG;
	while (!f->err && (word = strsep(&rest, " "))) {
		uint32_t loc = *word ? location(f, word) : 0;

		if (!f->err && *word)
			node = note(f, qz_profile__intern_node(f->p, node, loc));
	}
	return node;
}

void fixture__samples(struct fixture *f, uint32_t scope, uint32_t thread, const char *words,
		      uint32_t level, uint64_t count)
{
	uint32_t leaf = fixture__stack(f, words);

	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &(struct qz_sample) {.scope = scope,
									    .thread = thread,
									    .node = leaf,
									    .level = level,
									    .busy = level,
									    .object = QZ_NONE,
									    .count = count});
}

uint32_t fixture__object(struct fixture *f, uint32_t scope, uint32_t kind, const char *name)
{
	struct qz_object o = {
		.scope = scope, .kind = kind, .pid = 100, .name = (char *)name, .module = MODULE};

	return f->err ? 0 : note(f, qz_waits__intern_object(f->p, &o));
}

void fixture__wait(struct fixture *f, const struct qz_wait *wait, const char *words,
		   const char *cause)
{
	struct qz_wait new = *wait;

	new.node = fixture__stack(f, words);
	new.cause = f->err ? 0 : note(f, qz_waits__intern_cause(f->p, cause));
	if (!f->err)
		f->err = qz_waits__add(f->p, &new);
}

void fixture__waking(struct fixture *f, const struct qz_waking *waking, const char *words)
{
	struct qz_waking new = *waking;

	new.node = fixture__stack(f, words);
	if (!f->err)
		f->err = qz_waits__add_waking(f->p, &new);
}

uint32_t fixture__procedure(const struct qz_profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->nprocedures; i++)
		if (!strcmp(p->procedures[i].name, name))
			return i;
	ck_abort_msg("no procedure %s", name);
	return QZ_NONE;
}

void fixture__round(struct fixture *f, uint32_t scope, const char *names, uint64_t count)
{
	uint32_t members[16];
	struct qz_round round = {.scope = scope, .members = members, .count = count};
	char words[200], *rest = words, *word;

	if (f->err)
		return;
	snprintf(words, sizeof(words), "%s", names);
	while ((word = strsep(&rest, " ")))
		if (*word)
			members[round.n++] = QZ_MEMBER(
				fixture__procedure(f->p, word + (*word == '~')), *word == '~');
	f->err = qz_rounds__add(f->p, &round);
}

void fixture__calls(struct fixture *f, uint32_t scope, const char *caller, const char *callee,
		    uint64_t count)
{
	struct qz_call_count key = {.scope = scope, .caller = QZ_NONE};
	int64_t index;

	if (f->err)
		return;
	if (caller)
		key.caller = fixture__procedure(f->p, caller);
	key.callee = fixture__procedure(f->p, callee);
	index = qz_call_counts__intern(f->p, &key);
	if (index < 0)
		f->err = (int)index;
	else
		f->p->calls[index].count += count;
}

/* ---- profiles ---- */

static void describe_run(struct fixture *f)
{
	struct qz_profile *p = f->p;

	if (f->err)
		return;
	if (qz_profile__set_string(&p->quartz_version, "0.1.0") ||
	    qz_profile__set_string(&p->kernel, "6.1.0-18-amd64") ||
	    qz_profile__set_string(&p->machine, "balance") ||
	    qz_profile__set_string(&p->event, "cpu-clock") ||
	    qz_ledger__add_loss(&p->ledger, "map_full", 3) ||
	    qz_ledger__add_loss(&p->ledger, "busy", 0) ||
	    qz_ledger__add_event(&p->ledger, "implicit_switch", 7) ||
	    qz_ledger__add_outside(&p->ledger, "chromium (app.slice)", 5))
		f->err = -ENOMEM;
	p->rate_hz = 999;
	p->processors = 3;
	p->wall_start_ns = 1700000000123456789;
	p->window_ns = 12000;
	p->live = true;
	p->ledger.expected = 100;
	p->ledger.accepted = 90;
	p->ledger.filtered = 8;
	qz_ledger__close(&p->ledger);
}

static void describe_entities(struct fixture *f)
{
	static uint64_t level_ns[] = {100, 2000, 3000, 4000};
	struct qz_scope scope = {.kind = QZ_SCOPE_JOB,
				 .pid = 100,
				 .comm = "app\xe5",
				 .command = "app --all \"x\"",
				 .cpuset = "0-1",
				 .quota_cgroup = "/app\xe5.slice",
				 .children = 2,
				 .quota_us = 5000,
				 .quota_period_us = 100000,
				 .throttled_ns = 900,
				 .throttled_periods = 7,
				 .quota_periods = 9,
				 .start_ns = 1,
				 .elapsed_ns = 9100,
				 .cpu_ns = 20001,
				 .runnable_ns = 20100,
				 .nlevels = 4,
				 .level_ns = level_ns,
				 .samples = 60,
				 .truncated = 2,
				 .unresolved = 1,
				 .counters = {.threads_seen = 5,
					      .creations = 4,
					      .creations_lost = 1,
					      .spin_turns = 3,
					      .limited = 2},
				 .ended = true};
	struct qz_thread thread = {.tid = 101,
				   .pid = 100,
				   .comm = "worker \x1b[1m",
				   .name = "reader \xf4\x8f\xbf\x80",
				   .cpus = "0,2-3",
				   .start_ns = 1,
				   .end_ns = 9100,
				   .cpu_ns = 9000,
				   .running_ns = 8000,
				   .ready_ns = 500,
				   .blocked_ns = 400,
				   .unknown_ns = 200,
				   .ended = true,
				   .merged = true};
	struct qz_procedure proc = {.name = "std::sort<int>(int*)",
				    .module = "/usr/lib/lib\xff.so",
				    .file = "sort.c",
				    .line = 42};
	struct qz_mapping map = {.path = "/usr/lib/lib\xff.so",
				 .build_id = "00ff17",
				 .start = 0x7f0000001000,
				 .limit = 0x7f0000009000,
				 .offset = 0x3000};
	struct qz_procedure_part part = {.file = "sort\xff.inc"};

	if (f->err)
		return;
	note(f, qz_profile__add_scope(f->p, &scope));
	if (!f->err)
		note(f, qz_profile__add_thread(f->p, &thread));
	if (!f->err)
		note(f, qz_profile__intern_procedure(f->p, &proc));
	if (!f->err)
		note(f, qz_profile__intern_mapping(f->p, &map));
	if (!f->err)
		note(f, qz_profile__intern_part(f->p, &part));
}

static void fill_object(struct qz_object *o)
{
	o->address = 0xffff800000001234;
	o->grouped = 3;
	o->waits = 9;
	o->wakes = 8;
	o->wait_ns = 1500;
	for (uint64_t i = 0; i < QZ_QUEUE_LENGTHS; i++) {
		o->queue_ns[i] = i ? 10 * i : 0;
		o->arrivals[i] = i;
	}
}

static void describe_waiting(struct fixture *f)
{
	uint32_t mutex = fixture__object(f, 0, QZ_OBJECT_MUTEX, "queue\xff_lock");
	uint32_t pipe = fixture__object(f, 1, QZ_OBJECT_PIPE, "pipe:[17]");
	struct qz_sample held = {.scope = 1, .thread = 1, .level = 1, .busy = 1, .object = pipe};
	struct qz_sample spun = {
		.scope = 1, .thread = 1, .level = 1, .object = pipe, .spinning = true};
	struct qz_wait wait = {.scope = 0, .thread = 0, .object = mutex, .nominal = 2};
	struct qz_waking waking = {.scope = 0, .thread = 0, .object = mutex};

	if (f->err)
		return;
	fill_object(&f->p->objects[mutex]);
	held.node = spun.node = fixture__stack(f, "main run");
	held.count = spun.count = 6;
	held.below = 1;
	held.seen = 3;
	spun.seen = 2;
	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &held);
	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &spun);
	wait.count = 4;
	wait.blocked_ns = 300;
	wait.ready_ns = 50;
	wait.variance = 5ull << 32;
	wait.handed = 3;
	fixture__wait(f, &wait, "main run [thread] work lock", "futex");
	wait.nominal = 0;
	fixture__wait(f, &wait, "main run [thread] work lock", "futex");
	fixture__wait(f, &(struct qz_wait) {.thread = QZ_NONE, .object = QZ_NONE, .ready_ns = 9},
		      "", "preempted");
	fixture__wait(f, &(struct qz_wait) {1, 1, .object = pipe, .nominal = 7, .blocked_ns = 1},
		      "main", "futex");
	waking.count = 8;
	fixture__waking(f, &waking, "main run [thread] work unlock");
	fixture__waking(f, &(struct qz_waking) {0, QZ_NONE, 0, QZ_NONE, 0, 77}, "main run");
	fixture__waking(f, &(struct qz_waking) {1, 1, 0, pipe, 1, 5}, "");
}

static void describe_costs(struct fixture *f)
{
	struct qz_sample s = {.scope = 1,
			      .thread = 1,
			      .level = 1,
			      .busy = 1,
			      .object = QZ_NONE,
			      .halvings = 2,
			      .count = 3};

	s.node = fixture__stack(f, "main run");
	if (f->err)
		return;
	f->err = qz_profile__add_samples(f->p, &s);
	f->p->halvings = 2;
	f->p->ceiling_ppm = 12500;
	f->p->costs = (struct qz_costs) {.accounting_ns = 123,
					 .sampling_ns = 4567,
					 .walking_ns = 89,
					 .daemon_ns = 10111,
					 .replay_ns = 1011};
}

struct qz_profile *fixture__everything(void)
{
	static const uint64_t other[] = {1000, 500, 0, 0};
	struct fixture f = fixture__new();

	describe_run(&f);
	describe_entities(&f);
	fixture__scope(&f, other, 4);
	fixture__thread(&f, 1, 200);
	fixture__samples(&f, 0, 0, "main run [thread] work+leaf", 1, 10);
	fixture__samples(&f, 0, 0, "main run [process] [truncated] work", 2, 7);
	fixture__samples(&f, 0, QZ_NONE, "main", 2, 1);
	fixture__samples(&f, 0, 0, "", 2, 2);
	fixture__samples(&f, 1, 1, "main run", 1, 40);
	if (!f.err) {
		f.p->threads[1].loop = (struct qz_loop) {90, 80, 7, 60, 5, 40, 30};
		f.p->samples[0].in_block = 3;
	}
	describe_waiting(&f);
	describe_costs(&f);
	fixture__calls(&f, 0, NULL, "main", 1);
	fixture__calls(&f, 0, "work", "leaf", INT64_MAX - 10);
	fixture__calls(&f, 1, "main", "run", 9);
	if (!f.err)
		f.p->instants = (struct qz_rounds) {100, 60, 3, 2, 123456, 7890, 5, 40, 1};
	fixture__round(&f, 0, "", 4);
	fixture__round(&f, 0, "leaf main", 20);
	fixture__round(&f, 0, "main ~leaf leaf", 11);
	fixture__round(&f, 0, "leaf leaf", INT32_MAX);
	fixture__round(&f, 1, "run", 20);
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	if (!f.err)
		return f.p;
	qz_profile__free(f.p);
	errno = -f.err;
	return NULL;
}

static uint64_t pick(unsigned int *seed, uint64_t below)
{
	return (uint64_t)rand_r(seed) % below;
}

static void random_stack(unsigned int *seed, char *words, size_t size)
{
	static const char *const markers[] = {" [thread]", " [process]", " [truncated]"};
	uint64_t depth = pick(seed, 12);
	size_t length = 0;

	words[0] = '\0';
	for (uint64_t i = 0; i < depth && length < size - 20; i++) {
		if (pick(seed, 6) == 0)
			length += (size_t)sprintf(words + length, "%s", markers[pick(seed, 3)]);
		else if (pick(seed, 4) == 0)
			length += (size_t)sprintf(words + length, " p%d+i%d", (int)pick(seed, 9),
						  (int)pick(seed, 4));
		else
			length += (size_t)sprintf(words + length, " p%d", (int)pick(seed, 9));
	}
}

/* Samples of every kind: some spin, some hold an object. Objects are two to a scope. */
static void random_sample(struct fixture *f, unsigned int *seed, const char *words)
{
	struct qz_sample s = {.scope = (uint32_t)pick(seed, 2), .object = QZ_NONE};

	s.thread = 4 * s.scope + (uint32_t)pick(seed, 4);
	s.node = fixture__stack(f, words);
	s.level = (uint32_t)(1 + pick(seed, 7));
	s.spinning = pick(seed, 8) == 0;
	s.halvings = pick(seed, 4) ? 0 : (uint8_t)pick(seed, QZ_MAX_HALVINGS + 1);
	s.busy = (uint32_t)pick(seed, s.level) + !s.spinning;
	if (!s.spinning && pick(seed, 4) == 0)
		s.object = 2 * s.scope + (uint32_t)pick(seed, 2);
	s.count = 1 + pick(seed, 1000);
	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &s);
}

static void random_wait(struct fixture *f, unsigned int *seed, const char *words)
{
	static const char *const causes[] = {"futex", "preempted", "disk", "pselect6"};
	struct qz_wait w = {.scope = (uint32_t)pick(seed, 2), .object = QZ_NONE};

	w.thread = pick(seed, 9) ? 4 * w.scope + (uint32_t)pick(seed, 4) : QZ_NONE;
	if (pick(seed, 2))
		w.object = 2 * w.scope + (uint32_t)pick(seed, 2);
	w.nominal = (uint32_t)pick(seed, 8);
	w.count = 1 + pick(seed, 100);
	w.blocked_ns = pick(seed, 1u << 30);
	w.ready_ns = pick(seed, 1u << 20);
	fixture__wait(f, &w, words, causes[pick(seed, 4)]);
}

static void random_waking(struct fixture *f, unsigned int *seed, const char *words)
{
	struct qz_waking w = {.scope = (uint32_t)pick(seed, 2), .thread = QZ_NONE};

	w.object = pick(seed, 2) ? 2 * w.scope + (uint32_t)pick(seed, 2) : QZ_NONE;
	w.count = pick(seed, 100);
	w.woken_ns = pick(seed, 1u << 30);
	fixture__waking(f, &w, words);
}

static void random_objects(struct fixture *f, unsigned int *seed, uint32_t scope)
{
	for (int i = 0; i < 2; i++) {
		uint32_t object = fixture__object(f, scope, QZ_OBJECT_MUTEX, i ? "m" : "n");

		if (f->err)
			return;
		for (int k = 1; k < QZ_QUEUE_LENGTHS; k++)
			f->p->objects[object].queue_ns[k] = pick(seed, 1u << 30);
		f->p->objects[object].wait_ns = pick(seed, 1u << 30);
	}
}

/* Between procedures that happen to be there, some of no known caller. */
static void random_calls(struct fixture *f, unsigned int *seed)
{
	for (int i = 0; i < 50; i++) {
		const struct qz_procedure *all = f->p->procedures;
		const struct qz_procedure *caller = &all[pick(seed, f->p->nprocedures)];
		const struct qz_procedure *callee = &all[pick(seed, f->p->nprocedures)];

		if (caller->kind == QZ_PROCEDURE && callee->kind == QZ_PROCEDURE)
			fixture__calls(f, (uint32_t)pick(seed, 2),
				       pick(seed, 5) ? caller->name : NULL, callee->name,
				       1 + pick(seed, 1u << 30));
	}
}

static void add_loops(struct fixture *f)
{
	for (uint32_t i = 0; !f->err && i < f->p->nthreads; i++)
		f->p->threads[i].loop =
			(struct qz_loop) {70 + i, 60 + i, 5 + i, 40 + i, 3 + i, 20 + i, 10 + i};
	for (uint32_t i = 0; !f->err && i < f->p->nsamples; i++)
		f->p->samples[i].in_block = f->p->samples[i].count / 3;
}

struct qz_profile *fixture__random(unsigned int seed)
{
	struct fixture f = fixture__new();
	uint64_t level_ns[8];
	char words[200];

	for (uint32_t scope = 0; scope < 2; scope++) {
		for (int n = 0; n < 8; n++)
			level_ns[n] = pick(&seed, 3) * pick(&seed, 1u << 31) * pick(&seed, 1000);
		fixture__scope(&f, level_ns, 8);
		for (int i = 0; i < 4; i++)
			fixture__thread(&f, scope, 100 + i);
		random_objects(&f, &seed, scope);
	}
	for (int i = 0; i < 200; i++) {
		random_stack(&seed, words, sizeof(words));
		random_sample(&f, &seed, words);
		random_stack(&seed, words, sizeof(words));
		random_wait(&f, &seed, words);
		random_stack(&seed, words, sizeof(words));
		random_waking(&f, &seed, words);
	}
	random_calls(&f, &seed);
	add_loops(&f);
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	ck_assert_int_eq(f.err, 0);
	return f.p;
}

void fixture__tell_apart(struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++)
		p->scopes[i].start_ns = 1000 + i;
	for (uint32_t i = 0; i < p->nthreads; i++) {
		p->threads[i].start_ns = 1000 + i;
		p->threads[i].merged = false;
	}
}
