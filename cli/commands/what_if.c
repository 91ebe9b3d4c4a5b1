/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl what-if: what a change would gain at least and at most, and what that assumes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/what_if_recorded.h"
#include "cli/query/interval.h"
#include "cli/query/view.h"
#include "cli/render/cells.h"
#include "core/advise/advise.h"
#include "core/advise/bounds.h"
#include "core/advise/usage.h"
#include "core/advise/zeroing.h"
#include "cli/render/output.h"
#include "core/format/json_fields.h"
#include "core/report/report_json.h"

struct what_if_config {
	struct config common;
	const char *spread, *remove, *speedup, *overlap; /* NULL: not given */
	int64_t processors;				 /* 0: those of the profile */
	int64_t extra;					 /* percent */
};

enum change_kind { SPREAD, REMOVE, SPEEDUP, OVERLAP };

struct change {
	enum change_kind kind;
	char *name;
	double factor; /* of SPEEDUP */
	double more;   /* of SPREAD: processor time of the parallel version */
	uint32_t processors;
	uint32_t cause; /* of OVERLAP; QZ_NONE: of an object */
};

static const char *const words[] = {"spread", "remove", "speedup", "overlap"};

/* What is known of the change in one scope. */
struct outcome {
	struct qz_bounds bounds;
	const char *subject; /* kind */
	bool open;
};

/* ---- the command line ---- */

/* "PROC=2": the name ends at the last =. */
static enum status take_factor(struct change *c)
{
	char *equals = strrchr(c->name, '='), *end;

	if (equals)
		c->factor = strtod(equals + 1, &end);
	if (!equals || end == equals + 1 || *end || !(c->factor > 1 && c->factor <= 1e6)) {
		complain("--speedup: '%s' is not PROCEDURE=FACTOR with a factor above 1", c->name);
		return STATUS_USAGE;
	}
	*equals = '\0';
	return STATUS_OK;
}

static enum status parse_change(const struct config *config, struct change *c)
{
	const char *const texts[] = {OWN(what_if_config, config)->spread,
				     OWN(what_if_config, config)->remove,
				     OWN(what_if_config, config)->speedup,
				     OWN(what_if_config, config)->overlap};
	int n = 0;

	for (int i = 0; i < 4; i++) {
		if (!texts[i])
			continue;
		c->kind = i;
		n++;
	}
	if (n != 1) {
		complain("only one of --spread, --remove, --speedup and --overlap; try 'quartzctl "
			 "what-if --help'");
		return STATUS_USAGE;
	}
	c->name = strdup(texts[c->kind]);
	if (!c->name)
		return out_of_memory();
	c->more = 1 + (double)OWN(what_if_config, config)->extra / 100;
	c->processors = (uint32_t)OWN(what_if_config, config)->processors;
	c->cause = QZ_NONE;
	return c->kind == SPEEDUP ? take_factor(c) : STATUS_OK;
}

/* ---- the bounds ---- */

static struct qz_bounds bounds_of(const struct qz_report *r, const struct change *c,
				  struct qz_part part)
{
	switch (c->kind) {
	case SPREAD:
		return qz_bounds__spread(r, part, c->processors, c->more);
	case REMOVE:
		return qz_bounds__remove(r, part);
	case SPEEDUP:
		return qz_bounds__speedup(r, part, c->factor);
	default:
		return qz_bounds__overlap(r, part);
	}
}

static struct outcome find_outcome(const struct view *v, const struct change *c, uint32_t i)
{
	const struct qz_report *r = v->reports[i];
	struct outcome o = {.subject = "cause"};
	struct qz_part part;
	struct qz_usage u;

	if (c->cause != QZ_NONE) {
		part = qz_part__of_cause(r, c->cause);
	} else if (v->rows[i]) {
		o.subject = "procedure";
		part = qz_part__of_procedure(r, v->rows[i]);
	} else {
		o.subject = "object";
		part = qz_part__of_object(r, v->objects[i]);
	}
	qz_usage__find(r, &u);
	o.bounds = bounds_of(r, c, part);
	o.open = qz_usage__is_open(r, &u);
	return o;
}

