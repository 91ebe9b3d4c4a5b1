/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzzes what the symbolizer parses: an ELF file is loaded with its DWARF, asked for names, and
 * unwound with; anything else is read as a perf map.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "symbolizer/module.h"
#include "symbolizer/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One module, mapped at address 0 as a whole. */
static struct module *find(void *arg, uint64_t address, uint64_t *vaddr)
{
	struct module *m = arg;

	return elf_file__vaddr(module__file(m), address, vaddr) ? m : NULL;
}

static void resolve(struct module *m, uint64_t address)
{
	static struct module_frame frames[MODULE_MAX_FRAMES];
	struct module_answer answer = {.frames = frames};

	module__resolve(m, address, &answer);
	if (answer.nframes > MODULE_MAX_FRAMES)
		abort();
	for (uint32_t i = 0; i < answer.nframes; i++)
		if (strlen(frames[i].name.text) != frames[i].name.length ||
		    strlen(frames[i].file.text) != frames[i].file.length)
			abort();
}

/* The file itself serves as the stack, and gives the return addresses. */
static void unwind(struct module *m, const uint8_t *data, size_t size, uint64_t ip)
{
	struct unwind_stack stack = {0x7000, data, size};
	uint64_t registers[DWARF_REGISTERS] = {[DWARF_SP] = 0x7000, [DWARF_RA] = ip};
	uint64_t addresses[64];
	bool complete;

	registers[DWARF_BP] = 0x7000 + size / 2;
	if (unwind__stack(registers, &stack, find, m, addresses, 64, &complete) > 64)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	bool elf = size >= 4 && memcmp(data, ELFMAG, 4) == 0;
	struct module *m;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	m = module__load(elf ? MODULE_ELF : MODULE_PERF_MAP, LOAD_LINES | LOAD_INLINES, fd, -1,
			 "fuzz");
	if (!m)
		return 0;
	for (uint64_t at = 0; at < (elf ? size : 0x4000); at += 97) {
		resolve(m, at);
		if (elf && at % 4 == 0)
			unwind(m, data, size, at);
	}
	module__free(m);
	return 0;
}
