/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that code was mapped from: opened while they can be, each known once, by what the file
 * is (device, inode, size, change time) and not by what it is called.
 *
 * Opening never waits for a stranger: through /proc/PID/map_files, which needs no look-up by name,
 * or by the name the kernel gave and only as far as the kernel has it cached.
 */
#ifndef QUARTZ_DAEMON_MODULES_H
#define QUARTZ_DAEMON_MODULES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/symbolizer.h"

#define MODULE_NONE UINT32_MAX

struct modules;

struct module {
	char *path;	  /* as mapped, without " (deleted)" */
	bool executable;  /* of a process, not a library */
	bool jit;	  /* addresses are virtual, names come from a perf map */
	int symbols;	  /* number in the symbolizer, or -errno why there is none */
	uint32_t mapping; /* in the profile, or QZ_NONE before the first sample */
};

/*
 * names: of them, names are asked for: what the symbolizer needs for that, separate debug files and perf
 * maps, is given to it, too.
 */
struct modules *modules__new(struct symbolizer *symbolizer, bool names);
void modules__free(struct modules *m);

/* Valid until the next call that may add a module. */
struct module *modules__get(struct modules *m, uint32_t module);

struct proc_dir;

/* A mapping of a process, as /proc/PID/maps or the kernel's report has it. */
struct module_mapping {
	struct proc_dir *dir;
	uint64_t start, end, inode;
	uint32_t major, minor;
	const char *path;
};

/*
 * The module of a mapping of a file, of "[vdso]", or MODULE_NONE (no memory; a name that stands for
 * no code). A file that cannot be opened is a module without symbols: it keeps its name.
 */
uint32_t modules__of_mapping(struct modules *m, const struct module_mapping *mapping);

/* The module of a file, given by a descriptor (O_PATH suffices), which is closed; or MODULE_NONE. */
uint32_t modules__of_file(struct modules *m, int fd, const char *path);

/*
 * The module of a process' JIT code, named by /tmp/perf-PID.map as the process sees it. A map that
 * has grown since is read again.
 */
uint32_t modules__of_jit(struct modules *m, struct proc_dir *dir);

/*
 * Files are open as long as a module is awake. Now and then all in use are marked, and the files of those that
 * are not for long closed: what is known of them stays, under the same number, and they are opened again
 * when they are mapped again.
 */
void modules__use(struct modules *m, uint32_t module);
void modules__sleep_unused(struct modules *m);

#endif
