// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/base_name.h"
#include "core/util/hash_table.h"
#include "daemon/waits/fd_names.h"
#include "daemon/waits/object_naming.h"
#include "daemon/privsep/procfs.h"
#include "daemon/waits/futex_classify.h"

/* Frames that are searched: runtimes are seldom deeper. */
#define MAX_FRAMES 128

/* Where a module lies in memory, seen from its code: most words are in none, and need no question. */
struct extent {
	uint64_t code; /* file offset */
	uint32_t module;
	int64_t low, high;
};

struct object_naming_context {
	struct symbolizer *symbolizer;
	struct modules *modules;
	struct qz_profile *profile;
	struct extent *extents;
	uint32_t nextents;
	struct qz_hash_table table;
};

struct object_naming_context *object_naming__new(struct symbolizer *symbolizer,
						 struct modules *modules,
						 struct qz_profile *profile)
{
	struct object_naming_context *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->symbolizer = symbolizer;
	c->modules = modules;
	c->profile = profile;
	return c;
}

void object_naming__free(struct object_naming_context *c)
{
	if (!c)
		return;
	free(c->extents);
	qz_hash_table__free(&c->table);
	free(c);
}

/* ---- the stack ---- */

/* What the stack of a wait says of the object. */
struct caller {
	const struct futex_classify_function *row; /* of the runtime's outermost known procedure */
	uint32_t kind;				   /* without a row: by the runtime's module */
	const struct qz_procedure *procedure;	   /* outside of the runtime, NULL: none */
	const char *file;			   /* that has the line */
	uint32_t line;
	bool musl;    /* the call is made by musl's code */
	bool started; /* the procedure is not on the thread's own stack, but on its creator's */
};

static void take_procedure(struct caller *caller, const struct qz_profile *profile,
			   const struct qz_line *line)
{
	caller->procedure = &profile->procedures[line->procedure];
	caller->file = qz_line__file(profile, line);
	caller->line = line->line;
}

static bool is_interpreter(const struct qz_procedure *p)
{
	return qz_base_name__is(p->module, "python3") || qz_base_name__is(p->module, "libpython3");
}

/* The interpreter and what its library does on behalf of others: of that, the function that has asked for it is to be told. */
static bool is_python_own(const struct qz_procedure *p)
{
	static const char *const files[] = {"threading.py", "queue.py", "_base.py", "thread.py"};

	for (size_t i = 0; qz_procedure__is_interpreted(p) && i < sizeof(files) / sizeof(files[0]);
	     i++)
		if (strstr(p->file, "/lib/python3") && !strcmp(qz_base_name(p->file), files[i]))
			return true;
	return is_interpreter(p);
}

/* Takes in one line, from the inner end on. false: the rest is of no interest. */
static bool take_line(struct caller *caller, const struct qz_profile *profile,
		      const struct qz_line *line)
{
	const struct qz_procedure *p = &profile->procedures[line->procedure];
	const struct futex_classify_function *row;

	if (p->kind == QZ_THREAD_START) {
		caller->started = true;
		return !caller->procedure;
	}
	if (p->kind != QZ_PROCEDURE)
		return false;
	/* a thread that spins may have been interrupted */
	if (!strcmp(p->module, "[kernel]"))
		return true;
	if (!caller->started && futex_classify__is_musl(p->name, p->module))
		caller->musl = true;
	if (is_python_own(p)) {
		if (!caller->procedure)
			take_procedure(caller, profile, line);
		return true;
	}
	if (caller->procedure && !qz_procedure__is_interpreted(p))
		return false;
	if (!futex_classify__is_runtime(p->name, p->module)) {
		take_procedure(caller, profile, line);
		return false;
	}
	if (caller->started)
		return true;
	row = futex_classify__function(p->name);
	if (row)
		caller->row = row;
	if (caller->kind == QZ_OBJECT_OTHER)
		caller->kind = futex_classify__module(p->module);
	return true;
}

/* A thread that only ever ran the runtime's code (a pool's worker) waits for its creator. */
static struct caller find_caller(const struct qz_profile *p, uint32_t node)
{
	struct caller caller = {0};

