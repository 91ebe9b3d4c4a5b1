/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * judge FILE OFFSET...        the verdicts on these offsets of a file
 * judge --scan FILE...        on the loops of whole files: by class, how many of them
 * judge [--top] -- COMMAND... runs it, samples it, and tells how many samples wait, by class
 *
 * The rules by name are those built in. A verdict that must be confirmed is, by the sample of the
 * thread before or after.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/vec.h"
#include "core/util/hash_table.h"
#include "core/model/spin_rules.h"
#include "daemon/spin/spin_symbols.h"
#include "symbolizer/spin/cfg.h"
#include "symbolizer/spin/spin_answer.h"
#include "tests/spin/recorder.h"

#define RATE	     997
#define CALLER_SAVED 0x0fc7u /* as in daemon/spin/spin_classify.c */

static const char *const class_names[] = QZ_SPIN_NAMES;
static struct spin_rules rules;
static struct spin_answer_writer writer;

/* ---- files and verdicts ---- */

struct file {
	char *path;
	struct module *module; /* NULL: not readable */
	int fd;
};

#define MAX_FILES 1024

static struct file files[MAX_FILES];
static uint32_t nfiles;

static struct file *open_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct file *f;

	for (uint32_t i = 0; i < nfiles; i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	if (nfiles == MAX_FILES)
		abort();
	f = &files[nfiles++];
	f->path = strdup(path);
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	f->module = f->fd < 0 ? NULL
			      : module__load(MODULE_ELF, 0,
					     &(struct module_files) {dup(f->fd), -1, -1},
					     slash ? slash + 1 : path);
	return f;
}

struct judged {
	const struct file *file;
	uint64_t offset;
	struct spin_record record;
	bool known;
	char name[128];
};

static void judge(const struct file *f, uint64_t offset, struct judged *j)
{
	enum spin_rule_kind kind;

	*j = (struct judged) {.file = f, .offset = offset};
	if (!f->module)
		return;
	spin_answer__write(&writer, f->module, f->fd, &offset, 1, PROTOCOL_MAX_MESSAGE);
	j->record = writer.records[0];
	snprintf(j->name, sizeof(j->name), "%.*s", (int)sizeof(j->name) - 1, writer.text);
	kind = spin_rules__find(&rules, f->path, j->name);
	if (kind == SPIN_RULE_WORKS)
		j->record.code.class = j->record.code.flags = 0;
	if (kind != SPIN_RULE_WAITS && (kind != SPIN_RULE_MAY || j->record.code.class))
		return;
	j->record.code.class = QZ_SPIN_KNOWN;
	j->record.code.flags = kind == SPIN_RULE_MAY ? QZ_SPIN_CONFIRM : 0;
	j->record.code.start = j->record.procedure_start;
	j->record.code.end = j->record.procedure_end;
	j->record.code.written = CALLER_SAVED;
}

/* Each address once. */
static struct judged *cache;
static uint32_t ncache;
static struct qz_hash_table table;

static bool same(const void *context, uint32_t i, const void *key)
{
	const struct judged *j = key;

	return cache[i].file == j->file && cache[i].offset == j->offset;
}

static uint32_t lookup(const struct file *f, uint64_t offset)
{
	struct judged key = {.file = f, .offset = offset};
	uint32_t hash = qz_hash_table__hash_number(
		qz_hash_table__hash_number(1, (uint64_t)(f - files)), offset);
	uint32_t i = qz_hash_table__find(&table, hash, same, NULL, &key);

	if (i != UINT32_MAX)
		return i;
	if (qz_array__reserve((void **)&cache, ncache, sizeof(*cache)) ||
	    qz_hash_table__reserve(&table))
		abort();
	judge(f, offset, &cache[ncache]);
	qz_hash_table__insert(&table, hash, ncache);
	return ncache++;
}

/* ---- runs ---- */

static const struct mapping *find_mapping(const struct recording *r, const struct sample *s,
					  uint64_t address)
{
	const struct mapping *found = NULL;

	for (uint32_t i = 0; i < r->nmappings; i++) {
		const struct mapping *m = &r->mappings[i];

		if (m->pid == s->pid && m->time <= s->time && address >= m->start &&
		    address < m->end)
			found = m;
	}
	return found;
}

static uint32_t judge_address(const struct recording *r, const struct sample *s, uint64_t address)
{
	const struct mapping *m = find_mapping(r, s, address);

	if (!m || m->path[0] != '/')
		return UINT32_MAX;
	return lookup(open_file(m->path), address - m->start + m->offset);
}

