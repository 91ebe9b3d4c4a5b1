// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/types_extract.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#define TARGETS	 "quartz_targets"
#define NAMES	 512
#define MAX_DEEP 64

struct extract {
	const struct btf *object, *kernel;
	struct btf *made;
	const char *names[NAMES]; /* in the object */
	size_t lengths[NAMES];	  /* up to the flavor */
	uint32_t nnames;
	uint32_t *numbers; /* in `made`, by number in the kernel, and one; 0: not there */
	uint32_t pointer;
};

/* ---- what the object asks for ---- */

/* Behind "___" a name is of the object only. */
static size_t length_of(const char *name)
{
	const char *flavor = strstr(name + (*name != '\0'), "___");

	return flavor ? (size_t)(flavor - name) : strlen(name);
}

static const struct btf_type *skip(const struct btf *btf, uint32_t *id)
{
	const struct btf_type *t = btf__type_by_id(btf, *id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t))) {
		*id = t->type;
		t = btf__type_by_id(btf, *id);
	}
	return t;
}

static bool is_named(const struct extract *e, const char *name, size_t length)
{
	for (uint32_t i = 0; i < e->nnames; i++)
		if (e->lengths[i] == length && !memcmp(e->names[i], name, length))
			return true;
	return false;
}

/*
 * Its relocations begin with some of its structures; typedefs are asked for where they are of another version of the
 * kernel.
 */
static int add_names(struct extract *e)
{
	uint32_t n = btf__type_cnt(e->object);

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(e->object, id);
		const char *name = btf__name_by_offset(e->object, t->name_off);
		size_t length = length_of(name);
		bool asked = btf_is_typedef(t) && name[length];

		if (!length || is_named(e, name, length) ||
		    (!asked && !btf_is_composite(t) && !btf_is_any_enum(t)))
			continue;
		if (e->nnames == NAMES)
			return -E2BIG;
		e->names[e->nnames] = name;
		e->lengths[e->nnames++] = length;
	}
	return 0;
}

/* ---- copies ---- */

static int copy(struct extract *e, uint32_t id, int deep);

/* All that it is made of is there; then it, and its own references lead to that. */
static int copy_whole(struct extract *e, const struct btf_type *t, int deep)
{
	struct btf_member *members;
	struct btf_type *made;
	int id, err = 0;

	for (int i = 0; !err && btf_is_composite(t) && i < btf_vlen(t); i++)
		err = copy(e, btf_members(t)[i].type, deep);
	if (!err && btf_is_array(t))
		err = copy(e, btf_array(t)->type, deep) ?: copy(e, btf_array(t)->index_type, deep);
	if (err)
		return err;
	id = btf__add_type(e->made, e->kernel, t);
	if (id < 0)
		return id;
	made = (struct btf_type *)btf__type_by_id(e->made, (uint32_t)id);
	members = btf_members(made);
	for (int i = 0; btf_is_composite(made) && i < btf_vlen(made); i++) {
		skip(e->kernel, &members[i].type);
		members[i].type = e->numbers[members[i].type] - 1;
	}
	if (btf_is_array(made)) {
		struct btf_array *a = btf_array(made);

		skip(e->kernel, &a->type);
		skip(e->kernel, &a->index_type);
		a->type = e->numbers[a->type] - 1;
		a->index_type = e->numbers[a->index_type] - 1;
	}
	return id;
}

/* By value. 0 or -errno. */
static int copy(struct extract *e, uint32_t id, int deep)
{
	const struct btf_type *t = skip(e->kernel, &id);
	int made;

	if (!t || deep > MAX_DEEP)
		return -EINVAL;
	if (e->numbers[id])
		return 0;
	if (btf_is_ptr(t))
		made = (int)e->pointer;
	else if (!id)
		made = 0;
	else if (btf_is_composite(t) || btf_is_array(t))
		made = copy_whole(e, t, deep + 1);
	else if (btf_is_int(t) || btf_is_any_enum(t) || btf_is_float(t) || btf_is_fwd(t))
		made = btf__add_type(e->made, e->kernel, t);
	else
		return -EINVAL;
	if (made < 0)
		return made;
	e->numbers[id] = (uint32_t)made + 1;
	return 0;
}

