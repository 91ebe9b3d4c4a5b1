/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/core/advise/recorded.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/format/pprof.h"

struct qz_profile *recorded__read(const char *folder, const char *name)
{
	char path[512];
	const char *why = NULL;
	struct qz_profile *p;
	int fd;

	snprintf(path, sizeof(path), TEST_TREE "/tests/unit/core/advise/recorded/%s/%s.pb.gz",
		 folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s cannot be opened", path);
	p = qz_pprof__read(fd, &why);
	close(fd);
	ck_assert_msg(p != NULL, "%s: %s", path, why);
	return p;
}
