/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A backoff for reports of mappings that are lost again and again, because a process maps and unmaps without end: then it
 * does not help to read the rings more often, nor to read the mappings of all processes again each time.
 */
#ifndef QUARTZ_DAEMON_LOSS_BACKOFF_H
#define QUARTZ_DAEMON_LOSS_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#define STORM_CALM  1000000000ull /* ns without a loss end it */
#define STORM_LASTS 2000000000ull /* of losses make one */

/* Times in ns, 0: never. */
struct loss_backoff {
	uint64_t since, last; /* losses */
	uint64_t reread;      /* when everything was read anew */
	bool distrusted;      /* there were losses since then */
};

static inline void loss_backoff__lost(struct loss_backoff *s, uint64_t now)
{
	if (now - s->last >= STORM_CALM)
		s->since = now;
	s->last = now;
	s->distrusted = true;
}

static inline bool loss_backoff__rages(const struct loss_backoff *s, uint64_t now)
{
	return s->last && now - s->last < STORM_CALM && s->last - s->since >= STORM_LASTS;
}

/* Whether everything is to be read anew now, which is taken for done. */
static inline bool loss_backoff__wants_reading(struct loss_backoff *s, uint64_t now)
{
	if (!s->distrusted || (loss_backoff__rages(s, now) && now - s->reread < STORM_CALM))
		return false;
	s->distrusted = false;
	s->reread = now;
	return true;
}

#endif
