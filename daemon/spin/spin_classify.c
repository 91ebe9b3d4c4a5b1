// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/base_name.h"
#include "core/util/vec.h"
#include "core/util/hash_table.h"
#include "daemon/kernel/kernel_names.h"
#include "daemon/attribution/address_cache.h"
#include "daemon/spin/spin_classify.h"

#define BATCH 128

/*
 * What procedures may write without saving it: rax, rcx, rdx, rsi, rdi, r8 to r11. The others still
 * hold the state of the caller, or what a wait has saved them for and does not change.
 */
#define CALLER_SAVED 0x0fc7u

struct spin_classify {
	struct symbolizer *symbolizer;
	struct modules *modules;
	const struct spin_rules *rules;
	struct code_class *items;
	uint32_t n;
	uint32_t *wanted; /* indices of items */
	uint32_t nwanted;
	struct qz_hash_table table;
	struct bpf_runtime *bpf;
	bool *below; /* by module: it has rules of the kind SPIN_RULE_BELOW */
	uint32_t nbelow;
	bool any_below;
};

struct spin_classify *spin_classify__new(struct symbolizer *symbolizer, struct modules *modules,
					 struct bpf_runtime *bpf, const struct spin_rules *rules)
{
	struct spin_classify *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->symbolizer = symbolizer;
	s->modules = modules;
	s->bpf = bpf;
	s->rules = rules;
	return s;
}

void spin_classify__free(struct spin_classify *s)
{
	if (!s)
		return;
	free(s->items);
	free(s->wanted);
	free(s->below);
	qz_hash_table__free(&s->table);
	free(s);
}

/* ---- the table ---- */

static uint32_t find(const struct spin_classify *s, uint32_t module, uint64_t address)
{
	struct code_class key = {.module = module, .address = address};

	return QZ_FIND(&s->table, s->items, &key, module);
}

int spin_classify__want(struct spin_classify *s, uint32_t module, uint64_t address)
{
	const struct code_class new = {.module = module, .address = address};
	uint32_t i = find(s, module, address);

	if (i != UINT32_MAX && !s->items[i].later)
		return 0;
	if (qz_array__reserve((void **)&s->wanted, s->nwanted, sizeof(*s->wanted)))
		return -ENOMEM;
	if (i == UINT32_MAX) {
		i = s->n;
		if (QZ_INTERN(&s->table, &s->items, &s->n, &new, module) < 0)
			return -ENOMEM;
	}
	s->items[i].later = false;
	s->wanted[s->nwanted++] = i;
	return 0;
}

const struct code_class *spin_classify__get(const struct spin_classify *s, uint32_t module,
					    uint64_t address)
{
	uint32_t i = find(s, module, address);

	return i == UINT32_MAX ? NULL : &s->items[i];
}

/* ---- modules ---- */

/* Rules are read before the first module is known, and a number is never another module's. */
static void meet_modules(struct spin_classify *s)
{
	struct module *m;

	while ((m = modules__get(s->modules, s->nbelow))) {
		if (qz_array__reserve((void **)&s->below, s->nbelow, sizeof(*s->below)))
			return;
		s->below[s->nbelow] = spin_rules__have_below(s->rules, m->path);
		s->any_below |= s->below[s->nbelow++];
	}
}

bool spin_classify__has_any_below(struct spin_classify *s)
{
	meet_modules(s);
	return s->any_below;
}

bool spin_classify__has_below(const struct spin_classify *s, uint32_t module)
{
	return module < s->nbelow && s->below[module];
}

bool spin_classify__is_libc(const struct spin_classify *s, uint32_t module)
{
	struct module *m = module == MODULE_KERNEL ? NULL : modules__get(s->modules, module);
	const char *name = m ? qz_base_name(m->path) : "";

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-", 5) ||
	       !strncmp(name, "ld-musl", 7);
}

/* ---- the kernel ---- */

static void classify_kernel(struct spin_classify *s, struct code_class *c)
{
	enum spin_rule_kind kind;
	struct kernel_code code;

	if (!kernel_names__find(s->bpf, c->address, &code))
		return;
	kind = spin_rules__find(s->rules, SPIN_RULES_KERNEL, code.name);
	if (kind == SPIN_RULE_WAITS || kind == SPIN_RULE_MAY)
		c->code = (struct spin_code) {
			.class = QZ_SPIN_KNOWN, .start = code.start, .end = code.end};
}

/* ---- user code ---- */

static struct spin_code apply_rules(const struct spin_classify *s, const struct module *m,
				    const struct spin_record *record, bool *below)
{
	const char *procedure = symbolizer__procedure(s->symbolizer, record);
	enum spin_rule_kind kind = SPIN_RULE_NONE;
	struct spin_code code = record->code;

	if (*procedure || !strcmp(m->path, "[vdso]"))
		kind = spin_rules__find(s->rules, m->path, procedure);
	if (kind == SPIN_RULE_WORKS)
		return (struct spin_code) {.class = QZ_SPIN_NONE};
	*below = kind == SPIN_RULE_BELOW;
	if (kind == SPIN_RULE_NONE || (code.class != QZ_SPIN_NONE && kind == SPIN_RULE_MAY))
		return code;
	if (code.class == QZ_SPIN_NONE)
		code = (struct spin_code) {.start = record->procedure_start,
					   .end = record->procedure_end,
					   .flags = kind == SPIN_RULE_MAY ? QZ_SPIN_CONFIRM : 0,
					   .written = CALLER_SAVED};
	else
		code.flags &= ~(uint32_t)QZ_SPIN_CONFIRM;
	code.class = QZ_SPIN_KNOWN;
	return code;
}

/* n wanted addresses of one module. */
static void classify_batch(struct spin_classify *s, uint32_t module, const uint32_t *indices,
			   uint32_t n)
{
	int err, symbols = modules__symbols(s->modules, module);
	struct module *m = modules__get(s->modules, module);
	struct spin_record records[BATCH];
	uint64_t addresses[BATCH];

	for (uint32_t i = 0; i < n; i++)
		addresses[i] = s->items[indices[i]].address;
	err = symbols < 0 ? symbols
			  : symbolizer__classify(s->symbolizer, symbols, addresses, n, records);
	for (uint32_t i = 0; i < n; i++) {
		struct code_class *c = &s->items[indices[i]];

		c->later = symbolizer__is_passing(err);
		if (!err)
			c->code = apply_rules(s, m, &records[i], &c->below);
	}
}

static int by_module(const void *a, const void *b, void *context)
{
	const struct spin_classify *s = context;
	const struct code_class *x = &s->items[*(const uint32_t *)a];
	const struct code_class *y = &s->items[*(const uint32_t *)b];

	return x->module < y->module ? -1 : x->module > y->module;
}

void spin_classify__resolve(struct spin_classify *s)
{
	uint32_t n;

	if (s->nwanted)
		qsort_r(s->wanted, s->nwanted, sizeof(*s->wanted), by_module, s);
	for (uint32_t i = 0; i < s->nwanted; i += n) {
		uint32_t module = s->items[s->wanted[i]].module;

		for (n = 1; n < BATCH && i + n < s->nwanted; n++)
			if (s->items[s->wanted[i + n]].module != module)
				break;
		if (module != MODULE_KERNEL)
			classify_batch(s, module, &s->wanted[i], n);
		for (uint32_t k = 0; k < n && module == MODULE_KERNEL; k++)
			classify_kernel(s, &s->items[s->wanted[i + k]]);
	}
	s->nwanted = 0;
}
