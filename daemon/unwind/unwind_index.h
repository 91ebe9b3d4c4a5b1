/* SPDX-License-Identifier: GPL-2.0-only */
/* The index of an unwind table, see quartz/unwind.h, and the rows of a part of one that it leads to. */
#ifndef QUARTZ_DAEMON_UNWIND_INDEX_H
#define QUARTZ_DAEMON_UNWIND_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include <quartz/unwind.h>

/*
 * Puts an index before n rows that are sorted by pc, of all code from the first row to the last, or to `end` if that is
 * beyond: *rows, of malloc(3), is moved. The number of its blocks, each of which takes the place of a row. 0, with the rows
 * as they were: there are none, there is no memory, or so few rows in so much code that the index would be larger than
 * the table, and than 32 KiB.
 */
uint32_t unwind_index__add(struct qz_unwind_row **rows, uint32_t n, uint64_t end);

/*
 * Writes the index of so many blocks from the one with the number `first` on, to n rows that are in them, sorted by pc;
 * `before`: the first of these rows less the first one of the table.
 */
void unwind_index__lead(struct qz_unwind_block *index, uint32_t blocks, uint32_t first,
			const struct qz_unwind_row *rows, uint32_t n, uint32_t before);

/*
 * Whether nothing describes the code at pc, and it was not analyzed, by n rows, at least one: the first holds from anywhere
 * on. [*from, *to), in which pc is, is then cut to where that is so.
 */
bool unwind_index__gap(const struct qz_unwind_row *rows, uint32_t n, uint32_t pc, uint32_t *from,
		       uint32_t *to);

/*
 * Writes n rows, of which the first holds where the others begin, with others instead of those of [from, to): of added
 * ones, sorted by pc, those in there; where they do not begin at once, one that says that the code was analyzed in vain. `out`
 * has room for all and one more. Their number.
 */
uint32_t unwind_index__splice(struct qz_unwind_row *out, const struct qz_unwind_row *rows,
			      uint32_t n, const struct qz_unwind_row *added, uint32_t nadded,
			      uint32_t from, uint32_t to);

#endif
