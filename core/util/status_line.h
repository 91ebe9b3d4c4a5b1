/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A status line at the bottom of a terminal, while other output scrolls above it. Control
 * sequences of VT100, which all terminals know that have a cursor; each change is one write.
 */
#ifndef QUARTZ_CORE_STATUS_LINE_H
#define QUARTZ_CORE_STATUS_LINE_H

#define QZ_STATUS_LINE_ROWS 5 /* there must be at least so many */

struct qz_status_line {
	int fd;
	int rows, columns; /* of the terminal, while the line is there; 0: it is not */
};

/*
 * Shows a text, of printable ASCII characters, in the place of the one before; cut where it is too long. A terminal
 * without rows enough gets none.
 */
void qz_status_line__show(struct qz_status_line *l, int rows, int columns, const char *text);

/* Removes the line, and restores the terminal. */
void qz_status_line__hide(struct qz_status_line *l);

#endif
