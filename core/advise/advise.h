/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What limits a program, and what it would gain without that: findings, best first. A rule is one function over
 * a report, in a file of its own, core/rules/rule_NAME.c, and a row in the table of core/advise/advise.c.
 * Pure computation; doc/advice.md has the rules and how their bounds are derived.
 */
#ifndef QUARTZ_CORE_ADVISE_H
#define QUARTZ_CORE_ADVISE_H

#include <stdio.h>

#include "core/report/report.h"

#define QZ_MAX_EVIDENCE 3
#define QZ_SHORT_NAME	64 /* bytes of a name in a sentence, with the terminator */

enum qz_subject_kind {
	QZ_SUBJECT_SCOPE,     /* index of profile->scopes */
	QZ_SUBJECT_PROCEDURE, /* of profile->procedures */
	QZ_SUBJECT_THREAD,    /* of profile->threads */
	QZ_SUBJECT_OBJECT,    /* of profile->objects */
	QZ_SUBJECT_CAUSE,     /* of profile->causes */
	QZ_SUBJECT_KINDS,
};

/* What would have to change. The name is as its owner chose it: escape it before it is printed. */
struct qz_subject {
	enum qz_subject_kind kind;
	uint32_t index;
	char *name;
};

struct qz_evidence {
	char *text;
	char *command; /* command of quartzctl that shows it; NULL: the report itself does */
};

/* Which time a finding is about. Two findings that share a bit may be about the same loss. */
enum qz_lost {
	QZ_LOST_SERIAL = 1, /* processors without work while others were busy */
	QZ_LOST_IDLE = 2,   /* nothing ran */
	QZ_LOST_READY = 4,  /* threads could have run, and had no processor */
	QZ_LOST_HELD = 8,   /* a lock was held, and others queued for it */
	QZ_LOST_UNHELD =
		32, /* no lock was held for which others queued: another loss than QZ_LOST_HELD */
	/* core/advise/alone.h has divided the loss among the findings that have this: they share none. */
	QZ_LOST_DIVIDED = 16,
	/* A quota stopped it: it is said beside whatever takes less of the quota, which gains the same time. */
	QZ_LOST_THROTTLED = 64,
};

/* Texts are malloc'ed, and have names of programs unescaped. Only `what`, a sentence, ends with a full stop. */
struct qz_finding {
	const char *rule; /* a lower-case word */
	/* The verdict's word if this limits the program most: "CONTENDED"; NULL: a word for its levels. */
	const char *word;
	struct qz_subject subject;
	char *what;   /* one sentence */
	char *where;  /* source line, start procedure, stack; NULL: nothing to add */
	char *remedy; /* the usual remedy, one line */
	uint32_t nevidence;
	struct qz_evidence evidence[QZ_MAX_EVIDENCE];
	/* Of the elapsed time; low <= high <= elapsed. */
	uint64_t gain_low_ns, gain_high_ns;
	unsigned int lost;	   /* enum qz_lost */
	char shown[QZ_SHORT_NAME]; /* the subject's name, shortened for sentences */
	bool failed;		   /* there was not enough memory for it */
};

struct qz_advice {
	const struct qz_report *report; /* borrowed */
	/* Arguments of -i and -s for commands in texts; NULL: none. Set by the caller, borrowed. */
	const char *input, *scope;
	uint32_t n;
	struct qz_finding *findings;
};

/*
 * All findings, by the middle of their ranges, descending. Of two about the same loss, the one whose rule comes
 * first in the table stays; its gain is subtracted from the other one, which is dropped if less than half is left.
 * NULL with errno ENOMEM.
 */
struct qz_advice *qz_advise__new(const struct qz_report *r);
void qz_advise__free(struct qz_advice *a);

/* ---- for rules ---- */

/* Adds what it finds. 0 or -ENOMEM. */
typedef int qz_rule(const struct qz_report *r, struct qz_advice *a);

qz_rule qz_rule__collection;
qz_rule qz_rule__stdio;
qz_rule qz_rule__interpreter;
qz_rule qz_rule__last_job;
qz_rule qz_rule__limited;
qz_rule qz_rule__fine;
qz_rule qz_rule__in_vain;
qz_rule qz_rule__herd;
qz_rule qz_rule__contention;
qz_rule qz_rule__blocking_holder;
qz_rule qz_rule__allocator;
qz_rule qz_rule__imbalance;
qz_rule qz_rule__delayed_ack;
qz_rule qz_rule__event_loop;
qz_rule qz_rule__few_threads;
qz_rule qz_rule__oversubscribed;
qz_rule qz_rule__overlap;
qz_rule qz_rule__parked;
qz_rule qz_rule__pipeline;
qz_rule qz_rule__polling;
qz_rule qz_rule__processes;
qz_rule qz_rule__round_trips;
qz_rule qz_rule__serial;
qz_rule qz_rule__shared_line;
qz_rule qz_rule__spinning;
qz_rule qz_rule__steps;
qz_rule qz_rule__handing;
qz_rule qz_rule__taken;

/* An empty finding about an entity of the profile. */
struct qz_finding qz_finding__about(const char *rule, const struct qz_report *r,
				    enum qz_subject_kind kind, uint32_t index);

/* A name for a sentence: the middle of a long one is left out. */
void qz_finding__shorten(char shown[QZ_SHORT_NAME], const char *name);

/* Sets f->where, if the subject is a procedure among methods without names: core/advise/languages.h. */
void qz_finding__say_nameless(struct qz_finding *f, const struct qz_report *r);
/* Sets one of its texts; f->failed without memory. */
void qz_finding__say(struct qz_finding *f, char **text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Adds evidence, up to QZ_MAX_EVIDENCE, that "quartzctl VERB NAME" shows: the name becomes one word for a shell. The verb,
 * with its options, or the name may be NULL. A name with characters that cannot be shown or typed gets no command.
 */
void qz_finding__prove(struct qz_finding *f, const char *verb, const char *name, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));

/* Takes over the finding, and cuts its range to the elapsed time. Drops it if the gain is below 2 % of that. 0 or -ENOMEM. */
int qz_advise__add(struct qz_advice *a, struct qz_finding *f);

/* Whether its gain is large enough to be shown. */
bool qz_finding__gains(const struct qz_report *r, const struct qz_finding *f);

/* Frees what it holds. */
void qz_finding__clear(struct qz_finding *f);

/* Writes a word for a shell, quoted if needed but not escaped: escape the line before it is shown. */
void qz_finding__put_word(FILE *out, const char *word);

/* Writes " OPTION WORD", one word for a shell. Writes nothing if the word is NULL or cannot be typed. */
void qz_finding__put_option(FILE *out, const char *option, const char *word);

/* Share of the elapsed time, in percent. */
double qz_finding__percent(const struct qz_report *r, uint64_t ns);

/* The word for a kind of subject. */
const char *qz_subject__kind_name(enum qz_subject_kind kind);

#endif
