/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/bytes.h"

#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/gzip.h"
#include "core/format/pprof.h"

static int new_file(void)
{
	int fd = memfd_create("snapshot", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

int bytes__file(const void *data, size_t size)
{
	int fd = new_file();

	ck_assert_int_eq(pwrite(fd, data, size, 0), (ssize_t)size);
	return fd;
}

static struct bytes content_and_close(int fd)
{
	struct bytes b;
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	b.size = (size_t)st.st_size;
	b.data = malloc(b.size);
	ck_assert_ptr_nonnull(b.data);
	ck_assert_int_eq(pread(fd, b.data, b.size, 0), (ssize_t)b.size);
	close(fd);
	return b;
}

struct bytes bytes__of_profile(const struct qz_profile *p)
{
	int fd = new_file();

	ck_assert_int_eq(qz_pprof__write(p, fd), 0);
	return content_and_close(fd);
}

struct bytes bytes__compress(const void *data, size_t size)
{
	int fd = new_file();
	gzFile gz = qz_gzip__open(fd);

	ck_assert_int_eq(qz_gzip__write(gz, data, size), 0);
	ck_assert_int_eq(qz_gzip__close(gz), 0);
	return content_and_close(fd);
}

struct bytes bytes__expand(const struct bytes *gz)
{
	int fd = bytes__file(gz->data, gz->size);
	struct bytes b;

	ck_assert_int_eq(qz_gzip__read(fd, SIZE_MAX, &b.data, &b.size), 0);
	close(fd);
	return b;
}
