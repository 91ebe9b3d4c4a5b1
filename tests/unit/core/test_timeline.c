/* SPDX-License-Identifier: GPL-2.0-only */
/* The slots of a timeline add up to the run, whatever came when; a part of a run is what its slots have. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/estimate/estimate.h"
#include "core/format/pprof.h"
#include "core/format/timeline_meta.h"
#include "core/model/figures.h"
#include "core/model/timeline.h"
#include "core/report/report_json.h"
#include "core/timeline/slots.h"
#include "core/timeline/stretches.h"
#include "core/timeline/timeline_json.h"
#include "core/transform/interval.h"
#include "core/transform/timeline_cut.h"
#include "tests/unit/bytes.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SEEDS 12
#define START 5000000000ull
#define MS    1000000ull

/* ---- runs ---- */

typedef uint64_t change_figure(uint64_t now, uint64_t whole);

/* Sets each figure of p, which is like `whole`, to one that is made of what it is and of what it is to be. */
static void change_all(struct qz_profile *p, struct qz_profile *whole, change_figure *change)
{
	struct qz_column to, from;

	for (uint32_t id = 0; id < QZ_FIGURE_IDS; id = qz_figures__next(p, id)) {
		if (!qz_figures__column(p, id, &to) || !qz_figures__column(whole, id, &from))
			continue;
		for (uint32_t i = 0; i < to.n; i++)
			if (qz_column__at(&to, i))
				*qz_column__at(&to, i) =
					change(*qz_column__at(&to, i), *qz_column__at(&from, i));
	}
	for (uint32_t i = 0; i < p->nscopes; i++) {
		p->scopes[i].elapsed_ns = 0;
		for (uint32_t k = 0; k < p->scopes[i].nlevels; k++)
			p->scopes[i].elapsed_ns += p->scopes[i].level_ns[k];
	}
	qz_ledger__close(&p->ledger);
}

static uint64_t nothing(uint64_t now, uint64_t whole)
{
	(void)now;
	(void)whole;
	return 0;
}

static uint64_t everything(uint64_t now, uint64_t whole)
{
	(void)now;
	return whole;
}

/* Some way on; often not at all, and now and then back. */
static uint64_t somewhere(uint64_t now, uint64_t whole)
{
	uint64_t rest = whole - now;

	switch (rand() % 8) {
	case 0:
		return now / 2;
	case 1:
		return now + rest / 3 + 1 <= whole ? now + rest / 3 + 1 : whole;
	case 2:
		return now + rest / 50;
	default:
		return now;
	}
}

static void set_starts(struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++)
		p->scopes[i].start_ns = START;
}

/* Of a run that has come to its end in so many steps, each of that time; it has the profile's figures. */
static struct qz_profile *run(unsigned int seed, uint32_t steps, uint64_t step_ns)
{
	struct qz_profile *p = fixture__random(seed), *whole = fixture__random(seed);
	struct qz_timeline_cut *cut = qz_timeline_cut__new(p);

	ck_assert_ptr_nonnull(cut);
	qz_profile__drop_unattributed(p);
	qz_profile__drop_unattributed(whole);
	set_starts(p);
	change_all(p, whole, nothing);
	p->scopes[0].level_ns[0] = p->scopes[0].elapsed_ns = whole->scopes[0].level_ns[0] != 0;
	srand(seed);
	for (uint32_t i = 1; i < steps; i++) {
		ck_assert_int_eq(qz_timeline_cut__take(cut, p, START + i * step_ns), 0);
		change_all(p, whole, somewhere);
		if (i % 5 == 0) /* as for a snapshot in between */
			ck_assert_int_eq(qz_estimate__profile(p), 0);
	}
	qz_profile__drop_unattributed(p);
	change_all(p, whole, everything);
	ck_assert_int_eq(qz_timeline_cut__take(cut, p, START + steps * step_ns), 0);
	ck_assert_int_eq(qz_estimate__profile(p), 0);
	qz_timeline_cut__free(cut);
	qz_profile__free(whole);
	return p;
}

/* ---- sums ---- */