static const char *assumption_of(const struct change *c, const struct outcome *o)
{
	switch (c->kind) {
	case SPREAD:
		return "it can be divided evenly, the processors are there, and nothing else "
		       "becomes slower";
	case REMOVE:
		return strcmp(o->subject, "object") ? "at least, what ran beside it takes as long "
						      "as before; at most, all waited "
						      "for it"
						    : "no thread has to wait for it any more, and "
						      "there are processors for those "
						      "who did";
	case SPEEDUP:
		return "at least, what ran beside it takes as long as before; at most, all waited "
		       "for it";
	default:
		return "there is other work to do meanwhile, or more of it can be waited for at a "
		       "time";
	}
}

#define OPEN                                                                                       \
	"the scope waits most of the time for others, so that it would have been idle longer "     \
	"instead"

/* ---- output ---- */

static void print_extra(FILE *out, const struct view *v, const struct change *c, uint32_t i)
{
	const struct qz_report *r = v->reports[i];
	static const int extras[] = {10, 25, 50};

	if (c->kind != SPREAD || c->more > 1)
		return;
	for (int k = 0; k < 3; k++) {
		struct change dearer = *c;
		struct outcome o;

		dearer.more = 1 + extras[k] / 100.0;
		o = find_outcome(v, &dearer, i);
		fprintf(out,
			"  if the parallel version costs %d%% more processor time, at most %.2f s "
			"(%.0f%%)\n",
			extras[k], (double)o.bounds.high_ns / 1e9,
			qz_finding__percent(r, o.bounds.high_ns));
	}
}

/* What was computed of it while it ran, where it was a candidate. */
static void print_computed(FILE *out, const struct view *v, const struct change *c, uint32_t i)
{
	static const double factors[QZ_WHAT_IF_SPEEDS] = {0, 2, 4 / 3.0};
	const struct qz_report *r = v->reports[i];
	const struct qz_what_if *w = qz_zeroing__of_name(r, c->name);

	for (uint32_t k = 0; w && k < QZ_WHAT_IF_SPEEDS; k++) {
		struct qz_zeroing z = qz_zeroing__find(r, w, k);
		double off = c->factor - factors[k];

		if ((c->kind != REMOVE || k) && (c->kind != SPEEDUP || off > 0.01 || off < -0.01))
			continue;
		fprintf(out,
			"  as its threads waited for each other: %.2f s (%.0f%%), from %.2f to "
			"%.2f s\n",
			(double)z.gain_ns / 1e9, qz_finding__percent(r, z.gain_ns),
			(double)z.low_ns / 1e9, (double)z.high_ns / 1e9);
	}
}

static int print_outcome(FILE *out, const struct view *v, const struct change *c, uint32_t i)
{
	const struct qz_report *r = v->reports[i];
	struct outcome o = find_outcome(v, c, i);
	char *name = output__escape(c->name);

	if (!name)
		return -ENOMEM;
	fprintf(out, "%s %s", words[c->kind], name);
	if (c->kind == SPREAD)
		fprintf(out, " over %u processors", c->processors);
	if (c->kind == SPEEDUP)
		fprintf(out, ", %g times as fast", c->factor);
	fprintf(out, ": gains %.2f to %.2f s of %.2f s (%.0f to %.0f%%)\n",
		(double)o.bounds.low_ns / 1e9, (double)o.bounds.high_ns / 1e9,
		(double)r->elapsed_ns / 1e9, qz_finding__percent(r, o.bounds.low_ns),
		qz_finding__percent(r, o.bounds.high_ns));
	print_extra(out, v, c, i);
	print_computed(out, v, c, i);
	fprintf(out, "  assumed: %s\n", assumption_of(c, &o));
	if (o.open)
		fprintf(out, "  not closed: %s\n", OPEN);
	free(name);
	return 0;
}

static bool is_in(const struct view *v, const struct change *c, uint32_t i)
{
	return c->cause != QZ_NONE || v->rows[i] || v->objects[i];
}

static enum status print_text(const struct view *v, const struct change *c)
{
	int err = 0;

	interval__print(stdout, v->profile);
	for (uint32_t i = 0; !err && i < v->n; i++)
		if (is_in(v, c, i))
			err = print_outcome(stdout, v, c, i);
	return err ? out_of_memory() : STATUS_OK;
}