/* Of what a pointer leads to, the kind alone is asked for. Its number, or -errno. */
static int copy_shape(struct extract *e, uint32_t id, int deep)
{
	const struct btf_type *t = skip(e->kernel, &id);
	int to, proto, err = 0;

	if (!t || deep > MAX_DEEP)
		return -EINVAL;
	if (btf_is_struct(t))
		return btf__add_struct(e->made, NULL, 0);
	if (btf_is_union(t))
		return btf__add_union(e->made, NULL, 0);
	if (btf_is_ptr(t)) {
		to = copy_shape(e, t->type, deep + 1);
		return to < 0 ? to : btf__add_ptr(e->made, to);
	}
	if (!btf_is_func_proto(t)) {
		err = copy(e, id, deep);
		return err ?: (int)e->numbers[id] - 1;
	}
	int parameters[16], n = btf_vlen(t) < 16 ? btf_vlen(t) : 16;

	to = copy_shape(e, t->type, deep + 1);
	for (int i = 0; to >= 0 && i < n; i++) {
		parameters[i] = copy_shape(e, btf_params(t)[i].type, deep + 1);
		err = parameters[i] < 0 ? parameters[i] : err;
	}
	if (to < 0 || err)
		return to < 0 ? to : err;
	proto = btf__add_func_proto(e->made, to);
	for (int i = 0; proto >= 0 && !err && i < n; i++)
		err = btf__add_func_param(e->made, NULL, parameters[i]);
	return err ?: proto;
}

static int copy_typedef(struct extract *e, const struct btf_type *t)
{
	uint32_t id = t->type;
	int to = btf_is_ptr(skip(e->kernel, &id)) ? copy_shape(e, id, 0) : copy(e, id, 0);

	if (!to)
		to = (int)e->numbers[id] - 1;
	if (to >= 0)
		to = btf__add_typedef(e->made, btf__name_by_offset(e->kernel, t->name_off), to);
	return to < 0 ? to : 0;
}

static int copy_named(struct extract *e)
{
	uint32_t n = btf__type_cnt(e->kernel);
	int err = 0;

	for (uint32_t id = 1; !err && id < n; id++) {
		const struct btf_type *t = btf__type_by_id(e->kernel, id);
		const char *name;

		if (!btf_is_composite(t) && !btf_is_any_enum(t) && !btf_is_typedef(t))
			continue;
		name = btf__name_by_offset(e->kernel, t->name_off);
		if (!*name || !is_named(e, name, length_of(name)))
			continue;
		err = btf_is_typedef(t) ? copy_typedef(e, t) : copy(e, id, 0);
	}
	return err;
}

/* ---- what programs are attached to ---- */

/* The number of a tracepoint or an iterator, or 0. */
static uint32_t find_target(const struct btf *kernel, const char *section)
{
	static const struct {
		const char *section, *prefix;
		uint32_t kind;
	} kinds[] = {
		{"tp_btf/", "btf_trace_", BTF_KIND_TYPEDEF},
		{"iter/", "bpf_iter_", BTF_KIND_FUNC},
	};
	char name[128];
	int id;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].section);

		if (strncmp(section, kinds[i].section, n))
			continue;
		snprintf(name, sizeof(name), "%s%s", kinds[i].prefix, section + n);
		id = btf__find_by_name_kind(kernel, name, kinds[i].kind);
		return id < 0 ? 0 : (uint32_t)id;
	}
	return 0;
}

static int add_targets(struct extract *e, struct bpf_object *object)
{
	struct bpf_program *p;
	int err = btf__add_enum(e->made, TARGETS, 4);

	bpf_object__for_each_program(p, object)
	{
		const char *section = bpf_program__section_name(p);

		if (err < 0)
			return err;
		if (strchr(section, '/'))
			err = btf__add_enum_value(e->made, section,
						  find_target(e->kernel, section));
	}
	return err < 0 ? err : 0;
}

uint32_t types_extract__target(const struct btf *made, const char *section)
{
	int id = btf__find_by_name_kind(made, TARGETS, BTF_KIND_ENUM);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(made, (uint32_t)id);

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(made, btf_enum(t)[i].name_off), section))
			return (uint32_t)btf_enum(t)[i].val;
	return 0;
}

/* ---- all of it ---- */

static int fill(struct extract *e, struct bpf_object *object)
{
	int pointer = btf__add_ptr(e->made, 0);

	e->pointer = (uint32_t)pointer;
	e->numbers = calloc(btf__type_cnt(e->kernel), sizeof(*e->numbers));
	if (!e->numbers || pointer < 0)
		return -ENOMEM;
	return add_names(e) ?: copy_named(e) ?: add_targets(e, object);
}

struct btf *types_extract__make(const void *object, size_t size, const char *kernel)
{
	struct bpf_object *opened = bpf_object__open_mem(object, size, NULL);
	struct btf *all = opened ? btf__parse(kernel, NULL) : NULL;
	struct extract e = {.kernel = all};
	int err = errno;

	e.object = opened ? bpf_object__btf(opened) : NULL;
	e.made = all && e.object ? btf__new_empty() : NULL;
	if (e.made)
		err = -fill(&e, opened);
	free(e.numbers);
	btf__free(all);
	bpf_object__close(opened);
	if (e.made && !err)
		return e.made;
	btf__free(e.made);
	errno = err ?: ENOMEM;
	return NULL;
}
