/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/model/spin_rules.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/base_name.h"
#include "core/util/vec.h"

/* Only the last star need be tried again: at worst the product of both lengths. */
bool spin_rules__matches(const char *pattern, const char *text)
{
	const char *star = NULL, *tried = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			tried = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++tried;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

/* The colon after the module's pattern: a single one, since "::" is part of names. */
static char *find_colon(char *rule)
{
	for (char *c = strchr(rule, ':'); c; c = strchr(c, ':')) {
		size_t n = strspn(c, ":");

		if (n == 1)
			return c;
		c += n;
	}
	return NULL;
}

static int add_rule(struct spin_rules *rules, enum spin_rule_kind kind, const char *module,
		    const char *procedure)
{
	struct spin_rule rule = {.kind = kind};

	if (rules->n >= SPIN_RULES_MAX)
		return -E2BIG;
	if (qz_array__reserve((void **)&rules->items, rules->n, sizeof(rule)))
		return -ENOMEM;
	rule.module = module ? strdup(module) : NULL;
	rule.procedure = strdup(procedure);
	if ((module && !rule.module) || !rule.procedure) {
		free(rule.module);
		free(rule.procedure);
		return -ENOMEM;
	}
	rules->items[rules->n++] = rule;
	return 0;
}

static enum spin_rule_kind kind_of(char sign)
{
	switch (sign) {
	case '!':
		return SPIN_RULE_WORKS;
	case '+':
		return SPIN_RULE_BELOW;
	case '-':
		return SPIN_RULE_ASKS;
	default:
		return SPIN_RULE_MAY;
	}
}

/* A line without its end, which may be written to. */
static int add_line(struct spin_rules *rules, char *line)
{
	enum spin_rule_kind kind = SPIN_RULE_WAITS;
	char *module = NULL, *colon, *end;

	line += strspn(line, " \t");
	for (end = line + strlen(line); end > line && strchr(" \t\r", end[-1]); end--)
		end[-1] = '\0';
	if (*line == '\0' || *line == '#')
		return 0;
	if (*line == '!' || *line == '~' || *line == '+' || *line == '-')
		kind = kind_of(*line++);
	colon = find_colon(line);
	if (colon) {
		module = line;
		*colon = '\0';
		line = colon + 1;
	}
	if (*line == '\0' || strchr(" \t", *line) || (module && *module == '\0') ||
	    (kind == SPIN_RULE_BELOW && !module) ||
	    (kind == SPIN_RULE_ASKS && (!module || strcmp(module, SPIN_RULES_KERNEL) != 0)))
		return -EINVAL;
	/* All code of all programs is never meant; all of one module may be. */
	if (line[strspn(line, "*?")] == '\0' && (!module || module[strspn(module, "*?")] == '\0'))
		return -EINVAL;
	return add_rule(rules, kind, module, line);
}

static bool is_text(const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)line[i] < ' ' && line[i] != '\t' && line[i] != '\r')
			return false;
	return true;
}

static int refuse(int err, const char *name, uint32_t number, char *error, size_t error_size)
{
	switch (err) {
	case -E2BIG:
		snprintf(error, error_size, "%s:%u: more than %d rules for waiting procedures",
			 name, number, SPIN_RULES_MAX);
		break;
	case -ENOMEM:
		snprintf(error, error_size, "%s: out of memory", name);
		break;
	default:
		snprintf(
			error, error_size,
			"%s:%u: not a rule; it must be [!|~|+|-][MODULE:]PROCEDURE, up to %d bytes",
			name, number, SPIN_RULES_MAX_LINE);
		break;
	}
	return err;
}

int spin_rules__add(struct spin_rules *rules, const char *name, const char *text, size_t size,
		    char *error, size_t error_size)
{
	char line[SPIN_RULES_MAX_LINE + 1];
	uint32_t number = 0;

	if (size > SPIN_RULES_MAX_TEXT) {
		snprintf(error, error_size, "%s: longer than %u KiB", name,
			 SPIN_RULES_MAX_TEXT >> 10);
		return -EINVAL;
	}
	for (size_t at = 0, length; at < size; at += length + 1) {
		const char *end = memchr(text + at, '\n', size - at);
		int err = -EINVAL;

		number++;
		length = end ? (size_t)(end - text) - at : size - at;
		if (length <= SPIN_RULES_MAX_LINE && is_text(text + at, length)) {
			memcpy(line, text + at, length);
			line[length] = '\0';
			err = add_line(rules, line);
		}
		if (err)
			return refuse(err, name, number, error, error_size);
	}
	return 0;
}

void spin_rules__free(struct spin_rules *rules)
{
	for (uint32_t i = 0; i < rules->n; i++) {
		free(rules->items[i].module);
		free(rules->items[i].procedure);
	}
	free(rules->items);
	*rules = (struct spin_rules) {0};
}

enum spin_rule_kind spin_rules__find(const struct spin_rules *rules, const char *module,
				     const char *procedure)
{
	bool kernel = strcmp(module, SPIN_RULES_KERNEL) == 0;

	module = qz_base_name(module);
	for (uint32_t i = rules->n; i > 0; i--) {
		const struct spin_rule *rule = &rules->items[i - 1];

		if (rule->module ? !spin_rules__matches(rule->module, module) : kernel)
			continue;
		if (spin_rules__matches(rule->procedure, procedure))
			return rule->kind;
	}
	return SPIN_RULE_NONE;
}

bool spin_rules__have_below(const struct spin_rules *rules, const char *module)
{
	module = qz_base_name(module);
	for (uint32_t i = 0; i < rules->n; i++)
		if (rules->items[i].kind == SPIN_RULE_BELOW &&
		    spin_rules__matches(rules->items[i].module, module))
			return true;
	return false;
}
