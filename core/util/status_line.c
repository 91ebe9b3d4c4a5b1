/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/status_line.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SAVE	"\0337" /* the cursor */
#define RESTORE "\0338"
#define DOWN	"\033D" /* a line, where all scroll at the end */

/* What cannot be written is not shown. */
static void put(const struct qz_status_line *l, const char *text)
{
	ssize_t n = write(l->fd, text, strlen(text));

	(void)n;
}

/*
 * Down a line first, and up again at the end: so the cursor is in the part that scrolls, wherever it was, and in its
 * column. Setting that part moves the cursor.
 */
static int set_scrolling(char *to, size_t size, int rows)
{
	return snprintf(to, size, DOWN SAVE "\033[1;%dr" RESTORE "\033[1A", rows);
}

void qz_status_line__show(struct qz_status_line *l, int rows, int columns, const char *text)
{
	char out[600];
	int n = 0;

	if (rows < QZ_STATUS_LINE_ROWS || columns < 2) {
		qz_status_line__hide(l);
		return;
	}
	if (rows != l->rows)
		n = set_scrolling(out, sizeof(out), rows - 1);
	l->rows = rows;
	l->columns = columns;
	snprintf(out + n, sizeof(out) - (size_t)n, SAVE "\033[%d;1H\033[2K%.*s" RESTORE, rows,
		 columns - 1 < 400 ? columns - 1 : 400, text);
	put(l, out);
}

void qz_status_line__hide(struct qz_status_line *l)
{
	char out[100];
	int n;

	if (!l->rows)
		return;
	n = set_scrolling(out, sizeof(out), l->rows);
	snprintf(out + n, sizeof(out) - (size_t)n, SAVE "\033[%d;1H\033[2K" RESTORE, l->rows);
	put(l, out);
	l->rows = 0;
}
