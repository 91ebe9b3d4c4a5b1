/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/locks/lock_kind.h"

#include <string.h>

#include "core/model/frames.h"
#include "core/model/wait_causes.h"
#include "core/report/lock_code.h"

/* Code without a symbol is called by its file and where it begins. */
static bool is_unnamed_library(const struct qz_procedure *procedure)
{
	return strstr(procedure->module, ".so") && strstr(procedure->name, "+0x");
}

/* Without debug symbols of the C library, the innermost procedures of a lock have no names to know them by. */
static uint32_t find_locker(const struct qz_profile *p, uint32_t node)
{
	struct qz_frames frames = {.profile = p, .node = node};
	bool in_lock = false;
	uint32_t i;

	while ((i = qz_frames__next(&frames)) != QZ_NONE) {
		const struct qz_procedure *procedure = &p->procedures[i];

		if (procedure->kind != QZ_PROCEDURE)
			continue;
		if (qz_lock_code__is(procedure))
			in_lock = true;
		else if (in_lock || !is_unnamed_library(procedure))
			return i;
	}
	return QZ_NONE;
}

uint32_t qz_lock_kind__locker(const struct qz_report *r, uint32_t object)
{
	const struct qz_profile *p = r->profile;
	const struct qz_wait *most = NULL;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (w->object == object && w->node && qz_scope__covers(p, r->scope, w->scope) &&
		    (!most || w->blocked_ns + w->ready_ns > most->blocked_ns + most->ready_ns))
			most = w;
	}
	if (!most)
		return QZ_NONE;
	return qz_wait_cause__kind(p->causes[most->cause]) != QZ_WAIT_IS_FUTEX
		       ? qz_frames__program_code(p, most->node) /* who made the call */
		       : find_locker(p, most->node);
}

/* glibc's, by their beginnings; a program's own procedure of such a name is one of an allocator, too. */
static bool takes_arena(const char *name)
{
	static const char *const names[] = {"malloc",
					    "_int_malloc",
					    "free",
					    "_int_free",
					    "calloc",
					    "realloc",
					    "_int_realloc",
					    "cfree",
					    "memalign",
					    "_int_memalign",
					    "__libc_malloc",
					    "__libc_free",
					    "__libc_calloc",
					    "__libc_realloc",
					    "sysmalloc",
					    "arena_get2",
					    "arena_get_retry",
					    "__libc_memalign",
					    "_int_free_chunk",
					    "_int_free_merge_chunk"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

bool qz_lock_kind__is_allocator(const struct qz_profile *p, uint32_t procedure)
{
	static const char *const others[] = {
		"malloc_consolidate", "unlink_chunk",  "sysmalloc",	      "systrim", "tcache_",
		"heap_trim",	      "_mid_memalign", "checked_request2size"};
	const char *name = p->procedures[procedure].name;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(name, others[i], strlen(others[i])))
			return true;
	return takes_arena(name);
}

static bool is_stdio(const char *name)
{
	static const char *const names[] = {"fputs",	      "_IO_fputs",
					    "fputc",	      "putc",
					    "_IO_putc",	      "putchar",
					    "puts",	      "_IO_puts",
					    "fwrite",	      "_IO_fwrite",
					    "printf",	      "fprintf",
					    "vfprintf",	      "__vfprintf_internal",
					    "__fprintf_chk",  "__printf_chk",
					    "__vfprintf_chk", "fflush",
					    "_IO_fflush",     "getc",
					    "_IO_getc",	      "fgetc",
					    "fgets",	      "_IO_fgets",
					    "fread",	      "_IO_fread",
					    "flockfile",      "getline",
					    "_IO_getdelim"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool is_held(const struct qz_report *r, uint32_t object)
{
	const struct qz_object_row *row = qz_report__object(r, object);

	return row && qz_object_cost__is_held(r, row);
}

/* Names are those that quartzd gives: daemon/waits/object_naming.c, futex_classify.c. */
enum qz_lock_kind qz_lock_kind__of(const struct qz_report *r, uint32_t object)
{
	const struct qz_object *o = &r->profile->objects[object];
	const char *name = "";
	uint32_t locker;

	if (!is_held(r, object))
		return QZ_LOCK_NONE;
	locker = qz_lock_kind__locker(r, object);
	if (locker != QZ_NONE)
		name = r->profile->procedures[locker].name;
	if (strstr(o->name, "interpreter lock"))
		return QZ_LOCK_INTERPRETER;
	if (!strncmp(o->name, "main_arena", strlen("main_arena")) || takes_arena(name))
		return QZ_LOCK_ALLOCATOR;
	if (!strncmp(o->name, "stdio lock", strlen("stdio lock")) || is_stdio(name))
		return QZ_LOCK_STDIO;
	return QZ_LOCK_PROGRAM;
}

/* Names are those of daemon/waits/objects.c. */
const char *qz_lock_kind__remedy(const struct qz_object *o)
{
	static const char *const remedies[][2] = {
		{"the process' memory map", "map and unmap less: keep memory and use it again; or "
					    "processes instead of threads"},
		{"the inode's lock of ",
		 "larger writes, or a file for each thread; one that writes for all"},
		{"the position's lock of ", "pread and pwrite, which have their own position, or a "
					    "descriptor for each thread"},
		{"the lock of ",
		 "hold it for less time, lock parts of the file (fcntl), or give each part a file"},
	};

	for (size_t i = 0; o->kind == QZ_OBJECT_LOCK && i < sizeof(remedies) / sizeof(remedies[0]);
	     i++)
		if (!strncmp(o->name, remedies[i][0], strlen(remedies[i][0])))
			return remedies[i][1];
	return NULL;
}
