/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * whose PROFILE...: of programs that know who they are (tests/programs/who.h), counts the samples that
 * stand under the process that they were taken of, and those that do not:
 *
 *	KIND right N wrong N version N unknown N
 *
 * version: the process is the right one, and what it executed is taken for the file that was there before
 * or after. unknown: of such a process, and outside of the procedures that tell. At the end a line "all", and one of
 * the ledgers' sums: "ledger expected N accepted N misplaced N unplaced N". What is wrong is told on stderr.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/format/pprof.h"

static const char *const kinds[] = {"fork", "exec", "clone", "ns", "rw", "alike", "all"};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define ALL   (KINDS - 1)
#define ALIKE (KINDS - 2)

struct figures {
	uint64_t right, wrong, version, unknown;
};

static struct figures figures[KINDS];
static uint64_t expected, accepted, misplaced, unplaced;

/* What the name of a procedure tells. */
struct identity {
	size_t kind;
	unsigned number; /* pid modulo 64, of the creator where processes are alike */
	int version;	 /* -1: of no version */
};

/* KIND_NN, or KIND and a version; NN is octal. */
static bool parse(const char *name, struct identity *id)
{
	for (id->kind = 0; id->kind < ALL; id->kind++) {
		size_t n = strlen(kinds[id->kind]);
		char *end;

		if (strncmp(name, kinds[id->kind], n))
			continue;
		id->version = name[n] == '0' || name[n] == '1' ? name[n++] - '0' : -1;
		if (name[n] != '_' || strlen(name + n) != 3)
			continue;
		id->number = (unsigned)strtoul(name + n + 1, &end, 8);
		if (!*end)
			return true;
	}
	return false;
}

/* The kind of a process, ALL: it is none of ours. */
static size_t kind_of(const struct qz_scope *scope)
{
	size_t kind = 0;

	if (scope->kind != QZ_SCOPE_PROCESS || !scope->pid || strncmp(scope->comm, "who_", 4))
		return ALL;
	while (kind < ALL && strncmp(scope->comm + 4, kinds[kind], strlen(kinds[kind])))
		kind++;
	return kind;
}

static unsigned number_of(const struct qz_scope *scope, size_t kind)
{
	const char *last = strrchr(scope->comm, '_');

	if (kind == ALIKE && last)
		return (unsigned)strtoul(last + 1, NULL, 8);
	return (unsigned)scope->pid % 64;
}

static const char *name_of(const struct qz_profile *p, uint32_t node)
{
	const struct qz_location *l = &p->locations[p->nodes[node].location];

	return p->procedures[l->lines[l->nlines - 1].procedure].name;
}

static void tell_stack(const struct qz_profile *p, uint32_t node)
{
	for (; node; node = p->nodes[node].parent)
		fprintf(stderr, " %s", name_of(p, node));
	fprintf(stderr, "\n");
}

static const char *told_by(const struct qz_profile *p, uint32_t node, struct identity *id)
{
	for (; node; node = p->nodes[node].parent) {
		if (parse(name_of(p, node), id))
			return name_of(p, node);
	}
	return NULL;
}

static uint64_t *judge(const struct qz_profile *p, const struct qz_sample *s, size_t kind,
		       struct figures *f)
{
	const struct qz_scope *scope = &p->scopes[s->scope];
	struct identity id;
	const char *name = told_by(p, s->node, &id);
	bool its;

	if (!name)
		return kind == ALL ? NULL : &f->unknown;
	its = id.kind == kind && id.number == number_of(scope, kind);
	if (its && (id.version < 0 || id.version == (scope->pid >> 6 & 1)))
		return &f->right;
	fprintf(stderr,
		"%llu samples of %s stand under process %d (%s):", (unsigned long long)s->count,
		name, scope->pid, scope->comm);
	tell_stack(p, s->node);
	return its ? &f->version : &f->wrong;
}

/* The machine has all samples a second time, and what was put together has no pid any more. */
static void count(const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		const struct qz_scope *scope = &p->scopes[s->scope];
		struct figures one = {0};
		uint64_t *verdict;
		size_t kind;

		if (!s->count || scope->kind == QZ_SCOPE_MACHINE ||
		    (scope->kind == QZ_SCOPE_PROCESS && !scope->pid))
			continue;
		kind = kind_of(scope);
		verdict = judge(p, s, kind, &one);
		if (!verdict)
			continue;
		*verdict = s->count;
		for (size_t k = kind;; k = ALL) {
			figures[k].right += one.right;
			figures[k].wrong += one.wrong;
			figures[k].version += one.version;
			figures[k].unknown += one.unknown;
			if (k == ALL)
				break;
		}
	}
}

static void add_ledger(const struct qz_ledger *l)
{
	expected += l->expected;
	accepted += l->accepted;
	for (uint32_t i = 0; i < l->nlosses; i++) {
		if (!strcmp(l->losses[i].cause, "misplaced"))
			misplaced += l->losses[i].count;
		if (!strcmp(l->losses[i].cause, "unplaced"))
			unplaced += l->losses[i].count;
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *why = "cannot be opened";
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		struct qz_profile *p = fd < 0 ? NULL : qz_pprof__read(fd, &why);

		if (!p) {
			fprintf(stderr, "%s: %s\n", argv[i], why);
			return 1;
		}
		count(p);
		add_ledger(&p->ledger);
		qz_profile__free(p);
		close(fd);
	}
	for (size_t k = 0; k < KINDS; k++)
		printf("%s right %llu wrong %llu version %llu unknown %llu\n", kinds[k],
		       (unsigned long long)figures[k].right, (unsigned long long)figures[k].wrong,
		       (unsigned long long)figures[k].version,
		       (unsigned long long)figures[k].unknown);
	printf("ledger expected %llu accepted %llu misplaced %llu unplaced %llu\n",
	       (unsigned long long)expected, (unsigned long long)accepted,
	       (unsigned long long)misplaced, (unsigned long long)unplaced);
	return 0;
}
