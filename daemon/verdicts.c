// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/table.h"
#include "daemon/kallsyms.h"
#include "daemon/log.h"
#include "daemon/places.h"
#include "daemon/verdicts.h"

#define BATCH 128

/*
 * What procedures may write without saving it: rax, rcx, rdx, rsi, rdi, r8 to r11. The others still
 * hold the state of the caller, or what a wait has saved them for and does not change.
 */
#define CALLER_SAVED 0x0fc7u

struct verdicts {
	struct symbolizer *symbolizer;
	struct modules *modules;
	const struct spin_rules *rules;
	struct verdict *items;
	uint32_t n;
	uint32_t *wanted; /* indices of items */
	uint32_t nwanted;
	struct qz_table table;
	struct verdict_range *kernel;
	uint32_t nkernel;
	bool kernel_read;
};

struct verdicts *verdicts__new(struct symbolizer *symbolizer, struct modules *modules,
			       const struct spin_rules *rules)
{
	struct verdicts *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->symbolizer = symbolizer;
	v->modules = modules;
	v->rules = rules;
	return v;
}

void verdicts__free(struct verdicts *v)
{
	if (!v)
		return;
	free(v->items);
	free(v->wanted);
	free(v->kernel);
	qz_table__free(&v->table);
	free(v);
}

/* ---- the table ---- */

static uint32_t hash_address(uint32_t module, uint64_t address)
{
	return qz_hash__number(qz_hash__number(1, module), address);
}

static bool same_address(const void *context, uint32_t index, const void *key)
{
	const struct verdicts *v = context;
	const struct verdict *wanted = key;

	return v->items[index].module == wanted->module &&
	       v->items[index].address == wanted->address;
}

static uint32_t find(const struct verdicts *v, uint32_t module, uint64_t address)
{
	struct verdict key = {.module = module, .address = address};

	return qz_table__find(&v->table, hash_address(module, address), same_address, v, &key);
}

int verdicts__want(struct verdicts *v, uint32_t module, uint64_t address)
{
	if (find(v, module, address) != UINT32_MAX)
		return 0;
	if (qz_array__reserve((void **)&v->wanted, v->nwanted, sizeof(*v->wanted)) ||
	    qz_array__reserve((void **)&v->items, v->n, sizeof(*v->items)) ||
	    qz_table__reserve(&v->table))
		return -ENOMEM;
	v->items[v->n] = (struct verdict) {.module = module, .address = address};
	qz_table__insert(&v->table, hash_address(module, address), v->n);
	v->wanted[v->nwanted++] = v->n++;
	return 0;
}

const struct verdict *verdicts__get(const struct verdicts *v, uint32_t module, uint64_t address)
{
	uint32_t i = find(v, module, address);

	return i == UINT32_MAX ? NULL : &v->items[i];
}

/* ---- the kernel ---- */

struct collection {
	const struct spin_rules *rules;
	struct verdict_range *ranges;
	uint32_t n;
};

/* Functions come by address, so that those that touch become one. */
static int collect(void *context, const char *name, uint64_t start, uint64_t end)
{
	struct collection *c = context;
	enum spin_rule_kind kind = spin_rules__find(c->rules, SPIN_RULES_KERNEL, name);

	if (kind != SPIN_RULE_WAITS && kind != SPIN_RULE_MAY)
		return 0;
	if (c->n && c->ranges[c->n - 1].end >= start) {
		c->ranges[c->n - 1].end = end;
		return 0;
	}
	if (qz_array__reserve((void **)&c->ranges, c->n, sizeof(*c->ranges)))
		return -ENOMEM;
	c->ranges[c->n++] = (struct verdict_range) {start, end};
	return 0;
}

int verdicts__kernel(struct verdicts *v, const struct verdict_range **ranges, uint32_t *n)
{
	struct collection c = {.rules = v->rules};
	struct kallsyms *k;
	int err = 0;

	if (!v->kernel_read) {
		k = kallsyms__new();
		if (k)
			err = kallsyms__each(k, collect, &c);
		kallsyms__free(k);
		v->kernel = c.ranges;
		v->nkernel = err ? 0 : c.n;
		v->kernel_read = true;
	}
	*ranges = v->kernel;
	*n = v->nkernel;
	return err;
}

