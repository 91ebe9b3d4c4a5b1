/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads the programs of a BPF object side by side: the verifier takes most of a start, and libbpf loads one program after
 * the other. It gives each to a callback just before, relocated and with all that the kernel wants. There the program is
 * taken, for one of some threads to load, and libbpf loads an empty one in its place; in the end the descriptor of
 * that becomes one of the true program.
 */
#ifndef QUARTZ_DAEMON_PROGRAM_LOADER_H
#define QUARTZ_DAEMON_PROGRAM_LOADER_H

#include <bpf/libbpf.h>

struct kernel_types;
struct program_loader;

/* Before the first object is opened. 0 or -errno. */
int program_loader__register(void);

/*
 * Of an object that is not loaded yet: sets what its programs are attached to. -ESRCH: the kernel does not have it. `types`:
 * borrowed, those that the object was opened with. NULL: libbpf reads all types of the kernel, and loads the programs. *loader is
 * NULL where there was no memory for it, else the caller's, whatever is returned. One at a time.
 */
int program_loader__begin(struct program_loader **loader, struct bpf_object *object,
			  const struct kernel_types *types);

/*
 * After the object was loaded: waits until its programs are. 0 or -errno. Once. Where `spare` alone fails, it is 0, and an
 * empty program stays in the place of that one.
 */
int program_loader__await(struct program_loader *loader, const struct bpf_program *spare);

/*
 * After begin, the loading of the object or await has failed: the program at which it did, which is the object's, or NULL.
 * After await, else: NULL, or `spare` where that has failed. Of NULL, NULL.
 */
const struct bpf_program *program_loader__failed(const struct program_loader *loader);

/* Waits until no thread is there. NULL is allowed. */
void program_loader__free(struct program_loader *loader);

#endif
