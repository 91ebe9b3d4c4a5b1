/* SPDX-License-Identifier: GPL-2.0-only */
/* The terms of runs on several numbers of processors: that they add up, and are what was built into the profiles. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/costs/cost_code.h"
#include "core/estimate/estimate.h"
#include "core/scale/gap.h"
#include "core/scale/scale_json.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SECOND	 1000000000ull
#define MAX_RUNS 8

static void assert_near(double a, double b)
{
	ck_assert_msg(fabs(a - b) < 1e-3 * (1 + fabs(b)), "%g is not %g", a, b);
}

/* ---- medians ---- */

static struct qz_scale_value median(uint32_t n, const double *values, double ci)
{
	const double cis[] = {ci, ci, ci, ci, ci};
	double sorted[5];

	return qz_scale__median(values, cis, n, sorted);
}

START_TEST(medians_are_those_in_the_middle)
{
	assert_near(median(1, (double[]) {7}, 0).value, 7);
	assert_near(median(2, (double[]) {7, 3}, 0).value, 5);
	assert_near(median(3, (double[]) {9, 1, 2}, 0).value, 2);
	assert_near(median(5, (double[]) {9, 1, 2, 100, 3}, 0).value, 3);
}
END_TEST

START_TEST(intervals_come_from_the_spread_or_from_sampling)
{
	struct qz_scale_value v = median(1, (double[]) {7}, 3);

	ck_assert(v.ci == QZ_SCALE_UNKNOWN);
	ck_assert(!qz_scale_value__is_certain(&v));
	/* of two, t of one degree would make it sixteen times their distance from the mean */
	v = median(2, (double[]) {1, 2}, 3);
	ck_assert(v.ci == QZ_SCALE_UNKNOWN);
	/* variance 1 of three runs: t of 2 degrees */
	v = median(3, (double[]) {1, 2, 3}, 0);
	assert_near(v.ci, 1.2533 * 4.3027 * sqrt(1.0 / 3));
	v = median(4, (double[]) {2, 2, 2, 2}, 1);
	assert_near(v.ci, 1.2533 * 0.5);
	ck_assert(qz_scale_value__is_certain(&v));
}
END_TEST

/* ---- runs ---- */

/* Runs in the making; each has one scope. */
struct set {
	struct qz_identities ids;
	uint32_t n;
	struct qz_profile *profiles[MAX_RUNS];
	struct qz_report *reports[MAX_RUNS];
	struct qz_scale_run *runs[MAX_RUNS];
	struct qz_scale *scale;
};

/* Amounts of one run, in seconds. */
struct amounts {
	uint32_t processors;
	unsigned int serial, parallel; /* elapsed; parallel on all processors */
	unsigned int idle;	       /* none runs, main waits for a disk */
	unsigned int spinning; /* of one thread, elapsed, while another one works serially */
};

static uint64_t samples_of(unsigned int seconds)
{
	return 100ull * seconds;
}

static void add_samples(struct fixture *f, uint32_t thread, const struct amounts *a)
{
	const uint32_t n = a->processors;

	fixture__samples(f, 0, thread, "main serial", 1, samples_of(a->serial - a->spinning));
	for (uint32_t i = 0; i < n; i++)
		fixture__samples(f, 0, thread, "main [thread] parallel", n,
				 samples_of(a->parallel));
}

static void add_spinning(struct fixture *f, uint32_t thread, uint32_t spinner,
			 const struct amounts *a)
{
	struct qz_sample busy = {.thread = thread,
				 .node = fixture__stack(f, "main serial"),
				 .level = 2,
				 .busy = 1,
				 .object = QZ_NONE,
				 .count = samples_of(a->spinning)};
	struct qz_sample spun = busy;

	spun.thread = spinner;
	spun.node = fixture__stack(f, "main [thread] await");
	spun.spinning = true;
	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &busy);
	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &spun);
	f->p->scopes[0].samples += 2 * busy.count;
}

static struct qz_profile *make_run(const struct amounts *a)
{
	struct fixture f = fixture__new();
	uint64_t levels[9] = {a->idle * SECOND};
	uint32_t thread, spinner;