static json_t *outcome_json(const struct view *v, const struct change *c, uint32_t i)
{
	struct outcome o = find_outcome(v, c, i);
	json_t *scope = scope__json(v->reports[i]);
	bool failed = json_object_set_new(scope, "subject",
					  json_pack("{ss, so}", "kind", o.subject, "name",
						    qz_json_fields__text(c->name))) ||
		      json_object_set_new(scope, "gain_low_ns",
					  qz_json_fields__integer(o.bounds.low_ns)) ||
		      json_object_set_new(scope, "gain_high_ns",
					  qz_json_fields__integer(o.bounds.high_ns)) ||
		      json_object_set_new(scope, "closed", json_boolean(!o.open)) ||
		      json_object_set_new(scope, "assumption", json_string(assumption_of(c, &o)));

	return qz_json_fields__unless(failed, scope);
}

/* Takes the scopes; NULL: they could not be made. */
static enum status print_scopes(json_t *scopes, const char *change, uint32_t processors)
{
	json_t *root = json_object();
	bool failed = !root || !scopes ||
		      json_object_set_new(root, "schema", json_string("quartz.what-if/v1")) ||
		      json_object_set_new(root, "change", json_string(change)) ||
		      json_object_set_new(root, "processors", json_integer(processors)) ||
		      json_object_set(root, "scopes", scopes);

	json_decref(scopes);
	return output__json(qz_json_fields__unless(failed, root), 1);
}

static enum status print_json(const struct view *v, const struct change *c)
{
	json_t *scopes = json_array();
	bool failed = !scopes;

	for (uint32_t i = 0; !failed && i < v->n; i++)
		if (is_in(v, c, i))
			failed = json_array_append_new(scopes, outcome_json(v, c, i));
	return print_scopes(qz_json_fields__unless(failed, scopes), words[c->kind], c->processors);
}

/* ---- command ---- */

/* Causes have short names of their own, and are looked for first. */
static void find_cause(const struct qz_profile *p, struct change *c)
{
	for (uint32_t i = 0; c->kind == OVERLAP && i < p->ncauses; i++)
		if (!strcmp(p->causes[i], c->name))
			c->cause = i;
}

static enum status check_subject(const struct view *v, const struct change *c)
{
	bool wants_procedure = c->kind == SPREAD || c->kind == SPEEDUP;

	for (uint32_t i = 0; i < v->n && c->cause == QZ_NONE; i++) {
		if (wants_procedure && v->objects[i]) {
			complain("'%s' is an object, and only procedures run", c->name);
			return STATUS_FAILURE;
		}
		if (c->kind == OVERLAP && v->rows[i]) {
			complain("'%s' is a procedure: --overlap takes a cause of waits, or an "
				 "object",
				 c->name);
			return STATUS_FAILURE;
		}
	}
	return STATUS_OK;
}

static enum status show(const struct config *config, struct change *c)
{
	struct config with_name = *config;
	struct view v;
	enum status status = view__open(&v, config);

	if (status == STATUS_OK)
		find_cause(v.profile, c);
	if (status == STATUS_OK && c->cause == QZ_NONE) {
		view__close(&v);
		with_name.procedure = c->name;
		status = view__open(&v, &with_name);
	}
	if (status == STATUS_OK)
		status = check_subject(&v, c);
	if (status == STATUS_OK && !c->processors)
		c->processors = v.profile->processors;
	if (status == STATUS_OK)
		status = config->json ? print_json(&v, c) : print_text(&v, c);
	view__close(&v);
	return status;
}

/* ---- without a change: what was computed while it ran ---- */

static int print_candidates(const struct view *v, const struct output *out, uint32_t i)
{
	bool rough = false;
	struct scope_view s = {v->config, out,	    v->reports[i],
			       NULL,	  v->names, cells__decimals(v->reports[i]),
			       &rough};

	return what_if_recorded__print(&s);
}

static enum status print_recorded(const struct view *v)
{
	struct output out;
	int err = 0;

	output__open(&out, v->config);
	interval__print(out.file, v->profile);
	for (uint32_t i = 0; !err && i < v->n; i++)
		err = print_candidates(v, &out, i);
	output__close(&out);
	return err ? out_of_memory() : STATUS_OK;
}

