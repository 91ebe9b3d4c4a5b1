/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/code/disassembly.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/code/subprocess.h"
#include "cli/render/output.h"
#include "core/util/vec.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/names/procedure_table.h"

#define MAX_OUTPUT    (32 << 20)
#define MAX_PROCEDURE (1 << 20) /* bytes */

static enum status refuse(const char *path, const char *why)
{
	char *name = output__escape(path);

	complain("'%s': %s", name ? name : "?", why);
	free(name);
	return STATUS_FAILURE;
}

static struct elf_file *open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return elf_file__open(fd);
	close(fd);
	errno = ENOEXEC;
	return NULL;
}

static bool is_same(const struct elf_file *file, const char *build_id)
{
	char hex[2 * ELF_FILE_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < file->build_id_size; i++)
		sprintf(hex + 2 * i, "%02x", file->build_id[i]);
	return !strcmp(hex, build_id);
}

static enum status find_bounds(struct disassembly *d, const struct elf_file *file, const char *path,
			       uint64_t offset)
{
	struct address_table *table = procedure_table__new(file, NULL);
	const struct procedure *procedure;
	uint64_t vaddr;

	if (!table)
		return errno == ENOMEM ? out_of_memory()
				       : refuse(path, "it has too many procedures");
	procedure = elf_file__vaddr(file, offset, &vaddr) ? address_table__find(table, vaddr)
							  : NULL;
	if (procedure) {
		d->start = procedure->start;
		d->end = procedure->end;
		d->bias = vaddr - offset;
	}
	address_table__free(table);
	if (!procedure || d->end <= vaddr)
		return refuse(path, "no procedure is known at the sampled addresses");
	if (d->end - d->start > MAX_PROCEDURE)
		return refuse(path, "the procedure has more than 1 MiB of instructions");
	return STATUS_OK;
}

/* "  401136:\tpush   %rbp": other lines have no such number. Only ascending ones can be searched. */
static int take_line(struct disassembly *d, char *line)
{
	char *end, *text;
	uint64_t address;

	line += strspn(line, " ");
	address = strtoull(line, &end, 16);
	if (end == line || end[0] != ':' || address < d->start || address >= d->end ||
	    (d->n && address <= d->instructions[d->n - 1].address))
		return 0;
	text = end + 1 + strspn(end + 1, "\t ");
	if (qz_array__reserve((void **)&d->instructions, d->n, sizeof(*d->instructions)))
		return -ENOMEM;
	d->instructions[d->n++] = (struct instruction) {address, text};
	return 0;
}

/* objdump gets the file that was checked, whatever has its name now. */
static enum status run_objdump(struct disassembly *d, const struct elf_file *file, const char *path)
{
	char start[40], stop[40], opened[60];
	const char *argv[] = {
		"objdump", "--disassemble", "--no-show-raw-insn", start, stop, "--", opened, NULL};
	int err;

	snprintf(opened, sizeof(opened), "/proc/%d/fd/%d", getpid(), file->fd);
	snprintf(start, sizeof(start), "--start-address=0x%" PRIx64, d->start);
	snprintf(stop, sizeof(stop), "--stop-address=0x%" PRIx64, d->end);
	err = subprocess__read(argv, MAX_OUTPUT, &d->text);
	if (err == -ENOMEM)
		return out_of_memory();
	if (err == -ENOENT) {
		complain("no objdump here: install binutils for --asm");
		return STATUS_FAILURE;
	}
	if (err)
		return refuse(path, err == -EFBIG ? "objdump writes too much about it"
						  : "objdump cannot disassemble it");
	for (char *line = d->text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (take_line(d, line))
			return out_of_memory();
	}
	return d->n ? STATUS_OK : refuse(path, "objdump finds no instructions there");
}

enum status disassembly__read(struct disassembly *d, const struct qz_profile *p, uint32_t mapping,
			      uint64_t offset)
{
	const char *path = p->mappings[mapping].path, *build_id = p->mappings[mapping].build_id;
	struct elf_file *file;
	enum status status;

	*d = (struct disassembly) {.mapping = mapping};
	if (*path == '[')
		return refuse(path, "it is not a file that can be disassembled");
	file = open_file(path);
	if (!file)
		return refuse(path, errno == ENOEXEC ? "it is not an ELF file for this processor"
						     : strerror(errno));
	if (!*build_id)
		status = refuse(path, "it has no build ID that tells whether it is still the same; "
				      "link it with -Wl,--build-id");
	else if (!is_same(file, build_id))
		status = refuse(path,
				"it is another file than the one that was measured (build ID); "
				"record again");
	else
		status = find_bounds(d, file, path, offset);
	if (status == STATUS_OK)
		status = run_objdump(d, file, path);
	elf_file__close(file);
	return status;
}

void disassembly__free(struct disassembly *d)
{
	free(d->instructions);
	free(d->text);
	*d = (struct disassembly) {0};
}