static void judge_kernel(struct verdicts *v, struct verdict *verdict)
{
	const struct verdict_range *ranges;
	uint32_t n;

	if (verdicts__kernel(v, &ranges, &n))
		return;
	for (uint32_t i = 0; i < n; i++)
		if (verdict->address >= ranges[i].start && verdict->address < ranges[i].end) {
			verdict->spin = QZ_SPIN_KNOWN;
			verdict->start = ranges[i].start;
			verdict->end = ranges[i].end;
		}
}

/* ---- user code ---- */

static void set_known(struct verdict *verdict, const struct symbolizer_verdict *from, bool confirm)
{
	verdict->spin = QZ_SPIN_KNOWN;
	verdict->confirm = confirm;
	verdict->start = from->procedure_start;
	verdict->end = from->procedure_end;
	verdict->written = CALLER_SAVED;
}

static void apply(const struct verdicts *v, const struct module *m, struct verdict *verdict,
		  const struct symbolizer_verdict *from)
{
	enum spin_rule_kind kind = SPIN_RULE_NONE;

	if (*from->procedure || !strcmp(m->path, "[vdso]"))
		kind = spin_rules__find(v->rules, m->path, from->procedure);
	if (kind == SPIN_RULE_WORKS)
		return;
	if (kind != SPIN_RULE_NONE && from->spin == QZ_SPIN_NONE) {
		set_known(verdict, from, kind == SPIN_RULE_MAY);
		return;
	}
	verdict->spin = from->spin;
	verdict->confirm = from->confirm;
	verdict->by_caller = from->by_caller;
	verdict->watches = from->watches;
	verdict->base = from->base;
	verdict->at = from->at;
	verdict->start = from->start;
	verdict->end = from->end;
	verdict->written = from->written;
	if (kind == SPIN_RULE_WAITS) {
		verdict->spin = QZ_SPIN_KNOWN;
		verdict->confirm = false;
	}
}

/* Judges n wanted addresses of one module. */
static void judge_batch(struct verdicts *v, uint32_t module, const uint32_t *indices, uint32_t n)
{
	struct module *m = modules__get(v->modules, module);
	struct symbolizer_verdict verdicts[BATCH];
	uint64_t addresses[BATCH];

	if (!m || m->symbols < 0)
		return;
	for (uint32_t i = 0; i < n; i++)
		addresses[i] = v->items[indices[i]].address;
	if (symbolizer__judge(v->symbolizer, m->symbols, addresses, n, verdicts))
		return;
	for (uint32_t i = 0; i < n; i++)
		apply(v, m, &v->items[indices[i]], &verdicts[i]);
}

static int by_module(const void *a, const void *b, void *context)
{
	const struct verdicts *v = context;
	const struct verdict *x = &v->items[*(const uint32_t *)a];
	const struct verdict *y = &v->items[*(const uint32_t *)b];

	return x->module < y->module ? -1 : x->module > y->module;
}

int verdicts__judge(struct verdicts *v)
{
	uint32_t n;

	if (v->nwanted)
		qsort_r(v->wanted, v->nwanted, sizeof(*v->wanted), by_module, v);
	for (uint32_t i = 0; i < v->nwanted; i += n) {
		uint32_t module = v->items[v->wanted[i]].module;

		for (n = 1; n < BATCH && i + n < v->nwanted; n++)
			if (v->items[v->wanted[i + n]].module != module)
				break;
		if (module != MODULE_KERNEL)
			judge_batch(v, module, &v->wanted[i], n);
		for (uint32_t k = 0; k < n && module == MODULE_KERNEL; k++)
			judge_kernel(v, &v->items[v->wanted[i + k]]);
	}
	v->nwanted = 0;
	return 0;
}
