/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be done about a program without changing it: one table, in core/remedies/remedies.c. A new remedy is a row there.
 * Pure computation; whoever runs programs finds out what this machine has, and applies them.
 */
#ifndef QUARTZ_CORE_REMEDIES_H
#define QUARTZ_CORE_REMEDIES_H

#include <stdio.h>

#include "core/advise/advise.h"
#include "quartz/knobs.h"

/* That are tried at most. */
#define QZ_REMEDIES_MOST 64

/* What is changed: of a command, or of a process by its knobs. */
enum qz_remedy_way {
	QZ_REMEDY_ENVIRONMENT, /* variables */
	QZ_REMEDY_PRELOAD,     /* LD_PRELOAD has an allocator that is installed */
	QZ_REMEDY_AFFINITY,    /* it may use so many processors; a remedy: one */
	QZ_REMEDY_POLICY,      /* SCHED_BATCH */
	QZ_REMEDY_NICE,	       /* its nice value; only root may lower it */
	QZ_REMEDY_COMMAND,     /* a line for sh, which is the command, or does it to a process */
	QZ_REMEDY_KNOB,	       /* a knob of libquartz */
	QZ_REMEDY_WAYS,
};

/* Only one remedy of a subject can be in force at a time. */
enum qz_remedy_subject {
	QZ_REMEDY_OPENBLAS,
	QZ_REMEDY_MKL,
	QZ_REMEDY_BLIS,
	QZ_REMEDY_OMP_LEVELS,
	QZ_REMEDY_OMP_THREADS,
	QZ_REMEDY_OMP_WAITING,
	QZ_REMEDY_RAYON,
	QZ_REMEDY_TOKIO,
	QZ_REMEDY_LIBUV,
	QZ_REMEDY_GO,
	QZ_REMEDY_MALLOC,
	QZ_REMEDY_PROCESSORS,
	QZ_REMEDY_SCHEDULER,
	QZ_REMEDY_PRIORITY,
	QZ_REMEDY_MUTEXES,
	QZ_REMEDY_OWN, /* a knob of the program: each is a subject of its own */
};

struct qz_remedy {
	const char *name; /* NULL: the change itself */
	enum qz_remedy_way way;
	/*
	 * Of variables "NAME=VALUE", with blanks between; {all}, {half} and {many} stand for the number of processors, for half of it
	 * and for four times as many. Of a preload names of the library, the newest first.
	 */
	const char *change;
	long value; /* number of processors, nice value; of a knob, how many times what it has, < 0: a part of that */
	enum qz_remedy_subject subject;
	unsigned int
		pools;	/* 1 << enum qz_pool_kind: one of these is in the program; 0: any program */
	bool of_malloc; /* of glibc, which must be its allocator */
	bool of_threads;     /* there must be two at least */
	bool of_finding;     /* not tried unless a finding asks for it */
	const char *rules;   /* whose gain is what this gains, with blanks between; NULL: none */
	const char *instead; /* of this change, which a finding may name; NULL: of none */
	const char *risk;    /* what it may cost, for a sentence */
	/* The knob of tune whose best value is looked for, for findings of these rules; of a process, one of this role. */
	const char *knob, *searched;
	enum qz_knob_role role;
};

/* What runs in the processes of a profile, by the code that is in it. */
struct qz_remedy_code {
	unsigned int pools; /* as of a remedy */
	bool glibc;
	bool other_malloc; /* an allocator in the place of glibc's */
};

void qz_remedy_code__find(struct qz_remedy_code *code, const struct qz_profile *p);

/* What only the caller knows. */
struct qz_remedy_place {
	struct qz_remedy_code code;
	uint32_t processors; /* that the command may use */
	const int *order;    /* so many, in the order in which they are taken; NULL: not known */
	const char *pids;    /* of processes that run, with blanks between; NULL: of a command */
	const struct qz_knobs *knobs; /* of the first one; valid; NULL: it has none */
	bool is_root;
	/* Where a library is, by the name of its file; that name, if the loader finds it so; NULL: it is not there. NULL: any is. */
	const char *(*library)(const char *name);
	const char *(*variable)(const char *name); /* of the environment; NULL: none is set */
};

/* A remedy, for this program. */
struct qz_remedy_use {
	const struct qz_remedy *remedy;
	char *name,
		*change; /* the change as it is typed before the command: "LD_PRELOAD=libjemalloc.so.2" */
	long value;	  /* of ways AFFINITY, NICE and KNOB */
	char *knob;	  /* of ways COMMAND and KNOB: its name; else NULL */
	char *undo;	  /* of way COMMAND: the line that gives back what there was; else NULL */
	uint32_t finding; /* index of advice->findings that it answers, QZ_NONE: none */
	const char *why_not; /* it cannot be tried here; NULL: it can */
};

struct qz_remedies {
	uint32_t n;
	struct qz_remedy_use *uses;
};

/*
 * What is worth a try, with what answers findings first, in their order, then the others. Remedies of runtimes that the profile
 * has no code of are left out. 0 or -ENOMEM; free in either case.
 */
int qz_remedies__find(struct qz_remedies *r, const struct qz_advice *a,
		      const struct qz_remedy_place *place);
void qz_remedies__free(struct qz_remedies *r);

/* Whether only one of both can be in force at a time. */
bool qz_remedy_use__excludes(const struct qz_remedy_use *a, const struct qz_remedy_use *b);

/* A value of a knob that somebody wants to be tried: of ways COMMAND, the line and the one that undoes it, AFFINITY, NICE and KNOB. */
struct qz_remedy_wish {
	enum qz_remedy_way way;
	const char *knob, *name; /* of the knob, and of its value */
	long value;
	const char *line, *undo;
};

/* Adds it at the end, if there is room: 0, -ENOMEM or -ENOSPC. */
int qz_remedies__add(struct qz_remedies *r, const struct qz_remedy_wish *wish,
		     const struct qz_remedy_place *place);

/*
 * The knob that is worth a search: for the first finding, *finding, that one is for, "cpus" or "nice", or the name of one that the
 * process has, NULL: a command has none. Borrowed; NULL: none is.
 */
const char *qz_remedies__knob(const struct qz_advice *a, const struct qz_knobs *knobs,
			      uint32_t *finding);

/* Whether a number of threads or the size of pieces of work may be what it is about, for which a command may have an argument. */
bool qz_remedies__has_knob(const struct qz_finding *f);

/* Whether something in the list answers a finding, whether it can be tried here or not. Else the source must change. */
bool qz_remedies__answer(const struct qz_remedies *r, uint32_t finding);

/* The word for a way: "environment". */
const char *qz_remedy__way_name(enum qz_remedy_way way);

/*
 * Writes the command with remedies that have different subjects, as it is typed: "OMP_NUM_THREADS=1 taskset -c 0 ./app", or the line of a
 * wish in its place. Words
 * of the command are quoted, not escaped: a terminal needs the line escaped.
 */
void qz_remedies__put_command(FILE *out, const struct qz_remedy_use *const *uses, uint32_t n,
			      char *const *command);

/* Likewise the commands that change running processes so. */
void qz_remedies__put_changes(FILE *out, const struct qz_remedy_use *const *uses, uint32_t n);

#endif