/* By hand: each figure, and how many there are. */
static void assert_adds_up(struct qz_profile *p)
{
	const struct qz_timeline *t = p->timeline;
	uint64_t all = 0, found = 0;
	struct qz_column column;

	ck_assert_ptr_nonnull(t);
	ck_assert_uint_le(t->n, QZ_TIMELINE_SLOTS);
	ck_assert_uint_le(t->nadded, QZ_TIMELINE_FIGURES);
	for (uint32_t id = 0; id < QZ_FIGURE_IDS; id = qz_figures__next(p, id)) {
		if (!qz_figures__column(p, id, &column))
			continue;
		for (uint32_t i = 0; i < column.n; i++) {
			const uint64_t *figure = qz_column__at(&column, i);

			ck_assert_uint_eq(qz_timeline__sum(t, 0, t->n, id, i),
					  figure ? *figure : 0);
			for (uint32_t k = 0; k < t->n; k++)
				found += qz_timeline__sum(t, k, k + 1, id, i) != 0;
		}
	}
	for (uint32_t i = 0; i < t->n; i++) {
		all += t->slots[i].n;
		for (uint32_t k = 1; k < t->slots[i].n; k++)
			ck_assert(t->slots[i].added[k - 1].id < t->slots[i].added[k].id ||
				  t->slots[i].added[k - 1].entity < t->slots[i].added[k].entity);
	}
	ck_assert_uint_eq(all, t->nadded);
	ck_assert_uint_eq(all, found);
	ck_assert_int_eq(qz_timeline__check(t, p), 0);
}

START_TEST(slots_add_up_to_the_run)
{
	struct qz_profile *p = run((unsigned int)_i, 40, 100 * MS);

	assert_adds_up(p);
	ck_assert_uint_eq(p->timeline->slot_ns, QZ_TIMELINE_WIDTH);
	ck_assert_uint_eq(p->timeline->n, 40);
	ck_assert_uint_eq(p->timeline->start_ns, START);
	qz_profile__free(p);
}
END_TEST

/* Also where the moments do not fit to the slots. */
START_TEST(slots_add_up_after_doublings)
{
	struct qz_profile *p = run((unsigned int)_i, 300, 973 * MS);

	assert_adds_up(p);
	ck_assert_uint_eq(p->timeline->slot_ns, 8 * QZ_TIMELINE_WIDTH);
	ck_assert_uint_gt(p->timeline->n, QZ_TIMELINE_SLOTS / 2);
	qz_profile__free(p);
}
END_TEST

/* What comes late is spread over the time that it comes of. */
START_TEST(a_long_time_is_spread_over_its_slots)
{
	struct qz_timeline *t = qz_timeline__new(START, 100 * MS);
	const struct qz_added added[] = {{3, 0, 1000}, {3, 1, 1}, {3, 2, 7}, {9, 0, 12}};

	ck_assert_int_eq(qz_timeline__add(t, START, START + 98 * MS, added, 4), 0);
	ck_assert_int_eq(qz_timeline__add(t, START + 98 * MS, START + 501 * MS, added, 4), 0);
	ck_assert_uint_eq(t->n, 5);
	ck_assert_uint_eq(qz_timeline__sum(t, 0, 1, 3, 0), 1000);
	for (uint32_t i = 1; i < 5; i++) {
		ck_assert_uint_eq(qz_timeline__sum(t, i, i + 1, 3, 0), 250);
		ck_assert_uint_eq(qz_timeline__sum(t, i, i + 1, 9, 0), 3);
		ck_assert_uint_le(qz_timeline__sum(t, i, i + 1, 3, 2), 2);
	}
	ck_assert_uint_eq(qz_timeline__sum(t, 0, 5, 3, 0), 2000);
	ck_assert_uint_eq(qz_timeline__sum(t, 0, 5, 3, 1), 2);
	ck_assert_uint_eq(qz_timeline__sum(t, 0, 5, 3, 2), 14);
	qz_timeline__free(t);
}
END_TEST

START_TEST(small_times_are_of_the_slot_of_their_middle)
{
	struct qz_timeline *t = qz_timeline__new(0, 100 * MS);
	const struct qz_added one = {1, 1, 1};

	ck_assert_int_eq(qz_timeline__add(t, 210 * MS, 230 * MS, &one, 1), 0);
	ck_assert_int_eq(qz_timeline__add(t, 190 * MS, 209 * MS, &one, 1), 0);
	ck_assert_int_eq(qz_timeline__add(t, 97 * MS, 204 * MS, &one, 1), 0);
	ck_assert_uint_eq(qz_timeline__sum(t, 1, 2, 1, 1), 2);
	ck_assert_uint_eq(qz_timeline__sum(t, 2, 3, 1, 1), 1);
	qz_timeline__free(t);
}
END_TEST

/* So many figures that slots become wide long before there are many of them. */
START_TEST(memory_is_bounded)
{
	enum { EACH = 3000 };
	struct qz_timeline *t = qz_timeline__new(0, 100 * MS);
	struct qz_added *added = calloc(EACH, sizeof(*added));
	uint64_t sum = 0;

	for (uint64_t slot = 0; slot < 400; slot++) {
		for (uint32_t i = 0; i < EACH; i++)
			added[i] = (struct qz_added) {2, i, slot + 1};
		ck_assert_int_eq(qz_timeline__add(t, slot * 100 * MS, (slot + 1) * 100 * MS, added,
						  EACH),
				 0);
		ck_assert_uint_le(t->nadded, QZ_TIMELINE_FIGURES);
		sum += slot + 1;
	}
	ck_assert_uint_gt(t->slot_ns, 800 * MS);
	ck_assert_uint_ge(t->n, QZ_TIMELINE_LEAST);
	for (uint32_t i = 0; i < EACH; i += 97)
		ck_assert_uint_eq(qz_timeline__sum(t, 0, t->n, 2, i), sum);
	free(added);
	qz_timeline__free(t);
}
END_TEST

