/* SPDX-License-Identifier: GPL-2.0-only */
/* Which remedies are tried of which program, and in which order; and how often ranges held. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/remedies/record.h"
#include "core/remedies/remedies.h"
#include "tests/unit/failing.h"
#include "tests/unit/suites.h"

#define MOST_CODE 8

/* A program with this code, and these findings. */
struct program {
	struct qz_profile profile;
	struct qz_procedure code[MOST_CODE];
	struct qz_report report;
	struct qz_finding findings[2];
	struct qz_advice advice;
	struct qz_remedy_place place;
	struct qz_remedies found;
};

static const int order[] = {3, 5};

/* The borrowed names of modules end with NULL. */
static void make(struct program *p, const char *const *modules, uint32_t threads)
{
	*p = (struct program) {.place = {.processors = 8, .order = order}};
	while (modules[p->profile.nprocedures]) {
		uint32_t i = p->profile.nprocedures++;

		p->code[i] = (struct qz_procedure) {
			.name = (char *)"code", .module = (char *)modules[i], .kind = QZ_PROCEDURE};
	}
	p->profile.procedures = p->code;
	p->report.profile = &p->profile;
	p->report.nthreads = threads;
	p->advice.report = &p->report;
	p->advice.findings = p->findings;
}

static void add_finding(struct program *p, const char *rule, const char *remedy)
{
	p->findings[p->advice.n++] = (struct qz_finding) {.rule = rule, .remedy = (char *)remedy};
}

static void find(struct program *p)
{
	qz_remedy_code__find(&p->place.code, &p->profile);
	ck_assert_int_eq(qz_remedies__find(&p->found, &p->advice, &p->place), 0);
}

static const struct qz_remedy_use *use_of(const struct program *p, const char *name)
{
	for (uint32_t i = 0; i < p->found.n; i++)
		if (!strcmp(p->found.uses[i].name, name))
			return &p->found.uses[i];
	return NULL;
}

/* A knob for the first finding that one is for, by the name that it has in the process. */
START_TEST(a_finding_has_a_knob)
{
	static const char *const none[] = {NULL};
	struct qz_knobs knobs = {.used = 1,
				 .knobs = {{.name = "workers", .role = QZ_KNOB_THREADS}}};
	struct program p;
	uint32_t finding;

	make(&p, none, 4);
	add_finding(&p, "imbalance", "smaller pieces");
	ck_assert_ptr_null(qz_remedies__knob(&p.advice, NULL, &finding));
	ck_assert_ptr_null(qz_remedies__knob(&p.advice, &knobs, &finding));
	add_finding(&p, "polling", "wait instead");
	p.findings[1].word = "CONTENDED";
	ck_assert_str_eq(qz_remedies__knob(&p.advice, NULL, &finding), "cpus");
	ck_assert_uint_eq(finding, 1);
	ck_assert_str_eq(qz_remedies__knob(&p.advice, &knobs, &finding), "workers");
	knobs.knobs[0].role = QZ_KNOB_CHUNK;
	ck_assert_str_eq(qz_remedies__knob(&p.advice, &knobs, &finding), "workers");
	ck_assert_uint_eq(finding, 0);
	p.findings[1] = (struct qz_finding) {.rule = "taken"};
	ck_assert_str_eq(qz_remedies__knob(&p.advice, NULL, &finding), "nice");
}
END_TEST

static const char *const matrices[] = {"/usr/bin/python3.11", "/usr/lib/libopenblas.so.0",
				       "/usr/lib/x86_64-linux-gnu/libc.so.6", NULL};

START_TEST(what_answers_a_finding_comes_first)
{
	struct program p;

	make(&p, matrices, 12);
	add_finding(&p, "imbalance", "smaller pieces");
	add_finding(&p, "oversubscribed", "OPENBLAS_NUM_THREADS=2 in each process");
	find(&p);
	ck_assert_str_eq(p.found.uses[0].change, "OPENBLAS_NUM_THREADS=1");
	ck_assert_uint_eq(p.found.uses[0].finding, 1);
	ck_assert(qz_remedies__answer(&p.found, 1) && !qz_remedies__answer(&p.found, 0));
	for (uint32_t i = 1; i < p.found.n; i++)
		ck_assert_uint_eq(p.found.uses[i].finding, QZ_NONE);
	ck_assert_ptr_null(use_of(&p, "OMP_NUM_THREADS=1"));
	ck_assert_ptr_null(use_of(&p, "higher priority"));
	ck_assert_str_eq(use_of(&p, "one processor")->change, "taskset -c 3");
	ck_assert_str_eq(use_of(&p, "jemalloc")->change, "LD_PRELOAD=libjemalloc.so.2");
	ck_assert_ptr_nonnull(use_of(&p, "MALLOC_ARENA_MAX=32"));
	qz_remedies__free(&p.found);
}
END_TEST

