/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/remedies/remedies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/pools.h"
#include "core/model/spin_rules.h"
#include "core/remedies/arguments.h"
#include "core/util/base_name.h"

#define POOL(kind) (1u << QZ_POOL_##kind)
#define OPENMP	   (POOL(GNU_OPENMP) | POOL(OPENMP))
#define BATCH	   "chrt -b 0"
#define LIBRARY	   "libquartz-try.so"
#define PRELOAD	   "LD_PRELOAD="
#define NICE	   (-10)
#define CHUNKS	   "fine imbalance"
#define THREADS	   "contention spinning oversubscribed few-threads allocator serial pipeline overlap"

/*
 * In the order in which they are tried, unless a finding puts one first: those for the program's
 * own runtime, then those that helped most of the measured programs (doc/try.md).
 */
static const struct qz_remedy table[] = {
	{
		.change = "OPENBLAS_NUM_THREADS=1",
		.subject = QZ_REMEDY_OPENBLAS,
		.pools = POOL(OPENBLAS),
		.rules = "oversubscribed spinning",
		.risk = "a large matrix has one processor",
	},
	{
		.change = "MKL_NUM_THREADS=1",
		.subject = QZ_REMEDY_MKL,
		.pools = POOL(MKL),
		.rules = "oversubscribed spinning",
		.risk = "a large matrix has one processor",
	},
	{
		.change = "BLIS_NUM_THREADS=1",
		.subject = QZ_REMEDY_BLIS,
		.pools = POOL(BLIS),
		.rules = "oversubscribed spinning",
		.risk = "a large matrix has one processor",
	},
	{
		.change = "OMP_MAX_ACTIVE_LEVELS=1",
		.subject = QZ_REMEDY_OMP_LEVELS,
		.pools = OPENMP,
		.rules = "oversubscribed",
		.risk = "regions within regions have one thread",
	},
	{
		.change = "OMP_THREAD_LIMIT={all}",
		.subject = QZ_REMEDY_OMP_THREADS,
		.pools = OPENMP,
		.rules = "oversubscribed",
		/* a program that sets its levels itself ignores that one */
		.instead = "OMP_MAX_ACTIVE_LEVELS=1",
		.risk = "regions that ask for more threads get fewer",
	},
	{
		.change = "OMP_WAIT_POLICY=passive",
		.subject = QZ_REMEDY_OMP_WAITING,
		.pools = OPENMP,
		.rules = "spinning oversubscribed",
		.risk = "threads take longer to begin a region",
	},
	{
		.change = "OMP_NUM_THREADS=1",
		.subject = QZ_REMEDY_OMP_THREADS,
		.pools = OPENMP,
		.rules = "oversubscribed",
		.risk = "large loops have one processor",
	},
	{
		.change = "OMP_NUM_THREADS={half}",
		.subject = QZ_REMEDY_OMP_THREADS,
		.pools = OPENMP,
		.rules = "oversubscribed",
		.risk = "large loops have half of the processors",
	},
	{
		.change = "OMP_WAIT_POLICY=active",
		.subject = QZ_REMEDY_OMP_WAITING,
		.pools = OPENMP,
		.risk = "threads that wait keep their processors from others",
	},
	{
		.change = "RAYON_NUM_THREADS=1",
		.subject = QZ_REMEDY_RAYON,
		.pools = POOL(RAYON),
		.rules = "oversubscribed",
		.risk = "one processor is used",
	},
	{
		.change = "TOKIO_WORKER_THREADS=1",
		.subject = QZ_REMEDY_TOKIO,
		.pools = POOL(TOKIO),
		.rules = "oversubscribed",
		.risk = "one processor is used for tasks",
	},
	{
		.change = "UV_THREADPOOL_SIZE={many}",
		.subject = QZ_REMEDY_LIBUV,
		.pools = POOL(LIBUV),
		.rules = "few-threads",
		.risk = "more threads read files at a time",
	},
	{
		.change = "GOMAXPROCS=1",
		.subject = QZ_REMEDY_GO,
		.pools = POOL(GO),
		.rules = "oversubscribed",
		.risk = "one processor is used",
	},
	{
		.change = "GOMAXPROCS={half}",
		.subject = QZ_REMEDY_GO,
		.pools = POOL(GO),
		.rules = "oversubscribed",
		.risk = "half of the processors are used",
	},
	/* a program whose number of threads is an argument may have too many, or too few */
	{
		.way = QZ_REMEDY_ARGUMENT,
		.value = -1,
		.subject = QZ_REMEDY_OWN,
		.rules = "oversubscribed spinning",
		.risk = "fewer threads, or processes at a time",
	},
	/* who works in steps that are too small to be divided */
	{
		.way = QZ_REMEDY_ARGUMENT,
		.value = 0,
		.subject = QZ_REMEDY_OWN,
		.of_finding = true,
		.rules = "fine steps contention spinning oversubscribed",
		.risk = "one thread, or process at a time",
	},
	{
		.way = QZ_REMEDY_ARGUMENT,
		.value = 1,
		.subject = QZ_REMEDY_OWN,
		.of_finding = true,
		.rules = "processes serial few-threads overlap",
		.risk = "more threads, or processes at a time",
	},
	{
		.way = QZ_REMEDY_ARGUMENT,
		.value = 4,
		.subject = QZ_REMEDY_OWN,
		.of_finding = true,
		.rules = "few-threads",
		.risk = "more threads than processors",
	},
	{
		.name = "one processor",
		.way = QZ_REMEDY_AFFINITY,
		.value = 1,
		.subject = QZ_REMEDY_PROCESSORS,
		.of_threads = true,
		.risk = "it does not get faster on a larger machine",
		/* contention and the cost of small pieces are less on fewer processors */
		.knob = "cpus",
		.searched = "contention spinning fine oversubscribed allocator",
	},
	{
		.name = "jemalloc",
		.way = QZ_REMEDY_PRELOAD,
		.change = "libjemalloc.so.2",
		.subject = QZ_REMEDY_MALLOC,
		.of_malloc = true,
		.rules = "allocator",
		.risk = "memory; what relies on glibc's malloc",
	},
	{
		.name = "malloc keeps memory",
		/* 32 MiB is the largest threshold that older versions of glibc take */
		.change = "MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_TOP_PAD_=16777216 "
			  "MALLOC_MMAP_THRESHOLD_=33554432",
		.subject = QZ_REMEDY_MALLOC,
		.of_malloc = true,
		.risk = "memory: what was freed stays with the process",
	},
	{
		.name = "tcmalloc",
		.way = QZ_REMEDY_PRELOAD,
		.change = "libtcmalloc_minimal.so.4 libtcmalloc.so.4",
		.subject = QZ_REMEDY_MALLOC,
		.of_malloc = true,
		.rules = "allocator",
		.risk = "memory; what relies on glibc's malloc",
	},
	{
		.way = QZ_REMEDY_POLICY,
		.name = "SCHED_BATCH",
		.subject = QZ_REMEDY_SCHEDULER,
		.of_threads = true,
		.risk = "it waits longer beside other programs",
	},
	{
		.name = "mimalloc",
		.way = QZ_REMEDY_PRELOAD,
		.change = "libmimalloc.so.3 libmimalloc.so.2 libmimalloc.so.2.0",
		.subject = QZ_REMEDY_MALLOC,
		.of_malloc = true,
		.rules = "allocator",
		.risk = "memory; what relies on glibc's malloc",
	},
	{
		.change = "MALLOC_ARENA_MAX={many}",
		.subject = QZ_REMEDY_MALLOC,
		.of_malloc = true,
		.of_threads = true,
		.rules = "allocator",
		.risk = "memory",
	},
	{
		.name = "adaptive mutexes",
		.way = QZ_REMEDY_PRELOAD,
		.change = LIBRARY,
		.subject = QZ_REMEDY_MUTEXES,
		.of_malloc = true, /* only glibc has them */
		.of_threads = true,
		.risk = "threads that wait for a mutex spin for a moment",
	},
	{
		.name = "higher priority",
		.way = QZ_REMEDY_NICE,
		.value = NICE,
		.subject = QZ_REMEDY_PRIORITY,
		.of_finding = true,
		.rules = "taken",
		.risk = "other programs get less; only root may",
		.knob = "nice",
		.searched = "taken",
	},
	/* the size of pieces that are too small or too large, else the number of threads */
	{
		.way = QZ_REMEDY_KNOB,
		.value = 2,
		.subject = QZ_REMEDY_OWN,
		.rules = CHUNKS,
		.risk = "what the program does with it",
		.searched = CHUNKS,
		.role = QZ_KNOB_CHUNK,
	},
	{
		.way = QZ_REMEDY_KNOB,
		.value = -2,
		.subject = QZ_REMEDY_OWN,
		.rules = CHUNKS,
		.risk = "what the program does with it",
		.role = QZ_KNOB_CHUNK,
	},
	{
		.way = QZ_REMEDY_KNOB,
		.value = -2,
		.subject = QZ_REMEDY_OWN,
		.rules = THREADS,
		.risk = "what the program does with it",
		.searched = THREADS,
		.role = QZ_KNOB_THREADS,
	},
	{
		.way = QZ_REMEDY_KNOB,
		.value = 2,
		.subject = QZ_REMEDY_OWN,
		.rules = THREADS,
		.risk = "what the program does with it",
		.role = QZ_KNOB_THREADS,
	},
};
#define NROWS (sizeof(table) / sizeof(table[0]))
_Static_assert(NROWS <= QZ_REMEDIES_MOST, "more rows than callers have room for");

