/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzzes what the symbolizer parses: an ELF file is loaded with its DWARF and asked for names;
 * anything else is read as a perf map.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "symbolizer/names/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void resolve(struct module *m, uint64_t address)
{
	static struct module_frame frames[MODULE_MAX_FRAMES];
	struct module_answer answer = {.frames = frames};
	static struct name file;

	if (module__lacks(m, address, &file) && strlen(file.text) != file.length)
		abort();
	module__resolve(m, address, &answer);
	if (answer.nframes > MODULE_MAX_FRAMES)
		abort();
	for (uint32_t i = 0; i < answer.nframes; i++)
		if (strlen(frames[i].name.text) != frames[i].name.length ||
		    strlen(frames[i].file.text) != frames[i].file.length)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	bool elf = size >= 4 && memcmp(data, ELFMAG, 4) == 0;
	struct module *m;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	m = module__load(elf ? MODULE_ELF : MODULE_PERF_MAP, LOAD_LINES | LOAD_INLINES,
			 &(struct module_files) {fd, -1, -1}, "fuzz");
	if (!m)
		return 0;
	for (uint64_t at = 0; at < (elf ? size : 0x4000); at += 97)
		resolve(m, at);
	module__free(m);
	return 0;
}