/* What can be undone while they run, and the commands that do it for good. */
START_TEST(running_processes_have_other_changes)
{
	const struct qz_knobs knobs = {.used = 1,
				       .knobs = {{.name = "workers",
						  .role = QZ_KNOB_THREADS,
						  .least = 1,
						  .most = 6,
						  .step = 1,
						  .value = 4}}};
	const struct qz_remedy_wish wish = {.way = QZ_REMEDY_COMMAND,
					    .knob = "io",
					    .name = "2",
					    .line = "set 2",
					    .undo = "set 1"};
	const struct qz_remedy_use *both[2];
	struct program p;
	char *text = NULL;
	size_t size;
	FILE *out;

	make(&p, matrices, 4);
	add_finding(&p, "oversubscribed", "fewer threads");
	p.place.pids = "12 13";
	p.place.knobs = &knobs;
	find(&p);
	ck_assert_int_eq(qz_remedies__add(&p.found, &wish, &p.place), 0);
	ck_assert_str_eq(use_of(&p, "OPENBLAS_NUM_THREADS=1")->why_not, "only when it starts");
	ck_assert_str_eq(use_of(&p, "jemalloc")->why_not, "only when it starts");
	ck_assert_str_eq(use_of(&p, "one processor")->change,
			 "for p in 12 13; do taskset -a -c -p 3 $p; done");
	/* half of four, and twice that, as far as it can be */
	both[0] = use_of(&p, "workers=2");
	both[1] = use_of(&p, "workers=6");
	ck_assert_str_eq(both[0]->change, "quartzctl set 12 workers=2");
	ck_assert_uint_eq(both[0]->finding, 0);
	ck_assert(qz_remedy_use__excludes(both[0], both[1]));
	both[1] = use_of(&p, "io=2");
	ck_assert_str_eq(both[1]->undo, "set 1");
	ck_assert(!qz_remedy_use__excludes(both[0], both[1]));
	out = open_memstream(&text, &size);
	qz_remedies__put_changes(out, both, 2);
	fclose(out);
	ck_assert_str_eq(text, "quartzctl set 12 workers=2; set 2");
	free(text);
	qz_remedies__free(&p.found);
}
END_TEST

/* Of libraries that are preloaded the last one would be alone. */
START_TEST(one_library_is_preloaded)
{
	struct program p;

	make(&p, matrices, 4);
	find(&p);
	ck_assert(qz_remedy_use__excludes(use_of(&p, "jemalloc"), use_of(&p, "adaptive mutexes")));
	ck_assert(!qz_remedy_use__excludes(use_of(&p, "malloc keeps memory"),
					   use_of(&p, "adaptive mutexes")));
	qz_remedies__free(&p.found);
}
END_TEST

/* The text of a finding names its remedy where its rule has many. */
START_TEST(a_finding_names_its_remedy)
{
	static const char *const modules[] = {"/opt/app", "/usr/lib/libgomp.so.1", NULL};
	struct program p;

	make(&p, modules, 8);
	add_finding(&p, "steps", "run the inner loop in one thread: OMP_MAX_ACTIVE_LEVELS=1");
	find(&p);
	ck_assert_str_eq(p.found.uses[0].name, "OMP_MAX_ACTIVE_LEVELS=1");
	ck_assert_uint_eq(p.found.uses[0].finding, 0);
	ck_assert_ptr_nonnull(use_of(&p, "OMP_NUM_THREADS=4"));
	/* as many threads as processors: no region asks for more */
	ck_assert_ptr_null(use_of(&p, "OMP_THREAD_LIMIT=8"));
	/* a program that has no glibc, or hides it, has no malloc of it */
	ck_assert_ptr_null(use_of(&p, "jemalloc"));
	qz_remedies__free(&p.found);
}
END_TEST

START_TEST(regions_get_no_more_threads_than_processors)
{
	static const char *const modules[] = {"/opt/app", "/usr/lib/libgomp.so.1", NULL};
	struct program p;

	make(&p, modules, 9);
	add_finding(&p, "oversubscribed", "OMP_NUM_THREADS=8");
	find(&p);
	ck_assert_uint_eq(use_of(&p, "OMP_THREAD_LIMIT=8")->finding, 0);
	qz_remedies__free(&p.found);
	p.findings[0] =
		(struct qz_finding) {.rule = "steps", .remedy = (char *)"OMP_MAX_ACTIVE_LEVELS=1"};
	find(&p);
	ck_assert_uint_eq(use_of(&p, "OMP_THREAD_LIMIT=8")->finding, 0);
	qz_remedies__free(&p.found);
}
END_TEST

