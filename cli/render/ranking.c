/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of all that has normalized time: procedures, objects and, if asked for, threads. */
#include <stdlib.h>

#include "cli/render/cells.h"
#include "core/report/ranking.h"

#define MAX_COLUMNS 12

/* Which columns there are: those of time spun and blocked only where there is any. */
struct shape {
	struct column heads[MAX_COLUMNS];
	int n;
	bool self, spin, blocked, idle, waits, estimated;
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
static unsigned int kinds_shown(const struct scope_view *s)
{
	if (!s->report->nobjects && s->config->kinds != QZ_RANK_OBJECTS)
		return s->config->kinds & ~(unsigned int)QZ_RANK_OBJECTS;
	return s->config->kinds;
}

static void make_shape(const struct scope_view *s, struct shape *shape)
{
	*shape = (struct shape) {
		.spin = s->report->spin_ns != 0,
		.waits = s->config->waits,
		.self = !s->config->waits && s->config->kinds & QZ_RANK_PROCEDURES,
		.blocked = s->config->waits || s->report->waits.count != 0,
		.idle = s->report->waits.charged_ns >= s->report->elapsed_ns / 50,
		.estimated = s->config->waits && s->report->doubt.variance > 0,
	};
	add_share(shape, "total");
	if (shape->self) {
		add_share(shape, "self");
		add_head(shape, "self", "CPU s");
	}
	if (!shape->waits) {
		add_head(shape, "paral-", "lelism");
		add_head(shape, cells__plus_minus(s->out), "s");
	}
	if (shape->spin)
		add_head(shape, "spin", "s");
	if (shape->blocked)
		add_head(shape, "blocked", "s");
	if (shape->idle)
		add_head(shape, "idle", "s");
	if (shape->waits) {
		add_head(shape, "ready", "s");
		if (shape->estimated)
			add_head(shape, cells__plus_minus(s->out), "s");
		add_head(shape, "", "waits");
		add_word(shape, "waits", "mostly for");
	}
	add_word(shape, "", singular[kinds_shown(s)]);
}

/* One row, of whatever kind. */
struct line {
	const struct qz_figure *total, *self; /* self is NULL for objects and threads */
	struct qz_wait_figure waits;
	const char *mostly; /* what was waited for, "" for unknown */
	char *name;	    /* NULL: memory was short */
};

/* Takes the name over. */
static void add_line(const struct scope_view *s, struct text_table *table,
		     const struct shape *shape, const struct line *line)
{
	cells__add_norm(s, table, line->total);
	if (shape->self && line->self) {
		cells__add_norm(s, table, line->self);
		cells__add_cpu(s, table, line->self);
	} else if (shape->self) {
		for (int i = 0; i < 3; i++)
			text_table__add(table, PLAIN, "%s", "");
	}
	if (!shape->waits) {
		cells__add_parallelism(table, line->total);
		cells__add_interval(s, table, line->total);
	}
	if (shape->spin)
		cells__add_spun(s, table, line->total);
	if (shape->blocked)
		cells__add_blocked(s, table, &line->waits, false);
	if (shape->idle)
		cells__add_seconds(s, table, line->waits.charged_ns);
	if (shape->waits) {
		cells__add_seconds(s, table, line->waits.ready_ns);
		if (shape->estimated)
			cells__add_wait_interval(s, table, &line->waits);
		text_table__add(table, PLAIN, "%s", cells__count(line->waits.count).text);
		text_table__take(table, output__escape(line->mostly));
	}
	text_table__take(table, line->name);
}

static struct line procedure_line(const struct scope_view *s, const struct qz_row *row)
{
	return (struct line) {
		.total = &row->total,
		.self = &row->self,
		.waits = row->total_waits,
		.mostly = row->causes.n ? s->report->profile->causes[row->causes.rows[0].cause]
					: "",
		.name = names__format(s->names, row->procedure),
	};
}

static struct line kernel_line(const struct qz_kernel_row *row)
{
	return (struct line) {
		.total = &row->figure,
		.self = &row->figure,
		.waits = row->waits,
		.mostly = "",
		.name = output__escape(row->label),
	};
}

static struct line object_line(const struct scope_view *s, const struct qz_object_row *row)
{
	const struct qz_object *o = &s->report->profile->objects[row->object];

