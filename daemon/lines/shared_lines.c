// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/lines/shared_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/hash_table.h"

#define MOST	      4096
#define MOST_OF_IMAGE 1024
#define IMAGES	      256 /* powers of two; images with the same low bits share a bound */
#define THREADS	      4096

#define TIME_MASK (UINT32_MAX >> 2)

/* A line with fewer samples of those that filled half of the table is not worth its place. */
#define LEAST_SAMPLES 2

/* The line that a thread uses most, of those that are shared. */
struct favourite {
	uint32_t serial, line;
};

struct shared_lines {
	struct qz_hash_table table;
	struct shared_line *lines;
	uint32_t n;
	uint16_t of_image[IMAGES];
	struct favourite favourites[THREADS];
};

struct shared_lines *shared_lines__new(void)
{
	return calloc(1, sizeof(struct shared_lines));
}

void shared_lines__free(struct shared_lines *l)
{
	if (!l)
		return;
	qz_hash_table__free(&l->table);
	free(l->lines);
	free(l);
}

/* ---- the table ---- */

static uint16_t *bound_of(struct shared_lines *l, uint32_t image)
{
	return &l->of_image[image & (IMAGES - 1)];
}

void shared_lines__begin(struct shared_lines *l)
{
	uint32_t kept = 0;

	if (l->n < MOST / 2)
		return;
	qz_hash_table__clear(&l->table);
	memset(l->of_image, 0, sizeof(l->of_image));
	memset(l->favourites, 0, sizeof(l->favourites));
	for (uint32_t i = 0; i < l->n; i++) {
		struct shared_line line = l->lines[i];

		if (line.samples < LEAST_SAMPLES || qz_hash_table__reserve(&l->table))
			continue;
		line.samples = 0;
		l->lines[kept] = line;
		qz_hash_table__insert(&l->table, QZ_HASH(&line, image), kept++);
		++*bound_of(l, line.image);
	}
	l->n = kept;
}

static uint32_t find(struct shared_lines *l, uint32_t image, uint64_t address)
{
	struct shared_line new = {.image = image, .address = address, .object = LINE_NONE};
	uint32_t i = QZ_FIND(&l->table, l->lines, &new, image);

	if (i != UINT32_MAX)
		return i;
	i = l->n;
	if (l->n >= MOST || *bound_of(l, image) >= MOST_OF_IMAGE ||
	    QZ_INTERN(&l->table, &l->lines, &l->n, &new, image) < 0)
		return LINE_NONE;
	++*bound_of(l, image);
	return i;
}

struct shared_line *shared_lines__get(struct shared_lines *l, uint32_t line)
{
	return line < l->n ? &l->lines[line] : NULL;
}

/* ---- users ---- */

static uint32_t users_of(const struct shared_line *line)
{
	return line->nusers < LINE_USERS ? line->nusers : LINE_USERS;
}

static struct line_user *find_user(struct shared_line *line, uint32_t serial)
{
	for (uint32_t i = 0; i < users_of(line); i++)
		if (line->users[i].serial == serial)
			return &line->users[i];
	return NULL;
}

uint32_t shared_lines__use(struct shared_lines *l, const struct line_access *access)
{
	uint32_t from = access->address % LINE_BYTES, room = LINE_BYTES - from;
	uint32_t size = access->size < room ? access->size : room;
	uint64_t bytes = (size < 64 ? (1ull << size) - 1 : ~0ull) << from;
	uint32_t i = find(l, access->image, access->address - from);
	struct shared_line *line = shared_lines__get(l, i);
	struct line_user *user;

	if (!line)
		return LINE_NONE;
	user = find_user(line, access->serial);
	if (!user) {
		user = &line->users[line->nusers++ % LINE_USERS];
		*user = (struct line_user) {.serial = access->serial};
	}
	user->read |= access->read ? bytes : 0;
	user->written |= access->written ? bytes : 0;
	line->samples++;
	return i;
}

