/* SPDX-License-Identifier: GPL-2.0-only */
/* What was tried, as JSON: printed, and kept. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "cli/tries/tries.h"
#include "core/format/json_fields.h"
#include "core/remedies/remedies_json.h"

/* A share in millionths. */
static json_t *ppm(double share)
{
	return isfinite(share) ? json_integer(llround(1e6 * share)) : json_null();
}

static json_t *change_of(const double *ratios, uint32_t n)
{
	double ratio = tries__median(ratios, n);

	return ratio > 0 ? ppm(ratio - 1) : json_null();
}

static json_t *predicted(const struct tries *t, uint32_t finding, bool high)
{
	const struct qz_finding *f;

	if (finding == QZ_NONE)
		return json_null();
	f = &t->advice->findings[finding];
	return ppm(qz_finding__percent(t->advice->report, high ? f->gain_high_ns : f->gain_low_ns) /
		   100);
}

static json_t *remedies_of(const struct try_trial *trial)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < trial->n; i++)
		failed = json_array_append_new(array, qz_remedies_json__use(trial->uses[i]));
	return qz_json_fields__unless(failed, array);
}

static json_t *line_of(const struct tries *t, const struct try_trial *trial)
{
	char *line = tries__line(t, trial);
	json_t *text = line ? qz_json_fields__text(line) : NULL;

	free(line);
	return text;
}

static json_t *trial_of(const struct tries *t, const struct try_trial *trial)
{
	struct qz_judgement j = tries__judge(t, trial);
	uint32_t n = trial->pairs.n, finding = trial->n == 1 ? trial->uses[0]->finding : QZ_NONE;

	return json_pack("{so, so, so, so, so, so, so, so, so, so, so, so, ss, ss}", "rule",
			 finding == QZ_NONE ? json_null()
					    : json_string(t->advice->findings[finding].rule),
			 "remedies", remedies_of(trial), "command", line_of(t, trial),
			 "predicted_low_ppm", predicted(t, finding, false), "predicted_high_ppm",
			 predicted(t, finding, true), "gain_ppm", n ? ppm(j.gain) : json_null(),
			 "gain_ci_ppm", n && j.ci >= 0 ? ppm(j.ci) : json_null(), "cpu_change_ppm",
			 change_of(trial->cpu, n), "memory_change_ppm", change_of(trial->peak, n),
			 "with_ns", qz_json_fields__integers(trial->with_ns, n), "without_ns",
			 qz_json_fields__integers(trial->without_ns, n), "pairs",
			 json_integer((json_int_t)n), "verdict", tries__verdict(t, trial),
			 "failure", trial->failure);
}

static json_t *trials_of(const struct tries *t)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < t->n; i++)
		if (t->trials[i].started)
			failed = json_array_append_new(array, trial_of(t, &t->trials[i]));
	if (!failed && t->together.started)
		failed = json_array_append_new(array, trial_of(t, &t->together));
	return qz_json_fields__unless(failed, array);
}

static json_t *left_out(const struct tries *t)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < t->remedies.n; i++)
		if (t->remedies.uses[i].why_not)
			failed = json_array_append_new(
				array, json_pack("{so, ss}", "change",
						 qz_json_fields__text(t->remedies.uses[i].change),
						 "why", t->remedies.uses[i].why_not));
	for (uint32_t i = 0; !failed && i < t->n; i++)
		if (!t->trials[i].started)
			failed = json_array_append_new(
				array, json_pack("{so, ss}", "change",
						 qz_json_fields__text(t->trials[i].uses[0]->change),
						 "why", "no time"));
	return qz_json_fields__unless(failed, array);
}

/* The rules of findings without a remedy. */
static json_t *without_remedy(const struct tries *t)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && !t->tunes && i < t->advice->n; i++)
		if (!qz_remedies__answer(&t->remedies, i))
			failed = json_array_append_new(array,
						       json_string(t->advice->findings[i].rule));
	return qz_json_fields__unless(failed, array);
}

static json_t *command_of(const struct tries *t)
{
	json_t *array = json_array();
	bool failed = !array;

	for (char *const *word = t->runs.config->command; !failed && *word; word++)
		failed = json_array_append_new(array, qz_json_fields__text(*word));
	return qz_json_fields__unless(failed, array);
}

/* Events per second; null for a command. */
static json_t *rate_of(const struct tries *t, const struct try_figures *f)
{
	return t->is_running && f->elapsed_ns ? json_real(1e9 * t->work / (double)f->elapsed_ns)
					      : json_null();
}

json_t *tries__document(const struct tries *t)
{
	static const char *const compared[] = {
		[TRY_COMPARED_CHECK] = "check",
		[TRY_COMPARED_OUTPUT] = "output",
		[TRY_COMPARED_SIZE] = "size",
		[TRY_COMPARED_STATUS] = "status",
	};
	const struct try_trial *best = tries__best(t);

	return json_pack("{ss, sI, so, so, ss, so, so, sI, ss, sI, so, so, so, so, sb}", "schema",
			 "quartz.try/v1", "time", (json_int_t)time(NULL), "command", command_of(t),
			 "pid",
			 t->is_running ? json_integer(t->running.roots.items[0]) : json_null(),
			 "by", t->is_running ? running__measure_name(&t->running) : "time",
			 "rate_before", rate_of(t, &t->first), "rate_after", rate_of(t, &t->last),
			 "processors", (json_int_t)t->runs.on.n, "compared", compared[t->compared],
			 "elapsed_ns", (json_int_t)t->first.elapsed_ns, "trials", trials_of(t),
			 "not_tried", left_out(t), "source_must_change", without_remedy(t), "keep",
			 best ? line_of(t, best) : json_null(), "complete",
			 t->runs.status == STATUS_OK && !t->runs.over);
}
