/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of kernel code. The kernel is asked for one address after the other, by a BPF program (bpf/kernel_name.bpf.h):
 * to read /proc/kallsyms, which has 100,000 lines and more, takes longer than a short program runs, and modules are loaded
 * later.
 */
#ifndef QUARTZ_DAEMON_KERNEL_NAMES_H
#define QUARTZ_DAEMON_KERNEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_runtime;

/* A function of the kernel, of one of its modules, or of a BPF program. */
struct kernel_code {
	const char *name; /* of several the first one in the kernel's table */
	uint64_t start, end;
};

/*
 * The function at an address. The name is valid until the next call, of one thread at a time. False: there is none, or the
 * kernel was built without names.
 */
bool kernel_names__find(struct bpf_runtime *bpf, uint64_t address, struct kernel_code *code);

/*
 * Reads what the kernel says of an address: "NAME+0xOFFSET/0xSIZE", and for a module " [MODULE]" after it. The name is in
 * `text`, which is cut after it. False: it is the address again, or not whole.
 */
bool kernel_names__read(char *text, uint64_t address, struct kernel_code *code);

#endif