START_TEST(too_much_for_any_width_is_refused)
{
	uint32_t n = QZ_TIMELINE_FIGURES + 1;
	struct qz_timeline *t = qz_timeline__new(0, 100 * MS);
	struct qz_added *added = calloc(n, sizeof(*added));

	for (uint32_t i = 0; i < n; i++)
		added[i] = (struct qz_added) {2, i, 1};
	ck_assert_int_eq(qz_timeline__add(t, 0, 100 * MS, added, n - 1), 0);
	ck_assert_int_eq(qz_timeline__add(t, 100 * MS, 200 * MS, added, n), -E2BIG);
	free(added);
	qz_timeline__free(t);
}
END_TEST

START_TEST(what_became_less_is_taken_from_the_last_slots)
{
	struct qz_timeline *t = qz_timeline__new(0, 100 * MS);
	const struct qz_added added[] = {{1, 1, 10}, {1, 2, 5}};

	for (uint64_t i = 0; i < 3; i++)
		ck_assert_int_eq(qz_timeline__add(t, i * 100 * MS, (i + 1) * 100 * MS, added, 2),
				 0);
	qz_timeline__take(t, 1, 1, 14);
	ck_assert_uint_eq(qz_timeline__sum(t, 0, 1, 1, 1), 10);
	ck_assert_uint_eq(qz_timeline__sum(t, 1, 2, 1, 1), 6);
	ck_assert_uint_eq(qz_timeline__sum(t, 2, 3, 1, 1), 0);
	ck_assert_uint_eq(qz_timeline__sum(t, 0, 3, 1, 2), 15);
	ck_assert_uint_eq(t->nadded, 5);
	qz_timeline__free(t);
}
END_TEST

START_TEST(a_sum_that_differs_is_seen)
{
	struct qz_profile *p = run(3, 20, 100 * MS);
	struct qz_timeslot *slot = &p->timeline->slots[p->timeline->n - 1];

	for (uint32_t i = 0; i < slot->n; i++) {
		slot->added[i].value++;
		ck_assert_int_eq(qz_timeline__check(p->timeline, p), -EBADMSG);
		slot->added[i].value--;
	}
	slot->added[slot->n - 1].entity += 1000000;
	ck_assert_int_eq(qz_timeline__check(p->timeline, p), -EBADMSG);
	qz_profile__free(p);
}
END_TEST

/* ---- names ---- */

START_TEST(each_column_has_a_name_of_its_own)
{
	char name[QZ_FIGURE_NAME];
	uint32_t n = 0;

	/* there is room for all that have a name */
	ck_assert(!qz_figures__name(QZ_FIGURE_LEVELS - 1, name));
	for (uint32_t id = 0; id < QZ_FIGURE_IDS; id++) {
		if (!qz_figures__name(id, name))
			continue;
		ck_assert_uint_eq(qz_figures__find(name), id);
		n++;
	}
	ck_assert_uint_gt(n, QZ_MAX_LEVELS + QZ_MAX_CAUSES + 60);
	ck_assert_uint_eq(qz_figures__find("samples.other"), QZ_NONE);
	ck_assert_uint_eq(qz_figures__find("level_ns."), QZ_NONE);
	ck_assert_uint_eq(qz_figures__find("level_ns.8193"), QZ_NONE);
	ck_assert_uint_eq(qz_figures__find("level_ns.1x"), QZ_NONE);
	ck_assert_uint_eq(qz_figures__find("calls.cost_ns"), QZ_NONE);
	ck_assert_uint_ne(qz_figures__find("objects.queue_ns.15"), QZ_NONE);
}
END_TEST

/* ---- files ---- */

static struct qz_profile *reread(const struct qz_profile *p)
{
	struct bytes gz = bytes__of_profile(p);
	int fd = bytes__file(gz.data, gz.size);
	const char *why = "";
	struct qz_profile *q = qz_pprof__read(fd, &why);

	ck_assert_msg(q, "%s", why);
	close(fd);
	free(gz.data);
	return q;
}

