/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/elf/elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gelf.h>

#define MAX_SEGMENTS 1024

/*
 * How much larger than its allocated blocks a file may claim to be: a compressing file system
 * allocates less than the size of a file, and nothing for inline data.
 */
#define COMPRESSION_MAX 8
#define INLINE_MAX	(1 << 20)

static bool header_valid(const Elf64_Ehdr *eh)
{
	return memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0 && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_ident[EI_DATA] == ELFDATA2LSB && eh->e_ident[EI_VERSION] == EV_CURRENT &&
	       (eh->e_machine == EM_X86_64 || eh->e_machine == EM_AARCH64) &&
	       (eh->e_type == ET_EXEC || eh->e_type == ET_DYN ||
		eh->e_type == ET_REL /* dwz writes this into files that others share */) &&
	       (eh->e_phnum == 0 || eh->e_phentsize == sizeof(Elf64_Phdr)) &&
	       eh->e_phnum <= MAX_SEGMENTS;
}

/*
 * Reads the number of sections. libelf takes it from section 0 if the header has no room for it,
 * without checking section 0's size.
 */
static int section_count(int fd, const Elf64_Ehdr *eh, uint64_t size, uint64_t *count)
{
	Elf64_Shdr first;

	*count = 0;
	if (eh->e_shoff == 0)
		return eh->e_shnum == 0 ? 0 : -ENOEXEC;
	if (eh->e_shoff > size)
		return -ENOEXEC;
	*count = eh->e_shnum;
	if (*count == 0) {
		if (pread(fd, &first, sizeof(first), (off_t)eh->e_shoff) != sizeof(first))
			return -ENOEXEC;
		*count = first.sh_size;
	}
	if (*count > ELF_FILE_MAX_SECTIONS)
		return -EFBIG;
	return *count * sizeof(first) > size - eh->e_shoff ? -ENOEXEC : 0;
}

/*
 * Sections with contents must lie in the file, and all of them together must fit into it: they do
 * not overlap in any file that a linker wrote, and each would be copied into memory.
 */
static int sections_fit(int fd, const Elf64_Ehdr *eh, uint64_t count, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size, sum = 0;
	uint64_t disk = (uint64_t)st->st_blocks * 512 * COMPRESSION_MAX + INLINE_MAX;
	ssize_t length = (ssize_t)(count * sizeof(Elf64_Shdr));
	Elf64_Shdr *headers;
	int err = -ENOEXEC;

	if (count == 0)
		return 0;
	headers = malloc((size_t)length);
	if (!headers)
		return -ENOMEM;
	if (pread(fd, headers, (size_t)length, (off_t)eh->e_shoff) != length)
		goto out;
	for (uint64_t i = 1; i < count; i++) {
		const Elf64_Shdr *sh = &headers[i];

		if (sh->sh_type == SHT_NOBITS || sh->sh_type == SHT_NULL)
			continue;
		if (sh->sh_offset > size || sh->sh_size > size - sh->sh_offset)
			goto out;
		sum += sh->sh_size;
		if (sum > size || sum > disk)
			goto out;
	}
	err = 0;
out:
	free(headers);
	return err;
}

/* Checks that the sections can be read. 0, -ENOEXEC, -EFBIG or -ENOMEM. */
static int check_sections(int fd, const struct stat *st, const Elf64_Ehdr *eh)
{
	uint64_t count;
	int err = section_count(fd, eh, (uint64_t)st->st_size, &count);

	if (!err && count == 0)
		err = -ENOEXEC;
	return err ? err : sections_fit(fd, eh, count, st);
}

static int check(int fd, const struct stat *st, Elf64_Ehdr *eh)
{
	uint64_t size = (uint64_t)st->st_size;

	if (!S_ISREG(st->st_mode))
		return -ENOEXEC;
	if (size > ELF_FILE_MAX_SIZE)
		return -EFBIG;
	if (pread(fd, eh, sizeof(*eh), 0) != sizeof(*eh))
		return -ENOEXEC;
	if (!memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS32)
		return -ENOTSUP;
	if (!header_valid(eh))
		return -ENOEXEC;
	if (eh->e_phoff > size || eh->e_phnum * sizeof(Elf64_Phdr) > size - eh->e_phoff)
		return -ENOEXEC;
	return 0;
}

