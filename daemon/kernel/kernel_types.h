/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The types of the running kernel that BPF programs need: the offsets of members that they read, and the functions to which
 * they are attached. The kernel has 126,000 types. libbpf reads all of them in each run, and searches them once for each
 * name; here, that is done once for each kernel, and the needed 30 KiB are kept.
 *
 * The key of a copy is the kernel's notes with the build id, its version, the size of its types, and the contents of the
 * object. A wrong copy would cause wrong figures, but no wrong access: the verifier checks each one.
 */
#ifndef QUARTZ_DAEMON_KERNEL_TYPES_H
#define QUARTZ_DAEMON_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

struct kernel_types;

/*
 * Those that an object needs, an ELF file in memory. `directory`: where they are kept, which must be root's own; NULL: they are made
 * anew. NULL with errno: what the kernel or libbpf says. Nothing that goes wrong with the directory is an error.
 */
struct kernel_types *kernel_types__open(const void *object, size_t size, const char *directory);
void kernel_types__free(struct kernel_types *types);

/* For btf_custom_path of libbpf, valid until they are freed. */
const char *kernel_types__path(const struct kernel_types *types);

/* The kernel's number of the function that a program is attached to, by its section; 0: the kernel has no such function. */
uint32_t kernel_types__target(const struct kernel_types *types, const char *section);

#endif