static void assert_same_timeline(const struct qz_timeline *a, const struct qz_timeline *b)
{
	ck_assert_uint_eq(a->start_ns, b->start_ns);
	ck_assert_uint_eq(a->slot_ns, b->slot_ns);
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_uint_eq(a->nadded, b->nadded);
	for (uint32_t i = 0; i < a->n; i++) {
		ck_assert_uint_eq(a->slots[i].n, b->slots[i].n);
		if (a->slots[i].n)
			ck_assert_mem_eq(a->slots[i].added, b->slots[i].added,
					 a->slots[i].n * sizeof(struct qz_added));
	}
}

START_TEST(a_file_has_the_same_slots)
{
	struct qz_profile *p = run((unsigned int)_i, 60, 100 * MS), *q = reread(p);

	ck_assert(!q->timeline_differs);
	assert_adds_up(q);
	assert_same_timeline(p->timeline, q->timeline);
	qz_profile__free(p);
	qz_profile__free(q);
}
END_TEST

/* The metadata of a timeline alone. */
static json_t *meta_of(const struct qz_profile *p)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_error_t error;
	json_t *all;

	fputs("{\"a\":0", out);
	qz_timeline_meta__print(out, p->timeline);
	fputs("}", out);
	fclose(out);
	all = json_loads(text, 0, &error);
	ck_assert_ptr_nonnull(all);
	free(text);
	return all;
}

enum outcome { FINE, LEFT_OUT, REFUSED, LARGE };

static void assert_read(const json_t *timeline, struct qz_profile *p, enum outcome outcome)
{
	static const int errors[] = {0, 0, -EBADMSG, -EFBIG};

	qz_timeline__free(p->timeline);
	p->timeline = NULL;
	p->timeline_differs = false;
	ck_assert_int_eq(qz_timeline_meta__read(timeline, p), errors[outcome]);
	ck_assert(!p->timeline == (outcome != FINE));
	ck_assert(p->timeline_differs == (outcome == LEFT_OUT));
}

/* Of the first column of the first slot that has any. */
static json_t *column_of(json_t *timeline)
{
	json_t *slots = json_object_get(timeline, "slots");

	for (size_t i = 0; i < json_array_size(slots); i++)
		if (json_array_size(json_array_get(slots, i)))
			return json_array_get(json_array_get(slots, i), 0);
	ck_abort();
	return NULL;
}

static void set(json_t *timeline, const char *name, json_t *value)
{
	json_object_set_new(timeline, name, value);
}

static void put(json_t *timeline, size_t at, json_t *value)
{
	json_array_set_new(column_of(timeline), at, value);
}

static json_t *zeros(size_t n, json_t *each)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append(array, each);
	json_decref(each);
	return array;
}

/* A member of the timeline, or else a number of its first column, is this instead. */
static const struct {
	const char *member;
	size_t at;
	const char *json;
} damages[] = {
	{"slot_ns", 0, "0"},
	{"slot_ns", 0, "-1"},
	{"slot_ns", 0, "9223372036854775807"},
	{"start_ns", 0, "\"x\""},
	{"slots", 0, "{}"},
	{"slots", 0, "[]"},
	{"slots", 0, "[7,7,7]"},
	{"slots", 0, "[[7]]"},
	{"slots", 0, "[[[]]]"},
	{"slots", 0, "[[[0,1]]]"},
	{"slots", 0, "[[[0,0,1,0,1]]]"}, /* the same figure twice */
	{"slots", 0, "[[[0,0,1],[0,0,1]]]"},
	{"figures", 0, "7"},
	{"figures", 0, "[7]"},
	{"figures", 0, "[]"},
	{NULL, 0, "1000000"},
	{NULL, 0, "-1"},
	{NULL, 1, "-1"},
	{NULL, 1, "4294967295"},
	{NULL, 2, "0"},
	{NULL, 2, "-5"},
	{NULL, 2, "5.5"},
	{NULL, 2, "\"5\""},
};

#define DAMAGES (sizeof(damages) / sizeof(*damages))

static void damage(json_t *timeline, int how)
{
	json_t *value = json_loads(damages[how].json, JSON_DECODE_ANY, NULL);

	ck_assert_ptr_nonnull(value);
	if (damages[how].member)
		set(timeline, damages[how].member, value);
	else
		put(timeline, damages[how].at, value);
}

START_TEST(damaged_ones_are_refused)
{
	struct qz_profile *p = run(2, 20, 100 * MS);
	json_t *all = meta_of(p), *timeline = json_object_get(all, "timeline");

	damage(timeline, _i);
	assert_read(timeline, p, REFUSED);
	json_decref(all);
	qz_profile__free(p);
}
END_TEST