const char *qz_remedy__way_name(enum qz_remedy_way way)
{
	static const char *const names[QZ_REMEDY_WAYS] = {
		[QZ_REMEDY_ENVIRONMENT] = "environment",
		[QZ_REMEDY_PRELOAD] = "preload",
		[QZ_REMEDY_AFFINITY] = "affinity",
		[QZ_REMEDY_POLICY] = "policy",
		[QZ_REMEDY_NICE] = "nice",
		[QZ_REMEDY_ARGUMENT] = "argument",
		[QZ_REMEDY_COMMAND] = "command",
		[QZ_REMEDY_KNOB] = "knob",
	};

	return names[way];
}

/* ---- what the program has ---- */

static bool is_module(const struct qz_procedure *procedure, const char *pattern)
{
	return procedure->kind == QZ_PROCEDURE &&
	       spin_rules__matches(pattern, qz_base_name(procedure->module));
}

void qz_remedy_code__find(struct qz_remedy_code *in, const struct qz_profile *p)
{
	*in = (struct qz_remedy_code) {0};
	for (uint32_t i = 0; i < p->nprocedures; i++) {
		const struct qz_procedure *procedure = &p->procedures[i];

		in->pools |= 1u << qz_pool__of_procedure(procedure);
		in->glibc |= is_module(procedure, "libc.so*") || is_module(procedure, "libc-2*");
		in->other_malloc |= is_module(procedure, "libjemalloc*") ||
				    is_module(procedure, "libtcmalloc*") ||
				    is_module(procedure, "libmimalloc*");
	}
}