static json_t *candidates_json(const struct view *v, uint32_t i)
{
	const struct qz_profile *p = v->profile;
	json_t *scope = scope__json(v->reports[i]), *all = json_array();
	bool failed = !scope || !all;

	for (uint32_t k = 0; !failed && k < p->nwhat_ifs; k++)
		if (p->what_ifs[k].scope == v->scopes[i])
			failed = json_array_append_new(
					 all, what_if_recorded__json(v->reports[i],
								     &p->what_ifs[k])) != 0;
	failed = failed || json_object_set(scope, "candidates", all);
	json_decref(all);
	return qz_json_fields__unless(failed, scope);
}

static enum status print_recorded_json(const struct view *v)
{
	json_t *scopes = json_array();
	bool failed = !scopes;

	for (uint32_t i = 0; !failed && i < v->n; i++)
		failed = json_array_append_new(scopes, candidates_json(v, i)) != 0;
	return print_scopes(qz_json_fields__unless(failed, scopes), "recorded",
			    v->profile->processors);
}

static enum status show_recorded(const struct config *config)
{
	struct view v;
	enum status status = view__open(&v, config);

	if (status == STATUS_OK && v.profile->interval_until_ns) {
		complain("what was computed while the program ran is of the whole run: leave out "
			 "--time and --window, or give one of --spread, --remove, --speedup and "
			 "--overlap");
		status = STATUS_USAGE;
	} else if (status == STATUS_OK && !v.profile->nwhat_ifs) {
		complain("this profile knows no candidates: record one with --what-if, of a run "
			 "that "
			 "ends, or give one of --spread, --remove, --speedup and --overlap; try "
			 "'quartzctl what-if --help'");
		status = STATUS_USAGE;
	}
	if (status == STATUS_OK)
		status = config->json ? print_recorded_json(&v) : print_recorded(&v);
	view__close(&v);
	return status;
}

static enum status what_if(const struct config *config)
{
	struct change c = {0};
	enum status status;

	if (!OWN(what_if_config, config)->spread && !OWN(what_if_config, config)->remove &&
	    !OWN(what_if_config, config)->speedup && !OWN(what_if_config, config)->overlap)
		return show_recorded(config);
	status = parse_change(config, &c);
	if (status == STATUS_OK)
		status = show(config, &c);
	free(c.name);
	return status;
}

static const struct qz_option options[] = {
	{"spread", 0, QZ_OPTION_STRING, OWN_FIELD(what_if_config, spread), "PROCEDURE",
	 "It is divided among the processors."},
	{"remove", 0, QZ_OPTION_STRING, OWN_FIELD(what_if_config, remove), "PROCEDURE|OBJECT",
	 "It is gone; no thread waits for the object any more."},
	{"speedup", 0, QZ_OPTION_STRING, OWN_FIELD(what_if_config, speedup), "PROCEDURE=FACTOR",
	 "It goes FACTOR times as fast."},
	{"overlap", 0, QZ_OPTION_STRING, OWN_FIELD(what_if_config, overlap), "CAUSE|OBJECT",
	 "Threads work while they wait for this now."},
	{"processors", 0, QZ_OPTION_INTEGER, OWN_FIELD(what_if_config, processors), "N",
	 "With --spread: so many. Default: those of the\nprofile.", 1, 8192},
	{"extra", 0, QZ_OPTION_INTEGER, OWN_FIELD(what_if_config, extra), "PERCENT",
	 "With --spread: what the parallel version costs in\nprocessor time beyond that of now "
	 "[0].",
	 0, 10000},
	{0},
};

const struct command cmd_what_if = {
	.name = "what-if",
	.summary = "Show what a change would gain, at least and at most",
	.details = "One of --spread, --remove, --speedup and --overlap says which change.\n"
		   "Without: what was computed while the program ran, of a profile of\n"
		   "'record --what-if'.\n",
	.options = options,
	.shared = SHARED_SCOPE | SHARED_SOURCE | SHARED_PART | SHARED_FIGURES,
	.size = sizeof(struct what_if_config),
	.run = what_if,
};
