/* SPDX-License-Identifier: GPL-2.0-only */
/* How small the steps of a scope are: what was started, and what threads run from one hand-over to the next. */
#include "core/replay/state.h"

#define US 1000

void replay_grain__start(struct replay *r, const struct replay_row *t, uint32_t creator)
{
	bool is_process = t->pub.tid == t->pub.process;
	uint32_t scope = t->pub.scope;

	if (is_process) /* which may be a scope of its own */
		scope = creator != REPLAY_NONE ? replay__row(r, creator)->pub.scope : REPLAY_NONE;
	if (scope == REPLAY_NONE)
		return;
	if (is_process)
		replay__parallelism(r, scope)->pub.processes_started++;
	else
		replay__parallelism(r, scope)->pub.threads_started++;
}

static uint32_t grain_of(uint64_t ns)
{
	uint64_t us = ns / US;
	uint32_t i = us ? 64 - (uint32_t)__builtin_clzll(us) : 0;

	return i < QZ_GRAINS ? i : QZ_GRAINS - 1;
}

/* Another thread of the same scope, which lives. */
static bool is_fellow(const struct replay *r, const struct replay_row *t,
		      const struct replay_waker *waker)
{
	const struct replay_row *by = replay__row(r, waker->ref.row);

	return waker->ref.serial && by->pub.serial == waker->ref.serial && by != t &&
	       t->pub.scope != REPLAY_NONE && by->pub.scope == t->pub.scope;
}

void replay_grain__hand_over(struct replay *r, struct replay_row *t,
			     const struct replay_waker *waker, uint64_t ran)
{
	if (!is_fellow(r, t, waker))
		return;
	replay__parallelism(r, t->pub.scope)
		->pub.grain[grain_of(ran > t->handed_at ? ran - t->handed_at : 0)]++;
	t->handed_at = ran;
}
