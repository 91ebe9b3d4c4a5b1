/* SPDX-License-Identifier: GPL-2.0-only */
/* The plan and the results of tries, as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/text_table.h"
#include "cli/tries/tries.h"
#include "core/util/ratio_text.h"
#include "core/util/term_escape.h"

#define SIGNALLED 128

char *tries__line(const struct tries *t, const struct try_trial *trial)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (t->is_running)
		qz_remedies__put_changes(out, trial->uses, trial->n);
	else
		qz_remedies__put_command(out, trial->uses, trial->n, t->runs.config->command);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* ---- before ---- */

static const struct qz_report *report_of(const struct tries *t)
{
	return t->measured.view.reports[0];
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_head(const struct tries *t)
{
	const struct qz_report *r = report_of(t);
	uint64_t seconds = (t->runs.limit_ns + 999999999) / 1000000000;
	uint64_t least_ns = tries__least_ns(t, r->elapsed_ns);

	if (t->runs.config->input)
		printf("Of the profile: ");
	else
		printf("Measured: %.2f s, ", (double)r->elapsed_ns / 1e9);
	printf("%u finding%s. %u remed%s to try, in %u pairs of runs each at least, for %" PRIu64
	       " s at most.\n",
	       t->advice->n, plural(t->advice->n), t->n, t->n == 1 ? "y" : "ies", t->least,
	       seconds);
	if (!t->is_running && t->n && least_ns > t->runs.limit_ns)
		printf("It took %.2f s: if it does so again, the time is too short; --for %" PRIu64
		       "min has room for one remedy.\n",
		       (double)r->elapsed_ns / 1e9, least_ns / 60000000000 + 1);
	fflush(stdout);
}

void tries__print_head(const struct tries *t)
{
	if (t->tunes)
		tune__print_plan(t);
	else
		print_head(t);
}

static const char *rule_of(const struct tries *t, const struct qz_remedy_use *use)
{
	return use->finding == QZ_NONE ? "-" : t->advice->findings[use->finding].rule;
}

#define RANGE 32

static void write_range(const struct tries *t, const struct qz_finding *f, char text[RANGE])
{
	snprintf(text, RANGE, "%.0f to %.0f%%",
		 qz_finding__percent(t->advice->report, f->gain_low_ns),
		 qz_finding__percent(t->advice->report, f->gain_high_ns));
}

static void add_predicted(struct text_table *table, const struct tries *t, uint32_t finding)
{
	char range[RANGE] = "-";

	if (finding != QZ_NONE)
		write_range(t, &t->advice->findings[finding], range);
	text_table__add(table, PLAIN, "%s", range);
}

static void print_without_remedy(const struct tries *t)
{
	char range[RANGE];

	for (uint32_t i = 0; i < t->advice->n; i++) {
		const struct qz_finding *f = &t->advice->findings[i];

		if (qz_remedies__answer(&t->remedies, i))
			continue;
		write_range(t, f, range);
		printf("%s (predicted: %s): no remedy from outside, the source must change%s\n",
		       f->rule, range,
		       qz_remedies__has_knob(f)
			       ? "; or an argument: --knob 'NAME:VALUES:COMMAND {}'"
			       : "");
	}
}

static int print_table(struct text_table *table, const struct config *config)
{
	struct output out;
	int err;

	output__open(&out, config);
	err = text_table__print(table, &out);
	output__close(&out);
	return err;
}

/*
 * Prints the change of a remedy whose name is another one. A command may have any bytes, so it is
 * escaped.
 */
static void print_change(const struct qz_remedy_use *use)
{
	char *change = qz_term_escape__copy(use->change);

	if (change && strcmp(use->name, use->change) != 0)
		printf("%s: %s\n", use->name, change);
	free(change);
}

void tries__print_plan(const struct tries *t)
{
	static const struct column heads[] = {
		{.head = {"", "finding"}, .left = true},
		{.head = {"", "remedy"}, .left = true},
		{.head = {"", "predicted"}},
		{.head = {"", "risk"}, .left = true},
	};
	struct text_table *table;

	tries__print_head(t);
	if (t->tunes)
		return;
	table = text_table__new(heads, 4);
	for (uint32_t i = 0; i < t->remedies.n; i++) {
		const struct qz_remedy_use *use = &t->remedies.uses[i];

		text_table__add(table, PLAIN, "%s", rule_of(t, use));
		text_table__add(table, PLAIN, "%s", use->name);
		add_predicted(table, t, use->finding);
		text_table__add(table, PLAIN, "%s%s", use->why_not ? "not tried: " : "",
				use->why_not ? use->why_not : use->remedy->risk);
	}
	if (print_table(table, t->runs.config)) {
		out_of_memory();
		return;
	}
	putchar('\n');
	print_without_remedy(t);
	for (uint32_t i = 0; i < t->remedies.n; i++)
		print_change(&t->remedies.uses[i]);
}

/* ---- the table ---- */

/* Adds the change of a figure, from the ratios of its pairs; 0: not known. */
static void add_change(struct text_table *table, const double *ratios, uint32_t n)
{
	double ratio = tries__median(ratios, n);
	char text[QZ_RATIO_TEXT] = "-";

	if (ratio > 0)
		qz_ratio_text__change(text, ratio);
	text_table__add(table, PLAIN, "%s", text);
}

static void add_gain(struct text_table *table, const struct qz_judgement *j, uint32_t pairs)
{
	char gain[QZ_RATIO_TEXT] = "-", within[QZ_RATIO_TEXT] = "";

	if (pairs) {
		qz_ratio_text__gain(gain, 1 - j->gain);
		strcpy(within, "?");
	}
	if (pairs && j->ci >= 0)
		qz_ratio_text__gain_within(within, 1 - j->gain, j->ci);
	text_table__add(table, PLAIN, "%s", gain);
	text_table__add(table, PLAIN, "%s", within);
}

static void add_trial(struct text_table *table, const struct tries *t,
		      const struct try_trial *trial)
{
	struct qz_judgement j = tries__judge(t, trial);
	uint32_t n = trial->pairs.n;

	text_table__add(table, PLAIN, "%s", trial->n == 1 ? rule_of(t, trial->uses[0]) : "-");
	text_table__add(table, PLAIN, "%s", trial->n == 1 ? trial->uses[0]->name : "all that help");
	add_predicted(table, t, trial->n == 1 ? trial->uses[0]->finding : QZ_NONE);
	add_gain(table, &j, n);
	add_change(table, trial->cpu, n);
	add_change(table, trial->peak, n);
	text_table__add(table, PLAIN, "%u", n);
	text_table__add(table, tries__helps(t, trial) ? NOTABLE : PLAIN, "%s",
			tries__verdict(t, trial));
}

static int print_trials(const struct tries *t)
{
	static const struct column heads[] = {
		{.head = {"", "finding"}, .left = true},
		{.head = {"", "remedy"}, .left = true},
		{.head = {"", "predicted"}},
		{.head = {"measured", "gain"}},
		{.head = {"", "±"}, .joined = true},
		{.head = {"CPU", "time"}},
		{.head = {"", "memory"}},
		{.head = {"", "pairs"}},
		{.head = {"", "verdict"}, .left = true},
	};
	struct text_table *table = text_table__new(heads, 9);

	for (uint32_t i = 0; i < t->n; i++)
		if (t->trials[i].started)
			add_trial(table, t, &t->trials[i]);
	if (t->together.started)
		add_trial(table, t, &t->together);
	return print_table(table, t->runs.config);
}

/* ---- after ---- */

static void print_failures(const struct tries *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (*t->trials[i].failure)
			printf("%s was dropped: %s\n", t->trials[i].uses[0]->name,
			       t->trials[i].failure);
}

static void print_left_out(const struct tries *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->remedies.n; i++)
		if (t->remedies.uses[i].why_not)
			printf("%s%s (%s)", n++ ? ", " : "not tried: ", t->remedies.uses[i].name,
			       t->remedies.uses[i].why_not);
	for (uint32_t i = 0; i < t->n; i++)
		if (!t->trials[i].started)
			printf("%s%s (no time: --for)",
			       n++ ? ", " : "not tried: ", t->trials[i].uses[0]->name);
	if (n)
		putchar('\n');
}