	for (int i = 0; i < MAX_FRAMES && node && node < p->nnodes; i++) {
		const struct qz_location *l = &p->locations[p->nodes[node].location];

		for (uint32_t k = 0; k < l->nlines; k++)
			if (!take_line(&caller, p, &l->lines[k]))
				return caller;
		node = p->nodes[node].parent;
	}
	return caller;
}

/* ---- variables ---- */

static const struct extent *find_extent(const struct object_naming_context *c, uint32_t module,
					uint64_t code)
{
	const struct extent key = {code, module, 0, 0};
	uint32_t i = QZ_FIND(&c->table, c->extents, &key, module);

	return i == UINT32_MAX ? NULL : &c->extents[i];
}

/* Asks what variable of the module whose code is mapped there has the word. "": none */
static const char *ask_module(struct object_naming_context *c, const struct region *r,
			      uint64_t word, uint32_t beyond, bool *later)
{
	const struct module *m = modules__get(c->modules, r->module);
	const struct extent *known = find_extent(c, r->module, r->offset);
	struct extent extent = {r->offset, r->module, 0, 0};
	int64_t distance = (int64_t)(word - r->start);
	struct symbolizer_variable variable;
	int symbols, err;

	if (known && (distance < known->low || distance >= known->high))
		return "";
	symbols = m && !m->jit ? modules__symbols(c->modules, r->module) : -ENOENT;
	*later = symbolizer__is_passing(symbols);
	if (symbols < 0)
		return "";
	err = symbolizer__variable(c->symbolizer, symbols, r->offset, distance, beyond, &variable);
	*later = symbolizer__is_passing(err);
	if (*later)
		return "";
	if (err)
		variable = (struct symbolizer_variable) {.name = ""};
	extent.low = variable.low;
	extent.high = variable.high;
	if (!known)
		QZ_INTERN(&c->table, &c->extents, &c->nextents, &extent, module);
	return variable.name;
}

/* Regions that are passed over because they are not of files. */
#define MAX_PASSED 64

/*
 * The variables of a module are after its code and before the next module's; of some linkers
 * before it.
 */
static const char *find_variable(struct object_naming_context *c,
				 const struct object_naming_futex *f, uint32_t beyond,
				 const char **module, bool *later)
{
	const struct address_map *map = f->map;
	uint32_t n = map ? address_map__before(map, f->word) : 0;
	const char *name = "";

	for (int turn = 0; map && turn < 2 && !name[0]; turn++) {
		uint32_t i = turn ? n : n - 1;

		for (int passed = 0; passed < MAX_PASSED && i < map->n; passed++) {
			uint32_t number = map->items[i].module;
			const struct module *m = modules__get(c->modules, number);

			if (m && !m->jit && modules__has_file(c->modules, number)) {
				name = ask_module(c, &map->items[i], f->word, beyond, later);
				*module = m->path;
				break;
			}
			i = turn ? i + 1 : i - 1;
		}
	}
	return name;
}

/* Variables that people know by another name. */
static const struct {
	const char *variable; /* its beginning */
	uint32_t kind;	      /* what it is, to those who use it */
	const char *name;
} known_variables[] = {
	{"_PyRuntime", QZ_OBJECT_MUTEX, "the interpreter lock"},
	{"_IO_stdfile_0_lock", QZ_OBJECT_MUTEX, "stdin's lock"},
	{"_IO_stdfile_1_lock", QZ_OBJECT_MUTEX, "stdout's lock"},
	{"_IO_stdfile_2_lock", QZ_OBJECT_MUTEX, "stderr's lock"},
	{"_rtld_global", QZ_OBJECT_MUTEX, "dynamic linker's lock"},
};

/* ---- names ---- */

static void __attribute__((format(printf, 2, 3)))
append(struct object_naming *out, const char *format, ...)
{
	size_t length = strlen(out->name);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(out->name + length, sizeof(out->name) - length, format, arguments);
	va_end(arguments);
}

/* "in PROCEDURE (FILE:LINE)", the place of the first wait that was seen. */
static void append_caller(struct object_naming *out, const struct caller *caller)
{
	const struct qz_procedure *p = caller->procedure;

	if (!p) {
		append(out, " [unknown]");
		out->open = true;
		return;
	}
	append(out, " in %.300s", p->name);
	out->open = is_interpreter(
		p); /* its functions of Python were not read: a thread that begins has none yet */
	if (caller->file[0] && caller->line)
		append(out, " (%.100s:%" PRIu32 ")", qz_base_name(caller->file), caller->line);
	out->module = p->module;
}

