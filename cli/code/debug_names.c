/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/code/debug_names.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/util/base_name.h"
#include "symbolizer/names/procedure_table.h"
#include "symbolizer/util/name.h"

#define FILES_MAX 32 /* that are asked for, of one profile */

/* What is used of <elfutils/debuginfod.h>. The library is no dependency: it is used where it is installed. */
struct debuginfod_client;

struct server {
	void *library;
	struct debuginfod_client *client;
	struct debuginfod_client *(*begin)(void);
	void (*end)(struct debuginfod_client *client);
	/* length 0: the build-id is a string in hexadecimal */
	int (*find)(struct debuginfod_client *client, const unsigned char *build_id, int length,
		    char **path);
	void (*set_progress)(struct debuginfod_client *client,
			     int (*progress)(struct debuginfod_client *client, long done,
					     long all));
};

static const char *
	transferred; /* the file whose names are being transferred, which is said once; NULL: it was */

static int say(struct debuginfod_client *client, long done, long all)
{
	if (transferred)
		complain("getting the names of %s from debuginfod", transferred);
	transferred = NULL;
	return 0;
}

static bool connect_to(struct server *s)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!urls || !urls[strspn(urls, " ")])
		return false;
	s->library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!s->library)
		return false;
	s->begin = (struct debuginfod_client * (*)(void)) dlsym(s->library, "debuginfod_begin");
	s->end = (void (*)(struct debuginfod_client *))dlsym(s->library, "debuginfod_end");
	s->find = (int (*)(struct debuginfod_client *, const unsigned char *, int,
			   char **))dlsym(s->library, "debuginfod_find_debuginfo");
	s->set_progress = (void (*)(struct debuginfod_client *,
				    int (*)(struct debuginfod_client *, long,
					    long)))dlsym(s->library, "debuginfod_set_progressfn");
	if (s->begin && s->end && s->find && s->set_progress)
		s->client = s->begin();
	if (s->client)
		s->set_progress(s->client, say);
	return s->client;
}

static void disconnect(struct server *s)
{
	if (s->client)
		s->end(s->client);
	if (s->library)
		dlclose(s->library);
}

static bool is_same(const struct elf_file *file, const char *build_id)
{
	char hex[2 * ELF_FILE_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < file->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", file->build_id[i]);
	return *hex && !strcmp(hex, build_id);
}

/* NULL: the server has none, or of another build. */
static struct elf_file *ask(struct server *s, const struct qz_mapping *mapping)
{
	struct elf_file *file;
	int fd;

	transferred = mapping->path;
	fd = s->find(s->client, (const unsigned char *)mapping->build_id, 0, NULL);
	file = fd < 0 ? NULL : elf_file__open(fd);
	if (!file || is_same(file, mapping->build_id))
		return file;
	elf_file__close(file);
	return NULL;
}

/* "libz.so.1.2.13+0x4970": where it begins. */
static bool is_nameless(const struct qz_procedure *procedure, uint64_t *start)
{
	const char *file = qz_base_name(procedure->module);
	size_t length = strlen(file);
	char *end;

	if (procedure->kind != QZ_PROCEDURE || !length || strncmp(procedure->name, file, length) ||
	    strncmp(procedure->name + length, "+0x", 3))
		return false;
	*start = strtoull(procedure->name + length + 3, &end, 16);
	return !*end;
}

static void rename_procedure(struct qz_procedure *procedure, const struct procedure *found)
{
	struct name name;
	char *text;

	name__demangle(&name, found->name);
	text = strndup(name.text, name.length);
	if (!text)
		return;
	free(procedure->name);
	procedure->name = text;
}

/* The procedures of one file. */
static void name_all(struct qz_profile *p, const char *module, const struct address_table *table)
{
	for (uint32_t i = 0; i < p->nprocedures; i++) {
		const struct procedure *found;
		uint64_t start;

		if (strcmp(p->procedures[i].module, module) ||
		    !is_nameless(&p->procedures[i], &start))
			continue;
		found = address_table__find(table, start);
		if (found && found->start == start && found->name)
			rename_procedure(&p->procedures[i], found);
	}
}

static void name_mapping(struct qz_profile *p, struct server *s, const struct qz_mapping *mapping)
{
	struct elf_file *file = ask(s, mapping);
	struct address_table *table = file ? procedure_table__new(file, NULL) : NULL;

	if (table)
		name_all(p, mapping->path, table);
	address_table__free(table);
	elf_file__close(file);
}

/* Not of a path that had several files: a procedure tells the path alone. */
static bool is_one_file(const struct qz_profile *p, const struct qz_mapping *mapping)
{
	for (uint32_t i = 0; i < p->nmappings; i++)
		if (!strcmp(p->mappings[i].path, mapping->path) &&
		    strcmp(p->mappings[i].build_id, mapping->build_id))
			return false;
	return *mapping->build_id;
}

static bool has_nameless(const struct qz_profile *p, const char *module)
{
	uint64_t start;

	for (uint32_t i = 0; i < p->nprocedures; i++)
		if (!strcmp(p->procedures[i].module, module) &&
		    is_nameless(&p->procedures[i], &start))
			return true;
	return false;
}

void debug_names__find(struct qz_profile *p)
{
	struct server s = {0};
	uint32_t asked = 0;

	if (!connect_to(&s))
		return;
	for (uint32_t i = 0; i < p->nmappings && asked < FILES_MAX; i++) {
		const struct qz_mapping *mapping = &p->mappings[i];

		if (!has_nameless(p, mapping->path) || !is_one_file(p, mapping))
			continue;
		name_mapping(p, &s, mapping);
		asked++;
	}
	disconnect(&s);
}
