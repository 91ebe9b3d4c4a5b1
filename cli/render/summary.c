/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/render/quality.h"
#include "cli/render/scope_label.h"
#include "cli/render/cells.h"
#include "cli/render/stack_end.h"
#include "core/advise/advise_text.h"

/*
 * Time in which threads could have run, had there been a processor for them. Running is taken from
 * the levels, so that it and the verdict are of one source.
 */
static void print_ready(const struct scope_view *s)
{
	const struct qz_report *r = s->report;
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	uint64_t running = qz_scope__running_ns(scope);
	uint64_t ready = scope->runnable_ns > running ? scope->runnable_ns - running : 0;

	if (ready > r->elapsed_ns / 100)
		fprintf(s->out->file,
			"ready: %.2f threads on average had no processor; threads ran %s of the "
			"time they could\n",
			(double)ready / (double)r->elapsed_ns,
			cells__share(running, scope->runnable_ns).text);
}

typedef bool is_shown(const char *cause);

/*
 * "lost: map_full 3, recursion 1", or nothing when there is no such cause. 0 or -1 when memory ran
 * out.
 */
static int print_causes(const struct scope_view *s, const char *what, const struct qz_loss *losses,
			uint32_t n, is_shown *shown)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		char *cause;

		if (!losses[i].count || !shown(losses[i].cause))
			continue;
		cause = output__escape(losses[i].cause);
		if (!cause)
			return -1;
		fprintf(s->out->file, "%s %s %s", any ? "," : what, cause,
			cells__count(losses[i].count).text);
		any = true;
		free(cause);
	}
	if (any)
		fputc('\n', s->out->file);
	return 0;
}

static bool is_loss(const char *cause)
{
	return true;
}

static bool is_cut(const char *end)
{
	return !stack_end__find(end)->whole;
}

/*
 * Implicit switches are settled when they are found: they cost nothing but a little accuracy. Stacks of waits that were
 * walked, or kept from the wait before, are regular, and so are visits to threads, also to one that was just leaving its
 * processor, and rounds: intervals include which of these are doubtful.
 */
static bool is_irregular(const char *event)
{
	static const char *const regular[] = {
		"implicit_switches",  "wait_stacks_walked",
		"wait_stacks_reused", "page_rounds",
		"page_samples",	      "page_slots_torn",
		"libquartz_ns",	      "libquartz_scope_ps",
		"libquartz_hook_ps",  "rounds",
		"rounds_unanswered",  "rounds_impossible",
		"rounds_moved",	      "timers_out_of_phase",
		"rounds_told_later",  "log_records",
		"threads_unborn",
	};

	for (size_t i = 0; i < sizeof(regular) / sizeof(regular[0]); i++)
		if (!strcmp(event, regular[i]))
			return false;
	return true;
}

static int print_all_causes(const struct scope_view *s)
{
	const struct qz_ledger *l = &s->report->profile->ledger;
	const struct qz_scope *scope = &s->report->profile->scopes[s->report->scope];
	int err = print_causes(s, "lost:", l->losses, l->nlosses, is_loss);

	if (!err && scope->truncated > scope->samples / 100)
		err = print_causes(s, "stacks cut, at most:", scope->stack_ends, scope->nstack_ends,
				   is_cut);
	return err ? err : print_causes(s, "irregular:", l->events, l->nevents, is_irregular);
}

/* Those beyond the limit of rows are merged into some; such rows do not say how many. */
static void print_missing_threads(const struct scope_view *s)
{
	const struct qz_report *r = s->report;
	uint64_t seen = r->profile->scopes[r->scope].counters.threads_seen;
	bool merged = false;

	for (uint32_t i = 0; i < r->nthreads; i++)
		merged |= r->profile->threads[r->threads[i].thread].merged;
	if (seen > r->nthreads && !merged)
		fprintf(s->out->file, "threads without a row: %s of %s\n",
			cells__count(seen - r->nthreads).text, cells__count(seen).text);
}

/* What the calls cost, by libquartz's own calibration, is of all programs together. */
static void print_libquartz(const struct scope_view *s)
{
	const struct qz_ledger *l = &s->report->profile->ledger;
	uint64_t calibrated = qz_ledger__event(l, "libquartz_ns"),
		 taken = s->report->instrumentation_cpu_ns;

	if (!calibrated && !taken)
		return;
	fprintf(s->out->file, "in libquartz itself: %.*f s, not in the figures; calibrated: %.*f s",
		s->decimals, (double)taken / 1e9, s->decimals, (double)calibrated / 1e9);
	if (qz_ledger__event(l, "libquartz_scope_ps"))
		fprintf(s->out->file, ", %.1f ns a scope",
			(double)qz_ledger__event(l, "libquartz_scope_ps") / 1e3);
	if (qz_ledger__event(l, "libquartz_hook_ps"))
		fprintf(s->out->file, ", %.1f ns an instrumented call",
			(double)qz_ledger__event(l, "libquartz_hook_ps") / 1e3);
	fputc('\n', s->out->file);
}

