/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that an instruction reads or writes: base + index * scale + at. */
#ifndef QUARTZ_OPERAND_H
#define QUARTZ_OPERAND_H

#include <stdint.h>

enum qz_operand_flags {
	QZ_OPERAND_READ = 1,
	QZ_OPERAND_WRITTEN = 2,
	QZ_OPERAND_ATOMIC = 4, /* a locked instruction, which needs the cache line for itself */
	QZ_OPERAND_CODE = 8,   /* `at` is an address like that of code, and there is no base */
	/* The instruction changes a register of the address, which is known only until it is executed. */
	QZ_OPERAND_PASSING = 16,
	QZ_OPERAND_FLAGS = 32, /* all are below */
};

/* In the place of a register's number, as instructions have them: there is none. */
#define QZ_OPERAND_NONE 16

struct qz_operand {
	uint64_t at;
	uint8_t base, index; /* registers */
	uint8_t scale;	     /* 1, 2, 4 or 8 */
	uint8_t size;	     /* bytes; 0: no operand, or its address cannot be computed */
	uint8_t flags;	     /* enum qz_operand_flags */
	uint8_t pad[3];
};

/* Its address, by the registers as instructions number them; shift: from addresses of code to memory. */
static inline uint64_t qz_operand__address(const struct qz_operand *o, const uint64_t registers[16],
					   uint64_t shift)
{
	uint64_t address = o->at;

	if (o->flags & QZ_OPERAND_CODE)
		address += shift;
	if (o->base < QZ_OPERAND_NONE)
		address += registers[o->base];
	if (o->index < QZ_OPERAND_NONE)
		address += registers[o->index] * o->scale;
	return address;
}

_Static_assert(sizeof(struct qz_operand) == 16, "layout");

#endif