START_TEST(too_many_slots_or_figures_are_refused)
{
	struct qz_profile *p = run(2, 20, 100 * MS);
	json_t *all = meta_of(p), *timeline = json_object_get(all, "timeline");

	set(timeline, "slots", zeros(QZ_TIMELINE_SLOTS + 1, json_array()));
	assert_read(timeline, p, LARGE);
	set(timeline, "slots",
	    zeros(1, zeros(1, zeros(2 * QZ_TIMELINE_FIGURES + 3, json_integer(0)))));
	assert_read(timeline, p, LARGE);
	set(timeline, "figures", zeros(QZ_FIGURE_IDS + 1, json_string("run.window_ns")));
	assert_read(timeline, p, REFUSED);
	json_decref(all);
	qz_profile__free(p);
}
END_TEST

/* What does not add up is left out; so is what would add up beyond 64 bits. Names of later versions are passed over. */
START_TEST(what_does_not_add_up_is_left_out)
{
	struct qz_profile *p = run(2, 20, 100 * MS);
	json_t *all = meta_of(p), *timeline = json_object_get(all, "timeline");
	json_t *column = column_of(timeline), *slots = json_object_get(timeline, "slots");
	json_int_t value = json_integer_value(json_array_get(column, 2));

	assert_read(timeline, p, FINE);
	put(timeline, 2, json_integer(value + 1));
	assert_read(timeline, p, LEFT_OUT);
	put(timeline, 2, json_integer(value));
	assert_read(timeline, p, FINE);
	for (int i = 0; i < 4; i++)
		json_array_append_new(slots, json_pack("[[i,i,I]]", 0, 0, (json_int_t)1 << 62));
	assert_read(timeline, p, LEFT_OUT);
	for (int i = 0; i < 4; i++)
		json_array_remove(slots, json_array_size(slots) - 1);
	json_array_append_new(json_object_get(timeline, "figures"), json_string("samples.later"));
	json_array_append_new(
		slots,
		json_pack("[[i,i,i]]",
			  (int)json_array_size(json_object_get(timeline, "figures")) - 1, 9, 9));
	assert_read(timeline, p, FINE);
	json_decref(all);
	qz_profile__free(p);
}
END_TEST

/* ---- parts ---- */

static char *report_of(const struct qz_profile *p)
{
	struct qz_report **reports = calloc(p->nscopes, sizeof(*reports));
	const struct qz_json_rows which = {QZ_RANK_PROCEDURES | QZ_RANK_OBJECTS, QZ_RANK_BY_DEFAULT,
					   UINT32_MAX, NULL};
	char *text;

	for (uint32_t i = 0; i < p->nscopes; i++) {
		reports[i] = qz_report__new(p, i);
		ck_assert_ptr_nonnull(reports[i]);
	}
	text = qz_report_json__report((const struct qz_report *const *)reports, p->nscopes, &which);
	for (uint32_t i = 0; i < p->nscopes; i++)
		qz_report__free(reports[i]);
	free(reports);
	return text;
}

/* Gives the part, and frees the run. */
static struct qz_profile *part_of(struct qz_profile *p, uint64_t from, uint64_t until)
{
	struct qz_profile *part = qz_interval__profile(p, from, until);

	ck_assert_msg(part, "%s", strerror(errno));
	qz_profile__free(p);
	return part;
}

/* Entities of nothing are left out of a part; here each one has something. */
static struct qz_profile *busy_run(unsigned int seed)
{
	struct qz_profile *p = run(seed, 30, 100 * MS);

	for (uint32_t i = 0; i < p->nthreads; i++)
		p->threads[i].running_ns += 1;
	for (uint32_t i = 0; i < p->nobjects; i++)
		p->objects[i].waits += 1;
	qz_timeline__free(p->timeline);
	p->timeline = NULL;
	return p;
}

START_TEST(all_of_a_run_is_the_run)
{
	struct qz_profile *p = busy_run((unsigned int)_i), *whole, *part;
	struct qz_timeline_cut *cut = qz_timeline_cut__new(p);
	char *before, *after;

	fixture__tell_apart(p);
	ck_assert_int_eq(qz_timeline_cut__take(cut, p, START + 1000 * MS), 0);
	qz_timeline_cut__free(cut);
	ck_assert_int_eq(qz_estimate__profile(p), 0);
	whole = reread(p);
	before = report_of(whole);
	part = part_of(p, 0, INT64_MAX);
	ck_assert_uint_gt(part->interval_until_ns, 0);
	part->interval_until_ns = 0;
	after = report_of(part);
	ck_assert(!strcmp(before, after)); /* too long to be shown */
	free(before);
	free(after);
	qz_profile__free(whole);
	qz_profile__free(part);
}
END_TEST

struct sums {
	uint64_t elapsed, levels, cpu, samples, blocked, ready, accepted, window, queue;
};