/* The knob of the process with this role; NULL: none. */
static const struct qz_knob *knob_of(const struct qz_remedy *remedy, const struct qz_knobs *knobs)
{
	for (uint32_t i = 0; knobs && i < knobs->used; i++)
		if (knobs->knobs[i].role == remedy->role && !knobs->knobs[i].choices)
			return &knobs->knobs[i];
	return NULL;
}

/*
 * The value of the knob times the factor, or divided by it, within its limits. The numbers come
 * from the process, so they may have any value.
 */
static int64_t value_of(const struct qz_remedy *remedy, const struct qz_knob *k)
{
	int64_t wanted = k->value / (remedy->value < 0 ? -remedy->value : 1);
	uint64_t steps;

	if (remedy->value > 0 &&
	    (__builtin_mul_overflow(k->value, remedy->value, &wanted) || wanted > k->most))
		wanted = k->most;
	if (wanted < k->least)
		wanted = k->least;
	steps = ((uint64_t)wanted - (uint64_t)k->least) / (uint64_t)k->step;
	return (int64_t)((uint64_t)k->least + steps * (uint64_t)k->step);
}

static long number_of(const struct qz_remedy *remedy, const struct qz_remedy_place *place)
{
	return remedy->value ? labs(remedy->value) * (long)place->processors : 1;
}

