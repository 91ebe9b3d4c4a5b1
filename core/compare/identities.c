/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/compare/identities.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/executable.h"
#include "core/util/base_name.h"
#include "core/util/vec.h"

#define NAMELESS "(procedures without names)"

/* What is known of the files of one name. */
struct qz_module_builds {
	char *build_id;	    /* of the first one; "" when unknown */
	bool differ;	    /* another one has another build id, or an unknown one */
	uint32_t nprofiles; /* that have such a file */
	uint32_t last;	    /* of these */
};

/* ---- files ---- */

/* Without the directory, and without the version of a library: "libz.so". To be freed. */
static char *file_name(const char *path)
{
	const char *name = qz_base_name(path);
	const char *version = strstr(name, ".so.");
	char *copy = version ? strndup(name, (size_t)(version - name) + 3) : strdup(name);

	/* ':' ends it in a key. */
	for (char *c = copy; c && *c; c++)
		*c = *c == ':' ? '_' : *c;
	return copy;
}

static int64_t intern_module(struct qz_identities *e, const char *path)
{
	char *name = file_name(path);
	uint32_t known = e->modules.n;
	int64_t index = name ? 0 : -ENOMEM;

	if (!index)
		index = qz_array__reserve((void **)&e->builds, known, sizeof(*e->builds));
	if (!index)
		index = qz_string_table__intern(&e->modules, name);
	if (index == known)
		e->builds[index] = (struct qz_module_builds) {.last = QZ_NONE};
	free(name);
	return index;
}

static int add_mapping(struct qz_identities *e, const struct qz_mapping *map)
{
	int64_t index = intern_module(e, map->path);
	struct qz_module_builds *b;

	if (index < 0)
		return (int)index;
	b = &e->builds[index];
	if (!b->build_id) {
		b->build_id = strdup(map->build_id);
		if (!b->build_id)
			return -ENOMEM;
	}
	b->differ |= !*map->build_id || strcmp(b->build_id, map->build_id) != 0;
	b->nprofiles += b->last != e->nprofiles;
	b->last = e->nprofiles;
	return 0;
}

int qz_identities__add_profile(struct qz_identities *e, const struct qz_profile *p)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nmappings; i++)
		err = add_mapping(e, &p->mappings[i]);
	e->nprofiles++;
	return err;
}

const char *qz_identities__program(const struct qz_profile *p)
{
	uint32_t mapping = QZ_NONE;

	if (p->nscopes == 1 && qz_profile__executable(p, &mapping)) {
		errno = ENOMEM;
		return NULL;
	}
	return mapping == QZ_NONE ? "" : p->mappings[mapping].path;
}

/* ---- names ---- */

/* How much of a name is that of the source. */
static size_t source_length(const char *name)
{
	static const char *const suffixes[] = {".isra.", ".part.", ".constprop.", ".cold",
					       ".lto_priv."};
	const char *clone = strstr(name, " [clone "), *best = name + strlen(name);

	if (clone && clone > name)
		return (size_t)(clone - name);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && at > name && at < best &&
		    !at[strspn(at, ".0123456789_abcdefghijklmnopqrstuvwxyz")])
			best = at;
	}
	return (size_t)(best - name);
}

/* "libz.so.1.2.13+0x4970": by the file that it is in. */
static bool is_nameless(const struct qz_procedure *proc)
{
	const char *file = qz_base_name(proc->module);
	size_t length = strlen(file);

	return length && !strncmp(proc->name, file, length) &&
	       !strncmp(proc->name + length, "+0x", 3);
}

static int64_t intern(struct qz_identities *e, enum qz_identity_kind kind, const char *module,
		      const char *name, size_t length)
{
	char *key;
	int64_t index;

	if (asprintf(&key, "%c%s:%.*s", 'a' + (int)kind, module,
		     length < INT32_MAX ? (int)length : INT32_MAX, name) < 0)
		return -ENOMEM;
	index = qz_string_table__intern(&e->keys, key);
	free(key);
	return index;
}

int64_t qz_identities__procedure(struct qz_identities *e, const struct qz_profile *p,
				 const char *program, uint32_t procedure)
{
	const struct qz_procedure *proc = &p->procedures[procedure];
	int64_t module = intern_module(e, proc->module);
	const struct qz_module_builds *b;
	const char *file;

	if (module < 0)
		return module;
	b = &e->builds[module];
	file = e->modules.all[module];
	if (*program && !strcmp(program, proc->module) && b->nprofiles < e->nprofiles)
		file = "";
	if (is_nameless(proc) && (b->differ || !b->build_id || !*file))
		return intern(e, QZ_IDENTITY_PROCEDURE, file, NAMELESS, strlen(NAMELESS));
	return intern(e, QZ_IDENTITY_PROCEDURE, file, proc->name, source_length(proc->name));
}

int64_t qz_identities__other(struct qz_identities *e, enum qz_identity_kind kind, const char *name)
{
	return intern(e, kind, "", name, strlen(name));
}

struct qz_identity qz_identities__get(const struct qz_identities *e, uint32_t index)
{
	const char *key = e->keys.all[index], *colon = strchr(key, ':');

	return (struct qz_identity) {
		.kind = (enum qz_identity_kind)(*key - 'a'),
		.module = key + 1,
		.module_length = (int)(colon - key - 1),
		.name = colon + 1,
	};
}

void qz_identities__free(struct qz_identities *e)
{
	for (uint32_t i = 0; i < e->modules.n; i++)
		free(e->builds[i].build_id);
	free(e->builds);
	qz_string_table__free(&e->modules);
	qz_string_table__free(&e->keys);
	*e = (struct qz_identities) {0};
}