static void add_sums(struct sums *s, const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++) {
		s->elapsed += p->scopes[i].elapsed_ns;
		s->cpu += p->scopes[i].cpu_ns;
		for (uint32_t k = 0; k < p->scopes[i].nlevels; k++)
			s->levels += (k + 1) * p->scopes[i].level_ns[k];
	}
	for (uint32_t i = 0; i < p->nsamples; i++)
		s->samples += p->samples[i].count;
	for (uint32_t i = 0; i < p->nwaits; i++) {
		s->blocked += p->waits[i].blocked_ns;
		s->ready += p->waits[i].ready_ns;
	}
	for (uint32_t i = 0; i < p->nobjects; i++)
		s->queue += p->objects[i].queue_ns[1];
	s->accepted += p->ledger.accepted;
	s->window += p->window_ns;
}

START_TEST(parts_add_up_to_the_run)
{
	struct sums whole = {0}, parts = {0};
	struct qz_profile *p = run((unsigned int)_i, 40, 100 * MS);

	add_sums(&whole, p);
	qz_profile__free(p);
	for (uint64_t from = 0; from < 4000; from += 800) {
		p = part_of(run((unsigned int)_i, 40, 100 * MS), from * MS, (from + 800) * MS);
		ck_assert_uint_eq(p->interval_from_ns, from * MS);
		ck_assert_uint_eq(p->interval_until_ns, (from + 800) * MS);
		add_sums(&parts, p);
		qz_profile__free(p);
	}
	ck_assert_mem_eq(&whole, &parts, sizeof(whole));
}
END_TEST

START_TEST(slots_that_an_interval_meets_are_taken)
{
	struct qz_profile *p = part_of(run(1, 40, 100 * MS), 350 * MS, 601 * MS);

	ck_assert_uint_eq(p->interval_from_ns, 300 * MS);
	ck_assert_uint_eq(p->interval_until_ns, 700 * MS);
	qz_profile__free(p);
	p = part_of(run(1, 40, 100 * MS), 300 * MS, 400 * MS);
	ck_assert_uint_eq(p->interval_from_ns, 300 * MS);
	ck_assert_uint_eq(p->interval_until_ns, 400 * MS);
	qz_profile__free(p);
}
END_TEST

START_TEST(what_is_not_there_cannot_be_taken)
{
	struct qz_profile *p = run(1, 40, 100 * MS), *without = fixture__random(1);

	ck_assert_ptr_null(qz_interval__profile(p, 4000 * MS, 5000 * MS));
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_ptr_null(qz_interval__profile(p, 300 * MS, 300 * MS));
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_ptr_null(qz_interval__profile(without, 0, 1));
	ck_assert_int_eq(errno, ENODATA);
	ck_assert_uint_eq(qz_interval__whole_ns(p), 4000 * MS);
	ck_assert_uint_eq(qz_interval__whole_ns(without), 0);
	qz_profile__free(p);
	qz_profile__free(without);
}
END_TEST

/* Idle but for a twentieth and a hundredth, in slots of 100 ms: '-' is idle, 't' a hundredth, '#' a twentieth. */
static struct qz_profile *served(const char *slots, uint32_t kind)
{
	uint64_t level_ns[] = {0, 0};
	struct qz_profile *p = qz_profile__new();
	struct qz_scope scope = {.kind = kind,
				 .comm = "served",
				 .command = "",
				 .cgroup = "",
				 .start_ns = START,
				 .nlevels = 2,
				 .level_ns = level_ns};
	struct qz_timeline_cut *cut = qz_timeline_cut__new(p);

	ck_assert_int_eq(qz_profile__add_scope(p, &scope), 0);
	for (uint32_t i = 0; slots[i]; i++) {
		uint64_t busy = slots[i] == '#' ? 5 * MS : slots[i] == 't' ? MS : 0;

		p->scopes[0].level_ns[1] += busy;
		p->scopes[0].level_ns[0] += 100 * MS - busy;
		p->scopes[0].elapsed_ns += 100 * MS;
		ck_assert_int_eq(qz_timeline_cut__take(cut, p, START + (i + 1) * 100 * MS), 0);
	}
	qz_timeline_cut__free(cut);
	return p;
}

START_TEST(idle_time_around_the_load_is_found)
{
	struct qz_profile *p = served("t--##--#-t", QZ_SCOPE_PROCESS);
	uint64_t from = 1, until = 1;

	ck_assert(qz_interval__find_load(p, &from, &until));
	ck_assert_uint_eq(from, 300 * MS);
	ck_assert_uint_eq(until, 800 * MS);
	qz_profile__free(p);
	p = served("--t--", QZ_SCOPE_PROCESS);
	ck_assert(!qz_interval__find_load(p, &from, &until));
	qz_profile__free(p);
	p = served("-#-", QZ_SCOPE_MACHINE); /* whatever runs there */
	ck_assert(!qz_interval__find_load(p, &from, &until));
	qz_profile__free(p);
	p = fixture__random(1); /* without a timeline */
	ck_assert(!qz_interval__find_load(p, &from, &until));
	qz_profile__free(p);
}
END_TEST