/* An option for one process or thread would change nothing. */
static bool is_for_argument(const struct qz_remedy *remedy, const struct qz_remedy_place *place)
{
	long number = number_of(remedy, place);
	struct qz_argument a;

	if (!place->command || !qz_argument__find(&a, place->command))
		return false;
	/* as many as there are processors is one then */
	if (!remedy->value && place->processors == 1)
		return false;
	return remedy->value <= 0 ? a.value > number : a.value < number && (a.value || number > 1);
}

static bool is_for(const struct qz_remedy *remedy, const struct qz_report *r,
		   const struct qz_remedy_place *place)
{
	const struct qz_remedy_code *in = &place->code;

	const struct qz_knob *knob;

	if (remedy->way == QZ_REMEDY_ARGUMENT)
		return is_for_argument(remedy, place);
	if (remedy->way == QZ_REMEDY_KNOB) {
		knob = knob_of(remedy, place->knobs);
		return knob && value_of(remedy, knob) != knob->value;
	}
	if (remedy->pools && !(remedy->pools & in->pools))
		return false;
	if (remedy->of_malloc && (!in->glibc || in->other_malloc))
		return false;
	if (remedy->of_threads && r->nthreads < 2)
		return false;
	if (remedy->change && strstr(remedy->change, "{all}") && r->nthreads <= place->processors)
		return false;
	/* half of three is one, which another remedy tries */
	if (remedy->change && strstr(remedy->change, "{half}") && place->processors < 4)
		return false;
	return remedy->way != QZ_REMEDY_AFFINITY || place->processors > 1;
}

/* ---- which finding ---- */

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; at && (at = strstr(at, word)); at += n)
		if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

/* A remedy is also for a finding that names its change. */
static bool answers(const struct qz_remedy *remedy, const struct qz_finding *f)
{
	if (has_word(remedy->rules, f->rule))
		return true;
	if (remedy->way != QZ_REMEDY_ENVIRONMENT || !f->remedy)
		return false;
	return strstr(f->remedy, remedy->change) ||
	       (remedy->instead && strstr(f->remedy, remedy->instead));
}

static uint32_t finding_of(const struct qz_remedy *remedy, const struct qz_advice *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (answers(remedy, &a->findings[i]))
			return i;
	return QZ_NONE;
}

/* ---- which knob ---- */

/*
 * The rule that a knob is searched for. Threads that run one at a time contend, whichever rule
 * found it.
 */
static const char *rule_of(const struct qz_finding *f)
{
	return f->word && !strcmp(f->word, "CONTENDED") ? "contention" : f->rule;
}

const char *qz_remedies__knob(const struct qz_advice *a, const struct qz_knobs *knobs,
			      uint32_t *finding)
{
	for (*finding = 0; *finding < a->n; ++*finding)
		for (size_t i = 0; i < NROWS; i++) {
			const struct qz_remedy *remedy = &table[i];
			const struct qz_knob *own =
				remedy->way == QZ_REMEDY_KNOB ? knob_of(remedy, knobs) : NULL;

			if ((knobs ? !own : !remedy->knob) ||
			    !has_word(remedy->searched, rule_of(&a->findings[*finding])))
				continue;
			return own ? own->name : remedy->knob;
		}
	return NULL;
}

/* ---- the change for this program ---- */

/* Length of the placeholder at `text`, and its number; 0: there is none here. */
static size_t number_at(const char *text, uint32_t processors, uint32_t *number)
{
	const struct {
		const char *word;
		uint32_t number;
	} words[] = {{"{all}", processors}, {"{half}", processors / 2}, {"{many}", processors * 4}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(text, words[i].word, strlen(words[i].word))) {
			*number = words[i].number;
			return strlen(words[i].word);
		}
	return 0;
}