/*
 * The word of a thread's end is in its descriptor, which the C library gives to the next thread: the
 * thread's id would name the first one only.
 */
static void name_end(struct object_naming *out, const struct object_naming_futex *f,
		     const struct caller *caller)
{
	append(out, "end of thread");
	if (f->joined && f->joined[0])
		append(out, " %.60s", f->joined);
	append_caller(out, caller);
}

/* Names the variable that has the word. false: there is none. */
static bool name_variable(struct object_naming_context *c, const struct object_naming_futex *f,
			  struct object_naming *out)
{
	const char *module = "";
	const char *name = find_variable(c, f, f->word - out->address, &module, &out->open);

	if (!name[0])
		return false;
	out->module = module;
	for (size_t i = 0; i < sizeof(known_variables) / sizeof(known_variables[0]); i++)
		if (!strncmp(name, known_variables[i].variable,
			     strlen(known_variables[i].variable))) {
			out->kind = known_variables[i].kind;
			name = known_variables[i].name;
			break;
		}
	append(out, "%s", name);
	return true;
}

void object_naming__futex(struct object_naming_context *c, const struct object_naming_futex *f,
			  struct object_naming *out)
{
	struct caller caller = find_caller(c->profile, f->node);
	struct futex_classify_futex futex = {f->word,	f->op,	  f->val,
					     f->nbytes, f->bytes, caller.musl};
	uint32_t called = caller.row ? caller.row->kind : QZ_OBJECT_OTHER;
	const char *word = caller.row ? caller.row->word : NULL;

	*out = (struct object_naming) {
		.kind = f->spun ? called : futex_classify__kind(&futex, called), .module = ""};
	if (out->kind == QZ_OBJECT_OTHER && !caller.row)
		out->kind = caller.kind != QZ_OBJECT_OTHER ? caller.kind
			    : f->spun			   ? QZ_OBJECT_SPIN
							   : QZ_OBJECT_OTHER;
	out->address = f->word - (f->spun ? 0 : futex_classify__distance(&futex, out->kind));
	if (f->given && (f->given(f->context, out->address, out->name) ||
			 f->given(f->context, f->word, out->name)))
		return;
	if (caller.row && caller.row->unique) {
		append(out, "%s", word);
		out->kind = called;
	} else if (out->kind == QZ_OBJECT_JOIN) {
		name_end(out, f, &caller);
	} else if (!name_variable(c, f, out)) {
		append(out, "%s",
		       word && out->kind == called ? word : futex_classify__word(out->kind));
		append_caller(out, &caller);
	}
}

/* Two variables, or two members of one, are named both. */
void object_naming__memory(struct object_naming_context *c, const struct address_map *map,
			   uint64_t first, uint64_t last, uint32_t node, struct object_naming *out)
{
	struct object_naming_futex f = {.map = map, .word = first};
	const char *module = "", *other = "";
	struct caller caller;
	const char *name;
	bool later;

	*out = (struct object_naming) {.kind = QZ_OBJECT_LINE, .address = first, .module = ""};
	name = find_variable(c, &f, 0, &module, &later);
	if (!name[0]) {
		caller = find_caller(c->profile, node);
		append(out, "used");
		append_caller(out, &caller);
		return;
	}
	append(out, "%.200s", name);
	out->module = module;
	f.word = last;
	name = find_variable(c, &f, 0, &other, &later);
	if (name[0] && strcmp(name, out->name) != 0)
		append(out, " to %.200s", name);
}

void object_naming__file(const struct object_naming_file *f, struct object_naming *out)
{
	int dir = f->limited ? -1 : procfs__open(f->pid, f->start_boottime);
	char file[OBJNAME_SIZE];

	*out = (struct object_naming) {.kind = f->kind, .address = f->inode, .module = ""};
	if (dir < 0 || fd_names__name(dir, f->fd, f->inode, file, sizeof(file)))
		snprintf(file, sizeof(file), "%s", futex_classify__word(f->kind));
	append(out, "%s%s%s", f->before, file, f->behind);
	if (dir >= 0)
		close(dir);
}
