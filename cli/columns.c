/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/columns.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

struct cell {
	char *text;
	enum emphasis emphasis;
};

struct columns {
	const struct column *heads;
	int ncolumns;
	size_t ncells, room;
	struct cell *cells; /* row by row */
	bool failed;
};

struct columns *columns__new(const struct column *heads, int n)
{
	struct columns *c = calloc(1, sizeof(*c));

	if (c) {
		c->heads = heads;
		c->ncolumns = n;
	}
	return c;
}

void columns__free(struct columns *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->ncells; i++)
		free(c->cells[i].text);
	free(c->cells);
	free(c);
}

static bool make_room(struct columns *c)
{
	size_t room = c->room ? 2 * c->room : 256;
	struct cell *cells;

	if (c->ncells < c->room)
		return true;
	cells = realloc(c->cells, room * sizeof(*cells));
	if (!cells)
		return false;
	c->cells = cells;
	c->room = room;
	return true;
}

void columns__add(struct columns *c, enum emphasis emphasis, const char *format, ...)
{
	struct cell cell = {.emphasis = emphasis};
	va_list args;

	va_start(args, format);
	if (vasprintf(&cell.text, format, args) < 0)
		cell.text = NULL;
	va_end(args);
	if (!cell.text || !make_room(c)) {
		free(cell.text);
		c->failed = true;
		return;
	}
	c->cells[c->ncells++] = cell;
}

static void measure(const struct columns *c, int *widths)
{
	for (int i = 0; i < c->ncolumns; i++) {
		for (int line = 0; line < 2; line++) {
			int n = count_characters(c->heads[i].head[line]);

			widths[i] = n > widths[i] ? n : widths[i];
		}
		for (size_t k = (size_t)i; k < c->ncells; k += (size_t)c->ncolumns) {
			int n = count_characters(c->cells[k].text);

			widths[i] = n > widths[i] ? n : widths[i];
		}
	}
}

static void print_cut(const char *text, int width, const struct output *out)
{
	const char *mark = out->utf8 ? "…" : "...";
	int keep = width - count_characters(mark);

	if (count_characters(text) <= width)
		fputs(text, out->file);
	else
		fprintf(out->file, "%.*s%s", (int)skip_characters(text, keep > 0 ? keep : 0), text,
			mark);
}

/* Prints one line of the table and keeps trailing blanks away. */
static void print_line(const struct columns *c, const int *widths, const struct cell *cells,
		       const struct output *out)
{
	static const char *const colors[] = {[NOTABLE] = "\033[32m", [GRAVE] = "\033[31m"};
	int pending = 0, position = 0;

	for (int i = 0; i < c->ncolumns; i++) {
		const char *text = cells[i].text;
		const char *color = out->color ? colors[cells[i].emphasis] : NULL;
		int length = count_characters(text);
		int blanks = widths[i] - length;

		pending += !i ? 0 : c->heads[i].joined ? 1 : 2;
		pending += c->heads[i].left ? 0 : blanks;
		if (length) {
			position += pending;
			fprintf(out->file, "%*s%s", pending, "", color ? color : "");
			pending = 0;
			if (i == c->ncolumns - 1)
				print_cut(text, out->width - 1 - position, out);
			else
				fputs(text, out->file);
			fputs(color ? "\033[0m" : "", out->file);
			position += length;
		}
		pending += c->heads[i].left ? blanks : 0;
	}
	fputc('\n', out->file);
}

int columns__print(const struct columns *c, const struct output *out)
{
	int *widths = calloc((size_t)c->ncolumns, sizeof(*widths));
	struct cell *head = calloc((size_t)c->ncolumns, sizeof(*head));
	int err = -ENOMEM;

	if (c->failed || !widths || !head)
		goto out;
	measure(c, widths);
	for (int line = 0; line < 2; line++) {
		for (int i = 0; i < c->ncolumns; i++)
			head[i].text = (char *)c->heads[i].head[line];
		print_line(c, widths, head, out);
	}
	for (size_t k = 0; k + (size_t)c->ncolumns <= c->ncells; k += (size_t)c->ncolumns)
		print_line(c, widths, &c->cells[k], out);
	err = 0;
out:
	free(head);
	free(widths);
	return err;
}