START_TEST(runtimes_are_in_the_program)
{
	static const char *const modules[] = {"/opt/app", "/usr/lib/libc.so.6",
					      "/usr/lib/libjemalloc.so.2", NULL};
	struct program p;

	make(&p, modules, 1);
	find(&p);
	/* one thread, and another allocator already */
	ck_assert_uint_eq(p.found.n, 0);
	qz_remedies__free(&p.found);
	make(&p, modules, 2);
	p.place.processors = 1;
	find(&p);
	ck_assert_ptr_null(use_of(&p, "one processor"));
	ck_assert_ptr_nonnull(use_of(&p, "SCHED_BATCH"));
	qz_remedies__free(&p.found);
}
END_TEST

static const char *only_mimalloc(const char *name)
{
	return !strcmp(name, "libmimalloc.so.2.0") ? name : NULL;
}

static const char *variable(const char *name)
{
	return !strcmp(name, "OPENBLAS_NUM_THREADS") ? "2" : NULL;
}

START_TEST(what_cannot_be_tried_is_told)
{
	struct program p;

	make(&p, matrices, 4);
	add_finding(&p, "taken", "give it more weight");
	p.place.library = only_mimalloc;
	p.place.variable = variable;
	find(&p);
	ck_assert_str_eq(use_of(&p, "higher priority")->why_not, "only root may");
	ck_assert_str_eq(use_of(&p, "OPENBLAS_NUM_THREADS=1")->why_not,
			 "its variable is set already");
	ck_assert_str_eq(use_of(&p, "jemalloc")->why_not, "not installed");
	ck_assert_str_eq(use_of(&p, "mimalloc")->change, "LD_PRELOAD=libmimalloc.so.2.0");
	ck_assert_ptr_null(use_of(&p, "mimalloc")->why_not);
	qz_remedies__free(&p.found);
}
END_TEST

START_TEST(memory_may_be_short)
{
	char *command[] = {(char *)"app", (char *)"-j9", NULL};
	struct program p;
	int err = -ENOMEM;

	for (unsigned int n = 1; err; n++) {
		make(&p, matrices, 4);
		p.place.command = command;
		qz_remedy_code__find(&p.place.code, &p.profile);
		failing__arm(n);
		err = qz_remedies__find(&p.found, &p.advice, &p.place);
		ck_assert_int_eq(err, failing__disarm() ? -ENOMEM : 0);
		qz_remedies__free(&p.found);
	}
}
END_TEST

/* Variables first, since what starts the command passes them on. */
START_TEST(a_line_can_be_typed)
{
	char *command[] = {(char *)"./app", (char *)"-t", (char *)"two words", (char *)"it's",
			   NULL};
	const struct qz_remedy_use *uses[2];
	struct program p;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	make(&p, matrices, 4);
	find(&p);
	uses[0] = use_of(&p, "one processor");
	uses[1] = use_of(&p, "OPENBLAS_NUM_THREADS=1");
	qz_remedies__put_command(out, uses, 2, command);
	fclose(out);
	ck_assert_str_eq(text, "OPENBLAS_NUM_THREADS=1 taskset -c 3 ./app -t 'two words' "
			       "'it'\\''s'");
	free(text);
	qz_remedies__free(&p.found);
}
END_TEST

/* The command with its number of threads, if it is for a finding of this rule. */
static const char *told(struct program *p, char **command, const char *rule, const char *name)
{
	static const char *const modules[] = {"/opt/app", NULL};
	static char text[128];
	const struct qz_remedy_use *use;

	make(p, modules, 1);
	p->place.command = command;
	if (rule)
		add_finding(p, rule, "more or fewer");
	find(p);
	use = use_of(p, name);
	snprintf(text, sizeof(text), "%s", use ? use->change : "-");
	if (use && rule)
		ck_assert_uint_eq(use->finding, 0);
	qz_remedies__free(&p->found);
	return text;
}

#define COMMAND(...)                                                                               \
	(char *[])                                                                                 \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

