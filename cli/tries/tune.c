/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl tune: tries values of one knob, and keeps the best. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/output.h"
#include "cli/tries/tries.h"

#define STANDARD_MOST 12

/* ---- which knob ---- */

static void print_proposal(const struct tries *t, const char *why, const char *knob)
{
	const char *none = t->is_running
				   ? "proposed: no knob of the process is for that; 'quartzctl "
				     "knobs' lists what it has"
				   : "proposed: no built-in knob helps with that; if the command "
				     "has one, --knob 'NAME:RANGE:COMMAND {}'";

	printf("measured: %s\n%s%s\n", why ? why : "nothing limits it that can be told",
	       knob ? "proposed: --knob " : none, knob ? knob : "");
}

/* The knob for the first finding that a knob helps with; NULL: there is none. */
static const char *propose(const struct tries *t)
{
	const struct qz_advice *a = t->advice;
	uint32_t finding;
	const char *knob =
		qz_remedies__knob(a, t->running.has_page ? &t->running.page.copy : NULL, &finding);
	char *why = a->n ? output__escape(a->findings[finding < a->n ? finding : 0].what) : NULL;

	if (!t->runs.config->json)
		print_proposal(t, why, knob);
	free(why);
	return knob;
}

/* The start of a knob with a command of its own is that command with the first value. */
static void set_command(struct tries *t, const struct knob *k)
{
	if (!k->lines || t->is_running)
		return;
	t->words[0] = (char *)"sh";
	t->words[1] = (char *)"-c";
	t->words[2] = k->lines[k->start];
	t->own = *OWN(try_config, t->runs.config);
	t->own.common.command = t->words;
	t->runs.config = &t->own.common;
}

/* Those that can be tried. Of more than there is room for, some that are evenly spread. */
static enum status add_values(struct tries *t, const struct knob *k,
			      const struct qz_remedy_place *place)
{
	enum status status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < k->n; i++) {
		bool kept = k->n <= QZ_REMEDIES_MOST || !i ||
			    i * QZ_REMEDIES_MOST / k->n != (i - 1) * QZ_REMEDIES_MOST / k->n;

		t->search.states[i] = i == k->start ? QZ_VALUE_KNOWN : QZ_VALUE_UNUSABLE;
		if (i == k->start || !kept)
			continue;
		status = tries__add_value(t, k, i, place);
		if (status == STATUS_OK && !t->remedies.uses[t->remedies.n - 1].why_not)
			t->search.states[i] = QZ_VALUE_OPEN;
	}
	return status;
}

static enum status find_values(struct tries *t, const char *text,
			       const struct qz_remedy_place *place)
{
	const struct try_config *config = OWN(try_config, t->runs.config);
	struct knob *k = &t->knobs[0];
	enum status status = tries__parse_knob(t, text, config->start, k);

	if (status != STATUS_OK)
		return status;
	t->search =
		(struct qz_search) {.n = k->n,
				    .positions = k->positions,
				    .states = calloc(k->n, sizeof(*t->search.states)),
				    .left = config->most ? (uint32_t)config->most : STANDARD_MOST,
				    .unordered = k->unordered};
	if (!t->search.states)
		return out_of_memory();
	set_command(t, k);
	return add_values(t, k, place);
}

enum status tune__find_values(struct tries *t, const struct qz_remedy_place *place)
{
	const struct try_config *config = OWN(try_config, t->runs.config);
	const char *text = config->knobs.n ? config->knobs.items[0] : propose(t);

	t->remedies.uses = calloc(QZ_REMEDIES_MOST, sizeof(*t->remedies.uses));
	if (!t->remedies.uses)
		return out_of_memory();
	return text ? find_values(t, text, place) : STATUS_OK;
}

/* ---- which values ---- */

static uint32_t setting_of(const struct tries *t, const struct try_trial *trial)
{
	uint32_t i = 0;

	while (t->knobs[0].values[i] != trial->uses[0]->value)
		i++;
	return i;
}

static const struct qz_remedy_use *use_of(const struct tries *t, uint32_t setting)
{
	uint32_t i = 0;

	while (t->remedies.uses[i].value != t->knobs[0].values[setting])
		i++;
	return &t->remedies.uses[i];
}

