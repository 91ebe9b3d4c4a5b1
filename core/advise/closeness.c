// SPDX-License-Identifier: GPL-2.0-only
#include "core/advise/closeness.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/base_name.h"

/* Directories of Go's own packages (go list std); paths of all others begin with "main", or a name that has a dot. */
static const char *const go_packages[] = {
	"archive",  "bufio",   "bytes",	 "cmp",	     "compress", "container", "context", "crypto",
	"database", "debug",   "embed",	 "encoding", "errors",	 "expvar",    "flag",	 "fmt",
	"go",	    "hash",    "html",	 "image",    "index",	 "internal",  "io",	 "iter",
	"log",	    "maps",    "math",	 "mime",     "net",	 "os",	      "path",	 "reflect",
	"regexp",   "runtime", "slices", "sort",     "strconv",	 "strings",   "structs", "sync",
	"syscall",  "testing", "text",	 "time",     "unicode",	 "unique",    "unsafe",	 "vendor",
};

/* C++'s and Rust's. */
static const char *const namespaces[] = {"std::", "core::", "alloc::", "__gnu_cxx::"};

#define GO_MODULES 4 /* that a job has at once; of more, the rest count as others do */

struct go_modules {
	const char *paths[GO_MODULES];
	size_t n;
};

static bool has(const struct go_modules *go, const char *module)
{
	for (size_t i = 0; i < go->n; i++)
		if (!strcmp(go->paths[i], module))
			return true;
	return false;
}

static struct go_modules find_go(const struct qz_profile *p)
{
	static const char base[] = "runtime.goexit";
	struct go_modules go = {.n = 0};

	for (uint32_t i = 0; i < p->nprocedures && go.n < GO_MODULES; i++)
		if (!strncmp(p->procedures[i].name, base, sizeof(base) - 1) &&
		    !has(&go, p->procedures[i].module))
			go.paths[go.n++] = p->procedures[i].module;
	return go;
}

static bool is_go_package(const char *name)
{
	size_t length = strcspn(name, "./");

	for (size_t i = 0; i < sizeof(go_packages) / sizeof(go_packages[0]); i++)
		if (strlen(go_packages[i]) == length && !memcmp(name, go_packages[i], length))
			return true;
	return false;
}

/* "std::sort<...>", "<alloc::vec::Vec<T> as ...>::f" */
static bool is_in_namespace(const char *name)
{
	name += strspn(name, "<&");
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++)
		if (!strncmp(name, namespaces[i], strlen(namespaces[i])))
			return true;
	return false;
}

/* Of the code that a runtime has made, with names: its own has them, too (V8's by their beginning, HotSpot's by their end). */
static bool is_made(const struct qz_procedure *procedure)
{
	static const char *const begins[] = {
		QZ_NAME_UNKNOWN, "Builtins_", "Builtin:",    "BytecodeHandler:",
		"RegExp:",	 "Stub:",     "Interpreter", "StubRoutines"};
	static const char *const ends[] = {"Blob", "stub", "_Java", "adapters"};
	size_t length = strlen(procedure->name);

	if (strcmp(procedure->module, "[jit]"))
		return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(procedure->name, begins[i], strlen(begins[i])))
			return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (length >= strlen(ends[i]) &&
		    !strcmp(procedure->name + length - strlen(ends[i]), ends[i]))
			return false;
	return true;
}

/* "void java.lang.Thread.run()", "JS:emit node:events:466:44" */
static bool is_made_library(const char *name)
{
	static const char *const packages[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};
	const char *end = strchr(name, '('), *start = end;

	if (!strncmp(name, "JS:", strlen("JS:")))
		return strstr(name, " node:");
	while (start && start > name && start[-1] != ' ')
		start--;
	for (size_t i = 0; start && i < sizeof(packages) / sizeof(packages[0]); i++)
		if (!strncmp(start, packages[i], strlen(packages[i])))
			return true;
	return false;
}

/* The programs that run what others wrote. */
static bool is_runtime(const char *module)
{
	static const char *const names[] = {"node", "nodejs", "java", "dotnet", "python3", "ruby"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (qz_base_name__is(module, names[i]))
			return true;
	return false;
}

/* Of the interpreter's own modules, and of those that were installed. */
static bool is_interpreted_library(const char *file)
{
	return strstr(file, "/lib/python3") || strstr(file, "/site-packages/") ||
	       strstr(file, "/dist-packages/") || !strncmp(file, "<frozen", 7) ||
	       strstr(file, "/lib/ruby/") || strstr(file, "/gems/") ||
	       !strncmp(file, "<internal:", 10);
}

static enum qz_closeness closeness(const struct go_modules *go,
				   const struct qz_procedure *procedure)
{
	if (is_made(procedure))
		return is_made_library(procedure->name) ? QZ_CLOSE_LIBRARY : QZ_CLOSE_OWN;
	if (qz_procedure__is_interpreted(procedure))
		return is_interpreted_library(procedure->file) ? QZ_CLOSE_LIBRARY : QZ_CLOSE_OWN;
	if (*procedure->module == '[' || !strcmp(procedure->name, "main") ||
	    !strcmp(procedure->name, "_start"))
		return QZ_CLOSE_NOT;
	if (has(go, procedure->module)) {
		if (!strncmp(procedure->name, "runtime.", strlen("runtime.")))
			return QZ_CLOSE_NOT;
		return is_go_package(procedure->name) ? QZ_CLOSE_LIBRARY : QZ_CLOSE_OWN;
	}
	if (strstr(procedure->module, ".so") || is_in_namespace(procedure->name) ||
	    is_runtime(procedure->module))
		return QZ_CLOSE_LIBRARY;
	return QZ_CLOSE_OWN;
}

enum qz_closeness *qz_closeness__of(const struct qz_profile *p)
{
	enum qz_closeness *all = calloc((size_t)p->nprocedures + 1, sizeof(*all));
	struct go_modules go = find_go(p);

	for (uint32_t i = 0; all && i < p->nprocedures; i++)
		all[i] = closeness(&go, &p->procedures[i]);
	return all;
}