/* ---- one scope ---- */

static void assert_scope(const struct qz_profile *p, uint32_t scope)
{
	struct qz_report *r = qz_report__new(p, scope);
	struct qz_slots *s = qz_slots__new(r);
	uint64_t elapsed = 0, norm = 0, cpu = 0, wanted_norm = 0, wanted_cpu = 0, spin = 0,
		 busy = 0;

	ck_assert_ptr_nonnull(s);
	for (uint32_t i = 0; i < p->nsamples; i++) {
		if (p->samples[i].scope != scope)
			continue;
		wanted_norm += p->samples[i].norm_ns;
		wanted_cpu += p->samples[i].cpu_ns;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		elapsed += s->all[i].elapsed_ns;
		spin += s->all[i].spin_ns;
		for (uint32_t k = 0; k < s->nlevels; k++)
			busy += s->all[i].busy_ns[k];
		for (uint32_t k = 0; k < s->all[i].nsamples; k++) {
			norm += s->all[i].samples[k].norm_ns;
			cpu += s->all[i].samples[k].cpu_ns;
		}
	}
	ck_assert_uint_eq(elapsed, r->elapsed_ns);
	ck_assert_uint_eq(busy, r->elapsed_ns);
	ck_assert_uint_eq(norm, wanted_norm);
	ck_assert_uint_eq(cpu, wanted_cpu);
	ck_assert_uint_eq(spin, r->spin_ns);
	qz_slots__free(s);
	qz_report__free(r);
}

START_TEST(slots_of_a_scope_add_up_to_its_report)
{
	struct qz_profile *p = run((unsigned int)_i, 40, 100 * MS);

	for (uint32_t i = 0; i < p->nscopes; i++)
		assert_scope(p, i);
	qz_profile__free(p);
}
END_TEST

/* One thread for a second, none for half a second, then two. */
static struct qz_profile *phases(void)
{
	static const uint64_t none[3];
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, none, 3), thread = fixture__thread(&f, scope, 7);
	struct qz_timeline_cut *cut = qz_timeline_cut__new(f.p);

	f.p->scopes[scope].start_ns = START;
	for (uint32_t i = 0; i < 25; i++) {
		uint32_t level = i < 10 ? 1 : i < 15 ? 0 : 2;

		f.p->scopes[scope].level_ns[level] += 100 * MS;
		f.p->scopes[scope].elapsed_ns += 100 * MS;
		if (level)
			fixture__samples(&f, scope, thread, level == 1 ? "main init" : "main work",
					 level, 100);
		ck_assert_int_eq(f.err, 0);
		ck_assert_int_eq(qz_timeline_cut__take(cut, f.p,
						       START + (i + 1) * 100 * MS + i % 3 * MS),
				 0);
	}
	qz_timeline_cut__free(cut);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	return f.p;
}

START_TEST(stretches_are_where_they_were)
{
	struct qz_profile *p = phases();
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_slots *s = qz_slots__new(r);
	struct qz_stretch serial = qz_stretches__longest(s, QZ_STRETCH_SERIAL);
	struct qz_stretch idle = qz_stretches__longest(s, QZ_STRETCH_IDLE);
	double norm[8] = {0};

	ck_assert_uint_le(p->nprocedures, 8);
	ck_assert_uint_eq(serial.first, 0);
	ck_assert_uint_eq(serial.last, 10);
	ck_assert_uint_eq(idle.first, 10);
	ck_assert_uint_eq(idle.last, 15);
	ck_assert_int_eq(qz_stretches__kind(s, 15, 25), QZ_STRETCH_PARALLEL);
	ck_assert_int_eq(qz_stretches__kind(s, 25, 30), QZ_STRETCH_NONE);
	qz_stretches__add_norm(s, p, 2.5, 4, norm);
	ck_assert(norm[fixture__procedure(p, "init")] > 149e6);
	ck_assert(norm[fixture__procedure(p, "init")] < 151e6);
	ck_assert(norm[fixture__procedure(p, "work")] == 0);
	qz_slots__free(s);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(json_has_each_slot)
{
	struct qz_profile *p = phases(), *without = fixture__random(1);
	struct qz_report *r = qz_report__new(p, 0), *other = qz_report__new(without, 0);
	json_t *t = qz_timeline_json__object(r), *none = qz_timeline_json__object(other), *slot;

	ck_assert(json_is_null(none));
	ck_assert_int_eq(json_integer_value(json_object_get(t, "slot_ns")), 100 * MS);
	ck_assert_int_eq(json_integer_value(json_object_get(t, "begin_ns")), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(t, "slots")), 25);
	ck_assert_uint_eq(json_array_size(json_object_get(t, "samples")), 20);
	ck_assert_uint_eq(json_array_size(json_object_get(t, "waits")), 0);
	slot = json_array_get(json_object_get(t, "slots"), 20);
	ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(slot, "busy_ns"), 2)),
			 100 * MS);
	slot = json_array_get(json_object_get(t, "samples"), 19);
	ck_assert_uint_eq(json_array_size(slot), 8);
	ck_assert_int_eq(json_integer_value(json_array_get(slot, 0)), 24);
	ck_assert_int_eq(json_integer_value(json_array_get(slot, 3)), 2);
	ck_assert_int_eq(json_integer_value(json_array_get(slot, 6)), 100 * MS);
	ck_assert_int_eq(json_integer_value(json_array_get(slot, 7)), 200 * MS);
	json_decref(t);
	json_decref(none);
	qz_report__free(r);
	qz_report__free(other);
	qz_profile__free(p);
	qz_profile__free(without);
}
END_TEST

