/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LONG_BASE 256 /* getopt_long gives LONG_BASE + row for long options */

int qz_parse_integer(const char *text, int64_t min, int64_t max, int64_t *value)
{
	const char *digits = text + (*text == '-');
	long long v;

	if (!*digits || digits[strspn(digits, "0123456789")])
		return -EINVAL;
	errno = 0;
	v = strtoll(text, NULL, 10);
	if (errno || v < min || v > max)
		return -ERANGE;
	*value = v;
	return 0;
}

int qz_parse_duration(const char *text, int64_t min, int64_t max, uint64_t *value)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"min", 60e9}, {"h", 3600e9}};
	size_t length = strspn(text, "0123456789.");
	char *end;
	double ns;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	ns = strtod(text, &end);
	if (end != text + length)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].name))
			continue;
		ns *= units[i].ns;
		if (ns < (double)min || ns > (double)max)
			return -ERANGE;
		*value = (uint64_t)ns;
		return 0;
	}
	return -EINVAL;
}

int qz_parse_percent(const char *text, int64_t min, int64_t max, int64_t *value)
{
	size_t length = strspn(text, "0123456789.");
	double millionths;
	char *end;

	if (!isdigit((unsigned char)*text) || text[length])
		return -EINVAL;
	millionths = strtod(text, &end) * 1e4;
	if (*end)
		return -EINVAL;
	if (millionths < (double)min || millionths > (double)max)
		return -ERANGE;
	*value = (int64_t)(millionths + 0.5);
	return 0;
}

