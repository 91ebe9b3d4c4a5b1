/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code of Python that the walks have met (quartz/python.h) becomes locations of the profile: "Class.method (file.py)" of the
 * module "[python]". What is told of it is whatever the program has in its memory: texts are cut, decoded and bounded in
 * number, and a program that lies has wrong names in its own stacks.
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
 * Borrows both; bpf may be NULL. Where locations of the profile have sampled addresses, those of Python have lines, and frames
 * their instructions (bpf_runtime's option `lines`). NULL with ENOMEM.
 */
struct python_codes *python_codes__new(struct bpf_runtime *bpf, struct qz_profile *profile);
void python_codes__free(struct python_codes *codes);

/* Takes what was told since the last call. Before the stacks in which it was met are placed. */
void python_codes__read(struct python_codes *codes);

/* Takes one, of whose table as many bytes are there as it says. What cannot be taken has no name. */
void python_codes__add(struct python_codes *codes, const struct qz_python_code *code);

struct python_location {
	uint32_t location; /* QZ_NONE: no memory */
	bool named;
	bool begins_thread; /* code of threading.py that begins a thread, whatever that does */
};

/* The location of a frame; "[unknown]" of code that was not told, or makes no sense. */
struct python_location python_codes__location(struct python_codes *codes, uint32_t image,
					      uint64_t frame);

/*
 * Writes a name, "Class.method (file.py)", of at most `size` bytes with the terminator, and the path. False: it is no code
 * object that this could be of.
 */
bool python_code__name(const struct qz_python_code *code, char *name, size_t size, char *path,
		       size_t path_size);

#endif
