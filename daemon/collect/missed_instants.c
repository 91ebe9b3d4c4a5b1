// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/missed_instants.h"

#include "core/util/vec.h"

/* Of one processor. */
struct search {
	const struct timer_schedule *schedule;
	const struct timed_sample *samples;
	uint32_t n, first;
	int64_t last[TIMER_STREAMS]; /* instant of each stream that has a sample */
};

static uint64_t instant_of(const struct search *s, const struct timed_sample *sample)
{
	return timer_schedule__instant(s->schedule, sample->stream, sample->k);
}

/* When a stopped processor goes on, all its timers fire at once. Returns the end of the samples that were due when the i-th came. */
static uint32_t due_with(const struct search *s, uint32_t i)
{
	uint32_t end = i + 1;

	while (end < s->n && instant_of(s, &s->samples[end]) < s->samples[i].time)
		end++;
	return end;
}

/*
 * Since when the processor did nothing else: since the first instant for which the samples from i on came too late, or
 * since the sample before, where that was of the same thread.
 */
static uint64_t since(const struct search *s, uint32_t i, uint32_t end)
{
	const struct timed_sample *sample = &s->samples[i];
	uint64_t first = sample->time;

	for (uint32_t k = i; k < end; k++)
		if (instant_of(s, &s->samples[k]) < first)
			first = instant_of(s, &s->samples[k]);
	if (first + LATE_SAMPLE > sample->time)
		return UINT64_MAX;
	return i && sample[-1].serial == sample->serial ? sample[-1].time : first;
}

static int add_before(struct missed_instants *m, const struct search *s, uint32_t i, uint64_t from)
{
	struct missed_instant missed = {s->samples[i].k - 1, s->samples[i].stream, s->first + i};

	for (; missed.k > s->last[missed.stream] &&
	       timer_schedule__instant(s->schedule, missed.stream, missed.k) >= from;
	     missed.k--) {
		if (qz_array__reserve((void **)&m->list, m->n, sizeof(*m->list)))
			return -ENOMEM;
		m->list[m->n++] = missed;
	}
	return 0;
}

int missed_instants__add(struct missed_instants *m, const struct timer_schedule *schedule,
			 const struct timed_sample *samples, uint32_t n, uint32_t first)
{
	struct search s = {schedule, samples, n, first, {0}};
	int err = 0;

	for (uint32_t i = 0; i < TIMER_STREAMS; i++)
		s.last[i] = INT64_MIN;
	for (uint32_t i = 0, end; !err && i < n; i = end) {
		uint64_t from;

		end = due_with(&s, i);
		from = since(&s, i, end);
		for (uint32_t k = i; !err && k < end; k++) {
			if (from != UINT64_MAX)
				err = add_before(m, &s, k, from);
			s.last[samples[k].stream] = samples[k].k;
		}
	}
	return err;
}
