// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/kernel_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "core/util/save_file.h"
#include "daemon/kernel/types_extract.h"
#include "daemon/util/own_files.h"

#define NOTES "/sys/kernel/notes"

/* What is kept, and the layout of the file. It changes with either. */
#define VERSION 1
#define MOST	(4u << 20)

static const char magic[8] = "QZTYPES";

/* Of a kernel and an object. No padding: it is compared as bytes. */
struct types_key {
	uint64_t notes, release, version, object; /* sums and lengths */
	uint64_t size;				  /* of all types */
};

struct types_header {
	char magic[sizeof(magic)];
	uint32_t check; /* CRC-32 of all that follows */
	uint32_t version;
	struct types_key key;
	uint64_t size; /* of the types after it */
};

struct kernel_types {
	struct btf *btf;
	char path[32];
	int fd; /* of a file in memory */
};

/* ---- what it is found by ---- */

static uint64_t sum(const void *bytes, size_t n)
{
	return (uint64_t)crc32_z(0, bytes, n) << 32 | (uint32_t)n;
}

/* False: what the kernel is is not known. */
static bool describe(const void *object, size_t size, struct types_key *key)
{
	int fd = open(NOTES, O_RDONLY | O_CLOEXEC);
	char notes[8192];
	ssize_t n = fd < 0 ? -1 : read(fd, notes, sizeof(notes));
	struct utsname name = {0};
	struct stat st;

	if (fd >= 0)
		close(fd);
	if (n <= 0 || stat(KERNEL_BTF, &st) || uname(&name))
		return false;
	*key = (struct types_key) {
		.notes = sum(notes, (size_t)n),
		.object = sum(object, size),
		.size = (uint64_t)st.st_size,
	};
	key->release = sum(name.release, sizeof(name.release));
	key->version = sum(name.version, sizeof(name.version));
	return true;
}

/* ---- keeping ---- */

static void name_file(const struct types_key *key, char name[32])
{
	snprintf(name, 32, "types-%08x", (uint32_t)(key->object >> 32));
}

static uint32_t check_of(const struct types_header *h, const void *types)
{
	const size_t begin = offsetof(struct types_header, version);
	uLong check = crc32_z(0, (const Bytef *)h + begin, sizeof(*h) - begin);

	return (uint32_t)crc32_z(check, types, h->size);
}

/* The types of a file, which are the caller's; NULL: they are others, or damaged. */
static void *read_types(int fd, const struct types_key *key, uint32_t *size)
{
	struct types_header h;
	struct stat st;
	void *types;

	if (!own_files__is_own(fd, &st) || !own_files__read(fd, &h, sizeof(h)) ||
	    memcmp(h.magic, magic, sizeof(magic)) || h.version != VERSION ||
	    memcmp(&h.key, key, sizeof(*key)) || h.size > MOST ||
	    (uint64_t)st.st_size != sizeof(h) + h.size)
		return NULL;
	types = malloc(h.size);
	if (types && own_files__read(fd, types, h.size) && check_of(&h, types) == h.check) {
		*size = (uint32_t)h.size;
		return types;
	}
	free(types);
	return NULL;
}

static void *find(int dir, const struct types_key *key, uint32_t *size)
{
	char name[32];
	void *types;
	int fd;

	name_file(key, name);
	fd = own_files__open(dir, name);
	if (fd < 0)
		return NULL;
	types = read_types(fd, key, size);
	close(fd);
	return types;
}

struct contents {
	struct types_header header;
	const void *types;
};

static int write_contents(void *context, int fd)
{
	const struct contents *c = context;

	return own_files__write(fd, &c->header, sizeof(c->header))
		       ?: own_files__write(fd, c->types, c->header.size);
}

static void keep(int dir, const struct types_key *key, const void *types, uint32_t size)
{
	struct contents contents = {{.version = VERSION, .key = *key, .size = size}, types};
	char name[32];

	memcpy(contents.header.magic, magic, sizeof(magic));
	contents.header.check = check_of(&contents.header, types);
	name_file(key, name);
	qz_save_file__at(dir, name, 0600, false, write_contents, &contents);
}

/* ---- the types ---- */

static void forget(struct kernel_types *t)
{
	btf__free(t->btf);
	if (t->fd >= 0)
		close(t->fd);
	*t = (struct kernel_types) {.fd = -1};
}

/* 0 or -errno. */
static int take(struct kernel_types *t, const void *types, uint32_t size)
{
	t->btf = btf__new(types, size);
	if (!t->btf)
		return -errno;
	t->fd = memfd_create("types", MFD_CLOEXEC);
	if (t->fd < 0 || own_files__write(t->fd, types, size))
		return -errno;
	snprintf(t->path, sizeof(t->path), "/proc/self/fd/%d", t->fd);
	return 0;
}

static int make(struct kernel_types *t, const void *object, size_t object_size, int dir,
		const struct types_key *key)
{
	struct btf *made = types_extract__make(object, object_size, KERNEL_BTF);
	const void *types;
	uint32_t size;
	int err;

	if (!made)
		return -errno;
	types = btf__raw_data(made, &size);
	err = types ? take(t, types, size) : -ENOMEM;
	if (!err && dir >= 0)
		keep(dir, key, types, size);
	btf__free(made);
	return err;
}

struct kernel_types *kernel_types__open(const void *object, size_t size, const char *directory)
{
	struct kernel_types *t = calloc(1, sizeof(*t));
	struct types_key key;
	int dir, err = -EINVAL;
	uint32_t kept;
	void *types;

	if (!t)
		return NULL;
	t->fd = -1;
	dir = directory && describe(object, size, &key) ? own_files__directory(directory) : -1;
	types = dir < 0 ? NULL : find(dir, &key, &kept);
	if (types)
		err = take(t, types, kept);
	free(types);
	if (err) {
		forget(t);
		err = make(t, object, size, dir, &key);
	}
	if (dir >= 0)
		close(dir);
	if (!err)
		return t;
	kernel_types__free(t);
	errno = -err;
	return NULL;
}

void kernel_types__free(struct kernel_types *t)
{
	if (t)
		forget(t);
	free(t);
}

const char *kernel_types__path(const struct kernel_types *t)
{
	return t->path;
}

uint32_t kernel_types__target(const struct kernel_types *t, const char *section)
{
	return types_extract__target(t->btf, section);
}