/* How often was sampled, and what Quartz itself cost where it watched that. */
static void print_rate(const struct scope_view *s)
{
	const struct qz_profile *p = s->report->profile;
	double all = (double)p->window_ns * p->processors;
	struct rate_text rate = quality__rate(p);

	if (*rate.text)
		fprintf(s->out->file, "sampled at %s\n", rate.text);
	if (p->ceiling_ppm && p->window_ns)
		fprintf(s->out->file, "Quartz itself: %.2f%% of the processors, at most %.4g%%\n",
			100 * (double)qz_costs__sum(&p->costs) / all, p->ceiling_ppm / 1e4);
}

static int print_quality(const struct scope_view *s)
{
	const struct qz_profile *p = s->report->profile;
	const struct qz_scope *scope = &p->scopes[s->report->scope];
	FILE *out = s->out->file;

	print_rate(s);
	fprintf(out, "samples %s, lost %s, stacks complete %s, unresolved %s\n",
		cells__count(scope->samples).text, cells__count(qz_ledger__lost(&p->ledger)).text,
		cells__share(scope->samples - scope->truncated, scope->samples).text,
		cells__share(scope->unresolved, scope->samples).text);
	quality__print_ledger(out, p, scope->samples, scope->kind == QZ_SCOPE_MACHINE);
	if (print_all_causes(s))
		return -1;
	if (s->report->unattributed_ns)
		fprintf(out, "unattributed: %.*f s (%s of elapsed) without a sample\n", s->decimals,
			(double)s->report->unattributed_ns / 1e9,
			cells__share(s->report->unattributed_ns, s->report->elapsed_ns).text);
	if (scope->counters.creations_lost)
		fprintf(out, "thread starts without the stack of their creator: %s of %s\n",
			cells__count(scope->counters.creations_lost).text,
			cells__count(scope->counters.creations).text);
	if (scope->counters.limited)
		fprintf(out, "limited: %s stacks of waits, waits and objects beyond its share\n",
			cells__count(scope->counters.limited).text);
	print_missing_threads(s);
	print_libquartz(s);
	return 0;
}

/* "its 5 threads took 17.000 s of CPU time.", below where the line would get too long. 0 or -1. */
static int print_cpu(const struct scope_view *s, int at)
{
	const struct qz_scope *scope = &s->report->profile->scopes[s->report->scope];
	uint64_t n = scope->counters.threads_seen;
	char *text;

	if (asprintf(&text, "its %s threads took %.*f s of CPU time.", cells__count(n).text,
		     s->decimals, (double)scope->cpu_ns / 1e9) < 0)
		return -1;
	if (n < 2) {
		free(text);
		if (asprintf(&text, "%s took %.*f s of CPU time.", n ? "its thread" : "it",
			     s->decimals, (double)scope->cpu_ns / 1e9) < 0)
			return -1;
	}
	fprintf(s->out->file, ";%s%s\n", at + 2 + (int)strlen(text) > s->out->width ? "\n" : " ",
		text);
	free(text);
	return 0;
}

/* What ran, and for how long. What quartzd measures all the time began before, and goes on. */
static int print_subject(const struct scope_view *s)
{
	const struct qz_profile *p = s->report->profile;
	const struct qz_scope *scope = &p->scopes[s->report->scope];
	const char *verb = scope->kind == QZ_SCOPE_JOB && !p->interval_until_ns
				   ? "It ran for"
				   : "Quartz measured it for";
	char *label = scope_label(scope, s->out->width);
	time_t start = (time_t)(p->wall_start_ns / 1000000000);
	struct tm tm = {0};
	char date[32];
	int at;

	if (!label)
		return -1;
	localtime_r(&start, &tm);
	strftime(date, sizeof(date), "%F %T", &tm);
	fprintf(s->out->file, "%s\n", label);
	if (p->live)
		at = fprintf(s->out->file, "quartzd started at %s, and measured it for", date);
	else
		at = fprintf(s->out->file, "%s", verb);
	at += fprintf(s->out->file, " %.*f s", s->decimals, (double)scope->elapsed_ns / 1e9);
	if (!p->live)
		at += fprintf(s->out->file, ", from %s on", date);
	free(label);
	return print_cpu(s, at);
}

int summary__print(const struct scope_view *s, bool findings)
{
	int err = print_subject(s) ? -1 : 0;

	if (!err)
		err = findings ? qz_advise_text__head(s->out->file, s->advice, s->out->width,
						      QZ_HEAD_FINDINGS)
			       : qz_advise_text__verdict(s->out->file, s->advice, s->out->width);
	if (err)
		return err;
	print_ready(s);
	return wait_summary__print(s) || print_quality(s) ? -1 : 0;
}
