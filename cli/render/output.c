/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/render/output.h"

#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/format/json_fields.h"
#include "core/util/term_escape.h"

#define DEFAULT_WIDTH 100
#define LEAST_WIDTH   40
#define NARROW	      80 /* sentences are written for lines of so many characters */
#define NO_LIMIT      (1 << 30)

static bool is_set(const char *value)
{
	return value && *value;
}

static const char *choose_pager(void)
{
	const char *pager = getenv("QUARTZ_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		return "if command -v less >/dev/null; then exec less -FRSX; else exec cat; fi";
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

static int choose_width(bool terminal)
{
	struct winsize size;
	int64_t columns;

	if (is_set(getenv("COLUMNS")) &&
	    !qz_options__integer(getenv("COLUMNS"), 1, 10000, &columns))
		return columns < LEAST_WIDTH ? LEAST_WIDTH : (int)columns;
	if (terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
	return DEFAULT_WIDTH;
}

static bool choose_color(int when, bool terminal)
{
	const char *term = getenv("TERM");

	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	return terminal && !is_set(getenv("NO_COLOR")) && term && strcmp(term, "dumb");
}

/* Characters on a terminal: escape sequences, of colours, are none. */
static int count_shown(const char *s, size_t bytes)
{
	int n = 0;

	for (size_t i = 0; i < bytes; i++) {
		if (s[i] == '\033')
			while (i < bytes && s[i] != 'm')
				i++;
		else
			n += ((unsigned char)s[i] & 0xc0) != 0x80;
	}
	return n;
}

/* A sentence, of which a line may be broken: no row of a table, which has its columns, and no command, which is to be copied. */
static bool is_sentence(const char *line, size_t indent, size_t bytes)
{
	return !memmem(line + indent, bytes - indent, "  ", 2) &&
	       !memmem(line, bytes, "quartzctl ", strlen("quartzctl "));
}

static void put_broken(FILE *to, const char *line, size_t bytes, int width)
{
	size_t indent = strspn(line, " "), at = indent;
	int column = (int)indent;

	fwrite(line, 1, indent, to);
	while (at < bytes) {
		size_t word = strcspn(line + at, " \n");
		int shown = count_shown(line + at, word);

		if (column > (int)indent && column + 1 + shown > width) {
			fprintf(to, "\n%*s", (int)indent, "");
			column = (int)indent;
		} else if (column > (int)indent) {
			fputc(' ', to);
			column++;
		}
		fwrite(line + at, 1, word, to);
		column += shown;
		at += word + 1;
	}
}

static void put_narrow(const struct output *o)
{
	for (const char *line = o->text; line < o->text + o->size;) {
		size_t bytes = strcspn(line, "\n"), indent = strspn(line, " ");

		if (count_shown(line, bytes) > o->width && indent < bytes &&
		    is_sentence(line, indent, bytes))
			put_broken(o->narrow, line, bytes, o->width);
		else
			fwrite(line, 1, bytes, o->narrow);
		line += bytes;
		if (line < o->text + o->size && *line == '\n')
			fputc(*line++, o->narrow);
	}
}

/* Without memory for it, lines stay long. */
static void make_narrow(struct output *o)
{
	FILE *memory = o->width < NARROW ? open_memstream(&o->text, &o->size) : NULL;

	if (!memory)
		return;
	o->narrow = o->file;
	o->file = memory;
}

static void end_narrow(struct output *o)
{
	if (!o->narrow)
		return;
	if (!fclose(o->file))
		put_narrow(o);
	free(o->text);
	o->file = o->narrow;
}

void output__open(struct output *o, const struct config *config)
{
	bool terminal = isatty(STDOUT_FILENO);
	const char *pager = terminal && !config->no_pager ? choose_pager() : NULL;

	*o = (struct output) {
		.file = stdout,
		.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
		.color = choose_color(config->color, terminal),
		.width = config->wide ? NO_LIMIT : choose_width(terminal),
	};
	if (pager) {
		o->file = popen(pager, "w");
		o->pager = o->file;
		if (o->pager)
			signal(SIGPIPE, SIG_IGN); /* the pager may end first, and is waited for */
		else
			o->file = stdout;
	}
	make_narrow(o);
}

void output__close(struct output *o)
{
	end_narrow(o);
	if (o->pager)
		pclose(o->file);
	*o = (struct output) {0};
}

char *output__escape(const char *name)
{
	return qz_term_escape__copy(name);
}

size_t output__skip_characters(const char *s, int n)
{
	size_t i = 0;

	while (s[i] && n--)
		for (i++; ((unsigned char)s[i] & 0xc0) == 0x80;)
			i++;
	return i;
}

int output__count_characters(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

enum status output__json(json_t *root, size_t indent)
{
	char *text = root ? qz_json_fields__dump(root, JSON_INDENT(indent) | JSON_SORT_KEYS) : NULL;

	json_decref(root);
	if (!text)
		return out_of_memory();
	fputs(text, stdout);
	free(text);
	return STATUS_OK;
}