/* The build-id is the first note of that type in any note segment or section. */
static bool find_build_id(struct elf_file *f, Elf_Data *data)
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr nh;

	while (data && (next = gelf_getnote(data, at, &nh, &name, &desc)) > 0) {
		const char *bytes = data->d_buf;

		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
		    nh.n_descsz > 0 && nh.n_descsz <= sizeof(f->build_id)) {
			memcpy(f->build_id, bytes + desc, nh.n_descsz);
			f->build_id_size = nh.n_descsz;
			return true;
		}
		at = next;
	}
	return false;
}

/*
 * Reads sections before segments: the program headers of a separate debug file point to contents
 * that it lacks.
 */
static void read_build_id(struct elf_file *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr sh;
	GElf_Phdr ph;
	size_t n;

	while ((section = elf_file__next_section(f, section)))
		if (gelf_getshdr(section, &sh) && sh.sh_type == SHT_NOTE &&
		    find_build_id(f, elf_getdata(section, NULL)))
			return;
	if (elf_getphdrnum(f->elf, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(f->elf, (int)i, &ph) && ph.p_type == PT_NOTE &&
		    ph.p_filesz < INLINE_MAX &&
		    find_build_id(f, elf_getdata_rawchunk(f->elf, (int64_t)ph.p_offset, ph.p_filesz,
							  ELF_T_NHDR)))
			return;
}

/* A shared library may have an entry point too (libc's prints its version); a PIE says so. */
static bool is_pie(struct elf_file *f, const GElf_Phdr *dynamic)
{
	Elf_Data *data;
	GElf_Dyn dyn;

	if (dynamic->p_filesz > INLINE_MAX)
		return false;
	data = elf_getdata_rawchunk(f->elf, (int64_t)dynamic->p_offset, dynamic->p_filesz,
				    ELF_T_DYN);
	for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++)
		if (dyn.d_tag == DT_FLAGS_1)
			return dyn.d_un.d_val & DF_1_PIE;
	return false;
}

/*
 * Reads the segments. Their contents must be in the file; otherwise it was cut, and its sections
 * are missing, too.
 */
static int read_segments(struct elf_file *f, uint64_t size)
{
	GElf_Phdr ph;
	size_t n;

	f->is_program = f->type == ET_EXEC;
	if (elf_getphdrnum(f->elf, &n))
		return -ENOEXEC;
	f->segments = calloc(n + 1, sizeof(*f->segments));
	if (!f->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(f->elf, (int)i, &ph))
			return -ENOEXEC;
		if (ph.p_type == PT_DYNAMIC && f->type == ET_DYN)
			f->is_program = is_pie(f, &ph);
		if (ph.p_type == PT_GNU_EH_FRAME)
			f->frame_hdr = ph.p_offset;
		if (ph.p_type != PT_LOAD || ph.p_vaddr + ph.p_filesz < ph.p_vaddr ||
		    ph.p_offset + ph.p_filesz < ph.p_offset)
			continue;
		if (!f->has_sections && ph.p_offset + ph.p_filesz > size)
			return -ENOEXEC;
		f->segments[f->nsegments++] = (struct elf_segment) {
			.vaddr = ph.p_vaddr,
			.offset = ph.p_offset,
			.filesz = ph.p_filesz,
			.memsz = ph.p_memsz,
			.executable = ph.p_flags & PF_X,
		};
	}
	return 0;
}

static int code_order(const void *a, const void *b)
{
	const struct elf_code *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void add_code(struct elf_file *f, uint64_t start, uint64_t size)
{
	if (size && start + size > start)
		f->code[f->ncode++] = (struct elf_code) {start, start + size};
}

static int read_code(struct elf_file *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr sh;
	size_t n = 0;

	if (f->has_sections && elf_getshdrnum(f->elf, &n))
		return -ENOEXEC;
	f->code = calloc(n + f->nsegments + 1, sizeof(*f->code));
	if (!f->code)
		return -ENOMEM;
	while ((section = elf_file__next_section(f, section)))
		if (gelf_getshdr(section, &sh) && sh.sh_flags & SHF_EXECINSTR)
			add_code(f, sh.sh_addr, sh.sh_size);
	if (f->ncode == 0)
		for (size_t i = 0; i < f->nsegments; i++)
			if (f->segments[i].executable)
				add_code(f, f->segments[i].vaddr, f->segments[i].filesz);
	qsort(f->code, f->ncode, sizeof(*f->code), code_order);
	return 0;
}

struct elf_file *elf_file__open(int fd)
{
	struct elf_file *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;
	struct stat st;
	Elf64_Ehdr eh;

	if (!f) {
		close(fd);
		goto fail;
	}
	f->fd = fd;
	err = fstat(fd, &st) ? -ENOEXEC : check(fd, &st, &eh);
	if (err)
		goto fail;
	f->type = eh.e_type;
	f->machine = eh.e_machine;
	f->entry = eh.e_entry;
	err = -ENOEXEC;
	elf_version(EV_CURRENT);
	f->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF)
		goto fail;
	err = check_sections(fd, &st, &eh);
	f->has_sections = !err;
	if (!err || err == -ENOEXEC || err == -EFBIG)
		err = read_segments(f, (uint64_t)st.st_size);
	if (!err)
		err = read_code(f);
	if (err)
		goto fail;
	read_build_id(f);
	return f;
fail:
	elf_file__close(f);
	errno = -err;
	return NULL;
}