	f.p->processors = a->processors;
	levels[1] += (a->serial - a->spinning) * SECOND;
	levels[2] += a->spinning * SECOND;
	levels[a->processors] += a->parallel * SECOND;
	fixture__scope(&f, levels, a->processors > 2 ? a->processors + 1 : 3);
	thread = fixture__thread(&f, 0, 100);
	spinner = fixture__thread(&f, 0, 101);
	f.p->threads[thread].running_ns = (a->serial + a->parallel) * SECOND;
	add_samples(&f, thread, a);
	if (a->spinning)
		add_spinning(&f, thread, spinner, a);
	fixture__wait(&f,
		      &(struct qz_wait) {.thread = thread,
					 .object = QZ_NONE,
					 .count = 1,
					 .blocked_ns = a->idle * SECOND},
		      "main load", "disk");
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	ck_assert_int_eq(f.err, 0);
	return f.p;
}

/* False without memory, or without a run on one processor. */
static bool decompose(struct set *s, uint32_t nbaseline)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (qz_identities__add_profile(&s->ids, s->profiles[i]))
			return false;
	for (uint32_t i = 0; i < s->n; i++) {
		s->reports[i] = qz_report__new(s->profiles[i], 0);
		s->runs[i] = s->reports[i] ? qz_scale_run__new(&s->ids, s->reports[i]) : NULL;
		if (!s->runs[i])
			return false;
	}
	s->scale = qz_scale__new(&s->ids, s->runs, s->n - nbaseline, s->runs + s->n - nbaseline,
				 nbaseline);
	return s->scale;
}

static void forget(struct set *s)
{
	qz_scale__free(s->scale);
	s->scale = NULL;
	for (uint32_t i = 0; i < s->n; i++) {
		qz_scale_run__free(s->runs[i]);
		qz_report__free(s->reports[i]);
		s->runs[i] = NULL;
		s->reports[i] = NULL;
	}
	qz_identities__free(&s->ids);
	s->ids = (struct qz_identities) {0};
}

static void set_free(struct set *s)
{
	forget(s);
	for (uint32_t i = 0; i < s->n; i++)
		qz_profile__free(s->profiles[i]);
}

static struct set make_set(uint32_t n, const struct amounts *amounts)
{
	struct set s = {.n = n};

	for (uint32_t i = 0; i < n; i++)
		s.profiles[i] = make_run(&amounts[i]);
	return s;
}

static const struct qz_scale_row *row_of(const struct set *s, const char *name)
{
	for (uint32_t i = 0; i < s->scale->nrows; i++)
		if (!strcmp(qz_identities__get(&s->ids, s->scale->rows[i].identity).name, name))
			return &s->scale->rows[i];
	return NULL;
}

static double cause_of(const struct set *s, enum qz_idle_cause_kind kind, uint32_t point)
{
	double ns = 0;

	for (uint32_t i = 0; i < s->scale->ncauses; i++)
		if (s->scale->causes[i].kind == kind)
			ns += s->scale->causes[i].idle[point].value;
	return ns;
}

/* 2 s alone, 8 s of parallel work on one; on four, 3 s each, so that it takes half as much again. */
START_TEST(terms_are_those_of_the_run)
{
	const struct amounts amounts[] = {{1, 2, 8, 0, 0}, {4, 2, 3, 0, 0}};
	struct set s = make_set(2, amounts);
	const struct qz_scale_point *p;

	ck_assert(decompose(&s, 0));
	ck_assert_uint_eq(s.scale->n, 2);
	p = &s.scale->points[1];
	assert_near(p->elapsed.value, 5e9);
	assert_near(p->work.value, 14e9);
	assert_near(p->idle.value, 6e9);
	assert_near(p->inflation.value, 4e9);
	assert_near(p->maximal, 4);
	assert_near(p->idle_specific, 40.0 / 16);
	assert_near(p->inflation_specific, 40.0 / 14);
	assert_near(p->actual.value, 2);
	assert_near(row_of(&s, "parallel")->inflation[1].value, 4e9);
	assert_near(row_of(&s, "serial")->inflation[1].value, 0);
	assert_near(row_of(&s, "serial")->beside[1].value, 6e9);
	assert_near(cause_of(&s, QZ_IDLE_CAUSE_NO_THREAD, 1), 6e9);
	set_free(&s);
}
END_TEST

