/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/symbolizer/cfi_image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

enum {
	NAME_FRAMES = 1,
	NAME_GOT = 16,
	NAME_STRINGS = 25,
};

struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	Elf64_Shdr sh[4];
	char strings[40];
};

static void fill(struct image *image, const char *section, size_t size)
{
	uint64_t strings = offsetof(struct image, strings);

	*image = (struct image) {
		.eh =
			{
				.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					    EV_CURRENT},
				.e_type = ET_DYN,
				.e_machine = EM_X86_64,
				.e_version = EV_CURRENT,
				.e_phoff = offsetof(struct image, ph),
				.e_shoff = offsetof(struct image, sh),
				.e_ehsize = sizeof(Elf64_Ehdr),
				.e_phentsize = sizeof(Elf64_Phdr),
				.e_phnum = 2,
				.e_shentsize = sizeof(Elf64_Shdr),
				.e_shnum = 4,
				.e_shstrndx = 3,
			},
		.ph =
			{
				{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = sizeof(*image)},
				{.p_type = PT_LOAD,
				 .p_flags = PF_R | PF_X,
				 .p_vaddr = CFI_IMAGE_CODE,
				 .p_filesz = CFI_IMAGE_CODE_SIZE},
			},
		.sh =
			{
				{0},
				{NAME_FRAMES, SHT_PROGBITS, SHF_ALLOC, CFI_IMAGE_FRAMES,
				 sizeof(*image), size},
				{NAME_GOT, SHT_PROGBITS, SHF_ALLOC, CFI_IMAGE_GOT, 0, 0},
				{NAME_STRINGS, SHT_STRTAB, 0, 0, strings, sizeof(image->strings)},
			},
	};
	strncpy(image->strings + NAME_FRAMES, section, NAME_GOT - NAME_FRAMES - 1);
	strcpy(image->strings + NAME_GOT, ".got.plt");
	strcpy(image->strings + NAME_STRINGS, ".shstrtab");
}

int cfi_image__make(const char *section, const void *bytes, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	struct image image;

	fill(&image, section, size);
	if (fd < 0 || write(fd, &image, sizeof(image)) != sizeof(image) ||
	    write(fd, bytes, size) != (ssize_t)size)
		abort();
	return fd;
}
