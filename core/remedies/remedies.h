/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remedies that do not change the program: a table in core/remedies/remedies.c, with a row for
 * each. Pure computation: the caller finds out what the machine has, and applies the remedies.
 */
#ifndef QUARTZ_CORE_REMEDIES_H
#define QUARTZ_CORE_REMEDIES_H

#include <stdio.h>

#include "core/advise/advise.h"
#include "quartz/knobs.h"

/* Most remedies that are tried. */
#define QZ_REMEDIES_MOST 64

/* What a remedy changes, in a command or in a running process. */
enum qz_remedy_way {
	QZ_REMEDY_ENVIRONMENT, /* environment variables */
	QZ_REMEDY_PRELOAD,     /* LD_PRELOAD, of an installed allocator */
	QZ_REMEDY_AFFINITY,    /* the number of processors that it may use */
	QZ_REMEDY_POLICY,      /* SCHED_BATCH */
	QZ_REMEDY_NICE,	       /* the nice value; only root may lower it */
	QZ_REMEDY_ARGUMENT,    /* the command's argument for threads or processes */
	QZ_REMEDY_COMMAND,     /* a line for sh: a whole command, or one that changes a process */
	QZ_REMEDY_KNOB,	       /* a knob of libquartz */
	QZ_REMEDY_WAYS,
};

/* At most one remedy of a subject can be in force at a time. */
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
	QZ_REMEDY_OWN, /* a knob of the program; each is a subject of its own */
};

struct qz_remedy {
	const char *name; /* NULL: the change is its name */
	enum qz_remedy_way way;
	/*
	 * Environment: "NAME=VALUE", separated by blanks; {all}, {half} and {many} stand for the
	 * number of processors, half of it and four times it. Preload: names of the library, the
	 * newest first.
	 */
	const char *change;
	/*
	 * Affinity: number of processors. Nice: the value. Knob: a factor for its value, < 0: a
	 * divisor. Argument: the factor of the number of processors that it is raised to, < 0:
	 * lowered to; 0: it is lowered to one.
	 */
	long value;
	enum qz_remedy_subject subject;
	unsigned int
		pools; /* 1 << enum qz_pool_kind: only for programs with one of these; 0: for all */
	bool of_malloc;	   /* needs glibc's allocator */
	bool of_threads;   /* needs at least two threads */
	bool of_finding;   /* tried only for a finding */
	const char *rules; /* the rules whose findings it is for, separated by blanks; NULL: none */
	const char *instead; /* a change named by a finding that this remedy replaces; NULL: none */
	const char *risk;    /* what it may cost */
	/*
	 * `searched`: rules whose findings make tune search the best value of `knob`, or, in a
	 * process, of a knob with this role.
	 */
	const char *knob, *searched;
	enum qz_knob_role role;
};

/* Libraries in the processes of a profile, recognized by their code. */
struct qz_remedy_code {
	unsigned int pools; /* bits as in struct qz_remedy */
	bool glibc;
	bool other_malloc; /* an allocator in place of glibc's */
};

void qz_remedy_code__find(struct qz_remedy_code *code, const struct qz_profile *p);

/* Facts that only the caller knows. */
struct qz_remedy_place {
	struct qz_remedy_code code;
	uint32_t processors; /* number of processors that the command may use */
	const int *order; /* their numbers, in the order in which they are taken; NULL: unknown */
	char *const *command; /* NULL-terminated; NULL: unknown, or running processes */
	const char *pids;     /* of running processes, separated by blanks; NULL: a command */
	const struct qz_knobs *knobs; /* of the first process, checked; NULL: it has none */
	bool is_root;
	/*
	 * Returns the path of a library by its file name, the name itself if the loader finds it,
	 * or NULL if it is not installed. If the function is NULL, all libraries are installed.
	 */
	const char *(*library)(const char *name);
	const char *(*variable)(
		const char *
			name); /* returns an environment variable; if the function is NULL, none is set */
};

/* A remedy, applied to this program. */
struct qz_remedy_use {
	const struct qz_remedy *remedy;
	char *name, *change; /* as it is typed: "LD_PRELOAD=libjemalloc.so.2" */
	long value;	     /* for AFFINITY, NICE, KNOB and ARGUMENT */
	char *knob;	     /* COMMAND, KNOB: name of the knob; ARGUMENT: the option; else NULL */
	char *undo;	     /* COMMAND: the line that restores a process; else NULL */
	uint32_t finding;    /* the index in advice->findings that it is for; QZ_NONE: none */
	const char *why_not; /* why it cannot be tried here; NULL: it can */
};

struct qz_remedies {
	uint32_t n;
	struct qz_remedy_use *uses;
};

/*
 * Finds the remedies that are worth a try: first those for findings, in the order of the findings,
 * then the others. Remedies for runtimes that have no code in the profile are left out. 0 or
 * -ENOMEM; free in either case.
 */
int qz_remedies__find(struct qz_remedies *r, const struct qz_advice *a,
		      const struct qz_remedy_place *place);
void qz_remedies__free(struct qz_remedies *r);

/* Whether at most one of the two can be in force at a time. */
bool qz_remedy_use__excludes(const struct qz_remedy_use *a, const struct qz_remedy_use *b);

/*
 * A value of a knob that the user wants to be tried. Ways: COMMAND, with the line that sets it and
 * the one that undoes that; AFFINITY; NICE; KNOB.
 */
struct qz_remedy_wish {
	enum qz_remedy_way way;
	const char *knob, *name; /* names of the knob and of the value */
	long value;
	const char *line, *undo;
};

/* Appends it. 0, -ENOMEM, or -ENOSPC: there is no room. */
int qz_remedies__add(struct qz_remedies *r, const struct qz_remedy_wish *wish,
		     const struct qz_remedy_place *place);

/*
 * The knob that is worth a search: "cpus", "nice", or the name of a knob of the process. *finding
 * is the first finding with such a knob. knobs: of the process, NULL for a command. The result is
 * borrowed; NULL: no knob is worth a search.
 */
const char *qz_remedies__knob(const struct qz_advice *a, const struct qz_knobs *knobs,
			      uint32_t *finding);

/*
 * Whether the finding may depend on a number of threads or a size of pieces, for which a command
 * may have an argument.
 */
bool qz_remedies__has_knob(const struct qz_finding *f);

/*
 * Whether the list has a remedy for the finding, even one that cannot be tried here. If not, the
 * source must change.
 */
bool qz_remedies__answer(const struct qz_remedies *r, uint32_t finding);

/* The name of a way: "environment". */
const char *qz_remedy__way_name(enum qz_remedy_way way);

/*
 * Writes the command with these remedies as a user types it: "OMP_NUM_THREADS=1 taskset -c 0
 * ./app", or the line of a wish in its place. The remedies must have different subjects. Words of
 * the command are quoted but not escaped: the caller escapes the line for a terminal.
 */
void qz_remedies__put_command(FILE *out, const struct qz_remedy_use *const *uses, uint32_t n,
			      char *const *command);

/* Writes, in the same form, the commands that apply these remedies to running processes. */
void qz_remedies__put_changes(FILE *out, const struct qz_remedy_use *const *uses, uint32_t n);

#endif