static int append(struct qz_integers *list, int64_t value)
{
	int64_t *items = realloc(list->items, (list->n + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	items[list->n++] = value;
	list->items = items;
	return 0;
}

static int append_text(struct qz_texts *list, const char *value)
{
	const char **items = realloc(list->items, (list->n + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	items[list->n++] = value;
	list->items = items;
	return 0;
}

static int parse_choice(const char *words, const char *text, int *value)
{
	size_t length = strlen(text);

	for (int i = 0;; i++) {
		size_t n = strcspn(words, "|");

		if (n == length && !memcmp(words, text, n)) {
			*value = i;
			return 0;
		}
		if (!words[n])
			return -EINVAL;
		words += n + 1;
	}
}

static int set_field(const struct qz_option *o, const char *text, void *field)
{
	int64_t value;
	int err;

	switch (o->kind) {
	case QZ_OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case QZ_OPTION_STRING:
		*(const char **)field = text;
		return 0;
	case QZ_OPTION_INTEGER:
		return qz_parse_integer(text, o->min, o->max, field);
	case QZ_OPTION_INTEGERS:
		err = qz_parse_integer(text, o->min, o->max, &value);
		return err ? err : append(field, value);
	case QZ_OPTION_STRINGS:
		return append_text(field, text);
	case QZ_OPTION_DURATION:
		return qz_parse_duration(text, o->min, o->max, field);
	case QZ_OPTION_PERCENT:
		return qz_parse_percent(text, o->min, o->max, field);
	case QZ_OPTION_CHOICE:
		return parse_choice(o->metavar, text, field);
	}
	return -EINVAL;
}

/* Says what a good value would have been. */
static void describe_limits(const struct qz_option *o, const char *text, char *err, size_t size)
{
	switch (o->kind) {
	case QZ_OPTION_INTEGER:
	case QZ_OPTION_INTEGERS:
		snprintf(err, size, "--%s: '%s' is not an integer from %lld to %lld", o->name, text,
			 (long long)o->min, (long long)o->max);
		break;
	case QZ_OPTION_PERCENT:
		snprintf(err, size, "--%s: '%s' is not a number from %g to %g", o->name, text,
			 (double)o->min / 1e4, (double)o->max / 1e4);
		break;
	case QZ_OPTION_DURATION:
		snprintf(
			err, size,
			"--%s: '%s' is not a time from %.10gs to %.10gs, such as 10, 500ms or 5min",
			o->name, text, (double)o->min / 1e9, (double)o->max / 1e9);
		break;
	default:
		snprintf(err, size, "--%s: '%s' is not one of %s", o->name, text, o->metavar);
		break;
	}
}

/* '?' and ':' of getopt_long; optopt is the option where it is known, 0 for an unknown long one. */
static void describe_misuse(int code, const char *word, const struct qz_option *table, char *err,
			    size_t size)
{
	bool is_long = optopt >= LONG_BASE;

	if (code == ':' && is_long)
		snprintf(err, size, "--%s needs a value", table[optopt - LONG_BASE].name);
	else if (code == ':')
		snprintf(err, size, "-%c needs a value", optopt);
	else if (is_long)
		snprintf(err, size, "--%s takes no value", table[optopt - LONG_BASE].name);
	else if (optopt)
		snprintf(err, size, "unknown option '-%c'", optopt);
	else
		snprintf(err, size, "unknown or ambiguous option '%s'", word);
}

static size_t count_rows(const struct qz_option *table)
{
	size_t n = 0;

	while (table[n].name)
		n++;
	return n;
}

/* "+": stop at the first operand; ":": tell a missing value from an unknown option. */
static void fill_getopt(const struct qz_option *table, struct option *longs, char *shorts)
{
	*shorts++ = '+';
	*shorts++ = ':';
	for (int i = 0; table[i].name; i++) {
		int has_arg = table[i].kind == QZ_OPTION_FLAG ? no_argument : required_argument;

		longs[i] = (struct option) {table[i].name, has_arg, NULL, LONG_BASE + i};
		if (!table[i].short_name)
			continue;
		*shorts++ = table[i].short_name;
		if (has_arg)
			*shorts++ = ':';
	}
}

static const struct qz_option *find_row(const struct qz_option *table, int code)
{
	if (code >= LONG_BASE)
		return &table[code - LONG_BASE];
	while (table->short_name != code)
		table++;
	return table;
}

static int parse_with(int argc, char *const argv[], const struct qz_option *table, void *config,
		      const struct option *longs, const char *shorts, char *err, size_t errsize)
{
	int code;

	optind = 0; /* glibc: forget an earlier scan */
	opterr = 0;
	while ((code = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct qz_option *o;
		int rc;

		if (code == '?' || code == ':') {
			describe_misuse(code, argv[optind - 1], table, err, errsize);
			return -EINVAL;
		}
		o = find_row(table, code);
		rc = set_field(o, optarg, (char *)config + o->field);
		if (rc == -ENOMEM)
			return rc;
		if (rc) {
			describe_limits(o, optarg, err, errsize);
			return -EINVAL;
		}
	}
	return optind;
}

int qz_options__parse(int argc, char *const argv[], const struct qz_option *table, void *config,
		      char *err, size_t errsize)
{
	size_t n = count_rows(table);
	struct option *longs = calloc(n + 1, sizeof(*longs));
	char *shorts = calloc(2 * n + 3, 1);
	int rc = -ENOMEM;

	if (longs && shorts) {
		fill_getopt(table, longs, shorts);
		rc = parse_with(argc, argv, table, config, longs, shorts, err, errsize);
	}
	free(shorts);
	free(longs);
	return rc;
}

/* "  -n, --rows ROWS"; gives its length. */
static int format_option(char *dst, size_t size, const struct qz_option *o)
{
	char short_part[5] = "    ";

	if (o->short_name)
		snprintf(short_part, sizeof(short_part), "-%c, ", o->short_name);
	return snprintf(dst, size, "  %s--%s%s%s", short_part, o->name, o->metavar ? " " : "",
			o->metavar ? o->metavar : "");
}

void qz_options__help(FILE *out, const char *usage, const struct qz_option *table)
{
	char text[80];
	int width = 0;

	for (const struct qz_option *o = table; o->name; o++) {
		int length = format_option(text, sizeof(text), o);

		width = length > width ? length : width;
	}
	fprintf(out, "%s\nOptions:\n", usage);
	for (const struct qz_option *o = table; o->name; o++) {
		const char *line = o->help;

		format_option(text, sizeof(text), o);
		fprintf(out, "%-*s  ", width, text);
		for (size_t n; line[n = strcspn(line, "\n")]; line += n + 1)
			fprintf(out, "%.*s\n%*s", (int)n, line, width + 2, "");
		fprintf(out, "%s\n", line);
	}
}