START_TEST(an_argument_is_as_many_as_processors)
{
	struct program p;

	/* too many: tried in any case */
	ck_assert_str_eq(told(&p, COMMAND("make", "-B", "-j12", "x y"), NULL, "-j8"),
			 "make -B -j8 'x y'");
	ck_assert_str_eq(told(&p, COMMAND("./app", "--threads=16"), "oversubscribed",
			      "--threads=8"),
			 "./app --threads=8");
	ck_assert_str_eq(told(&p, COMMAND("ffmpeg", "-threads", "9", "-i", "a"), NULL,
			      "-threads 8"),
			 "ffmpeg -threads 8 -i a");
	ck_assert_str_eq(told(&p, COMMAND("/usr/bin/pigz", "-p", "9"), NULL, "-p 8"),
			 "/usr/bin/pigz -p 8");
	/* too few: where a finding is about that */
	ck_assert_str_eq(told(&p, COMMAND("sort", "--parallel=1"), NULL, "--parallel=8"), "-");
	ck_assert_str_eq(told(&p, COMMAND("sort", "--parallel=1"), "serial", "--parallel=8"),
			 "sort --parallel=8");
	ck_assert_str_eq(told(&p, COMMAND("povray", "+Ia.pov", "+WT1"), "serial", "+WT8"),
			 "povray +Ia.pov +WT8");
	ck_assert_str_eq(told(&p, COMMAND("par2", "create", "-t1", "a"), "serial", "-t8"),
			 "par2 create -t8 a");
	ck_assert_str_eq(told(&p, COMMAND("tachyon", "a", "-numthreads", "1"), "serial",
			      "-numthreads 8"),
			 "tachyon a -numthreads 8");
	ck_assert_str_eq(told(&p, COMMAND("./pool", "-j", "4"), "few-threads", "-j 32"),
			 "./pool -j 32");
	/* for steps too small to be divided, one */
	ck_assert_str_eq(told(&p, COMMAND("x264", "--threads", "2", "a"), "fine", "--threads 1"),
			 "x264 --threads 1 a");
	ck_assert_str_eq(told(&p, COMMAND("x264", "--threads", "1", "a"), "fine", "--threads 1"),
			 "-");
	ck_assert_str_eq(told(&p, COMMAND("x264", "--threads", "2", "a"), NULL, "--threads 1"),
			 "-");
	/* none: of what is known to have one then */
	ck_assert_str_eq(told(&p, COMMAND("make", "all"), "processes", "-j8"), "make -j8 all");
	ck_assert_str_eq(told(&p, COMMAND("xz", "-k"), "serial", "-T8"), "xz -T8 -k");
	/* as many as there are, other programs' options, other things */
	ck_assert_str_eq(told(&p, COMMAND("make", "-j"), "processes", "-j8"), "-");
	ck_assert_str_eq(told(&p, COMMAND("xz", "-T0"), "serial", "-T8"), "-");
	ck_assert_str_eq(told(&p, COMMAND("./app", "-T9"), NULL, "-T8"), "-");
	ck_assert_str_eq(told(&p, COMMAND("./app", "-j9x"), NULL, "-j8"), "-");
	ck_assert_str_eq(told(&p, COMMAND("./app", "-j"), NULL, "-j8"), "-");
	ck_assert_str_eq(told(&p, COMMAND("./app", "--", "-j9"), NULL, "-j8"), "-");
	ck_assert_str_eq(told(&p, COMMAND("./app"), "serial", "-j8"), "-");
}
END_TEST

/* What is run in place of the command is one line. */
START_TEST(two_lines_exclude_each_other)
{
	const struct qz_remedy_wish
		a = {.way = QZ_REMEDY_COMMAND, .knob = "a", .name = "1", .line = "x; app 1"},
		b = {.way = QZ_REMEDY_COMMAND, .knob = "b", .name = "2", .line = "app 2"};
	const struct qz_remedy_use *both[2];
	char *text, *command[] = {(char *)"app", (char *)"-j9", NULL};
	struct program p;
	size_t size;
	FILE *out;

	make(&p, matrices, 4);
	p.place.command = command;
	find(&p);
	ck_assert_int_eq(qz_remedies__add(&p.found, &a, &p.place), 0);
	ck_assert_int_eq(qz_remedies__add(&p.found, &b, &p.place), 0);
	ck_assert(qz_remedy_use__excludes(use_of(&p, "a=1"), use_of(&p, "b=2")));
	ck_assert(qz_remedy_use__excludes(use_of(&p, "a=1"), use_of(&p, "-j8")));
	for (int i = 0; i < 2; i++) {
		both[0] = use_of(&p, i ? "-j8" : "a=1");
		both[1] = use_of(&p, "one processor");
		ck_assert(!qz_remedy_use__excludes(both[0], both[1]));
		out = open_memstream(&text, &size);
		qz_remedies__put_command(out, both, 2, command);
		fclose(out);
		ck_assert_str_eq(text,
				 i ? "taskset -c 3 app -j8" : "taskset -c 3 sh -c 'x; app 1'");
		free(text);
	}
	qz_remedies__free(&p.found);
}
END_TEST