static void put_change(FILE *out, const char *change, const struct qz_remedy_place *place)
{
	uint32_t number;

	while (*change) {
		size_t n = number_at(change, place->processors, &number);

		if (n)
			fprintf(out, "%u", number);
		else
			fputc(*change, out);
		change += n ? n : 1;
	}
}

/*
 * Writes the first name of a library that is installed; if none is, the first one. Names are
 * separated by blanks.
 */
static void put_library(FILE *out, struct qz_remedy_use *use, const struct qz_remedy_place *place)
{
	const char *first = use->remedy->change, *found = NULL;
	char name[64];

	for (const char *at = first; *at && !found; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		found = place->library ? place->library(name) : name;
		at += n;
	}
	if (found)
		fprintf(out, PRELOAD "%s", found);
	else
		fprintf(out, PRELOAD "%.*s", (int)strcspn(first, " "), first);
	use->why_not = found ? NULL : "not installed";
}

static void put_processors(FILE *out, const struct qz_remedy_place *place, long n)
{
	for (long i = 0; i < n; i++)
		fprintf(out, "%s%d", i ? "," : "", place->order ? place->order[i] : (int)i);
}

/* For one process; `pid` may be "$p". */
static void write_change_of_process(FILE *out, const struct qz_remedy_use *use,
				    const struct qz_remedy_place *place, const char *pid)
{
	if (use->remedy->way == QZ_REMEDY_AFFINITY) {
		fputs("taskset -a -c -p ", out);
		put_processors(out, place, use->value);
		fprintf(out, " %s", pid);
	} else if (use->remedy->way == QZ_REMEDY_NICE) {
		fprintf(out, "renice -n %ld $(ls /proc/%s/task)", use->value, pid);
	} else {
		fprintf(out, "chrt -a -b -p 0 %s", pid);
	}
}

static void write_change_of_processes(FILE *out, const struct qz_remedy_use *use,
				      const struct qz_remedy_place *place)
{
	bool several = strchr(place->pids, ' ');

	if (use->remedy->way == QZ_REMEDY_KNOB) {
		fprintf(out, "quartzctl set %.*s %s=%ld", (int)strcspn(place->pids, " "),
			place->pids, use->knob, use->value);
		return;
	}
	if (several)
		fprintf(out, "for p in %s; do ", place->pids);
	write_change_of_process(out, use, place, several ? "$p" : place->pids);
	fputs(several ? "; done" : "", out);
}

static void write_change(FILE *out, struct qz_remedy_use *use, const struct qz_remedy_place *place)
{
	switch (use->remedy->way) {
	case QZ_REMEDY_PRELOAD:
		put_library(out, use, place);
		return;
	case QZ_REMEDY_ENVIRONMENT:
		put_change(out, use->remedy->change, place);
		return;
	default:
		break;
	}
	if (place->pids)
		write_change_of_processes(out, use, place);
	else if (use->remedy->way == QZ_REMEDY_NICE)
		fprintf(out, "nice -n %ld", use->value);
	else
		fputs(use->remedy->way == QZ_REMEDY_AFFINITY ? "taskset -c " : BATCH, out);
	if (!place->pids && use->remedy->way == QZ_REMEDY_AFFINITY)
		put_processors(out, place, use->value);
}

static char *change_of(struct qz_remedy_use *use, const struct qz_remedy_place *place)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	write_change(out, use, place);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/*
 * Whether the first variable of a change is set already, which the user surely did with a reason.
 */
static bool is_set(const struct qz_remedy_use *use, const struct qz_remedy_place *place)
{
	char name[64];
	const char *value;

	if (use->remedy->way > QZ_REMEDY_PRELOAD || !place->variable)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(use->change, "="), use->change);
	value = place->variable(name);
	return value && *value;
}

