/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What BPF programs must know of the types of the kernel that runs: where the members are that they read, and what they are
 * attached to. The kernel has 126,000 types. libbpf reads all of them in each run, and looks through them once for each name;
 * here, that is done once a kernel, and what programs need of it is kept, 30 KiB.
 *
 * It is found by what the kernel says of itself (its notes, with the build id, its version, the size of its types) and by
 * the contents of the object. What a wrong one would lead to is wrong figures: the verifier checks each access.
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

/* What a program is attached to, by its section, as the kernel wants it: 0: the kernel has no such thing. */
uint32_t kernel_types__target(const struct kernel_types *types, const char *section);

#endif