/* ---- the record ---- */

static json_t *trial(const char *rule, double low, double high, double gain, const char *verdict)
{
	return json_pack("{ss, sI, sI, sI, sI, ss}", "rule", rule, "predicted_low_ppm",
			 (json_int_t)(1e6 * low), "predicted_high_ppm", (json_int_t)(1e6 * high),
			 "gain_ppm", (json_int_t)(1e6 * gain), "gain_ci_ppm", (json_int_t)20000,
			 "verdict", verdict);
}

static void add(struct qz_record *r, json_int_t at, json_t *a, json_t *b)
{
	json_t *document =
		json_pack("{ss, sI, s[oo]}", "schema", "quartz.try/v1", "time", at, "trials", a, b);

	ck_assert_int_eq(qz_record__add(r, document), 0);
	json_decref(document);
}

START_TEST(ranges_held_or_not)
{
	struct qz_record r = {0};

	/* the best one of a rule counts, once */
	add(&r, 2000, trial("allocator", .3, .6, .5, "helps"),
	    trial("allocator", .3, .6, 0, "does nothing"));
	add(&r, 1000, trial("allocator", .3, .6, .28, "helps"),
	    trial("oversubscribed", .4, .9, -.1, "harms"));
	/* what is not known tells nothing */
	add(&r, 3000, trial("allocator", .3, .6, .7, "helps"),
	    trial("oversubscribed", .4, .9, .2, "not known"));
	qz_record__sort(&r);
	ck_assert_uint_eq(r.tries, 3);
	ck_assert(r.first == 1000 && r.last == 3000);
	ck_assert_uint_eq(r.n, 2);
	ck_assert_str_eq(r.rows[0].rule, "allocator");
	ck_assert(r.rows[0].tries == 3 && r.rows[0].within == 1 + 1 && r.rows[0].above == 1);
	ck_assert(r.rows[1].tries == 1 && r.rows[1].below == 1 && !r.rows[1].within);
	qz_record__free(&r);
}
END_TEST

START_TEST(other_documents_are_refused)
{
	static const char *const texts[] = {
		"[]", "{}", "{\"schema\": \"quartz.try/v1\"}",
		"{\"schema\": \"quartz.try/v1\", \"time\": 0, \"trials\": []}",
		"{\"schema\": \"quartz.tune/v1\", \"time\": 5, \"trials\": []}"};
	struct qz_record r = {0};
	json_t *document;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		document = json_loads(texts[i], 0, NULL);
		ck_assert_int_eq(qz_record__add(&r, document), -EBADMSG);
		json_decref(document);
	}
	document = json_loads(
		"{\"schema\": \"quartz.try/v1\", \"time\": 5, \"trials\": [1, {\"rule\": "
		"5}, {\"rule\": \"a rule with a name that is longer than any\"}]}",
		0, NULL);
	ck_assert_int_eq(qz_record__add(&r, document), 0);
	json_decref(document);
	ck_assert(r.tries == 1 && !r.n);
	qz_record__free(&r);
}
END_TEST

Suite *suite_remedies(void)
{
	Suite *s = suite_create("remedies");
	TCase *c = tcase_create("remedies");

	tcase_add_test(c, a_finding_has_a_knob);
	tcase_add_test(c, what_answers_a_finding_comes_first);
	tcase_add_test(c, a_finding_names_its_remedy);
	tcase_add_test(c, running_processes_have_other_changes);
	tcase_add_test(c, one_library_is_preloaded);
	tcase_add_test(c, regions_get_no_more_threads_than_processors);
	tcase_add_test(c, runtimes_are_in_the_program);
	tcase_add_test(c, what_cannot_be_tried_is_told);
	tcase_add_test(c, memory_may_be_short);
	tcase_add_test(c, a_line_can_be_typed);
	tcase_add_test(c, an_argument_is_as_many_as_processors);
	tcase_add_test(c, two_lines_exclude_each_other);
	tcase_add_test(c, ranges_held_or_not);
	tcase_add_test(c, other_documents_are_refused);
	suite_add_tcase(s, c);
	return s;
}
