/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/options.h"

#include "core/util/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LONG_BASE 256 /* getopt_long gives LONG_BASE + row for long options */

int qz_options__integer(const char *text, int64_t min, int64_t max, int64_t *value)
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

int qz_options__duration(const char *text, int64_t min, int64_t max, uint64_t *value)
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

int qz_options__percent(const char *text, int64_t min, int64_t max, int64_t *value)
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

bool qz_integers__have(const struct qz_integers *list, int64_t value)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i] == value)
			return true;
	return false;
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

/* "1" or "1,2,3": the list is as it was, unless all of them are right. */
static int append_all(const struct qz_option *o, const char *text, struct qz_integers *list)
{
	size_t before = list->n;
	int err = 0;

	for (size_t n;; text += n + 1) {
		char one[24] = "";
		int64_t value;

		n = strcspn(text, ",");
		if (n < sizeof(one))
			memcpy(one, text, n);
		err = qz_options__integer(one, o->min, o->max, &value);
		err = err ? err : append(list, value);
		if (err || !text[n])
			break;
	}
	if (err)
		list->n = before;
	return err;
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
	switch (o->kind) {
	case QZ_OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case QZ_OPTION_STRING:
		*(const char **)field = text;
		return 0;
	case QZ_OPTION_INTEGER:
		return qz_options__integer(text, o->min, o->max, field);
	case QZ_OPTION_INTEGERS:
		return append_all(o, text, field);
	case QZ_OPTION_STRINGS:
		return append_text(field, text);
	case QZ_OPTION_DURATION:
		return qz_options__duration(text, o->min, o->max, field);
	case QZ_OPTION_PERCENT:
		return qz_options__percent(text, o->min, o->max, field);
	case QZ_OPTION_CHOICE:
		return parse_choice(o->metavar, text, field);
	}
	return -EINVAL;
}

/* Says what a good value would have been. */
static void describe_limits(const struct qz_option *o, const char *text, char *err, size_t size)
{
	switch (o->kind) {
	case QZ_OPTION_INTEGERS:
		snprintf(err, size, "--%s: '%s' is not a list of integers from %lld to %lld",
			 o->name, text, (long long)o->min, (long long)o->max);
		break;
	case QZ_OPTION_INTEGER:
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

/* Which options begin so, or else which one is like it. */
static void describe_unknown(const char *word, const struct qz_option *table, char *err,
			     size_t size)
{
	struct qz_suggestion like = {0};
	char name[64] = "";
	size_t length = strcspn(word + 2, "="), used, n = 0;

	if (length < sizeof(name))
		memcpy(name, word + 2, length);
	used = snprintf(err, size, "ambiguous option '%s'", word);
	for (const struct qz_option *o = table; o->name && *name && used < size; o++) {
		if (!strncmp(o->name, name, length))
			used += snprintf(err + used, size - used, "%s--%s", n++ ? ", " : ": ",
					 o->name);
		qz_suggestion__try(&like, name, o->name);
	}
	if (n > 1)
		return;
	used = snprintf(err, size, "unknown option '%s'", word);
	if (like.word && used < size)
		snprintf(err + used, size - used, " (did you mean '--%s'?)", like.word);
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
		describe_unknown(word, table, err, size);
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

/* What getopt needs to know of a table, and where the reason of a failure goes. */
struct scan {
	const struct qz_option *table;
	struct option *longs;
	char *shorts;
	char *err;
	size_t errsize;
};

static int parse_with(const struct scan *s, int argc, char *const argv[], void *config)
{
	int code;

	optind = 0; /* glibc: forget an earlier scan */
	opterr = 0;
	while ((code = getopt_long(argc, argv, s->shorts, s->longs, NULL)) != -1) {
		const struct qz_option *o;
		int rc;

		if (code == '?' || code == ':') {
			describe_misuse(code, argv[optind - 1], s->table, s->err, s->errsize);
			return -EINVAL;
		}
		o = find_row(s->table, code);
		rc = set_field(o, optarg, (char *)config + o->field);
		if (rc == -ENOMEM)
			return rc;
		if (rc) {
			describe_limits(o, optarg, s->err, s->errsize);
			return -EINVAL;
		}
	}
	return optind;
}

int qz_options__parse(int argc, char *const argv[], const struct qz_option *table, void *config,
		      char *err, size_t errsize)
{
	size_t n = count_rows(table);
	struct scan s = {
		.table = table,
		.longs = calloc(n + 1, sizeof(*s.longs)),
		.shorts = calloc(2 * n + 3, 1),
		.err = err,
		.errsize = errsize,
	};
	int rc = -ENOMEM;

	if (s.longs && s.shorts) {
		fill_getopt(table, s.longs, s.shorts);
		rc = parse_with(&s, argc, argv, config);
	}
	free(s.shorts);
	free(s.longs);
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
