/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unwind/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "symbolizer/cfi/cfi.h"
#include "symbolizer/cfi/cfi_machine.h"

#define MAPS_MAX (4U << 20)
#define PAGE	 4096

/* Known by path; what is mapped without a file is not known at all, but for the vdso. */
struct process_module {
	char *path;
	uint32_t first, count; /* rows */
	uint64_t base;
	uint32_t nsegments;
	struct elf_segment segments[TABLE_MAX_SEGMENTS];
};

struct mapping {
	uint64_t start, end, offset;
	char mode[5], path[512];
};

void process__init(struct process *p, pid_t pid)
{
	*p = (struct process) {.pid = pid};
}

void process__free(struct process *p)
{
	for (uint32_t i = 0; i < p->nmodules; i++)
		free(p->modules[i].path);
	free(p->modules);
	free(p->regions);
	free(p->rows);
	free(p->maps);
	*p = (struct process) {0};
}

bool process__read_memory(void *arg, uint64_t address, void *to, size_t size)
{
	const struct process *p = arg;
	struct iovec local = {to, size}, remote = {(void *)address, size};

	return process_vm_readv(p->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static char *read_maps(pid_t pid)
{
	char path[64], *text = calloc(1, MAPS_MAX);
	size_t size = 0;
	ssize_t n = 1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (text && fd >= 0 && n > 0 && size < MAPS_MAX - 1) {
		n = read(fd, text + size, MAPS_MAX - 1 - size);
		size += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* The vdso has no file; it is copied out of the process. */
static int open_vdso(struct process *p, const struct mapping *m)
{
	int fd = memfd_create("vdso", MFD_CLOEXEC);
	char page[PAGE];

	for (uint64_t at = m->start; fd >= 0 && at < m->end; at += PAGE)
		if (!process__read_memory(p, at, page, PAGE) || write(fd, page, PAGE) != PAGE)
			break;
	return fd;
}

static int open_mapping(struct process *p, const struct mapping *m)
{
	char path[96];

	if (strcmp(m->path, "[vdso]") == 0)
		return open_vdso(p, m);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, p->pid, m->start,
		 m->end);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void take_table(struct process *p, struct process_module *module, struct cfi_table *t)
{
	struct qz_unwind_row *more = reallocarray(p->rows, p->nrows + t->n, sizeof(*more));

	if (!more)
		return;
	p->rows = more;
	memcpy(p->rows + p->nrows, t->rows, t->n * sizeof(*t->rows));
	module->first = p->nrows;
	module->count = t->n;
	module->base = t->base;
	module->nsegments = t->nsegments;
	memcpy(module->segments, t->segments, sizeof(t->segments));
	p->nrows += t->n;
}

#define ALIGNMENT 16 /* gaps of less are what aligns the next procedure */

static int append(struct cfi_rows *rows, const struct cfi_table *from, uint32_t pc, uint32_t end)
{
	int err = 0;

	for (uint32_t i = 0; i < from->n && !err; i++)
		if (from->rows[i].pc >= pc && from->rows[i].pc < end)
			err = cfi_rows__emit(rows, from->base + from->rows[i].pc, from->rows[i]);
	return err;
}

/* All code that nothing describes, which quartzd analyzes where walks come to it. */
static int derive_all(const struct elf_file *file, struct cfi_table *t)
{
	struct cfi_table all = *t, derived;
	struct cfi_rows rows = {.table = &all};
	int err = 0;

	all.rows = NULL;
	all.n = 0;
	for (uint32_t i = 0; i < t->n && !err; i++) {
		uint32_t pc = t->rows[i].pc, end = i + 1 < t->n ? t->rows[i + 1].pc : UINT32_MAX;

		err = cfi_rows__emit(&rows, t->base + pc, t->rows[i]);
		if (err || t->rows[i].kind != QZ_CFA_NONE || end - pc < ALIGNMENT)
			continue;
		if (cfi__derive(file, t->base + pc, t->base + end, &derived) == 0)
			err = append(&rows, &derived, pc, end);
		cfi__free(&derived);
	}
	cfi__free(t);
	*t = all;
	return err;
}

static struct process_module *find_module(struct process *p, const struct mapping *m)
{
	struct process_module *more, *module;
	struct elf_file *file;
	struct cfi_table t;

	for (uint32_t i = 0; i < p->nmodules; i++)
		if (strcmp(p->modules[i].path, m->path) == 0)
			return &p->modules[i];
	more = reallocarray(p->modules, p->nmodules + 1, sizeof(*more));
	if (!more)
		return NULL;
	p->modules = more;
	module = &more[p->nmodules];
	*module = (struct process_module) {.path = strdup(m->path)};
	if (!module->path)
		return NULL;
	p->nmodules++;
	file = elf_file__open(open_mapping(p, m));
	if (!file)
		return module;
	if (cfi__build(file, &t) == 0 && derive_all(file, &t) == 0)
		take_table(p, module, &t);
	cfi__free(&t);
	elf_file__close(file);
	return module;
}

/* Where the module's virtual address 0 is, so to say, by the segment that the mapping shows. */
static void place(struct qz_unwind_region *region, const struct process_module *module,
		  uint64_t offset)
{
	for (uint32_t i = 0; i < module->nsegments; i++) {
		const struct elf_segment *s = &module->segments[i];
		uint64_t start = s->offset & ~(uint64_t)(PAGE - 1);

		if (offset < start || offset >= s->offset + s->filesz)
			continue;
		region->bias = region->start - (s->vaddr - s->offset + offset - module->base);
		region->first = module->first;
		region->count = module->count;
		return;
	}
}

static int add_region(struct process *p, const struct mapping *m)
{
	struct qz_unwind_region *more, *region;
	const struct process_module *module;

	more = reallocarray(p->regions, p->nregions + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->regions = more;
	region = &more[p->nregions++];
	*region = (struct qz_unwind_region) {.start = m->start, .end = m->end};
	module = m->path[0] ? find_module(p, m) : NULL;
	if (module)
		place(region, module, m->offset);
	return 0;
}

int process__refresh(struct process *p)
{
	char *maps = read_maps(p->pid), *line, *next;
	struct mapping m;
	int err = 0;

	if (!maps)
		return -ENOMEM;
	if (p->maps && strcmp(p->maps, maps) == 0) {
		free(maps);
		return 0;
	}
	free(p->maps);
	p->maps = maps;
	p->nregions = 0;
	for (line = maps; *line && !err; line = next + 1) {
		next = strchr(line, '\n');
		if (!next)
			break;
		m.path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s%*[ ]%511[^\n]",
			   &m.start, &m.end, m.mode, &m.offset, m.path) < 4)
			return -EBADMSG;
		if (m.mode[2] == 'x' && strcmp(m.path, "[vsyscall]") != 0)
			err = add_region(p, &m);
	}
	return err ? err : 1;
}