/* The return address is on top of the stack, or above the saved frame pointer. */
static uint32_t judge_caller(const struct recording *r, const struct sample *s)
{
	uint64_t frame = s->registers[5] - s->registers[4];
	size_t places[] = {0, 1, frame / 8 + 1};

	for (size_t i = 0; i < 3; i++) {
		uint32_t j = places[i] < STACK_WORDS ? judge_address(r, s, s->stack[places[i]])
						     : UINT32_MAX;

		if (j != UINT32_MAX && cache[j].record.code.class)
			return j;
	}
	return UINT32_MAX;
}

static uint32_t judge_sample(const struct recording *r, const struct sample *s)
{
	uint32_t j = judge_address(r, s, s->ip), caller;

	if (j == UINT32_MAX || !(cache[j].record.code.flags & QZ_SPIN_BY_CALLER))
		return j;
	caller = judge_caller(r, s);
	return caller == UINT32_MAX ? j : caller;
}

static bool confirms(const struct sample *a, const struct sample *b, uint32_t ja, uint32_t jb)
{
	const struct spin_code *x = &cache[ja].record.code, *y;

	if (a->tid != b->tid || jb == UINT32_MAX || cache[ja].file != cache[jb].file)
		return false;
	y = &cache[jb].record.code;
	if (x->start != y->start || x->end != y->end)
		return false;
	for (int i = 0; i < 16; i++)
		if (!(x->written >> i & 1) && a->registers[i] != b->registers[i])
			return false;
	return true;
}

struct result {
	uint32_t verdict, count;
};

static int by_count(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	return x->count > y->count ? -1 : x->count < y->count;
}

static void print_top(const uint32_t *hits)
{
	struct result *all = calloc(ncache + 1, sizeof(*all));

	for (uint32_t i = 0; i < ncache; i++)
		all[i] = (struct result) {i, hits[i]};
	qsort(all, ncache, sizeof(*all), by_count);
	for (uint32_t i = 0; i < ncache && i < 25 && all[i].count; i++) {
		const struct judged *j = &cache[all[i].verdict];

		printf("%6u %-8s%s%s %s+0x%" PRIx64 " %s\n", all[i].count,
		       class_names[j->record.code.class],
		       j->record.code.flags & QZ_SPIN_CONFIRM ? " confirm" : "",
		       j->record.code.flags & QZ_SPIN_BY_CALLER ? " by-caller" : "", j->file->path,
		       j->offset, j->name);
	}
	free(all);
}

static int run(char *const argv[], bool top)
{
	uint32_t classes[QZ_SPIN_CLASSES] = {0}, unconfirmed = 0, *of, *hits;
	struct recording r;
	int status = recorder__run(argv, RATE, &r);

	if (status < 0)
		return 1;
	of = calloc(r.nsamples + 1, sizeof(*of));
	for (uint32_t i = 0; i < r.nsamples; i++)
		of[i] = judge_sample(&r, &r.samples[i]);
	hits = calloc(ncache + 1, sizeof(*hits));
	for (uint32_t i = 0; i < r.nsamples; i++) {
		const struct sample *s = &r.samples[i];
		const struct spin_code *v;
		bool confirmed;

		if (of[i] == UINT32_MAX) {
			classes[QZ_SPIN_NONE]++;
			continue;
		}
		v = &cache[of[i]].record.code;
		hits[of[i]]++;
		confirmed = !(v->flags & QZ_SPIN_CONFIRM) ||
			    qz_spin__has_turned(s->registers[v->counter & 15], v->first, v->many) ||
			    (i > 0 && confirms(s, s - 1, of[i], of[i - 1])) ||
			    (i + 1 < r.nsamples && confirms(s, s + 1, of[i], of[i + 1]));
		unconfirmed += !confirmed;
		classes[confirmed ? v->class : QZ_SPIN_NONE]++;
	}
	printf("%u samples, %u waiting", r.nsamples, r.nsamples - classes[QZ_SPIN_NONE]);
	for (int i = 1; i < QZ_SPIN_CLASSES; i++)
		printf(", %u %s", classes[i], class_names[i]);
	printf(", %u not confirmed; %u addresses\n", unconfirmed, ncache);
	if (top)
		print_top(hits);
	free(of);
	free(hits);
	recorder__free(&r);
	return 0;
}

