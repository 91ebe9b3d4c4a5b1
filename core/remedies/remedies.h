/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remedies that do not change the program: one table, in core/remedies/remedies.c. A new remedy is a row there. Pure
 * computation; the caller finds out what the machine has, and applies the remedies.
 */
#ifndef QUARTZ_CORE_REMEDIES_H
#define QUARTZ_CORE_REMEDIES_H

#include <stdio.h>

#include "core/advise/advise.h"
#include "quartz/knobs.h"

/* Remedies that are tried, at most. */
#define QZ_REMEDIES_MOST 64

/* What is changed: of a command, or of a process by its knobs. */
enum qz_remedy_way {
	QZ_REMEDY_ENVIRONMENT, /* variables */
	QZ_REMEDY_PRELOAD,     /* LD_PRELOAD has an allocator that is installed */
	QZ_REMEDY_AFFINITY,    /* it may use so many processors; a remedy: one */
	QZ_REMEDY_POLICY,      /* SCHED_BATCH */
	QZ_REMEDY_NICE,	       /* its nice value; only root may lower it */
	QZ_REMEDY_ARGUMENT,    /* the number of threads or processes that the command is told */
	QZ_REMEDY_COMMAND,     /* a line for sh, which is the command, or changes a process */
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
	/*
	 * Number of processors, nice value; for a knob, a factor of its value, < 0: a divisor; for an argument, how many times the
	 * processors, where it has fewer, < 0: where it has more; 0: one.
	 */
	long value;
	enum qz_remedy_subject subject;
	unsigned int
		pools;	/* 1 << enum qz_pool_kind: one of these is in the program; 0: any program */
	bool of_malloc; /* needs glibc's allocator */
	bool of_threads;   /* needs two threads at least */
	bool of_finding;   /* not tried unless a finding asks for it */
	const char *rules; /* rules whose findings it answers, with blanks between; NULL: none */
	const char *
		instead; /* a change that a finding may name and that this remedy replaces; NULL: none */
	const char *risk; /* what it may cost, for a sentence */
	/*
	 * For findings of the rules `searched`, tune searches the best value of this knob; for a process, of a knob with
	 * this role.
	 */
	const char *knob, *searched;
	enum qz_knob_role role;
};

/* Libraries in the processes of a profile, recognized by their code. */
struct qz_remedy_code {
	unsigned int pools; /* as of a remedy */
	bool glibc;
	bool other_malloc; /* an allocator in place of glibc's */
};

void qz_remedy_code__find(struct qz_remedy_code *code, const struct qz_profile *p);

/* Facts that only the caller knows. */
struct qz_remedy_place {
	struct qz_remedy_code code;
	uint32_t processors;  /* that the command may use */
	const int *order;     /* so many, in the order in which they are taken; NULL: not known */
	char *const *command; /* NULL-terminated; NULL: not known, or it is about processes */
	const char *pids;     /* of processes that run, with blanks between; NULL: of a command */
	const struct qz_knobs *knobs; /* of the first one; valid; NULL: it has none */
	bool is_root;
	/*
	 * Returns the path of a library by its file name, or that name if the loader finds it, or NULL: it is not
	 * installed. If the function is NULL, all libraries are installed.
	 */
	const char *(*library)(const char *name);
	const char *(*variable)(
		const char *
			name); /* value of an environment variable; if the function is NULL, none is set */
};

/* A remedy, for this program. */
struct qz_remedy_use {
	const struct qz_remedy *remedy;
	char *name,
		*change; /* the change as it is typed before the command: "LD_PRELOAD=libjemalloc.so.2" */
	long value; /* of ways AFFINITY, NICE, KNOB and ARGUMENT */
	char *knob; /* of ways COMMAND and KNOB: its name, ARGUMENT: the option; else NULL */
	char *undo; /* of way COMMAND: the line that gives back what a process had; else NULL */
	uint32_t finding;    /* index of advice->findings that it answers, QZ_NONE: none */
	const char *why_not; /* it cannot be tried here; NULL: it can */
};

struct qz_remedies {
	uint32_t n;
	struct qz_remedy_use *uses;
};

/*
 * The remedies worth a try: first those that answer findings, in the order of these, then the others. Remedies for runtimes
 * without code in the profile are left out. 0 or -ENOMEM; free in either case.
 */
int qz_remedies__find(struct qz_remedies *r, const struct qz_advice *a,
		      const struct qz_remedy_place *place);
void qz_remedies__free(struct qz_remedies *r);

/* Whether its change is the whole command, which is run in its place. */
bool qz_remedy_use__is_line(const struct qz_remedy_use *use);

/* Whether only one of the two can be in force at a time. */
bool qz_remedy_use__excludes(const struct qz_remedy_use *a, const struct qz_remedy_use *b);

/*
 * A value of a knob that the user wants to be tried. Ways: COMMAND, with the line and the one that undoes it; AFFINITY;
 * NICE; KNOB.
 */
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
 * The knob that is worth a search: "cpus", "nice", or the name of a knob of the process; *finding is the first finding that
 * has such a knob. knobs: of the process, NULL for a command. Borrowed; NULL: none is worth it.
 */
const char *qz_remedies__knob(const struct qz_advice *a, const struct qz_knobs *knobs,
			      uint32_t *finding);

/* Whether the finding may depend on a number of threads or a size of pieces of work, for which a command may have an argument. */
bool qz_remedies__has_knob(const struct qz_finding *f);

/* Whether the list has a remedy for the finding, be it one that cannot be tried here. If not, the source must change. */
bool qz_remedies__answer(const struct qz_remedies *r, uint32_t finding);

/* The word for a way: "environment". */
const char *qz_remedy__way_name(enum qz_remedy_way way);

/*
 * Writes the command with these remedies as a user types it: "OMP_NUM_THREADS=1 taskset -c 0 ./app", or with the line of a
 * wish in its place. The remedies must have different subjects. Words of the command are quoted, not escaped: the caller
 * escapes the line for a terminal.
 */
void qz_remedies__put_command(FILE *out, const struct qz_remedy_use *const *uses, uint32_t n,
			      char *const *command);

/* Writes, in the same form, the commands that change running processes so. */
void qz_remedies__put_changes(FILE *out, const struct qz_remedy_use *const *uses, uint32_t n);

#endif
