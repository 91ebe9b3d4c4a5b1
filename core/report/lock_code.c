/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/lock_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/order.h"
#include "core/util/vec.h"

/*
 * Of glibc, libstdc++, libgomp, musl and the interpreters. A procedure that has inlined all of it has another
 * name, and its own code cannot be told from that of the lock.
 */
static const char *const prefixes[] = {
	"__lll_",	    "lll_",	    "pthread_",	      "__pthread_",
	"___pthread_",	    "__GI___lll",   "__futex_",	      "futex_",
	"__gthread_",	    "std::mutex::", "std::unique_",   "std::lock_",
	"std::condition_",  "gomp_mutex",   "gomp_barrier",   "gomp_team_",
	"gomp_sem_",	    "sem_",	    "__new_sem_",     "take_gil",
	"drop_gil",	    "PyEval_Save",  "PyEval_Restore", "__wait",
	"__wake",	    "PyThread_",    "mtx_",	      "cnd_",
	"std::sys",	    "__timedwait",  "__syscall_cp",   "<std::sys",
	"parking_lot::raw",
};

bool qz_lock_code__is(const struct qz_procedure *procedure)
{
	/* of Rust's, around all that a thread does */
	if (strstr(procedure->name, "__rust_begin_short_backtrace"))
		return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(procedure->name, prefixes[i], strlen(prefixes[i])))
			return true;
	return !strcmp(procedure->name, "syscall");
}

/* The procedure of a node as the symbol table has it, QZ_NONE for the root. */
static uint32_t procedure_of(const struct qz_profile *p, uint32_t node)
{
	const struct qz_location *loc;

	if (!node)
		return QZ_NONE;
	loc = &p->locations[p->nodes[node].location];
	return loc->nlines ? loc->lines[loc->nlines - 1].procedure : QZ_NONE;
}

static bool is_kernel(const struct qz_profile *p, uint32_t node)
{
	uint32_t procedure = procedure_of(p, node);

	return procedure != QZ_NONE && !strcmp(p->procedures[procedure].module, "[kernel]");
}

static bool is_lock(const struct qz_profile *p, uint32_t node)
{
	uint32_t procedure = procedure_of(p, node);

	return procedure != QZ_NONE && qz_lock_code__is(&p->procedures[procedure]);
}

/* What makes the system call is code of the lock in a library of any name. */
static bool is_library(const struct qz_profile *p, uint32_t node)
{
	uint32_t procedure = procedure_of(p, node);

	return procedure != QZ_NONE && p->procedures[procedure].kind == QZ_PROCEDURE &&
	       strstr(p->procedures[procedure].module, ".so");
}

/* The outermost node of the code of the lock; 0: there is none. */
static uint32_t outermost(const struct qz_profile *p, uint32_t node)
{
	while (node && is_kernel(p, node))
		node = p->nodes[node].parent;
	if (!is_lock(p, node) && !is_library(p, node))
		return 0;
	while (is_lock(p, p->nodes[node].parent))
		node = p->nodes[node].parent;
	return node;
}

static int add_site(struct qz_lock_code *code, uint32_t node, uint32_t object, uint64_t count)
{
	const struct qz_profile *p = code->profile;

	node = outermost(p, node);
	if (!node || object == QZ_NONE || p->objects[object].kind >= QZ_OBJECT_FILE)
		return 0;
	if (qz_array__reserve((void **)&code->sites, code->n, sizeof(*code->sites)))
		return -ENOMEM;
	code->sites[code->n++] = (struct qz_lock_site) {
		.caller = p->nodes[node].parent,
		.procedure = procedure_of(p, node),
		.object = object,
		.count = count,
	};
	return 0;
}

static int compare_places(const struct qz_lock_site *a, const struct qz_lock_site *b)
{
	return qz_order(a->caller, b->caller) ?: qz_order(a->procedure, b->procedure);
}

static int compare_sites(const void *x, const void *y)
{
	const struct qz_lock_site *a = x, *b = y;

	return compare_places(a, b) ?: qz_order(a->object, b->object);
}

/* Equal ones become one. */
static void merge(struct qz_lock_code *code)
{
	uint32_t kept = 0;

	if (code->n)
		qsort(code->sites, code->n, sizeof(*code->sites), compare_sites);
	for (uint32_t i = 0; i < code->n; i++) {
		const struct qz_lock_site *site = &code->sites[i];

		if (kept && !compare_sites(&code->sites[kept - 1], site))
			code->sites[kept - 1].count += site->count;
		else
			code->sites[kept++] = *site;
	}
	code->n = kept;
	for (uint32_t i = 0; i < code->n; i++)
		code->calls[code->sites[i].caller] = true;
}

int qz_lock_code__find(struct qz_lock_code *code, const struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	int err = 0;

	*code = (struct qz_lock_code) {.profile = p};
	code->calls = calloc((size_t)p->nnodes + 1, sizeof(*code->calls));
	if (!code->calls)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < p->nwaits; i++)
		if (qz_scope__covers(p, r->scope, p->waits[i].scope) && p->waits[i].count)
			err = add_site(code, p->waits[i].node, p->waits[i].object,
				       p->waits[i].count);
	for (uint32_t i = 0; !err && i < p->nwakings; i++)
		if (qz_scope__covers(p, r->scope, p->wakings[i].scope) && p->wakings[i].count)
			err = add_site(code, p->wakings[i].node, p->wakings[i].object,
				       p->wakings[i].count);
	if (!err)
		merge(code);
	return err;
}

void qz_lock_code__free(struct qz_lock_code *code)
{
	free(code->sites);
	free(code->calls);
	*code = (struct qz_lock_code) {0};
}

/* The first site of a place. */
static const struct qz_lock_site *find_place(const struct qz_lock_code *code,
					     const struct qz_lock_site *key)
{
	uint32_t low = 0, high = code->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_places(&code->sites[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < code->n && !compare_places(&code->sites[low], key) ? &code->sites[low] : NULL;
}

const struct qz_lock_site *qz_lock_code__at(const struct qz_lock_code *code, uint32_t node,
					    uint32_t *n)
{
	const struct qz_profile *p = code->profile;
	const struct qz_lock_site *first = NULL;

	for (; node && !first; node = p->nodes[node].parent) {
		struct qz_lock_site key = {p->nodes[node].parent, procedure_of(p, node), 0, 0};

		if (code->calls[key.caller])
			first = find_place(code, &key);
	}
	for (*n = 0; first && first + *n < code->sites + code->n; ++*n)
		if (compare_places(first, first + *n))
			break;
	return first;
}
