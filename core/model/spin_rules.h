/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules that name the procedures that wait. Their text, one rule a line, is described at the
 * head of daemon/spin/spin-symbols.txt.
 */
#ifndef QUARTZ_CORE_SPIN_RULES_H
#define QUARTZ_CORE_SPIN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPIN_RULES_MAX	    4096
#define SPIN_RULES_MAX_TEXT (256u << 10) /* bytes of one file */
#define SPIN_RULES_MAX_LINE 256

/* The module of kernel code in a rule. */
#define SPIN_RULES_KERNEL "[kernel]"

enum spin_rule_kind {
	SPIN_RULE_NONE,	 /* no rule applies */
	SPIN_RULE_WAITS, /* the procedure does nothing but wait */
	SPIN_RULE_MAY,	 /* it waits or passes: only confirmed samples count */
	SPIN_RULE_WORKS, /* it does not wait, whatever its code looks like */
	SPIN_RULE_BELOW, /* it waits, and so does what it calls */
	SPIN_RULE_ASKS,	 /* kernel code by which a thread asks whether something has come */
};

struct spin_rule {
	enum spin_rule_kind kind;
	char *module; /* a pattern for the file's base name; NULL: any but the kernel */
	char *procedure;
};

/* All zero is empty. Rules that were added later win. */
struct spin_rules {
	struct spin_rule *items;
	uint32_t n;
};

/*
 * Adds the rules of a text of `size` bytes. 0, or -EINVAL: bad syntax, -E2BIG: too many, -ENOMEM; then `error` has one line
 * that begins with "name:" and the line's number if there is one, and some of the rules may have been added.
 */
int spin_rules__add(struct spin_rules *rules, const char *name, const char *text, size_t size,
		    char *error, size_t error_size);
void spin_rules__free(struct spin_rules *rules);

/* What the rules say about a procedure of a module (a path, or "[kernel]"). */
enum spin_rule_kind spin_rules__find(const struct spin_rules *rules, const char *module,
				     const char *procedure);

/* Whether there are rules of the kind SPIN_RULE_BELOW for procedures of a module; one without a module is for none. */
bool spin_rules__have_below(const struct spin_rules *rules, const char *module);

/* Whether text is of the form of the pattern, in which * stands for any characters, ? for one. */
bool spin_rules__matches(const char *pattern, const char *text);

#endif