START_TEST(terms_and_causes_add_up)
{
	const struct amounts amounts[] = {{1, 3, 8, 1, 0},
					  {2, 3, 5, 2, 1},
					  {1, 2, 9, 1, 0},
					  {2, 4, 5, 1, 1},
					  {8, 3, 2, 3, 2}};
	struct set s = make_set(5, amounts);

	ck_assert(decompose(&s, 0));
	for (uint32_t i = 0; i < s.scale->n; i++) {
		const struct qz_scale_point *p = &s.scale->points[i];
		double total = p->processors * p->elapsed.value;

		assert_near(s.scale->points[0].work.value + p->idle.value + p->inflation.value,
			    total);
		assert_near(p->spin.value + p->others.value + p->quartz.value + p->late.value +
				    p->lacking.value,
			    p->idle.value);
	}
	for (uint32_t i = 0; i < s.n; i++) {
		double sum = 0;

		for (uint32_t k = 0; k < s.runs[i]->causes.n; k++)
			sum += s.runs[i]->causes.causes[k].ns;
		assert_near(sum, s.runs[i]->idle_ns);
	}
	set_free(&s);
}
END_TEST

/* What one processor waited for is no part of the work, so that the inflation of others is not less for it. */
START_TEST(idle_time_of_one_is_no_work)
{
	const struct amounts amounts[] = {{1, 2, 8, 5, 0}, {2, 2, 4, 5, 0}};
	struct set s = make_set(2, amounts);

	ck_assert(decompose(&s, 0));
	assert_near(s.scale->points[0].work.value, 10e9);
	assert_near(s.scale->points[0].idle.value, 5e9);
	assert_near(s.scale->points[1].inflation.value, 0);
	assert_near(s.scale->points[1].idle.value, 12e9);
	/* main is one thread: it could have used one of two processors */
	assert_near(cause_of(&s, QZ_IDLE_CAUSE_WAIT, 1), 5e9);
	assert_near(cause_of(&s, QZ_IDLE_CAUSE_NO_THREAD, 1), 7e9);
	set_free(&s);
}
END_TEST

START_TEST(spinning_is_idle)
{
	const struct amounts amounts[] = {{1, 4, 4, 0, 0}, {2, 4, 2, 0, 3}};
	struct set s = make_set(2, amounts);

	ck_assert(decompose(&s, 0));
	assert_near(s.scale->points[1].idle.value, 4e9);
	assert_near(s.scale->points[1].spin.value, 3e9);
	assert_near(s.scale->points[1].inflation.value, 0);
	assert_near(cause_of(&s, QZ_IDLE_CAUSE_SPIN, 1), 3e9);
	ck_assert_ptr_null(row_of(&s, "await")); /* it has no work */
	set_free(&s);
}
END_TEST

static const struct qz_scale_row *class_of(const struct set *s, enum qz_cost cost)
{
	for (uint32_t i = 0; i < s->scale->nclasses; i++) {
		const struct qz_scale_row *row = &s->scale->classes[i];

		if (!strcmp(qz_identities__get(&s->ids, row->identity).name, qz_cost__name(cost)))
			return row;
	}
	return NULL;
}

/* Work and spinning add up to the processor time of each point; what grows by more than a tenth of it is named. */
START_TEST(classes_are_of_each_number_of_processors)
{
	const struct amounts amounts[] = {{1, 4, 4, 0, 0}, {2, 4, 2, 0, 3}, {4, 4, 1, 0, 1}};
	struct set s = make_set(3, amounts);
	const struct qz_scale_row *work, *spinning;

	ck_assert(decompose(&s, 0));
	ck_assert_uint_eq(s.scale->nclasses, 2);
	work = class_of(&s, QZ_COST_WORK);
	spinning = class_of(&s, QZ_COST_SPINNING);
	for (uint32_t i = 0; i < 3; i++)
		assert_near(work->work[i].value, 8e9);
	assert_near(spinning->work[0].value, 0);
	assert_near(spinning->work[1].value, 3e9);
	assert_near(spinning->work[2].value, 1e9);
	assert_near(spinning->inflation[1].value, 3e9);
	assert_near(qz_scale__class_time(s.scale, 1), 11e9);
	ck_assert_ptr_eq(qz_scale__growing(s.scale), spinning); /* 1 of 9 */
	set_free(&s);
}
END_TEST

