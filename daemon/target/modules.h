/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that code was mapped from: opened while they can be, each known once, by what the file
 * is (device, inode, size, change time) and not by what it is called.
 *
 * Opening never waits for a foreign file system: it goes through /proc/PID/map_files, which needs no look-up by name, or by
 * the name that the kernel gave, and only as far as the kernel has it cached.
 *
 * One table for all threads, with a lock of its own, which is never held while a file is opened.
 */
#ifndef QUARTZ_DAEMON_MODULES_H
#define QUARTZ_DAEMON_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MODULE_NONE UINT32_MAX

struct modules;
struct symbolizer;
struct runtime_directory;

struct module {
	char *path;    /* as mapped, without " (deleted)" */
	bool jit;      /* addresses are virtual, names come from a perf map */
	uint32_t read; /* how often its file was given: a perf map may have other names since */
	uint32_t
		mapping; /* in the profile, or QZ_NONE before the first sample; the main thread's */
};

/* Borrows the symbolizer that is asked for names; only modules__symbols() uses it. NULL with errno ENOMEM. */
struct modules *modules__new(struct symbolizer *symbolizer);
void modules__free(struct modules *m);

/* NULL: no such module. Stays where it is. */
struct module *modules__get(const struct modules *m, uint32_t module);

/* Whether there is a file to ask about: of code made at run time, a perf map. */
bool modules__has_file(struct modules *m, uint32_t module);

/* Whether its file is a copy of the vDSO of the kernel that runs. */
bool modules__is_vdso(struct modules *m, uint32_t module);

/*
 * A descriptor of the file, to be closed. -ENOENT: there is none; -ESTALE: it was written since, so that it has
 * other code; -EMFILE, -ENFILE.
 */
int modules__open(struct modules *m, uint32_t module);

/*
 * The number of a module in the symbolizer of names, which is given the file at the first call, and its
 * separate debug file. -errno as modules__open(), or -EAGAIN for want of descriptors. The thread that asks for names.
 */
int modules__symbols(struct modules *m, uint32_t module);

/*
 * Has the symbolizer read what its module lacks of the code at n file offsets, see debug_files__complete(); what is missing is said
 * once. Before it is asked for their names.
 */
void modules__complete(struct modules *m, uint32_t module, const uint64_t *addresses, size_t n);

struct procfs_dir;

/* A mapping of a process, as /proc/PID/maps or the kernel's report has it. */
struct module_mapping {
	struct procfs_dir *dir;
	uint64_t start, end, inode;
	uint32_t major, minor;
	const char *path;
	uint64_t time; /* when it was mapped, CLOCK_MONOTONIC; 0: it is there now */
};

/*
 * The module of a mapping of a file, of "[vdso]", or MODULE_NONE (no memory; a name that stands for
 * no code). A file that cannot be opened is a module without symbols: it keeps its name.
 */
uint32_t modules__of_mapping(struct modules *m, const struct module_mapping *mapping);

/* The module of code of which it is not known which it is, at places that had several: "[replaced]". */
uint32_t modules__of_replaced(struct modules *m);

/* The module of a file, given by a descriptor (O_PATH suffices), which is closed; or MODULE_NONE. */
uint32_t modules__of_file(struct modules *m, int fd, const char *path);

/*
 * The module of a process' JIT code, named by /tmp/perf-PID.map as the process sees it. A map that
 * has grown since is read again.
 */
uint32_t modules__of_jit(struct modules *m, struct procfs_dir *dir);

/* Removes those maps from /tmp, if they are there still, and the logs that come with them: see runtime_files.h. */
void modules__remove_maps(struct modules *m, struct runtime_directory *directory);

/*
 * Checks whether the perf map of a module of generated code exists now, or has grown: then it is read again, and earlier
 * names may change. A missing map is searched from time to time, or with `at_once` now. The thread that asks for names.
 */
void modules__reread_map(struct modules *m, uint32_t module, bool at_once);

/*
 * Files are open as long as a module is awake. Now and then all in use are marked, and the files of those that
 * are not for long closed: what is known of them stays, under the same number, and they are opened again
 * when they are mapped again. The thread that asks for names.
 */
struct address_map;
void modules__use(struct modules *m, const struct address_map *map);
void modules__sleep_unused(struct modules *m);

#endif
