/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/bounds.h"

#include "core/model/frames.h"
#include "core/util/order.h"

/* What is saved of work that ran alone, when it costs `more` times the processor time on P processors. */
static uint64_t saved(uint64_t alone_ns, double processors, double more)
{
	double share = processors > 0 ? 1 - more / processors : 0;

	return share > 0 ? (uint64_t)((double)alone_ns * share) : 0;
}

/* Parallel versions of known programs cost up to 1.25 times the processor time on two processors, and more on more. */
struct qz_bounds qz_bounds__divide(uint64_t least_ns, uint64_t most_ns, double width)
{
	return (struct qz_bounds) {
		.low_ns = saved(least_ns, width, 1 + width / 6),
		.high_ns = saved(most_ns, width, 1),
	};
}

struct qz_bounds qz_bounds__within(const struct qz_report *r, struct qz_bounds b)
{
	if (b.high_ns > r->elapsed_ns)
		b.high_ns = r->elapsed_ns;
	if (b.low_ns > b.high_ns)
		b.low_ns = b.high_ns;
	return b;
}

/* ---- parts ---- */

/* Adds a wait: idle while no thread could run; ready with no other is as good as running alone. */
static void add_wait(struct qz_part *part, const struct qz_wait *w)
{
	if (!w->nominal)
		part->idle_ns += w->blocked_ns;
	if (w->nominal <= 1)
		part->alone_ns += w->ready_ns;
}

static struct qz_part within(const struct qz_report *r, struct qz_part part)
{
	part.idle_ns = qz_least(part.idle_ns, r->idle_ns);
	part.alone_ns = qz_least(part.alone_ns, r->elapsed_ns);
	part.beside_ns = qz_least(part.beside_ns, r->elapsed_ns);
	part.queue_ns = qz_least(part.queue_ns, r->elapsed_ns);
	return part;
}

struct qz_part qz_part__of_procedure(const struct qz_report *r, const struct qz_row *row)
{
	const struct qz_profile *p = r->profile;
	const struct qz_figure *f = &row->total;
	struct qz_part part = {.alone_ns = r->nlevels > 1 ? f->level_norm_ns[1] : 0};

	for (uint32_t n = 2; n < r->nlevels; n++)
		part.beside_ns += qz_least(f->level_cpu_ns[n], r->effective_ns[n]);
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (qz_scope__covers(p, r->scope, p->waits[i].scope) &&
		    qz_frames__contain((struct qz_frames) {.profile = p, .node = p->waits[i].node},
				       row->procedure))
			add_wait(&part, &p->waits[i]);
	return within(r, part);
}

struct qz_part qz_part__of_object(const struct qz_report *r, const struct qz_object_row *row)
{
	const struct qz_profile *p = r->profile;
	struct qz_part part = {0};

	for (int n = 1; n < QZ_QUEUE_LENGTHS; n++)
		part.queue_ns += p->objects[row->object].queue_ns[n];
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (p->waits[i].object == row->object && !p->waits[i].nominal)
			part.idle_ns += p->waits[i].blocked_ns;
	return within(r, part);
}

struct qz_part qz_part__of_cause(const struct qz_report *r, uint32_t cause)
{
	const struct qz_profile *p = r->profile;
	struct qz_part part = {0};

	for (uint32_t i = 0; i < p->nwaits; i++)
		if (p->waits[i].cause == cause && !p->waits[i].nominal &&
		    qz_scope__covers(p, r->scope, p->waits[i].scope))
			part.idle_ns += p->waits[i].blocked_ns;
	return within(r, part);
}

/* ---- changes ---- */

struct qz_bounds qz_bounds__spread(const struct qz_report *r, struct qz_part part,
				   double processors, double more)
{
	struct qz_bounds b = {0, part.idle_ns};

	b.high_ns += saved(part.alone_ns, processors, more);
	return qz_bounds__within(r, b);
}

struct qz_bounds qz_bounds__remove(const struct qz_report *r, struct qz_part part)
{
	struct qz_bounds b = {part.alone_ns, part.alone_ns + part.beside_ns + part.idle_ns};

	if (part.queue_ns > b.high_ns)
		b.high_ns = part.queue_ns;
	return qz_bounds__within(r, b);
}

struct qz_bounds qz_bounds__speedup(const struct qz_report *r, struct qz_part part, double factor)
{
	struct qz_bounds b = qz_bounds__remove(r, part);
	double saved = factor > 1 ? 1 - 1 / factor : 0;

	return (struct qz_bounds) {(uint64_t)((double)b.low_ns * saved),
				   (uint64_t)((double)b.high_ns * saved)};
}

struct qz_bounds qz_bounds__overlap(const struct qz_report *r, struct qz_part part)
{
	return qz_bounds__within(r, (struct qz_bounds) {0, part.idle_ns});
}