bool elf_file__is_sound(int fd)
{
	struct stat st;
	Elf64_Ehdr eh;

	return !fstat(fd, &st) && !check(fd, &st, &eh) && !check_sections(fd, &st, &eh);
}

void elf_file__detach(struct elf_file *f)
{
	elf_cntl(f->elf, ELF_C_FDDONE);
	close(f->fd);
	f->fd = -1;
}

void elf_file__close(struct elf_file *f)
{
	if (!f)
		return;
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f->segments);
	free(f->code);
	free(f);
}

/* Segments may share a page of the file; the one with code wins. */
bool elf_file__vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr)
{
	const struct elf_segment *found = NULL;

	for (size_t i = 0; i < f->nsegments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (offset >= s->offset && offset - s->offset < s->filesz &&
		    (!found || s->executable))
			found = s;
	}
	if (found)
		*vaddr = offset - found->offset + found->vaddr;
	return found;
}

bool elf_file__offset(const struct elf_file *f, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < f->nsegments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz) {
			*offset = vaddr - s->vaddr + s->offset;
			return true;
		}
	}
	return false;
}

void elf_file__extent(const struct elf_file *f, uint64_t *low, uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (size_t i = 0; i < f->nsegments; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t end = s->vaddr + s->memsz;

		if (end < s->vaddr)
			continue;
		if (s->vaddr < *low)
			*low = s->vaddr;
		if (end > *high)
			*high = end;
	}
}

const struct elf_code *elf_file__code(const struct elf_file *f, uint64_t vaddr)
{
	size_t low = 0, high = f->ncode;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->code[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && vaddr < f->code[low - 1].end ? &f->code[low - 1] : NULL;
}

const uint8_t *elf_file__bytes(const struct elf_file *f, uint64_t vaddr, size_t size, size_t *got)
{
	for (size_t i = 0; i < f->nsegments; i++) {
		const struct elf_segment *s = &f->segments[i];
		Elf_Data *data;

		if (vaddr < s->vaddr || vaddr - s->vaddr >= s->filesz)
			continue;
		if (size > s->filesz - (vaddr - s->vaddr))
			size = s->filesz - (vaddr - s->vaddr);
		data = elf_getdata_rawchunk(f->elf, (int64_t)(vaddr - s->vaddr + s->offset), size,
					    ELF_T_BYTE);
		if (!data)
			return NULL;
		*got = data->d_size;
		return data->d_buf;
	}
	return NULL;
}

bool elf_file__read(const struct elf_file *f, uint64_t vaddr, void *to, size_t size)
{
	uint64_t offset;

	return elf_file__offset(f, vaddr, &offset) &&
	       pread(f->fd, to, size, (off_t)offset) == (ssize_t)size;
}

Elf_Scn *elf_file__next_section(const struct elf_file *f, Elf_Scn *section)
{
	return f->has_sections ? elf_nextscn(f->elf, section) : NULL;
}

Elf_Scn *elf_file__section_by_type(const struct elf_file *f, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr sh;

	while ((section = elf_file__next_section(f, section)))
		if (gelf_getshdr(section, &sh) && sh.sh_type == type)
			return section;
	return NULL;
}

Elf_Scn *elf_file__section_by_name(const struct elf_file *f, const char *name)
{
	Elf_Scn *section = NULL;
	size_t strings;
	GElf_Shdr sh;

	if (!f->has_sections || elf_getshdrstrndx(f->elf, &strings))
		return NULL;
	while ((section = elf_file__next_section(f, section))) {
		const char *s;

		if (!gelf_getshdr(section, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		s = elf_strptr(f->elf, strings, sh.sh_name);
		if (s && strcmp(s, name) == 0)
			return section;
	}
	return NULL;
}
