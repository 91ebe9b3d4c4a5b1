/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/symbolizer/symbolizer_util.h"

#include <check.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

struct symbolizer *util__symbolizer(bool lines, bool inlines)
{
	struct symbolizer_options options = {
		.lines = lines,
		.inlines = inlines,
		.program = TEST_BUILD "/quartz-symbolizer",
	};
	struct symbolizer *s = symbolizer__new(&options);

	ck_assert_ptr_nonnull(s);
	return s;
}

const char *util__fixture(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/tests/unit/symbolizer/%s", TEST_BUILD, name);
	return path;
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s cannot be opened", path);
	return fd;
}

int util__add(struct symbolizer *s, const char *path, const char *debug)
{
	int module = symbolizer__add_module(s, SYMBOLIZER_ELF, open_file(path),
					    debug ? open_file(debug) : -1, path);

	ck_assert_int_ge(module, 0);
	return module;
}

int util__memfd(const void *bytes, size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	return fd;
}

static uint64_t to_offset(int fd, const Elf64_Ehdr *eh, uint64_t vaddr)
{
	for (int i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph;

		ck_assert_int_eq(pread(fd, &ph, sizeof(ph), (off_t)(eh->e_phoff + i * sizeof(ph))),
				 sizeof(ph));
		if (ph.p_type == PT_LOAD && vaddr >= ph.p_vaddr && vaddr - ph.p_vaddr < ph.p_filesz)
			return vaddr - ph.p_vaddr + ph.p_offset;
	}
	return UINT64_MAX;
}

static int symbol_order(const void *a, const void *b)
{
	const struct util_symbol *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

struct util_symbol *util__nm(const char *path, bool dynamic, size_t *n)
{
	struct util_symbol *all = calloc(65536, sizeof(*all));
	char command[4200], line[512];
	int fd = open_file(path);
	Elf64_Ehdr eh;
	FILE *nm;

	ck_assert_ptr_nonnull(all);
	ck_assert_int_eq(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	snprintf(command, sizeof(command), "nm -S --defined-only %s %s", dynamic ? "-D" : "", path);
	nm = popen(command, "r");
	ck_assert_ptr_nonnull(nm);
	*n = 0;
	while (*n < 65536 && fgets(line, sizeof(line), nm)) {
		struct util_symbol *s = &all[*n];

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %127s", &s->vaddr, &s->size, &s->type,
			   s->name) != 4 ||
		    !strchr("TtWwi", s->type))
			continue;
		s->name[strcspn(s->name, "@")] = '\0';
		s->offset = to_offset(fd, &eh, s->vaddr);
		++*n;
	}
	ck_assert_int_eq(pclose(nm), 0);
	close(fd);
	qsort(all, *n, sizeof(*all), symbol_order);
	return all;
}

const struct util_symbol *util__find(const struct util_symbol *all, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	ck_abort_msg("nm does not know %s", name);
	return NULL;
}

/* Whether /proc/NAME is a process of the program, and a child of this one. */
static bool is_child(const char *name)
{
	char path[300], comm[64];
	int parent, matched;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%s/stat", name);
	stat = fopen(path, "re");
	if (!stat)
		return false;
	matched = fscanf(stat, "%*d (%63[^)]) %*c %d", comm, &parent);
	fclose(stat);
	return matched == 2 && parent == getpid() && strncmp(comm, "quartz-symbolizer", 15) == 0;
}

pid_t util__child(void)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t pid = 0;

	ck_assert_ptr_nonnull(proc);
	while (!pid && (entry = readdir(proc)))
		if (atoi(entry->d_name) > 0 && is_child(entry->d_name))
			pid = atoi(entry->d_name);
	closedir(proc);
	ck_assert_int_gt(pid, 0);
	return pid;
}

long util__child_peak_kb(void)
{
	long peak = 0;
#if !defined(__SANITIZE_ADDRESS__)
	char path[64], line[256];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", util__child());
	status = fopen(path, "re");
	ck_assert_ptr_nonnull(status);
	while (fgets(line, sizeof(line), status))
		sscanf(line, "VmHWM: %ld kB", &peak);
	fclose(status);
	ck_assert_int_gt(peak, 0);
#endif
	return peak;
}

struct mapping {
	uint64_t start, end, offset;
	char mode[5], path[512];
};

static FILE *open_maps(pid_t pid)
{
	char name[64];
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	maps = fopen(name, "re");
	ck_assert_ptr_nonnull(maps);
	return maps;
}

static bool next_mapping(FILE *maps, struct mapping *m)
{
	char line[1024];

	if (!fgets(line, sizeof(line), maps))
		return false;
	m->path[0] = '\0';
	ck_assert_int_ge(sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %511s",
				&m->start, &m->end, m->mode, &m->offset, m->path),
			 4);
	return true;
}

size_t util__regions(struct symbolizer *s, pid_t pid, struct stack_copies_region *regions,
		     size_t max)
{
	FILE *maps = open_maps(pid);
	struct mapping m;
	size_t n = 0;

	while (n < max && next_mapping(maps, &m)) {
		if (m.mode[2] != 'x' || m.path[0] != '/')
			continue;
		regions[n++] = (struct stack_copies_region) {m.start, m.end, m.offset,
							     util__add(s, m.path, NULL)};
	}
	fclose(maps);
	return n;
}

uint64_t util__mapping_end(pid_t pid, uint64_t address)
{
	FILE *maps = open_maps(pid);
	uint64_t end = 0;
	struct mapping m;

	while (!end && next_mapping(maps, &m))
		if (address >= m.start && address < m.end)
			end = m.end;
	fclose(maps);
	return end;
}