/* ---- scans ---- */

struct scan {
	uint64_t loops;
	uint64_t classes[QZ_SPIN_CLASSES], confirm[QZ_SPIN_CLASSES];
	uint64_t addresses, by_caller;
};

/*
 * Every branch back within reach is taken for a loop and judged at its head. Decoding is linear
 * from the start of each procedure.
 */
static void scan_procedure(struct scan *scan, struct decoder *d, const struct file *f,
			   const struct procedure *p, bool list)
{
	const struct elf_file *file = module__file(f->module);
	uint64_t offset;
	uint8_t *bytes;
	size_t size = p->end - p->start, at = 0;
	struct instruction code;
	struct judged j;
	ssize_t n;

	if (!elf_file__offset(file, p->start, &offset))
		return;
	bytes = malloc(size + 1);
	n = pread(f->fd, bytes, size, (off_t)offset);
	for (; n > 0 && at < (size_t)n; at += code.length) {
		if (!decoder__decode(d, bytes + at, at, (size_t)n - at, p->start + at, &code))
			break;
		if (!(code.flags & (INSTRUCTION_BRANCH | INSTRUCTION_JUMP)) ||
		    code.target > code.address || code.target < p->start ||
		    code.address + code.length - code.target > FLOW_REACH)
			continue;
		judge(f, offset + (code.target - p->start), &j);
		scan->loops++;
		scan->classes[j.record.code.class]++;
		if (j.record.code.flags & QZ_SPIN_CONFIRM)
			scan->confirm[j.record.code.class]++;
		if (list && j.record.code.class)
			printf("  %s%s%s 0x%" PRIx64 " 0x%" PRIx64 "-0x%" PRIx64 " %s\n",
			       class_names[j.record.code.class],
			       j.record.code.flags & QZ_SPIN_CONFIRM ? " confirm" : "",
			       j.record.code.many ? " counter" : "", j.offset, j.record.code.start,
			       j.record.code.end, j.name);
	}
	free(bytes);
}

static int scan_file(const char *path, bool list)
{
	struct file *f = open_file(path);
	const struct elf_file *file = f->module ? module__file(f->module) : NULL;
	struct scan scan = {0};
	struct decoder *d = file ? decoder__new(file->machine) : NULL;

	if (!d) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return 1;
	}
	/* Procedures may overlap; each is scanned once. */
	for (size_t i = 0; i < file->ncode; i++)
		for (uint64_t at = file->code[i].start; at < file->code[i].end;) {
			const struct procedure *p = module__procedure(f->module, at);

			if (p && p->end > at && p->start == at && p->end - p->start < 1 << 20)
				scan_procedure(&scan, d, f, p, list);
			at = p && p->end > at ? p->end : at + 1;
		}
	decoder__free(d);
	printf("%s\t%" PRIu64, path, scan.loops);
	for (int i = 1; i < QZ_SPIN_CLASSES; i++)
		printf("\t%" PRIu64, scan.classes[i]);
	printf("\t%" PRIu64 "\n", scan.confirm[QZ_SPIN_PURE] + scan.confirm[QZ_SPIN_PAUSE]);
	return 0;
}

int main(int argc, char *argv[])
{
	char error[256];
	bool top = argc > 1 && !strcmp(argv[1], "--top"), list;
	int status = 0;

	if (spin_rules__add(&rules, "built-in", spin_symbols_builtin, spin_symbols_builtin_size,
			    error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	if (argc > 2 + top && !strcmp(argv[1 + top], "--"))
		return run(argv + 2 + top, top);
	list = argc > 2 && !strcmp(argv[1], "--list");
	if (argc > 2 && (list || !strcmp(argv[1], "--scan"))) {
		for (int i = 2; i < argc; i++)
			status |= scan_file(argv[i], list);
		return status;
	}
	for (int i = 2; i < argc; i++) {
		struct judged j;

		judge(open_file(argv[1]), strtoull(argv[i], NULL, 0), &j);
		printf("%s %s%s%s 0x%" PRIx64 "-0x%" PRIx64 " written 0x%x %s\n", argv[i],
		       class_names[j.record.code.class],
		       j.record.code.flags & QZ_SPIN_CONFIRM ? " confirm" : "",
		       j.record.code.flags & QZ_SPIN_BY_CALLER ? " by-caller" : "",
		       j.record.code.start, j.record.code.end, j.record.code.written, j.name);
	}
	return argc < 2 ? 2 : 0;
}
