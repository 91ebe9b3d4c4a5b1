/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of all that has normalized time: procedures, objects and, if asked for, threads. */
#include <errno.h>
#include <stdlib.h>

#include "cli/section.h"
#include "core/ranking.h"

#define MAX_COLUMNS 12

/* Which columns there are: those of time spun and blocked only where there is any. */
struct shape {
	struct column heads[MAX_COLUMNS];
	int n;
	bool self, spin, blocked, waits;
};

static void add_head(struct shape *shape, const char *first, const char *second)
{
	shape->heads[shape->n++] = (struct column) {.head = {first, second}};
}

static void add_share(struct shape *shape, const char *first)
{
	add_head(shape, first, "s");
	shape->heads[shape->n++] = (struct column) {.head = {"", "%"}, .joined = true};
}

static void add_word(struct shape *shape, const char *first, const char *second)
{
	shape->heads[shape->n++] = (struct column) {.head = {first, second}, .left = true};
}

/* By the kinds combined. */
static const char *const singular[] = {
	"",	  "procedure",		 "object",	     "procedure or object",
	"thread", "procedure or thread", "object or thread", "procedure, object or thread",
};

static const char *const plural[] = {
	"",
	"procedures",
	"objects",
	"procedures and objects",
	"threads",
	"procedures and threads",
	"objects and threads",
	"procedures, objects and threads",
};

/* Where there are no objects, the default says nothing of them. */
static unsigned int kinds_shown(const struct section *s)
{
	if (!s->report->nobjects && s->config->kinds != QZ_RANK_OBJECTS)
		return s->config->kinds & ~(unsigned int)QZ_RANK_OBJECTS;
	return s->config->kinds;
}

static void make_shape(const struct section *s, struct shape *shape)
{
	*shape = (struct shape) {
		.spin = s->report->spin_ns != 0,
		.waits = s->config->waits,
		.self = !s->config->waits && s->config->kinds & QZ_RANK_PROCEDURES,
		.blocked = s->config->waits || s->report->waits.count != 0,
	};
	add_share(shape, "total");
	if (shape->self) {
		add_share(shape, "self");
		add_head(shape, "self", "CPU s");
	}
	if (!shape->waits) {
		add_head(shape, "paral-", "lelism");
		add_head(shape, plus_minus(s->out), "s");
	}
	if (shape->spin)
		add_head(shape, "spin", "s");
	if (shape->blocked)
		add_head(shape, "blocked", "s");
	if (shape->waits) {
		add_head(shape, "ready", "s");
		add_head(shape, "", "waits");
		add_word(shape, "waits", "mostly for");
	}
	add_word(shape, "", singular[kinds_shown(s)]);
}

/* One row, of whatever kind. */
struct line {
	const struct qz_figure *total, *self; /* self is NULL for objects and threads */
	uint64_t spin_ns;
	struct qz_wait_figure waits;
	const char *mostly; /* what was waited for, "" for unknown */
	char *name;
};

static void add_line(const struct section *s, struct columns *c, const struct shape *shape,
		     const struct line *line)
{
	add_seconds(s, c, line->total->norm_ns);
	add_percent(s, c, line->total->norm_ns);
	if (shape->self && line->self) {
		add_seconds(s, c, line->self->norm_ns);
		add_percent(s, c, line->self->norm_ns);
		add_seconds(s, c, line->self->cpu_ns);
	} else if (shape->self) {
		for (int i = 0; i < 3; i++)
			columns__add(c, PLAIN, "%s", "");
	}
	if (!shape->waits) {
		add_parallelism(c, line->total);
		add_seconds(s, c, line->total->ci_ns);
	}
	if (shape->spin)
		add_seconds(s, c, line->spin_ns);
	if (shape->blocked)
		add_seconds(s, c, line->waits.blocked_ns);
	if (shape->waits) {
		add_seconds(s, c, line->waits.ready_ns);
		columns__add(c, PLAIN, "%s", group_digits(line->waits.count).text);
		columns__add(c, PLAIN, "%s", line->mostly);
	}
	columns__add(c, PLAIN, "%s", line->name);
}

static struct line procedure_line(const struct section *s, const struct qz_row *row)
{
	return (struct line) {
		.total = &row->total,
		.self = &row->self,
		.spin_ns = row->total.spin_ns,
		.waits = row->total_waits,
		.mostly = row->causes.n ? s->report->profile->causes[row->causes.rows[0].cause]
					: "",
		.name = names__format(s->names, row->procedure),
	};
}

static struct line object_line(const struct section *s, const struct qz_object_row *row)
{
	const struct qz_object *o = &s->report->profile->objects[row->object];

	return (struct line) {
		.total = &row->figure,
		.spin_ns = row->figure.spin_ns,
		.waits = {o->waits, o->wait_ns, row->waits.ready_ns},
		.mostly = "",
		.name = format_object(s->report, row->object),
	};
}

static struct line thread_line(const struct section *s, const struct qz_thread_row *row)
{
	const struct qz_thread *thread = &s->report->profile->threads[row->thread];
	char *name = NULL, *raw;

	if (asprintf(&raw, "thread %s %d", *thread->name ? thread->name : thread->comm,
		     thread->tid) >= 0) {
		name = escape_name(raw);
		free(raw);
	}
	return (struct line) {
		.total = &row->figure,
		.spin_ns = row->figure.spin_ns,
		.waits = {row->waits.count, thread->blocked_ns, thread->ready_ns},
		.mostly = row->top_cause == QZ_NONE ? ""
						    : s->report->profile->causes[row->top_cause],
		.name = name,
	};
}

static int add_ranked(const struct section *s, struct columns *c, const struct shape *shape,
		      const struct qz_ranked *ranked)
{
	const struct qz_report *r = s->report;
	struct line line =
		ranked->kind == QZ_RANK_PROCEDURES ? procedure_line(s, &r->rows[ranked->row])
		: ranked->kind == QZ_RANK_OBJECTS  ? object_line(s, &r->objects[ranked->row])
						   : thread_line(s, &r->threads[ranked->row]);
	char *mostly = escape_name(line.mostly);
	int err = line.name && mostly ? 0 : -ENOMEM;

	line.mostly = mostly;
	if (!err)
		add_line(s, c, shape, &line);
	free(mostly);
	free(line.name);
	return err;
}

int ranking__print(const struct section *s)
{
	struct qz_ranked *ranking = NULL;
	uint32_t n = 0, shown;
	const char *title = plural[kinds_shown(s)];
	struct shape shape;
	struct columns *c;
	int err;

	make_shape(s, &shape);
	c = columns__new(shape.heads, shape.n);
	err = c ? qz_report__rank(s->report, s->config->kinds, &ranking, &n) : -ENOMEM;
	shown = rows_shown(s, n);
	for (uint32_t i = 0; !err && i < shown; i++)
		err = add_ranked(s, c, &shape, &ranking[i]);
	if (!err) {
		fprintf(s->out->file, "\nNormalized time of %s, %% of elapsed time:\n", title);
		err = columns__print(c, s->out);
	}
	columns__free(c);
	free(ranking);
	if (!err)
		print_rest(s, n, shown, title);
	return err;
}