/* ---- memory ---- */

START_TEST(each_allocation_may_fail)
{
	struct qz_profile *p = NULL, *part = NULL;

	for (unsigned int i = 1; !part; i++) {
		p = run(1, 3, 100 * MS);
		failing__arm(i);
		part = qz_interval__profile(p, 100 * MS, 300 * MS);
		ck_assert_int_eq(failing__disarm(), !part);
		qz_profile__free(p);
	}
	qz_profile__free(part);
}
END_TEST

START_TEST(without_memory_there_is_no_timeline)
{
	bool failed = true;

	for (unsigned int i = 1; failed; i++) {
		struct qz_profile *p = run(1, 2, 100 * MS);
		struct qz_timeline_cut *cut;
		int err;

		qz_timeline__free(p->timeline);
		p->timeline = NULL;
		cut = qz_timeline_cut__new(p);
		ck_assert_ptr_nonnull(cut);
		failing__arm(i);
		err = qz_timeline_cut__take(cut, p, START + 300 * MS);
		failed = failing__disarm();
		ck_assert(!failed || !err || err == -ENOMEM);
		ck_assert(!p->timeline == (err != 0));
		if (!err)
			assert_adds_up(p);
		qz_timeline_cut__free(cut);
		qz_profile__free(p);
	}
}
END_TEST

static TCase *cases_of_sums(void)
{
	TCase *c = tcase_create("sums");

	tcase_add_loop_test(c, slots_add_up_to_the_run, 0, SEEDS);
	tcase_add_loop_test(c, slots_add_up_after_doublings, 0, SEEDS / 3);
	tcase_add_test(c, a_long_time_is_spread_over_its_slots);
	tcase_add_test(c, small_times_are_of_the_slot_of_their_middle);
	tcase_add_test(c, memory_is_bounded);
	tcase_add_test(c, too_much_for_any_width_is_refused);
	tcase_add_test(c, what_became_less_is_taken_from_the_last_slots);
	tcase_add_test(c, a_sum_that_differs_is_seen);
	tcase_add_test(c, each_column_has_a_name_of_its_own);
	return c;
}

Suite *suite_timeline(void)
{
	Suite *s = suite_create("timeline");
	TCase *c = tcase_create("files");

	suite_add_tcase(s, cases_of_sums());
	tcase_add_loop_test(c, a_file_has_the_same_slots, 0, SEEDS);
	tcase_add_loop_test(c, damaged_ones_are_refused, 0, DAMAGES);
	tcase_add_test(c, too_many_slots_or_figures_are_refused);
	tcase_add_test(c, what_does_not_add_up_is_left_out);
	suite_add_tcase(s, c);
	c = tcase_create("parts");
	tcase_add_loop_test(c, all_of_a_run_is_the_run, 0, SEEDS);
	tcase_add_loop_test(c, parts_add_up_to_the_run, 0, SEEDS);
	tcase_add_test(c, slots_that_an_interval_meets_are_taken);
	tcase_add_test(c, what_is_not_there_cannot_be_taken);
	tcase_add_test(c, idle_time_around_the_load_is_found);
	tcase_add_loop_test(c, slots_of_a_scope_add_up_to_its_report, 0, SEEDS);
	tcase_add_test(c, stretches_are_where_they_were);
	tcase_add_test(c, json_has_each_slot);
	tcase_add_test(c, each_allocation_may_fail);
	tcase_add_test(c, without_memory_there_is_no_timeline);
	suite_add_tcase(s, c);
	return s;
}
