// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/lines/line_samples.h"

#include <stdlib.h>

#include "core/model/profile_index.h"

/* Samples, before a line has an object: many lines are shared for a moment. */
#define LEAST_SHARED 4

/* Objects of lines, of one scope. */
#define MOST_OF_SCOPE 64

struct line_samples {
	const struct bpf_runtime *bpf;
	struct spin_tracker *tracker;
	const struct stack_context *context;
	struct object_naming_context *names;
	struct shared_lines *lines;
};

struct line_samples *line_samples__new(const struct bpf_runtime *bpf, struct spin_tracker *tracker,
				       const struct stack_context *context,
				       struct object_naming_context *names)
{
	struct line_samples *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	*l = (struct line_samples) {bpf, tracker, context, names, shared_lines__new()};
	if (l->lines)
		return l;
	free(l);
	return NULL;
}

void line_samples__free(struct line_samples *l)
{
	if (!l)
		return;
	shared_lines__free(l->lines);
	free(l);
}

void line_samples__begin(struct line_samples *l)
{
	shared_lines__begin(l->lines);
}

uint32_t line_samples__use(struct line_samples *l, const struct bpf_runtime_buffer *buffer,
			   const struct qz_sample_record *record)
{
	const struct qz_register_set *set = bpf_runtime__registers(l->bpf, buffer, record);
	uint32_t stack = QZ_SAMPLE_STACK(record->key);
	struct line_access access = {.serial = QZ_SAMPLE_SERIAL(record->key)};
	struct qz_operand o;
	uint64_t shift;

	if (!set || stack >= buffer->nstacks ||
	    !spin_tracker__operand(l->tracker, buffer, &buffer->stacks[stack], &o, &shift))
		return LINE_NONE;
	access.image = buffer->stacks[stack].image;
	access.address = qz_operand__address(&o, (const uint64_t *)set->values, shift);
	access.size = o.size;
	access.read = o.flags & QZ_OPERAND_READ;
	access.written = o.flags & QZ_OPERAND_WRITTEN;
	return shared_lines__use(l->lines, &access);
}

void line_samples__judge(struct line_samples *l, struct line_answer *answers, size_t n)
{
	shared_lines__judge(l->lines, answers, n);
}

/* ---- objects ---- */

static bool has_room(const struct qz_profile *p, uint32_t scope)
{
	uint32_t own = 0;

	for (uint32_t i = 0; i < p->nobjects; i++)
		own += p->objects[i].scope == scope && p->objects[i].kind == QZ_OBJECT_LINE;
	return own < MOST_OF_SCOPE;
}

static uint32_t make_object(struct line_samples *l, struct shared_line *line, uint32_t scope,
			    uint32_t node)
{
	struct image *image = address_spaces__get(l->context->spaces, line->image);
	struct qz_object object = {.scope = scope, .kind = QZ_OBJECT_LINE};
	struct qz_profile *p = l->context->profile;
	struct address_map map = {0};
	uint64_t contents, first, last;
	struct object_naming name;
	int64_t index;

	if (!has_room(p, scope))
		return QZ_NONE;
	if (image)
		map = address_spaces__copy(l->context->spaces, image, ADDRESS_SPACES_NOW,
					   &contents);
	shared_line__words(line, &first, &last);
	object_naming__memory(l->names, &map, first, last, node, &name);
	address_map__free(&map);
	object.pid = image ? image->pid : 0;
	object.address = name.address;
	object.name = name.name;
	object.module = (char *)name.module;
	index = qz_waits__intern_object(p, &object);
	if (index < 0)
		return QZ_NONE;
	p->objects[index].grouped++;
	return (uint32_t)index;
}

/* A number may be another's meanwhile. */
static bool is_of_line(const struct qz_profile *p, uint32_t object, uint32_t scope)
{
	return object < p->nobjects && !p->objects[object].vacant &&
	       p->objects[object].kind == QZ_OBJECT_LINE && p->objects[object].scope == scope;
}

uint32_t line_samples__object(struct line_samples *l, uint32_t number, uint32_t scope,
			      uint32_t node)
{
	struct shared_line *line = shared_lines__get(l->lines, number);

	if (!line || line->shared < LEAST_SHARED)
		return QZ_NONE;
	if (line->object == LINE_NONE || !is_of_line(l->context->profile, line->object, scope)) {
		line->object = make_object(l, line, scope, node);
		line->scope = scope;
	}
	return line->object;
}

void line_samples__settle(struct line_samples *l, uint32_t halvings)
{
	struct qz_profile *p = l->context->profile;
	struct shared_line *line;

	for (uint32_t i = 0; (line = shared_lines__get(l->lines, i)); i++) {
		struct qz_object *o;

		if (line->object == LINE_NONE || !is_of_line(p, line->object, line->scope))
			continue;
		o = &p->objects[line->object];
		o->line_same += line->same << halvings;
		o->line_alone += line->alone << halvings;
		o->line_there += line->there << halvings;
		o->line_elsewhere += line->elsewhere << halvings;
		o->line_elsewhere_alone += line->elsewhere_alone << halvings;
		line->same = line->alone = line->there = 0;
		line->elsewhere = line->elsewhere_alone = 0;
	}
}
