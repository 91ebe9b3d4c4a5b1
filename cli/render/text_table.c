/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/render/text_table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct cell {
	char *text;
	enum emphasis emphasis;
};

struct text_table {
	const struct column *heads;
	int ncolumns;
	size_t ncells, room;
	struct cell *cells; /* row by row */
	bool failed;
};

struct text_table *text_table__new(const struct column *heads, int n)
{
	struct text_table *table = calloc(1, sizeof(*table));

	if (table) {
		table->heads = heads;
		table->ncolumns = n;
	}
	return table;
}

static bool make_room(struct text_table *table)
{
	size_t room = table->room ? 2 * table->room : 256;
	struct cell *cells;

	if (table->ncells < table->room)
		return true;
	cells = realloc(table->cells, room * sizeof(*cells));
	if (!cells)
		return false;
	table->cells = cells;
	table->room = room;
	return true;
}

static void append(struct text_table *table, struct cell cell)
{
	if (table && cell.text && make_room(table)) {
		table->cells[table->ncells++] = cell;
		return;
	}
	free(cell.text);
	if (table)
		table->failed = true;
}

void text_table__add(struct text_table *table, enum emphasis emphasis, const char *format, ...)
{
	struct cell cell = {.emphasis = emphasis};
	va_list args;

	va_start(args, format);
	if (vasprintf(&cell.text, format, args) < 0)
		cell.text = NULL;
	va_end(args);
	append(table, cell);
}

void text_table__take(struct text_table *table, char *text)
{
	append(table, (struct cell) {.text = text});
}

static void measure(const struct text_table *table, int *widths)
{
	for (int i = 0; i < table->ncolumns; i++) {
		for (int line = 0; line < 2; line++) {
			int n = output__count_characters(table->heads[i].head[line]);

			widths[i] = n > widths[i] ? n : widths[i];
		}
		for (size_t k = (size_t)i; k < table->ncells; k += (size_t)table->ncolumns) {
			int n = output__count_characters(table->cells[k].text);

			widths[i] = n > widths[i] ? n : widths[i];
		}
	}
}

/* How wide a column is that has been cut, at the least: some of a name can be read. */
#define LEAST_WIDTH 12

/* At least this much of a name comes before its offset; else the offset is cut. */
#define LEAST_KEPT 4

static int width_of_all(const struct text_table *table, const int *widths)
{
	int sum = 0;

	for (int i = 0; i < table->ncolumns; i++)
		sum += widths[i] + (!i ? 0 : table->heads[i].joined ? 1 : 2);
	return sum;
}

/* The widest gives way first, the last column among them, until all fit or none can give way. */
static void shrink(const struct text_table *table, int *widths, int width)
{
	bool elastic = false;

	for (int i = 0; i < table->ncolumns; i++)
		elastic |= table->heads[i].elastic;
	for (int over = width_of_all(table, widths) - width; elastic && over > 0; over--) {
		int widest = -1;

		for (int i = 0; i < table->ncolumns; i++)
			if ((table->heads[i].elastic || i == table->ncolumns - 1) &&
			    widths[i] > LEAST_WIDTH && (widest < 0 || widths[i] > widths[widest]))
				widest = i;
		if (widest < 0)
			return;
		widths[widest]--;
	}
}

/* The offset in "libavcodec.so.59.37.100+0x9a3c0", by which names of a stripped module differ; "" if there is none. */
static const char *offset_of(const char *name)
{
	const char *plus = strrchr(name, '+');

	if (!plus || strncmp(plus, "+0x", 3) || plus[3 + strspn(plus + 3, "0123456789abcdef")])
		return "";
	return plus;
}

static void print_cut(const char *text, int width, const struct output *out)
{
	const char *mark = out->utf8 ? "…" : "...", *tail = offset_of(text);
	int keep = width - output__count_characters(mark) - (int)strlen(tail);

	if (output__count_characters(text) <= width) {
		fputs(text, out->file);
		return;
	}
	if (keep < LEAST_KEPT) {
		keep += (int)strlen(tail);
		tail = "";
	}
	fprintf(out->file, "%.*s%s%s", (int)output__skip_characters(text, keep > 0 ? keep : 0),
		text, mark, tail);
}

bool text_table__is_cut(const char *cut, const char *text)
{
	static const char *const marks[] = {"…", "..."};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *at = strstr(cut, marks[i]), *tail = at ? at + strlen(marks[i]) : "";
		size_t kept = at ? (size_t)(at - cut) : 0, length = strlen(text);

		if (kept && length >= kept + strlen(tail) && !strncmp(cut, text, kept) &&
		    !strcmp(text + length - strlen(tail), tail))
			return true;
	}
	return false;
}

/* Of a number that has fewer decimals than others of its column. */
static int trailing_blanks(const char *text)
{
	size_t length = strlen(text), end = length;

	while (end && text[end - 1] == ' ')
		end--;
	return (int)(length - end);
}

/* Prints one line of the table and keeps trailing blanks away. */
static void print_line(const struct text_table *table, const int *widths, const struct cell *cells,
		       const struct output *out)
{
	static const char *const colors[] = {[NOTABLE] = "\033[32m", [GRAVE] = "\033[31m"};
	int pending = 0, position = 0;

	for (int i = 0; i < table->ncolumns; i++) {
		const char *text = cells[i].text;
		const char *color = out->color ? colors[cells[i].emphasis] : NULL;
		int length = output__count_characters(text);
		int tail = table->heads[i].left ? 0 : trailing_blanks(text);
		int blanks = widths[i] > length ? widths[i] - length : 0;

		pending += !i ? 0 : table->heads[i].joined ? 1 : 2;
		pending += table->heads[i].left ? 0 : blanks;
		if (length) {
			position += pending;
			fprintf(out->file, "%*s%s", pending, "", color ? color : "");
			pending = tail;
			if (i == table->ncolumns - 1)
				print_cut(text, out->width - 1 - position, out);
			else if (table->heads[i].left)
				print_cut(text, widths[i], out);
			else
				fprintf(out->file, "%.*s", (int)strlen(text) - tail, text);
			fputs(color ? "\033[0m" : "", out->file);
			position += (length < widths[i] ? length : widths[i]) - tail;
		}
		pending += table->heads[i].left ? blanks : 0;
	}
	fputc('\n', out->file);
}

static int print(const struct text_table *table, const struct output *out)
{
	int *widths = calloc((size_t)table->ncolumns, sizeof(*widths));
	struct cell *head = calloc((size_t)table->ncolumns, sizeof(*head));
	int err = -ENOMEM;

	if (!widths || !head)
		goto out;
	measure(table, widths);
	shrink(table, widths, out->width - 1);
	for (int line = 0; line < 2; line++) {
		for (int i = 0; i < table->ncolumns; i++)
			head[i].text = (char *)table->heads[i].head[line];
		print_line(table, widths, head, out);
	}
	for (size_t k = 0; k + (size_t)table->ncolumns <= table->ncells;
	     k += (size_t)table->ncolumns)
		print_line(table, widths, &table->cells[k], out);
	err = 0;
out:
	free(head);
	free(widths);
	return err;
}

int text_table__print(struct text_table *table, const struct output *out)
{
	int err = table && !table->failed ? print(table, out) : -ENOMEM;

	for (size_t i = 0; table && i < table->ncells; i++)
		free(table->cells[i].text);
	if (table)
		free(table->cells);
	free(table);
	return err;
}
