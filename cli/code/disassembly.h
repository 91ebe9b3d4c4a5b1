/* SPDX-License-Identifier: GPL-2.0-only */
/* The instructions of a procedure, from objdump of binutils. */
#ifndef QUARTZ_CLI_DISASSEMBLY_H
#define QUARTZ_CLI_DISASSEMBLY_H

#include "cli/cli.h"
#include "core/model/profile.h"

struct instruction {
	uint64_t address; /* as objdump has it: virtual, in the file */
	char *text;	  /* borrowed, not escaped */
};

struct disassembly {
	uint32_t mapping;    /* of the profile */
	uint64_t start, end; /* of the procedure */
	uint32_t n;
	struct instruction *instructions; /* by address */
	char *text;			  /* which has them */
	/* From offsets in the file, which a profile has, to addresses: of the segment of the procedure. */
	uint64_t bias;
};

/*
 * Disassembles the procedure that has the byte at this offset of the file of a mapping, after a check that the file
 * is still the one that was measured, by its build ID. The disassembly is to be freed in any case.
 */
enum status disassembly__read(struct disassembly *d, const struct qz_profile *p, uint32_t mapping,
			      uint64_t offset);
void disassembly__free(struct disassembly *d);

#endif