/* A value of a knob is named NAME=VALUE; a remedy has its name, or else its change. */
static char *name_of(const struct qz_remedy_use *use, const char *value)
{
	char *name = NULL;

	if (use->knob && asprintf(&name, "%s=%s", use->knob, value) < 0)
		return NULL;
	return use->knob ? name : strdup(use->remedy->name ? use->remedy->name : use->change);
}

static const char *why_not(const struct qz_remedy_use *use, const struct qz_remedy_place *place)
{
	enum qz_remedy_way way = use->remedy->way;

	if (place->pids && way <= QZ_REMEDY_PRELOAD)
		return "only when it starts";
	if (way == QZ_REMEDY_NICE && !place->is_root && (place->pids || use->value < 0))
		return "only root may";
	return is_set(use, place) ? "its variable is set already" : use->why_not;
}

/* The text that `put` writes, to be freed; NULL: memory was short. */
static char *text_of(void (*put)(FILE *out, const struct qz_argument *a, char *const *command,
				 long number),
		     const struct qz_argument *a, char *const *command, long number)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put(out, a, command, number);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int add_argument(struct qz_remedy_use *use, const struct qz_remedy *remedy, uint32_t finding,
			const struct qz_remedy_place *place)
{
	struct qz_argument a;
	long number = number_of(remedy, place);

	qz_argument__find(&a, place->command);
	*use = (struct qz_remedy_use) {
		.remedy = remedy,
		.value = number,
		.knob = strdup(a.option),
		.name = text_of(qz_argument__put, &a, place->command, number),
		.change = text_of(qz_argument__put_command, &a, place->command, number),
		.finding = finding};
	return use->knob && use->name && use->change ? 0 : -ENOMEM;
}

static int add(struct qz_remedies *r, const struct qz_remedy *remedy, uint32_t finding,
	       const struct qz_remedy_place *place)
{
	const struct qz_knob *knob = remedy->way == QZ_REMEDY_KNOB ? knob_of(remedy, place->knobs)
								   : NULL;
	struct qz_remedy_use *use = &r->uses[r->n++];
	char value[24];

	if (remedy->way == QZ_REMEDY_ARGUMENT)
		return add_argument(use, remedy, finding, place);
	*use = (struct qz_remedy_use) {.remedy = remedy,
				       .value = knob ? (long)value_of(remedy, knob) : remedy->value,
				       .knob = knob ? strdup(knob->name) : NULL,
				       .finding = finding};
	if (knob && !use->knob)
		return -ENOMEM;
	snprintf(value, sizeof(value), "%ld", use->value);
	use->change = change_of(use, place);
	use->name = use->change ? name_of(use, value) : NULL;
	use->why_not = why_not(use, place);
	return use->name ? 0 : -ENOMEM;
}

int qz_remedies__add(struct qz_remedies *r, const struct qz_remedy_wish *wish,
		     const struct qz_remedy_place *place)
{
	static const struct qz_remedy wished[QZ_REMEDY_WAYS] = {
		[QZ_REMEDY_AFFINITY] = {.way = QZ_REMEDY_AFFINITY,
					.subject = QZ_REMEDY_PROCESSORS,
					.risk = "fewer processors"},
		[QZ_REMEDY_NICE] = {.way = QZ_REMEDY_NICE,
				    .subject = QZ_REMEDY_PRIORITY,
				    .risk = "others, or it, get less"},
		[QZ_REMEDY_COMMAND] = {.way = QZ_REMEDY_COMMAND,
				       .subject = QZ_REMEDY_OWN,
				       .risk = "what the command does"},
		[QZ_REMEDY_KNOB] = {.way = QZ_REMEDY_KNOB,
				    .subject = QZ_REMEDY_OWN,
				    .risk = "what the program does with it"},
	};
	struct qz_remedy_use *use;

	if (r->n == QZ_REMEDIES_MOST)
		return -ENOSPC;
	use = &r->uses[r->n++];
	*use = (struct qz_remedy_use) {.remedy = &wished[wish->way],
				       .value = wish->value,
				       .knob = strdup(wish->knob),
				       .undo = wish->undo ? strdup(wish->undo) : NULL,
				       .finding = QZ_NONE};
	if (!use->knob || (wish->undo && !use->undo))
		return -ENOMEM;
	use->change = wish->line ? strdup(wish->line) : change_of(use, place);
	use->name = name_of(use, wish->name);
	use->why_not = why_not(use, place);
	return use->change && use->name ? 0 : -ENOMEM;
}

