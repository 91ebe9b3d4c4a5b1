/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzzes the replay of the scheduler's log: whatever the records say, the laws of core/replay/replay.h hold. The first byte
 * chooses the options. Then each piece of the input is a record as it stands (bit 7 of the first byte: 1 byte for the
 * processor, 32 for the record), or a short one, with few threads, so that more of them fit together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/replay/what_if.h"
#include "tests/unit/core/replay/laws.h"

#define LOOKS_EVERY 16 /* records */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct course {
	struct replay *r;
	struct laws *laws;
	uint64_t now;
	uint32_t n;
};

/* What a short piece can be beside a record. Kinds of later versions are behind, so that the corpus keeps its meaning. */
enum { LOSES = QZ_LOG_SAMPLE + 1, OPENS, TAKES, ADVANCES, TRANSFERS, SHORT_KINDS };

struct piece {
	uint8_t kind_and_cpu, state, tid, other, site, object, time, times;
};

static void hold(const char *broken)
{
	if (!broken)
		return;
	fprintf(stderr, "%s\n", broken);
	abort();
}

static void apply(struct course *c, uint32_t cpu, const struct qz_log_record *record)
{
	if (replay__apply(c->r, cpu, record) == 0 && record->time > c->now)
		c->now = record->time;
	if (++c->n % LOOKS_EVERY == 0)
		hold(laws__check(c->laws, c->r, c->now));
}

static void apply_short(struct course *c, const struct piece *p)
{
	uint32_t kind = (p->kind_and_cpu & 0x1f) % SHORT_KINDS, cpu = p->kind_and_cpu >> 5;
	uint64_t ns = (uint64_t)p->time << (p->times & 31);
	struct qz_log_record record = {.time = c->now + (p->times & 64 ? -ns : ns),
				       .tid = p->tid & 31,
				       .kind = kind == TRANSFERS ? QZ_LOG_TRANSFERS : (uint8_t)kind,
				       .state = p->state & 3,
				       .cause = p->state >> 2,
				       .other = p->other & 31,
				       .site = p->site & 15};

	if (kind == QZ_LOG_SITE)
		record.object = p->object & 3;
	else if (kind != QZ_LOG_EXIT && kind != QZ_LOG_NAME)
		record.object = (p->object & 3) | (uint64_t)(p->object >> 2 & 31) << 32;
	if (kind == LOSES) {
		if (!replay__lose(c->r, cpu, record.time, record.time + p->object) &&
		    record.time > c->now)
			c->now = record.time;
	} else if (kind == OPENS) {
		replay__open_scope(c->r, record.tid, p->state & 1, c->now);
	} else if (kind == TAKES) {
		hold(laws__take(c->laws, c->r, c->now, p->object & 3));
	} else if (kind == ADVANCES) {
		replay__advance(c->r, c->now + ns);
		if (c->now + ns > c->now)
			c->now += ns;
	} else {
		apply(c, cpu, &record);
	}
}

static size_t apply_one(struct course *c, bool whole, const uint8_t *data, size_t size)
{
	struct qz_log_record record;
	struct piece piece;

	if (whole && size >= 1 + sizeof(record)) {
		memcpy(&record, data + 1, sizeof(record));
		apply(c, data[0], &record);
		return 1 + sizeof(record);
	}
	if (!whole && size >= sizeof(piece)) {
		memcpy(&piece, data, sizeof(piece));
		apply_short(c, &piece);
		return sizeof(piece);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = size ? data[0] : 0;
	struct replay_options options = {.processors = 1 + (how & 3),
					 .every_process = how >> 2 & 1,
					 .what_if = how >> 3 & 1};
	struct course c = {.r = replay__new(&options), .laws = laws__new()};
	struct replay_what_if what_if;
	size_t used = 1;

	if (!c.r)
		abort();
	replay__know_candidate(c.r, 0);
	while (used < size) {
		size_t n = apply_one(&c, how >> 7, data + used, size - used);

		if (!n)
			break;
		used += n;
	}
	hold(laws__check(c.laws, c.r, c.now));
	for (uint32_t i = 0; i < replay__scopes(c.r); i++)
		replay__what_if(c.r, i, &what_if);
	hold(laws__take(c.laws, c.r, c.now, 1));
	laws__free(c.laws);
	replay__free(c.r);
	return 0;
}
