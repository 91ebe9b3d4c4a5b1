/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps Python code that stack walks have met (quartz/python.h) to locations of the profile:
 * "Class.method (file.py)" of the module "[python]", "method (file.rb)" of "[ruby]". Reports contain whatever the program has in
 * its memory, so texts are cut, decoded and limited in number. A program that lies gets wrong
 * names, but only in its own stacks.
 */
#ifndef QUARTZ_DAEMON_PYTHON_CODES_H
#define QUARTZ_DAEMON_PYTHON_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/profile.h"
#include "daemon/kernel/bpf_runtime.h"
#include "quartz/python.h"

struct python_codes;

/*
 * Borrows both; bpf may be NULL. If locations of the profile have sampled addresses, those of
 * Python have lines, and frames have their instructions (bpf_runtime's option `lines`). NULL with
 * errno ENOMEM.
 */
struct python_codes *python_codes__new(struct bpf_runtime *bpf, struct qz_profile *profile);
void python_codes__free(struct python_codes *codes);

/*
 * Reads the reports since the last call. Call it before the stacks that contain the code are
 * placed.
 */
void python_codes__read(struct python_codes *codes);

/*
 * Adds one report. The caller has checked the size of its table. Code that cannot be added has no
 * name.
 */
void python_codes__add(struct python_codes *codes, const struct qz_python_code *code);

struct python_location {
	uint32_t location; /* QZ_NONE: memory was short */
	bool named;
	bool begins_thread; /* code of threading.py that begins a thread, for any work */
};

/* The location of a frame; "[unknown]" for code that was not reported, or is invalid. */
struct python_location python_codes__location(struct python_codes *codes, uint32_t image,
					      uint64_t frame);

/*
 * The procedure of C, in the profile, in which Ruby's loop is. In a stripped file it has no name: it is what is called most by
 * the procedure that has one. QZ_NONE: that was not seen.
 */
void python_codes__vote_loop(struct python_codes *codes, uint32_t procedure);
uint32_t python_codes__loop(const struct python_codes *codes);

/*
 * Writes a name, "Class.method (file.py)", of at most `size` bytes with the terminator, and the path. False: this cannot be
 * a code object.
 */
bool python_code__name(const struct qz_python_code *code, char *name, size_t size, char *path,
		       size_t path_size);

#endif
