/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/render/quality.h"

#include <inttypes.h>

#include "cli/render/cells.h"
#include "core/estimate/estimate.h"

/* ---- rates ---- */

static struct digits hertz(double rate)
{
	struct digits d;

	snprintf(d.text, sizeof(d.text), rate < 10 ? "%.2g Hz" : "%.0f Hz", rate);
	return d;
}

struct rate_text quality__rate(const struct qz_profile *p)
{
	double now = qz_profile__rate(p), least = qz_profile__least_rate(p);
	struct rate_text t = {""};
	const char *how = now < p->rate_hz ? "lowered to" : "for a time lowered to";
	int n;

	if (!p->rate_hz)
		return t;
	n = snprintf(t.text, sizeof(t.text), "%" PRIu32 " Hz", p->rate_hz);
	if (least >= p->rate_hz)
		return t;
	n += snprintf(t.text + n, sizeof(t.text) - (size_t)n, ", %s %s", how,
		      hertz(now < p->rate_hz ? now : least).text);
	if (p->ceiling_ppm)
		snprintf(t.text + n, sizeof(t.text) - (size_t)n, " to hold %.4g%% overhead",
			 p->ceiling_ppm / 1e4);
	return t;
}

/* ---- the ledger ---- */

static void print_term(FILE *out, uint64_t n, const char *what)
{
	if (n)
		fprintf(out, ", %s %s", cells__count(n).text, what);
}

void quality__print_ledger(FILE *out, const struct qz_profile *p, uint64_t shown, bool machine)
{
	const struct qz_ledger *l = &p->ledger;
	uint64_t lost = qz_ledger__lost(l);
	int64_t others = (int64_t)(l->accepted - shown), unaccounted = l->unaccounted;

	/* of a part of a run, and of slices, the two were counted a moment apart at its ends */
	if (others < 0) {
		unaccounted += others;
		others = 0;
	}
	if (!l->expected || (l->accepted == shown && !l->filtered && !lost && !l->unaccounted))
		return;
	fprintf(out, "samples expected %s: %s here", cells__count(l->expected).text,
		cells__count(shown).text);
	print_term(out, (uint64_t)others, machine ? "not placed" : "of other processes");
	print_term(out, l->filtered, "outside");
	print_term(out, lost, "lost");
	if (unaccounted < 0)
		print_term(out, -(uint64_t)unaccounted, "more than expected");
	else
		print_term(out, (uint64_t)unaccounted, "missing without a known cause");
	fputc('\n', out);
}
