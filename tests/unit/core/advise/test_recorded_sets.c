/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is told first of the programs of doc/truth.md, by what their fixes gained in the same minutes. Rules take from each other, so
 * a change of one may hide what another one finds. recorded/README.md says how the profiles were made.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/advise/advise.h"
#include "tests/unit/core/advise/recorded.h"
#include "tests/unit/suites.h"

/* The gain is not asked for: nobody measured it, what others had of the processors came between, or doc/truth.md says why. */
#define NOT_KNOWN 0, 100

static const struct {
	const char *name; /* the set, and the program */
	const char *rule;
	int least, most; /* percent of the elapsed time, of three pairs */
} told[] = {
	{"grain-small-writes", "steps", 91, 93},
	{"grain-queue", "fine", 80, 84},
	{"grain-channel", "steps", 83, 84},
	{"grain-goroutines", "steps", 86, 89},
	{"grain-bytes", "steps", 89, 91},
	{"grain-messages", "steps", 100, 100},
	{"grain-regions", "steps", 91, 93},
	{"grain-dd", "steps", 98, 99},
	{"grain-maps", "steps", 100, 100},
	{"grain-fio-blocks", "steps", 64, 66},
	{"grain-tar-records", "steps", 79, 86},
	{"grain-grep-lines", "steps", 88, 91},
	{"grain-sed-lines", "steps", 99, 100},
	/* shorter than in the set, since each thread and process has a row: their gains are other ones */
	{"grain-expr", "steps", NOT_KNOWN},
	{"grain-fields", "steps", NOT_KNOWN},
	{"grain-xargs-items", "steps", NOT_KNOWN},
	{"grain-spawn", "steps", NOT_KNOWN},
	{"grain-async", "steps", NOT_KNOWN},
	{"languages-go-serial", "serial", NOT_KNOWN},
	{"languages-java-lock", "parked", 14, 33},
	{"languages-python-lock", "interpreter", 24, 34},
	{"languages-node-serial", "serial", 8, 14},
	{"languages-node-lock", "parked", 29, 38},
	{"languages-ruby-lock", "parked", 24, 31},
	{"languages-rust-serial", "serial", 24, 24},
	{"languages-rust-lock", "contention", 39, 40},
	{"lines-one-word", "shared-line", 94, 95},
	{"lines-pointers", "shared-line", 97, 97},
	{"lines-hits-go", "shared-line", 79, 94},
	{"lines-random", "steps", 96, 96},
	{"second-7z", "serial", NOT_KNOWN},
	{"second-plzip", "serial", 42, 51},
	{"second-lbzip2", "serial", 46, 48},
	{"second-par2", "serial", 40, 45},
	{"second-flac", "processes", 34, 36},
	{"second-oggenc", "processes", 34, 42},
	{"second-plzip-blocks", "serial", NOT_KNOWN},
	{"second-pbzip2-blocks", "imbalance", NOT_KNOWN},
	{"third-quota-go", "limited", 69, 75},
	{"third-bound-java", "limited", 31, 54},
	{"third-quota-java", "steps", 92, 94},
	{"third-bound-python", "parked", 72, 72},
	{"third-full-rust-lock", "contention", 21, 41},
	{"third-full-python", "interpreter", 6, 26},
	{"third-full-go", "steps", 95, 98},
	{"third-full-rust", "serial", NOT_KNOWN},
	{"waits-multiply", "oversubscribed", 43, 49},
	{"waits-teams", "oversubscribed", 88, 89},
	{"waits-answers", "few-threads", 83, 84},
	{"waits-polling", "polling", 72, 73},
	{"waits-polling-python", "polling", 95, 96},
	{"waits-requests", "delayed-ack", 97, 97},
	{"waits-lookups", "round-trips", 32, 36},
};

/* Programs with nothing wrong, beside others that had some of the processors. */
static const char *const healthy[] = {
	"languages-go", "languages-java",   "languages-rust",
	"lines-apart",	"lines-references", "lines-once",
};
#define MOST_OF_HEALTHY 10 /* percent, in the middle of the range */

#define N(array) ((int)(sizeof(array) / sizeof((array)[0])))

static double percent(const struct qz_report *r, uint64_t ns)
{
	return 100 * (double)ns / (double)r->elapsed_ns;
}

START_TEST(the_first_finding_is_what_the_fix_is_about)
{
	struct qz_profile *p = recorded__read("sets", told[_i].name);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);
	const struct qz_finding *f = a->findings;

	ck_assert_msg(a->n > 0, "%s: nothing is found", told[_i].name);
	ck_assert_msg(!strcmp(f->rule, told[_i].rule), "%s: first %s, %s", told[_i].name, f->rule,
		      f->what);
	/* to half of a percent, as gains are written */
	ck_assert_msg(told[_i].most + 0.5 >= percent(r, f->gain_low_ns) &&
			      told[_i].least - 0.5 <= percent(r, f->gain_high_ns),
		      "%s: %d to %d %% were gained, %.1f to %.1f told", told[_i].name,
		      told[_i].least, told[_i].most, percent(r, f->gain_low_ns),
		      percent(r, f->gain_high_ns));
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(next_to_nothing_is_told_of_healthy_programs)
{
	struct qz_profile *p = recorded__read("sets", healthy[_i]);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);

	for (uint32_t i = 0; i < a->n; i++) {
		const struct qz_finding *f = &a->findings[i];

		ck_assert_msg(percent(r, f->gain_low_ns / 2 + f->gain_high_ns / 2) <
				      MOST_OF_HEALTHY,
			      "%s: %s", healthy[_i], f->what);
	}
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

Suite *suite_recorded_sets(void)
{
	Suite *s = suite_create("recorded_sets");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, the_first_finding_is_what_the_fix_is_about, 0, N(told));
	tcase_add_loop_test(tc, next_to_nothing_is_told_of_healthy_programs, 0, N(healthy));
	suite_add_tcase(s, tc);
	return s;
}
