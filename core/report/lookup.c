/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/report.h"

#include <string.h>

#include "core/model/objects.h"
#include "core/util/base_name.h"

/*
 * The length of a demangled name without its parameters: up to the parenthesis that opens the last
 * pair, unless a scope follows it, as in "(anonymous namespace)::f".
 */
static size_t bare_length(const char *name)
{
	const char *close = strrchr(name, ')');
	int depth = 0;

	if (!close || close[1] == ':')
		return strlen(name);
	for (const char *c = close; c > name; c--) {
		depth += (*c == ')') - (*c == '(');
		if (depth == 0)
			return (size_t)(c - name);
	}
	return strlen(name);
}

bool qz_procedure__is_called(const struct qz_procedure *proc, const char *name)
{
	size_t bare = bare_length(proc->name);

	return !strcmp(name, proc->name) ||
	       (strlen(name) == bare && !strncmp(name, proc->name, bare));
}

/* "module:name", the module being a path or the last part of one. */
static bool names_in_module(const char *wanted, const struct qz_procedure *proc)
{
	const char *modules[] = {proc->module, qz_base_name(proc->module)};

	for (int i = 0; i < 2; i++) {
		size_t length = strlen(modules[i]);

		if (!strncmp(wanted, modules[i], length) && wanted[length] == ':' &&
		    qz_procedure__is_called(proc, wanted + length + 1))
			return true;
	}
	return false;
}

static uint32_t find(const struct qz_report *r, const char *name, bool exactly, uint32_t *found,
		     uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nrows; i++) {
		uint32_t procedure = r->rows[i].procedure;
		const struct qz_procedure *proc = &r->profile->procedures[procedure];

		if (exactly ? strcmp(name, proc->name)
			    : !qz_procedure__is_called(proc, name) && !names_in_module(name, proc))
			continue;
		if (n < max)
			found[n] = procedure;
		n++;
	}
	return n;
}

uint32_t qz_lookup__procedures(const struct qz_report *r, const char *name, uint32_t *found,
			       uint32_t max)
{
	uint32_t n = find(r, name, true, found, max);

	return n ? n : find(r, name, false, found, max);
}

/* Whether `wanted` is the kind of the object, a blank and its name, or its name alone. */
static bool names_object(const char *wanted, const struct qz_object *o, bool with_kind)
{
	const char *kind = qz_objects__kind_name(o->kind);
	size_t length = strlen(kind);

	if (!with_kind)
		return !strcmp(wanted, o->name);
	return !strncmp(wanted, kind, length) && wanted[length] == ' ' &&
	       !strcmp(wanted + length + 1, o->name);
}

uint32_t qz_lookup__objects(const struct qz_report *r, const char *name, uint32_t *found,
			    uint32_t max)
{
	uint32_t n = 0;

	for (int with_kind = 1; !n && with_kind >= 0; with_kind--) {
		for (uint32_t i = 0; i < r->nobjects; i++) {
			uint32_t object = r->objects[i].object;

			if (!names_object(name, &r->profile->objects[object], with_kind))
				continue;
			if (n < max)
				found[n] = object;
			n++;
		}
	}
	return n;
}