START_TEST(a_class_that_grows_by_less_than_a_tenth_is_not_named)
{
	const struct amounts amounts[] = {{1, 8, 8, 0, 0}, {2, 8, 4, 0, 1}};
	struct set s = make_set(2, amounts);

	ck_assert(decompose(&s, 0));
	assert_near(class_of(&s, QZ_COST_SPINNING)->inflation[1].value, 1e9);
	ck_assert_ptr_null(qz_scale__growing(s.scale));
	set_free(&s);
}
END_TEST

START_TEST(a_baseline_is_what_speed_ups_are_over)
{
	const struct amounts amounts[] = {{1, 2, 8, 0, 0}, {2, 2, 4, 0, 0}, {1, 2, 3, 0, 0}};
	struct set s = make_set(3, amounts);

	ck_assert(decompose(&s, 1));
	ck_assert(s.scale->has_baseline);
	assert_near(s.scale->baseline.value, 5e9);
	assert_near(s.scale->points[0].actual.value, 0.5);
	assert_near(s.scale->points[1].maximal, 1);
	set_free(&s);
}
END_TEST

START_TEST(one_processor_is_needed)
{
	const struct amounts amounts[] = {{2, 2, 4, 0, 0}, {4, 2, 2, 0, 0}};
	struct set s = make_set(2, amounts);

	ck_assert(!decompose(&s, 0));
	ck_assert_int_eq(errno, EINVAL);
	set_free(&s);
}
END_TEST

/* ---- sentences ---- */

/* The sentence that begins so, NULL when there is none. */
static const char *sentence(const struct qz_gaps *gaps, const char *start)
{
	for (uint32_t i = 0; i < gaps->n; i++)
		if (!strncmp(gaps->sentences[i], start, strlen(start)))
			return gaps->sentences[i];
	return NULL;
}

START_TEST(sentences_name_the_larger_term_first)
{
	const struct amounts amounts[] = {{1, 2, 8, 0, 0}, {2, 2, 8, 0, 0}, {4, 2, 8, 0, 0}};
	struct set s = make_set(3, amounts);
	struct qz_gaps gaps;

	ck_assert(decompose(&s, 0));
	ck_assert_int_eq(qz_gaps__find(s.scale, &s.ids, &gaps), 0);
	/* 4 * 10 s: 10 s of work, 6 s idle, 24 s of inflation */
	ck_assert_ptr_nonnull(strstr(gaps.sentences[0], "Work inflation: 60.0%"));
	ck_assert_ptr_nonnull(
		strstr(gaps.sentences[0], "3.4 times as much processor time as on one"));
	ck_assert_ptr_nonnull(strstr(gaps.sentences[1], "Idle time: 15.0%"));
	ck_assert_ptr_nonnull(sentence(&gaps, "100% of the idle time was while serial ran"));
	ck_assert_ptr_nonnull(
		sentence(&gaps, "From 2 to 4 processors, most of what is added goes to"));
	ck_assert_ptr_nonnull(sentence(&gaps, "With fewer than 3 runs"));
	qz_gaps__free(&gaps);
	set_free(&s);
}
END_TEST

/* Of 20 s of processor time a thread was ready for 4 s, in half of which Quartz ran. */
START_TEST(quartz_is_no_other_program)
{
	const struct amounts amounts[] = {{1, 2, 8, 0, 0}, {4, 2, 3, 0, 0}};
	struct set s = make_set(2, amounts);
	struct qz_wait *ready = &s.profiles[1]->waits[0];
	struct qz_gaps gaps;

	ready->blocked_ns = 0;
	ready->ready_ns = 4 * SECOND;
	ready->nominal = 2;
	s.profiles[1]->costs.daemon_ns = 2 * SECOND;
	ck_assert(decompose(&s, 0));
	assert_near(s.scale->points[1].quartz.value, 2e9);
	assert_near(s.scale->points[1].others.value, 2e9);
	assert_near(cause_of(&s, QZ_IDLE_CAUSE_QUARTZ, 1), 2e9);
	assert_near(cause_of(&s, QZ_IDLE_CAUSE_OTHERS, 1), 2e9);
	ck_assert_int_eq(qz_gaps__find(s.scale, &s.ids, &gaps), 0);
	ck_assert_ptr_nonnull(sentence(&gaps, "Other programs had up to 10% of the processors"));
	ck_assert_ptr_nonnull(sentence(&gaps, "Quartz itself had up to 10% of the processors"));
	qz_gaps__free(&gaps);
	set_free(&s);
}
END_TEST