/* Whether its change replaces the whole command. */
static bool is_line(const struct qz_remedy_use *use)
{
	return use->remedy->way == QZ_REMEDY_ARGUMENT ||
	       (use->remedy->way == QZ_REMEDY_COMMAND && !use->undo);
}

bool qz_remedy_use__excludes(const struct qz_remedy_use *a, const struct qz_remedy_use *b)
{
	if (is_line(a) && is_line(b))
		return true;
	if (!strncmp(a->change, PRELOAD, strlen(PRELOAD)) &&
	    !strncmp(b->change, PRELOAD, strlen(PRELOAD)))
		return true;
	return a->remedy->subject == b->remedy->subject &&
	       (a->remedy->subject != QZ_REMEDY_OWN || !strcmp(a->knob, b->knob));
}

int qz_remedies__find(struct qz_remedies *r, const struct qz_advice *a,
		      const struct qz_remedy_place *place)
{
	int err = 0;

	*r = (struct qz_remedies) {0, calloc(QZ_REMEDIES_MOST, sizeof(*r->uses))};
	if (!r->uses)
		return -ENOMEM;
	for (uint32_t finding = 0; finding <= a->n; finding++)
		for (size_t i = 0; !err && i < NROWS; i++) {
			uint32_t of = finding_of(&table[i], a);

			if (of != (finding < a->n ? finding : QZ_NONE) ||
			    !is_for(&table[i], a->report, place))
				continue;
			if (of == QZ_NONE && table[i].of_finding)
				continue;
			err = add(r, &table[i], of, place);
		}
	return err;
}

void qz_remedies__free(struct qz_remedies *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		free(r->uses[i].name);
		free(r->uses[i].change);
		free(r->uses[i].knob);
		free(r->uses[i].undo);
	}
	free(r->uses);
	*r = (struct qz_remedies) {0};
}

bool qz_remedies__has_knob(const struct qz_finding *f)
{
	for (size_t i = 0; i < NROWS; i++)
		if (table[i].way == QZ_REMEDY_KNOB && has_word(table[i].searched, rule_of(f)))
			return true;
	return false;
}

bool qz_remedies__answer(const struct qz_remedies *r, uint32_t finding)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->uses[i].finding == finding)
			return true;
	return false;
}

/* ---- the command ---- */

/* Variables are typed before commands such as taskset. */
static bool is_variable(const struct qz_remedy_use *use)
{
	return use->remedy->way <= QZ_REMEDY_PRELOAD;
}

static void put_changes(FILE *out, const struct qz_remedy_use *const *uses, uint32_t n,
			bool variables)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_variable(uses[i]) == variables && !is_line(uses[i]))
			fprintf(out, "%s ", uses[i]->change);
}

void qz_remedies__put_command(FILE *out, const struct qz_remedy_use *const *uses, uint32_t n,
			      char *const *command)
{
	const struct qz_remedy_use *line = NULL;

	put_changes(out, uses, n, true);
	put_changes(out, uses, n, false);
	for (uint32_t i = 0; i < n; i++)
		line = is_line(uses[i]) ? uses[i] : line;
	/* a line of the user may be several commands */
	if (line && n > 1 && line->remedy->way == QZ_REMEDY_COMMAND) {
		fputs("sh -c ", out);
		qz_finding__put_word(out, line->change);
	} else if (line) {
		fputs(line->change, out);
	}
	for (uint32_t i = 0; !line && command[i]; i++) {
		fputs(i ? " " : "", out);
		qz_finding__put_word(out, command[i]);
	}
}

void qz_remedies__put_changes(FILE *out, const struct qz_remedy_use *const *uses, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? "; " : "", uses[i]->change);
}