/* The start is the run without a change. */
static uint32_t best_setting(const struct tries *t)
{
	const struct try_trial *best = tries__leader(t);

	return best && tries__judge(t, best).gain > 0 ? setting_of(t, best) : t->knobs[0].start;
}

bool tune__add_values(struct tries *t)
{
	uint32_t found[QZ_REMEDIES_MOST];
	uint32_t n = t->n ? qz_search__go_on(&t->search, best_setting(t), found)
			  : qz_search__begin(&t->search, found);

	for (uint32_t i = 0; i < n; i++)
		t->trials[t->n++] = (struct try_trial) {.uses = {use_of(t, found[i])}, .n = 1};
	return n;
}

/* ---- what is shown ---- */

void tune__print_plan(const struct tries *t)
{
	const struct knob *k = &t->knobs[0];
	uint32_t most = t->n + t->search.left;

	if (!k->n)
		return;
	printf("%s: %u value%s from %s to %s, %s at the start; %u of the others at most are tried, "
	       "in %u "
	       "pairs of runs each at least, for %" PRIu64 " s at most\n",
	       k->name, k->n, k->n == 1 ? "" : "s", k->names[0], k->names[k->n - 1],
	       k->names[k->start], most < t->remedies.n ? most : t->remedies.n, t->least,
	       (t->runs.limit_ns + 999999999) / 1000000000);
	fflush(stdout);
}

static double median(const uint64_t *values, uint32_t n)
{
	double numbers[QZ_JUDGE_PAIRS];

	for (uint32_t i = 0; i < n; i++)
		numbers[i] = (double)values[i];
	return tries__median(numbers, n);
}

/* Of the value that had the largest gain: what it took, or did in a second, beside the start. */
void tune__print_figures(const struct tries *t)
{
	const struct try_trial *best = tries__leader(t);
	const struct knob *k = &t->knobs[0];
	double with, without;

	if (!best)
		return;
	with = median(best->with_ns, best->pairs.n);
	without = median(best->without_ns, best->pairs.n);
	if (t->is_running)
		printf("%s in a second: %.1f with %s, %.1f with %s as at the start\n",
		       running__events_name(&t->running), 1e9 * t->work / with, best->uses[0]->name,
		       1e9 * t->work / without, k->names[k->start]);
	else
		printf("a run takes %.3f s with %s, %.3f s with %s as at the start\n", with / 1e9,
		       best->uses[0]->name, without / 1e9, k->names[k->start]);
}

enum status tune__leave(struct tries *t)
{
	const struct try_trial *best = tries__best(t);
	const struct knob *k = &t->knobs[0];
	char why[RUNS_WHY] = "";

	if (!t->is_running || t->runs.status != STATUS_OK)
		return STATUS_OK;
	if (best && running__keep(&t->running, best->uses[0], why) != RUN_DONE) {
		if (*why)
			complain("%s", why);
		return STATUS_FAILURE;
	}
	if (!t->runs.config->json)
		printf("process %d has %s %s%s\n", (int)t->running.roots.items[0], k->name,
		       k->names[best ? setting_of(t, best) : k->start],
		       best ? "" : ", as at the start");
	return STATUS_OK;
}

/* ---- the command line ---- */

const char *tune__find_misuse(const struct config *config)
{
	const struct try_config *own = OWN(try_config, config);
	const char *knob = own->knobs.n ? own->knobs.items[0] : NULL;
	const char *colon = knob ? strchr(knob, ':') : NULL;
	bool whole = colon && strchr(colon + 1, ':');

	if (own->knobs.n > 1)
		return "one --knob at a time";
	if (config->dry_run && config->json)
		return "--dry-run prints a line of text: not with --json";
	if (own->start && (config->pid || (knob && !whole)))
		return "--start is of a NAME:RANGE:COMMAND: others start with what there is";
	if (config->pid)
		return *config->command ? "--pid takes no COMMAND" : NULL;
	if (config->events || config->duration)
		return "--events and --duration are of a running process: they need --pid";
	if (whole && *config->command)
		return "a knob with a command of its own takes no COMMAND";
	if (!whole && !*config->command)
		return knob ? "the knob needs a COMMAND, or a --pid"
			    : "no --knob given, nor a COMMAND or a --pid";
	return NULL;
}