/* Waits on one processor are in what speed-ups are over, and yet two processors do no more than two. */
START_TEST(no_sentence_promises_more_than_the_processors_can)
{
	const struct amounts amounts[] = {{1, 2, 8, 5, 0}, {2, 2, 4, 5, 0}};
	struct set s = make_set(2, amounts);
	struct qz_gaps gaps;

	ck_assert(decompose(&s, 0));
	ck_assert_double_gt(s.scale->points[1].inflation_specific, 2.9);
	ck_assert_int_eq(qz_gaps__find(s.scale, &s.ids, &gaps), 0);
	ck_assert_ptr_nonnull(
		strstr(sentence(&gaps, "Idle time: "), "would be 2.00 times as fast"));
	qz_gaps__free(&gaps);
	set_free(&s);
}
END_TEST

START_TEST(names_in_sentences_are_escaped)
{
	const struct amounts amounts[] = {{1, 2, 8, 0, 0}, {2, 2, 4, 0, 0}};
	struct set s = make_set(2, amounts);
	int64_t hostile;
	char *text;

	ck_assert(decompose(&s, 0));
	hostile = qz_identities__other(&s.ids, QZ_IDENTITY_OBJECT, "mutex \033[31m");
	ck_assert_int_ge(hostile, 0);
	text = qz_gaps__cause(&s.ids, &(struct qz_scale_cause) {.kind = QZ_IDLE_CAUSE_WAIT,
								.identity = (uint32_t)hostile});
	ck_assert_str_eq(text, "waits for mutex \\x1b[31m");
	free(text);
	set_free(&s);
}
END_TEST

/* ---- memory ---- */

static bool show(const struct set *s)
{
	struct qz_gaps gaps;
	bool done = !qz_gaps__find(s->scale, &s->ids, &gaps);
	json_t *json = done ? qz_scale_json__of(s->scale, &s->ids, &gaps, "app", UINT32_MAX) : NULL;

	qz_gaps__free(&gaps);
	json_decref(json);
	return json;
}

START_TEST(lack_of_memory_is_reported)
{
	const struct amounts amounts[] = {{1, 4, 4, 1, 0}, {2, 4, 4, 1, 3}};
	struct set s = make_set(2, amounts);
	bool done = false;

	for (unsigned int n = 1; !done; n++) {
		failing__arm(n);
		done = decompose(&s, 0) && show(&s);
		ck_assert(failing__disarm() != done);
		forget(&s);
	}
	set_free(&s);
}
END_TEST

Suite *suite_scale(void)
{
	Suite *s = suite_create("scale");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, medians_are_those_in_the_middle);
	tcase_add_test(tc, intervals_come_from_the_spread_or_from_sampling);
	tcase_add_test(tc, terms_are_those_of_the_run);
	tcase_add_test(tc, terms_and_causes_add_up);
	tcase_add_test(tc, idle_time_of_one_is_no_work);
	tcase_add_test(tc, spinning_is_idle);
	tcase_add_test(tc, classes_are_of_each_number_of_processors);
	tcase_add_test(tc, a_class_that_grows_by_less_than_a_tenth_is_not_named);
	tcase_add_test(tc, classes_are_of_each_number_of_processors);
	tcase_add_test(tc, a_class_that_grows_by_less_than_a_tenth_is_not_named);
	tcase_add_test(tc, a_baseline_is_what_speed_ups_are_over);
	tcase_add_test(tc, one_processor_is_needed);
	tcase_add_test(tc, sentences_name_the_larger_term_first);
	tcase_add_test(tc, quartz_is_no_other_program);
	tcase_add_test(tc, no_sentence_promises_more_than_the_processors_can);
	tcase_add_test(tc, names_in_sentences_are_escaped);
	tcase_add_test(tc, lack_of_memory_is_reported);
	suite_add_tcase(s, tc);
	return s;
}