void shared_line__words(const struct shared_line *line, uint64_t *first, uint64_t *last)
{
	uint32_t low = LINE_BYTES, high = 0;

	for (uint32_t i = 0; i < users_of(line); i++) {
		const struct line_user *user = &line->users[i];
		uint64_t bytes = user->written ? user->written : user->read;
		uint32_t begins = bytes ? (uint32_t)__builtin_ctzll(bytes) : 0;

		low = begins < low ? begins : low;
		high = begins > high ? begins : high;
	}
	*first = line->address + low % LINE_BYTES;
	*last = line->address + high;
}

/* ---- who ran together ---- */

static bool share_bytes(const struct line_user *a, const struct line_user *b)
{
	return (a->written & (b->read | b->written)) || (b->written & a->read);
}

static bool is_earlier(uint32_t time, uint32_t other)
{
	uint32_t later_by = (other - time) & TIME_MASK;

	return later_by && later_by <= TIME_MASK / 2;
}

/* Other users of a line that ran, so that one of the two writes. */
struct beside {
	bool any;
	bool same;  /* some have bytes in common with this one */
	bool first; /* none was sampled before this one, nor at once */
};

static bool is_at(const struct shared_lines *l, const struct line_answer *a,
		  const struct shared_line *line)
{
	return a->line < l->n && &l->lines[a->line] == line;
}

static struct beside find_beside(const struct shared_lines *l, struct shared_line *line,
				 const struct line_answer *answers, size_t n, size_t i)
{
	const struct line_user *own = find_user(line, answers[i].serial), *other;
	struct beside b = {.first = true};

	for (size_t k = 0; own && k < n; k++) {
		if (answers[k].image != line->image || answers[k].serial == own->serial ||
		    (answers[k].spins && !is_at(l, &answers[k], line)))
			continue;
		other = find_user(line, answers[k].serial);
		if (!other || !(own->written || other->written))
			continue;
		b.any = true;
		b.same |= share_bytes(own, other);
		b.first &= is_earlier(answers[i].time, answers[k].time);
	}
	return b;
}

static struct favourite *favourite_of(struct shared_lines *l, uint32_t serial)
{
	return &l->favourites[serial & (THREADS - 1)];
}

/* The line that has the most of a thread is the one that it is compared with when it is elsewhere. */
static void prefer(struct shared_lines *l, uint32_t serial, uint32_t line)
{
	struct favourite *f = favourite_of(l, serial);

	if (f->serial != serial || l->lines[line].shared > l->lines[f->line].shared)
		*f = (struct favourite) {serial, line};
}

static void judge_there(struct shared_lines *l, struct line_answer *answers, size_t n, size_t i)
{
	struct line_answer *a = &answers[i];
	struct shared_line *line = &l->lines[a->line];
	struct beside b = find_beside(l, line, answers, n, i);

	a->is_shared = b.any;
	if (!a->is_shared) {
		line->alone++;
		return;
	}
	line->shared++;
	line->same += b.same;
	line->there += b.first;
	prefer(l, a->serial, a->line);
}

static void judge_elsewhere(struct shared_lines *l, struct line_answer *answers, size_t n, size_t i)
{
	const struct favourite *f = favourite_of(l, answers[i].serial);
	struct shared_line *line;
	struct beside b;

	if (!f->serial || f->serial != answers[i].serial || f->line == answers[i].line)
		return;
	line = &l->lines[f->line];
	b = find_beside(l, line, answers, n, i);
	if (!b.any)
		line->elsewhere_alone++;
	else
		line->elsewhere += b.first;
}

void shared_lines__judge(struct shared_lines *l, struct line_answer *answers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		answers[i].is_shared = false;
		if (!answers[i].counts)
			continue;
		if (answers[i].line < l->n)
			judge_there(l, answers, n, i);
		judge_elsewhere(l, answers, n, i);
	}
}