	return (struct line) {
		.total = &row->figure,
		.waits = {o->waits, o->wait_ns, row->waits.ready_ns, row->waits.idle_ns,
			  row->waits.charged_ns},
		.mostly = "",
		.name = cells__object(s->report, row->object),
	};
}

static struct line thread_line(const struct scope_view *s, const struct qz_thread_row *row)
{
	const struct qz_thread *thread = &s->report->profile->threads[row->thread];
	char *name = NULL, *raw;

	if (asprintf(&raw, "thread %s %d", *thread->name ? thread->name : thread->comm,
		     thread->tid) >= 0) {
		name = output__escape(raw);
		free(raw);
	}
	return (struct line) {
		.total = &row->figure,
		.waits = {row->waits.count, thread->blocked_ns, thread->ready_ns, 0,
			  row->waits.charged_ns},
		.mostly = row->top_cause == QZ_NONE ? ""
						    : s->report->profile->causes[row->top_cause],
		.name = name,
	};
}

static struct line line_of(const struct scope_view *s, const struct qz_folding *f,
			   const struct qz_ranked *ranked)
{
	const struct qz_report *r = s->report;

	switch (ranked->kind) {
	case QZ_RANK_PROCEDURES:
		return procedure_line(s, &r->rows[ranked->row]);
	case QZ_RANK_OBJECTS:
		return object_line(s, &r->objects[ranked->row]);
	case QZ_RANK_KERNEL:
		return kernel_line(&f->kernel.rows[ranked->row]);
	default:
		return thread_line(s, &r->threads[ranked->row]);
	}
}

/* "wrappers folded: 31, procedures of the kernel: 96 (--flat shows them)" */
static void print_folded(const struct scope_view *s, const struct qz_folding *f)
{
	if (!f->nwrappers && !f->nkernel)
		return;
	fputs("folded into the rows above:", s->out->file);
	if (f->nwrappers)
		fprintf(s->out->file, " wrappers %s", cells__count(f->nwrappers).text);
	if (f->nkernel)
		fprintf(s->out->file, "%s procedures of the kernel %s", f->nwrappers ? "," : "",
			cells__count(f->nkernel).text);
	fputs(" (--flat shows them)\n", s->out->file);
}

static enum qz_rank_key key_of(const struct scope_view *s)
{
	return s->config->rank ? (enum qz_rank_key)s->config->rank : qz_ranking__key(s->report);
}

static void print_title(const struct scope_view *s, const char *title)
{
	static const char *const by[] = {
		[QZ_RANK_BY_TOTAL] = "",
		[QZ_RANK_BY_SELF] = ", by self",
		[QZ_RANK_BY_BLOCKED] = ", by time blocked",
		[QZ_RANK_BY_SPIN] = ", by spin",
		[QZ_RANK_BY_CPU] = ", by self CPU",
		[QZ_RANK_BY_NAME] = ", by name",
	};

	fprintf(s->out->file, "\nNormalized time of %s%s, %% of elapsed time:\n", title,
		by[key_of(s)]);
}

static int find_rows(const struct scope_view *s, struct qz_folding *f, struct qz_ranked **ranking,
		     uint32_t *n)
{
	const struct qz_report *r = s->report;
	bool fold = !s->config->flat && s->config->kinds & QZ_RANK_PROCEDURES;
	int err = qz_ranking__rows(r, s->config->kinds, ranking, n);

	if (!err && fold)
		err = qz_folding__find(r, f) ?: qz_ranking__fold(f, s->config->kinds, ranking, n);
	return err ? err : qz_ranking__sort(r, f, key_of(s), *ranking, *n);
}

int ranking__print(const struct scope_view *s)
{
	struct qz_ranked *ranking = NULL;
	struct qz_folding folding = {0};
	uint32_t n = 0, shown;
	const char *title = plural[kinds_shown(s)];
	struct shape shape;
	struct text_table *table;
	int err = find_rows(s, &folding, &ranking, &n);

	if (err)
		goto out;
	make_shape(s, &shape);
	table = text_table__new(shape.heads, shape.n);
	shown = cells__rows_shown(s, n);
	for (uint32_t i = 0; i < shown; i++) {
		struct line line = line_of(s, &folding, &ranking[i]);

		add_line(s, table, &shape, &line);
	}
	print_title(s, title);
	err = text_table__print(table, s->out);
	if (!err) {
		cells__print_rest(s, n, shown, title);
		print_folded(s, &folding);
	}
out:
	free(ranking);
	qz_folding__free(&folding);
	return err;
}