static void print_unknown(const struct tries *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->trials[i].started && !*t->trials[i].failure &&
		    (!t->tunes || &t->trials[i] == tries__leader(t)) &&
		    tries__judge(t, &t->trials[i]).verdict == QZ_JUDGED_UNKNOWN) {
			puts("What is not known needs more pairs (--for 5min), or a machine that "
			     "does nothing else.");
			return;
		}
}

/* Rates before and after all trials, without a remedy. */
static void print_rates(const struct tries *t)
{
	if (t->is_running && t->first.elapsed_ns && !t->tunes)
		printf("%s in a second, without a remedy: %.0f at first, %.0f at the end; all is "
		       "put "
		       "back\n",
		       running__events_name(&t->running),
		       1e9 * t->work / (double)t->first.elapsed_ns,
		       1e9 * t->work / (double)t->last.elapsed_ns);
}

static void print_remedies(const struct tries *t)
{
	print_without_remedy(t);
	for (uint32_t i = 0; i < t->n; i++)
		if (t->trials[i].started)
			print_change(t->trials[i].uses[0]);
}

static void print_compared(const struct tries *t)
{
	if (!t->tunes && (t->compared == TRY_COMPARED_SIZE || t->compared == TRY_COMPARED_STATUS))
		printf("It prints another thing each time, so only its exit status %s "
		       "compared; --check can do more.\n",
		       t->compared == TRY_COMPARED_SIZE ? "and how much it prints were" : "was");
}

static int print_kept(const struct tries *t)
{
	const struct try_trial *best = tries__best(t);
	char *line, *escaped;
	int err;

	if (!best) {
		puts(t->n || t->tunes
			     ? "Nothing that was tried helps by more than chance: keep it as it is."
			     : "Nothing of what can be set from outside is for this program.");
		return 0;
	}
	line = tries__line(t, best);
	escaped = line ? qz_term_escape__copy(line) : NULL;
	err = escaped ? 0 : -ENOMEM;
	if (!err)
		printf("keep: %s\n", escaped);
	free(line);
	free(escaped);
	return err;
}

int tries__print_result(const struct tries *t)
{
	int err;

	putchar('\n');
	if (t->runs.status > SIGNALLED)
		puts("Interrupted; of what was measured until then:\n");
	fflush(stdout);
	err = t->n ? print_trials(t) : 0;
	putchar('\n');
	if (!err) {
		if (t->tunes)
			tune__print_figures(t);
		else
			print_remedies(t);
		print_failures(t);
		print_left_out(t);
		print_compared(t);
		print_unknown(t);
		print_rates(t);
		err = print_kept(t);
	}
	return err;
}
