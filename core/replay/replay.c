/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/replay/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "core/replay/state.h"

#define MOST_PROCESSORS 8192

static bool replay__allocate(struct replay *r)
{
	uint32_t n = r->options.processors;

	r->cpus = calloc(n ?: 1, sizeof(*r->cpus));
	r->place_sets = PLACE_SETS_FIRST;
	r->places = calloc((size_t)r->place_sets * PLACE_WAYS, sizeof(*r->places));
	r->machine = calloc(1, sizeof(*r->machine));
	if (!r->cpus || !r->places || !r->machine || replay_parallelism__reserve(r->machine, n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		r->cpus[i].thread = REPLAY_NONE;
	r->machine->limit = r->options.online ?: n;
	r->machine->pub.nlevels = 1;
	return true;
}

struct replay *replay__new(const struct replay_options *options)
{
	struct replay *r;

	if (options->processors > MOST_PROCESSORS)
		return NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->options = *options;
	r->threads.size = sizeof(struct replay_row);
	r->processes.size = sizeof(struct replay_process);
	r->scopes.size = sizeof(struct replay_parallelism);
	r->objects.size = sizeof(struct replay_queue);
	r->waits.size = sizeof(struct replay_wait);
	r->wakeups.size = sizeof(struct replay_wakeup);
	r->free_threads = r->ended_threads = r->free_processes = REPLAY_NONE;
	r->free_scopes = r->dropped_scopes = REPLAY_NONE;
	r->free_objects = r->dropped_objects = REPLAY_NONE;
	if (options->what_if)
		r->steps = replay_steps__new();
	if (!replay__allocate(r) || (options->what_if && !r->steps)) {
		replay__free(r);
		return NULL;
	}
	return r;
}

static void replay_rows__free(struct replay_rows *rows)
{
	free(rows->items);
	qz_hash_table__free(&rows->index);
}

void replay__free(struct replay *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->scopes.n; i++)
		free(replay__parallelism(r, i)->level_ns);
	for (uint32_t i = 0; i < r->threads.n; i++)
		free(replay__row(r, i)->window);
	replay_rows__free(&r->threads);
	replay_rows__free(&r->processes);
	replay_rows__free(&r->scopes);
	replay_rows__free(&r->objects);
	replay_rows__free(&r->waits);
	replay_rows__free(&r->wakeups);
	replay_steps__free(r->steps);
	if (r->machine)
		free(r->machine->level_ns);
	free(r->machine);
	free(r->places);
	free(r->cpus);
	free(r);
}

/* ---- time ---- */

void replay__advance(struct replay *r, uint64_t now)
{
	if (r->began) {
		if (now > r->now)
			r->now = now;
		return;
	}
	r->began = true;
	r->now = now;
	r->machine->pub.began = now;
	r->machine->pub.since = now;
}

static int skip(struct replay *r, uint32_t cpu, uint64_t from, uint64_t until)
{
	if (cpu >= r->options.processors || until < from)
		return -EINVAL;
	replay__advance(r, from);
	replay_cpu__forget(r, cpu);
	replay__skip_levels(r, until);
	return replay__forget_waits(r);
}

int replay__lose(struct replay *r, uint32_t cpu, uint64_t from, uint64_t until)
{
	int err = skip(r, cpu, from, until);

	if (err != -EINVAL)
		r->counts.lost_ns += until - from;
	return err;
}

int replay__turn_off(struct replay *r, uint32_t cpu, uint64_t from, uint64_t until)
{
	int err = skip(r, cpu, from, until);

	if (err == -EINVAL)
		return err;
	r->off_ns += until - from;
	if (until != r->off_until)
		r->off_cpus = 0;
	r->off_until = until;
	r->off_cpus++;
	return err;
}

uint64_t replay__off_ns(const struct replay *r)
{
	uint64_t ahead = r->off_until > r->now ? r->off_until - r->now : 0;

	return r->off_ns - r->off_cpus * ahead;
}

/* ---- records ---- */

static bool is_valid(const struct qz_log_record *record)
{
	switch (record->kind) {
	case QZ_LOG_SWITCH:
		return record->state <= QZ_LOG_DEAD &&
		       (record->cause & ~QZ_LOG_BOUND) < QZ_WAIT_CAUSES;
	case QZ_LOG_WAKING:
		return record->state <= QZ_LOG_BY_CALL && record->cause < QZ_WAIT_CAUSES;
	case QZ_LOG_SITE:
		return record->state < QZ_TAGS && record->cause < QZ_WAIT_CAUSES;
	case QZ_LOG_SAMPLE:
		return record->state <= (QZ_LOG_SAMPLED_BUFFER | QZ_LOG_SAMPLED_SPINNING);
	case QZ_LOG_TRANSFERS:
		return record->state <= (QZ_LOG_WRITTEN | QZ_LOG_BEFORE);
	case QZ_LOG_FOUND:
		return record->state <= QZ_LOG_FOUND_BLOCKED && record->cause < QZ_WAIT_CAUSES;
	}
	return record->kind > QZ_LOG_NONE && record->kind < QZ_LOG_KINDS;
}

int replay__apply(struct replay *r, uint32_t cpu, const struct qz_log_record *record)
{
	int err;

	if (cpu >= r->options.processors || !is_valid(record))
		return -EINVAL;
	err = replay__make_room(r);
	if (err)
		return err;
	r->counts.records++;
	r->counts.late += r->began && record->time < r->now;
	replay__advance(r, record->time);
	switch (record->kind) {
	case QZ_LOG_SWITCH:
		replay__apply_switch(r, cpu, record);
		return 0;
	case QZ_LOG_WAKING:
		replay__apply_waking(r, cpu, record);
		return 0;
	case QZ_LOG_SITE:
		replay__apply_site(r, record);
		return 0;
	case QZ_LOG_SAMPLE:
		replay__apply_sample(r, cpu, record);
		return 0;
	}
	return replay__apply_life(r, record);
}

const struct replay_counts *replay__counts(const struct replay *r)
{
	return &r->counts;
}
